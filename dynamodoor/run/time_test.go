// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// timedTable is a CreateTable with a sort key of a type and a tag's options beside the strategy.
func timedTable(kind, options string) string {
	return strings.Replace(plainTable, `"r","AttributeType":"S"`, `"r","AttributeType":"`+kind+`"`, 1) + `,"Tags":[{"Key":"write-sharding","Value":"strategy=time ` + options + `"}]}`
}

// at is an hour of a day as a sort key.
func at(hour int) string {
	return time.Date(2026, 11, 25, hour, 0, 0, 0, time.UTC).Format(time.RFC3339)
}

func putAt(t testing.TB, d doer, h, r string) {
	t.Helper()
	must(t, d, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"`+h+`"},"r":{"S":"`+r+`"},"x":{"S":"y"}}}`)
}

// range of a Query on Tab.
func rangeOf(h, more string) string {
	return `{"TableName":"Tab","ExpressionAttributeValues":{":h":{"S":"` + h + `"}` + more + `}`
}

// TestBucketsThatAQueryVisits counts the partitions that a Query reads.
func TestBucketsThatAQueryVisits(t *testing.T) {
	const shards = 2
	s := start(t, 4)
	must(t, s, "CreateTable", timedTable("S", "by=r bucket=1h shards=2"))
	for hour := range 200 {
		for i := range 20 {
			putAt(t, s, "a", fmt.Sprintf("%s#%02d", at(hour), i))
		}
	}
	for _, c := range []struct {
		what, body  string
		rows, parts int
	}{
		{"two hours", rangeOf("a", `,":a":{"S":"`+at(30)+`"},":b":{"S":"`+at(31)+`~"}`) + `,"KeyConditionExpression":"h = :h AND r BETWEEN :a AND :b"}`, 40, 2},
		{"two hours across buckets", rangeOf("a", `,":a":{"S":"`+strings.Replace(at(30), ":00:00", ":30", 1)+`"},":b":{"S":"`+strings.Replace(at(32), ":00:00", ":30", 1)+`"}`) + `,"KeyConditionExpression":"h = :h AND r BETWEEN :a AND :b"}`, 40, 3},
		{"the newest ten", rangeOf("a", ``) + `,"KeyConditionExpression":"h = :h","ScanIndexForward":false,"Limit":10}`, 10, 1},
		{"the newest thirty", rangeOf("a", ``) + `,"KeyConditionExpression":"h = :h","ScanIndexForward":false,"Limit":30}`, 30, 3},
		{"the oldest ten", rangeOf("a", ``) + `,"KeyConditionExpression":"h = :h","Limit":10}`, 10, 1},
		{"a day", rangeOf("a", `,":p":{"S":"2026-11-27"}`) + `,"KeyConditionExpression":"h = :h AND begins_with(r, :p)"}`, 480, 24},
		{"ten hours", rangeOf("a", `,":p":{"S":"2026-11-27T1"}`) + `,"KeyConditionExpression":"h = :h AND begins_with(r, :p)"}`, 200, 10},
		{"an hour", rangeOf("a", `,":p":{"S":"2026-11-27T12"}`) + `,"KeyConditionExpression":"h = :h AND begins_with(r, :p)"}`, 20, 1},
		{"one item", rangeOf("a", `,":p":{"S":"`+at(12)+`#03"}`) + `,"KeyConditionExpression":"h = :h AND r = :p"}`, 1, 0},
		{"no time", rangeOf("a", `,":p":{"S":"x"}`) + `,"KeyConditionExpression":"h = :h AND begins_with(r, :p)"}`, 0, 1},
		{"no such key", rangeOf("b", ``) + `,"KeyConditionExpression":"h = :h"}`, 0, 0},
		{"before all", rangeOf("a", `,":p":{"S":"2026-11-24"}`) + `,"KeyConditionExpression":"h = :h AND r < :p"}`, 0, 0},
	} {
		s.store.took()
		m := must(t, s, "Query", c.body)
		requests, _ := s.store.took()
		if n := len(sorts(m)); n != c.rows || !slices.IsSorted(sorts(m)) && !strings.Contains(c.body, "false") {
			t.Errorf("%s: %d rows, not %d", c.what, n, c.rows)
		}
		// A shard can be asked twice. A key without buckets is asked for in one partition.
		if n := requests["Query"] - requests["directory"]; n < max(1, c.parts*shards) || n > max(1, c.parts*shards)+c.parts {
			t.Errorf("%s: %d partitions are read, of %d buckets with %d shards", c.what, n, c.parts, shards)
		}
	}
	s.store.took()
	must(t, s, "GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"`+at(3)+`#01"}}}`)
	if requests, _ := s.store.took(); requests["GetItem"] != 1 || len(requests) != 1 {
		t.Errorf("an item takes %v", requests)
	}
}

