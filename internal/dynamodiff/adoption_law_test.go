// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/shard"
)

// TestAdoptionLaw is the law of tables that were sharded by hand and adopted: with
// what lay in them, and what is written afterwards, they answer as a plain table
// does that has the same items without suffixes. It sends histories, drawn at random,
// to both.
func TestAdoptionLaw(t *testing.T) {
	for _, how := range []string{
		"strategy=calculated shards=1",
		"strategy=calculated shards=3 hash=code_points separator=. first=0",
		"strategy=calculated shards=16 suffixed=allow",
		"strategy=random shards=1 write-once",
		"strategy=random shards=3 write-once separator=U+0023",
		"adopt=prefix strategy=calculated shards=3 hash=code_points separator=. first=0",
		"adopt=prefix strategy=calculated shards=16 prefixed=allow",
		"adopt=prefix strategy=random shards=3 write-once separator=U+0023",
	} {
		t.Run(how, func(t *testing.T) { adoptionLaw(t, engineDoor(t, 1), engineDoor(t, 4), how, false) })
	}
	for _, how := range []string{"strategy=calculated shards=3", "strategy=random shards=3 write-once", "adopt=prefix strategy=calculated shards=3"} {
		t.Run("in front of dynalite/"+how, func(t *testing.T) { adoptionLaw(t, judge(t), frontOf(t, judge(t), 4), how, true) })
		t.Run("in front of evenkeel/"+how, func(t *testing.T) { adoptionLaw(t, engineDoor(t, 1), frontOf(t, bareDoor(t), 4), how, false) })
	}
}

// affixIn is a partition key of a table that was sharded by hand, with its shard at the end or at the
// beginning.
var affixIn = map[bool]*regexp.Regexp{
	false: regexp.MustCompile(`("h":\{"S":")([^"]*)[-.#]\d+"`),
	true:  regexp.MustCompile(`("h":\{"S":")\d+[-.#]([^"]*)"`),
}

func adoptionLaw(t *testing.T, plain, adopted Target, how string, forJudge bool) {
	drawn := strings.Contains(how, "random")
	layout, affix := layoutOf(t, how)
	if !strings.Contains(how, "adopt=") {
		how = "adopt=suffix " + how
	}
	rapid.Check(t, func(t *rapid.T) {
		var last string // the adopted table's LastEvaluatedKey, where it differs
		draw(t, forJudge, func(h *history, operation, body string) Answer {
			ask := func(target Target, operation, body string) Answer {
				a, err := target.Do(operation, body)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			switch {
			case operation == "CreateTable":
				h.hash = "S" // which a shard in the key needs, as it does a sort key
				if h.sort == "" {
					h.sort = "S"
				}
				body = h.create()
				w := ask(plain, operation, body)
				arn := w.Body.(map[string]any)["TableDescription"].(map[string]any)["TableArn"]
				ask(adopted, operation, body)
				for range rapid.IntRange(0, 8).Draw(t, "items by hand") {
					hash, sort := rapid.SampledFrom(pool["S"]).Draw(t, "by hand h"), rapid.SampledFrom(pool["S"][:3]).Draw(t, "by hand r")
					if h.sort != "S" {
						continue
					}
					at := layout.ShardOf([]byte(hash), []byte(sort))
					if drawn {
						at = (len(hash)+int(sort[0]))%layout.N + 1 // the same for the same key
					}
					item := `{"TableName":"%s","Item":{"h":{"S":"%s"},"r":{"S":"%s"}` + h.attributes() + "}}"
					ask(plain, "PutItem", fmt.Sprintf(item, h.table, hash, sort))
					if a := ask(adopted, "PutItem", fmt.Sprintf(item, h.table, affix.Join(hash, at), sort)); a.Status != 200 {
						t.Fatal(a)
					}
				}
				a := ask(adopted, "TagResource", fmt.Sprintf(`{"ResourceArn":"%s","Tags":[{"Key":"write-sharding","Value":"%s"}]}`, arn, how))
				if a.Status != 200 {
					t.Fatalf("%s is not adopted: %s", body, a)
				}
				return w
			case drawn && (operation == "TransactWriteItems" || operation == "BatchWriteItem" && strings.Contains(body, "PutRequest")):
				return Answer{} // which may put again what is there
			case drawn && operation == "PutItem":
				body = strings.Replace(body, `"ReturnValues":"NONE"`, `"ReturnValues":"ALL_OLD"`, 1) // likewise
			}
			w := ask(plain, operation, body)
			if drawn && h.last != "" {
				body = strings.Replace(body, `"ExclusiveStartKey":`+h.last, `"ExclusiveStartKey":`+last, 1)
			}
			g := ask(adopted, operation, body)
			a, b := w.General(), g.General()
			if m, ok := b.Body.(map[string]any); ok && m["LastEvaluatedKey"] != nil {
				raw := encoded(t, g.Body.(map[string]any)["LastEvaluatedKey"])
				if cut := affixIn[affix.Front].ReplaceAllString(raw, `$1$2"`); drawn && cut != raw {
					last = raw
					m["LastEvaluatedKey"] = decoded(t, cut)
				}
			}
			if operation == "Scan" || operation == "Query" && strings.Contains(body, `"IndexName"`) {
				if strings.Contains(body, `"Limit"`) || strings.Contains(body, `"ExclusiveStartKey"`) {
					return Answer{} // pages of another order
				}
				a, b = unordered(a), unordered(b)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("%s %s\n(- plain, + adopted with %s)\n%s", operation, body, how, diff)
			}
			return w
		})
	})
}

// layoutOf is the layout that a tag says.
func layoutOf(t testing.TB, how string) (*shard.Layout, *shard.Affix) {
	t.Helper()
	s := &shard.Affix{Separator: "-", First: 1}
	options := make(map[string]string)
	for _, word := range strings.Fields(how) {
		switch k, v, _ := strings.Cut(word, "="); k {
		case "separator":
			s.Separator, _ = shard.ParseSeparator(v)
		case "first":
			s.First = 0
		case "adopt":
			s.Front = v == "prefix"
		case "suffixed", "prefixed", "write-once":
		default:
			options[k] = v
		}
	}
	l, err := shard.Parse(options)
	if err != nil {
		t.Fatal(err)
	}
	return l, s
}

func encoded(t interface{ Fatal(...any) }, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decoded(t interface{ Fatal(...any) }, text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
