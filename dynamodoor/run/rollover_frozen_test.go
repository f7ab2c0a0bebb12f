// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
)

// whereShardsFreeze are moments at which a partition key of a rollover could get another shard while a change
// of its table's layout goes by its present ones. Each scene returns what is lost, or "".
var whereShardsFreeze = []struct {
	rule  items.Rule // without which an item is lost
	what  string
	scene func(t *testing.T) string
}{
	{items.FrozenFirst, "a request begins a shard, and the change begins meanwhile", func(t *testing.T) string {
		begins, r := beginning(t)
		rising(t, r, 9)
		begins(func() {
			must(t, r, "TagResource", tagTab("strategy=calculated shards=3"))
			putAt(t, r, "a", "9999")
		})
		rising(t, r, 10)
		return lost(t, r, "9999")
	}},
	{items.OpenedFirst, "a door holds writes to a shard back, and another door begins the change", func(t *testing.T) string {
		store := start(t, 1).store
		a, b := doorOn(t, store, time.Second), doorOn(t, store, time.Second)
		must(t, b, "CreateTable", rolledTable("S", "rows=1000"))
		putAt(t, a, "a", "0001")
		announce(t, b, 2, "0002", catalog.Announced)
		time.Sleep(2 * time.Second)
		rising(t, a, 1) // it has read the directory
		is := catalog.Beginning{Shard: 2, From: attribute.String("0002"), Step: catalog.Announced}
		next := is
		next.Step = catalog.Readable
		if err := catalogOf(b).MoveShard(t.Context(), b.tables.Entry("Tab").ID+"/a", is, next); err != nil {
			t.Fatal(err)
		}
		must(t, b, "TagResource", tagTab("strategy=calculated shards=3"))
		putAt(t, b, "a", "9999")
		return lost(t, a, "9999")
	}},
	{items.OwnMark, "a request begins a shard after a change that was taken back, and another change begins meanwhile", func(t *testing.T) string {
		begins, r := beginning(t)
		rising(t, r, 9)
		must(t, r, "TagResource", tagTab("strategy=calculated shards=3"))
		putAt(t, r, "a", "0001")
		must(t, r, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
		begins(func() {
			must(t, r, "TagResource", tagTab("strategy=calculated shards=3"))
			putAt(t, r, "a", "9999")
		})
		rising(t, r, 10)
		return lost(t, r, "9999")
	}},
	{items.MarkStays, "a door fills a shard, and stalls while the change begins", func(t *testing.T) string {
		store := start(t, 1).store
		stalled := &counting{Backend: store}
		a, b := doorOn(t, stalled, time.Second), doorOn(t, store, time.Second)
		must(t, b, "CreateTable", rolledTable("S", "rows=10"))
		rising(t, a, 9)
		must(t, b, "TagResource", tagTab("strategy=calculated shards=3"))
		putAt(t, b, "a", "0001")
		rising(t, a, 10) // it does not know of the change, and finds the mark
		stalled.other = func() { time.Sleep(2 * time.Second) }
		rising(t, a, 11)
		c := doorOn(t, store, time.Second)
		lost(t, c, "0001")
		putAt(t, b, "a", "9999")
		return lost(t, c, "9999")
	}},
	{items.MarkOutlasts, "a request goes by a change, which is taken back before it is answered", func(t *testing.T) string {
		inner := start(t, 1).store
		var r *Router
		var once sync.Once
		store := &altered{Backend: inner, answer: func(_ context.Context, q api.Request) (error, bool) {
			if put, ok := q.(*api.PutItem); ok && put.Table == "Tab" {
				if key, _ := put.Item.Get("r"); key.Text() == "9999" {
					once.Do(func() {
						must(t, r, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
						rising(t, r, 20)
					})
				}
			}
			return nil, false
		}}
		r = doorOn(t, store, 0)
		must(t, r, "CreateTable", rolledTable("S", "rows=10"))
		rising(t, r, 5)
		must(t, r, "TagResource", tagTab("strategy=calculated shards=3"))
		putAt(t, r, "a", "9999")
		return lost(t, r, "9999")
	}},
	{items.MarkOutlasts, "a door does not know yet that a change was taken back, and another one fills a shard", func(t *testing.T) string {
		store := start(t, 1).store
		slow := &altered{Backend: store, answer: func(_ context.Context, q api.Request) (error, bool) {
			if put, ok := q.(*api.PutItem); ok && put.Table == "Tab" {
				if key, _ := put.Item.Get("r"); key.Text() == "9999" {
					time.Sleep(950 * time.Millisecond)
				}
			}
			return nil, false
		}}
		a, b := doorOn(t, slow, time.Second), doorOn(t, store, time.Second)
		must(t, b, "CreateTable", rolledTable("S", "rows=10"))
		rising(t, b, 5)
		must(t, b, "TagResource", tagTab("strategy=calculated shards=3"))
		putAt(t, b, "a", "0001")
		time.Sleep(2 * time.Second)
		rising(t, a, 5) // it knows of the change
		var put, held sync.WaitGroup
		put.Go(func() { putAt(t, a, "a", "9999") })
		synctest.Wait()
		must(t, b, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
		rising(t, b, 10)
		held.Go(func() { putAt(t, b, "a", "9000") })
		put.Wait()
		what := lost(t, b, "9999")
		held.Wait()
		return what
	}},
	{items.FrozenFirst, "a mover chooses the shards of a key, and another one goes on meanwhile", func(t *testing.T) string {
		inner := start(t, 1).store
		var once sync.Once
		var b *Router
		store := &altered{Backend: inner, answer: func(_ context.Context, q api.Request) (error, bool) {
			if put, ok := q.(*api.PutItem); ok && put.Table == catalog.BucketsTable {
				once.Do(func() {
					must(t, b, "DeleteItem", `{"TableName":"Tab","Key":`+bucketItem("0000")+`}`)
					for stepOf(b) != "moving" {
						if _, err := b.StepChange(t.Context(), "Tab"); err != nil {
							t.Fatal(err)
						}
					}
					putAt(t, b, "a", "9999")
				})
			}
			return nil, false
		}}
		a := doorOn(t, store, time.Second)
		b = doorOn(t, inner, time.Second)
		must(t, a, "CreateTable", shardedTable)
		rising(t, a, 11)
		must(t, a, "TagResource", tagTab("strategy=rollover rows=10"))
		time.Sleep(2 * time.Second)
		_, _ = a.StepChange(t.Context(), "Tab") // it may have missed that the change has gone on
		return lost(t, b, "9999")
	}},
}

// counting is a store that does something before a write is counted.
type counting struct {
	Backend
	other func()
}

func (c *counting) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	if operation == "UpdateItem" && c.other != nil {
		c.other()
	}
	return c.Backend.Do(ctx, operation, body, dst)
}

// beginning returns a door that is alone on its store, and has table Tab. begins makes it do something when it
// is about to open a shard.
func beginning(t *testing.T) (begins func(other func()), r *Router) {
	inner := start(t, 1).store
	var once *sync.Once
	var do func()
	store := &altered{Backend: inner, answer: func(_ context.Context, q api.Request) (error, bool) {
		put, ok := q.(*api.PutItem)
		if !ok || put.Table != catalog.BucketsTable || do == nil {
			return nil, false
		}
		if step, _ := put.Item.Get("step"); step.Equal(attribute.Int(int64(catalog.Open))) {
			once.Do(do)
		}
		return nil, false
	}}
	r = doorOn(t, store, 0)
	must(t, r, "CreateTable", rolledTable("S", "rows=10"))
	return func(other func()) { once, do = new(sync.Once), other }, r
}

// rising puts items until there are n.
func rising(t *testing.T, r *Router, n int) {
	for i := range n {
		key := fmt.Sprintf("%04d", i)
		if m := must(t, r, "GetItem", `{"TableName":"Tab","Key":`+bucketItem(key)+`}`); m["Item"] == nil {
			putAt(t, r, "a", key)
		}
	}
}

// lost reports whether a door does not show an item of key a.
func lost(t *testing.T, r *Router, key string) string {
	m := must(t, r, "GetItem", `{"TableName":"Tab","ConsistentRead":true,"Key":`+bucketItem(key)+`}`)
	if got := sorts(must(t, r, "Query", wholeKey)); m["Item"] == nil || !slices.Contains(got, key) {
		return fmt.Sprintf("item %s is not shown: %v", key, got)
	}
	return ""
}

// TestShardsOfARolloverFreeze checks that no item is lost if a shard could begin while a change of layout
// begins, and that one is lost without any of the rules.
func TestShardsOfARolloverFreeze(t *testing.T) {
	shown := map[items.Rule]bool{}
	for _, c := range whereShardsFreeze {
		shown[c.rule] = true
		for _, without := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				if without {
					defer items.Without(c.rule)()
				}
				if what := c.scene(t); (what != "") != without {
					t.Errorf("%s, without rule %d %v: %q", c.what, c.rule, without, what)
				}
			})
		}
	}
	for _, rule := range items.Rules() {
		if !shown[rule] {
			t.Errorf("no scene shows what rule %d is for", rule)
		}
	}
}

