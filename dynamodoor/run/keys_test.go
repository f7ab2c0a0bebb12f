// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAKeyHasShardsOfItsOwn gives a key its own number of shards, and then another one. Only its
// items move, and all items can be read and written in each step. A change of the table leaves the
// key alone.
func TestAKeyHasShardsOfItsOwn(t *testing.T) {
	r, store := startHasty(t)
	must(t, r, "CreateTable", shardedTable)
	const each = 60
	put := func(h string, i int, x string) {
		must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"%s"},"r":{"S":"%03d"},"x":{"S":"%s"}}}`, h, i, x))
	}
	for i := range each {
		put("hot", i, "first")
		put("cold", i, "first")
	}
	for i := range each / 2 {
		put("other", i, "first")
	}
	places := func(h string) map[string]bool {
		out := map[string]bool{}
		for _, pk := range pksOf(t, store) {
			if key, _, _ := strings.Cut(pk, "-"); key == h {
				out[pk] = true
			}
		}
		return out
	}
	check := func() {
		t.Helper()
		for h, n := range map[string]int{"hot": each, "cold": each, "other": each / 2} {
			m := must(t, r, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"`+h+`"}}}`)
			if m["Count"] != float64(n) {
				t.Fatalf("%s: %v items of %s, not %d", stepOf(r), m["Count"], h, n)
			}
		}
		if m := must(t, r, "Scan", `{"TableName":"Tab"}`); m["Count"] != float64(2*each+each/2) {
			t.Fatalf("%s: a Scan has %v items", stepOf(r), m["Count"])
		}
	}
	cold, other := fmt.Sprint(places("cold")), fmt.Sprint(places("other"))
	carry := func() map[string]any {
		t.Helper()
		var m map[string]any
		for more := true; more; {
			check()
			put("hot", len(stepOf(r)), stepOf(r))
			if stepOf(r) == "settled" {
				m = must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`)
			}
			var err error
			if more, err = r.StepChange(t.Context(), "Tab"); err != nil {
				t.Fatal(err)
			}
		}
		check()
		return m
	}
	start := func(shards int, key string) (map[string]any, error) {
		return do(r, "Reshard", fmt.Sprintf(`{"TableName":"Tab","Action":"start","Shards":%d,"Key":"%s"}`, shards, key))
	}
	if m, err := start(20, "hot"); err != nil || m["key"] != "hot" || m["from"] != 5.0 || m["to"] != 20.0 || m["rows_total"] != float64(each) {
		t.Fatalf("%v %v", m, err)
	}
	if m := carry(); m["rows_total"] != float64(each) || m["rows_moved"].(float64) < each/2 || m["rows_verified"] != float64(each) {
		t.Errorf("%v", m)
	}
	if n := len(places("hot")); n < 12 || fmt.Sprint(places("cold")) != cold || fmt.Sprint(places("other")) != other {
		t.Errorf("the key has %d places; others: %v %v", n, places("cold"), places("other"))
	}
	if m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`); m["phase"] != "none" || m["to"] != 5.0 {
		t.Errorf("%v", m)
	}
	// The key gets fewer shards, at places that it never had. A door that starts knows them.
	if _, err := start(2, "hot"); err != nil {
		t.Fatal(err)
	}
	carry()
	if got := fmt.Sprint(places("hot")); got != "map[hot-21:true hot-22:true]" {
		t.Errorf("the key is in %v", got)
	}
	r = again(t, store, 1)
	r.mover.Caution = time.Nanosecond
	check()
	must(t, r, "TagResource", changeTo(1))
	carry()
	if got := fmt.Sprint(places("hot"), places("cold")); got != "map[hot-21:true hot-22:true] map[cold-6:true]" {
		t.Errorf("the keys are in %v", got)
	}
	if _, err := start(2, "hot"); err == nil || !strings.Contains(err.Error(), `key "hot" of table Tab has 2 shards already`) {
		t.Error(err)
	}
	for _, wrong := range []string{"", strings.Repeat("x", 3000)} {
		if _, err := start(3, wrong); err == nil {
			t.Errorf("a key of %d bytes is given shards", len(wrong))
		}
	}
	if _, err := start(0, "hot"); err == nil || !strings.Contains(err.Error(), "1 shard or more") {
		t.Error(err)
	}
}

// TestUntagged checks that a sharded table without its tag becomes plain, and with a tag sharded
// again. A request for the current state, or for one under way, changes nothing.
func TestUntagged(t *testing.T) {
	r, store := startHasty(t)
	must(t, r, "CreateTable", shardedTable)
	for i := range 30 {
		must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%d"}}}`, i))
	}
	finish := func() map[string]any {
		t.Helper()
		for more := true; more; {
			var err error
			if more, err = r.StepChange(t.Context(), "Tab"); err != nil {
				t.Fatal(err)
			}
		}
		if m := must(t, r, "Scan", `{"TableName":"Tab"}`); m["Count"] != 30.0 {
			t.Errorf("%v items", m["Count"])
		}
		return must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`)
	}
	must(t, r, "UntagResource", untagTab)
	must(t, r, "UntagResource", untagTab)
	if m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`); m["phase"] != "looking" || m["from"] != 5.0 || m["to"] != 0.0 {
		t.Errorf("%v", m)
	}
	if m := finish(); m["phase"] != "none" || m["from"] != 0.0 || m["to"] != 0.0 {
		t.Errorf("%v", m)
	}
	must(t, r, "UntagResource", untagTab)
	if stepOf(r) != "" || fmt.Sprint(pksOf(t, store)) != "[a-6]" {
		t.Errorf("%q, items are in %v", stepOf(r), pksOf(t, store))
	}
	if tags := must(t, r, "ListTagsOfResource", `{`+arnOfTab+`}`); fmt.Sprint(tags["Tags"]) != "[]" {
		t.Errorf("%v", tags)
	}
	must(t, r, "TagResource", changeTo(4))
	if m := finish(); m["to"] != 4.0 || fmt.Sprint(pksOf(t, store)) != "[a-6 a-7 a-8 a-9]" {
		t.Errorf("%v, items are in %v", m, pksOf(t, store))
	}
}
