// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/binary"
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// allow extends the tuples with the values that a restriction allows for its columns.
func (t *Tuples) allow(r *Restriction, env *eval.Env) error {
	if r.Kind == EQ && !r.Tuple && len(t.lists) == 0 {
		v, err := r.value(r.Term, env)
		if err == nil {
			t.first = append(t.first, v)
		}
		return err
	}
	v, err := r.values(env)
	if err == nil {
		t.add(v, r.Columns)
	}
	return err
}

// tuplesOf returns the tuples that consecutive restrictions allow.
func tuplesOf(rs []*Restriction, columns int, env *eval.Env) (Tuples, error) {
	all := Tuples{first: make([][]byte, 0, columns), n: 1}
	for _, r := range rs {
		if err := all.allow(r, env); err != nil || all.n == 0 {
			return Tuples{}, err
		}
	}
	return all, nil
}

// values returns what an EQ or IN restriction allows: a list of tuples, each with one value per
// column.
func (r *Restriction) values(env *eval.Env) (out list, err error) {
	switch {
	case r.Tuple:
		return r.tupleValues(env)
	case r.Kind == EQ:
		b, err := r.value(r.Term, env)
		if err == nil {
			out.add(b)
		}
		return out, err
	case r.List != nil:
		return r.listed(env, r.notNull)
	}
	for _, t := range r.Terms {
		b, err := r.value(t, env)
		if err != nil {
			return list{}, err
		}
		out.add(b)
	}
	return out, nil
}

// value evaluates a term to a value of a key column.
func (r *Restriction) value(e eval.Expr, env *eval.Env) ([]byte, error) {
	v, err := eval.Term(e, env)
	if err != nil {
		return nil, err
	}
	return r.notNull(v)
}

// notNull refuses null and unset values of a key column.
func (r *Restriction) notNull(v eval.Value) ([]byte, error) {
	switch {
	case v.Unset:
		return nil, invalid("Invalid unset value for column %s", r.Columns[0].Name)
	case v.Bytes == nil:
		return nil, invalid("Invalid null value in condition for column %s", r.Columns[0].Name)
	}
	return v.Bytes, nil
}

// listed returns the values of IN ?, without nulls. It calls check with each.
func (r *Restriction) listed(env *eval.Env, check func(eval.Value) ([]byte, error)) (none list, err error) {
	v, err := rawList(r.List, env)
	switch {
	case err != nil:
		return none, err
	case v.Unset:
		return none, invalid("Invalid unset value for column %s", r.Columns[0].Name)
	case v.Bytes == nil:
		return none, invalid("Invalid null value for column %s", r.Columns[0].Name)
	}
	t, n := r.List.Type(), 0
	for p := t.Parts(v.Bytes); p.Next(); n++ {
		b := p.Part()
		if len(b) == 0 && t.Elems[0].EmptyMeaningless() {
			b = nil
		}
		if _, err := check(eval.Value{Bytes: b}); err != nil {
			return none, err
		}
	}
	stored, err := t.Bind(v.Bytes)
	if err != nil {
		return none, inner(err)
	}
	// What list keeps is a serialized list without its count. Only an IN that filters may have nulls,
	// which match nothing.
	out := list{width: 1, bytes: stored, at: make([]uint32, 0, n)}
	for at := 4; n > 0; n-- {
		length := int32(binary.BigEndian.Uint32(stored[at:]))
		if length >= 0 {
			out.at = append(out.at, uint32(at))
		}
		at += 4 + int(max(length, 0))
	}
	return out, nil
}

// rawList returns the value of IN ? before its elements are validated, because null elements have
// an error of their own.
func rawList(e eval.Expr, env *eval.Env) (eval.Value, error) {
	if m, ok := e.(*eval.Marker); ok && m.Index < len(env.Values) {
		return env.Values[m.Index], nil
	}
	return eval.Term(e, env)
}

// tupleValues returns the tuples of (a, b) = … and (a, b) IN ….
func (r *Restriction) tupleValues(env *eval.Env) (none list, err error) {
	var out list
	if r.Kind == EQ {
		t, err := r.components(r.Term, r.Tuple, env)
		if err != nil {
			return none, err
		}
		for i, v := range t {
			if v == nil {
				return none, invalid("Invalid null value for column %s", r.Columns[i].Name)
			}
		}
		if err := r.whole(t); err != nil {
			return none, err
		}
		out.add(t...)
		return out, nil
	}
	if r.List != nil {
		v, err := eval.Term(r.List, env)
		switch {
		case err != nil:
			return none, err
		case v.Unset:
			return none, invalid("Invalid unset value for %s", r.bindName())
		case v.Bytes == nil:
			return none, invalid("Invalid null value for IN restriction")
		}
		list := r.List.Type()
		for p := list.Parts(v.Bytes); p.Next(); {
			if p.Part() == nil {
				return none, invalid("Invalid null value in condition for columns: [%s]", r.names(", "))
			}
		}
		for p := list.Parts(v.Bytes); p.Next(); {
			if err := r.allowTuple(&out, split(list.Elems[0], p.Part())); err != nil {
				return none, err
			}
		}
	}
	for _, e := range r.Terms {
		t, err := r.components(e, true, env)
		if err != nil {
			return none, err
		}
		if err := r.allowTuple(&out, t); err != nil {
			return none, err
		}
	}
	return out, nil
}

// allowTuple adds a tuple of (a, b) IN … to the allowed ones.
func (r *Restriction) allowTuple(out *list, t [][]byte) error {
	if slices.ContainsFunc(t, func(v []byte) bool { return v == nil }) {
		return invalid("Invalid null value in condition for columns: [%s]", r.names(", "))
	}
	if err := r.whole(t); err != nil {
		return err
	}
	out.add(t...)
	return nil
}

