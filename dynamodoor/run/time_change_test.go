// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
)

var (
	bucketSeed  = flag.Uint64("buckets.seed", rand.Uint64(), "the seed of the histories of TestBucketsAcrossChanges")
	bucketWorld = flag.Int("buckets.histories", 8, "the number of its histories of each kind")
)

// tableRead is a read of table Tab, page by page.
type tableRead struct {
	scan      bool
	backward  bool
	low, high string // of a Query
	start     string // of the next page
	shown     []string
	floors    int // changes that were settled and cleaned when it began
	left      int // changes of a plain table that were taken back by then
}

// bucketHistory is a history of table Tab, whose layout changes to and from buckets of time. Items of one
// partition key stay as they are, or change.
type bucketHistory struct {
	t      *testing.T
	r      *rand.Rand
	mover  *Router
	doors  doer
	anew   func() *Router // starts the mover again; nil: it is not
	items  map[string]string
	still  map[string]bool // items that nobody changes
	reads  []*tableRead
	floors int
	left   int
	writes int
	counts map[string]int
	rolls  bool // some layouts are those of a rollover; then sort keys rise
}

func (h *bucketHistory) key() string {
	day := 20 + h.r.IntN(10)
	if h.rolls {
		day += h.writes / 8
	}
	return time.Date(2026, 11, day, h.r.IntN(24), 20*h.r.IntN(3), 0, 0, time.UTC).Format(time.RFC3339) + []string{"", "", "#a"}[h.r.IntN(3)]
}

func bucketItem(key string) string { return `{"h":{"S":"a"},"r":{"S":"` + key + `"}}` }

// write changes an item that may change, by one of all the requests that do. Then all items are read: what
// is acknowledged is shown.
func (h *bucketHistory) write() {
	key := h.key()
	for h.still[key] {
		key = h.key()
	}
	h.writes++
	v := fmt.Sprint(h.writes)
	item, with := bucketItem(key), `{"h":{"S":"a"},"r":{"S":"`+key+`"},"x":{"S":"`+v+`"}}`
	set := `"Key":` + item + `,"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"` + v + `"}}`
	gone := false
	_, there := h.items[key]
	switch h.r.IntN(8) {
	case 0:
		must(h.t, h.doors, "PutItem", `{"TableName":"Tab","Item":`+with+`}`)
	case 1:
		must(h.t, h.doors, "UpdateItem", `{"TableName":"Tab",`+set+`}`)
	case 2:
		must(h.t, h.doors, "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":`+with+`}}]}}`)
	case 3:
		must(h.t, h.doors, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":`+with+`}}]}`)
	case 4:
		must(h.t, h.doors, "TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"Tab",`+set+`}}]}`)
	case 5:
		_, err := do(h.doors, "ExecuteStatement", `{"Statement":"INSERT INTO Tab VALUE {'h':'a','r':'`+key+`','x':'`+v+`'}"}`)
		if there != exception.Is(err, exception.DuplicateItem) || !there && err != nil {
			h.t.Fatalf("step %q: insert %s: %v", stepOf(h.mover), key, err)
		}
		if there {
			v = h.items[key] // it stays as it was
		}
	case 6:
		must(h.t, h.doors, "DeleteItem", `{"TableName":"Tab","Key":`+item+`}`)
		gone, there = true, false
	default:
		_, err := do(h.doors, "PutItem", `{"TableName":"Tab","Item":`+with+`,"ConditionExpression":"attribute_exists(x)"}`)
		if there != (err == nil) || err != nil && !exception.Is(err, exception.ConditionalCheckFailed) {
			h.t.Fatalf("step %q: put %s: %v", stepOf(h.mover), key, err)
		}
		gone = !there
	}
	if h.items[key] = v; gone && !there {
		delete(h.items, key)
	}
	h.all()
}

