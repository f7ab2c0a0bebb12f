// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/internal/testkit/planted"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/nodetool"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// tolerance is how far a prediction may be from what is measured.
const tolerance = 0.05

// prediction is a design of planted data, what advise predicts of it, and the table that
// it became.
type prediction struct {
	set    *planted.Set
	data   *planted.Table
	report *advice.Report
	says   *advice.Candidate
	create *syntax.CreateTable
	name   string // of the table
	file   string // of the data

	parts      []nodetool.Partition // of the flushed table
	statements float64              // reads that were replayed
	reads      float64              // partitions that they were to reach
	allReads   float64              // those of earlier replays with them
}

// TestPredictedIsMeasured asks advise about planted data. On a real Cassandra it creates the
// advised table and one with the natural key, sharded tables through a door, and loads the data.
// The predictions must be within 5% of what Cassandra's own tools and the embedded engine show.
func TestPredictedIsMeasured(t *testing.T) {
	backend, tools := cassandra.Shared(t), cassandra.SharedTools(t)
	door := startDoor(t, backend)
	engine, signals, ended := start(t)
	defer func() { signals <- syscall.SIGTERM; _ = wait(t, ended) }() // its end is tested elsewhere
	direct, through, embedded := connect(t, backend), connect(t, door), connect(t, engine)
	keyspace := cassandra.Keyspace(t, "predicted")
	for _, s := range []*gocql.Session{direct, embedded} {
		execute(t, s, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	}

	var all []*prediction
	for i := range planted.Sets {
		set := &planted.Sets[i]
		target := set.Target
		if target == "" || target == "dynamodb" {
			target = "cassandra"
		}
		r, data, file := advisedFile(t, set, target)
		advised := &prediction{set: set, data: data, report: r, says: &r.Candidates[0], name: fmt.Sprintf("advised%d", i), file: file}
		for n, ddl := range r.Verdict.DDL {
			create := parseCreate(t, ddl, keyspace, advised.name)
			if n > 0 { // a further table: it is accepted, too
				create.Name.Name += fmt.Sprint("_", n)
				execute(t, through, syntax.Print(create))
				continue
			}
			advised.create = create
			execute(t, through, syntax.Print(create))
			execute(t, embedded, syntax.Print(create))
		}
		all = append(all, advised)
		if says := natural(set, r); says != nil {
			p := &prediction{set: set, data: data, report: r, says: says, name: fmt.Sprintf("natural%d", i), file: file}
			p.create = naturalTable(parseCreate(t, r.Verdict.DDL[0], keyspace, p.name), says, data.Names)
			execute(t, direct, syntax.Print(p.create))
			all = append(all, p)
		}
	}
	if len(planted.Sets) < 10 || len(all) < 15 {
		t.Fatalf("%d designs of %d sets of data", len(all), len(planted.Sets))
	}
	for _, p := range all {
		if strings.HasPrefix(p.name, "advised") {
			p.load(t, through)
			p.load(t, embedded)
		} else {
			p.load(t, direct)
		}
	}

	// One file for each table, so that no partition is in two.
	for _, args := range [][]string{{"flush", keyspace}, {"compact", keyspace}} {
		if _, err := tools.Nodetool(args...); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	output := func(text []byte, err error) *nodetool.Output {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		o, err := nodetool.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	files := output(tools.SSTablePartitions(keyspace, names...))
	began := time.Now()
	histograms := output(tools.Nodetool("tablehistograms"))
	starts := time.Since(began) // nodetool, at the most

	// The reads, while Cassandra counts which partitions they reach; anew, and for longer,
	// where the time was too short.
	var loads *nodetool.Output
	for counting := starts + 12*time.Second; ; counting *= 2 {
		var counted errgroup.Group
		counted.Go(func() error {
			text, err := tools.Nodetool("toppartitions", "-k", "1000", "-s", "1024", "-a", "READS", fmt.Sprint(counting.Milliseconds()))
			if err == nil {
				loads, err = nodetool.Parse(text)
			}
			return err
		})
		began := time.Now()
		time.Sleep(starts)
		for _, p := range all {
			session := direct
			if strings.HasPrefix(p.name, "advised") {
				session = through
			}
			p.replay(t, session)
		}
		took := time.Since(began)
		if err := counted.Wait(); err != nil {
			t.Fatal(err)
		}
		if took < counting {
			break
		}
	}
	reads := readCounts(t, tools, keyspace)

	for _, p := range all {
		t.Run(p.set.Name+"/"+strings.TrimRight(p.name, "0123456789"), func(t *testing.T) {
			own := files.Of(keyspace + "." + p.name)
			p.parts = nodetool.Sum(own.Partitions)
			p.sizes(t)
			p.histogram(t, histograms.Of(keyspace+"."+p.name))
			p.readLoads(t, reads[p.name], loads.Of(keyspace+"."+p.name))
			p.simulated(t, direct)
			if strings.HasPrefix(p.name, "advised") {
				p.inspected(t, engine)
			}
		})
	}
}

// near compares a prediction with the measurement.
func near(t *testing.T, what string, predicted, measured float64) {
	t.Helper()
	if off := predicted/measured - 1; math.Abs(off) > tolerance || math.IsNaN(off) {
		t.Errorf("%s: predicted %.6g, measured %.6g: %+.1f%%", what, predicted, measured, 100*off)
	}
}

// largest holds a figure of the largest partition to its interval, if chance has a part in it.
func (p *prediction) largest(t *testing.T, what, figure string, predicted, measured float64) {
	t.Helper()
	if i := p.says.Intervals.Of(figure, predicted); measured < i.Low || measured > i.High {
		near(t, what, predicted, measured)
	}
}

// sizes are held to sstablepartitions.
func (p *prediction) sizes(t *testing.T) {
	t.Helper()
	var sizes, rows []float64
	total := 0.0
	for _, part := range p.parts {
		sizes, rows = append(sizes, float64(part.Bytes)), append(rows, float64(part.Rows))
		total += float64(part.Rows)
	}
	if total != float64(len(p.data.Rows)) {
		t.Fatalf("%v rows are in the table, of %d", total, len(p.data.Rows))
	}
	slices.Sort(sizes)
	slices.Sort(rows)
	at := func(of []float64, q float64) float64 { return of[max(0, int(math.Ceil(q*float64(len(of))))-1)] }
	c := p.says
	near(t, "partitions", c.Partitions, float64(len(p.parts)))
	p.largest(t, "bytes of the largest partition", "bytes_max", c.BytesMax, at(sizes, 1))
	near(t, "bytes, 99th percentile", c.BytesP99, at(sizes, 0.99))
	near(t, "bytes, median", c.BytesP50, at(sizes, 0.5))
	p.largest(t, "rows of the largest partition", "rows_max", c.RowsMax, at(rows, 1))
	near(t, "rows, 99th percentile", c.RowsP99, at(rows, 0.99))
	near(t, "rows, median", c.RowsP50, at(rows, 0.5))
	if _, share := p.hottest(); share > 0 {
		near(t, "share of the hottest key", c.Heat.Share, share)
	}
	t.Logf("%s: bytes p50 %.0f p99 %.0f max %.0f, in files %.0f %.0f %.0f; rows max %.0f, %.0f; partitions %.0f, %d", c.Design, c.BytesP50, c.BytesP99, c.BytesMax,
		at(sizes, 0.5), at(sizes, 0.99), at(sizes, 1), c.RowsMax, at(rows, 1), c.Partitions, len(p.parts))
}

// bucketEnds are those of Cassandra's EstimatedHistogram: each a fifth above the last.
func bucketEnds() []float64 {
	ends := []float64{1}
	for last := 1.0; last < 1e12; {
		next := math.Round(last * 1.2)
		if next == last {
			next++
		}
		ends, last = append(ends, next), next
	}
	return ends
}

// histogram is held to tablehistograms, which tells the upper end of a bucket of 20%: a
// prediction agrees if it is in that bucket, give or take the tolerance.
func (p *prediction) histogram(t *testing.T, o *nodetool.Output) {
	t.Helper()
	if len(o.Histograms) != 1 {
		t.Fatalf("%d histograms", len(o.Histograms))
	}
	ends := bucketEnds()
	for _, line := range o.Histograms[0].Percentiles {
		var predicted advice.Interval
		switch line.Name {
		case "50%":
			predicted = advice.Interval{Low: p.says.BytesP50, High: p.says.BytesP50}
		case "99%":
			predicted = advice.Interval{Low: p.says.BytesP99, High: p.says.BytesP99}
		case "Max":
			predicted = p.says.Intervals.Of("bytes_max", p.says.BytesMax)
		default:
			continue
		}
		i, _ := slices.BinarySearch(ends, line.Bytes)
		low := ends[max(0, i-1)]
		if predicted.High*(1+tolerance) <= low || predicted.Low*(1-tolerance) > line.Bytes {
			t.Errorf("tablehistograms %s: predicted %.0f to %.0f bytes, its bucket is from %.0f to %.0f", line.Name, predicted.Low, predicted.High, low, line.Bytes)
		}
	}
}

// inspected is held to what inspect says of the embedded engine's table.
func (p *prediction) inspected(t *testing.T, engine string) {
	t.Helper()
	r, _ := inspected(t, 0, "cql://"+engine+"/"+p.create.Name.Keyspace+"."+p.name, "--state", "none", "--rate", "0", "--whole", "--yes")
	if r.Whole != "" { // logical partitions: there is nothing to compare
		t.Errorf("inspect: %s", r.Whole)
	}
	near(t, "inspect: partitions", p.says.Partitions, r.Partitions.Value)
	p.largest(t, "inspect: rows of the largest partition", "rows_max", p.says.RowsMax, r.Sizes.Rows.Max)
	if strings.Contains(r.Sizes.How, "no column has a time that can be read") {
		return // it takes five bytes for a row's timestamp there, and says so
	}
	p.largest(t, "inspect: bytes of the largest partition", "bytes_max", p.says.BytesMax, r.Sizes.Bytes.Max)
	near(t, "inspect: bytes, 99th percentile", p.says.BytesP99, r.Sizes.Bytes.P99.Value)
	near(t, "inspect: bytes, median", p.says.BytesP50, r.Sizes.Bytes.P50.Value)
}

// startDoor runs serve in front of a Cassandra.
func startDoor(t *testing.T, backend string) (addr string) {
	t.Helper()
	addr = loopback.FreeAddr(t)
	s := &serveCmd{ListenCQL: addr, ListenHTTP: "off", ListenDynamoDB: "off", Cassandra: []string{backend}, CassandraConnections: 2, Drain: time.Second, LogLevel: "error"}
	signals, end := make(chan os.Signal, 1), make(chan error, 1)
	go func() { end <- s.serve(context.WithoutCancel(t.Context()), &stdio{io.Discard, io.Discard}, signals) }()
	t.Cleanup(func() { signals <- syscall.SIGTERM; _ = wait(t, end) }) // its end is tested elsewhere
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if nc, err := net.Dial("tcp", addr); err == nil {
			nc.Close()
			return addr
		}
		select {
		case err := <-end:
			t.Fatalf("serve: %v", err)
		default:
		}
	}
	t.Fatal("it does not listen")
	return ""
}

func execute(t *testing.T, s *gocql.Session, cql string) {
	t.Helper()
	if err := s.Query(cql).Exec(); err != nil {
		t.Fatalf("%v\n%s", err, cql)
	}
}

// advisedFile runs advise on planted data; file has them.
func advisedFile(t *testing.T, s *planted.Set, target string) (r *advice.Report, data *planted.Table, file string) {
	t.Helper()
	dir := t.TempDir()
	data = s.Rows()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(data.Names)
	w.WriteAll(data.Rows)
	file = filepath.Join(dir, "data.csv")
	queries := filepath.Join(dir, "queries.txt")
	if err := errors.Join(os.WriteFile(file, b.Bytes(), 0o600), os.WriteFile(queries, []byte(s.Queries), 0o600)); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"advise", file, "--queries", queries, "--target", target, "--json"}, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	r = &advice.Report{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatal(err)
	}
	return r, data, file
}

func parseCreate(t *testing.T, ddl, keyspace, name string) *syntax.CreateTable {
	t.Helper()
	parsed, err := syntax.Parse(strings.TrimSuffix(ddl, ";"))
	if err != nil {
		t.Fatalf("%v\n%s", err, ddl)
	}
	create := parsed.(*syntax.CreateTable)
	create.Name.Keyspace, create.Name.Name = keyspace, name
	return create
}

// natural is the candidate with the columns of the advised partition key alone; nil where
// that is what is advised, or would lose rows.
func natural(s *planted.Set, r *advice.Report) *advice.Candidate {
	want := strings.Split(s.Key, ",")
	slices.Sort(want)
	for i := range r.Candidates {
		c := &r.Candidates[i]
		key := slices.Clone(c.PartitionKey)
		slices.Sort(key)
		if c.Shards == 1 && c.TimeBucket == "" && c.RowsLost == 0 && slices.Equal(key, want) {
			if i == 0 {
				return nil
			}
			return c
		}
	}
	return nil
}

// naturalTable makes the natural key's table of the advised one, without the columns that are
// not of the data: the bucket and the like.
func naturalTable(create *syntax.CreateTable, c *advice.Candidate, data []string) *syntax.CreateTable {
	create.Columns = slices.DeleteFunc(create.Columns, func(d syntax.ColumnDef) bool {
		return !slices.Contains(data, d.Name) && !slices.Contains(c.Clustering, d.Name)
	})
	create.PartitionKey, create.Clustering = c.PartitionKey, c.Clustering
	create.With, create.Order = syntax.Properties{}, nil
	return create
}

// columns are the values of a row's columns, and of those that the design adds.
func (p *prediction) columns(t *testing.T, row []string) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	for _, c := range p.create.Columns {
		typ := value.Named(c.Type.Name.Name)
		text := ""
		switch at := slices.Index(p.data.Names, c.Name); {
		case at >= 0:
			text = row[at]
		case typ.Kind == value.Timeuuid:
			id := gocql.TimeUUID()
			out[c.Name] = id[:]
			continue
		default: // a time bucket
			b := p.report.Verdict.Bucket
			when, err := time.Parse(time.RFC3339, row[slices.Index(p.data.Names, b.Of)])
			if err != nil {
				t.Fatal(err)
			}
			text = bucketStart(when, b.Unit)
		}
		v, err := typ.FromString(text)
		if err != nil {
			t.Fatalf("%s %q: %v", c.Name, text, err)
		}
		out[c.Name] = v
	}
	return out
}