// TestNewestOfSmallBuckets counts the requests for a hundred items from buckets with ten each: one to the
// directory, one to the first bucket, and one to as many as should have the rest.
func TestNewestOfSmallBuckets(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", timedTable("S", "bucket=1h"))
	for hour := range 40 {
		for i := range 10 {
			putAt(t, s, "a", fmt.Sprintf("%s#%02d", at(hour), i))
		}
	}
	for _, more := range []string{"", `,"ScanIndexForward":false`} {
		s.store.took()
		m := must(t, s, "Query", rangeOf("a", "")+`,"KeyConditionExpression":"h = :h","Limit":100`+more+`}`)
		if requests, _ := s.store.took(); len(sorts(m)) != 100 || requests["directory"] > 1 || requests["Query"]-requests["directory"] > 2 {
			t.Errorf("%d items, by %v", len(sorts(m)), requests)
		}
	}
}

// TestALoneDoorRemembersBuckets counts the requests to the directory of a door that has no others
// beside it, and writes into new buckets between reads, at both ends and in the middle.
func TestALoneDoorRemembersBuckets(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", timedTable("S", "bucket=1h"))
	var want []string
	for hour := range 60 {
		putAt(t, s, "a", at(2*hour))
		want = append(want, at(2*hour))
	}
	newest := func(limit, most int) {
		t.Helper()
		slices.Sort(want)
		s.store.took()
		got := sorts(must(t, s, "Query", rangeOf("a", "")+fmt.Sprintf(`,"KeyConditionExpression":"h = :h","ScanIndexForward":false,"Limit":%d}`, limit)))
		if slices.Reverse(got); !slices.Equal(got, want[max(0, len(want)-limit):]) {
			t.Fatalf("the newest %d items are %v", limit, got)
		}
		if requests, _ := s.store.took(); requests["directory"] > most || requests["Query"]-requests["directory"] > 1+limit/atOnce {
			t.Errorf("the newest %d items took %v", limit, requests)
		}
	}
	newest(5, 1)
	for _, hour := range []int{200, 201, 117, 115, 300} {
		putAt(t, s, "a", at(hour))
		want = append(want, at(hour))
		newest(5, 0)
	}
	newest(100, 2)
	newest(100, 0)
	putAt(t, s, "a", at(-10))
	want = append(want, at(-10))
	newest(100, 0)
	// What another key has is its own.
	if got := sorts(must(t, s, "Query", rangeOf("b", "")+`,"KeyConditionExpression":"h = :h"}`)); len(got) != 0 {
		t.Errorf("another key has %v", got)
	}
	// Doors that may have others beside them ask each time.
	shared := doorOn(t, s.store, short)
	for range 2 {
		s.store.took()
		must(t, shared, "Query", wholeKey)
		if requests, _ := s.store.took(); requests["directory"] == 0 {
			t.Error("a door with others beside it has not asked the directory")
		}
	}
}

// atOnce is the number of small buckets that one request reads at least.
const atOnce = 12

// directory is a store that counts the writes of the directory, and can refuse writes.
type directory struct {
	Backend
	mu      sync.Mutex
	added   int
	refused string // the table whose writes are refused
}

func (d *directory) refuses(table string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refused == table {
		return exception.New(exception.ServiceUnavailable, "the door has died")
	}
	return nil
}

func (d *directory) refuse(table string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = table
}

func (d *directory) took() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.added
	d.added = 0
	return n
}

func (d *directory) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if put, ok := q.(*api.PutItem); ok && put.Table == catalog.BucketsTable {
		if err := d.refuses(catalog.BucketsTable); err != nil {
			return err
		}
		d.mu.Lock()
		d.added++
		d.mu.Unlock()
	} else if api.OperationOf(q.Operation()).Writes {
		if err := d.refuses("Tab"); err != nil {
			return err
		}
	}
	return d.Backend.Answer(ctx, q, use)
}

const wholeKey = `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`

