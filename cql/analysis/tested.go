// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Tested is the present value of a column while conditions test it. A statement may have
// thousands of conditions on elements of one long collection. The second of them takes the
// collection apart; from then on each element is found in a number of steps that is logarithmic
// in the collection's length.
type Tested struct {
	Value []byte // nil: null
	of    *value.Type
	asked bool // for an element or field
	split bool
	parts [][]byte // elements of a list, keys of a map, fields of a user-defined type
	pairs [][]byte // values of a map
	has   [2]has   // for CONTAINS, and for CONTAINS KEY
	plain map[*byte][]byte
	steps int // total of all conditions: parts that were visited, and comparisons
}

// has holds what a collection contains.
type has struct {
	asked, sorted bool
	all           [][]byte
}

// NewTested returns the present value of a column of type t.
func NewTested(t *value.Type, v []byte) Tested { return Tested{Value: v, of: t} }

// takeApart fills parts and pairs.
func (c *Tested) takeApart() {
	if c.split || c.Value == nil {
		return
	}
	c.split = true
	inOrder := true
	for p := c.of.Parts(c.Value); p.Next(); {
		k := p.Part()
		c.steps++
		if c.of.Kind == value.Map {
			if !p.Next() {
				break
			}
			if n := len(c.parts); n > 0 && c.of.Elems[0].Compare(c.parts[n-1], k) > 0 {
				inOrder = false
			}
			c.pairs = append(c.pairs, p.Part())
		}
		c.parts = append(c.parts, k)
	}
	if !inOrder {
		c.sortPairs()
	}
}

// sortPairs sorts the pairs of a map whose value has them in another order. The first of equal
// keys stays the first.
func (c *Tested) sortPairs() {
	at := make([]int, len(c.parts))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return c.of.Elems[0].Compare(c.parts[a], c.parts[b]) })
	keys, values := make([][]byte, len(at)), make([][]byte, len(at))
	for i, j := range at {
		keys[i], values[i] = c.parts[j], c.pairs[j]
	}
	c.parts, c.pairs = keys, values
}

// again reports whether an element or field was asked for before. If so, it takes the value apart.
func (c *Tested) again() bool {
	if !c.asked {
		c.asked = true
		return false
	}
	c.takeApart()
	return true
}

// entry returns the value of a map's key; nil if there is none.
func (c *Tested) entry(key []byte) []byte {
	if c.again() {
		if i, found := c.search(c.parts, key, c.of.Elems[0]); found {
			return c.pairs[i]
		}
		return nil
	}
	for p := c.of.Parts(c.Value); p.Next(); {
		c.steps++
		k := p.Part()
		if !p.Next() {
			break
		}
		if c.of.Elems[0].Compare(k, key) == 0 {
			return p.Part()
		}
	}
	return nil
}

// part returns the element of a list, or the field of a user-defined type, at an index; nil if
// there is none.
func (c *Tested) part(i int) []byte {
	if c.again() {
		if i < len(c.parts) {
			return c.parts[i]
		}
		return nil
	}
	for p := c.of.Parts(c.Value); p.Next(); i-- {
		c.steps++
		if i == 0 {
			return p.Part()
		}
	}
	return nil
}

// contains reports whether a collection has an element, or a map a value (with key, a key).
func (c *Tested) contains(want []byte, key bool) bool {
	of := partOf(c.of, key)
	has := &c.has[boolInt(key)]
	if !has.asked {
		has.asked = true
		found := false
		eachElement(c.of, c.Value, key, func(part []byte) bool {
			c.steps++
			found = of.Compare(part, want) == 0
			return !found
		})
		return found
	}
	if !has.sorted {
		has.sorted = true
		eachElement(c.of, c.Value, key, func(part []byte) bool {
			c.steps++
			has.all = append(has.all, part)
			return true
		})
		slices.SortFunc(has.all, of.Compare)
	}
	_, found := c.search(has.all, want, of)
	return found
}

func (c *Tested) search(all [][]byte, want []byte, of *value.Type) (int, bool) {
	return slices.BinarySearchFunc(all, want, func(a, b []byte) int {
		c.steps++
		return of.Compare(a, b)
	})
}

// shortForm is how long a value may be that is compared as it is.
const shortForm = 64

// canonical returns a value within Value in its canonical form. A number of a few bytes can have
// millions more that only repeat its sign. They are removed once, not for each condition.
func (c *Tested) canonical(t *value.Type, v []byte) []byte {
	if len(v) <= shortForm || t.CanonicalIsSame() {
		return v
	}
	plain, ok := c.plain[&v[0]]
	if !ok {
		if c.plain == nil {
			c.plain = map[*byte][]byte{}
		}
		c.steps += len(v)
		plain = t.Canonical(nil, v)
		c.plain[&v[0]] = plain
	}
	return plain
}
