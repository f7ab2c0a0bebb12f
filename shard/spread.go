// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Range is a run of places: the shards Base+1 to Base+N.
//
// A key never uses a place twice: a row moves only to a shard that never held a copy of a row of
// its key. So growing takes new numbers. Shrinking, another hash, and every new attempt take a
// new Base.
type Range struct {
	N    int // at least 1
	Base int
}

// Last returns the highest place.
func (r Range) Last() int { return r.Base + r.N }

// Contains says whether a shard is one of the places.
func (r Range) Contains(shard int) bool { return shard > r.Base && shard <= r.Base+r.N }

func (r Range) String() string {
	if r.Base == 0 {
		return strconv.Itoa(r.N)
	}
	return strconv.Itoa(r.N) + "@" + strconv.Itoa(r.Base)
}

// MaxBase is the highest base. It keeps the numbers of shards far below the limit of an int.
const MaxBase = 1 << 30

// parseRange parses the output of String.
func parseRange(s string) (r Range, err error) {
	n, base, given := strings.Cut(s, "@")
	if r.N, err = strconv.Atoi(n); err != nil || r.N < 1 || r.N > MaxShards {
		return r, fmt.Errorf("%q is not a number of shards; it must be a whole number from 1 to %d", n, MaxShards)
	}
	if !given {
		return r, nil
	}
	if r.Base, err = strconv.Atoi(base); err != nil || r.Base < 0 || r.Base > MaxBase {
		return r, fmt.Errorf("%q is not a base; it must be a whole number from 0 to %d", base, MaxBase)
	}
	return r, nil
}

// Spread says how the rows of one logical partition are spread.
type Spread struct {
	Range

	// Rows are the epochs of rows, sorted by From. A row that is in no epoch is in Range.
	Rows []RowEpoch
}

// RowEpoch puts rows into a Range: those whose first clustering column is From or greater, in the
// order of its type (not the clustering order), up to the next epoch.
type RowEpoch struct {
	From []byte // a serialized value of the first clustering column
	Range
}

// Of returns the range of a row whose first clustering column has the given value. compare orders
// such values. Static columns are always in the spread's own Range.
func (s *Spread) Of(first []byte, compare func(a, b []byte) int) Range {
	for i := len(s.Rows) - 1; i >= 0; i-- {
		if compare(first, s.Rows[i].From) >= 0 {
			return s.Rows[i].Range
		}
	}
	return s.Range
}

// Between returns the ranges that can have rows whose first clustering column is from low to
// high, both included. nil is no bound.
func (s *Spread) Between(low, high []byte, compare func(a, b []byte) int) []Range {
	var out []Range
	for i := -1; i < len(s.Rows); i++ {
		r := s.Range
		if i >= 0 {
			r = s.Rows[i].Range
			if high != nil && compare(high, s.Rows[i].From) < 0 {
				break
			}
		}
		if i+1 < len(s.Rows) && low != nil && compare(low, s.Rows[i+1].From) >= 0 {
			continue // a later epoch has these rows
		}
		out = append(out, r)
	}
	return out
}

// AppendPlaces appends the shards of ranges, each once, in order.
func AppendPlaces(dst []int, ranges ...Range) []int {
	if len(ranges) == 1 {
		dst = slices.Grow(dst, ranges[0].N)
		for i := range ranges[0].N {
			dst = append(dst, ranges[0].Base+i+1)
		}
		return dst
	}
	sorted := slices.SortedFunc(slices.Values(ranges), func(a, b Range) int { return a.Base - b.Base })
	last := 0
	for _, r := range sorted {
		for n := max(last, r.Base) + 1; n <= r.Last(); n++ {
			dst = append(dst, n)
		}
		last = max(last, r.Last())
	}
	return dst
}

// Places returns all shards that rows of the key can be in, in order.
func (s *Spread) Places() []int {
	if len(s.Rows) == 0 {
		return AppendPlaces(nil, s.Range)
	}
	return AppendPlaces(nil, s.Between(nil, nil, nil)...)
}

// Last returns the highest place of the key.
func (s *Spread) Last() int {
	last := s.Range.Last()
	for _, e := range s.Rows {
		last = max(last, e.Last())
	}
	return last
}

// Equal says whether two spreads are the same.
func (s Spread) Equal(o Spread) bool {
	return s.Range == o.Range && slices.EqualFunc(s.Rows, o.Rows, func(a, b RowEpoch) bool { return a.Range == b.Range && bytes.Equal(a.From, b.From) })
}

// String formats a spread: 8, or 8@16 with a base, then its epochs of rows, as in "8, 64@8 from
// 0x0000018bcfe56800".
func (s Spread) String() string {
	var b strings.Builder
	b.WriteString(s.Range.String())
	for _, e := range s.Rows {
		fmt.Fprintf(&b, ", %s from 0x%x", e.Range, e.From)
	}
	return b.String()
}

// ParseSpread parses the output of String.
func ParseSpread(text string) (s Spread, err error) {
	head, rest, more := strings.Cut(text, ",")
	if s.Range, err = parseRange(strings.TrimSpace(head)); err != nil || !more {
		return s, err
	}
	s.Rows, err = parseRowEpochs(rest)
	return s, err
}

// maxEpochs bounds a list of epochs, because every read goes through the whole list.
const maxEpochs = 100

func parseRowEpochs(text string) ([]RowEpoch, error) {
	var out []RowEpoch
	for item := range strings.SplitSeq(text, ",") {
		r, from, err := parseEpoch(item)
		if err != nil {
			return nil, err
		}
		var value []byte
		if n, err := fmt.Sscanf(from, "0x%x", &value); n != 1 || err != nil || fmt.Sprintf("0x%x", value) != from {
			return nil, fmt.Errorf("%q is not a serialized value, such as 0x0000018bcfe56800", from)
		}
		out = append(out, RowEpoch{value, r})
	}
	if len(out) > maxEpochs {
		return nil, fmt.Errorf("%d epochs, of which there may be %d", len(out), maxEpochs)
	}
	return out, nil
}

// parseEpoch parses "64@8 from X".
func parseEpoch(text string) (r Range, from string, err error) {
	words := strings.Fields(text)
	if len(words) != 3 || words[1] != "from" {
		return r, "", errors.New("an epoch is written as '64 from …', several with commas between")
	}
	r, err = parseRange(words[0])
	return r, words[2], err
}