// TestABucketIsInTheDirectoryFirst kills a door before it writes the directory, and between that
// and the item. Other doors see each acknowledged item, and nothing else.
func TestABucketIsInTheDirectoryFirst(t *testing.T) {
	for operation, body := range map[string]string{
		"PutItem":            `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%s"}}}`,
		"UpdateItem":         `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"%s"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`,
		"BatchWriteItem":     `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"%s"}}}}]}}`,
		"TransactWriteItems": `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%s"}}}}]}`,
		"ExecuteStatement":   `{"Statement":"INSERT INTO Tab VALUE {'h':'a','r':'%s'}"}`,
		"ExecuteTransaction": `{"TransactStatements":[{"Statement":"INSERT INTO Tab VALUE {'h':'a','r':'%s'}"}]}`,
	} {
		t.Run(operation, func(t *testing.T) {
			store := &directory{Backend: start(t, 1).store}
			a, b := doorOn(t, store, short), doorOn(t, store, short)
			must(t, a, "CreateTable", timedTable("S", "bucket=1h"))
			write := func(door *Router, hour int) error {
				_, err := do(door, operation, fmt.Sprintf(body, at(hour)))
				return err
			}
			for _, table := range []string{catalog.BucketsTable, "Tab"} {
				store.refuse(table)
				if err := write(a, 10); err == nil {
					t.Fatalf("without table %s an item is acknowledged", table)
				}
				store.refuse("")
				if rs := sorts(must(t, b, "Query", wholeKey)); len(rs) != 0 {
					t.Fatalf("an item that was refused by table %s is there: %v", table, rs)
				}
			}
			if n := store.took(); n != 1 {
				t.Errorf("the directory is written %d times", n)
			}
			for i, door := range []*Router{a, b, a, b} {
				if err := write(door, 10+i/2*5); err != nil && !strings.HasPrefix(operation, "Execute") {
					t.Fatal(err)
				}
				if rs := sorts(must(t, []*Router{b, a}[i%2], "Query", wholeKey)); len(rs) != 1+i/2 {
					t.Fatalf("after write %d: %v", i, rs)
				}
			}
			// Once for each door and bucket: the first door has added hour 10 before.
			if n := store.took(); n != 3 {
				t.Errorf("the directory is written %d times", n)
			}
		})
	}
}

