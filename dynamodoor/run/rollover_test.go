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

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
)

// rolledTable is a CreateTable of strategy rollover, with a sort key of a type.
func rolledTable(kind, options string) string {
	return strings.Replace(plainTable, `"r","AttributeType":"S"`, `"r","AttributeType":"`+kind+`"`, 1) + `,"Tags":[{"Key":"write-sharding","Value":"strategy=rollover ` + options + `"}]}`
}

// placesOf returns how many items of key a each physical partition has, from shard 1 on. It fails if
// an item is there twice, or if the shards are not consecutive ranges of the sort key.
func placesOf(t testing.TB, store Backend) []int {
	t.Helper()
	var sizes []int
	seen, greatest := map[string]int{}, map[int]string{}
	start := ""
	for {
		m := must(t, store, "Scan", `{"TableName":"Tab"`+start+`}`)
		for _, it := range m["Items"].([]any) {
			field := func(name string) string { return it.(map[string]any)[name].(map[string]any)["S"].(string) }
			var shard int
			if _, err := fmt.Sscanf(field("evenkeel.pk"), "a-%d", &shard); err != nil {
				t.Fatal(err)
			}
			r := field("r")
			if was, twice := seen[r]; twice {
				t.Errorf("item %s is in shard %d and in shard %d", r, was, shard)
			}
			seen[r] = shard
			greatest[shard] = max(greatest[shard], r)
			for len(sizes) < shard {
				sizes = append(sizes, 0)
			}
			sizes[shard-1]++
		}
		if m["LastEvaluatedKey"] == nil {
			break
		}
		start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
	}
	for r, shard := range seen {
		if greatest[shard-1] >= r {
			t.Errorf("item %s is in shard %d, after which is %s", r, shard, greatest[shard-1])
		}
	}
	return sizes
}

// TestRollsOver writes items in the order of their sort keys, and again. Each shard gets about as many
// as fill it. A read of a range reads the shards of that range.
func TestRollsOver(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", rolledTable("S", "rows=100"))
	const items = 1000
	for n := range items {
		putAt(t, s, "a", fmt.Sprintf("%04d", n))
	}
	sizes := placesOf(t, s.store)
	if len(sizes) < 9 || len(sizes) > 11 {
		t.Errorf("%d items are in shards of %v", items, sizes)
	}
	for i, n := range sizes {
		if n > 120 || n < 80 && i < len(sizes)-1 {
			t.Errorf("shard %d has %d items", i+1, n)
		}
	}
	for _, n := range []int{0, 150, 999} {
		putAt(t, s, "a", fmt.Sprintf("%04d", n)) // again: it stays one item
	}
	if again := placesOf(t, s.store); !slices.Equal(again[:len(sizes)], sizes) {
		t.Errorf("items that are put again change %v to %v", sizes, again)
	}
	for _, c := range []struct {
		what, body  string
		items, most int // shards
	}{
		{"all", `"KeyConditionExpression":"h = :h"`, items, len(sizes) + 2}, // a page of guessed length ends within a shard
		{"the newest ten", `"KeyConditionExpression":"h = :h","ScanIndexForward":false,"Limit":10`, 10, 2},
		{"the oldest ten", `"KeyConditionExpression":"h = :h","Limit":10`, 10, 1},
		{"thirty in the middle", `"KeyConditionExpression":"h = :h AND begins_with(r, :p)"`, 10, 2},
		{"from a key on", `"KeyConditionExpression":"h = :h","Limit":5,"ExclusiveStartKey":{"h":{"S":"a"},"r":{"S":"0700"}}`, 5, 2},
		{"an item", `"KeyConditionExpression":"h = :h AND r = :p"`, 0, 1},
	} {
		more := ""
		if strings.Contains(c.body, ":p") {
			more = `,":p":{"S":"055"}`
		}
		s.store.took()
		got := sorts(must(t, s, "Query", rangeOf("a", more)+","+c.body+"}"))
		if strings.Contains(c.body, "false") {
			slices.Reverse(got)
		}
		if requests, _ := s.store.took(); len(got) != c.items || !slices.IsSorted(got) || requests["Query"] > c.most || requests["directory"] > 0 {
			t.Errorf("%s: %d items, by %v", c.what, len(got), requests)
		}
	}
	s.store.took()
	if m := must(t, s, "GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"0555"}}}`); m["Item"] == nil {
		t.Error("an item is not found")
	}
	if requests, _ := s.store.took(); requests["GetItem"] != 1 || len(requests) != 1 {
		t.Errorf("an item takes %v", requests)
	}
	if m := must(t, again(t, s.store, 1), "Query", wholeKey); len(sorts(m)) != items {
		t.Errorf("a door that starts reads %d items", len(sorts(m)))
	}
}