// placesAfter returns how many items of key a are in the places after a base.
func placesAfter(t *testing.T, store Backend, table string, base int) (sizes []int) {
	for _, it := range must(t, store, "Scan", `{"TableName":"`+table+`"}`)["Items"].([]any) {
		place := 0
		if _, err := fmt.Sscanf(it.(map[string]any)["evenkeel.pk"].(map[string]any)["S"].(string), "a-%d", &place); err != nil {
			continue // of another key
		}
		for len(sizes) < place-base {
			sizes = append(sizes, 0)
		}
		sizes[place-base-1]++
	}
	return sizes
}

// TestAMoverOfARolloverThatEnds checks that nothing is lost if a mover ends at any request of a change from
// or to rollover, and another continues. At the end the directory has only what the new layout needs. Shards that
// the mover has chosen are full, and others follow.
func TestAMoverOfARolloverThatEnds(t *testing.T) {
	const rollover = "strategy=rollover rows=10"
	for _, change := range [][2]string{
		{rollover, "strategy=time bucket=6h shards=2"}, {rollover, "strategy=calculated shards=4"}, {rollover, ""},
		{"strategy=time bucket=6h shards=2", rollover}, {"strategy=calculated shards=4", rollover}, {"", rollover},
	} {
		to := change[1]
		r, store := startHasty(t)
		create := plainTable + "}"
		if change[0] != "" {
			create = plainTable + `,"Tags":[{"Key":"write-sharding","Value":"` + change[0] + `"}]}`
		}
		must(t, r, "CreateTable", create)
		const n = 40
		for i := range n {
			putAt(t, r, "a", at(i))
		}
		putAt(t, r, "b", at(0))
		must(t, r, "TagResource", tagTab(to))
		r, ends := endingMovers(t, r, store, func(r *Router) {
			if m := must(t, r, "Query", wholeKey); m["Count"] != float64(n) || !slices.IsSorted(sorts(m)) {
				t.Fatalf("%v items of %d in step %s", m["Count"], n, stepOf(r))
			}
		})
		if ends < 5 {
			t.Errorf("the mover was ended %d times", ends)
		}
		m := must(t, r, "Scan", `{"TableName":"Tab"}`)
		if m["Count"] != n+1.0 || change[0] != "" && len(store.stubs(t)) > 0 {
			t.Errorf("%v items of %d, or stubs", m["Count"], n+1)
		}
		e := r.tables.Entry("Tab")
		m = must(t, store, "Scan", `{"TableName":"`+catalog.BucketsTable+`"}`)
		for _, entry := range m["Items"].([]any) {
			if name := entry.(map[string]any)["partition"].(map[string]any)["S"].(string); !e.Plan.InDirectory() || !strings.HasPrefix(name, e.Plan.Directory()) {
				t.Errorf("the directory has %s", name)
			}
		}
		if to == rollover {
			sizes := map[string]int{}
			for _, it := range must(t, store, "Scan", `{"TableName":"`+e.Physical+`"}`)["Items"].([]any) {
				sizes[it.(map[string]any)["evenkeel.pk"].(map[string]any)["S"].(string)]++
			}
			for i := range 4 {
				if pk := fmt.Sprintf("a-%d", e.Layout.Base+1+i); sizes[pk] != 10 {
					t.Errorf("%s has %d items of 10: %v", pk, sizes[pk], sizes)
				}
			}
			for i := range 10 * n { // the last shard gets others after it
				putAt(t, r, "a", "3"+at(i))
			}
			if got := sorts(must(t, r, "Query", wholeKey)); len(got) < n+100 || !slices.IsSorted(got) {
				t.Errorf("%d items: %v", len(got), got)
			}
			again := placesAfter(t, store, e.Physical, e.Layout.Base)
			if len(again) < 14 || slices.Max(again) > 25 {
				t.Errorf("%v", again)
			}
		}
	}
}

