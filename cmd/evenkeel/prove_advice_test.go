// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	doors "github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/internal/testkit/drawn"
	"github.com/evenkeel/evenkeel/workbench/advice"
)

var (
	proveSeed = flag.Uint64("prove.seed", 1, "seed of the first set whose advice is proved; 0: another each time")
	proveSets = flag.Int("prove.sets", 3, "how many sets for DynamoDB are proved")
)

// proved is how long the test replays rows on the engine's clock. Before that, it writes until
// saved units are used up, and until the engine has split partitions that two hot shards share. A
// real store takes minutes for that; here it takes splitAfter.
const (
	proved     = 5 * time.Second
	settling   = 8 * time.Second
	splitAfter = 500 * time.Millisecond
)

// TestProveAdvice creates the advised tables of drawn sets on the embedded engine with DynamoDB's
// limits. It writes rows at the rate that is predicted for the busiest time, on a clock that goes
// as fast as it can, and compares the figures.
func TestProveAdvice(t *testing.T) {
	seed := *proveSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "seed\tshards\thottest units/s predicted, the interval of chance: measured\tthrottled predicted\tmeasured\titems written\tkept\tset")
	for done := 0; done < *proveSets; seed++ {
		s := drawn.New(seed)
		if s.Target != "dynamodb" {
			continue
		}
		done++
		prove(t, w, s, advisedDrawn(t, s))
	}
	w.Flush()
	t.Logf("\n%s", table.String())
}

// TestProveKeys writes all rows of drawn sets into tables with the judged keys: the key of the
// verdict and the keys that lose rows. It compares the predictions with what the store then has:
// rows, rows lost, partitions, rows of the largest partition.
func TestProveKeys(t *testing.T) {
	seed := *proveSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	addr, signals, ended := start(t)
	defer func() { signals <- syscall.SIGTERM; _ = wait(t, ended) }()
	session := connect(t, addr)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "seed\tkey\trows lost predicted\tmeasured\tpartitions predicted\tmeasured\trows of the largest predicted\tmeasured")
	losing := 0
	const most = 40 // sets until one has a key that loses rows
	for done := 0; done < *proveSets || losing == 0 && done < most; seed++ {
		s := drawn.New(seed)
		if s.Target == "dynamodb" {
			continue
		}
		done++
		r := advisedDrawn(t, s)
		keyspace := fmt.Sprintf("prove%d", seed)
		execute(t, session, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		plain, lossy := 0, 0
		for i := range r.Candidates {
			c := &r.Candidates[i]
			// Buckets, added ids and shards have columns that the data have not; the verdict's
			// are tried by TestDrawnStatementsRun.
			if c.TimeBucket != "" || c.Shards > 1 || slices.ContainsFunc(append(slices.Clone(c.PartitionKey), c.Clustering...), func(name string) bool { return !slices.Contains(s.Names, name) }) {
				continue
			}
			if c.RowsLost > 0 {
				lossy++
				losing++
			} else {
				plain++
			}
			if c.RowsLost > 0 && lossy > 2 || c.RowsLost == 0 && plain > 1 {
				continue
			}
			proveKey(t, w, session, s, c, fmt.Sprintf("%s.t%d", keyspace, i))
		}
	}
	w.Flush()
	t.Logf("\n%s", table.String())
	if losing == 0 {
		t.Error("no key that loses rows is among them")
	}
}

