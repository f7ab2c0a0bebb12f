// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"hash/maphash"
	"slices"
	"strings"
)

// Compare orders two values of the same kind S, N or B: strings by their UTF-8 bytes, numbers by
// value, binary by unsigned bytes. DynamoDB uses this order for sort keys and for the comparators <
// and >. Values of different kinds, and values of other kinds, have no order: ok is false.
func Compare(a, b Value) (order int, ok bool) {
	if a.kind != b.kind {
		return 0, false
	}
	switch a.kind {
	case S, B:
		return strings.Compare(a.Text(), b.Text()), true
	case N:
		return compareNumbers(a.Text(), b.Text()), true
	}
	return 0, false
}

// few is the largest number of elements that are compared each with each. More are sorted or looked up.
const few = 16

// equalSets reports whether two lists of distinct S, N or B have the same elements.
func equalSets(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) <= few {
		for _, v := range a {
			if !slices.ContainsFunc(b, v.Equal) {
				return false
			}
		}
		return true
	}
	if slices.EqualFunc(a, b, Value.Equal) {
		return true
	}
	// A request can compare a long set with many others. Most that differ are told apart by a sum.
	if sum(a) != sum(b) {
		return false
	}
	texts := make(map[string]struct{}, len(a))
	for i := range a {
		texts[a[i].Text()] = struct{}{}
	}
	for i := range b {
		if _, ok := texts[b[i].Text()]; !ok {
			return false
		}
	}
	return true
}

var seed = maphash.MakeSeed()

// sum returns a number that is the same for the same texts in any order.
func sum(a []Value) (n uint64) {
	for i := range a {
		n += maphash.String(seed, a[i].Text())
	}
	return n
}

// duplicate returns the index of an element that is equal to an earlier one, or -1.
func duplicate(a []Value) int {
	if len(a) <= few {
		for i := range a {
			for j := range i {
				if a[i].Text() == a[j].Text() {
					return i
				}
			}
		}
		return -1
	}
	order := make([]int, len(a))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if c := strings.Compare(a[i].Text(), a[j].Text()); c != 0 {
			return c
		}
		return i - j
	})
	for i := 1; i < len(order); i++ {
		if a[order[i]].Text() == a[order[i-1]].Text() {
			return order[i]
		}
	}
	return -1
}
