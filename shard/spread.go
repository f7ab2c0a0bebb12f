// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Spread says how the rows of one logical partition are spread.
type Spread struct {
	Range

	// Rows are the epochs of rows, sorted by From. A row that is in no epoch is in Range.
	Rows []RowEpoch
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
