// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// tagTab is the body of a TagResource that declares a layout of table Tab.
func tagTab(value string) string {
	return `{` + arnOfTab + `,"Tags":[{"Key":"write-sharding","Value":"` + value + `"}]}`
}

// TestRolloverGetsOtherNumbers changes at random how many items fill a shard, and how many shards a key may
// have, between writes. All items are shown, no item moves, and shards are filled by the present numbers.
func TestRolloverGetsOtherNumbers(t *testing.T) {
	for _, doors := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d doors", doors), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				draw := rand.New(rand.NewPCG(seed, 0))
				store := start(t, 1).store
				all, lease := new(turns), time.Duration(0)
				if doors > 1 {
					lease = time.Second
				}
				for range doors {
					all.all = append(all.all, doorOn(t, store, lease))
				}
				must(t, all, "CreateTable", rolledTable("S", "rows=10 max=3"))
				var want []string
				var sizes []int
				rows, most := 10, 3
				for range 8 {
					was := sizes
					for range 10 + draw.IntN(80) {
						want = append(want, fmt.Sprintf("%04d", len(want)))
						putAt(t, all, "a", want[len(want)-1])
					}
					if got := sorts(must(t, all, "Query", wholeKey)); !slices.Equal(got, want) {
						t.Fatalf("%v", got)
					}
					sizes = placesOf(t, store)
					if n := len(was); n > 0 && !slices.Equal(was[:n-1], sizes[:n-1]) {
						t.Fatalf("%v became %v", was, sizes)
					}
					if len(sizes) > max(most, len(was)+1) { // one may have begun without items
						t.Fatalf("a key has %d shards of %d", len(sizes), most)
					}
					for i := max(1, len(was)); i < len(sizes); i++ { // shards that began and were filled since
						if i+1 < len(sizes) && (sizes[i] < rows-1 || sizes[i] > 2*rows) {
							t.Fatalf("shards of %d items are %v", rows, sizes)
						}
					}
					rows, most = 10+draw.IntN(20), 2+draw.IntN(20)
					options := fmt.Sprintf("strategy=rollover rows=%d max=%d", rows, most)
					must(t, all, "TagResource", tagTab(options))
					time.Sleep(3 * lease)
					must(t, all, "TagResource", tagTab(options)) // again
				}
			})
		})
	}
}

// TestRolloverGetsMoreShardsThanAKeyHasRoomFor checks that a key whose physical keys have no room for a
// longer number of a shard keeps its items, and its last shard.
func TestRolloverGetsMoreShardsThanAKeyHasRoomFor(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", rolledTable("S", "rows=10 max=9"))
	key := strings.Repeat("k", 2046)
	for n := range 150 {
		if n == 20 {
			must(t, s, "TagResource", tagTab("strategy=rollover rows=10"))
		}
		putAt(t, s, key, fmt.Sprintf("%04d", n))
	}
	if got := sorts(must(t, s, "Query", rangeOf(key, "")+`,"KeyConditionExpression":"h = :h"}`)); len(got) != 150 {
		t.Errorf("%d items are shown", len(got))
	}
	if m := must(t, s.store, "Scan", `{"TableName":"Tab"}`); !strings.Contains(fmt.Sprint(m), key+"-9") {
		t.Error("the key has no ninth shard")
	}
	putAt(t, s, "a", "1")
	fails(t, s, exception.Validation, "Size of hashkey", "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"`+key+`k"},"r":{"S":"1"}}}`)
}

// TestTheOutlookOfOtherNumbers asks what another number of items that fill a shard costs, and then has it.
func TestTheOutlookOfOtherNumbers(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", rolledTable("S", "rows=100 max=8"))
	m := must(t, s, "Reshard", `{"TableName":"Tab","Action":"plan","Layout":"strategy=rollover rows=200"}`)
	if m["from_layout"] != "at most 8 shards of 100 items" || m["to_layout"] != "shards of 200 items" || !strings.Contains(fmt.Sprint(m["notes"]), "no item moves") || m["rows_moved"] != 0.0 {
		t.Errorf("%v", m)
	}
	m = must(t, s, "Reshard", `{"TableName":"Tab","Action":"start","Layout":"strategy=rollover rows=200"}`)
	if m["phase"] != "none" || m["to_layout"] != "shards of 200 items" {
		t.Errorf("%v", m)
	}
	if m := must(t, s, "ListTagsOfResource", `{`+arnOfTab+`}`); !strings.Contains(fmt.Sprint(m), "rows=200") {
		t.Errorf("%v", m)
	}
	fails(t, s, exception.Validation, "has shards of 200 items already", "Reshard", `{"TableName":"Tab","Action":"start","Layout":"strategy=rollover rows=200"}`)
	fails(t, s, exception.Validation, "ranges of the sort key", "Reshard", `{"TableName":"Tab","Action":"start","Shards":8,"Key":"a"}`)
	fails(t, s, exception.Validation, "say the strategy, too", "Reshard", `{"TableName":"Tab","Action":"start","Shards":8}`)
	fails(t, s, exception.Validation, "say the strategy, too", "TagResource", tagTab("shards=8"))
	fails(t, s, exception.Validation, "at least 10", "TagResource", tagTab("strategy=rollover rows=1"))
	if again := again(t, s.store, 1); again.tables.Entry("Tab").Layout.Used != 8 {
		t.Errorf("the highest place is %d", again.tables.Entry("Tab").Layout.Used)
	}
}

// TestAnIndexOfARolloverByOtherDoors reads a sharded index, whose items are of several partition keys with
// several shards, page by page. Each page is read by a door that has just started.
func TestAnIndexOfARolloverByOtherDoors(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", strings.Replace(strings.Replace(rolledTable("S", "rows=10"), `"Tags":[`, `"Tags":[{"Key":"write-sharding.index.by-x","Value":"shards=2"},`, 1), `],"KeySchema"`,
		`,{"AttributeName":"x","AttributeType":"S"}],"GlobalSecondaryIndexes":[{"IndexName":"by-x","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],"KeySchema"`, 1))
	const n = 120
	for i := range n {
		must(t, s, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"%c"},"r":{"S":"%04d"},"x":{"S":"1"}}}`, 'a'+i%3, i))
	}
	var got []string
	for start := ""; ; {
		m := must(t, again(t, s.store, 1), "Query", `{"TableName":"Tab","IndexName":"by-x","Limit":7,"KeyConditionExpression":"x = :x","ExpressionAttributeValues":{":x":{"S":"1"}}`+start+`}`)
		if got = append(got, sorts(m)...); m["LastEvaluatedKey"] == nil {
			break
		}
		start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
	}
	if slices.Sort(got); len(got) != n || len(slices.Compact(got)) != n {
		t.Errorf("%d items of %d are shown: %v", len(got), n, got)
	}
}
