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
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/drawn"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// TestProveRows creates the advised tables of drawn sets on the embedded engine, and writes all rows
// of each set into them. Then it compares the prediction with the engine's rows.
//
// Tables of CQL: the rows, those that are lost, the partitions, and the rows and bytes of the median
// partition, of the 99th percentile, and of the largest. The report gives some figures an
// interval, for example the fullest shard of drawn ids. The engine's figure must then be in this interval. Tables of DynamoDB, with the limits on: the
// rows come at the stated rate, on a clock that runs as fast as they do. The test compares the items,
// those that are lost, their bytes, the units of the hottest key in its busiest time, and the share
// of the writes that is throttled. All agree within 5%. The hottest partition is the fullest shard of
// that key, and chance has a part in that: its units are in the interval of fullest.
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
	fmt.Fprintln(forItems, "seed\titems\tlost\tbytes of an item\tunits/s of the hottest key, by shard\tof the hottest partition, and the interval of chance\tthrottled\tkey\tset")
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
		t.Error("no set has a hottest key of so many rows that its units could be compared")
	}
}

// compare compares a predicted value with the measured one, and formats both.
func compare(t *testing.T, s *drawn.Set, what string, predicted, measured, noise float64) string {
	t.Helper()
	if math.Abs(predicted-measured) > tolerance*measured+noise+1e-9 || math.IsNaN(predicted) {
		t.Errorf("%d: %s: %.6g predicted, %.6g measured: %s", s.Seed, what, predicted, measured, s.What)
	}
	return fmt.Sprintf("%.4g = %.4g", predicted, measured)
}

// compareRanged compares as compare does, and accepts what is in the interval that the report gives the figure.
func compareRanged(t *testing.T, s *drawn.Set, c *advice.Candidate, what, figure string, predicted, measured float64) string {
	t.Helper()
	if i := c.Intervals.Of(figure, predicted); i.Low <= measured && measured <= i.High {
		return fmt.Sprintf("%.4g = %.4g", predicted, measured)
	}
	return compare(t, s, what, predicted, measured, 0)
}

// writeRows writes the rows of a set into the table that is advised for it.
func writeRows(t *testing.T, w io.Writer, session *gocql.Session, addr string, s *drawn.Set, r *advice.Report) {
	t.Helper()
	keyspace, c := fmt.Sprintf("rows%d", s.Seed), &r.Candidates[0]
	table := createAdvised(t, session, keyspace, s, r, "")
	began := time.Now().Add(-time.Hour).UnixMicro()
	var writers errgroup.Group
	writers.SetLimit(32)
	written := 0
	for i, row := range s.Rows {
		bound := table.bound(t, row)
		if bound == nil {
			continue
		}
		written++
		bound = append(bound, began+int64(i)*1_000_000/profile.LoadRate)
		writers.Go(func() error { return session.Query(table.insert+" USING TIMESTAMP ?", bound...).Exec() })
	}
	if err := writers.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, r.Verdict.DDL[0])
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
		compare(t, s, "rows, median", c.RowsP50, size.Rows.P50.Value, 0) + " / " + compareRanged(t, s, c, "rows, 99th percentile", "rows_p99", c.RowsP99, size.Rows.P99.Value) + " / " + compareRanged(t, s, c, "rows of the largest", "rows_max", c.RowsMax, size.Rows.Max),
	}
	if strings.Contains(size.How, "no column has a time that can be read") { // then inspect guesses the length of a row's timestamp
		line = append(line, "not to be read", "", "")
	} else {
		line = append(line, compare(t, s, "bytes, median", c.BytesP50, size.Bytes.P50.Value, 0), compareRanged(t, s, c, "bytes, 99th percentile", "bytes_p99", c.BytesP99, size.Bytes.P99.Value), compareRanged(t, s, c, "bytes of the largest", "bytes_max", c.BytesMax, size.Bytes.Max))
	}
	fmt.Fprintln(w, strings.Join(append(line, c.Design, s.What), "\t"))
}

