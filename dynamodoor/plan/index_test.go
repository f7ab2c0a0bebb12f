// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// createIndexed creates a table with a local and two global indexes, which the tags shard. Index
// by_g has a sort key.
func (s *store) createIndexed(t *testing.T, name string, sort attribute.Kind, tags string) {
	t.Helper()
	var q api.CreateTable
	body := fmt.Sprintf(`{"TableName":"%s","BillingMode":"PAY_PER_REQUEST","Tags":[%s],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},`+
		`{"AttributeName":"g","AttributeType":"S"},{"AttributeName":"o","AttributeType":"%s"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],`+
		`"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"o","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],`+
		`"GlobalSecondaryIndexes":[{"IndexName":"by_g","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"o","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},`+
		`{"IndexName":"hash_only","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}},`+
		`{"IndexName":"same","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"o","KeyType":"RANGE"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["n"]}}]}`, name, tags, sort)
	if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
		t.Fatal(err)
	}
	declared, err := plan.Sharded(&q.Declaration)
	if err != nil {
		t.Fatal(err)
	}
	d := q.Declaration
	if declared != nil {
		d = *declared.Physical
	}
	err = s.Answer(context.Background(), &api.CreateTable{Declaration: d}, func(r api.Response) error {
		if declared == nil {
			return nil
		}
		table, err := plan.Open(plan.Spec{Name: name, Physical: r.(*api.TableResponse).Table, Hash: declared.Hash, Layout: declared.Layout, Indexes: declared.Indexes})
		s.tables[name] = table
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestIndexQueriesAnswerAsUnsharded checks that queries of sharded indexes return the rows of
// unsharded ones, each once, in the order of their sort keys and in pages of the same length. Rows
// with the same sort key may be in another order.
func TestIndexQueriesAnswerAsUnsharded(t *testing.T) {
	for _, sort := range []attribute.Kind{attribute.S, attribute.N, attribute.B} {
		t.Run(sort.String(), func(t *testing.T) {
			s := newStore(t)
			names := []string{"plain", "indexes", "both", "table"}
			s.createIndexed(t, "plain", sort, "")
			s.createIndexed(t, "indexes", sort, `{"Key":"write-sharding.index.by_g","Value":"shards=5"},{"Key":"write-sharding.index.hash_only","Value":"shards=3"}`)
			s.createIndexed(t, "both", sort, `{"Key":"write-sharding","Value":"shards=4"},{"Key":"write-sharding.index.by_g","Value":"shards=5"},{"Key":"write-sharding.index.hash_only","Value":"shards=3"}`)
			s.createIndexed(t, "table", sort, `{"Key":"write-sharding","Value":"shards=4"}`)
			for i := range 200 {
				for _, name := range names {
					op, body := "PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{"pk":{"S":"a"},"sk":{"S":"%d"},"g":{"S":"%d"},"o":%s,"n":{"N":"%d"}}}`, name, i, i%2, sortKey(sort, i/9*9), i)
					if i%3 == 0 {
						op, body = "UpdateItem", fmt.Sprintf(`{"TableName":"%s","Key":{"pk":{"S":"a"},"sk":{"S":"%d"}},"UpdateExpression":"SET g = :g, o = :o, n = :n","ExpressionAttributeValues":{":g":{"S":"%d"},":o":%s,":n":{"N":"%d"}}}`, name, i, i%2, sortKey(sort, i/9*9), i)
					}
					if _, err := s.do(op, body); err != nil {
						t.Fatal(err)
					}
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				index := rapid.SampledFrom([]string{"by_g", "hash_only", "same", "local"}).Draw(t, "index")
				condition, values := "g = :p", `":p":{"S":"1"}`
				if index == "same" || index == "local" {
					condition, values = "pk = :p", `":p":{"S":"a"}`
				}
				key := func() string { return sortKey(sort, rapid.IntRange(0, 22).Draw(t, "key")*9) }
				op := rapid.SampledFrom([]string{"", "=", "<", "<=", ">", ">=", "BETWEEN"}).Draw(t, "op")
				switch {
				case op == "" || index == "hash_only":
				case op == "BETWEEN":
					condition, values = condition+" AND o BETWEEN :a AND :b", values+`,":a":`+key()+`,":b":`+key()
				default:
					condition, values = condition+" AND o "+op+" :a", values+`,":a":`+key()
				}
				limit := rapid.SampledFrom([]int{3, 7, 20, 1000}).Draw(t, "limit")
				body := fmt.Sprintf(`"IndexName":"%s","KeyConditionExpression":"%s","ExpressionAttributeValues":{%s},"ScanIndexForward":%v,"Limit":%d`,
					index, condition, values, rapid.Bool().Draw(t, "forward"), limit)
				var want []string
				for i, name := range names {
					got, err := s.pages(name, body)
					if err != nil {
						got = []string{message(err)}
					}
					if i == 0 {
						want = got
						continue
					}
					if strings.Join(got, "\n") != strings.Join(want, "\n") {
						t.Fatalf("%s {%s}:\n got %s\nwant %s", name, body, got, want)
					}
				}
			})
		})
	}
}

// pages reads all pages of a Query. It returns the sort keys in order and the lengths of the pages,
// then the items in the order of their keys.
func (s *store) pages(name, body string) ([]string, error) {
	var out, items []string
	start := ""
	for page := 0; page < 200; page++ {
		text, err := s.do("Query", fmt.Sprintf(`{"TableName":"%s",%s%s}`, name, body, start))
		if err != nil {
			return nil, err
		}
		list, rest, _ := strings.Cut(strings.TrimPrefix(text, `{"Items":[`), `],"Count"`)
		order := fmt.Sprintf("page of %s:", rest[:strings.IndexByte(rest, ',')])
		var d attribute.Decoder
		v, err := d.Value([]byte(`{"L":[` + strings.ReplaceAll("{\"M\":"+strings.ReplaceAll(list, "}},{", "}}},{\"M\":{")+"}", `{"M":}`, "") + `]}`))
		if err != nil {
			return nil, err
		}
		for _, e := range v.Elems() {
			o, _ := e.Fields().Get("o")
			if !strings.Contains(body, "hash_only") {
				order += " " + o.Text()
			}
			items = append(items, e.Fields().String())
		}
		out = append(out, order)
		_, last, more := strings.Cut(text, `"LastEvaluatedKey":`)
		if !more {
			break
		}
		start = `,"ExclusiveStartKey":` + strings.TrimSuffix(last, "}")
	}
	return append(out, fmt.Sprintf("%q", sorted(items))), nil
}

func sorted(all []string) []string {
	out := append([]string(nil), all...)
	for i := range out {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// TestPagesThroughTies checks that pages return index entries with the same sort key once each, in
// both directions.
func TestPagesThroughTies(t *testing.T) {
	s := newStore(t)
	s.createIndexed(t, "ties", attribute.S, `{"Key":"write-sharding.index.by_g","Value":"shards=5"}`)
	const entries = 1000
	for i := range entries {
		body := fmt.Sprintf(`{"TableName":"ties","Item":{"pk":{"S":"%d"},"sk":{"S":"x"},"g":{"S":"g"},"o":{"S":"same"},"n":{"N":"%d"}}}`, i, i)
		if _, err := s.do("PutItem", body); err != nil {
			t.Fatal(err)
		}
	}
	for _, forward := range []bool{true, false} {
		for _, condition := range []string{"g = :g", "g = :g AND begins_with(o, :o)", "g = :g AND o BETWEEN :o AND :z", "g = :g AND o = :same"} {
			values := `":g":{"S":"g"}`
			for name, v := range map[string]string{":o": "s", ":z": "z", ":same": "same"} {
				if strings.Contains(condition, name+" ") || strings.HasSuffix(strings.TrimSuffix(condition, ")"), name) {
					values += fmt.Sprintf(`,"%s":{"S":"%s"}`, name, v)
				}
			}
			seen := map[string]bool{}
			start, pages := "", 0
			s.reads = 0
			for ; pages <= entries; pages++ {
				text, err := s.do("Query", fmt.Sprintf(`{"TableName":"ties","IndexName":"by_g","KeyConditionExpression":"%s","ExpressionAttributeValues":{%s},"ScanIndexForward":%v,"Limit":7%s}`,
					condition, values, forward, start))
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(text, plan.HiddenPrefix) {
					t.Fatalf("a hidden attribute is shown: %s", text)
				}
				list, last, more := strings.Cut(text, `"LastEvaluatedKey":`)
				for _, part := range strings.Split(list, `"pk":{"S":"`)[1:] {
					pk := part[:strings.IndexByte(part, '"')]
					if seen[pk] {
						t.Fatalf("%s comes twice", pk)
					}
					seen[pk] = true
				}
				if !more {
					break
				}
				start = `,"ExclusiveStartKey":` + strings.TrimSuffix(last, "}")
			}
			if len(seen) != entries || pages != entries/7 {
				t.Errorf("%s, forward %v: %d entries in %d pages", condition, forward, len(seen), pages+1)
			}
			if most := entries + 2*5*(pages+1); s.reads > most {
				t.Errorf("%s, forward %v: %d entries were read for %d, more than %d", condition, forward, s.reads, entries, most)
			}
		}
	}
}
