// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"maps"
	"math/bits"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/workbench/datetime"
)

// tokenRows counts rows by their tokens under Identity. It divides the tokens into equal ranges
// from the least to the greatest, which it knows only at the end. If there are very many tokens,
// neighbours share a count.
type tokenRows struct {
	width uint // a count covers 1<<width tokens
	rows  map[uint64]int64
}

// mostTokens is the greatest number of counts.
const mostTokens = 1 << 19

func newTokenRows() *tokenRows { return &tokenRows{rows: make(map[uint64]int64)} }

// add counts a row. It turns tokens into unsigned numbers in the same order.
func (t *tokenRows) add(token int64) {
	t.rows[ordered(token)>>t.width]++
	if len(t.rows) > mostTokens {
		t.widen()
	}
}

// widen makes counts so wide that at most half of the greatest number is left.
func (t *tokenRows) widen() {
	list := slices.Sorted(maps.Keys(t.rows))
	var meet [65]int // neighbours, by the bits to drop until they share a count
	for i := 1; i < len(list); i++ {
		meet[bits.Len64(list[i]^list[i-1])]++
	}
	more, left := uint(0), len(list)
	for left > mostTokens/2 {
		more++
		left -= meet[more]
	}
	wider := make(map[uint64]int64, left)
	for at, n := range t.rows {
		wider[at>>more] += n
	}
	t.rows, t.width = wider, t.width+more
}

func ordered(token int64) uint64 { return uint64(token) ^ 1<<63 }

// bounds returns the least and the greatest token, as far as the counts tell them apart.
func (t *tokenRows) bounds() (least, greatest uint64) {
	first := true
	for at := range t.rows {
		if first {
			least, greatest, first = at, at, false
		}
		least, greatest = min(least, at), max(greatest, at)
	}
	return least, greatest
}

// sizes returns the rows of n equal ranges.
func (t *tokenRows) sizes(n int) []int64 {
	sizes := make([]int64, n)
	least, greatest := t.bounds()
	span := greatest - least + 1 // 0 for all of 2^64
	for at, rows := range t.rows {
		i := uint64(0)
		if hi, lo := bits.Mul64(at-least, uint64(n)); span == 0 {
			i = hi
		} else {
			i, _ = bits.Div64(hi, lo, span) // hi < span, because at-least < span
		}
		sizes[i] += rows
	}
	return sizes
}

// number returns the token of a text under Identity: an integer itself, or a time in ms since 1970.
func number(p *datetime.Parser, order *datetime.Order, text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	return timeOf(p, order, text)
}