// TestADeletedTableLeavesNothingInTheDirectory deletes tables with entries in the directory.
func TestADeletedTableLeavesNothingInTheDirectory(t *testing.T) {
	for _, lease := range []time.Duration{0, short} {
		store := start(t, 1).store
		s := doorOn(t, store, lease)
		must(t, s, "CreateTable", strings.Replace(timedTable("S", "bucket=1h"), `"Tab"`, `"Other"`, 1))
		must(t, s, "PutItem", `{"TableName":"Other","Item":{"h":{"S":"a"},"r":{"S":"2026-11-25T10:00:00Z"}}}`)
		for _, table := range []string{rolledTable("S", "rows=10"), timedTable("S", "bucket=1h")} {
			must(t, s, "CreateTable", table)
			for n := range 100 {
				putAt(t, s, fmt.Sprint("a", n%3), at(n))
			}
			if n := len(must(t, store, "Scan", `{"TableName":"evenkeel.buckets"}`)["Items"].([]any)); n < 10 {
				t.Errorf("the directory has %d entries", n)
			}
			must(t, s, "DeleteTable", deleteTab)
			if n := len(must(t, store, "Scan", `{"TableName":"evenkeel.buckets"}`)["Items"].([]any)); n != 1 {
				t.Errorf("the directory keeps %d entries", n)
			}
		}
	}
}

// TestMaxShards has a key stop at its last shard.
func TestMaxShards(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", rolledTable("S", "rows=10 max=3"))
	for n := range 100 {
		putAt(t, s, "a", fmt.Sprintf("%04d", n))
	}
	if sizes := placesOf(t, s.store); len(sizes) != 3 {
		t.Errorf("%v", sizes)
	}
}

// TestRollsOverOnSeveralDoors writes through several doors at a time, and reads each item through
// another door as soon as it is acknowledged. Nothing is lost, nothing is there twice.
func TestRollsOverOnSeveralDoors(t *testing.T) {
	for _, lease := range []time.Duration{0, short} {
		store := start(t, 1).store
		doors := []*Router{doorOn(t, store, lease)}
		if lease > 0 {
			doors = append(doors, doorOn(t, store, lease), doorOn(t, store, lease))
		}
		must(t, doors[0], "CreateTable", rolledTable("S", "rows=20"))
		var next atomic.Int64
		var mu sync.Mutex
		acknowledged := map[string]bool{}
		var writers sync.WaitGroup
		for w := range 6 {
			writers.Go(func() {
				for {
					n := next.Add(1)
					if n > 600 {
						return
					}
					r := fmt.Sprintf("%04d", n)
					door, other := doors[w%len(doors)], doors[(w+1)%len(doors)]
					operation, body := "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"`+r+`"}},"ConditionExpression":"attribute_not_exists(r)"}`
					switch n % 4 {
					case 1:
						operation, body = "UpdateItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"`+r+`"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`
					case 2:
						operation, body = "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"`+r+`"}}}}]}}`
					case 3:
						operation, body = "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"`+r+`"}}}}]}`
					}
					_, err := do(door, operation, body)
					if exception.Of(err) != nil && exception.Of(err).Kind == exception.InternalServerError {
						continue // whether it was done is not known
					}
					if err != nil {
						t.Errorf("%s %s: %v", operation, r, err)
						return
					}
					if m, err := do(other, "GetItem", `{"TableName":"Tab","ConsistentRead":true,"Key":{"h":{"S":"a"},"r":{"S":"`+r+`"}}}`); err != nil || m["Item"] == nil {
						t.Errorf("another door does not find %s: %v", r, err)
					}
					mu.Lock()
					acknowledged[r] = true
					mu.Unlock()
				}
			})
		}
		writers.Wait()
		sizes := placesOf(t, store)
		t.Log(lease, sizes)
		if len(sizes) < 4 {
			t.Errorf("the shards are %v", sizes)
		}
		for _, door := range doors {
			got := sorts(must(t, door, "Query", wholeKey))
			if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("%v", got)
			}
			for r := range acknowledged {
				if _, found := slices.BinarySearch(got, r); !found {
					t.Errorf("a Query lacks %s", r)
				}
			}
		}
	}
}