// load inserts the rows, as if at the rate that predictions take.
func (p *prediction) load(t *testing.T, session *gocql.Session) {
	t.Helper()
	var names, marks []string
	for _, c := range p.create.Columns {
		names, marks = append(names, string(syntax.AppendIdent(nil, c.Name))), append(marks, "?")
	}
	insert := fmt.Sprintf("INSERT INTO %s.%s (%s) VALUES (%s) USING TIMESTAMP ?", p.create.Name.Keyspace, p.name, strings.Join(names, ", "), strings.Join(marks, ", "))
	began := time.Now().Add(-time.Hour).UnixMicro()
	var g errgroup.Group
	g.SetLimit(32)
	for i, row := range p.data.Rows {
		columns := p.columns(t, row)
		values := make([]any, 0, len(names)+1)
		for _, c := range p.create.Columns {
			values = append(values, cell(columns[c.Name]))
		}
		values = append(values, began+int64(i)*1_000_000/profile.LoadRate)
		g.Go(func() error { return session.Query(insert, values...).Exec() })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// replay asks for what the queries name, with every sixtieth row's values: keys are read
// as often as they have rows. Pages are as long as the partitions: of a shorter one, the
// door reads some shards a second time.
func (p *prediction) replay(t *testing.T, session *gocql.Session) {
	t.Helper()
	p.statements, p.reads = 0, 0
	qs, err := queries.Parse(p.set.Queries)
	if err != nil {
		t.Fatal(err)
	}
	var g errgroup.Group
	g.SetLimit(16)
	const every = 60
	rows := slices.SortedFunc(slices.Values(p.data.Rows), func(a, b []string) int { return strings.Compare(p.keyText(a), p.keyText(b)) })
	for i := range qs {
		q := &qs[i]
		if err := q.Resolve(p.data.Names); err != nil {
			t.Fatal(err)
		}
		served := p.says.Queries[i]
		if q.Verb != queries.Read || served.Service != "one partition" && served.Service != "fan-out" {
			continue
		}
		partitions := served.Partitions
		if len(p.create.PartitionKey) > len(p.says.PartitionKey) || p.says.Strategy == "time" {
			partitions = float64(p.says.Shards) // of one time bucket
		}
		for n := every / 2; n < len(rows); n += every {
			columns := p.columns(t, rows[n])
			var where []string
			var values []any
			bind := func(name string) {
				where, values = append(where, string(syntax.AppendIdent(nil, name))+" = ?"), append(values, cell(columns[name]))
			}
			for _, name := range p.create.PartitionKey {
				bind(name)
			}
			for _, name := range p.create.Clustering {
				if q.Bound(name) != nil {
					bind(name)
				}
			}
			if p.says.Strategy == "time" { // the bucket of the row
				by, width := p.report.Verdict.By[0], map[string]time.Duration{"1h": time.Hour, "1d": 24 * time.Hour}[p.says.TimeBucket]
				if width == 0 || q.Bound(by) != nil {
					t.Fatalf("no bucket of %s can be asked for", p.says.Design)
				}
				start := time.UnixMilli(int64(binary.BigEndian.Uint64(columns[by]))).UTC().Truncate(width)
				where, values = append(where, by+" >= ?", by+" <= ?"), append(values, start, start.Add(width-time.Millisecond))
			}
			text := fmt.Sprintf("SELECT * FROM %s.%s WHERE %s", p.create.Name.Keyspace, p.name, strings.Join(where, " AND "))
			p.statements++
			p.reads += partitions
			p.allReads += partitions
			g.Go(func() error {
				it := session.Query(text, values...).PageSize(20_000).Iter()
				for it.Scan(make([]any, len(it.Columns()))...) {
				}
				return it.Close()
			})
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// keyText is a row's logical partition key, as the tools print it.
func (p *prediction) keyText(row []string) string {
	var parts []string
	for _, name := range p.says.PartitionKey {
		parts = append(parts, row[slices.Index(p.data.Names, name)])
	}
	return strings.Join(parts, ":")
}

// readCounts are the partitions of each table that were read.
func readCounts(t *testing.T, tools *cassandra.Tools, keyspace string) map[string]float64 {
	t.Helper()
	text, err := tools.Nodetool("tablestats", "-F", "json", keyspace)
	if err != nil {
		t.Fatal(err)
	}
	var stats map[string]json.RawMessage
	var own struct {
		Tables map[string]struct {
			Reads float64 `json:"local_read_count"`
		} `json:"tables"`
	}
	if err := errors.Join(json.Unmarshal(text, &stats), json.Unmarshal(stats[keyspace], &own)); err != nil {
		t.Fatalf("%v\n%.500s", err, text)
	}
	out := make(map[string]float64)
	for name, table := range own.Tables {
		out[name] = table.Reads
	}
	return out
}

// readLoads are held to tablestats, which counts the partitions that were read, and to
// toppartitions, which says how often the hottest was.
func (p *prediction) readLoads(t *testing.T, reads float64, o *nodetool.Output) {
	t.Helper()
	if p.statements == 0 {
		t.Log("no query to replay")
		return
	}
	t.Logf("%.0f statements, to read %.0f partitions; read %.0f", p.statements, p.reads, reads)
	near(t, "partitions read", p.allReads, reads)

	// A key without a time in it has a part of the reads, as of the writes: it is seen
	// by toppartitions, which keeps a thousand partitions of each table.
	timeless, share := p.hottest()
	if share < 0.05 || p.says.RowsMax/float64(len(p.data.Rows))*p.reads < 10 {
		return // what is read that seldom is not among these
	}
	hottest := make(map[string]float64)
	most := 0.0
	for _, r := range o.Rankings {
		for _, row := range r.Rows {
			key := leading(row.Key, timeless)
			hottest[key] += row.Count
			most = max(most, hottest[key])
		}
	}
	near(t, "reads of the hottest key", p.says.Heat.Share*p.reads, most)
}

// hottest is how many columns of the key are no times, and the largest share of the
// written rows that one value of these has.
func (p *prediction) hottest() (columns int, share float64) {
	for _, name := range p.says.PartitionKey {
		if _, err := time.Parse(time.DateOnly, p.data.Rows[0][slices.Index(p.data.Names, name)][:min(10, len(p.data.Rows[0][slices.Index(p.data.Names, name)]))]); err == nil {
			break
		}
		columns++
	}
	if columns == 0 {
		return 0, 0 // at any moment all goes to one key
	}
	rows := make(map[string]float64)
	for _, part := range p.parts {
		key := leading(part.Key, columns)
		rows[key] += float64(part.Rows)
		share = max(share, rows[key]/float64(len(p.data.Rows)))
	}
	return columns, share
}

// leading is so many columns of a key as the tools print it: with colons between.
func leading(key string, columns int) string {
	for i := range key {
		if key[i] == ':' && (i == 0 || key[i-1] != '\\') {
			if columns--; columns == 0 {
				return key[:i]
			}
		}
	}
	return key
}

// simulated is held to the tokens that Cassandra gives the partitions.
func (p *prediction) simulated(t *testing.T, direct *gocql.Session) {
	t.Helper()
	const ranges = 8
	names := slices.Clone(p.create.PartitionKey)
	var parts []string
	for _, c := range p.create.PartitionKey {
		if !slices.Contains(p.data.Names, c) || p.says.Strategy == "time" {
			return // the application or the layout makes the bucket: simulate has no such column
		}
		parts = append(parts, strconv.Quote(c))
	}
	ring := simulation.Ring{Nodes: 6, VNodes: 16, RF: 3, Seed: 1}
	args := []string{"simulate", p.file, "--partitions", fmt.Sprint(ranges), "--nodes", fmt.Sprint(ring.Nodes), "--json"}
	if p.says.Shards > 1 {
		by := p.says.By
		if len(by) == 0 {
			by = p.says.Clustering
		}
		parts = append(parts, fmt.Sprintf("shard(%s,%d)", strings.Join(by, ","), p.says.Shards))
		names = append(names, "shard")
	}
	args = append(args, "--key", strings.ReplaceAll(strings.Join(parts, ","), `"`, ""))
	for _, c := range p.create.Columns {
		if slices.Contains(p.data.Names, c.Name) && (slices.Contains(p.create.PartitionKey, c.Name) || p.says.Shards > 1 && slices.Contains(p.create.Clustering, c.Name)) {
			args = append(args, "--type", c.Name+"="+c.Type.Name.Name)
		}
	}
	var out, errs bytes.Buffer
	if code := run(args, &out, &errs); code != 0 {
		t.Fatalf("%q: exit %d: %s", args, code, &errs)
	}
	r := &simulation.Report{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatal(err)
	}
	it := direct.Query(fmt.Sprintf("SELECT token(%s) FROM %s.%s", strings.Join(names, ", "), p.create.Name.Keyspace, p.name)).Iter()
	got, nodes := make([]int64, ranges), make([]int64, ring.Nodes)
	tokens, owners, _ := ring.Deal()
	var token int64
	for it.Scan(&token) {
		got[(uint64(token)^1<<63)>>61]++
		i, _ := slices.BinarySearch(tokens, token)
		for _, n := range owners[i%len(owners)] {
			nodes[n]++
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, r.Keys[0].Sizes) {
		t.Errorf("simulate: %v rows in ranges of tokens, in Cassandra %v", r.Keys[0].Sizes, got)
	}
	if !slices.Equal(nodes, r.Keys[0].Nodes.Sizes) {
		t.Errorf("simulate: %v rows on the nodes, by Cassandra's tokens %v", r.Keys[0].Nodes.Sizes, nodes)
	}
}
