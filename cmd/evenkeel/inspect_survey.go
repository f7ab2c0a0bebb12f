// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/live"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/nodetool"
	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/report"
)

// survey is an inspection under way.
type survey struct {
	cmd  *inspectCmd
	t    *live.Table
	std  *stdio
	file string // path of the state file; "" for none

	cluster  *live.Cluster
	nodes    []inspection.Node
	sizer    *inspection.Sizer
	group    *inspection.Grouping
	physical *live.Physical

	partitions *api.PartitionsResponse // read before the inspection begins; nil if the store does not report partitions

	size    inspection.Size
	page    int
	state   *inspection.State
	run     *inspection.Run
	predict inspection.Prediction

	// The fields below depend on the store.
	segments  bool    // each range is a segment of a Scan
	units     float64 // most read units a second; 0: no limit
	readRange func(ctx context.Context, i int, bar *inspectProgress) error
	same      func(ctx context.Context) error

	mu    sync.Mutex // guards run while several workers read
	saved time.Time
}

const (
	inspectWorkers = 4               // how many ranges are read in parallel
	saveEvery      = 2 * time.Second // how often the state is written
	staleAfter     = 24 * time.Hour  // an older unfinished inspection starts again
)

// errEnough ends the reading of a range of which only the beginning was wanted.
var errEnough = errors.New("enough was read")

// drawSeed returns a seed for the order in which a table is read and for the choice of a sample.
var drawSeed = rand.Uint64

// prepare finds out what is to be read and prints what that will take. If that is much, it asks
// the user to confirm.
func (s *survey) prepare(ctx context.Context) error {
	var err error
	if s.cluster, err = s.t.Cluster(ctx); err != nil {
		return err
	}
	if p := s.cluster.Partitioner; p != "Murmur3Partitioner" && p != "DefaultPartitioner" {
		return withHint(fmt.Errorf("the cluster %q has %s", s.cluster.Name, p), "only tables with Murmur3Partitioner's tokens are read by ranges")
	}
	for _, n := range s.cluster.Nodes {
		s.nodes = append(s.nodes, inspection.Node{Address: n.Address, DataCenter: n.DataCenter, Rack: n.Rack, Tokens: n.Tokens})
	}
	s.physical = s.t.Physical(ctx)
	s.group = s.grouping()
	if err := s.probe(ctx); err != nil {
		return err
	}
	list, err := s.cmd.priceList(s.cluster.Keyspaces)
	if err != nil {
		return err
	}
	s.readRange, s.same = s.readTokens, s.t.Same
	if err := s.load(s.t.Address().Name(), hexOf(func() []byte { id := s.t.Schema().ID; return id[:] }())); err != nil {
		return err
	}
	return s.plan(list)
}

// plan prints what is to be read and what that will take. If that is much, it asks the user to
// confirm.
func (s *survey) plan(list *prices.List) error {
	fraction := s.cmd.fraction
	if fraction == 0 {
		fraction = inspection.Fraction(s.size, list)
		if s.run != nil {
			fraction = s.run.Plan.Fraction
		}
	}
	if s.run != nil && !s.run.Goes(s.nodes, fraction) {
		fmt.Fprintln(s.std.err, "evenkeel: the unfinished inspection is of other nodes or another fraction; this one begins from the start")
		s.run = nil
	}
	s.page = inspection.Page(s.size.RowBytes)
	if s.run == nil {
		o := inspection.PlanOptions{Fraction: fraction, Pieces: inspection.Pieces(s.size.Rows, s.size.Partitions, fraction), Seed: drawSeed()}
		if s.segments {
			o.Segments = min(livedynamo.MaxSegments, int(float64(o.Pieces)/fraction))
		}
		s.run = &inspection.Run{Plan: inspection.NewPlan(s.nodes, o), Began: time.Now()}
	} else {
		fmt.Fprintf(s.std.err, "evenkeel: continuing the inspection of %s, which is %s done (--restart begins from the start)\n",
			s.run.Began.Format("2006-01-02 15:04"), report.Percent(float64(len(s.run.Done))/float64(len(s.run.Plan.Ranges))))
	}
	left := s.run.Left()
	share := fraction * float64(len(left)) / float64(max(1, len(s.run.Plan.Ranges)))
	s.predict = inspection.Predict(s.size, share, len(left), s.page, s.cmd.Rate, list)
	if s.segments {
		s.predict.Scan(s.units)
	}
	fmt.Fprintln(s.std.err, "evenkeel: "+report.PredictionText(s.predict, fraction, s.cmd.fraction == 0, len(s.run.Done) > 0))
	if above := s.predict.Above(); above != "" && !s.cmd.Yes {
		return withHint(fmt.Errorf("that is much: %s", above), "--yes reads it; --sample %.2g reads less", inspection.Fraction(s.size, list))
	}
	return nil
}

