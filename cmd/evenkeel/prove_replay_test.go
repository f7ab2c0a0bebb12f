// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/items"
	"github.com/evenkeel/evenkeel/internal/testkit/drawn"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// TestProveRows builds what is advised for drawn sets on the embedded engine, and writes all rows of
// each set into it. It compares what is predicted with what the engine then has.
//
// Tables of CQL: the rows, those that are lost, the partitions, and the rows and bytes of the median
// partition, of the 99th percentile, and of the largest. Tables of DynamoDB, with the limits on: the
// rows come at the stated rate, on a clock that runs as fast as they do. The test compares the items,
// those that are lost, their bytes, the units of the hottest key in its busiest time, and the share
// of the writes that is throttled.
func TestProveRows(t *testing.T) {
	seed := *proveSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	addr, signals, ended := start(t)
	defer func() { signals <- syscall.SIGTERM; _ = wait(t, ended) }()
	session := connect(t, addr)
	var tables, items strings.Builder
	forTables, forItems := tabwriter.NewWriter(&tables, 0, 0, 2, ' ', 0), tabwriter.NewWriter(&items, 0, 0, 2, ' ', 0)
	fmt.Fprintln(forTables, "seed\trows\tlost\tpartitions\trows p50 / p99 / max\tbytes p50\tp99\tmax\tkey\tset")
	fmt.Fprintln(forItems, "seed\titems\tlost\tbytes of an item\tunits/s of the hottest key, by shard\tof the hottest partition\tthrottled\tkey\tset")
	compared := 0
	for done := 0; done < 2**proveSets; seed++ {
		s := drawn.New(seed)
		done++
		r := advisedDrawn(t, s)
		if s.Target == "dynamodb" {
			compared += replayItems(t, forItems, s, r)
		} else {
			writeRows(t, forTables, session, addr, s, r)
		}
	}
	forTables.Flush()
	forItems.Flush()
	t.Logf("predicted = measured\n%s\n%s", tables.String(), items.String())
	if compared == 0 && *proveSets > 2 {
		t.Error("no set has a key that is hot enough to compare its units")
	}
}

// compare holds a prediction to what was measured, and formats both.
func compare(t *testing.T, s *drawn.Set, what string, predicted, measured, noise float64) string {
	t.Helper()
	if math.Abs(predicted-measured) > tolerance*measured+noise+1e-9 || math.IsNaN(predicted) {
		t.Errorf("%d: %s: %.6g predicted, %.6g measured: %s", s.Seed, what, predicted, measured, s.What)
	}
	return fmt.Sprintf("%.4g = %.4g", predicted, measured)
}

