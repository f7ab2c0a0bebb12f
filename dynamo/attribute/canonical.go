// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"slices"
	"strings"
)

// Canonical returns the value with the elements of its sets in a fixed order. Equal values then
// have equal encodings. (In any value, names are sorted and numbers are canonical.)
func (v Value) Canonical() Value {
	switch {
	case v.kind.IsSet():
		elems := slices.Clone(v.Elems())
		slices.SortFunc(elems, func(a, b Value) int { return strings.Compare(a.Text(), b.Text()) })
		return Set(v.kind, elems)
	case v.kind == L:
		elems := slices.Clone(v.Elems())
		for i := range elems {
			elems[i] = elems[i].Canonical()
		}
		return List(elems)
	case v.kind == M:
		return Map(v.Fields().Canonical())
	}
	return v
}

// Canonical returns the item with canonical values. For a nil item it returns nil.
func (it Item) Canonical() Item {
	out := slices.Clone(it)
	for i := range out {
		out[i].Value = out[i].Value.Canonical()
	}
	return out
}
