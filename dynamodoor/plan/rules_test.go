// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

const shardedTable = `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],` +
	`"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"BillingMode":"PAY_PER_REQUEST","Tags":[{"Key":"write-sharding","Value":"shards=7"}]}`

// planned returns the plan of a request on a sharded table, or the error.
func planned(t *testing.T, operation, body string) (plan.Plan, error) {
	t.Helper()
	table, _, err := declare(t, shardedTable)
	if err != nil {
		t.Fatal(err)
	}
	q, _ := api.New(operation)
	if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
		t.Fatal(err)
	}
	return plan.Make(q, func(string) *plan.Table { return table })
}

// TestHiddenAttributesCountForLimits checks that hidden attributes count for the limits of an item
// and its key. The error says so, because the client has sent less than 400 KB.
func TestHiddenAttributesCountForLimits(t *testing.T) {
	item := func(pk string, n int) string {
		return fmt.Sprintf(`{"TableName":"Tab","Item":{"pk":{"S":"%s"},"sk":{"S":"s"},"x":{"S":"%s"}}}`, pk, strings.Repeat("x", n))
	}
	const pk = "121212" // hidden: evenkeel.pk and 121212-1
	own := len("pk") + len(pk) + len("sk") + 1 + len("x")
	most := attribute.MaxItemSize - own - len(plan.PartitionKey) - len(pk) - 2
	if _, err := planned(t, "PutItem", item(pk, most)); err != nil {
		t.Error(err)
	}
	for body, part := range map[string]string{
		item(pk, most+1): "it includes the hidden attributes evenkeel.",
		item(strings.Repeat("k", attribute.MaxHashSize-1), 1): "it includes the shard",
	} {
		if _, err := planned(t, "PutItem", body); err == nil || exception.Of(err).Kind != exception.Validation || !strings.Contains(err.Error(), part) {
			t.Errorf("%.60s…: %v", body, err)
		}
	}
	if _, err := planned(t, "GetItem", `{"TableName":"Tab","Key":{"pk":{"S":"`+strings.Repeat("k", attribute.MaxHashSize-2)+`"},"sk":{"S":"s"}}}`); err != nil {
		t.Error(err)
	}
}

// TestItemCollectionsAreLogical checks that ItemCollectionMetrics contain the logical key.
func TestItemCollectionsAreLogical(t *testing.T) {
	p, err := planned(t, "DeleteItem", `{"TableName":"Tab","Key":{"pk":{"S":"a-1"},"sk":{"S":"s"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	key := attribute.NewItem(attribute.Attribute{Name: plan.PartitionKey, Value: attribute.String("a-1-3")})
	r, err := p.(*plan.Direct).Answer(&api.ItemResponse{Metrics: &api.ItemCollectionMetrics{Key: key}})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.AppendJSON(nil)); !strings.Contains(got, `{"ItemCollectionKey":{"pk":{"S":"a-1"}},`) {
		t.Error(got)
	}
}

// TestStreamsShowLogicalChanges checks that a stream shows logical changes with their sizes, and no
// changes of hidden attributes only.
func TestStreamsShowLogicalChanges(t *testing.T) {
	table, _, err := declare(t, shardedTable)
	if err != nil {
		t.Fatal(err)
	}
	stored := func(shard, x string) attribute.Encoded {
		return attribute.Encoded(fmt.Sprintf(`{"evenkeel.pk":{"S":"a-%s"},"evenkeel.s.i":{"N":"%s"},"pk":{"S":"a"},"sk":{"S":"b"},"x":{"S":"%s"}}`, shard, shard, x))
	}
	record := func(event api.Event, before, after attribute.Encoded) api.StreamRecord {
		return api.StreamRecord{Event: event, Keys: attribute.Encoded(`{"evenkeel.pk":{"S":"a-3"},"sk":{"S":"b"}}`), Old: before, New: after, Size: 1000}
	}
	shown, ok, err := table.StreamRecords([]api.StreamRecord{
		record(api.EventInsert, nil, stored("3", "y")),
		record(api.EventModify, stored("3", "y"), stored("4", "y")), // a shard of another layout
		record(api.EventModify, stored("4", "y"), stored("4", "zz")),
	})
	if err != nil || !ok || len(shown) != 2 {
		t.Fatalf("%d records, %v, %v", len(shown), ok, err)
	}
	const keys, y = `{"pk":{"S":"a"},"sk":{"S":"b"}}`, `{"pk":{"S":"a"},"sk":{"S":"b"},"x":{"S":"y"}}`
	for i, r := range shown {
		if string(r.Keys) != keys || strings.Contains(string(r.New)+string(r.Old), plan.HiddenPrefix) {
			t.Errorf("%s: %s to %s", r.Keys, r.Old, r.New)
		}
		// Keys have 6 bytes, and x has 8 or 9.
		if want := []int{6 + 8, 6 + 8 + 9}[i]; r.Size != want {
			t.Errorf("%s has %d bytes, not %d", r.New, r.Size, want)
		}
	}
	if string(shown[0].New) != y || string(shown[1].Old) != y {
		t.Errorf("%s, %s", shown[0].New, shown[1].Old)
	}
}

// TestSortKeysAtTheEnds covers extreme keys. The neighbour of a key with 1,024 bytes, or with zero
// bytes, cannot be written, so the reader must skip the key itself.
func TestSortKeysAtTheEnds(t *testing.T) {
	s := newStore(t)
	long := strings.Repeat("m", attribute.MaxRangeSize-1)
	keys := []string{"\x00", "\x00\x00", "\x01", "m", "m\x00", long + "m", long + "n", long, "\U0010ffff", strings.Repeat("\U0010ffff", attribute.MaxRangeSize/4), "n"}
	text := func(key string) string { return string(attribute.AppendJSON(nil, attribute.String(key))) }
	s.create(t, "plain", attribute.S, 0)
	s.create(t, "sharded", attribute.S, 4)
	for _, table := range []string{"plain", "sharded"} {
		for _, k := range keys {
			if _, err := s.do("PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{"pk":{"S":"a"},"sk":%s}}`, table, text(k))); err != nil {
				t.Fatal(err)
			}
		}
	}
	pages := func(table, query string) (all []string) {
		for start := ""; ; {
			got, err := s.do("Query", fmt.Sprintf(`{"TableName":"%s",%s%s}`, table, query, start))
			if err != nil {
				t.Fatalf("%.200s: %v", query, err)
			}
			page, last, more := strings.Cut(got, `"LastEvaluatedKey":`)
			if all = append(all, page); !more {
				return all
			}
			start = `,"ExclusiveStartKey":` + strings.TrimSuffix(last, "}")
		}
	}
	for _, k := range keys {
		for _, condition := range []string{"sk < :k", "sk <= :k", "sk > :k", "sk >= :k", "begins_with(sk, :k)", "sk BETWEEN :k AND :k"} {
			for _, limit := range []int{1, 3} {
				for _, forward := range []bool{true, false} {
					query := fmt.Sprintf(`"KeyConditionExpression":"pk = :p AND %s","ExpressionAttributeValues":{":p":{"S":"a"},":k":%s},"Limit":%d,"ScanIndexForward":%v`, condition, text(k), limit, forward)
					if got, want := pages("sharded", query), pages("plain", query); !slices.Equal(got, want) {
						t.Errorf("%s with %.10q of %d bytes, forward %v, limit %d:\n got %.300q\nwant %.300q", condition, k, len(k), forward, limit, got, want)
					}
				}
			}
		}
	}
}

