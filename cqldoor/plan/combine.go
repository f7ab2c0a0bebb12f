// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
)

// Combinator combines the values that two shards computed with the same aggregate.
type Combinator func(a, b []byte) []byte

// output decides how the door makes a result. If the aggregates of shards combine exactly, each shard computes its own, and
// the door combines them. If no shard can compute the result alone, the door evaluates it over the merged rows. In all
// other cases the door passes the merged rows on.
func (p planning) output(together bool) {
	a := p.Logical
	switch {
	case together, a.JSON, a.Grouped, a.Distinct, len(a.Sort) > 0, p.FilterHere, p.Access == Owners, a.Selection.Aggregated && p.Table.Hides():
		p.Output = Evaluated
	case a.Selection.Aggregated:
		p.Output = Evaluated
		if p.Combine = combinators(a); p.Combine != nil {
			p.Output = Combined
		}
	}
}

// combinators returns one combinator for each selected aggregate if all of them combine exactly:
// COUNT, MIN, MAX, and SUM of integers, whose addition wraps and so is associative. Otherwise it
// returns nil: sums of floats and decimals, averages and plain columns depend on the order of the
// rows.
func combinators(a *analysis.Select) []Combinator {
	var out []Combinator
	for _, e := range a.Selection.Exprs {
		call, ok := e.(*eval.Call)
		if !ok || !call.Func.Aggregate {
			return nil
		}
		t := call.Func.Returns
		var c Combinator
		switch call.Func.Name {
		case "count", "count_rows", "countRows":
			c = addInts
		case "sum":
			switch t.Kind {
			case value.Bigint, value.Int, value.Smallint, value.Tinyint, value.Counter:
				c = addInts
			default:
				if !rule.On(rule.FloatsInOrder) {
					c = addInts
				}
			}
		case "min":
			c = extreme(t, -1)
		case "max":
			c = extreme(t, 1)
		}
		if c == nil {
			return nil
		}
		out = append(out, c)
	}
	return out
}

// addInts adds two integers of the same width. The sum wraps.
func addInts(a, b []byte) []byte {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	sum := make([]byte, len(a))
	carry := 0
	for i := len(a) - 1; i >= 0; i-- {
		s := int(a[i]) + int(b[i]) + carry
		sum[i], carry = byte(s), s>>8
	}
	return sum
}

// extreme returns a combinator that takes the smaller or the larger of two values. It ignores a
// null.
func extreme(t *value.Type, direction int) Combinator {
	return func(a, b []byte) []byte {
		switch {
		case a == nil:
			return b
		case b == nil:
			return a
		case t.Compare(b, a)*direction > 0:
			return b
		}
		return a
	}
}
