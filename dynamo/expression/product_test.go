// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// A client chooses two lengths, and the work must not be their product. A long list of IN is looked
// up for each item, not searched. A projection with more paths than the item has attributes goes
// through the item.
func TestLongLists(t *testing.T) {
	for _, n := range []int{10, 1000, 4000} {
		c := LegacyCondition{Attribute: "a", Operator: "IN"}
		for i := range n {
			c.Values = append(c.Values, attribute.Int(int64(2*i)))
		}
		c.Values = append(c.Values, attribute.List(nil))
		in := c.node().(*inNode)
		compared := len(in.list)
		if in.among != nil {
			compared = len(in.rest)
		}
		if compared > 16 {
			t.Errorf("a list of %d: %d are compared one by one", n, compared)
		}
		for i := range 2 * n {
			item := attribute.NewItem(attribute.Attribute{Name: "a", Value: attribute.Int(int64(i))})
			if in.match(item) != (i%2 == 0) {
				t.Fatalf("%d IN the even ones of %d", i, n)
			}
		}
		for _, v := range []attribute.Value{attribute.String("0"), attribute.Null()} {
			if in.match(attribute.NewItem(attribute.Attribute{Name: "a", Value: v})) {
				t.Errorf("%v is in a list of numbers", v)
			}
		}
		if !in.match(attribute.NewItem(attribute.Attribute{Name: "a", Value: attribute.List(nil)})) {
			t.Error("an empty list is not in a list that has one")
		}
	}
}

// If there are many paths, each is added to the tree after its siblings, whatever their order is.
func TestPathsInOrder(t *testing.T) {
	var paths []Path
	for i := range 1000 {
		paths = append(paths, Path{Name: fmt.Sprintf("a%d", i/10), Steps: []Step{{Index: -1, Field: fmt.Sprintf("f%d", i%10)}, {Index: i}}})
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	last := ""
	eachInOrder(paths, func(i int) {
		at := fmt.Sprintf("%s.%s", paths[i].Name, paths[i].Steps[0].Field)
		if at < last {
			t.Fatalf("%s comes after %s", at, last)
		}
		last = at
	})
	p := Project(paths...)
	if len(p.tree.fields) != 100 {
		t.Fatalf("%d attributes", len(p.tree.fields))
	}
	item := attribute.NewItem(
		attribute.Attribute{Name: "a7", Value: attribute.Map(attribute.NewItem(attribute.Attribute{Name: "f1", Value: attribute.List(make([]attribute.Value, 100))}))},
		attribute.Attribute{Name: "b", Value: attribute.Null()})
	if got := p.Apply(item); len(got) != 1 || got[0].Name != "a7" {
		t.Errorf("of an item with fewer attributes than are asked for: %v", got)
	}
}

// An update that puts one long value at many paths ends with the copy for which an item has no room. To
// go through all copies would take longer than any request may.
func TestCopiesOfALongValue(t *testing.T) {
	var nulls, texts []attribute.Value
	for i := range 50_000 {
		nulls = append(nulls, attribute.Null())
		texts = append(texts, attribute.String(fmt.Sprintf("%06d", i)))
	}
	item := attribute.NewItem(attribute.Attribute{Name: "l", Value: attribute.List(nulls)})
	values := attribute.NewItem(attribute.Attribute{Name: ":l", Value: attribute.List(nulls)}, attribute.Attribute{Name: ":s", Value: attribute.Set(attribute.SS, texts)})
	for _, c := range []struct{ verb, one string }{
		{"SET", "a%d = l"}, {"SET", "l[%d] = l"}, {"SET", "a%d = if_not_exists(m, l)"}, {"SET", "a%d = list_append(l, l)"}, {"SET", "a%d = :l"}, {"ADD", "a%d :s"},
	} {
		for _, n := range []int{1, 100} {
			text := c.verb
			for i := range n {
				if i > 0 {
					text += ","
				}
				text += fmt.Sprintf(" "+c.one, i)
			}
			p, err := NewPlaceholders(nil, values)
			if err != nil {
				t.Fatal(err)
			}
			u, err := p.Update(text)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := u.Apply(item); (err == nil) != (n == 1) || err != nil && err != errLong {
				t.Errorf("%s, %d times: %v", c.one, n, err)
			}
		}
	}
}

// Placeholders are found by lookup, however many there are.
func TestManyPlaceholders(t *testing.T) {
	var names []Name
	var values []attribute.Attribute
	text := ""
	for i := range 100 {
		names = append(names, Name{fmt.Sprintf("#n%d", i), fmt.Sprintf("a%d", i)})
		values = append(values, attribute.Attribute{Name: fmt.Sprintf(":v%d", i), Value: attribute.Int(int64(i))})
		if i > 0 {
			text += " AND "
		}
		text += fmt.Sprintf("#n%d = :v%d", i, i)
	}
	p, err := NewPlaceholders(names, attribute.NewItem(values...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Condition(FilterExpression, text); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckUnused(); err != nil {
		t.Error(err)
	}
	if p.nameAt == nil || p.valueAt == nil {
		t.Error("a hundred placeholders are gone through one by one")
	}
}
