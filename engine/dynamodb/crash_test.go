// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/internal/testkit/crash"
)

// TestCrash has writers write and takes what a crash at a random moment would leave, with a random
// part of what was not synced. It opens that. Every acknowledged transaction must be there, and
// every other one whole or not at all, with exactly its index entries.
//
// Transaction n of a writer puts item n into two tables and adds 1 to a counter.
func TestCrash(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { crashOnce(t, seed) })
	}
}

func crashOnce(t *testing.T, seed uint64) {
	fs := vfs.NewCrashableMem()
	s := open(t, fs, Options{})
	for _, name := range []string{"A", "B"} {
		s.must(t, "CreateTable", `{"TableName":"Table`+name+`","BillingMode":"PAY_PER_REQUEST",
			"AttributeDefinitions":[{"AttributeName":"w","AttributeType":"N"},{"AttributeName":"n","AttributeType":"N"},{"AttributeName":"g","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"w","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],
			"GlobalSecondaryIndexes":[{"IndexName":"by-g","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`)
	}
	const writers = 5
	left := crash.While(t, fs, seed, writers, func(w, n int) error {
		put := func(table string) string {
			return fmt.Sprintf(`{"Put":{"TableName":"%s","Item":{"w":{"N":"%d"},"n":{"N":"%d"},"g":{"S":"g%d"},"x":{"S":"%0100d"}}}}`, table, w, n, n%3, n)
		}
		_, err := s.do("TransactWriteItems", `{"TransactItems":[`+put("TableA")+`,`+put("TableB")+
			fmt.Sprintf(`,{"Update":{"TableName":"TableA","Key":{"w":{"N":"%d"},"n":{"N":"0"}},"UpdateExpression":"ADD #c :one","ExpressionAttributeNames":{"#c":"count"},"ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`, w))
		return err
	})
	s.close(t)

	s = open(t, left.Files, Options{})
	defer s.close(t)
	for w := range writers {
		var first []string
		for _, table := range []string{"TableA", "TableB"} {
			ns := allOf(t, s, "Query", fmt.Sprintf(`"TableName":"%s","KeyConditionExpression":"w = :w AND n > :zero","ExpressionAttributeValues":{":w":{"N":"%d"},":zero":{"N":"0"}}`, table, w))
			if table == "TableA" {
				first = ns
			} else if !slices.Equal(first, ns) {
				t.Errorf("writer %d: transactions half there: %v and %v", w, first, ns)
			}
		}
		if n := len(first); n < left.Acknowledged[w] || n > left.Begun[w] {
			t.Errorf("writer %d: %d items of %d acknowledged and %d begun", w, n, left.Acknowledged[w], left.Begun[w])
		}
		counter := s.must(t, "GetItem", fmt.Sprintf(`{"TableName":"TableA","Key":{"w":{"N":"%d"},"n":{"N":"0"}}}`, w))
		if got := fmt.Sprint(dig(counter, "Item", "count", "N")); len(first) > 0 && got != fmt.Sprint(len(first)) {
			t.Errorf("writer %d: count %s after %d transactions", w, got, len(first))
		}
	}
	for _, table := range []string{"TableA", "TableB"} {
		items := allOf(t, s, "Scan", `"TableName":"`+table+`","FilterExpression":"attribute_exists(g)"`)
		entries := allOf(t, s, "Scan", `"TableName":"`+table+`","IndexName":"by-g"`)
		slices.Sort(items)
		slices.Sort(entries)
		if !slices.Equal(items, entries) {
			t.Errorf("%s: %d items, %d index entries", table, len(items), len(entries))
		}
	}
}

// allOf reads all pages of a Query or Scan and returns the items' w and n.
func allOf(t testing.TB, s *opened, operation, body string) (ns []string) {
	t.Helper()
	start := ""
	for {
		m := s.must(t, operation, "{"+body+start+`,"Limit":7}`)
		for _, it := range m["Items"].([]any) {
			ns = append(ns, fmt.Sprint(dig(it, "w", "N"), "/", dig(it, "n", "N")))
		}
		last, ok := m["LastEvaluatedKey"]
		if !ok {
			return ns
		}
		start = `,"ExclusiveStartKey":` + jsonOf(t, last)
	}
}

// dig returns the value at a path in an answer; nil if there is none.
func dig(v any, path ...string) any {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}