// all reads the whole partition key.
func (h *bucketHistory) all() {
	got := map[string]string{}
	m := must(h.t, h.doors, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`)
	for _, it := range m["Items"].([]any) {
		item := it.(map[string]any)
		if len(item) != 3 {
			h.t.Fatalf("step %q: an item is %v", stepOf(h.mover), item)
		}
		got[item["r"].(map[string]any)["S"].(string)] = item["x"].(map[string]any)["S"].(string)
	}
	if keys := sorts(m); !maps.Equal(got, h.items) || len(keys) != len(got) || !slices.IsSorted(keys) {
		for k, v := range h.items {
			if got[k] != v {
				h.t.Errorf("%s is %q, not %q", k, got[k], v)
			}
		}
		h.t.Fatalf("step %q: %d items of %d are shown", stepOf(h.mover), len(keys), len(h.items))
	}
}

func (h *bucketHistory) layout() string {
	shards := h.r.IntN(7)
	switch {
	case h.rolls && h.r.IntN(3) == 0:
		return fmt.Sprintf("strategy=rollover rows=%d", 10+h.r.IntN(3))
	case h.r.IntN(3) > 0:
		return fmt.Sprintf("strategy=time bucket=%s shards=%d", []string{"1h", "4h", "1d", "3d", "20m"}[h.r.IntN(5)], 1+shards/3)
	case shards == 0:
		return ""
	}
	return fmt.Sprintf("strategy=calculated shards=%d", shards)
}

// step brings the change on, or begins another one.
func (h *bucketHistory) step() {
	before := stepOf(h.mover)
	h.counts[before]++
	if e := h.mover.tables.Entry("Tab"); e != nil && e.Change != nil {
		for way, rolls := range map[string]bool{"from": e.Plan.Rolls(), "to": e.Change.Rows > 0} {
			if rolls {
				h.counts[way+" rollover, "+before]++
			}
		}
	}
	if h.anew != nil && h.r.IntN(2) == 0 {
		h.mover = h.anew()
	}
	if before == "" {
		must(h.t, h.mover, "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"write-sharding","Value":"`+h.layout()+`"}]}`)
		return
	}
	if h.r.IntN(12) == 0 {
		if _, err := do(h.mover, "Reshard", `{"TableName":"Tab","Action":"rollback"}`); err != nil && !strings.Contains(err.Error(), "taken back") {
			h.t.Fatal(err)
		}
		return
	}
	if _, err := h.mover.StepChange(h.t.Context(), "Tab"); err != nil {
		h.t.Fatal(err)
	}
	if before == "leaving" {
		h.left++
	}
	if now := stepOf(h.mover); before == "settled" && (now == "cleaning" || now == "dropping") {
		h.floors++
	}
}

// page reads the next page of a read.
func (h *bucketHistory) page(at int) {
	n := h.reads[at]
	limit := fmt.Sprintf(`,"Limit":%d`, 1+h.r.IntN(20))
	operation, body := "Scan", `{"TableName":"Tab"`+limit+n.start+`}`
	if !n.scan {
		operation = "Query"
		body = fmt.Sprintf(`{"TableName":"Tab","KeyConditionExpression":"h = :h AND r BETWEEN :a AND :b","ExpressionAttributeValues":{":h":{"S":"a"},":a":{"S":"%s"},":b":{"S":"%s"}},"ScanIndexForward":%v%s%s}`,
			n.low, n.high, !n.backward, limit, n.start)
	}
	m, err := do(h.doors, operation, body)
	if err != nil {
		over := n.floors < h.floors && strings.Contains(err.Error(), "begin it anew")
		if n.left < h.left { // a change of a plain table was taken back, and another one may have begun
			over = over || strings.Contains(err.Error(), "starting key is invalid") || strings.Contains(err.Error(), "later generation")
		}
		if !n.scan || n.start == "" || !over {
			h.t.Fatalf("%s: %s %s: %v", stepOf(h.mover), operation, body, err)
		}
		n.start, n.shown, n.floors, n.left = "", nil, h.floors, h.left
		return
	}
	n.shown = append(n.shown, sorts(m)...)
	if last, more := m["LastEvaluatedKey"]; more {
		n.start = `,"ExclusiveStartKey":` + jsonOf(h.t, last)
		return
	}
	h.reads = slices.Delete(h.reads, at, at+1)
	h.counts["reads"]++
	if in := slices.Clone(n.shown); !n.scan {
		if n.backward {
			slices.Reverse(in)
		}
		if !slices.IsSorted(in) {
			h.t.Fatalf("a read (backward %v) shows %v", n.backward, n.shown)
		}
	}
	times := map[string]int{}
	for _, key := range n.shown {
		times[key]++
	}
	for key := range h.still {
		want := 0
		if n.scan || n.low <= key && key <= n.high {
			want = 1
		}
		if times[key] != want {
			h.t.Fatalf("in step %q, a read (scan %v, backward %v) from %s to %s has shown %s %d times, not %d", stepOf(h.mover), n.scan, n.backward, n.low, n.high, key, times[key], want)
		}
	}
}

