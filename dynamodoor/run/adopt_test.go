// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/shard"
)

const tabARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Tab"

func tagWith(how string) string {
	return fmt.Sprintf(`{"ResourceArn":"%s","Tags":[{"Key":"write-sharding","Value":"%s"},{"Key":"team","Value":"billing"}]}`, tabARN, how)
}

const untagTab = `{"ResourceArn":"` + tabARN + `","TagKeys":["write-sharding"]}`

func putTab(hash, sort string) string {
	return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"%s"},"r":{"S":"%s"},"x":{"S":"y"}}}`, hash, sort)
}

func keyTab(hash, sort string) string {
	return fmt.Sprintf(`{"TableName":"Tab","Key":{"h":{"S":"%s"},"r":{"S":"%s"}}}`, hash, sort)
}

func queryTab(hash, more string) string {
	return fmt.Sprintf(`{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"%s"}}%s}`, hash, more)
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// byHand fills a plain table as its application would: at returns the shard of each item.
func byHand(t testing.TB, d doer, items int, at func(sort string) int) {
	t.Helper()
	must(t, d, "CreateTable", plainTable+"}")
	for i := range items {
		sort := fmt.Sprintf("Client%04d", i)
		must(t, d, "PutItem", putTab(fmt.Sprintf("121212-%d", at(sort)), sort))
	}
}

func calculated(shards int) func(string) int {
	l := &shard.Layout{N: shards}
	return func(sort string) int { return l.ShardOf(nil, []byte(sort)) }
}

// TestAdoption checks that an adopted table behaves like a sharded one. The door finds items that
// the application wrote, and writes items where the application would. That remains so after a
// restart, until the tag is removed.
func TestAdoption(t *testing.T) {
	const items = 300
	s := start(t, 4)
	byHand(t, s, items, calculated(5))
	must(t, s, "TagResource", tagWith("adopt=suffix shards=5"))
	must(t, s, "TagResource", tagWith("adopt=suffix shards=5")) // as a client that retries
	if tags := jsonOf(t, must(t, s, "ListTagsOfResource", `{"ResourceArn":"`+tabARN+`"}`)); !strings.Contains(tags, "adopt=suffix shards=5") || !strings.Contains(tags, "billing") {
		t.Errorf("tags: %s", tags)
	}
	for name, r := range map[string]doer{"the door": s, "after a restart": again(t, s.store, 4)} {
		m := must(t, r, "Query", queryTab("121212", ""))
		if rs := sorts(m); len(rs) != items || !slices.IsSorted(rs) || strings.Contains(jsonOf(t, m), "121212-") {
			t.Errorf("%s: a query has %d items: %s", name, len(rs), jsonOf(t, m)[:200])
		}
		s.store.took()
		if m := must(t, r, "GetItem", keyTab("121212", "Client0007")); m["Item"] == nil {
			t.Errorf("%s: an item is not found", name)
		}
		if asked, _ := s.store.took(); len(asked) != 1 || asked["GetItem"] != 1 {
			t.Errorf("%s: an item took %v", name, asked)
		}
	}
	must(t, s, "PutItem", putTab("121212", "new"))
	fails(t, s, exception.Validation, `"121212-3", which has a shard at its end`, "PutItem", putTab("121212-3", "new"))
	fails(t, s, exception.Validation, "UntagResource", "TagResource", tagWith("adopt=suffix shards=6"))
	fails(t, s, exception.Validation, "an adopted table has no sharded indexes", "TagResource",
		`{"ResourceArn":"`+tabARN+`","Tags":[{"Key":"write-sharding.index.i","Value":"shards=3"}]}`)

	must(t, s, "UntagResource", untagTab)
	must(t, s, "UntagResource", untagTab)
	where := fmt.Sprintf("121212-%d", calculated(5)("new"))
	if m := must(t, s, "GetItem", keyTab(where, "new")); m["Item"] == nil {
		t.Errorf("%s is not there when the table is a plain one again", where)
	}
	if m := must(t, s, "GetItem", keyTab("121212", "new")); m["Item"] != nil {
		t.Error("a plain table answers as an adopted one")
	}
	must(t, s, "TagResource", tagWith("adopt=suffix shards=5"))
	must(t, s, "DeleteTable", `{"TableName":"Tab"}`)
	must(t, s, "CreateTable", plainTable+"}") // the adopted table's entry does not apply to it
	must(t, s, "PutItem", putTab("121212-3", "new"))
	fails(t, s, exception.ResourceNotFound, "not found", "TagResource", strings.ReplaceAll(tagWith("adopt=suffix shards=5"), "/Tab", "/None"))
}

// TestAdoptionOfPrefixes adopts a table whose partition keys begin with the shard.
func TestAdoptionOfPrefixes(t *testing.T) {
	items, shards := 50+mathrand.IntN(200), 2+mathrand.IntN(20)
	s := start(t, 4)
	must(t, s, "CreateTable", plainTable+"}")
	at := calculated(shards)
	put := func(shard int, sort string) {
		must(t, s, "PutItem", putTab(fmt.Sprintf("%d#121212", shard), sort))
	}
	for i := range items {
		sort := fmt.Sprintf("Client%04d", i)
		put(at(sort), sort)
	}
	how := fmt.Sprintf("adopt=prefix shards=%d separator=U+0023", shards)
	fails(t, s, exception.Validation, `has no shard at the end of its partition key`, "TagResource", tagWith(strings.Replace(how, "prefix", "suffix", 1)))
	fails(t, s, exception.Validation, fmt.Sprintf(`has no shard at the beginning of its partition key: a number from 1 to %d and "-"`, shards), "TagResource", tagWith(strings.Replace(how, "U+0023", "-", 1)))
	wrong := at("wrong")%shards + 1
	put(wrong, "wrong")
	fails(t, s, exception.Validation, fmt.Sprintf("is in shard %d, where hash=murmur3 of the sort key gives %d", wrong, at("wrong")), "TagResource", tagWith(how))
	must(t, s, "DeleteItem", keyTab(fmt.Sprintf("%d#121212", wrong), "wrong"))
	put(at("x"), "x")
	must(t, s, "PutItem", putTab(fmt.Sprintf("%d#1#a", at("x")), "x")) // the key 1#a, or one with a shard too many
	fails(t, s, exception.Validation, "has a shard at its beginning without the shard too", "TagResource", tagWith(how))
	must(t, s, "TagResource", tagWith(how+" prefixed=allow"))
	if m := must(t, s, "GetItem", keyTab("1#a", "x")); m["Item"] == nil {
		t.Error("the key 1#a is not found")
	}
	must(t, s, "DeleteItem", keyTab("1#a", "x"))
	must(t, s, "DeleteItem", keyTab("121212", "x"))
	must(t, s, "UntagResource", untagTab)

	must(t, s, "TagResource", tagWith(how))
	for name, r := range map[string]doer{"the door": s, "after a restart": again(t, s.store, 4)} {
		m := must(t, r, "Query", queryTab("121212", ""))
		if rs := sorts(m); len(rs) != items || !slices.IsSorted(rs) || strings.Contains(jsonOf(t, m), "#121212") {
			t.Errorf("%s: a query has %d items: %s", name, len(rs), jsonOf(t, m)[:200])
		}
		if m := must(t, r, "Scan", `{"TableName":"Tab"}`); len(sorts(m)) != items || strings.Contains(jsonOf(t, m), "#121212") {
			t.Errorf("%s: a scan has %s", name, jsonOf(t, m)[:200])
		}
		s.store.took()
		if m := must(t, r, "GetItem", keyTab("121212", "Client0007")); m["Item"] == nil {
			t.Errorf("%s: an item is not found", name)
		}
		if asked, _ := s.store.took(); len(asked) != 1 || asked["GetItem"] != 1 {
			t.Errorf("%s: an item took %v", name, asked)
		}
	}
	must(t, s, "PutItem", putTab("121212", "new"))
	fails(t, s, exception.Validation, `"1#121212", which has a shard at its beginning`, "PutItem", putTab("1#121212", "new"))
	must(t, s, "UntagResource", untagTab)
	if m := must(t, s, "GetItem", keyTab(fmt.Sprintf("%d#121212", at("new")), "new")); m["Item"] == nil {
		t.Error("an item that was put through the door is not where the application would look")
	}
	for text, want := range map[string]string{
		"adopt=prefix shards=5 suffixed=allow": "option suffixed is not known", "adopt=prefix shards=5 prefixed=yes": "prefixed=yes", "adopt=infix shards=5": "adopt=infix",
		"adopt=prefix strategy=random shards=5": "write-once",
	} {
		fails(t, s, exception.Validation, want, "TagResource", tagWith(text))
	}
}

// TestAdoptionThatDoesNotFit checks that a table with an item that is not at its place in the tag's
// layout stays unchanged, and that the error names the item.
func TestAdoptionThatDoesNotFit(t *testing.T) {
	for how, want := range map[string]string{
		"adopt=suffix shards=4":                               `it is not adopted, since the item h`,
		"adopt=suffix shards=5 hash=code_points":              `hash=murmur3 gives the former`,
		"adopt=suffix shards=5 separator=.":                   `\".\" and a number from 1 to 5`,
		"adopt=suffix shards=5 first=0":                       `it is not adopted, since the item h`,
		"adopt=suffix strategy=random shards=2 write-once":    `a number from 1 to 2`,
		"adopt=suffix strategy=calculated shards=5 by=colour": `the option by`,
	} {
		s := start(t, 4)
		byHand(t, s, 40, calculated(5))
		_, err := do(s, "TagResource", tagWith(how))
		if e := exception.Of(err); err == nil || e.Kind != exception.Validation || !strings.Contains(jsonOf(t, e.Message), want) {
			t.Errorf("%s: %v, not %q", how, err, want)
		}
		if tags := jsonOf(t, must(t, s, "ListTagsOfResource", `{"ResourceArn":"`+tabARN+`"}`)); strings.Contains(tags, "write-sharding") {
			t.Errorf("%s: the tag stays: %s", how, tags)
		}
		if m := must(t, s, "Query", queryTab("121212-3", "")); len(sorts(m)) == 0 {
			t.Errorf("%s: the table is no plain one", how)
		}
	}
}