// announce begins the next shard of key a, as a door does that dies afterwards.
func announce(t *testing.T, r *Router, shard int, from string, step catalog.Step) {
	t.Helper()
	b := catalog.Beginning{Shard: shard, From: attribute.String(from), Step: step}
	if err := catalogOf(r).BeginShard(t.Context(), r.tables.Entry("Tab").ID+"/a", b); err != nil {
		t.Fatal(err)
	}
}

// TestAnItemBesideAnAnnouncement has a door that does not know of the next shard yet create an item in
// the old one, where the next shard is announced to begin. The shard begins after that item.
func TestAnItemBesideAnAnnouncement(t *testing.T) {
	store := start(t, 1).store
	const lease = 2 * time.Second
	a, b := doorOn(t, store, lease), doorOn(t, store, lease)
	must(t, a, "CreateTable", rolledTable("S", "rows=100000"))
	putAt(t, a, "a", "1")
	announce(t, a, 2, "2", catalog.Announced)
	putAt(t, a, "a", "3") // the door has read the directory a moment ago
	putAt(t, b, "a", "4")
	for _, door := range []*Router{a, b} {
		if got := sorts(must(t, door, "Query", wholeKey)); !slices.Equal(got, []string{"1", "3", "4"}) {
			t.Errorf("%v", got)
		}
	}
	if sizes := placesOf(t, store); !slices.Equal(sizes, []int{2, 1}) {
		t.Errorf("%v", sizes)
	}
}

