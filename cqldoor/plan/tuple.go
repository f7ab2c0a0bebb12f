// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// term is an expression, or one component of a tuple that is bound as a whole.
type term struct {
	expr eval.Expr
	part int // component of a tuple; -1: the value itself
}

// bytes evaluates the term to the bytes that are stored. It returns nil for null and unset
// values, which the backend refuses, as it does malformed ones.
func (t term) bytes(env *eval.Env) ([]byte, error) {
	if m, ok := t.expr.(*eval.Marker); ok && t.part < 0 && m.Index < len(env.Values) {
		v := env.Values[m.Index].Bytes
		if stored, err := m.T.Bind(v); err == nil {
			v = stored
		}
		return v, nil
	}
	v, err := eval.Term(t.expr, env)
	if err != nil || t.part < 0 {
		return v.Bytes, err
	}
	parts := t.expr.Type().Parts(v.Bytes)
	n := 0
	for ; parts.Next(); n++ {
		if n == t.part {
			return parts.Part(), nil
		}
	}
	if v.Bytes == nil {
		return nil, nil
	}
	// The backend would take a shorter tuple as the beginning of a key, and such keys can be in
	// any shard.
	return nil, wire.Invalidf("Expected %d elements in value tuple, but got %d", len(t.expr.Type().Elems), n)
}

// bound returns the term that restrictions bind a column to with =, alone or as a component of a tuple.
func bound(rs []*analysis.Restriction, c *schema.Column) (term, bool) {
	for _, r := range rs {
		if r == nil || r.Kind != analysis.EQ {
			continue
		}
		for i, col := range r.Columns {
			if col != c {
				continue
			}
			if !r.Tuple {
				return term{r.Term, -1}, true
			}
			if tuple, ok := r.Term.(*eval.Collection); ok {
				return term{tuple.Elems[i], -1}, true
			}
			return term{r.Term, i}, true
		}
	}
	return term{}, false
}

// checkTuples looks at the sets and maps in the tuples that restrict clustering columns.
//
// The client may bind a frozen set or map in any order; it is stored in sorted order. Cassandra
// does not sort a set or map inside a tuple, (a, b) IN ?. There, an unsorted value matches no row:
// checkTuples drops its slice. Such a value can be between two rows. A fetch binds the value alone,
// so it cannot express that: checkTuples refuses it as a bound, (a, b) > ?.
func checkTuples(t *schema.Table, s *analysis.Slices) error {
	stored := func(first int, values [][]byte) bool { // says whether values of columns have the form in which rows store them
		for i, v := range values {
			typ := t.Clustering[first+i].Type
			if !typ.Collection() {
				continue
			}
			if b, err := typ.Bind(v); err != nil || !bytes.Equal(b, v) {
				return false
			}
		}
		return true
	}
	for _, end := range s.Ends() {
		if !stored(s.Prefix(), end) {
			return refused("a set or a map in a tuple that bounds a range, its elements not in order", "put its elements in order")
		}
	}
	s.Keep(stored)
	return nil
}
