// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// tree holds document paths that do not overlap, step by step. The end of each path has a value.
type tree[T any] struct {
	end    *T // nil: paths go on from here
	fields []branch[T]
	items  []branch[T]
}

// branch is one step. Branches are sorted: fields by name, items by index.
type branch[T any] struct {
	field string
	index int
	to    *tree[T]
}

// add adds a path that begins at the root of the tree.
func (t *tree[T]) add(p Path, end T) {
	at := t.field(p.Name)
	for _, s := range p.Steps {
		if s.Index < 0 {
			at = at.field(s.Field)
		} else {
			at = at.item(s.Index)
		}
	}
	at.end = &end
}

// eachInOrder calls add for each path. If there are many paths, each comes after its siblings in
// the tree. A branch that is put between others would move all that follow it.
func eachInOrder(paths []Path, add func(i int)) {
	if len(paths) <= many {
		for i := range paths {
			add(i)
		}
		return
	}
	order := make([]int, len(paths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		p, q := paths[i], paths[j]
		if c := strings.Compare(p.Name, q.Name); c != 0 {
			return c
		}
		return slices.CompareFunc(p.Steps, q.Steps, func(a, b Step) int {
			return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Field, b.Field))
		})
	})
	for _, i := range order {
		add(i)
	}
}

func (t *tree[T]) field(name string) *tree[T] {
	i, ok := slices.BinarySearchFunc(t.fields, name, func(b branch[T], name string) int { return strings.Compare(b.field, name) })
	if !ok {
		t.fields = slices.Insert(t.fields, i, branch[T]{field: name, to: new(tree[T])})
	}
	return t.fields[i].to
}

func (t *tree[T]) item(index int) *tree[T] {
	i, ok := slices.BinarySearchFunc(t.items, index, func(b branch[T], index int) int { return cmp.Compare(b.index, index) })
	if !ok {
		t.items = slices.Insert(t.items, i, branch[T]{index: index, to: new(tree[T])})
	}
	return t.items[i].to
}

// pick returns the parts of a map that the tree's paths lead to. It goes through the shorter of the
// two, because a request may name many more attributes than its items have.
func (t *tree[T]) pick(item attribute.Item) attribute.Item {
	out := make(attribute.Item, 0, min(len(t.fields), len(item)))
	if len(item) < len(t.fields) {
		for _, a := range item {
			i, ok := slices.BinarySearchFunc(t.fields, a.Name, func(b branch[T], name string) int { return strings.Compare(b.field, name) })
			if !ok {
				continue
			}
			if v, ok := t.fields[i].to.part(a.Value); ok {
				out = append(out, attribute.Attribute{Name: a.Name, Value: v})
			}
		}
		return out
	}
	for _, b := range t.fields {
		v, ok := item.Get(b.field)
		if !ok {
			continue
		}
		if v, ok = b.to.part(v); ok {
			out = append(out, attribute.Attribute{Name: b.field, Value: v})
		}
	}
	return out
}

func (t *tree[T]) part(v attribute.Value) (attribute.Value, bool) {
	if t.end != nil {
		return v, true
	}
	if v.Kind() == attribute.L {
		var out []attribute.Value
		for _, b := range t.items {
			if b.index >= v.Len() {
				break
			}
			if e, ok := b.to.part(v.Elems()[b.index]); ok {
				out = append(out, e)
			}
		}
		return attribute.List(out), len(out) > 0
	}
	if v.Kind() != attribute.M || t.fields == nil {
		return attribute.Value{}, false
	}
	out := t.pick(v.Fields())
	return attribute.Map(out), len(out) > 0
}
