// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"slices"
	"strings"
)

// Attribute is a named value.
type Attribute struct {
	Name  string
	Value Value
}

// Item is a list of attributes in the byte order of their names. Each name occurs once. It is the
// content of an item and of an M. A nil Item is empty; the caller must know whether the item
// exists.
type Item []Attribute

// NewItem sorts the attributes and returns them as an item. If several have the same name, the last
// one counts.
func NewItem(attributes ...Attribute) Item {
	return normalize(attributes)
}

// normalize sorts the attributes. It removes each one that a later attribute of the same name
// replaces.
func normalize(item Item) Item {
	sorted := true
	for i := 1; i < len(item); i++ {
		if item[i-1].Name >= item[i].Name {
			sorted = false
			break
		}
	}
	if sorted {
		return item
	}
	slices.SortStableFunc(item, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	out := item[:0]
	for i := range item {
		if i+1 < len(item) && item[i+1].Name == item[i].Name {
			continue
		}
		out = append(out, item[i])
	}
	return out
}

// find returns the index of a name, or the index at which it would be inserted.
func (it Item) find(name string) (int, bool) {
	lo, hi := 0, len(it)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if it[mid].Name < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(it) && it[lo].Name == name
}

// Get returns the attribute's value.
func (it Item) Get(name string) (Value, bool) {
	i, ok := it.find(name)
	if !ok {
		return Value{}, false
	}
	return it[i].Value, true
}

// Has reports whether the item has the attribute.
func (it Item) Has(name string) bool {
	_, ok := it.find(name)
	return ok
}

// With returns a copy of the item with the attribute set.
func (it Item) With(name string, v Value) Item {
	i, ok := it.find(name)
	if ok {
		out := slices.Clone(it)
		out[i].Value = v
		return out
	}
	out := make(Item, 0, len(it)+1)
	out = append(out, it[:i]...)
	out = append(out, Attribute{name, v})
	return append(out, it[i:]...)
}

// Without returns the item without the attribute. It does not change the item itself.
func (it Item) Without(name string) Item {
	i, ok := it.find(name)
	if !ok {
		return it
	}
	out := make(Item, 0, len(it)-1)
	out = append(out, it[:i]...)
	return append(out, it[i+1:]...)
}

// Only returns those attributes with these names that exist.
func (it Item) Only(names ...string) Item {
	out := make(Item, 0, len(names))
	for _, n := range names {
		if v, ok := it.Get(n); ok {
			out = append(out, Attribute{n, v})
		}
	}
	return normalize(out)
}

// Equal reports whether two items have equal attributes.
func (it Item) Equal(other Item) bool {
	return slices.EqualFunc(it, other, func(a, b Attribute) bool { return a.Name == b.Name && a.Value.Equal(b.Value) })
}

// String returns the item as DynamoDB JSON; for messages and tests.
func (it Item) String() string { return string(AppendItem(nil, it)) }