// TestAdoptionOfDrawnShards checks that the door looks for items in all shards if the application
// drew them. Reads of many items show duplicates, page by page; requests on one item refuse them.
func TestAdoptionOfDrawnShards(t *testing.T) {
	s := start(t, 4)
	byHand(t, s, 30, func(sort string) int { return int(sort[len(sort)-1])%3 + 1 })
	for _, k := range []int{1, 2, 3} {
		must(t, s, "PutItem", putTab(fmt.Sprintf("121212-%d", k), "Client0003")) // the item exists three times
	}
	must(t, s, "TagResource", tagWith("adopt=suffix strategy=random shards=3 write-once"))
	var want []string
	for i := range 30 {
		want = append(want, fmt.Sprintf("Client%04d", i))
	}
	want = slices.Insert(want, 3, "Client0003", "Client0003")
	for _, forward := range []bool{true, false} {
		for _, limit := range []int{1, 2, 7, 100} {
			var got []string
			start := ""
			for {
				m := must(t, s, "Query", queryTab("121212", fmt.Sprintf(`,"Limit":%d,"ScanIndexForward":%v%s`, limit, forward, start)))
				if shown := jsonOf(t, m["Items"]); strings.Contains(shown, "121212-") {
					t.Fatalf("a page shows a shard: %s", shown)
				}
				got = append(got, sorts(m)...)
				if m["LastEvaluatedKey"] == nil {
					break
				}
				start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
			}
			if !forward {
				slices.Reverse(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d, forward %v: %v", limit, forward, got)
			}
		}
	}
	var scanned []string
	for start := ""; ; {
		m := must(t, s, "Scan", `{"TableName":"Tab","Limit":4`+start+`}`)
		scanned = append(scanned, sorts(m)...)
		if m["LastEvaluatedKey"] == nil {
			break
		}
		start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
	}
	if slices.Sort(scanned); !slices.Equal(scanned, want) {
		t.Errorf("a scan has %v", scanned)
	}
	fails(t, s, exception.Validation, "twice", "GetItem", keyTab("121212", "Client0003"))
	fails(t, s, exception.Validation, "TransactWriteItems", "TransactWriteItems", `{"TransactItems":[{"Delete":`+keyTab("121212", "Client0004")+`}]}`)

	if m := must(t, s, "BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"121212"},"r":{"S":"Client0004"}},{"h":{"S":"121212"},"r":{"S":"none"}}]}},"ReturnConsumedCapacity":"TOTAL"}`); len(m["Responses"].(map[string]any)["Tab"].([]any)) != 1 {
		t.Errorf("a batch has %v", m)
	} else if c := jsonOf(t, m["ConsumedCapacity"]); !strings.Contains(c, `"CapacityUnits":7`) {
		t.Errorf("six strongly consistent reads to find two items, and two of them: %s", c)
	}
	for _, table := range []string{"Tab", tabARN} { // the units of the search, whether the table is named by its name or its ARN
		m := must(t, s, "GetItem", fmt.Sprintf(`{"TableName":"%s","Key":{"h":{"S":"121212"},"r":{"S":"Client0004"}},"ReturnConsumedCapacity":"TOTAL"}`, table))
		if c := jsonOf(t, m["ConsumedCapacity"]); c != `{"CapacityUnits":3.5,"TableName":"`+table+`"}` {
			t.Errorf("one of three shards has the item: %s", c)
		}
	}
	must(t, s, "BatchWriteItem", `{"RequestItems":{"Tab":[{"DeleteRequest":{"Key":{"h":{"S":"121212"},"r":{"S":"Client0004"}}}},{"PutRequest":{"Item":{"h":{"S":"121212"},"r":{"S":"new"}}}}]}}`)
	if m := must(t, s, "TransactGetItems", `{"TransactItems":[{"Get":`+keyTab("121212", "Client0004")+`},{"Get":`+keyTab("121212", "new")+`},{"Get":`+keyTab("121212", "Client0005")+`}]}`); !strings.HasPrefix(jsonOf(t, m["Responses"]), `[{},{"Item":{"h":{"S":"121212"},"r":{"S":"new"}}},{"Item":`) {
		t.Errorf("a transaction has %v", m)
	}
	m := must(t, s, "UpdateItem", strings.Replace(keyTab("121212", "Client0005"), `{"T`, `{"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"z"}},"ReturnValues":"ALL_OLD","T`, 1))
	if jsonOf(t, m["Attributes"]) != `{"h":{"S":"121212"},"r":{"S":"Client0005"},"x":{"S":"y"}}` {
		t.Errorf("an update changed %v", m)
	}
	fails(t, s, exception.ConditionalCheckFailed, "", "PutItem", strings.Replace(putTab("121212", "Client0005"), `{"T`, `{"ConditionExpression":"attribute_not_exists(h)","T`, 1))
	must(t, s, "DeleteItem", keyTab("121212", "Client0005"))
	if m := must(t, s, "GetItem", keyTab("121212", "Client0005")); m["Item"] != nil {
		t.Errorf("a deleted item is %v", m)
	}
}

// moving deletes an item at the store and creates it elsewhere once it was found.
type moving struct {
	*recorder
	found atomic.Int64
	then  func(n int64)
}

func (m *moving) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	err := m.recorder.Answer(ctx, q, use)
	if _, ok := q.(*api.BatchGetItem); ok && m.then != nil {
		m.then(m.found.Add(1))
	}
	return err
}

