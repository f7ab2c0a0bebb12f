// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// interval is a range of sort keys that includes its bounds. DynamoDB takes one condition on a sort
// key. To exclude a bound, the interval uses the next value, so that every interval is one
// condition.
type interval struct {
	low, high attribute.Value // Invalid: no bound
}

func bounded(v attribute.Value) bool { return v.Kind() != attribute.Invalid }

// intervalOf returns the interval of a key condition.
func intervalOf(k *expression.KeyRange) interval {
	switch k.Op {
	case expression.Equal:
		return interval{k.Low, k.Low}
	case expression.Less:
		return interval{high: before(k.Low)}
	case expression.LessOrEqual:
		return interval{high: k.Low}
	case expression.Greater:
		return interval{low: after(k.Low)}
	case expression.GreaterOrEqual:
		return interval{low: k.Low}
	case expression.BeginsWith:
		return interval{k.Low, last(k.Low)}
	case expression.Between:
		return interval{k.Low, k.High}
	}
	return interval{}
}

// from raises the lower bound to v, if v is higher; to lowers the upper bound.
func (i interval) from(v attribute.Value) interval {
	if c, _ := attribute.Compare(v, i.low); !bounded(i.low) || c > 0 {
		i.low = v
	}
	return i
}

func (i interval) to(v attribute.Value) interval {
	if c, _ := attribute.Compare(v, i.high); !bounded(i.high) || c < 0 {
		i.high = v
	}
	return i
}

func (i interval) empty() bool {
	c, _ := attribute.Compare(i.low, i.high)
	return bounded(i.low) && bounded(i.high) && c > 0
}

// keyRange returns k, which must have no Prefix, with the interval as its condition on the sort
// key.
func (i interval) keyRange(k expression.KeyRange) expression.KeyRange {
	k.Low, k.High = i.low, i.high
	switch {
	case bounded(i.low) && bounded(i.high):
		k.Op = expression.Between
	case bounded(i.low):
		k.Op = expression.GreaterOrEqual
	case bounded(i.high):
		k.Op, k.Low, k.High = expression.LessOrEqual, i.high, attribute.Value{}
	default:
		k.Op = expression.NoRange
	}
	return k
}

// after returns the next value after a sort key. If that value cannot be written, it returns the
// value itself, and the reader skips that row.
func after(v attribute.Value) attribute.Value {
	switch {
	case v.Kind() == attribute.N:
		return attribute.NextNumber(v)
	case len(v.Text()) >= attribute.MaxRangeSize:
		return v
	case v.Kind() == attribute.B:
		return attribute.Binary(v.Text() + "\x00")
	}
	return attribute.String(v.Text() + "\x00")
}

// before returns the last value before a sort key, or the value itself as after does.
func before(v attribute.Value) attribute.Value {
	text := v.Text()
	switch v.Kind() {
	case attribute.N:
		return attribute.PreviousNumber(v)
	case attribute.B:
		n := len(text) - 1
		if n < 0 || n == 0 && text[0] == 0 {
			return v
		}
		if text[n] == 0 {
			return attribute.Binary(text[:n])
		}
		return last(attribute.Binary(text[:n] + string([]byte{text[n] - 1})))
	}
	r, size := utf8.DecodeLastRuneInString(text)
	stem := text[:len(text)-size]
	switch {
	case text == "" || r == 0 && stem == "":
		return v
	case r == 0:
		return attribute.String(stem)
	case r == 0xe000:
		r = 0xd800 // skip the surrogates, which are no characters
	}
	return last(attribute.String(stem + string(r-1)))
}

// last returns the last sort key that begins with a prefix.
func last(prefix attribute.Value) attribute.Value {
	text := prefix.Text()
	left := attribute.MaxRangeSize - len(text)
	if prefix.Kind() == attribute.B {
		return attribute.Binary(text + strings.Repeat("\xff", max(0, left)))
	}
	var b strings.Builder
	b.WriteString(text)
	// Append the last characters of four, three, two and one bytes, as many as fit.
	for _, c := range []string{"\U0010ffff", "\uffff", "\u07ff", "\x7f"} {
		for ; left >= len(c); left -= len(c) {
			b.WriteString(c)
		}
	}
	return attribute.String(b.String())
}