// grouping returns how the rows of one logical partition are recognised, or nil if each partition
// is a logical one.
func (s *survey) grouping() *inspection.Grouping {
	table := s.t.Schema()
	all := make([]int, len(table.PartitionKey))
	for i := range all {
		all[i] = i
	}
	if s.t.Sharding() != "" {
		if s.wholeLogical() != "" {
			return nil
		}
		return &inspection.Grouping{Logical: all, Shard: -1}
	}
	at := inspection.ShardColumn(table)
	if s.physical != nil {
		at = slices.IndexFunc(table.PartitionKey, func(c *schema.Column) bool { return c.Name == s.physical.Column })
	}
	if at < 0 {
		return nil
	}
	return &inspection.Grouping{Logical: slices.Delete(all, at, at+1), Shard: at}
}

// wholeLogical returns why a door yields the logical partitions of a sharded table whole, or ""
// if the physical partitions come one by one.
func (s *survey) wholeLogical() string {
	sharding := s.t.Sharding()
	const but = ": an evenkeel door gives each logical partition whole; the physical ones are seen in the store behind it"
	switch {
	case sharding == "":
		return ""
	case strings.Contains(sharding, "'random'"):
		return "partitions are logical ones, since the strategy is random" + but
	case len(s.t.Schema().Statics) > 0:
		return "partitions are logical ones, since the table has static columns" + but
	}
	return ""
}

// The beginnings of this many parts of the ring are read first.
const (
	probes    = 16
	probeRows = 256
)

