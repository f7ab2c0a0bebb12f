// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// drawValue draws a small value, so that many are equal.
func drawValue(draw *rand.Rand, depth int) attribute.Value {
	list := func() (all []attribute.Value) {
		for range draw.IntN(4) {
			all = append(all, drawValue(draw, depth+1))
		}
		return all
	}
	n := 7
	if depth > 2 {
		n = 4
	}
	switch draw.IntN(n) {
	case 0:
		return attribute.String(strings.Repeat("a", draw.IntN(3)) + strings.Repeat("b", draw.IntN(2)))
	case 1:
		return attribute.Int(int64(draw.IntN(4)))
	case 2:
		return attribute.Null()
	case 3:
		texts := []string{"a", "b", "ab", ""}
		draw.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		var elems []attribute.Value
		for _, s := range texts[:1+draw.IntN(3)] {
			elems = append(elems, attribute.String(s))
		}
		return attribute.Set(attribute.SS, elems)
	case 4:
		return attribute.Map(attribute.NewItem(attribute.Attribute{Name: "f", Value: drawValue(draw, depth+1)}))
	}
	return attribute.List(list())
}

// TestHaystack looks for values in a long one, and compares with a search from its start.
func TestHaystack(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 1))
	found := 0
	for range 60 {
		var elems []attribute.Value
		for range 17 + draw.IntN(20) {
			elems = append(elems, drawValue(draw, 0))
		}
		text := strings.Repeat(string(rune('a'+draw.IntN(2))), longText) + strings.Repeat("ab", draw.IntN(3))
		for _, v := range []attribute.Value{attribute.List(elems), attribute.String(text)} {
			h := newHaystack(v)
			if h == nil {
				t.Fatal("no index")
			}
			for range 100 {
				w := drawValue(draw, 0)
				got, want := h.contains(w), contains(v, w)
				if got != want {
					t.Fatalf("%s is in %.200s: %v", w, v, got)
				}
				if got {
					found++
				}
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d were found", found)
	}
}

func literals(t *testing.T, values ...attribute.Attribute) *Placeholders {
	p, err := NewPlaceholders(nil, attribute.NewItem(values...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func longSet(n int) attribute.Value {
	elems := make([]attribute.Value, n)
	for i := range elems {
		elems[i] = attribute.String(fmt.Sprint(i))
	}
	return attribute.Set(attribute.SS, elems)
}

// TestManyItemsAndLongValues doubles both how many items a condition is matched with and how long
// its values are. Except for what is done once, each item takes the same.
func TestManyItemsAndLongValues(t *testing.T) {
	for _, text := range []string{
		"contains(:set, a)", ":set = :same", ":set <> :same", "size(:text) > a", "contains(:text, :text)",
		"begins_with(:text, :text)", ":set IN (:same, a)", "NOT contains(:set, a) OR :text BETWEEN :text AND :text",
	} {
		c, err := literals(t, attribute.Attribute{Name: ":set", Value: longSet(2000)}, attribute.Attribute{Name: ":same", Value: longSet(2000)},
			attribute.Attribute{Name: ":text", Value: attribute.String(strings.Repeat("x", 10_000))}).Condition(FilterExpression, text)
		if err != nil {
			t.Fatal(err)
		}
		item := attribute.NewItem(attribute.Attribute{Name: "a", Value: attribute.String("7")})
		want := c.root.match(item)
		if c.Match(item) != want {
			t.Errorf("%s: not %v", text, want)
		}
		switch n := c.root.(type) {
		case *compareNode:
			if !n.decided.known && !n.left.sized.known {
				t.Errorf("%s is computed for each item", text)
			}
		case *beginsNode:
			if !n.decided.known {
				t.Errorf("%s is computed for each item", text)
			}
		case *containsNode:
			if !n.decided.known && n.among == nil {
				t.Errorf("%s is searched for each item", text)
			}
		case *inNode: // has a path
		case orNode:
			if !n[1].(*betweenNode).decided.known || n[0].(notNode).node.(*containsNode).among == nil {
				t.Errorf("%s is computed for each item", text)
			}
		default:
			t.Errorf("%s is a %T", text, n)
		}
	}
}

// TestLongUpdates doubles both how often an expression names a list or set and how long that is.
// What the update allocates is about doubled; what would make an item that is too large is
// refused before it is made.
func TestLongUpdates(t *testing.T) {
	nulls := func(n int) attribute.Value {
		elems := make([]attribute.Value, n)
		for i := range elems {
			elems[i] = attribute.Null()
		}
		return attribute.List(elems)
	}
	each := func(format string) func(n int) string {
		return func(n int) string {
			all := make([]string, n)
			for i := range all {
				all[i] = fmt.Sprintf(format, i)
			}
			return strings.Join(all, ",")
		}
	}
	appends, deletes, adds := each("x%d=list_append(a,a)"), each("s%d :s"), each("s%d :s")
	for name, test := range map[string]struct {
		text    func(n int) string
		refused bool
	}{
		"many appended": {func(n int) string { return "SET " + appends(n) }, true},
		"many deleted":  {func(n int) string { return "DELETE " + deletes(n) }, false},
		"many added":    {func(n int) string { return "ADD " + adds(n) }, true},
	} {
		allocated := func(n, m int) uint64 {
			item := attribute.Item{{Name: "a", Value: nulls(m)}}
			for i := range n {
				item = append(item, attribute.Attribute{Name: fmt.Sprintf("s%d", i), Value: longSet(1)})
			}
			item = attribute.NewItem(item...)
			var values []attribute.Attribute
			for n, v := range map[string]attribute.Value{":s": longSet(m)} {
				if strings.Contains(test.text(2), n) {
					values = append(values, attribute.Attribute{Name: n, Value: v})
				}
			}
			u, err := literals(t, values...).Update(test.text(n))
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = u.Apply(item)
			runtime.ReadMemStats(&after)
			if err != nil && !test.refused {
				t.Fatalf("%s: %v", name, err)
			}
			return after.TotalAlloc - before.TotalAlloc
		}
		one, two := allocated(60, 20_000), allocated(120, 40_000)
		if two > 3*one {
			t.Errorf("%s: %d KiB for 60 of 20,000, %d KiB for 120 of 40,000", name, one>>10, two>>10)
		}
		if most := uint64(400 * attribute.MaxItemSize); two > most {
			t.Errorf("%s: %d KiB are allocated", name, two>>10)
		}
	}
}

// TestManyComparisonsWithOneSet names a long set in many comparisons with an attribute. What they
// allocate does not grow with the product of their number and the set's length.
func TestManyComparisonsWithOneSet(t *testing.T) {
	allocated := func(n, m int) uint64 {
		text := strings.TrimSuffix(strings.Repeat("a=:s AND ", n), " AND ")
		c, err := literals(t, attribute.Attribute{Name: ":s", Value: longSet(m)}).Condition(FilterExpression, text)
		if err != nil {
			t.Fatal(err)
		}
		same, other := longSet(m).Elems(), longSet(m + 1).Elems()[1:]
		reversed := make([]attribute.Value, m)
		for i := range same {
			reversed[m-1-i] = same[i]
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if !c.Match(attribute.NewItem(attribute.Attribute{Name: "a", Value: attribute.Set(attribute.SS, reversed)})) {
			t.Error("a set in another order is not equal")
		}
		if c.Match(attribute.NewItem(attribute.Attribute{Name: "a", Value: attribute.Set(attribute.SS, other)})) {
			t.Error("another set is equal")
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, two := allocated(75, 2000), allocated(150, 4000); two > 3*one {
		t.Errorf("%d bytes for 75 comparisons with 2000 elements, %d for 150 with 4000", one, two)
	}
}

// TestOneSetAmongManyOthers compares a long set of an item with many others of the same length. What
// that allocates does not grow with the product of their number and the sets' length.
func TestOneSetAmongManyOthers(t *testing.T) {
	for _, text := range []string{"NOT a IN (%s)", "NOT b[0] IN (%s)", "NOT a IN (c, %s)"} {
		allocated := func(n, m int) uint64 {
			other := attribute.Set(attribute.SS, longSet(m + 1).Elems()[1:])
			literal := other
			if strings.Contains(text, "b[0]") {
				literal = attribute.List([]attribute.Value{other})
			}
			c, err := literals(t, attribute.Attribute{Name: ":s", Value: literal}).Condition(FilterExpression, fmt.Sprintf(text, strings.TrimSuffix(strings.Repeat(":s,", n), ",")))
			if err != nil {
				t.Fatal(err)
			}
			item := attribute.NewItem(attribute.Attribute{Name: "a", Value: longSet(m)}, attribute.Attribute{Name: "b", Value: attribute.List([]attribute.Value{attribute.List([]attribute.Value{longSet(m)})})}, attribute.Attribute{Name: "c", Value: other})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if !c.Match(item) {
				t.Errorf("%s: other sets are equal", text)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if one, two := allocated(45, 2000), allocated(90, 4000); two > 3*one+64<<10 {
			t.Errorf("%s: %d bytes for 45 sets of 2000 elements, %d for 90 of 4000", text, one, two)
		}
	}
}