// advisedTable is the table of a verdict in CQL.
type advisedTable struct {
	set    *drawn.Set
	report *advice.Report
	types  map[string]*value.Type
	names  []string
	key    []string
	insert string
}

// createAdvised creates the table t of a verdict in a new keyspace, with further options of the table.
func createAdvised(t *testing.T, session *gocql.Session, keyspace string, s *drawn.Set, r *advice.Report, options string) *advisedTable {
	t.Helper()
	execute(t, session, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	ddl := r.Verdict.DDL[0]
	create := parseCreate(t, ddl, keyspace, "t")
	if options != "" {
		with := " WITH "
		if strings.Contains(ddl, ") WITH ") {
			with = " AND "
		}
		ddl = strings.TrimSuffix(strings.TrimSpace(ddl), ";") + with + options
	}
	execute(t, session, "CREATE TABLE "+keyspace+".t"+ddl[strings.Index(ddl, " ("):])
	a := &advisedTable{set: s, report: r, types: make(map[string]*value.Type), key: append(slices.Clone(create.PartitionKey), create.Clustering...)}
	for _, d := range create.Columns {
		a.names, a.types[d.Name] = append(a.names, d.Name), value.Named(d.Type.Name.Name)
	}
	a.insert = fmt.Sprintf(`INSERT INTO %s.t ("%s") VALUES (%s)`, keyspace, strings.Join(a.names, `", "`), strings.TrimSuffix(strings.Repeat("?, ", len(a.names)), ", "))
	return a
}

// bound returns the values of the table's INSERT for a row; nil: the row has no key.
func (a *advisedTable) bound(t *testing.T, row []string) (list []any) {
	t.Helper()
	columns := columnValues(t, a.set, a.report, row, a.types)
	for _, name := range a.names {
		v := columns[name]
		if v == nil && !slices.Contains(a.set.Names, name) {
			id := gocql.TimeUUID()
			v = id[:]
		}
		if v == nil && slices.Contains(a.key, name) {
			return nil
		}
		list = append(list, cell(v))
	}
	return list
}

// putRecorder records to which key each item goes in the store, behind the door.
type putRecorder struct {
	*dynamodb.Store
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

// paced is the rows of a set in the order of their times, and how much faster they come at the stated
// rate.
type paced struct {
	rows   []timedRow
	timed  bool // they have times
	faster float64

	first, last time.Time
	from, to    time.Time // the busiest time that the report names; else all since the last change
	length      float64   // its seconds in the data; of bursts, those that have rows
}

type timedRow struct {
	row []string
	at  time.Time
}

// pacedRows returns the rows of a set that are to be written.
func pacedRows(t *testing.T, s *drawn.Set, r *advice.Report, written func(row []string) bool) *paced {
	t.Helper()
	qs, err := queries.Parse(s.Queries)
	if err != nil {
		t.Fatal(err)
	}
	rate := 0.0
	for i := range qs {
		if qs[i].Writes() {
			rate += qs[i].Rate
		}
	}
	event := slices.Index(s.Names, r.EventTime)
	p := &paced{timed: event >= 0}
	for _, row := range s.Rows {
		if !written(row) {
			continue
		}
		at := time.Time{}
		if p.timed {
			at, _ = s.Made(r.EventTime, row[event])
		}
		p.rows = append(p.rows, timedRow{row, at})
	}
	slices.SortStableFunc(p.rows, func(a, b timedRow) int { return a.at.Compare(b.at) })
	p.first, p.last = p.rows[0].at, p.rows[len(p.rows)-1].at
	base := float64(len(p.rows)) / max(1, p.last.Sub(p.first).Seconds())
	if r.Changed != nil {
		base = r.Changed.Since
	}
	p.faster = rate / base
	p.from, p.to = p.first, p.last
	moment := &r.Candidates[0].Heat.Moment
	if r.Changed != nil { // the stated rate is that since the change
		if at, err := time.Parse(time.RFC3339, r.Changed.From); err == nil {
			p.from = at
		}
	}
	if moment.From != "" {
		for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
			if at, err := time.Parse(layout, moment.From); err == nil {
				p.from = at
			}
			if at, err := time.Parse(layout, moment.To); err == nil {
				p.to = at
			}
		}
	}
	// If rows come in bursts, the rate counts only the units of time that have rows.
	p.length = p.to.Sub(p.from).Seconds()
	for unit, of := range map[time.Duration]string{time.Second: "seconds", time.Minute: "minutes", time.Hour: "hours"} {
		if strings.Contains(moment.Why, "of the "+of+" have any") {
			some := make(map[time.Time]bool)
			for _, x := range p.rows {
				if !x.at.Before(p.from) && !x.at.After(p.to) {
					some[x.at.Truncate(unit)] = true
				}
			}
			p.length = float64(len(some)) * unit.Seconds()
		}
	}
	return p
}

// after returns how many nanoseconds behind the first row a row comes, at the stated rate.
func (p *paced) after(at time.Time) int64 { return int64(at.Sub(p.first).Seconds() / p.faster * 1e9) }

// busiest reports whether a time is in the busiest time.
func (p *paced) busiest(at time.Time) bool {
	return !at.Before(p.from) && at.Before(p.to) || p.from.Equal(p.first) && p.to.Equal(p.last)
}

// fewestRows is how many rows the hottest key must have in its busiest time for its units to be
// compared. One of fewer rows is a matter of chance.
const fewestRows = 20

// replayItems writes the rows of a set into the table that is advised for it. It writes each row at
// the row's time, on a clock so much faster that the rows come at the stated rate. compared is 1 if
// the hottest key has enough rows in its busiest time to compare its units.
func replayItems(t *testing.T, w io.Writer, s *drawn.Set, r *advice.Report) (compared int) {
	t.Helper()
	p, c := createProved(t, r), &r.Candidates[0]
	note := ""
	for i := range r.Verdict.Statements {
		if strings.HasPrefix(r.Verdict.Statements[i].Text, "PutItem") {
			note = r.Verdict.Statements[i].Note
		}
	}
	run := pacedRows(t, s, r, func(row []string) bool { return !slices.Contains(row, "") }) // the PutItem has all attributes
	begin := p.now.Load()
	keys, parts := make(map[string]float64), make(map[string]float64)
	refused := 0
	for n, x := range run.rows {
		if run.timed {
			p.now.Store(max(p.now.Load(), begin+run.after(x.at)))
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
				if run.busiest(x.at) {
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
			units = max(units, u*run.faster/run.length)
		}
		return units
	}
	hot, hottest := most(keys)/float64(c.Shards), most(parts)
	line := []string{
		fmt.Sprint(s.Seed),
		compare(t, s, "items", float64(r.Rows-c.RowsNull), float64(len(run.rows)), float64(r.Rows)-float64(len(run.rows))),
		compare(t, s, "items lost", c.RowsLost, float64(len(run.rows))-d.Table.ItemCount, 0),
		compare(t, s, "bytes of an item", c.ItemBytes, d.Table.TableSizeBytes/d.Table.ItemCount, 0),
	}
	if run.timed && c.Heat.Moment.Writes*run.length/run.faster >= fewestRows {
		compared = 1
		line = append(line, compare(t, s, "units of the hottest key", c.Heat.WriteUnits, hot, 0))
		if c.Shards > 1 {
			line = append(line, compareFullest(t, s, c.Heat.WriteUnits, hottest, c.Heat.Writes*run.length/run.faster, c.Shards, len(parts)))
		} else { // the key is the partition, and chance has no part in it
			line = append(line, compare(t, s, "units of the hottest partition", c.Heat.WriteUnits, hottest, 0))
		}
	} else {
		line = append(line, fmt.Sprintf("%.4g, %.4g", c.Heat.WriteUnits, hot), fmt.Sprintf("%.4g", hottest))
	}
	line = append(line, compare(t, s, "throttled share", c.Heat.Throttled, float64(refused)/float64(len(run.rows)+refused), 0.01))
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
	pk := v.String()
	return logical + pk[strings.LastIndexByte(pk, '-'):] // without a time in the key, as in logical
}