// TestAnItemThatMoves checks that an item that is deleted after it was found is not created a
// second time at its old place.
func TestAnItemThatMoves(t *testing.T) {
	s := start(t, 1)
	home := calculated(3)("a")
	other := home%3 + 1
	byHand(t, s, 0, nil)
	must(t, s, "PutItem", putTab(fmt.Sprintf("k-%d", other), "a"))
	store := &moving{recorder: s.store}
	r := again(t, store, 1)
	must(t, r, "TagResource", tagWith("adopt=suffix strategy=random shards=3 write-once"))
	update := strings.Replace(keyTab("k", "a"), `{"T`, `{"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}},"T`, 1)
	store.then = func(n int64) {
		if n == 1 {
			must(t, s.store, "DeleteItem", keyTab(fmt.Sprintf("k-%d", other), "a"))
		}
	}
	must(t, r, "UpdateItem", update)
	if m := must(t, s.store, "Scan", `{"TableName":"Tab"}`); len(sorts(m)) != 1 || !strings.Contains(jsonOf(t, m), fmt.Sprintf(`"k-%d"`, home)) {
		t.Errorf("the store has %v", m)
	}
	// An item that never stays is an error after which clients retry.
	must(t, s.store, "DeleteItem", keyTab(fmt.Sprintf("k-%d", home), "a"))
	must(t, s.store, "PutItem", putTab(fmt.Sprintf("k-%d", other), "a"))
	store.then = func(n int64) {
		from, to := other, 6-home-other
		if n%2 == 1 {
			from, to = to, from
		}
		must(t, s.store, "DeleteItem", keyTab(fmt.Sprintf("k-%d", to), "a"))
		must(t, s.store, "PutItem", putTab(fmt.Sprintf("k-%d", from), "a"))
	}
	store.found.Store(0)
	fails(t, r, exception.ServiceUnavailable, "try again", "UpdateItem", update)
}

