// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/internal/testkit/endpoint"
)

// TestLawAcrossChanges is the law of sharded tables where they get other layouts at any
// moment of a history: what is asked of one, in any step of a change, and of a plain one,
// is answered alike. Some tables are plain at first. The layouts have more shards or fewer, or are
// those of a plain table;
// changes are of all keys or of one, and some are taken back. What may differ is as in
// TestLaw. Reads of indexes page by page are those of TestIndexesAcrossChanges of dynamodoor/run.
func TestLawAcrossChanges(t *testing.T) {
	histories, moved, fromPlain, _ := lawAcrossChanges(t, anyKeys)
	if moved == 0 {
		t.Error("no layout was changed")
	}
	t.Logf("steps from plain tables: %v", fromPlain)
	for _, step := range []string{"preparing", "looking", "stubbing", "moving", "closing", "settled", "dropping", "leaving"} {
		if histories >= usualHistories && fromPlain[step] == 0 {
			t.Errorf("no plain table was in step %s", step)
		}
	}
}

// TestLawAcrossChangesOfBuckets is TestLawAcrossChanges for tables whose sort keys tell times. Layouts have
// buckets of time, too.
func TestLawAcrossChangesOfBuckets(t *testing.T) {
	histories, _, _, buckets := lawAcrossChanges(t, withTimes)
	t.Logf("steps: %v", buckets)
	for _, way := range []string{"from buckets to buckets", "from buckets to shards", "from shards to buckets", "from a plain table to buckets"} {
		for _, step := range []string{"looking", "stubbing", "moving", "closing"} {
			if histories >= usualHistories && buckets[way+", "+step] == 0 {
				t.Errorf("no change %s was in step %s", way, step)
			}
		}
	}
}

// TestLawAcrossChangesOfRollover is TestLawAcrossChanges for tables that get and leave strategy rollover, and
// whose sort keys mostly rise.
func TestLawAcrossChangesOfRollover(t *testing.T) {
	histories, _, _, steps := lawAcrossChanges(t, risingKeys)
	t.Logf("steps: %v", steps)
	for _, way := range []string{"from rollover", "to rollover", "from a plain table to rollover"} {
		for _, step := range []string{"looking", "stubbing", "moving", "closing"} {
			if histories >= usualHistories && steps[way+", "+step] == 0 {
				t.Errorf("no change %s was in step %s", way, step)
			}
		}
	}
}

// These are the kinds of sort keys in a history.
const (
	anyKeys = iota
	withTimes
	risingKeys
)