// writeRows writes the rows of a set into the table that is advised for it.
func writeRows(t *testing.T, w io.Writer, session *gocql.Session, addr string, s *drawn.Set, r *advice.Report) {
	t.Helper()
	keyspace, c := fmt.Sprintf("rows%d", s.Seed), &r.Candidates[0]
	execute(t, session, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	create := parseCreate(t, r.Verdict.DDL[0], keyspace, "t")
	ddl := r.Verdict.DDL[0]
	execute(t, session, "CREATE TABLE "+keyspace+".t"+ddl[strings.Index(ddl, " ("):])
	types := make(map[string]*value.Type)
	var names []string
	for _, d := range create.Columns {
		names, types[d.Name] = append(names, d.Name), value.Named(d.Type.Name.Name)
	}
	key := append(slices.Clone(create.PartitionKey), create.Clustering...)
	insert := fmt.Sprintf(`INSERT INTO %s.t ("%s") VALUES (%s) USING TIMESTAMP ?`, keyspace, strings.Join(names, `", "`), strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", "))
	began := time.Now().Add(-time.Hour).UnixMicro()
	var writers errgroup.Group
	writers.SetLimit(32)
	written := 0
	for i, row := range s.Rows {
		columns := columnValues(t, s, r, row, types)
		var bound []any
		keyed := true
		for _, name := range names {
			v := columns[name]
			if v == nil && !slices.Contains(s.Names, name) {
				id := gocql.TimeUUID()
				v = id[:]
			}
			keyed = keyed && (v != nil || !slices.Contains(key, name))
			bound = append(bound, cell(v))
		}
		if !keyed {
			continue
		}
		written++
		bound = append(bound, began+int64(i)*1_000_000/profile.LoadRate)
		writers.Go(func() error { return session.Query(insert, bound...).Exec() })
	}
	if err := writers.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, ddl)
	}
	in, _ := inspected(t, 0, "cql://"+addr+"/"+keyspace+".t", "--state", "none", "--rate", "0", "--whole", "--yes")
	if in.Whole != "" {
		t.Fatalf("%d: inspect: %s", s.Seed, in.Whole)
	}
	size := &in.Sizes
	line := []string{
		fmt.Sprint(s.Seed),
		compare(t, s, "rows", float64(r.Rows-c.RowsNull), float64(written), 0),
		compare(t, s, "rows lost", c.RowsLost, float64(written)-in.Rows.Value, 0),
		compare(t, s, "partitions", c.Partitions, in.Partitions.Value, 0),
		compare(t, s, "rows, median", c.RowsP50, size.Rows.P50.Value, 0) + " / " + compare(t, s, "rows, 99th percentile", c.RowsP99, size.Rows.P99.Value, 0) + " / " + compare(t, s, "rows of the largest", c.RowsMax, size.Rows.Max, 0),
	}
	if strings.Contains(size.How, "no column has a time that can be read") { // then inspect guesses the length of a row's timestamp
		line = append(line, "not to be read", "", "")
	} else {
		line = append(line, compare(t, s, "bytes, median", c.BytesP50, size.Bytes.P50.Value, 0), compare(t, s, "bytes, 99th percentile", c.BytesP99, size.Bytes.P99.Value, 0), compare(t, s, "bytes of the largest", c.BytesMax, size.Bytes.Max, 0))
	}
	fmt.Fprintln(w, strings.Join(append(line, c.Design, s.What), "\t"))
}

// putRecorder records to which key each item goes in the store, behind the door.
type putRecorder struct {
	*items.Store
	mu  sync.Mutex
	put *api.PutItem // the last one
}

func (p *putRecorder) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if put, ok := q.(*api.PutItem); ok {
		p.mu.Lock()
		p.put = put
		p.mu.Unlock()
	}
	return p.Store.Answer(ctx, q, use)
}