// TestADoorDiesWhileAShardBegins leaves the beginning of a shard after each step. Another door, or the
// same one after a restart, takes the further steps. Until then, reads find all items, and earlier
// items can be written.
func TestADoorDiesWhileAShardBegins(t *testing.T) {
	for _, lease := range []time.Duration{0, short} {
		for step := catalog.Announced; step <= catalog.Open; step++ {
			store := start(t, 1).store
			a := doorOn(t, store, lease)
			must(t, a, "CreateTable", rolledTable("S", "rows=100000"))
			putAt(t, a, "a", "1")
			announce(t, a, 2, "2", step)
			b := doorOn(t, store, lease)
			putAt(t, b, "a", "0")
			if got := sorts(must(t, b, "Query", wholeKey)); !slices.Equal(got, []string{"0", "1"}) {
				t.Errorf("%v", got)
			}
			must(t, b, "DeleteItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"5"}}}`)
			putAt(t, b, "a", "5")
			if got := sorts(must(t, b, "Query", wholeKey)); !slices.Equal(got, []string{"0", "1", "5"}) {
				t.Errorf("%v", got)
			}
			if sizes := placesOf(t, store); !slices.Equal(sizes, []int{2, 1}) {
				t.Errorf("%v", sizes)
			}
		}
	}
}

// TestTheDirectoryFailsWhileAShardBegins loses the answers to the directory's writes. What was
// acknowledged is found, and later writes begin the shard.
func TestTheDirectoryFailsWhileAShardBegins(t *testing.T) {
	for _, lease := range []time.Duration{0, short} {
		for _, carriedOut := range []bool{false, true} {
			inner := start(t, 1).store
			var failing atomic.Bool
			store := &altered{Backend: inner, answer: func(ctx context.Context, q api.Request) (error, bool) {
				put, ok := q.(*api.PutItem)
				if !ok || put.Table != catalog.BucketsTable || !failing.Load() {
					return nil, false
				}
				if carriedOut {
					if err := inner.Answer(ctx, q, func(api.Response) error { return nil }); err != nil {
						return err, true
					}
				}
				return exception.New(exception.InternalServerError, "the connection broke"), true
			}}
			door := doorOn(t, store, lease)
			must(t, door, "CreateTable", rolledTable("S", "rows=10"))
			var want []string
			for n := range 60 {
				failing.Store(n%20 < 12 && lease == 0)
				want = append(want, fmt.Sprintf("%02d", n))
				putAt(t, door, "a", want[n])
				if got := sorts(must(t, door, "Query", wholeKey)); !slices.Equal(got, want) {
					t.Fatalf("%v", got)
				}
			}
			if sizes := placesOf(t, inner); len(sizes) < 3 {
				t.Errorf("%v", sizes)
			}
		}
	}
}

// TestRolledTablesThatAreRefused names the tables that cannot have the strategy, and what of such a
// table cannot be changed.
func TestRolledTablesThatAreRefused(t *testing.T) {
	s := start(t, 1)
	for _, c := range [][2]string{
		{"", "add rows=100000"},
		{"rows=", "add rows=100000"},
		{"rows=9", "at least 10"},
		{"rows=x", "at least 10"},
		{"rows=100 max=1", "from 2 to 10000"},
		{"rows=100 bytes=1000", "leave bytes out"},
		{"rows=100 shards=4", "leave it out"},
		{"rows=100 by=r", "leave it out"},
		{"rows=100 bucket=1h", "is one of strategy 'time'"},
		{"rows=100 hash=murmur3", "leave it out"},
	} {
		fails(t, s, exception.Validation, c[1], "CreateTable", rolledTable("S", c[0]))
	}
	fails(t, s, exception.Validation, "the option rows is one of strategy 'rollover'", "CreateTable", strings.Replace(shardedTable, "shards=5", "shards=5 rows=100", 1))
	noSort := strings.Replace(strings.Replace(rolledTable("S", "rows=10"), `,{"AttributeName":"r","KeyType":"RANGE"}`, "", 1), `,{"AttributeName":"r","AttributeType":"S"}`, "", 1)
	fails(t, s, exception.Validation, "it has no sort key", "CreateTable", noSort)
	fails(t, s, exception.Validation, "strategy 'rollover' is for tables", "CreateTable", strings.Replace(indexedTable, `,"GlobalSecondaryIndexes"`, `,"Tags":[{"Key":"write-sharding.index.by-r","Value":"strategy=rollover rows=100"}],"GlobalSecondaryIndexes"`, 1))
	must(t, s, "CreateTable", plainTable+"}")
	tag := func(value string) string {
		return `{` + arnOfTab + `,"Tags":[{"Key":"write-sharding","Value":"` + value + `"}]}`
	}
	fails(t, s, exception.Validation, "for tables that evenkeel creates", "TagResource", tag("adopt=suffix strategy=rollover shards=3"))
	must(t, s, "DeleteTable", deleteTab)
	must(t, s, "CreateTable", rolledTable("S", "rows=100"))
	must(t, s, "TagResource", tag("strategy=rollover rows=100")) // the table's own
}

// TestRolledTablesAndRights checks that a client without rights begins no shard.
func TestRolledTablesAndRights(t *testing.T) {
	counted := &directory{Backend: start(t, 1).store}
	door := doorOn(t, onlyAlice(counted), short)
	alice, bob := as(door, "alice"), as(door, "bob")
	must(t, alice, "CreateTable", rolledTable("S", "rows=100000"))
	putAt(t, alice, "a", "1")
	announce(t, door, 2, "2", catalog.Announced)
	time.Sleep(2 * short)
	counted.took()
	if _, err := do(bob, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"5"}}}`); exception.Of(err).Kind != exception.AccessDenied {
		t.Errorf("%v", err)
	}
	if n := counted.took(); n != 0 {
		t.Errorf("bob writes the directory %d times", n)
	}
	putAt(t, alice, "a", "5")
}

// TestRolledStreamsRulesAndIndexes reads the stream, and the indexes, of a table that a rule has given
// the strategy.
func TestRolledStreamsRulesAndIndexes(t *testing.T) {
	store := start(t, 1).store
	rules := "dynamodb: {Tab: {strategy: rollover, rows: 10}}"
	s, _ := startRuled(t, store, "rules.yaml", rules, 0)
	must(t, s, "CreateTable", strings.Replace(plainTable, `],"KeySchema"`, `,{"AttributeName":"x","AttributeType":"S"}],"LocalSecondaryIndexes":[`+
		`{"IndexName":"by-x","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"x","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],"GlobalSecondaryIndexes":[`+
		`{"IndexName":"own","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"x","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],"KeySchema"`, 1)+streamed+"}")
	for n := range 45 {
		putAt(t, s, "a", fmt.Sprintf("%02d", n))
	}
	if sizes := placesOf(t, store); len(sizes) < 4 {
		t.Errorf("%v", sizes)
	}
	_, _, records := readStream(t, s, "Tab")
	if strings.Contains(records, "evenkeel.") || strings.Count(records, `"Keys":{"h":{"S":"a"},"r"`) != 45 {
		t.Errorf("%s", records)
	}
	for _, ix := range []string{"by-x", "own"} {
		var got []string
		for start := ""; ; {
			m := must(t, s, "Query", strings.TrimSuffix(wholeKey, "}")+`,"Limit":7,"IndexName":"`+ix+`"`+start+`}`)
			if got = append(got, sorts(m)...); m["LastEvaluatedKey"] == nil {
				break
			}
			start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
		}
		if slices.Sort(got); len(slices.Compact(got)) != 45 {
			t.Errorf("index %s: %v", ix, got)
		}
	}
	if _, log := startRuled(t, store, "rules.yaml", rules, 0); strings.Contains(log, "not as the shard rules say") {
		t.Errorf("%s", log)
	}
	if _, log := startRuled(t, store, "rules2.yaml", "dynamodb: {Tab: {strategy: rollover, rows: 20}}", 0); !strings.Contains(log, "not as the shard rules say") {
		t.Errorf("another layout is not told: %s", log)
	}
}

// TestKeyThatAgesWhileItIsJudged has what a door has read of a partition key grow too old at any moment of a
// request. No request waits for itself.
func TestKeyThatAgesWhileItIsJudged(t *testing.T) {
	store := start(t, 1).store
	first := doorOn(t, store, ever)
	must(t, first, "CreateTable", rolledTable("S", "rows=1000"))
	putAt(t, first, "a", "1")
	// To renew its lease a door looks at the clock four times: it must do so within the lease (ever).
	for minutes := 1; 4*minutes < int(ever/time.Minute); minutes++ {
		began, calls := time.Now(), new(atomic.Int64)
		now := func() time.Time { return began.Add(time.Duration(calls.Add(1)) * time.Duration(minutes) * time.Minute) }
		door := New(Options{Backend: store, Lease: ever, Now: now})
		if err := door.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			for range 30 {
				if _, err := do(door, "GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}}}`); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("a request every %d minutes: %v", minutes, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("with %d minutes between two looks at the clock a request does not end", minutes)
		}
	}
}