func (h *bucketHistory) run(actions int) {
	h.items, h.still = map[string]string{}, map[string]bool{}
	create, tag := plainTable+"}", ""
	if h.r.IntN(4) > 0 {
		tag = h.layout()
	}
	if h.rolls && h.r.IntN(3) == 0 {
		tag = "strategy=rollover rows=10"
	}
	if tag != "" {
		create = plainTable + `,"Tags":[{"Key":"write-sharding","Value":"` + tag + `"}]}`
	}
	must(h.t, h.doors, "CreateTable", create)
	for range 60 {
		key := h.key()
		h.items[key], h.still[key] = "still", true
	}
	for _, key := range sortedKeys(h.items) {
		must(h.t, h.doors, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"`+key+`"},"x":{"S":"still"}}}`)
	}
	for range actions {
		switch n := h.r.IntN(10); {
		case n < 4:
			h.write()
		case n < 6:
			h.step()
		case n < 8 && len(h.reads) < 6:
			a, b := h.key(), h.key()
			if a > b {
				a, b = b, a
			}
			if h.r.IntN(2) == 0 {
				a, b = "2", "3"
			}
			h.reads = append(h.reads, &tableRead{scan: h.r.IntN(4) == 0, backward: h.r.IntN(2) == 0, low: a, high: b, floors: h.floors, left: h.left})
		case len(h.reads) > 0:
			h.page(h.r.IntN(len(h.reads)))
		}
	}
	for len(h.reads) > 0 {
		h.page(0)
	}
	for stepOf(h.mover) != "" {
		if _, err := h.mover.StepChange(h.t.Context(), "Tab"); err != nil {
			h.t.Fatal(err)
		}
	}
	h.all()
}

// TestBucketsAcrossChanges checks tables whose layout changes to buckets of time, to other buckets, and
// from buckets: after each write the whole key is read, and reads page by page, in both directions, show
// each item that stays as it is once and in order, whatever steps of changes lie between their pages.
func TestBucketsAcrossChanges(t *testing.T) {
	acrossChanges(t, false, "looking", "stubbing", "moving", "closing", "settled", "cleaning", "preparing", "dropping", "reads")
}

// acrossChanges carries out histories of tables. Each step in occurs must occur in them. Some steps are rare, so
// acrossChanges carries out more histories until each has occurred.
func acrossChanges(t *testing.T, rolls bool, occurs ...string) {
	t.Logf("-args -buckets.seed=%d", *bucketSeed)
	counts := map[string]int{}
	worlds := *bucketWorld
	if testing.Short() {
		worlds = min(worlds, 1)
	}
	missing := func() []string {
		return slices.DeleteFunc(slices.Clone(occurs), func(step string) bool { return counts[step] > 0 })
	}
	for n := 0; n < worlds || worlds >= 8 && n < 10*worlds && len(missing()) > 0 && !t.Failed(); n++ {
		history := func(t *testing.T, kind uint64) *bucketHistory {
			return &bucketHistory{t: t, r: rand.New(rand.NewPCG(*bucketSeed, uint64(n)+kind)), counts: counts, rolls: rolls}
		}
		t.Run(fmt.Sprint("one door, ", n), func(t *testing.T) {
			h := history(t, 0)
			h.mover, _ = startHasty(t)
			h.doors = h.mover
			h.run(400)
		})
		t.Run(fmt.Sprint("a door started anew, ", n), func(t *testing.T) {
			h := history(t, 1000)
			r, store := startHasty(t)
			doors := &turns{all: []*Router{r}}
			h.mover, h.doors = r, doors
			h.anew = func() *Router {
				again := New(Options{Backend: store, Caution: time.Nanosecond})
				if err := again.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				doors.all[0] = again
				return again
			}
			h.run(300)
		})
		t.Run(fmt.Sprint("two doors, ", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := history(t, 2000)
				_, store := startHasty(t)
				doors := new(turns)
				for range 2 {
					r := New(Options{Backend: store, Lease: 100 * time.Millisecond, Caution: time.Nanosecond, Fanout: 1 + n%3})
					if err := r.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					doors.all = append(doors.all, r)
				}
				h.mover, h.doors = doors.all[0], doors
				h.run(300)
			})
		})
	}
	t.Logf("%v", counts)
	if steps := missing(); len(steps) > 0 && worlds >= 8 && !t.Failed() {
		t.Errorf("no history was in steps %q", steps)
	}
}

// TestAMoverOfBucketsThatEnds checks that nothing is lost if a mover ends at any request of a change to, of
// and from buckets of time, and another continues.
func TestAMoverOfBucketsThatEnds(t *testing.T) {
	r, store := startHasty(t)
	must(t, r, "CreateTable", shardedTable)
	const n = 40
	for i := range n {
		putAt(t, r, "a", at(i))
	}
	for _, to := range []string{"strategy=time bucket=1h", "strategy=time bucket=6h shards=3", "strategy=calculated shards=4"} {
		must(t, r, "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"write-sharding","Value":"`+to+`"}]}`)
		var ends int
		r, ends = endingMovers(t, r, store, func(r *Router) {
			if m := must(t, r, "Query", wholeKey); m["Count"] != float64(n) || !slices.IsSorted(sorts(m)) {
				t.Fatalf("%v items of %d in step %s", m["Count"], n, stepOf(r))
			}
		})
		if ends < 5 {
			t.Errorf("the mover was ended %d times", ends)
		}
		m := must(t, r, "Scan", `{"TableName":"Tab"}`)
		if m["Count"] != float64(n) || len(store.stubs(t)) > 0 {
			t.Errorf("%v items of %d, and stubs: %v", m["Count"], n, store.stubs(t))
		}
	}
	// What the directory had of the buckets is removed.
	if m := must(t, store, "Scan", `{"TableName":"`+catalog.BucketsTable+`"}`); m["Count"] != 0.0 {
		t.Errorf("the directory has %v", m["Items"])
	}
}