// lawAcrossChanges compares histories. It returns their number and the number of steps, and counts the steps
// from plain tables, and those to and from buckets of time, or from rollover.
func lawAcrossChanges(t *testing.T, kind int) (histories, moved int, fromPlain, buckets map[string]int) {
	router, url := endpoint.Start(t, run.Options{Fanout: 4, Caution: time.Nanosecond})
	plain, sharded := engineDoor(t, 1), Target{Name: "sharded", URL: url}
	fromPlain, buckets = map[string]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		histories++
		created, plainly, begun := false, false, false
		var keys *times // nil: the sort keys tell no times
		step := func(h *history) {
			if !created || rapid.IntRange(0, 2).Draw(t, "change") > 0 {
				return
			}
			if kind == risingKeys && !begun { // keys get shards first
				if begun = rapid.IntRange(0, 24).Draw(t, "begin") == 0; !begun {
					return
				}
			}
			if plainly || kind != anyKeys {
				var s struct {
					Phase  string
					Number int    `json:"from"`
					From   string `json:"from_layout"`
					To     string `json:"to_layout"`
				}
				out, err := router.Do(t.Context(), "Reshard", []byte(`{"TableName":"`+h.table+`","Action":"status"}`), nil)
				if err != nil || json.Unmarshal(out, &s) != nil {
					t.Fatalf("%s %v", out, err)
				}
				if plainly {
					fromPlain[s.Phase]++
				}
				switch {
				case strings.HasPrefix(s.To, "shards of ") && plainly && s.Number == 0:
					buckets["from a plain table to rollover, "+s.Phase]++
				case strings.HasPrefix(s.To, "shards of "):
					buckets["to rollover, "+s.Phase]++
				case strings.HasPrefix(s.From, "shards of "):
					buckets["from rollover, "+s.Phase]++
				case s.From != "" && s.To != "":
					buckets["from buckets to buckets, "+s.Phase]++
				case s.From != "":
					buckets["from buckets to shards, "+s.Phase]++
				case s.To != "" && s.Number == 0 && plainly:
					buckets["from a plain table to buckets, "+s.Phase]++
				case s.To != "":
					buckets["from shards to buckets, "+s.Phase]++
				}
			}
			more, err := router.StepChange(t.Context(), h.table)
			if err != nil {
				t.Fatal(err)
			}
			reshard := func(options string) {
				_, err := router.Do(t.Context(), "Reshard", []byte(`{"TableName":"`+h.table+`",`+options+`}`), nil)
				for _, refusal := range []string{"shards already", "taken back", "plain one already", "whose keys have no shards", "no change of the layout", "the same for all keys", "ranges of the sort key"} {
					if err != nil && strings.Contains(err.Error(), refusal) {
						return
					}
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if more {
				if moved++; h.chance("take it back") {
					reshard(`"Action":"rollback"`)
				}
				return
			}
			to := rapid.IntRange(0, 7).Draw(t, "shards")
			if h.chance("one key") {
				key := rapid.SampledFrom(pool[h.hash]).Draw(t, "key")
				reshard(fmt.Sprintf(`"Action":"start","Shards":%d,"Key":"%s"`, to+1, key))
				return
			}
			tag := fmt.Sprintf("strategy=calculated shards=%d", to)
			switch {
			case keys != nil && rapid.IntRange(0, 3).Draw(t, "buckets") > 0:
				tag = keys.tag(rapid.SampledFrom(widthsFor(keys.width)).Draw(t, "bucket"), 1+to/2)
			case kind == risingKeys && rapid.Bool().Draw(t, "rollover"):
				tag = "strategy=rollover rows=10"
			case to == 0:
				tag = ""
			}
			a, err := sharded.Do("TagResource", fmt.Sprintf(`{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/%s","Tags":[{"Key":"write-sharding","Value":"%s"}]}`, h.table, tag))
			if err != nil || a.Status != 200 {
				t.Fatalf("%v %v", a, err)
			}
		}
		draw(t, false, func(h *history, operation, body string) Answer {
			tag := "shards=2"
			switch {
			case operation == "CreateTable" && kind == risingKeys:
				declared := rolled(h)
				if body = h.create(); rapid.Bool().Draw(t, "rollover at first") {
					tag = declared
				}
			case operation == "CreateTable" && kind == withTimes:
				declared := timed(h, rapid.IntRange(1, 3).Draw(t, "shards of a bucket"))
				if keys = h.times.(*times); rapid.Bool().Draw(t, "buckets at first") {
					tag = declared
				}
				body = h.create()
			}
			w, err := plain.Do(operation, body)
			if err != nil {
				t.Fatal(err)
			}
			if operation == "CreateTable" {
				if plainly = !h.glob && !h.local && rapid.Bool().Draw(t, "a plain table"); plainly {
					created = true
					g, err := sharded.Do(operation, body)
					if err != nil || g.Status != w.Status {
						t.Fatalf("%v %v", g, err)
					}
					return w
				}
				tags := `{"Key":"write-sharding","Value":"` + tag + `"}`
				if h.glob && rapid.Bool().Draw(t, "sharded index") {
					tags += `,{"Key":"write-sharding.index.global","Value":"shards=3` + h.keys() + `"}`
				}
				body = strings.TrimSuffix(body, "}") + `,"Tags":[` + tags + `]}`
			} else {
				step(h)
			}
			for more := operation == "DeleteTable" && created; more; { // which is refused while a plain table becomes a sharded one
				if more, err = router.StepChange(t.Context(), h.table); err != nil {
					t.Fatal(err)
				}
			}
			g, err := sharded.Do(operation, body)
			if err != nil {
				t.Fatal(err)
			}
			if operation == "CreateTable" {
				created = true
			}
			a, b := w.General(), g.General()
			if ofIndex := operation == "Query" && strings.Contains(body, `"IndexName"`); operation == "Scan" || ofIndex {
				if strings.Contains(body, `"Limit"`) || strings.Contains(body, `"ExclusiveStartKey"`) {
					return w
				}
				if ofIndex && (h.globSort || !strings.Contains(body, `"global"`)) {
					if diff := cmp.Diff(sequence(a), sequence(b)); diff != "" {
						t.Fatalf("%s %s: the order of the index\n(- plain, + changed)\n%s", operation, body, diff)
					}
				}
				a, b = unordered(a), unordered(b)
			}
			if operation == "BatchGetItem" { // whose items have no order
				a, b = unorderedBatch(a, h.table), unorderedBatch(b, h.table)
			}
			if strings.Contains(fmt.Sprint(b.Body), "evenkeel.") {
				t.Fatalf("%s %s\nshows what is hidden: %s", operation, body, g)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("%s %s\n(- plain, + changed)\n%s", operation, body, diff)
			}
			return w
		})
	})
	return histories, moved, fromPlain, buckets
}

// unorderedBatch is the answer to a BatchGetItem with its items in an order.
func unorderedBatch(a Answer, table string) Answer {
	m, _ := a.Body.(map[string]any)
	found, ok := m["Responses"].(map[string]any)
	if !ok {
		return a
	}
	items, _ := found[table].([]any)
	unordered(Answer{Body: map[string]any{"items": items, "Items": items}})
	return a
}