// proveKey writes the rows of a set under a key of their columns, as they are.
func proveKey(t *testing.T, w io.Writer, session *gocql.Session, s *drawn.Set, c *advice.Candidate, table string) {
	quoted := func(names []string) string {
		var out []string
		for _, n := range names {
			out = append(out, `"`+n+`"`)
		}
		return strings.Join(out, ", ")
	}
	key := "(" + quoted(c.PartitionKey) + ")"
	if len(c.Clustering) > 0 {
		key += ", " + quoted(c.Clustering)
	}
	names := append(slices.Clone(c.PartitionKey), c.Clustering...)
	execute(t, session, fmt.Sprintf("CREATE TABLE %s (%s text, PRIMARY KEY (%s))", table, strings.ReplaceAll(quoted(names), ",", " text,"), key))
	insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, quoted(names), strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", "))
	skipped := 0
	var writers errgroup.Group
	writers.SetLimit(32)
	for _, row := range s.Rows {
		var bound []any
		for _, n := range names {
			text := row[slices.Index(s.Names, n)]
			if when, ok := s.Instant(n, text); ok { // equal times are one, however they are written
				text = when.UTC().Format("2006-01-02T15:04:05.000Z") // as fine as a timestamp is
			}
			if text == "" {
				break
			}
			bound = append(bound, text)
		}
		if len(bound) < len(names) {
			skipped++
			continue
		}
		writers.Go(func() error { return session.Query(insert, bound...).Exec() })
	}
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	kept, largest := 0, 0
	in := make(map[string]int)
	iter := session.Query("SELECT " + quoted(c.PartitionKey) + " FROM " + table).PageSize(1000).Iter()
	for {
		m := make(map[string]any)
		if !iter.MapScan(m) {
			break
		}
		at := ""
		for _, n := range c.PartitionKey {
			at += m[n].(string) + "\x00"
		}
		kept++
		in[at]++
		largest = max(largest, in[at])
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	lost := len(s.Rows) - skipped - kept
	fmt.Fprintf(w, "%d\t%s\t%.0f\t%d\t%.0f\t%d\t%.0f\t%d\n", s.Seed, key, c.RowsLost, lost, c.Partitions, len(in), c.RowsMax, largest)
	near := func(what string, predicted float64, measured int) {
		if math.Abs(predicted-float64(measured)) > 0.05*float64(measured)+1e-9 {
			t.Errorf("%d: %s: %s: %.4g predicted, %d measured", s.Seed, key, what, predicted, measured)
		}
	}
	near("rows lost", c.RowsLost, lost)
	near("partitions", c.Partitions, len(in))
	if lost == 0 { // the rows of a partition are counted as they come, also those that are overwritten
		near("rows of the largest partition", c.RowsMax, largest)
	}
}

// provedTable is the table of a verdict for DynamoDB, on the embedded engine with DynamoDB's limits
// on, and on a clock that the test sets.
type provedTable struct {
	door  *doors.Router
	store *putRecorder
	now   atomic.Int64
	name  string
	put   string // the PutItem of the report
}