// replayItems writes the rows of a set into the table that is advised for it, each at its time, so
// much faster that they come at the stated rate. compared is 1 if the hottest key gets so many writes
// that its units could be compared.
func replayItems(t *testing.T, w io.Writer, s *drawn.Set, r *advice.Report) (compared int) {
	t.Helper()
	p, c := createProved(t, r), &r.Candidates[0]
	rate := 0.0
	qs, err := queries.Parse(s.Queries)
	if err != nil {
		t.Fatal(err)
	}
	for i := range qs {
		if qs[i].Writes() {
			rate += qs[i].Rate
		}
	}
	note := ""
	for i := range r.Verdict.Statements {
		if strings.HasPrefix(r.Verdict.Statements[i].Text, "PutItem") {
			note = r.Verdict.Statements[i].Note
		}
	}
	// The rows in the order of their times.
	type timed struct {
		row []string
		at  time.Time
	}
	var rows []timed
	event := slices.Index(s.Names, r.EventTime)
	for _, row := range s.Rows {
		if slices.Contains(row, "") { // the PutItem has all attributes
			continue
		}
		at := time.Time{}
		if event >= 0 {
			at, _ = s.Made(r.EventTime, row[event])
		}
		rows = append(rows, timed{row, at})
	}
	slices.SortStableFunc(rows, func(a, b timed) int { return a.at.Compare(b.at) })
	first, last := rows[0].at, rows[len(rows)-1].at
	base := float64(len(rows)) / max(1, last.Sub(first).Seconds())
	if r.Changed != nil {
		base = r.Changed.Since
	}
	faster := rate / base
	from, to := first, last
	if m := c.Heat.Moment; m.From != "" {
		for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
			if at, err := time.Parse(layout, m.From); err == nil {
				from = at
			}
			if at, err := time.Parse(layout, m.To); err == nil {
				to = at
			}
		}
	}
	begin := p.now.Load()
	keys, parts := make(map[string]float64), make(map[string]float64)
	refused := 0
	for n, x := range rows {
		if event >= 0 {
			p.now.Store(max(p.now.Load(), begin+int64(x.at.Sub(first).Seconds()/faster*1e9)))
		}
		body := filledWith(s, r, p.put, note, x.row, n)
		body = body[:len(body)-1] + `,"ReturnConsumedCapacity":"TOTAL"}`
		for { // the application writes again what is throttled
			answer, err := p.door.Do(t.Context(), "PutItem", []byte(body), nil)
			if err == nil {
				var a struct {
					ConsumedCapacity struct{ CapacityUnits float64 }
				}
				if err := json.Unmarshal(answer, &a); err != nil {
					t.Fatal(err)
				}
				if !x.at.Before(from) && x.at.Before(to) || from.Equal(first) && to.Equal(last) {
					key := logicalKey(s, c, x.row)
					keys[key] += a.ConsumedCapacity.CapacityUnits
					parts[p.store.physical(key)] += a.ConsumedCapacity.CapacityUnits
				}
				break
			}
			if len(exception.Of(err).Throttling) == 0 {
				t.Fatalf("%d: %s: %v", s.Seed, body, err)
			}
			refused++
			p.now.Add(int64(20 * time.Millisecond))
		}
	}
	// Where rows come in bursts, the rate is that of the units of time that have any.
	length := to.Sub(from).Seconds()
	for unit, of := range map[time.Duration]string{time.Second: "seconds", time.Minute: "minutes", time.Hour: "hours"} {
		if strings.Contains(c.Heat.Moment.Why, "of the "+of+" have any") {
			some := make(map[time.Time]bool)
			for _, x := range rows {
				if !x.at.Before(from) && !x.at.After(to) {
					some[x.at.Truncate(unit)] = true
				}
			}
			length = float64(len(some)) * unit.Seconds()
		}
	}
	answer, err := p.door.Do(t.Context(), "DescribeTable", fmt.Appendf(nil, `{"TableName":%q}`, p.name), nil)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Table struct{ ItemCount, TableSizeBytes float64 }
	}
	if err := json.Unmarshal(answer, &d); err != nil {
		t.Fatal(err)
	}
	most := func(of map[string]float64) (units float64) {
		for _, u := range of {
			units = max(units, u*faster/length)
		}
		return units
	}
	hot, hottest := most(keys)/float64(c.Shards), most(parts)
	line := []string{
		fmt.Sprint(s.Seed),
		compare(t, s, "items", float64(r.Rows-c.RowsNull), float64(len(rows)), float64(r.Rows)-float64(len(rows))),
		compare(t, s, "items lost", c.RowsLost, float64(len(rows))-d.Table.ItemCount, 0),
		compare(t, s, "bytes of an item", c.ItemBytes, d.Table.TableSizeBytes/d.Table.ItemCount, 0),
	}
	if c.Heat.Writes > 20 && event >= 0 {
		compared = 1
		line = append(line, compare(t, s, "units of the hottest key", c.Heat.WriteUnits, hot, 0))
	} else {
		line = append(line, fmt.Sprintf("%.4g, %.4g", c.Heat.WriteUnits, hot))
	}
	line = append(line, fmt.Sprintf("%.4g", hottest), compare(t, s, "throttled share", c.Heat.Throttled, float64(refused)/float64(len(rows)+refused), 0.01))
	fmt.Fprintln(w, strings.Join(append(line, c.Design, s.What), "\t"))
	return compared
}

// logicalKey returns the values of a key's columns that are no times: at any moment, a period has one
// value.
func logicalKey(s *drawn.Set, c *advice.Candidate, row []string) string {
	var out []string
	for _, name := range c.PartitionKey {
		if at := slices.Index(s.Names, name); at >= 0 {
			if _, isTime := s.Instant(name, row[at]); !isTime {
				out = append(out, row[at])
			}
		}
	}
	return strings.Join(out, "#")
}

// physical returns the hidden key of the last item. For a table without shards it returns the
// logical key: the door passes its requests on as they are.
func (p *putRecorder) physical(logical string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.put == nil {
		return logical
	}
	v, _ := p.put.Item.Get("evenkeel.pk")
	return v.String()
}