// probe reads a small part of the table to estimate its size and the reading time.
func (s *survey) probe(ctx context.Context) error {
	timed := s.t.Timed()
	columns := s.t.Schema().All()
	var places []int
	for _, c := range timed {
		places = append(places, slices.Index(columns, c))
	}
	times := inspection.NewTimes(s.t.Schema(), places)
	estimate := inspection.NewProbe(len(s.t.Schema().PartitionKey), len(columns))
	for _, r := range live.Pieces(probes, 1, 0) {
		estimate.Begin(inspection.Range(r))
		n := 0
		err := s.t.Read(ctx, r, live.Selection{Times: len(timed) > 0, Page: probeRows}, func(row *live.Row) error {
			times.Add(row.Cells)
			estimate.Row(row.Token, row.Cells)
			if n++; n == probeRows {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		estimate.End(err == nil)
	}
	s.sizer = inspection.NewSizer(s.t.Schema(), times)
	if s.t.Sharding() != "" && s.wholeLogical() == "" {
		s.sizer.HiddenShard()
	}
	if s.sizer.Guess() != "" && s.cluster.Name != "evenkeel" { // evenkeel's own schema reports no times
		s.sizer.Age(s.t.Age(ctx))
	}
	s.size = estimate.Size()
	known, ok, err := s.t.Estimate(ctx, s.cluster)
	if err != nil {
		return err
	}
	if ok {
		s.size = s.size.With(known.Partitions, known.MeanBytes)
	}
	return nil
}

// load reads the saved state of the table with this name and id.
func (s *survey) load(name, id string) error {
	s.state = inspection.NewState(name, id)
	if s.file == "" {
		return nil
	}
	text, err := os.ReadFile(s.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return withHint(fmt.Errorf("the state of the last inspection: %w", err), "--state FILE keeps it elsewhere, --state none nowhere")
	}
	state, err := inspection.ReadState(text)
	if err != nil {
		return withHint(fmt.Errorf("%s: %w", s.file, err), "remove it, or name another with --state")
	}
	if state.Table != name {
		return withHint(fmt.Errorf("%s: is the state of %s", s.file, state.Table), "a table has a state of its own: --state FILE")
	}
	if state.ID != id {
		fmt.Fprintf(s.std.err, "evenkeel: the table was created again since the last inspection; this one compares nothing with it\n")
		return nil
	}
	s.state = state
	if state.Run != nil && !s.cmd.Restart {
		if time.Since(state.Run.Began) > staleAfter {
			fmt.Fprintln(s.std.err, "evenkeel: the unfinished inspection is older than a day; this one begins from the start")
		} else {
			s.run = state.Run
		}
	}
	state.Run = nil
	return nil
}

// save writes the state. The caller holds mu.
func (s *survey) save() error {
	if s.file == "" {
		return nil
	}
	s.saved = time.Now()
	text, err := json.Marshal(s.state)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(s.file+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(s.file+".new", s.file)
	}
	if err != nil {
		return withHint(fmt.Errorf("keep the state: %w", err), "--state FILE keeps it elsewhere, --state none nowhere")
	}
	return nil
}

// forget removes the state of a table that no longer exists.
func (s *survey) forget() {
	if s.file != "" {
		_ = os.Remove(s.file) // there may be no file
	}
}

// read reads the rest of the plan. It returns why it stopped early, or nil.
func (s *survey) read(ctx context.Context) error {
	s.state.Run = s.run
	if err := func() error { s.mu.Lock(); defer s.mu.Unlock(); return s.save() }(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := make(chan int)
	bar := newInspectProgress(s.std.err, s.predict)
	defer bar.end()
	todo := s.run.Left()
	var wg sync.WaitGroup
	for range inspectWorkers {
		wg.Go(func() {
			for i := range left {
				if err := s.readRange(ctx, i, bar); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
feed:
	for n, i := range todo {
		select {
		case left <- i:
			bar.ranges(float64(n) / float64(len(todo)))
		case <-ctx.Done():
			break feed
		}
	}
	close(left)
	wg.Wait()
	if s.run.Complete() {
		return s.same(context.WithoutCancel(ctx))
	}
	return context.Cause(ctx)
}

// readTokens counts a range of tokens. It adds the count once the whole range has been read.
func (s *survey) readTokens(ctx context.Context, i int, bar *inspectProgress) error {
	c := inspection.NewCounter(s.t.Schema(), s.sizer, s.group)
	n := int64(0)
	err := s.t.Read(ctx, live.Range(s.run.Plan.Ranges[i]), live.Selection{Page: s.page}, func(row *live.Row) error {
		c.Row(row.Token, row.Cells)
		if n++; n%1024 == 0 {
			bar.rows(1024)
		}
		return nil
	})
	if err != nil {
		return err
	}
	bar.rows(n % 1024)
	return s.add(i, c, 1+n/int64(s.page))
}

// add adds the count of a range that was read completely with so many requests. From time to time
// it saves the state.
func (s *survey) add(i int, c *inspection.Counter, requests int64) error {
	c.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.Add(i, &c.Tally)
	s.run.Requests += requests
	if s.cmd.added != nil {
		s.cmd.added(len(s.run.Done))
	}
	if time.Since(s.saved) > saveEvery {
		return s.save()
	}
	return nil
}

// stopped returns why the plan was not read completely, or "" if it was.
func stopped(asked context.Context, why error) string {
	switch {
	case asked.Err() != nil:
		return "interrupted"
	case why != nil:
		return why.Error()
	}
	return ""
}

// report asks the store for the last figures and makes the report.
func (s *survey) report(ctx, asked context.Context, why error, outside []*nodetool.Output) (*inspection.Report, error) {
	reason := stopped(asked, why)
	s.name(ctx)
	sharding, layout, shard, shards := "", s.t.Sharding(), "", 0
	if of := layout; of != "" {
		sharding = "evenkeel shards this table: " + of
		if s.wholeLogical() == "" {
			shards = s.t.Shards()
		}
	}
	if s.physical != nil {
		shard, layout = s.physical.Column, s.physical.Layout
		sharding = fmt.Sprintf("this is the physical table of %s, which evenkeel shards; its shard is %s, its layout %s", s.physical.Logical, s.physical.Column, s.physical.Layout)
	}
	r := inspection.Summarize(s.run, inspection.Summary{
		Schema: s.t.Schema(), Replication: s.t.Keyspace().Replication, At: time.Now().UTC(), Last: s.state.Last,
		Sharding: sharding, Bucket: live.BucketOf(layout), Whole: s.wholeLogical(), Door: s.cluster.Door, Top: s.cmd.Top, Why: reason,
		Guess: s.sizer.Guess(), Shard: shard, Shards: shards,
	})
	r.Coverage.State = s.file
	r.Prediction = &s.predict
	nodes := "one node"
	if n := len(s.cluster.Nodes); n > 1 {
		nodes = fmt.Sprintf("%d nodes", n)
	}
	r.Store = fmt.Sprintf("%s %s, %s", s.cluster.Name, s.cluster.Release, nodes)
	if s.cluster.Door {
		r.Store = fmt.Sprintf("an evenkeel door, in front of %s %s", s.cluster.Name, s.cluster.Release)
		if s.cluster.Name == "evenkeel" {
			r.Store = "an evenkeel door, on the embedded engine"
		}
	}
	if why == nil || asked.Err() != nil {
		views, err := s.t.Views(ctx, s.cluster)
		if err == nil {
			for _, v := range views {
				r.Views = append(r.Views, inspection.View(v))
			}
		}
	}
	if s.partitions != nil {
		r.Maps = append(r.Maps, s.partitions)
	}
	s.outside(r, outside)
	return r, nil
}

// name finds the keys of the largest partitions that an earlier call read and that are known only
// by their token.
func (s *survey) name(ctx context.Context) {
	for _, list := range [][]inspection.Partition{s.run.Total.Largest, s.run.Total.Longest} {
		for i := range list[:min(len(list), s.cmd.Top)] {
			p := &list[i]
			if p.Key != nil {
				continue
			}
			r := live.Range{After: p.Token - 1, UpTo: p.Token}
			err := s.t.Read(ctx, r, live.Selection{Columns: s.t.Schema().PartitionKey, Page: 1}, func(row *live.Row) error {
				for _, v := range row.Cells {
					p.Key = append(p.Key, append([]byte{}, v...))
				}
				return errEnough
			})
			if err != nil && !errors.Is(err, errEnough) {
				return // it stays a token
			}
		}
	}
}

// keep writes the state that the next call needs.
func (s *survey) keep(r *inspection.Report) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run.Complete() {
		s.state.Run, s.state.Last = nil, s.run.Last(r.At)
	}
	return s.save()
}