// TestAChangeFromRolloverThatIsTakenBack checks that a change is taken back before items have moved, and that
// keys then get further shards. If it is taken back later, a change to rollover follows.
func TestAChangeFromRolloverThatIsTakenBack(t *testing.T) {
	r, store := startHasty(t)
	must(t, r, "CreateTable", rolledTable("S", "rows=10"))
	n := 0
	put := func() {
		for range 30 {
			n++
			putAt(t, r, "a", fmt.Sprintf("%04d", n))
		}
	}
	put()
	was := len(placesOf(t, store))
	for range 2 {
		must(t, r, "TagResource", tagTab("strategy=calculated shards=3"))
		put()
		if now := len(placesOf(t, store)); now > was+1 { // one had begun, and had no items
			t.Errorf("%d shards became %d during a change", was, now)
		}
		must(t, r, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
		put()
		now := len(placesOf(t, store))
		if now < was+3 {
			t.Errorf("%d shards became %d after the change was taken back", was, now)
		}
		was = now
	}
	if m := must(t, r, "ListTagsOfResource", `{`+arnOfTab+`}`); !strings.Contains(fmt.Sprint(m), "strategy=rollover rows=10") {
		t.Errorf("the tags are %v", m)
	}
	must(t, r, "TagResource", tagTab("strategy=calculated shards=3"))
	for stepOf(r) != "stubbing" {
		if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
	}
	if m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"rollback"}`); m["taken_back"] != true { // another change follows
		t.Errorf("%v", m)
	}
	if err := steps(t, r); err != nil {
		t.Fatal(err)
	}
	if m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`); m["to_layout"] != "shards of 10 items" || m["phase"] != "none" {
		t.Errorf("%v", m)
	}
	for i, size := range placesOf(t, store)[10000+3:] {
		if size != 10 && i < n/10-1 {
			t.Errorf("shard %d has %d items", i+1, size)
		}
	}
	put()
	if got := sorts(must(t, r, "Query", wholeKey)); len(got) != n || !slices.IsSorted(got) {
		t.Errorf("%d items of %d: %v", len(got), n, got)
	}
}