// stingy leaves the last key of each search unprocessed.
type stingy struct{ *recorder }

func (s *stingy) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	get, ok := q.(*api.BatchGetItem)
	if !ok || len(get.Tables[0].Keys) < 2 {
		return s.recorder.Answer(ctx, q, use)
	}
	some, left := *get, get.Tables[0]
	n := len(left.Keys) - 1
	some.Tables = slices.Clone(get.Tables)
	some.Tables[0].Keys = left.Keys[:n]
	left.Keys = left.Keys[n:]
	return s.recorder.Answer(ctx, &some, func(a api.Response) error {
		r := *a.(*api.BatchGetResponse)
		r.Unprocessed = []api.BatchGetTable{left}
		return use(&r)
	})
}

// TestSearchGoesOn checks that the door asks again for keys that a search could not read, so that
// no item is taken for absent.
func TestSearchGoesOn(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 0, nil)
	must(t, s, "PutItem", putTab("k-4", "a"))
	r := again(t, &stingy{s.store}, 1)
	must(t, r, "TagResource", tagWith("adopt=suffix strategy=random shards=4 write-once"))
	if m := must(t, r, "GetItem", keyTab("k", "a")); m["Item"] == nil {
		t.Error("the item is not found")
	}
}

// TestAdoptionElsewhere checks that statements, streams and other doors see the logical table.
func TestAdoptionElsewhere(t *testing.T) {
	for _, how := range []string{"shards=3", "strategy=random shards=3 write-once"} {
		store := start(t, 1).store
		a, b := doorOn(t, store, short), doorOn(t, store, short)
		must(t, a, "CreateTable", plainTable+streamed+"}")
		must(t, b, "PutItem", putTab(fmt.Sprintf("k-%d", calculated(3)("a")), "a"))
		must(t, a, "TagResource", tagWith("adopt=suffix "+how))
		if m := must(t, b, "GetItem", keyTab("k", "a")); m["Item"] == nil {
			t.Error("another door does not know of it when the tag is set")
		}
		must(t, b, "ExecuteStatement", `{"Statement":"INSERT INTO Tab VALUE {'h':'k','r':'b'}"}`)
		fails(t, b, exception.DuplicateItem, "", "ExecuteStatement", `{"Statement":"INSERT INTO Tab VALUE {'h':'k','r':'b'}"}`)
		must(t, b, "ExecuteStatement", `{"Statement":"UPDATE Tab SET x = 'z' WHERE h = 'k' AND r = 'a'"}`)
		if m := must(t, b, "ExecuteStatement", `{"Statement":"SELECT * FROM Tab WHERE h = 'k'"}`); jsonOf(t, m["Items"]) != `[{"h":{"S":"k"},"r":{"S":"a"},"x":{"S":"z"}},{"h":{"S":"k"},"r":{"S":"b"}}]` {
			t.Errorf("%s: a statement has %v", how, m)
		}
		_, _, records := readStream(t, b, "Tab")
		if strings.Contains(records, "k-") || strings.Count(records, `"Keys":{"h":{"S":"k"}`) != 3 {
			t.Errorf("%s: the stream has %s", how, records)
		}
		must(t, b, "UntagResource", untagTab)
		if m := must(t, a, "GetItem", keyTab("k", "a")); m["Item"] != nil {
			t.Error("another door does not know that the tag is removed")
		}
	}
}

