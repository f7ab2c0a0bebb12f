// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// keyRanges holds the conditions of one alternative on one attribute of the sort key.
type keyRanges struct {
	conditions []condition // all of them
	operators  []string
	equal      attribute.Value // Invalid: none
	prefix     attribute.Value
	low, high  attribute.Value
	above      bool // low itself is excluded
	below      bool // high itself is excluded
	never      bool
}

func (q *keyRanges) add(c condition, operator string, values []attribute.Value) {
	q.conditions, q.operators = append(q.conditions, c), append(q.operators, operator)
	v := values[0]
	switch operator {
	case "=":
		if q.equal.Kind() != attribute.Invalid && !q.equal.Equal(v) {
			q.never = true
		}
		q.equal = v
	case ">", ">=":
		q.from(v, operator == ">")
	case "<", "<=":
		q.to(v, operator == "<")
	case "between":
		q.from(v, false)
		q.to(values[1], false)
	case "begins_with":
		if p := q.prefix; p.Kind() != attribute.Invalid && !strings.HasPrefix(v.Text(), p.Text()) {
			q.never = q.never || !strings.HasPrefix(p.Text(), v.Text())
			return
		}
		q.prefix = v
	}
}

func (q *keyRanges) from(v attribute.Value, open bool) {
	c, _ := attribute.Compare(v, q.low)
	if q.low.Kind() == attribute.Invalid || c > 0 || c == 0 && open {
		q.low, q.above = v, open
	}
}

func (q *keyRanges) to(v attribute.Value, open bool) {
	c, _ := attribute.Compare(v, q.high)
	if q.high.Kind() == attribute.Invalid || c < 0 || c == 0 && open {
		q.high, q.below = v, open
	}
}

// possible reports whether a value can meet all conditions.
func (q *keyRanges) possible() bool {
	if q.never {
		return false
	}
	if q.low.Kind() != attribute.Invalid && q.high.Kind() != attribute.Invalid {
		if c, _ := attribute.Compare(q.low, q.high); c > 0 || c == 0 && (q.above || q.below) {
			return false
		}
	}
	return q.equal.Kind() == attribute.Invalid || q.has(q.equal)
}

// has reports whether a value is in the range.
func (q *keyRanges) has(v attribute.Value) bool {
	if q.prefix.Kind() != attribute.Invalid && !strings.HasPrefix(v.Text(), q.prefix.Text()) {
		return false
	}
	if q.low.Kind() != attribute.Invalid {
		if c, _ := attribute.Compare(v, q.low); c < 0 || c == 0 && q.above {
			return false
		}
	}
	if q.high.Kind() != attribute.Invalid {
		if c, _ := attribute.Compare(v, q.high); c > 0 || c == 0 && q.below {
			return false
		}
	}
	return true
}

// keyRange returns the range as the condition of a Query, and the conditions that it does not
// cover. The caller has checked that there is no equality.
func (q *keyRanges) keyRange() (op expression.RangeOp, low, high attribute.Value, left []condition) {
	keep := func(said ...string) {
		for i, c := range q.conditions {
			in := false
			for _, s := range said {
				in = in || q.operators[i] == s
			}
			if !in {
				left = append(left, c)
			}
		}
	}
	bounded := [2]bool{q.low.Kind() != attribute.Invalid, q.high.Kind() != attribute.Invalid}
	switch {
	case q.prefix.Kind() != attribute.Invalid:
		keep("begins_with")
		return expression.BeginsWith, q.prefix, high, left
	case bounded == [2]bool{true, true}:
		keep(">=", "<=", "between")
		return expression.Between, q.low, q.high, left
	case bounded[0] && q.above:
		keep(">", ">=")
		return expression.Greater, q.low, high, left
	case bounded[0]:
		keep(">", ">=")
		return expression.GreaterOrEqual, q.low, high, left
	case q.below:
		keep("<", "<=")
		return expression.Less, q.high, high, left
	}
	keep("<", "<=")
	return expression.LessOrEqual, q.high, high, left
}

// interval is the range of an alternative's sort keys: those that begin with some values and whose
// next value is in a range.
type interval struct {
	prefix []attribute.Value
	last   *keyRanges
	done   bool // nothing can be added
}

func (i *interval) add(q *keyRanges) {
	if q.equal.Kind() != attribute.Invalid {
		i.prefix = append(i.prefix, q.equal)
		return
	}
	i.last, i.done = q, true
}

// overlaps reports whether a sort key can be in both intervals.
func (i *interval) overlaps(j interval) bool {
	n := min(len(i.prefix), len(j.prefix))
	for k := range n {
		if !i.prefix[k].Equal(j.prefix[k]) {
			return false
		}
	}
	switch {
	case len(i.prefix) > n:
		return j.last == nil || j.last.has(i.prefix[n])
	case len(j.prefix) > n:
		return i.last == nil || i.last.has(j.prefix[n])
	case i.last == nil || j.last == nil:
		return true
	}
	return i.last.meets(j.last)
}

// meets reports whether a value can be in both ranges. A prefix counts as the range of all values
// that begin with it.
func (q *keyRanges) meets(o *keyRanges) bool {
	both := *q
	if o.low.Kind() != attribute.Invalid {
		both.from(o.low, o.above)
	}
	if o.high.Kind() != attribute.Invalid {
		both.to(o.high, o.below)
	}
	for _, r := range []*keyRanges{q, o} {
		p := r.prefix
		if p.Kind() == attribute.Invalid {
			continue
		}
		both.from(p, false)
		end := []byte(p.Text())
		for len(end) > 0 && end[len(end)-1] == 0xff {
			end = end[:len(end)-1]
		}
		if len(end) > 0 {
			end[len(end)-1]++
			v := attribute.String(string(end))
			if p.Kind() == attribute.B {
				v = attribute.Binary(string(end))
			}
			both.to(v, true)
		}
	}
	both.never = false
	return both.possible()
}
