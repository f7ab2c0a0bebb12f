package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	doors "github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/engine/capacity"
	"github.com/evenkeel/evenkeel/engine/items"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/internal/testkit/drawn"
	"github.com/evenkeel/evenkeel/workbench/advice"
)

var (
	proveSeed = flag.Uint64("prove.seed", 1, "seed of the first set whose advice is proved; 0: another each time")
	proveSets = flag.Int("prove.sets", 3, "how many sets for DynamoDB are proved")
)

// proved is how long rows are replayed on the engine's clock, behind a while that uses up
// what was saved, and in which partitions are split that two hot shards share: the store
// takes minutes for that, here it takes splitAfter.
const (
	proved     = 5 * time.Second
	settling   = 8 * time.Second
	splitAfter = 500 * time.Millisecond
)

// TestProveAdvice builds what is advised for drawn sets on the embedded engine with
// DynamoDB's limits on, writes rows at the rate that is predicted of the busiest time, on
// a clock that goes as fast as it can, and compares.
func TestProveAdvice(t *testing.T) {
	seed := *proveSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "seed\tshards\thottest units/s predicted\tmeasured\tthrottled predicted\tmeasured\titems written\tkept\tset")
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

func prove(t *testing.T, w *tabwriter.Writer, s *drawn.Set, r *advice.Report) {
	ctx := context.Background()
	var now atomic.Int64
	now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	clock := func() time.Time { return time.Unix(0, now.Load()) }
	db, err := storage.Open("prove", storage.Options{FS: vfs.NewMem(), SweepInterval: -1, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	limits := capacity.Limits{SplitAfter: splitAfter}.WithDefaults()
	store, err := items.Open(db, items.Options{SweepInterval: -1, Clock: clock, Capacity: &limits})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	door := doors.New(doors.Options{Backend: store, Fanout: 1, Now: clock})
	if err := door.Start(ctx); err != nil {
		t.Fatal(err)
	}
	// Warm, so that each shard has a partition of its own from the start; the indexes
	// have limits of their own, and are proved by themselves.
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
	if _, err := door.Do(ctx, "CreateTable", body, nil); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	put := ""
	for i := range r.Verdict.Statements {
		if operation, request, _ := strings.Cut(r.Verdict.Statements[i].Text, " "); operation == "PutItem" {
			put = request
		}
	}
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
		answer, err := door.Do(ctx, "DescribePartitions", fmt.Appendf(nil, `{"TableName":%q}`, create["TableName"]), nil)
		if err != nil {
			t.Fatal(err)
		}
		var p api.PartitionsResponse
		if err := json.Unmarshal(answer, &p); err != nil {
			t.Fatal(err)
		}
		out := make(map[int]float64)
		for _, x := range p.Partitions {
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
	fmt.Fprintf(w, "%d\t%d\t%.1f\t%.1f\t%.4f\t%.4f\t%d\t%d\t%s\n", s.Seed, best.Shards, predicted, measured, h.Throttled, share, offered, written, s.What)
	if h.Writes > 50 && math.Abs(measured-predicted) > 0.05*predicted+3*math.Sqrt(predicted) {
		t.Errorf("%d: %.1f units/s predicted of the hottest partition, %.1f measured", s.Seed, predicted, measured)
	}
	if share > 0.01 {
		t.Errorf("%d: %.1f%% of the writes were throttled: %s", s.Seed, 100*share, s.What)
	}
}
