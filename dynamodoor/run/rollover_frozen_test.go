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
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
)

// whereShardsFreeze are moments at which a partition key of a rollover could get another shard while a change
// of its table's layout goes by its present ones. Each scene returns what is lost, or "".
var whereShardsFreeze = map[items.Rule]struct {
	what  string
	scene func(t *testing.T) string
}{
	items.FrozenFirst: {"a request begins a shard, and the change begins meanwhile", func(t *testing.T) string {
		begins, r := beginning(t)
		rising(t, r, 9)
		begins(func() {
			must(t, r, "TagResource", tagTab("strategy=calculated shards=3"))
			putAt(t, r, "a", "9999")
		})
		rising(t, r, 10)
		return lost(t, r, "9999")
	}},
	items.OpenedFirst: {"a door holds writes to a shard back, and another door begins the change", func(t *testing.T) string {
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
	items.OwnMark: {"a request begins a shard after a change that was taken back, and another change begins meanwhile", func(t *testing.T) string {
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
	items.MarkStays: {"a door that does not know of the change fills a shard", func(t *testing.T) string {
		store := start(t, 1).store
		a, b := doorOn(t, store, time.Second), doorOn(t, store, time.Second)
		must(t, b, "CreateTable", rolledTable("S", "rows=10"))
		rising(t, a, 9)
		must(t, b, "TagResource", tagTab("strategy=calculated shards=3"))
		putAt(t, b, "a", "0001")
		rising(t, a, 10)
		c := doorOn(t, store, time.Second)
		lost(t, c, "0001")
		putAt(t, b, "a", "9999")
		return lost(t, c, "9999")
	}},
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
	for _, rule := range items.Rules() {
		c, ok := whereShardsFreeze[rule]
		if !ok {
			t.Fatalf("rule %d has no scene", rule)
		}
		for _, without := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				if without {
					defer items.Without(rule)()
				}
				if what := c.scene(t); (what != "") != without {
					t.Errorf("%s, without rule %d %v: %q", c.what, rule, without, what)
				}
			})
		}
	}
}

// TestAMoverOfARolloverThatEnds checks that nothing is lost if a mover ends at any request of a change from
// rollover, and another continues. At the end the directory has nothing of the table.
func TestAMoverOfARolloverThatEnds(t *testing.T) {
	for _, to := range []string{"strategy=time bucket=6h shards=2", "strategy=calculated shards=4", ""} {
		r, store := startHasty(t)
		must(t, r, "CreateTable", rolledTable("S", "rows=10"))
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
		if m["Count"] != n+1.0 || len(store.stubs(t)) > 0 {
			t.Errorf("%v items of %d, and stubs: %v", m["Count"], n+1, store.stubs(t))
		}
		if m := must(t, store, "Scan", `{"TableName":"`+catalog.BucketsTable+`"}`); to[:min(13, len(to))] != "strategy=time" && m["Count"] != 0.0 {
			t.Errorf("the directory has %v", m["Items"])
		}
	}
}

// TestAChangeFromRolloverThatIsTakenBack checks that a change is taken back before items have moved, that keys
// then get further shards, and that it is not taken back later.
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
	fails(t, r, exception.Validation, "in which it is not taken back", "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
	if err := steps(t, r); err != nil {
		t.Fatal(err)
	}
	if got := sorts(must(t, r, "Query", wholeKey)); len(got) != n || !slices.IsSorted(got) {
		t.Errorf("%d items of %d: %v", len(got), n, got)
	}
}
