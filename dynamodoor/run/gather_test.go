// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestGatherIsAFanOut sends random Queries, page by page, to a router that has the store read all shards
// in one request, and to a router that asks the store for each shard. Both must answer the same.
func TestGatherIsAFanOut(t *testing.T) {
	for _, kind := range []string{"S", "N", "B"} {
		t.Run(kind, func(t *testing.T) {
			s := start(t, 1)
			must(t, s, "CreateTable", strings.Replace(withHiddenIndex, `"r","AttributeType":"S"`, `"r","AttributeType":"`+kind+`"`, 1))
			apart := again(t, s.store, 3)
			sort := func(n int) string {
				switch kind {
				case "N":
					return fmt.Sprintf(`{"N":"%d.5"}`, n-60)
				case "B":
					return fmt.Sprintf(`{"B":"%s"}`, []string{"AA==", "AAA=", "AP8=", "/w==", "//8=", "/wA="}[n%6])
				}
				return fmt.Sprintf(`{"S":%q}`, fmt.Sprintf("é\"%03d\\", n))
			}
			for n := range 120 {
				more := []string{
					`"a":{"M":{"evenkeel.pk":{"S":"nested"}}}`, `"x":{"S":"evenkeel.pk"}`, `"a":{"S":"` + strings.Repeat("y", 60_000) + `"}`,
					`"z":{"M":{"evenkeel.pk":{"S":"nested"},"evenkeel.s.byg":{"N":"1"}}}`, `"g":{"S":"` + fmt.Sprint(n%3) + `"}`,
				}[n%5]
				for _, key := range []string{`key`, `key-\\`} {
					must(t, s, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"%s"},"r":%s,%s}}`, key, sort(n), more))
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				key := rapid.SampledFrom([]string{`key`, `key-\\`}).Draw(t, "key")
				body := `{"TableName":"Tab","ExpressionAttributeValues":{":h":{"S":"` + key + `"}`
				condition := "h = :h"
				if op := rapid.SampledFrom([]string{"", "<", "<=", ">", ">=", "=", "BETWEEN"}).Draw(t, "operator"); op != "" {
					low := rapid.IntRange(0, 119).Draw(t, "low")
					body += `,":l":` + sort(low)
					condition += " AND r " + op + " :l"
					if op == "BETWEEN" {
						condition += " AND :l"
					}
				}
				body += rapid.SampledFrom([]string{`}`, `},"Select":"COUNT"`, `},"ProjectionExpression":"r, g"`, `,":g":{"S":"1"}},"FilterExpression":"g = :g"`}).Draw(t, "more")
				body += rapid.SampledFrom([]string{``, `,"ScanIndexForward":false`}).Draw(t, "direction")
				if limit := rapid.SampledFrom([]int{0, 1, 2, 7, 30, 200}).Draw(t, "limit"); limit > 0 {
					body += fmt.Sprintf(`,"Limit":%d`, limit)
				}
				body += `,"KeyConditionExpression":"` + condition + `"`
				for start := ""; ; {
					want, err := do(apart, "Query", body+start+"}")
					if err != nil {
						t.Fatal(err)
					}
					got, err := do(s, "Query", body+start+"}")
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%s\n(- each shard by itself, + together)\n%s", body+start+"}", diff)
					}
					last, ok := got["LastEvaluatedKey"]
					if !ok {
						return
					}
					text, err := json.Marshal(last)
					if err != nil {
						t.Fatal(err)
					}
					start = `,"ExclusiveStartKey":` + string(text)
				}
			})
		})
	}
}

// TestPagesEndAtAMegabyteOfVisibleBytes checks that a page ends at a megabyte of the attributes that the
// client sees. The store counts the hidden attributes too, so its pages are one item shorter, and the
// door must ask it again.
func TestPagesEndAtAMegabyteOfVisibleBytes(t *testing.T) {
	const visible = 65_530 // bytes of an item; 16 such items are just below a megabyte, so the 17th ends the page
	s := start(t, 1)
	must(t, s, "CreateTable", create(5))
	fill(t, s, 40, strings.Repeat("x", visible-len("h121212rClient0000x")))
	read := 0
	for start := ""; ; {
		body := `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"121212"}}` + start + `}`
		m := must(t, s, "Query", body)
		for _, r := range sorts(m) {
			if r != fmt.Sprintf("Client%04d", read) {
				t.Fatalf("item %d is %s", read, r)
			}
			read++
		}
		if diff := cmp.Diff(must(t, again(t, s.store, 2), "Query", body), m); diff != "" {
			t.Fatalf("(- each shard by itself, + together)\n%s", diff)
		}
		last, ok := m["LastEvaluatedKey"]
		if !ok {
			break
		}
		if n := len(sorts(m)); n != 17 {
			t.Errorf("a page of %d items", n)
		}
		text, err := json.Marshal(last)
		if err != nil {
			t.Fatal(err)
		}
		start = `,"ExclusiveStartKey":` + string(text)
	}
	if read != 40 {
		t.Errorf("%d items of 40", read)
	}
}

// withHiddenIndex creates a sharded table with a sharded index. Its items have two hidden attributes: the
// second one is for the index.
const withHiddenIndex = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],
	"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
	"GlobalSecondaryIndexes":[{"IndexName":"byg","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],
	"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=7"},{"Key":"write-sharding.index.byg","Value":"shards=3"}]}`