// TestLateItems writes items of earlier buckets than those that doors know.
func TestLateItems(t *testing.T) {
	store := start(t, 1).store
	doors := []*Router{doorOn(t, store, short), doorOn(t, store, short)}
	must(t, doors[0], "CreateTable", timedTable("S", "bucket=1d shards=3"))
	var want []string
	for i, r := range []string{"2026-11-25T10:00:00Z", "2026-11-25#b", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z", "0000-01-01", "9999-12-31T23:59:59Z#last", "0044-03-15T12:00:00Z", "2026-11-25"} {
		putAt(t, doors[i%2], "a", r)
		want = append(want, r)
		slices.Sort(want)
		for _, door := range doors {
			if got := sorts(must(t, door, "Query", wholeKey)); !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
	// The same after a restart.
	if got := sorts(must(t, doorOn(t, store, short), "Query", wholeKey)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, r := range want {
		if m := must(t, doors[0], "GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"`+r+`"}}}`); m["Item"] == nil {
			t.Errorf("%s is not found", r)
		}
	}
	if n := len(sorts(must(t, doors[1], "Scan", `{"TableName":"Tab"}`))); n != len(want) {
		t.Errorf("a Scan has %d items", n)
	}
}

// TestPagesOfManyPartitions reads keys whose buckets have so many partitions that a page ends
// before it is full. All pages together have each item once, in order.
func TestPagesOfManyPartitions(t *testing.T) {
	for _, c := range []struct{ kind, options string }{
		{"S", "bucket=1h shards=400"}, {"S", "bucket=1d shards=400"}, {"N", "bucket=1h unit=seconds shards=400"}, {"N", "bucket=1h unit=milliseconds shards=400"},
	} {
		t.Run(c.kind+" "+c.options, func(t *testing.T) {
			s, checks := start(t, 1), 0
			must(t, s, "CreateTable", timedTable(c.kind, c.options))
			rapid.Check(t, func(rt *rapid.T) {
				checks++
				h := fmt.Sprintf(`"h":{"S":"a%d"}`, checks)
				query := strings.TrimSuffix(strings.Replace(wholeKey, `{"S":"a"}`, fmt.Sprintf(`{"S":"a%d"}`, checks), 1), "}")
				key := func(label string) string {
					hour := rapid.IntRange(-30, 30).Draw(rt, label) * 24
					when := time.Unix(0, 0).UTC().Add(time.Duration(hour)*time.Hour + time.Duration(rapid.SampledFrom([]int{0, 1, 1800, 3599, 86399}).Draw(rt, label+" second"))*time.Second)
					switch {
					case strings.Contains(c.options, "unit=seconds"):
						return fmt.Sprint(when.Unix())
					case c.kind == "N":
						return fmt.Sprint(when.UnixMilli())
					case strings.Contains(c.options, "1d") && rapid.Bool().Draw(rt, label+" date"):
						return when.Format(time.DateOnly) + rapid.SampledFrom([]string{"", "#", "_", "\U0010ffff"}).Draw(rt, label+" rest")
					}
					return when.Format(time.RFC3339) + rapid.SampledFrom([]string{"", "#", "~", "\U0010ffff"}).Draw(rt, label+" rest")
				}
				want := map[string]bool{}
				for range rapid.IntRange(0, 12).Draw(rt, "items") {
					r := key("item")
					must(t, s, "PutItem", `{"TableName":"Tab","Item":{`+h+`,"r":{"`+c.kind+`":"`+r+`"}}}`)
					want[r] = true
				}
				// Buckets whose items are gone remain in the directory.
				for range rapid.IntRange(0, 12).Draw(rt, "deleted") {
					if r := key("deleted"); !want[r] {
						must(t, s, "PutItem", `{"TableName":"Tab","Item":{`+h+`,"r":{"`+c.kind+`":"`+r+`"}}}`)
						must(t, s, "DeleteItem", `{"TableName":"Tab","Key":{`+h+`,"r":{"`+c.kind+`":"`+r+`"}}}`)
					}
				}
				forward := rapid.Bool().Draw(rt, "forward")
				limit := rapid.SampledFrom([]string{"", `,"Limit":1`, `,"Limit":3`}).Draw(rt, "limit")
				var got []string
				pages, start := 0, ""
				for {
					m := must(t, s, "Query", query+fmt.Sprintf(`,"ScanIndexForward":%t%s%s}`, forward, limit, start))
					for _, it := range m["Items"].([]any) {
						got = append(got, it.(map[string]any)["r"].(map[string]any)[c.kind].(string))
					}
					if pages++; m["LastEvaluatedKey"] == nil || pages > 60 {
						break
					}
					start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
				}
				if len(got) != len(want) || pages > 60 {
					rt.Fatalf("%d items in %d pages, not %d: %v", len(got), pages, len(want), got)
				}
				for i, r := range got {
					if !want[r] || i > 0 && c.kind == "S" && (got[i-1] < r) != forward {
						rt.Fatalf("%v is not what was put, in order", got)
					}
				}
			})
		})
	}
}

// TestEmptyBucketsEndAPage checks that a page without items goes on, and how many partitions it
// reads.
func TestEmptyBucketsEndAPage(t *testing.T) {
	s := start(t, 4)
	must(t, s, "CreateTable", timedTable("S", "bucket=1h shards=4"))
	first, last := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), 0
	putAt(t, s, "a", first.Format(time.RFC3339))
	e := s.tables.Entry("Tab")
	for last = range 1000 {
		bucket := first.Unix()/3600 + int64(last)
		if err := catalogOf(s.Router).AddBucket(t.Context(), e.ID+"/a", bucket); err != nil {
			t.Fatal(err)
		}
	}
	putAt(t, s, "a", first.Add(time.Duration(last)*time.Hour).Format(time.RFC3339)+"#last")
	s.store.took()
	start, items, pages := "", 0, 0
	for ; pages < 20; pages++ {
		m := must(t, s, "Query", strings.TrimSuffix(wholeKey, "}")+start+"}")
		if requests, _ := s.store.took(); requests["Query"] > 1100 {
			t.Errorf("page %d reads %d partitions", pages, requests["Query"])
		}
		if items += len(m["Items"].([]any)); m["LastEvaluatedKey"] == nil {
			break
		}
		start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
	}
	if items != 2 || pages != 4 {
		t.Errorf("%d items in %d pages and one more", items, pages)
	}
}

// TestBucketsOfLongKeysStay checks that a bucket stays in the directory if one of two long keys, which have
// the same entries, has no items there.
func TestBucketsOfLongKeysStay(t *testing.T) {
	k := strings.Repeat("k", 1950)
	for _, keys := range [][2]string{{k + "1", k + "2"}, {k, k[:1900]}, {k[:1899] + "üx", k[:1899]}, {k[:1897] + "😀", k[:1897]}} {
		var clock atomic.Int64 // seconds since the test began
		r := New(Options{Backend: start(t, 1).store, Now: func() time.Time {
			return time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC).Add(time.Duration(clock.Load()) * time.Second)
		}})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		must(t, r, "CreateTable", timedTable("S", "bucket=1h"))
		for hour := range 10 {
			putAt(t, r, keys[0], at(hour))
		}
		putAt(t, r, keys[1], at(9))
		read := func(key string, want int) {
			t.Helper()
			if got := sorts(must(t, r, "Query", rangeOf(key, "")+`,"KeyConditionExpression":"h = :h"}`)); len(got) != want {
				t.Errorf("%d bytes and %d: %d items, not %d", len(keys[0]), len(keys[1]), len(got), want)
			}
		}
		for range 4 {
			clock.Add(24 * 3600)
			read(keys[1], 1) // the door knows the buckets, and not their marks
			read(keys[1], 1)
			read(keys[0], 10)
		}
	}
}

// TestBucketsWithoutItemsAreRemoved expires the items of old buckets. Queries that read them in vain mark
// the buckets, and later ones remove them from the directory. A late item is found whatever the doors
// remember, and one that comes while its bucket is marked keeps it there.
func TestBucketsWithoutItemsAreRemoved(t *testing.T) {
	for _, fanout := range []int{1, 4} {
		store := start(t, fanout).store
		var clock atomic.Int64 // seconds since the test began
		began := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
		door := func() *Router {
			r := New(Options{Backend: store, Fanout: fanout, Now: func() time.Time { return began.Add(time.Duration(clock.Load()) * time.Second) }})
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			return r
		}
		a, b := door(), door()
		must(t, a, "CreateTable", timedTable("S", "bucket=1h shards=2"))
		b = door()
		for hour := range 40 {
			clock.Store(int64(hour) * 3600)
			putAt(t, a, "a", at(hour))
		}
		for hour := range 30 {
			must(t, a, "DeleteItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"`+at(hour)+`"}}}`)
		}
		directory := func() int {
			partition := b.tables.Entry("Tab").ID + "/a"
			all, err := catalogOf(b).Buckets(t.Context(), partition, 0, 1<<30, false, 1000, func(int64, int64) {})
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		read := func(want int) {
			t.Helper()
			for range 4 { // a Query marks or removes only some
				for _, d := range []*Router{a, b} {
					if got := sorts(must(t, d, "Query", wholeKey)); len(got) != want {
						t.Errorf("%d items, not %d", len(got), want)
					}
				}
			}
		}
		read(10)
		if n := directory(); n != 40 {
			t.Errorf("%d buckets are left at once", n)
		}
		clock.Add(4 * 3600)             // doors remember 3 hours
		putAt(t, b, "a", at(3)+"#late") // it removes the mark
		must(t, b, "DeleteItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"`+at(3)+`#late"}}}`)
		clock.Add(2 * 3600)
		putAt(t, a, "a", at(5)+"#late")
		read(11)
		if n := directory(); n > 30 || n < 11 {
			t.Errorf("%d buckets are left", n)
		}
		for range 3 { // those that were read together with buckets that have items
			clock.Add(6 * 3600)
			read(11)
		}
		if n := directory(); n > 14 || n < 11 {
			t.Errorf("%d buckets are left, and 11 have items", n)
		}
		// Late items of buckets that were removed.
		for i, hour := range []int{0, 1, 2, 9} {
			putAt(t, []*Router{a, b}[i%2], "a", at(hour)+"#later")
		}
		read(15)
		clock.Add(24 * 3600)
		read(15)
		if n := directory(); n < 15 {
			t.Errorf("%d buckets are left, and 15 have items", n)
		}
	}
}

// TestWhatTellsNoTime refuses values that tell no time, and answers reads of them like those of
// items that do not exist.
func TestWhatTellsNoTime(t *testing.T) {
	for _, c := range []struct{ kind, options, value, wanted string }{
		{"S", "bucket=1h", "yesterday", "2026-11-25T10:00:00Z"},
		{"S", "bucket=1h", "2026-11-25T10:00:00+02:00", "in UTC"},
		{"S", "bucket=1h", "2026-11-25", "in UTC"},
		{"S", "bucket=1d", "2026-11-25T10:00", "such as 2026-11-25,"},
		{"S", "bucket=1h", "2026-02-30T10:00:00Z", "in UTC"},
		{"S", "bucket=1h", "1764066000", "in UTC"},
		{"N", "bucket=1h unit=seconds", "1764066000000", "the seconds since 1970"},
		{"N", "bucket=1h unit=milliseconds", "-1e30", "the milliseconds since 1970"},
	} {
		s := start(t, 1)
		must(t, s, "CreateTable", timedTable(c.kind, c.options))
		r := `{"` + c.kind + `":"` + c.value + `"}`
		key, item := `"Key":{"h":{"S":"a"},"r":`+r+`}`, `"Item":{"h":{"S":"a"},"r":`+r+`}`
		for operation, body := range map[string]string{
			"PutItem":        `{"TableName":"Tab",` + item + `}`,
			"UpdateItem":     `{"TableName":"Tab",` + key + `,"UpdateExpression":"SET x = h"}`,
			"BatchWriteItem": `{"RequestItems":{"Tab":[{"PutRequest":{` + item + `}}]}}`,
		} {
			fails(t, s, exception.Validation, c.wanted, operation, body)
			fails(t, s, exception.Validation, "the sort key r is", operation, body)
		}
		_, err := do(s, "TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"Tab",`+key+`,"UpdateExpression":"SET x = h"}}]}`)
		if e := exception.Of(err); e.Kind != exception.TransactionCanceled || !strings.Contains(e.Reasons[0].Message, c.wanted) {
			t.Errorf("%v", err)
		}
		for operation, body := range map[string]string{
			"GetItem":          `{"TableName":"Tab",` + key + `}`,
			"DeleteItem":       `{"TableName":"Tab",` + key + `,"ReturnValues":"ALL_OLD"}`,
			"BatchGetItem":     `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"a"},"r":` + r + `}]}}}`,
			"TransactGetItems": `{"TransactItems":[{"Get":{"TableName":"Tab",` + key + `}}]}`,
			"Query":            rangeOf("a", `,":r":`+r) + `,"KeyConditionExpression":"h = :h AND r = :r"}`,
		} {
			if m := must(t, s, operation, body); strings.Contains(fmt.Sprint(m), "yesterday") || m["Item"] != nil || m["Attributes"] != nil {
				t.Errorf("%s: %v", operation, m)
			}
		}
		if n := len(sorts(must(t, s, "Scan", `{"TableName":"Tab"}`))); n != 0 {
			t.Errorf("%s is put", c.value)
		}
	}
}

// TestTimedTablesThatAreRefused names the tables that cannot have buckets of time, and what of such
// a table cannot be changed.
func TestTimedTablesThatAreRefused(t *testing.T) {
	s := start(t, 1)
	for _, c := range [][3]string{
		{"S", "bucket=1h by=h", "by=h is not the sort key"},
		{"S", "bucket=1h by=", "names no attribute"},
		{"S", "by=r", "add bucket=1h"},
		{"S", "bucket=", "add bucket=1h"},
		{"S", "bucket=1", "not a length of time"},
		{"S", "bucket=0h", "not a length of time"},
		{"S", "bucket=-1h", "not a length of time"},
		{"S", "bucket=hour", "not a length of time"},
		{"S", "bucket=1s shards=8", "take buckets of"},
		{"S", "bucket=1h shards=0", "from 1 to 10000"},
		{"S", "bucket=1h shards=x", "from 1 to 10000"},
		{"S", "bucket=1h unit=seconds", "leave unit out"},
		{"S", "bucket=1h keep=30d", "Time to Live"},
		{"S", "bucket=1h hash=code_points", "leave it out"},
		{"S", "bucket=1h base=3", "is not known"},
		{"N", "bucket=1h", "add unit=seconds or unit=milliseconds"},
		{"N", "bucket=1h unit=minutes", "unit=seconds or unit=milliseconds"},
		{"B", "bucket=1h", "is binary and tells no time"},
	} {
		fails(t, s, exception.Validation, c[2], "CreateTable", timedTable(c[0], c[1]))
	}
	noSort := strings.Replace(strings.Replace(timedTable("S", "bucket=1h"), `,{"AttributeName":"r","KeyType":"RANGE"}`, "", 1), `,{"AttributeName":"r","AttributeType":"S"}`, "", 1)
	fails(t, s, exception.Validation, "it has no sort key", "CreateTable", noSort)
	withLocal := strings.Replace(timedTable("S", "bucket=1h"), `],"KeySchema"`, `,{"AttributeName":"l","AttributeType":"S"}],"LocalSecondaryIndexes":[{"IndexName":"by-l","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"l","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],"KeySchema"`, 1)
	fails(t, s, exception.Validation, "local secondary index by-l has another order", "CreateTable", withLocal)
	fails(t, s, exception.Validation, "the option bucket is one of strategy 'time'", "CreateTable", strings.Replace(shardedTable, "shards=5", "shards=5 bucket=1h", 1))
	fails(t, s, exception.Validation, "strategy 'time' is for tables", "CreateTable", strings.Replace(indexedTable, `,"GlobalSecondaryIndexes"`, `,"Tags":[{"Key":"write-sharding.index.by-r","Value":"strategy=time bucket=1h"}],"GlobalSecondaryIndexes"`, 1))
	must(t, s, "CreateTable", plainTable+"}")
	for _, options := range []string{"strategy=time", "strategy=time bucket=1h unit=seconds", "adopt=suffix strategy=time shards=5"} {
		if _, err := do(s, "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"write-sharding","Value":"`+options+`"}]}`); exception.Of(err).Kind != exception.Validation {
			t.Errorf("a plain table gets %s: %v", options, err)
		}
	}
	must(t, s, "DeleteTable", deleteTab)

	must(t, s, "CreateTable", timedTable("S", "by=r bucket=60m shards=4"))
	putAt(t, s, "a", at(1))
	tag := func(value string) string {
		return `{` + arnOfTab + `,"Tags":[{"Key":"write-sharding","Value":"` + value + `"}]}`
	}
	must(t, s, "TagResource", tag("strategy=time bucket=1h shards=4")) // the table's own
	for other, because := range map[string]string{
		"shards=4": "buckets of time", "strategy=rollover": "rows", "adopt=suffix shards=4": "sharded by hand", "x": "no '='", "strategy=time bucket=1h unit=seconds": "leave unit out",
	} {
		fails(t, s, exception.Validation, because, "TagResource", tag(other))
	}
	fails(t, s, exception.Validation, "buckets of time", "Reshard", `{"TableName":"Tab","Action":"start","Shards":8}`)
	own := `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"own","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}}]}`
	fails(t, s, exception.Validation, "would throttle all shards", "UpdateTable", own)
	if got := sorts(must(t, s, "Query", wholeKey)); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// TestIndexesOfTimedTables reads global indexes of a table with buckets of time: a plain one, one
// with the table's own partition key, which gets the table's shards, and one that is added later.
func TestIndexesOfTimedTables(t *testing.T) {
	for _, shards := range []int{1, 3} {
		s := start(t, 1)
		indexed := strings.Replace(timedTable("S", fmt.Sprintf("bucket=1h shards=%d", shards)), `],"KeySchema"`, `,{"AttributeName":"x","AttributeType":"S"}],"GlobalSecondaryIndexes":[`+
			`{"IndexName":"own","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"x","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}},`+
			`{"IndexName":"by-x","KeySchema":[{"AttributeName":"x","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],"KeySchema"`, 1)
		must(t, s, "CreateTable", indexed)
		for hour := range 30 {
			putAt(t, s, "a", at(hour))
		}
		for _, q := range []string{`"own","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}`, `"by-x","KeyConditionExpression":"x = :h","ExpressionAttributeValues":{":h":{"S":"y"}}`} {
			var got []string
			for start := ""; ; {
				m := must(t, s, "Query", `{"TableName":"Tab","Limit":7,"IndexName":`+q+start+`}`)
				if got = append(got, sorts(m)...); m["LastEvaluatedKey"] == nil {
					break
				}
				start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
			}
			if slices.Sort(got); len(slices.Compact(got)) != 30 {
				t.Errorf("%d shards, index %s: %v", shards, q, got)
			}
		}
		layout := s.tables.Entry("Tab").Indexes["own"]
		if (layout == nil) != (shards == 1) || layout != nil && layout.N != shards {
			t.Errorf("%d shards: the index has the layout %v", shards, layout)
		}
	}
}

// TestTheDirectoryIsHidden checks that clients neither see nor reach the directory's table.
func TestTheDirectoryIsHidden(t *testing.T) {
	for _, lease := range []time.Duration{0, short} {
		store := start(t, 1).store
		s := doorOn(t, store, lease)
		must(t, s, "CreateTable", timedTable("S", "bucket=1h"))
		putAt(t, s, "a", at(1))
		if m := must(t, s, "ListTables", `{"Limit":1}`); fmt.Sprint(m["TableNames"]) != "[Tab]" {
			t.Errorf("%v", m)
		}
		for operation, body := range map[string]string{
			"DescribeTable": `{"TableName":"evenkeel.buckets"}`, "DeleteTable": `{"TableName":"evenkeel.buckets"}`, "Scan": `{"TableName":"evenkeel.buckets"}`,
			"PutItem":          `{"TableName":"evenkeel.buckets","Item":{"partition":{"S":"a"},"bucket":{"N":"1"}}}`,
			"Query":            `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/evenkeel.buckets","KeyConditionExpression":"#p = :p","ExpressionAttributeNames":{"#p":"partition"},"ExpressionAttributeValues":{":p":{"S":"a"}}}`,
			"ExecuteStatement": `{"Statement":"SELECT * FROM \"evenkeel.buckets\""}`,
		} {
			if m, err := do(s, operation, body); exception.Of(err).Kind != exception.ResourceNotFound {
				t.Errorf("%s: %v, %v", operation, m, err)
			}
		}
		fails(t, s, exception.Validation, "evenkeel.buckets is reserved", "CreateTable", strings.Replace(plainTable, `"Tab"`, `"evenkeel.buckets"`, 1)+"}")
		if lease > 0 {
			if _, err := do(s, "CreateBackup", `{"TableName":"evenkeel.buckets","BackupName":"b"}`); err == nil {
				t.Error("an unknown operation reaches the directory")
			}
		}
	}
}

// TestTimedTablesAndRights checks that a client without rights learns nothing of a table's buckets
// and adds none.
func TestTimedTablesAndRights(t *testing.T) {
	counted := &directory{Backend: start(t, 1).store}
	store := onlyAlice(counted)
	door := doorOn(t, store, short)
	alice, bob := as(door, "alice"), as(door, "bob")
	must(t, alice, "CreateTable", timedTable("S", "bucket=1h"))
	putAt(t, alice, "a", at(1))
	if counted.took() != 1 {
		t.Error("the bucket is not added")
	}
	for _, c := range [][2]string{
		{"PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"` + at(2) + `"}}}`},
		{"UpdateItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"` + at(3) + `"}},"UpdateExpression":"SET x = h"}`},
		{"BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"` + at(4) + `"}}}}]}}`},
		{"Query", wholeKey}, {"Query", strings.Replace(wholeKey, `{"S":"a"}`, `{"S":"none"}`, 1)},
		{"PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"no time"}}}`},
	} {
		if m, err := do(bob, c[0], c[1]); exception.Of(err).Kind != exception.AccessDenied {
			t.Errorf("bob may %s: %v, %v", c, m, err)
		}
	}
	if n := counted.took(); n != 0 {
		t.Errorf("bob adds %d buckets", n)
	}
}

// TestTimedStreamsAndRules reads the stream of a table that a rule has given buckets of time, from
// before 1970 too.
func TestTimedStreamsAndRules(t *testing.T) {
	store := start(t, 1).store
	s, _ := startRuled(t, store, "rules.yaml", "dynamodb: {Tab: {strategy: time, by: r, bucket: 1h, shards: 2}, Other: {strategy: time, bucket: 1h}}", 0)
	must(t, s, "CreateTable", plainTable+streamed+"}")
	for _, r := range []string{"1955-11-05T06:00:00Z", at(1)} {
		putAt(t, s, "a-", r)
	}
	_, _, records := readStream(t, s, "Tab")
	if strings.Contains(records, "evenkeel.") || strings.Count(records, `"Keys":{"h":{"S":"a-"},"r"`) != 2 {
		t.Errorf("%s", records)
	}
	again, log := startRuled(t, store, "rules.yaml", "dynamodb: {Tab: {strategy: time, by: r, bucket: 1h, shards: 2}, Other: {strategy: time, bucket: 1h}}", 0)
	if strings.Contains(log, "not as the shard rules say") {
		t.Errorf("%s", log)
	}
	if got := sorts(must(t, again, "Query", strings.Replace(wholeKey, `"a"`, `"a-"`, 1))); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if _, log = startRuled(t, store, "rules2.yaml", "dynamodb: {Tab: {strategy: time, bucket: 2h, shards: 2}}", 0); !strings.Contains(log, "not as the shard rules say") {
		t.Errorf("another layout is not told: %s", log)
	}
}

// onlyAlice is a store that refuses the requests of bob.
func onlyAlice(b backend.Store) backend.Store {
	denied := exception.New(exception.AccessDenied, "User: bob is not authorized")
	return &altered{
		Backend: b,
		do: func(ctx context.Context, _ string, _, dst []byte) ([]byte, error, bool) {
			return dst, denied, principal.Of(ctx).ID == "bob"
		},
		answer: func(ctx context.Context, _ api.Request) (error, bool) { return denied, principal.Of(ctx).ID == "bob" },
	}
}