// whole refuses a tuple with fewer values than columns. Cassandra treats such a tuple as a prefix,
// or finds no row with it, and writes a row without the rest of its key.
func (r *Restriction) whole(tuple [][]byte) error {
	if len(tuple) < len(r.Columns) {
		return invalid("Expected %d elements in value tuple, but got %d", len(r.Columns), len(tuple))
	}
	return nil
}

func (r *Restriction) bindName() string { return "in(" + r.names(",") + ")" }

// names joins the names of the columns.
func (r *Restriction) names(separator string) string {
	var s string
	for i, c := range r.Columns {
		if i > 0 {
			s += separator
		}
		s += c.Name
	}
	return s
}

// components evaluates a term: to the components of a tuple, or to one value if the term is not a
// tuple.
func (r *Restriction) components(e eval.Expr, tuple bool, env *eval.Env) ([][]byte, error) {
	if e == nil {
		return nil, nil
	}
	v, err := eval.Term(e, env)
	if err != nil {
		return nil, err
	}
	if !tuple {
		if v.Unset {
			return nil, invalid("Invalid unset value for column %s", r.Columns[0].Name)
		}
		return [][]byte{v.Bytes}, nil
	}
	if v.Unset {
		return nil, invalid("Invalid unset value for tuple (%s)", r.names(","))
	}
	if v.Bytes == nil {
		return nil, invalid("Invalid null value in condition for column %s", r.Columns[0].Name)
	}
	return split(e.Type(), v.Bytes), nil
}

// split returns a tuple's components. A value may have fewer components than its type.
func split(t *value.Type, v []byte) [][]byte {
	out := make([][]byte, 0, len(t.Elems))
	for p := t.Parts(v); p.Next(); {
		out = append(out, p.Part())
	}
	return out
}

// keys returns the partition keys that a WHERE names, ordered by their values.
func (w *Where) keys(env *eval.Env, t *schema.Table) (Tuples, error) {
	keys, err := tuplesOf(w.Partition, len(t.PartitionKey), env)
	if err != nil {
		return Tuples{}, err
	}
	return keys, keys.checkKeys()
}

// maxKey is the largest length of a partition or clustering key in bytes.
const maxKey = 65535

// checkKeys verifies the lengths of partition keys. A key of one column is serialized as it is. A
// key of several columns has 3 more bytes for each column.
func (t *Tuples) checkKeys() error {
	if t.n == 0 {
		return nil
	}
	overhead := 0
	if columns := len(t.At(0)); columns > 1 {
		overhead = 3 * columns
	} else if size(t.At(0)) == 0 { // the empty value sorts first
		return invalid("Key may not be empty")
	}
	// The error names the length without the overhead if that alone is too long.
	n, long := t.Longer(maxKey - overhead)
	if !long {
		return nil
	}
	if n <= maxKey {
		n += overhead
	}
	return tooLong(n)
}

// checkClustering verifies the lengths of clustering keys.
func (t *Tuples) checkClustering() error {
	if n, long := t.Longer(maxKey); long {
		return tooLong(n)
	}
	return nil
}

func tooLong(n int) error {
	return invalid("Key length of %d is longer than maximum of %d", n, maxKey)
}

// slices returns the rows of a partition that a WHERE names. With nullFirst, a null end of a range
// sorts before all rows in clustering order, as in Cassandra's reads. Otherwise a null end is an
// error.
func (w *Where) slices(env *eval.Env, t *schema.Table, nullFirst bool) (none Slices, err error) {
	prefixes, last, err := w.prefixes(env, t)
	if err != nil {
		return none, err
	}
	if last == nil {
		return Slices{prefixes: prefixes}, nil
	}
	start, err := last.components(last.Start, last.StartTuple, env)
	if err != nil {
		return none, err
	}
	end, err := last.components(last.End, last.EndTuple, env)
	if err != nil {
		return none, err
	}
	if nullFirst {
		first, after := &start, &end
		if last.Columns[0].Desc {
			first, after = after, first
		}
		if !last.endTuple(after == &end) && null(*after) {
			return none, nil
		}
		if !last.endTuple(first == &end) && null(*first) {
			*first = nil
		}
	}
	for _, b := range [][][]byte{start, end} {
		for i, v := range b {
			if v == nil {
				return none, invalid("Invalid null value in condition for column %s", last.Columns[i].Name)
			}
		}
	}
	if len(start) == 0 {
		start = nil // an empty tuple does not limit the range
	}
	if len(end) == 0 {
		end = nil
	}
	r := region{cols: last.Columns, start: start, end: end, startIn: last.StartInclusive, endIn: last.EndInclusive}
	below := r.slices(nil, nil)
	if len(below) == 0 {
		return none, nil
	}
	return Slices{prefixes, below}, nil
}

func null(values [][]byte) bool { return len(values) == 1 && values[0] == nil }

// endTuple reports whether the end (or, if end is false, the start) was written as a tuple.
func (r *Restriction) endTuple(end bool) bool {
	if end {
		return r.EndTuple
	}
	return r.StartTuple
}

// prefixes returns the clustering prefixes that EQ and IN allow, and the range restriction that
// follows them, if there is one.
func (w *Where) prefixes(env *eval.Env, t *schema.Table) (Tuples, *Restriction, error) {
	rs := w.Clustering
	var last *Restriction
	if i := slices.IndexFunc(rs, func(r *Restriction) bool { return r.Kind == Range }); i >= 0 {
		rs, last = rs[:i], rs[i]
	}
	all, err := tuplesOf(rs, len(t.Clustering), env)
	if all.n == 0 {
		return all, nil, err
	}
	return all, last, nil
}
