// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
)

// lookups finds elements of collections. A statement may look into one long collection many times;
// lookups then sorts the places of its elements once, so that each further look takes few steps.
type lookups map[*byte]*lookup

// lookup is one long collection that an evaluation has looked into.
type lookup struct {
	before int     // looks before it was sorted
	sorted []place // by element, equal elements by their order in the collection; nil: not sorted
}

// place is where an element, or a key of a map, begins in the collection: its length comes first.
type place struct{ at, index uint32 }

// These say when the places are sorted: a shorter collection is searched as quickly, and sorting
// takes about as long as some looks.
const (
	longCollection = 4 << 10 // bytes
	manyLooks      = 8
)

// find looks up an element of a set or a key of a map. It returns its index (-1 if absent) and the
// element or the key's value.
func (ev *evaluation) find(of Expr, v, key []byte) (int, []byte, error) {
	t := of.Type()
	if len(v) < longCollection {
		i, part := find(t, v, key)
		return i, part, nil
	}
	l := ev.lookups[&v[0]]
	if l == nil {
		if ev.lookups == nil {
			ev.lookups = lookups{}
		}
		l = &lookup{}
		ev.lookups[&v[0]] = l
	}
	if l.before++; l.before <= manyLooks {
		i, part := find(t, v, key)
		return i, part, nil
	}
	if l.sorted == nil {
		n := int(binary.BigEndian.Uint32(v))
		if err := ev.room(ev.env, "a look into "+name(of), 8*min(n, len(v)/4)); err != nil {
			return 0, nil, err
		}
		l.sorted = places(t, v)
	}
	i, ok := slices.BinarySearchFunc(l.sorted, key, func(p place, key []byte) int {
		part, _ := partAt(v, int(p.at))
		return t.Elems[0].Compare(part, key)
	})
	if !ok {
		return -1, nil, nil
	}
	p := l.sorted[i]
	part, next := partAt(v, int(p.at))
	if t.Kind == value.Map {
		part, _ = partAt(v, next)
	}
	return int(p.index), part, nil
}

// places returns the places of a collection's elements, sorted.
func places(t *value.Type, v []byte) []place {
	n := int(binary.BigEndian.Uint32(v))
	all := make([]place, 0, min(n, len(v)/4))
	compare := func(a, b place) int {
		x, _ := partAt(v, int(a.at))
		y, _ := partAt(v, int(b.at))
		return cmp.Or(t.Elems[0].Compare(x, y), cmp.Compare(a.index, b.index))
	}
	for at := 4; len(all) < n; {
		_, next := partAt(v, at)
		if next >= 0 && t.Kind == value.Map {
			_, next = partAt(v, next)
		}
		if next < 0 {
			break // the rest is damaged
		}
		all = append(all, place{uint32(at), uint32(len(all))})
		at = next
	}
	if !slices.IsSortedFunc(all, compare) { // a client may bind a frozen collection in any order
		slices.SortFunc(all, compare)
	}
	return all
}

// partAt returns the part whose length is at a place, and where the next part begins: -1 if v ends
// before.
func partAt(v []byte, at int) (part []byte, next int) {
	if len(v)-at < 4 {
		return nil, -1
	}
	n := int(int32(binary.BigEndian.Uint32(v[at:])))
	at += 4
	switch {
	case n < 0:
		return nil, at
	case n > len(v)-at:
		return nil, -1
	}
	return v[at : at+n : at+n], at + n
}