// TestChangesToBucketsThatAreRefused checks that a change is refused before it begins if the table cannot
// have the buckets, or an item tells no time, and that the tag then stays.
func TestChangesToBucketsThatAreRefused(t *testing.T) {
	r, store := startHasty(t)
	tag := func(value string) string {
		return `{` + arnOfTab + `,"Tags":[{"Key":"write-sharding","Value":"` + value + `"}]}`
	}
	refused := func(because, value string) {
		t.Helper()
		fails(t, r, exception.Validation, because, "TagResource", tag(value))
		if _, err := do(r, "Reshard", `{"TableName":"Tab","Action":"start","Layout":"`+value+`"}`); err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("%v", err)
		}
		m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"plan","Layout":"`+value+`"}`)
		if text := fmt.Sprint(m["refused"]); !strings.Contains(text, because) {
			t.Errorf("the plan says %s", text)
		}
	}
	for create, because := range map[string]string{
		timedTable("B", "")[:strings.Index(timedTable("B", ""), `,"Tags"`)] + `,"Tags":[{"Key":"write-sharding","Value":"shards=2"}]}`:                                                                                                                                        "binary",
		timedTable("N", "")[:strings.Index(timedTable("N", ""), `,"Tags"`)] + `,"Tags":[{"Key":"write-sharding","Value":"shards=2"}]}`:                                                                                                                                        "add unit=seconds",
		strings.Replace(shardedTable, `"AttributeDefinitions"`, `"LocalSecondaryIndexes":[{"IndexName":"own","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],"AttributeDefinitions"`, 1): "local secondary index",
	} {
		must(t, r, "CreateTable", create)
		fails(t, r, exception.Validation, because, "TagResource", tag("strategy=time bucket=1h"))
		must(t, r, "DeleteTable", deleteTab)
	}
	must(t, r, "CreateTable", plainTable+"}")
	putAt(t, r, "a", "no time")
	fails(t, r, exception.Validation, "tells no time", "TagResource", tag("strategy=time bucket=1h"))
	refused("by=x is not the sort key", "strategy=time by=x bucket=1h")
	must(t, r, "DeleteTable", deleteTab)
	must(t, r, "CreateTable", shardedTable)
	putAt(t, r, "a", at(3))
	refused("by=x is not the sort key", "strategy=time by=x bucket=1h")
	refused("keep", "strategy=time bucket=1h keep=30d")
	putAt(t, r, "a", "no time")
	fails(t, r, exception.Validation, "tells no time", "TagResource", tag("strategy=time bucket=1h"))
	m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"plan","Layout":"strategy=time bucket=1h"}`)
	if !strings.Contains(fmt.Sprint(m["refused"]), "tells no time") {
		t.Errorf("%v", m)
	}
	if m := must(t, r, "ListTagsOfResource", `{`+arnOfTab+`}`); !strings.Contains(fmt.Sprint(m), "shards=5") || strings.Contains(fmt.Sprint(m), "time") {
		t.Errorf("the tags are %v", m)
	}
	must(t, r, "DeleteItem", `{"TableName":"Tab","Key":`+bucketItem("no time")+`}`)
	m = must(t, r, "Reshard", `{"TableName":"Tab","Action":"start","Layout":"strategy=time bucket=1h shards=2"}`)
	if m["to_layout"] != "buckets of 1h with 2 shards each" || m["from"] != 5.0 {
		t.Errorf("%v", m)
	}
	fails(t, r, exception.Validation, "tells no time", "PutItem", `{"TableName":"Tab","Item":`+bucketItem("no time")+`}`)
	fails(t, r, exception.ResourceInUse, "on the way from 5 shards to buckets of 1h with 2 shards each", "TagResource", tag("shards=9"))

	// A door that did not know of the change has put an item that tells no time.
	key := bucketItem("late")
	late, err := new(attribute.Decoder).Item(attribute.Encoded(key))
	if err != nil {
		t.Fatal(err)
	}
	shard := r.tables.Entry("Tab").Plan.Shard(late)
	must(t, store, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"evenkeel.pk":{"S":"a-%d"},"h":{"S":"a"},"r":{"S":"late"}}}`, shard))
	if _, err := r.StepChange(t.Context(), "Tab"); err == nil || !strings.Contains(err.Error(), "tells no time") {
		t.Errorf("%v", err)
	}
	if m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`); m["paused"] != true || m["phase"] != "looking" {
		t.Errorf("%v", m)
	}
	if m := must(t, r, "Query", wholeKey); m["Count"] != 2.0 {
		t.Errorf("%v", m)
	}
	must(t, r, "DeleteItem", `{"TableName":"Tab","Key":`+key+`}`)
	must(t, r, "Reshard", `{"TableName":"Tab","Action":"resume"}`)
	if err := steps(t, r); err != nil {
		t.Fatal(err)
	}
	if m := must(t, r, "Query", wholeKey); m["Count"] != 1.0 {
		t.Errorf("%v", m)
	}
	refused("say the strategy, too", "shards=9")
	fails(t, r, exception.Validation, "say the strategy, too", "Reshard", `{"TableName":"Tab","Action":"start","Shards":9}`)
	fails(t, r, exception.Validation, "the same for all keys", "Reshard", `{"TableName":"Tab","Action":"start","Shards":9,"Key":"a"}`)
	fails(t, r, exception.Validation, "has buckets of 1h with 2 shards each already", "Reshard", `{"TableName":"Tab","Action":"start","Layout":"strategy=time bucket=60m shards=2"}`)
}

// TestAQueryWhileItemsMove checks that a Query at one door, while another door moves all items and adds
// one between any two of its requests to the store, shows each item that is there all the time once, and
// in order.
func TestAQueryWhileItemsMove(t *testing.T) {
	const lease = time.Second
	shards, hours, days, rolled := "strategy=calculated shards=3", "strategy=time bucket=1h", "strategy=time bucket=9h shards=2", "strategy=rollover rows=10"
	calls := 0
	for _, change := range [][2]string{{shards, hours}, {hours, days}, {days, shards}, {rolled, hours}, {rolled, shards}, {hours, rolled}, {shards, rolled}} {
		for _, step := range []string{"looking", "stubbing", "moving", "closing", "settled"} {
			for at, more := int64(1), true; more; at++ {
				calls++
				synctest.Test(t, func(t *testing.T) {
					store := start(t, 1).store
					ofA := &stepped{Backend: store}
					a, b := doorOn(t, ofA, lease), doorOn(t, store, lease)
					must(t, b, "CreateTable", plainTable+`,"Tags":[{"Key":"write-sharding","Value":"`+change[0]+`"}]}`)
					var want []string
					for i := range 6 {
						want = append(want, fmt.Sprintf("2026-11-25T%02d:00:00Z", 4*i))
						if change[0] == rolled && i > 0 && i%2 == 0 {
							announce(t, b, 1+i/2, want[i], catalog.Open)
						}
					}
					for i := range want {
						putAt(t, b, "a", want[i])
					}
					must(t, b, "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"write-sharding","Value":"`+change[1]+`"}]}`)
					for stepOf(b) != step {
						if _, err := b.StepChange(t.Context(), "Tab"); err != nil {
							t.Fatal(err)
						}
					}
					time.Sleep(2 * lease)
					must(t, a, "GetItem", keyOfTab)
					backward := at%2 == 0
					ofA.calls.Store(0)
					ofA.at, ofA.other = at, func() {
						for i, key := range want {
							if i%2 == 0 {
								must(t, b, "UpdateItem", `{"TableName":"Tab","Key":`+bucketItem(key)+`,"UpdateExpression":"SET y = :y","ExpressionAttributeValues":{":y":{"S":"y"}}}`)
							} else {
								putAt(t, b, "a", key)
							}
						}
						putAt(t, b, "a", "2026-11-25T10:30:00Z")
					}
					m := must(t, a, "Query", strings.TrimSuffix(wholeKey, "}")+fmt.Sprintf(`,"ScanIndexForward":%v}`, !backward))
					more = ofA.calls.Load() >= at
					got := slices.DeleteFunc(sorts(m), func(key string) bool { return key == "2026-11-25T10:30:00Z" })
					if backward {
						slices.Reverse(got)
					}
					if !slices.Equal(got, want) || len(sorts(m)) > len(want)+1 {
						t.Fatalf("from %s to %s, step %s, call %d: %v", change[0], change[1], step, at, sorts(m))
					}
				})
				if t.Failed() {
					return
				}
			}
		}
	}
	if calls < 100 {
		t.Errorf("only %d calls were interrupted", calls)
	}
}

