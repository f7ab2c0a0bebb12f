// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// written is a piece of JSON that can be written in several ways: a text, or parts that may be in
// any order.
type written struct {
	text     string
	spelt    []string // other spellings of a number
	list     []written
	keys     []string // the keys of an object, one for each element of list
	anyOrder bool
}

// write writes it in one of these ways.
func (w *written) write(t *rapid.T) string {
	switch {
	case w.spelt != nil:
		return rapid.SampledFrom(w.spelt).Draw(t, "spelling")
	case w.list == nil:
		return w.text
	}
	parts := make([]string, len(w.list))
	for i := range w.list {
		if parts[i] = w.list[i].write(t); w.keys != nil {
			parts[i] = fmt.Sprintf("%q:%s", w.keys[i], parts[i])
		}
	}
	if w.anyOrder {
		parts = rapid.Permutation(parts).Draw(t, "order")
	}
	if w.keys != nil {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func object(keys []string, values ...written) written {
	return written{list: values, keys: keys, anyOrder: true}
}

func typed(kind string, v written) written { return object([]string{kind}, v) }

func drawValue(t *rapid.T, depth int) written {
	text := func(s string) written { return written{text: fmt.Sprintf("%q", s)} }
	several := func() (all []written) {
		for range rapid.IntRange(1, 3).Draw(t, "how many") {
			all = append(all, drawValue(t, depth-1))
		}
		return all
	}
	most := 6
	if depth == 0 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return typed("S", text(rapid.SampledFrom([]string{"a", "", "{\"S\":\"a\"}", "ü"}).Draw(t, "S")))
	case 1:
		return typed("N", rapid.SampledFrom([]written{{spelt: []string{`"1"`, `"1.0"`, `"10e-1"`, `"+1"`}}, {spelt: []string{`"0"`, `"-0"`, `"0e5"`}}, {spelt: []string{`"-1e3"`, `"-1000"`}}}).Draw(t, "N"))
	case 2:
		return typed("SS", written{list: []written{text("a"), text("b"), text("c")}, anyOrder: true})
	case 3:
		return typed("NS", written{list: []written{{spelt: []string{`"1"`, `"1.00"`}}, {spelt: []string{`"20"`, `"2e1"`}}}, anyOrder: true})
	case 4:
		return typed("BS", written{list: []written{text("AA=="), text("AQ==")}, anyOrder: true})
	case 5:
		return typed("L", written{list: several()})
	}
	all := several()
	return typed("M", object([]string{"x", "y", "x.y"}[:len(all)], all...))
}

// drawAction draws one action on a table with the key k.
func drawAction(t *rapid.T, i int) written {
	key := object([]string{"k"}, typed("S", written{text: fmt.Sprintf(`"%d"`, i)}))
	table := written{spelt: []string{`"Tab"`, `"arn:aws:dynamodb:us-east-1:1:table/Tab"`}}
	if rapid.Bool().Draw(t, "put") {
		item := object([]string{"k", "v", "w"}, typed("S", written{text: fmt.Sprintf(`"%d"`, i)}), drawValue(t, 2), drawValue(t, 1))
		return object([]string{"Put"}, object([]string{"TableName", "Item"}, table, item))
	}
	update := rapid.SampledFrom([]written{
		{spelt: []string{`"SET #a = :a, b = :b"`, `"SET b = :b, #a = :a"`, `"SET  b=:b,#a=:a "`}}, {spelt: []string{`"SET #a = :b, b = :a"`}},
		{text: `"SET #a = :b, b = :a REMOVE c"`}, {spelt: []string{`"REMOVE b, c SET #a = list_append(:a, :b)"`, `"SET #a = list_append(:a, :b) REMOVE c, b"`}},
	}).Draw(t, "update")
	condition := rapid.SampledFrom([]written{
		{spelt: []string{`"attribute_exists(k) AND (#a = :a OR NOT b IN (:a, :b))"`, `"(NOT b IN (:b, :a) OR #a = :a) AND attribute_exists(k)"`}},
		{text: `"attribute_exists(k) OR (#a = :a AND NOT b IN (:a, :b))"`}, {text: `"#a = :a AND attribute_exists(k)"`},
	}).Draw(t, "condition")
	return object([]string{"Update"}, object([]string{"TableName", "Key", "UpdateExpression", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"},
		table, key, update, condition, object([]string{"#a"}, written{text: rapid.SampledFrom([]string{`"a"`, `"a.b"`, `"size"`}).Draw(t, "name")}),
		object([]string{":a", ":b"}, typed("L", written{list: []written{drawValue(t, 1)}}), typed("L", written{list: []written{drawValue(t, 1)}}))))
}

func digest(t *rapid.T, actions written) uint64 {
	q := new(api.TransactWriteItems)
	body := `{"ClientRequestToken":"t","TransactItems":` + actions.write(t) + "}"
	if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return q.Digest
}

// The digest of a transaction does not depend on how it is written. Transactions that ask for
// different things have different digests.
func TestDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "actions")
		one, other := make([]written, n), make([]written, n)
		for i := range n {
			one[i] = drawAction(t, i)
			if other[i] = one[i]; rapid.Bool().Draw(t, "another") {
				other[i] = drawAction(t, i)
			}
		}
		first := digest(t, written{list: one})
		if again := digest(t, written{list: one}); again != first {
			t.Fatalf("%x and %x of one transaction", first, again)
		}
		same := true
		for i := range n {
			same = same && meaning(one[i]) == meaning(other[i])
		}
		if got := digest(t, written{list: other}) == first; got != same {
			t.Fatalf("the same digest: %v, the same transaction: %v", got, same)
		}
	})
}

// meaning returns the same text for all ways to write the same thing.
func meaning(w written) string {
	if w.spelt != nil {
		return w.spelt[0]
	}
	if w.list == nil {
		return w.text
	}
	parts := make([]string, len(w.list))
	for i := range w.list {
		if parts[i] = meaning(w.list[i]); w.keys != nil {
			parts[i] = w.keys[i] + ":" + parts[i]
		}
	}
	if w.anyOrder {
		slices.Sort(parts)
	}
	return "(" + strings.Join(parts, ",") + ")"
}