// createProved creates the table. It is warm, so that each shard has a partition of its own from the start.
// Its indexes are left out: they have limits of their own.
func createProved(t *testing.T, r *advice.Report) *provedTable {
	t.Helper()
	p := new(provedTable)
	p.now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	clock := func() time.Time { return time.Unix(0, p.now.Load()) }
	db, err := storage.Open("prove", storage.Options{FS: vfs.NewMem(), SweepInterval: -1, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	limits := throughput.Limits{SplitAfter: splitAfter}.WithDefaults()
	store, err := dynamodb.Open(db, dynamodb.Options{SweepInterval: -1, Clock: clock, Capacity: &limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close(); db.Close() })
	p.store = &putRecorder{Store: store}
	p.door = doors.New(doors.Options{Backend: p.store, Fanout: 1, Now: clock})
	if err := p.door.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var create map[string]any
	if err := json.Unmarshal(r.Verdict.CreateTable, &create); err != nil {
		t.Fatal(err)
	}
	delete(create, "GlobalSecondaryIndexes")
	create["WarmThroughput"] = map[string]int{"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 40_000}
	used := make(map[string]bool)
	for _, k := range create["KeySchema"].([]any) {
		used[k.(map[string]any)["AttributeName"].(string)] = true
	}
	create["AttributeDefinitions"] = slices.DeleteFunc(create["AttributeDefinitions"].([]any), func(a any) bool { return !used[a.(map[string]any)["AttributeName"].(string)] })
	if tags, ok := create["Tags"].([]any); ok {
		create["Tags"] = slices.DeleteFunc(tags, func(a any) bool { return a.(map[string]any)["Key"] != "write-sharding" })
	}
	body, _ := json.Marshal(create)
	if _, err := p.door.Do(t.Context(), "CreateTable", body, nil); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	p.name = create["TableName"].(string)
	for i := range r.Verdict.Statements {
		if operation, request, _ := strings.Cut(r.Verdict.Statements[i].Text, " "); operation == "PutItem" {
			p.put = request
		}
	}
	return p
}

func prove(t *testing.T, w *tabwriter.Writer, s *drawn.Set, r *advice.Report) {
	ctx := context.Background()
	p := createProved(t, r)
	door, now, put := p.door, &p.now, p.put
	best := &r.Candidates[0]
	h := &best.Heat
	// The hottest key's rate, on to its shards, and nothing beside it: what others write
	// goes to other partitions.
	rate := h.Moment.Writes
	if rate < 1 {
		rate = 1
	}
	hot := s.Rows[0]
	for _, row := range s.Rows { // a row of the key that has most rows
		if at := slices.Index(s.Names, s.Truth.EntityColumn); slices.ContainsFunc(r.HotKeys, func(k advice.HotKey) bool { return k.Value == row[at] }) {
			hot = row
			break
		}
	}
	draw := rand.New(rand.NewPCG(s.Seed, 5))
	offered, refused, written := 0, 0, 0
	begin := now.Load()
	at := float64(begin)
	took := func() map[int]float64 {
		t.Helper()
		answer, err := door.Do(ctx, "DescribePartitions", fmt.Appendf(nil, `{"TableName":%q}`, p.name), nil)
		if err != nil {
			t.Fatal(err)
		}
		var described api.PartitionsResponse
		if err := json.Unmarshal(answer, &described); err != nil {
			t.Fatal(err)
		}
		out := make(map[int]float64)
		for _, x := range described.Partitions {
			out[x.Number] = x.Write.UnitsTotal
		}
		return out
	}
	var before map[int]float64
	// Arrivals are Poisson.
	for n := 0; at < float64(begin)+float64(proved+settling) && n < 800_000; n++ {
		at += draw.ExpFloat64() / rate * 1e9
		now.Store(int64(at))
		key := best.PartitionKey
		filled := placeholder.ReplaceAllStringFunc(put, func(p string) string {
			column := strings.Trim(p, "<>")
			i := slices.Index(s.Names, column)
			switch {
			case i < 0:
				return fmt.Sprintf("id-%d", n)
			case slices.Contains(best.Clustering, column) && !slices.Contains(key, column) && column != r.EventTime || len(key) == 1 && key[0] == column && len(best.Clustering) == 0:
				return fmt.Sprintf("%d", 1_000_000+n) // a new item
			case slices.Contains(best.Clustering, column):
				return fmt.Sprintf("%d", 1_700_000_000+n)
			}
			return hot[i]
		})
		_, err := door.Do(ctx, "PutItem", []byte(filled), nil)
		counts := at >= float64(begin)+float64(settling)
		if counts && before == nil {
			before = took()
		}
		switch {
		case err == nil:
			written++
		case len(exception.Of(err).Throttling) == 0:
			t.Errorf("%d: %s: %v", s.Seed, filled, err)
			return
		case counts:
			refused++
		}
		if counts {
			offered++
		}
	}
	predicted, measured := h.WriteUnits, 0.0 // the engine's own count
	for number, units := range took() {
		measured = math.Max(measured, (units-before[number])/proved.Seconds())
	}
	share := float64(refused) / math.Max(1, float64(offered))
	units := fmt.Sprintf("%.4g, too few to compare", predicted)
	if h.Moment.Writes >= 1 { // the writes come by chance, also those to a key without shards
		units = compareFullest(t, s, predicted, measured, h.Writes*proved.Seconds(), best.Shards, best.Shards)
	}
	fmt.Fprintf(w, "%d\t%d\t%s\t%.4f\t%.4f\t%d\t%d\t%s\n", s.Seed, best.Shards, units, h.Throttled, share, offered, written, s.What)
	if share > 0.01 {
		t.Errorf("%d: %.1f%% of the writes were throttled: %s", s.Seed, 100*share, s.What)
	}
}