// slowScans is a store that takes a minute for each Scan of table Tab.
type slowScans struct{ Backend }

func (s slowScans) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if scan, is := q.(*api.Scan); is && scan.Table == "Tab" {
		time.Sleep(time.Minute)
	}
	return s.Backend.Answer(ctx, q, use)
}

// TestASurveyShowsThatItsMoverWorks checks that a mover that reads all items again shows other doors that it
// works, so that none of them takes the change over.
func TestASurveyShowsThatItsMoverWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := start(t, 1).store
		door := doorOn(t, store, time.Second)
		must(t, door, "CreateTable", shardedTable)
		must(t, door, "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"write-sharding","Value":"strategy=time bucket=1h"}]}`)
		slow, ended := doorOn(t, slowScans{store}, time.Second), make(chan error)
		go func() {
			_, err := slow.StepChange(t.Context(), "Tab")
			ended <- err
		}()
		beat := func() int64 {
			p, err := catalogOf(door).Progress(t.Context(), "Tab")
			if err != nil {
				t.Fatal(err)
			}
			return p.Beat
		}
		time.Sleep(15 * time.Second)
		before := beat()
		if time.Sleep(30 * time.Second); beat() == before {
			t.Error("the mover does not show for 30 s that it works")
		}
		if err := <-ended; err != nil || stepOf(slow) != "stubbing" {
			t.Errorf("%v %s", err, stepOf(slow))
		}
	})
}

// TestPagesThatEndEarly checks that a Query that would have to read very many places ends its page before
// that, and goes on from there.
func TestPagesThatEndEarly(t *testing.T) {
	r, _ := startHasty(t)
	must(t, r, "CreateTable", strings.Replace(shardedTable, "shards=5", "shards=600", 1))
	var want []string
	for hour := range 40 {
		want = append(want, at(hour))
		putAt(t, r, "a", at(hour))
	}
	must(t, r, "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"write-sharding","Value":"strategy=time bucket=1h"}]}`)
	for stepOf(r) != "closing" {
		if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
	}
	for _, backward := range []bool{false, true} {
		var got []string
		pages := 0
		for start := ""; ; pages++ {
			m := must(t, r, "Query", strings.TrimSuffix(wholeKey, "}")+fmt.Sprintf(`,"ScanIndexForward":%v%s}`, !backward, start))
			got = append(got, sorts(m)...)
			last, ok := m["LastEvaluatedKey"]
			if !ok {
				break
			}
			start = `,"ExclusiveStartKey":` + jsonOf(t, last)
		}
		if backward {
			slices.Reverse(got)
		}
		if !slices.Equal(got, want) || pages < 2 {
			t.Errorf("%d pages show %v", pages, got)
		}
	}
}