// TestRequestsOverAChangeAndARollover checks that requests on several tables find and put items of a table
// of strategy rollover in their shards, while the layout of another table in them is being changed.
func TestRequestsOverAChangeAndARollover(t *testing.T) {
	r, store := startHasty(t)
	must(t, r, "CreateTable", rolledTable("S", "rows=10"))
	must(t, r, "CreateTable", otherTab(shardedTable))
	for n := range 25 {
		putAt(t, r, "a", fmt.Sprintf("%04d", n))
	}
	must(t, r, "TagResource", otherTab(changeTo(3)))
	must(t, r, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Other","Item":{"h":{"S":"a"},"r":{"S":"1"}}}},{"Put":{"TableName":"Tab","Item":`+bucketItem("0030")+`}}]}`)
	must(t, r, "BatchWriteItem", `{"RequestItems":{"Other":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"2"}}}}],"Tab":[{"PutRequest":{"Item":`+bucketItem("0031")+`}}]}}`)
	for _, key := range []string{"0030", "0031"} {
		if m := must(t, r, "GetItem", `{"TableName":"Tab","Key":`+bucketItem(key)+`}`); m["Item"] == nil {
			t.Errorf("item %s is not found: %v", key, placesOf(t, store))
		}
	}
	m := must(t, r, "BatchGetItem", `{"RequestItems":{"Other":{"Keys":[`+bucketItem("1")+`]},"Tab":{"Keys":[`+bucketItem("0024")+`]}}}`)
	if got := m["Responses"].(map[string]any)["Tab"]; len(got.([]any)) != 1 {
		t.Errorf("BatchGetItem: %v", m)
	}
	m = must(t, r, "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"Other","Key":`+bucketItem("1")+`}},{"Get":{"TableName":"Tab","Key":`+bucketItem("0024")+`}}]}`)
	if got := m["Responses"].([]any)[1].(map[string]any); got["Item"] == nil {
		t.Errorf("TransactGetItems: %v", m)
	}
}