// TestTiesAtTheEnds covers the same in an index, in which many entries have each key.
func TestTiesAtTheEnds(t *testing.T) {
	s := newStore(t)
	s.createIndexed(t, "plain", attribute.S, "")
	s.createIndexed(t, "sharded", attribute.S, `{"Key":"write-sharding.index.by_g","Value":"shards=4"}`)
	long := strings.Repeat("m", attribute.MaxRangeSize-1)
	keys := []string{"\x00", "\x00\x00", "m", long, long + "m", long + "n", strings.Repeat("\U0010ffff", attribute.MaxRangeSize/4)}
	text := func(key string) string { return string(attribute.AppendJSON(nil, attribute.String(key))) }
	for i := range 6 * len(keys) {
		for _, table := range []string{"plain", "sharded"} {
			if _, err := s.do("PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{"pk":{"S":"%d"},"sk":{"S":"x"},"g":{"S":"g"},"o":%s}}`, table, i, text(keys[i%len(keys)]))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, k := range keys {
		for _, condition := range []string{"o < :k", "o <= :k", "o > :k", "o >= :k", "o = :k", "begins_with(o, :k)"} {
			for _, limit := range []int{1, 4} {
				for _, forward := range []bool{true, false} {
					query := fmt.Sprintf(`"IndexName":"by_g","KeyConditionExpression":"g = :g AND %s","ExpressionAttributeValues":{":g":{"S":"g"},":k":%s},"Limit":%d,"ScanIndexForward":%v`, condition, text(k), limit, forward)
					want, err := s.pages("plain", query)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := s.pages("sharded", query); err != nil || !slices.Equal(got, want) {
						t.Errorf("%s with %.10q of %d bytes, forward %v, limit %d: %v, %d pages, not %d", condition, k, len(k), forward, limit, err, len(got), len(want))
					}
				}
			}
		}
	}
}

// TestPagesAreNoEmptier checks that pages of small items end at the same items as those of a plain
// table.
func TestPagesAreNoEmptier(t *testing.T) {
	s := newStore(t)
	s.create(t, "plain", attribute.S, 0)
	s.create(t, "sharded", attribute.S, 3)
	x := strings.Repeat("x", 400)
	const all = 3000
	for i := range all / 25 {
		for _, table := range []string{"plain", "sharded"} {
			var puts []string
			for j := range 25 {
				puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"a"},"sk":{"S":"%05d"},"x":{"S":"%s"}}}}`, i*25+j, x))
			}
			if _, err := s.do("BatchWriteItem", `{"RequestItems":{"`+table+`":[`+strings.Join(puts, ",")+`]}}`); err != nil {
				t.Fatal(err)
			}
		}
	}
	count := func(table string) int {
		got, err := s.do("Query", `{"TableName":"`+table+`","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"Select":"COUNT"}`)
		var n int
		if _, scanErr := fmt.Sscanf(got, `{"Count":%d,`, &n); err != nil || scanErr != nil {
			t.Fatalf("%.100s %v", got, err)
		}
		return n
	}
	if plain, sharded := count("plain"), count("sharded"); plain == all || sharded < plain-1 || sharded > plain+1 {
		t.Errorf("pages of %d items, unsharded %d", sharded, plain)
	}
}