// TestIndexesOfAdoptedTables checks that indexes of adopted tables are read in pages, in order and
// completely, although many entries have the same key.
func TestIndexesOfAdoptedTables(t *testing.T) {
	const items = 60
	indexed := strings.Replace(plainTable, `"AttributeDefinitions":[`, `"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"x","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],"AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"},`, 1)
	for how, at := range map[string]func(i int, sort string) int{
		"shards=5": func(_ int, sort string) int { return calculated(5)(sort) },
		"strategy=random shards=5 write-once separator=-": func(i int, _ string) int { return i*i%5 + 1 },
	} {
		s := start(t, 4)
		must(t, s, "CreateTable", indexed+"}")
		for i := range items {
			sort := fmt.Sprintf("%02d", i)
			must(t, s, "PutItem", strings.Replace(putTab(fmt.Sprintf("k-%d", at(i, sort)), sort), `"y"`, fmt.Sprintf(`"y%d"`, i%3), 1))
		}
		must(t, s, "TagResource", tagWith("adopt=suffix "+how))
		for name, query := range map[string]string{
			"local":  `"KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"k"}}`,
			"global": `"KeyConditionExpression":"x = :x","ExpressionAttributeValues":{":x":{"S":"y1"}}`,
			"scan":   "",
		} {
			for _, limit := range []int{1, 7, 100} {
				for _, forward := range []bool{true, false} {
					var got, values []string
					for start, pages := "", 0; pages <= items; pages++ {
						var m map[string]any
						if name == "scan" {
							m = must(t, s, "Scan", fmt.Sprintf(`{"TableName":"Tab","IndexName":"global","Limit":%d%s}`, limit, start))
						} else {
							m = must(t, s, "Query", fmt.Sprintf(`{"TableName":"Tab","IndexName":"%s",%s,"Limit":%d,"ScanIndexForward":%v%s}`, name, query, limit, forward, start))
						}
						got = append(got, sorts(m)...)
						for _, item := range m["Items"].([]any) {
							item := item.(map[string]any)
							values = append(values, jsonOf(t, item["x"]))
							if jsonOf(t, item["h"]) != `{"S":"k"}` {
								t.Fatal(item)
							}
						}
						if m["LastEvaluatedKey"] == nil {
							break
						}
						start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
					}
					if !forward {
						slices.Reverse(values)
					}
					want := items
					if name == "global" {
						want /= 3
					}
					slices.Sort(got)
					if len(slices.Compact(got)) != want || len(got) != want || name == "local" && !slices.IsSorted(values) {
						t.Errorf("%s, %s, pages of %d, forward %v: %d items, of %d: %v", how, name, limit, forward, len(got), want, values)
					}
				}
			}
		}
	}
}
