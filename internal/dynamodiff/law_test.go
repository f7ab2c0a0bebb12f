// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLaw is the law of sharded tables: what is asked of one, and of a plain one,
// is answered alike. It sends histories, drawn at random, to both.
//
// Two things may differ, and are compared by what they are about: the order of a
// Scan, which goes by the hash of the physical partition key, and so the pages that
// a Limit cuts; and the capacity units of a Query, of which each shard takes its own.
func TestLaw(t *testing.T) {
	for _, c := range []struct{ shards, fanout int }{{1, 1}, {3, 1}, {3, 8}, {16, 1}} {
		t.Run(fmt.Sprintf("shards=%d,fanout=%d", c.shards, c.fanout), func(t *testing.T) {
			lawful(t, engineDoor(t, 1), engineDoor(t, c.fanout), c.shards, false)
		})
	}
}

// usualHistories is how many histories a test draws at least if nobody asks for fewer. Fewer may leave
// out what a test must have met.
const usualHistories = 100

// lawful sends histories to a plain store and to one whose tables are sharded.
func lawful(t *testing.T, plain, sharded Target, shards int, forJudge bool) {
	t.Helper()
	lawfulAs(t, plain, sharded, shards, forJudge, func(*history) string { return fmt.Sprintf("strategy=calculated shards=%d", shards) })
}

// lawfulAs does what lawful does. declare returns the tag of a table, whose history it may change.
func lawfulAs(t *testing.T, plain, sharded Target, shards int, forJudge bool, declare func(*history) string) {
	t.Helper()
	var histories, unknown int
	t.Cleanup(func() {
		if unknown > 1+histories/50 {
			t.Errorf("of %d histories %d end in a write of unknown outcome", histories, unknown)
		}
	})
	indexTag := fmt.Sprintf(`,{"Key":"write-sharding.index.global","Value":"shards=%d`, shards+1)
	rapid.Check(t, func(t *rapid.T) {
		histories++
		over := false
		draw(t, forJudge, func(h *history, operation, body string) Answer {
			if h.before != nil {
				h.before(operation)
			}
			tag := ""
			if operation == "CreateTable" {
				tag = declare(h)
				body = h.create()
			}
			w, err := plain.Do(operation, body)
			if err != nil {
				t.Fatal(err)
			}
			if operation == "CreateTable" && h.sort != "" {
				body = strings.TrimSuffix(body, "}") + `,"Tags":[{"Key":"write-sharding","Value":"` + tag + `"}`
				if h.glob && (!forJudge || !h.globSort) && rapid.Bool().Draw(t, "sharded index") {
					keys := " keys=single" // dynalite takes one partition key attribute
					if !forJudge {
						keys = h.keys()
					}
					body += indexTag + keys + `"}`
				}
				body += "]}"
			}
			g, err := sharded.Do(operation, body)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(fmt.Sprint(g.Body), "evenkeel.") {
				t.Fatalf("%s %s\nshows what is hidden: %s", operation, body, g)
			}
			if g.Status == 500 && strings.Contains(g.String(), "whether the write was done is not known") {
				unknown++ // the machine held the request for longer than a lease
				over = true
			}
			if over {
				return w
			}
			a, b := w.General(), g.General()
			if operation == "Scan" || operation == "Query" && strings.Contains(body, `"IndexName"`) {
				if strings.Contains(body, `"Limit"`) || strings.Contains(body, `"ExclusiveStartKey"`) {
					return w // pages of another order
				}
				if operation == "Query" && (h.globSort || !strings.Contains(body, `"global"`)) {
					// Entries with equal keys have an order of their own; those with
					// different ones are in theirs.
					if diff := cmp.Diff(sequence(a), sequence(b)); diff != "" {
						t.Fatalf("%s %s: the order of the index\n(- plain, + %d shards)\n%s", operation, body, shards, diff)
					}
				}
				a, b = unordered(a), unordered(b)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("%s %s\n(- plain, + %d shards)\n%s", operation, body, shards, diff)
			}
			return w
		})
	})
}

// sequence is the index sort keys of an answer's items.
func sequence(a Answer) (keys []any) {
	m, _ := a.Body.(map[string]any)
	items, _ := m["Items"].([]any)
	for _, it := range items {
		fields, _ := it.(map[string]any)
		keys = append(keys, fields["l"])
	}
	return keys
}

// unordered is an answer whose items are put in an order.
func unordered(a Answer) Answer {
	m, ok := a.Body.(map[string]any)
	if !ok {
		return a
	}
	items, ok := m["Items"].([]any)
	if !ok {
		return a
	}
	slices.SortFunc(items, func(x, y any) int {
		a, _ := json.Marshal(x) // it came from JSON
		b, _ := json.Marshal(y)
		return strings.Compare(string(a), string(b))
	})
	return a
}
