// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Filter is one predicate over a cell of a row.
type Filter struct {
	Column *schema.Column
	Cell   int       // index in Fetch
	Op     syntax.Op // EQ, LT, LE, GT, GE, In, Contains, ContainsKey, Like; EQ with Key set tests a map's entry
	Key    []byte
	Value  []byte
	Values [][]byte // In; Contains and ContainsKey of several values: sorted, without nulls
	Keys   [][]byte // EQ of several entries of a map: sorted, with an entry's value in Values
}

// Matches reports whether a row satisfies the predicate. A null cell satisfies no predicate.
func (f *Filter) Matches(row eval.Row) bool {
	v := row.Cell(f.Cell)
	if v == nil {
		return false
	}
	t := f.Column.Type
	switch f.Op {
	case syntax.OpEQ:
		if f.Keys != nil {
			return hasEntries(t, v, f.Keys, f.Values)
		}
		if f.Key != nil {
			return hasEntry(t, v, f.Key, f.Value)
		}
		return t.Compare(v, f.Value) == 0
	case syntax.OpLT:
		return t.Compare(v, f.Value) < 0
	case syntax.OpLE:
		return t.Compare(v, f.Value) <= 0
	case syntax.OpGT:
		return t.Compare(v, f.Value) > 0
	case syntax.OpGE:
		return t.Compare(v, f.Value) >= 0
	case syntax.OpIn:
		_, found := slices.BinarySearchFunc(f.Values, v, t.Compare)
		return found
	case syntax.OpContains, syntax.OpContainsKey:
		if f.Values != nil {
			return hasElements(t, v, f.Values, f.Op == syntax.OpContainsKey)
		}
		return hasElement(t, v, f.Value, f.Op == syntax.OpContainsKey)
	}
	return false
}

// partOf returns the type that CONTAINS (with key, CONTAINS KEY) compares.
func partOf(t *value.Type, key bool) *value.Type {
	if key {
		return t.Elems[0]
	}
	return t.Elems[len(t.Elems)-1]
}

// hasElements reports whether a collection has all values of want, which are sorted and distinct.
// It reads the collection only once, however long want is.
func hasElements(t *value.Type, v []byte, want [][]byte, key bool) bool {
	of := partOf(t, key)
	found := make([]bool, len(want))
	left := len(want)
	eachElement(t, v, key, func(part []byte) bool {
		if i, ok := slices.BinarySearchFunc(want, part, of.Compare); ok && !found[i] {
			found[i] = true
			left--
		}
		return left > 0
	})
	return left == 0
}

// hasElement reports whether a collection has an element, or a map a value (with key, a key).
func hasElement(t *value.Type, v, want []byte, key bool) bool {
	of, found := partOf(t, key), false
	eachElement(t, v, key, func(part []byte) bool {
		found = of.Compare(part, want) == 0
		return !found
	})
	return found
}

// eachElement calls f with each non-null element of a collection, or with each value of a map (with
// key, each key), until f returns false.
func eachElement(t *value.Type, v []byte, key bool, f func(part []byte) bool) {
	for p := t.Parts(v); p.Next(); {
		part := p.Part()
		if t.Kind == value.Map {
			k := part
			if !p.Next() {
				return
			}
			part = p.Part()
			if key {
				part = k
			}
		}
		if part != nil && !f(part) {
			return
		}
	}
}

func hasEntry(t *value.Type, v, key, want []byte) bool {
	for p := t.Parts(v); p.Next(); {
		k := p.Part()
		if !p.Next() {
			return false
		}
		if t.Elems[0].Compare(k, key) == 0 {
			return t.Elems[1].Compare(p.Part(), want) == 0
		}
	}
	return false
}

// hasEntries reports whether a map has all entries of keys, which are sorted and distinct, and
// values. It reads the map only once, however many entries are wanted.
func hasEntries(t *value.Type, v []byte, keys, values [][]byte) bool {
	found := make([]bool, len(keys))
	left := len(keys)
	for p := t.Parts(v); left > 0 && p.Next(); {
		k := p.Part()
		if !p.Next() {
			return false
		}
		i, ok := slices.BinarySearchFunc(keys, k, t.Elems[0].Compare)
		if !ok || found[i] {
			continue
		}
		if t.Elems[1].Compare(p.Part(), values[i]) != 0 {
			return false
		}
		found[i] = true
		left--
	}
	return left == 0
}

// Matches reports whether a row satisfies all filters.
func (b *BoundSelect) Matches(row eval.Row) bool {
	for i := range b.Filters {
		if !b.Filters[i].Matches(row) {
			return false
		}
	}
	return true
}

// bindFilters binds the filters to their values.
func (w *Where) bindFilters(env *eval.Env) ([]Filter, error) {
	var out []Filter
	for _, r := range w.Filters {
		fs, err := r.filters(env)
		if err != nil {
			return nil, err
		}
		out = append(out, fs...)
	}
	return mergeEntries(mergeContains(out)), nil
}

// mergeContains merges all filters that test whether the same column contains something into one.
func mergeContains(all []Filter) []Filter {
	type of struct {
		cell int
		op   syntax.Op
	}
	first := map[of]int{}
	out := all[:0]
	for _, f := range all {
		if f.Op != syntax.OpContains && f.Op != syntax.OpContainsKey {
			out = append(out, f)
			continue
		}
		at, ok := first[of{f.Cell, f.Op}]
		if !ok {
			first[of{f.Cell, f.Op}] = len(out)
			out = append(out, f)
			continue
		}
		if g := &out[at]; g.Values == nil {
			g.Values = [][]byte{g.Value, f.Value}
		} else {
			g.Values = append(g.Values, f.Value)
		}
	}
	for _, at := range first {
		if f := &out[at]; f.Values != nil {
			of := partOf(f.Column.Type, f.Op == syntax.OpContainsKey)
			slices.SortFunc(f.Values, of.Compare)
			f.Values = slices.CompactFunc(f.Values, func(a, b []byte) bool { return of.Compare(a, b) == 0 })
		}
	}
	return out
}

// mergeEntries merges all filters on entries of the same map into one. If two of them want
// different values of one key, the second stays a filter of its own.
func mergeEntries(all []Filter) []Filter {
	first := map[int]int{}
	out := all[:0]
	var more []Filter
	for _, f := range all {
		if f.Op != syntax.OpEQ || f.Key == nil {
			out = append(out, f)
			continue
		}
		at, ok := first[f.Cell]
		if !ok {
			first[f.Cell] = len(out)
			out = append(out, f)
			continue
		}
		g := &out[at]
		if g.Keys == nil {
			g.Keys, g.Values = [][]byte{g.Key}, [][]byte{g.Value}
		}
		g.Keys, g.Values = append(g.Keys, f.Key), append(g.Values, f.Value)
	}
	for _, at := range first {
		if f := &out[at]; f.Keys != nil {
			if extra := f.sortEntries(); extra != nil {
				more = append(more, *extra)
			}
		}
	}
	return append(out, more...)
}

// sortEntries sorts the entries that a filter wants, and removes those that it names twice. It
// returns a filter that nothing matches together with f if they contradict each other.
func (f *Filter) sortEntries() (contrary *Filter) {
	key, val := f.Column.Type.Elems[0], f.Column.Type.Elems[1]
	type entry struct{ key, value []byte }
	all := make([]entry, len(f.Keys))
	for i := range all {
		all[i] = entry{f.Keys[i], f.Values[i]}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return key.Compare(a.key, b.key) })
	f.Keys, f.Values = f.Keys[:0], f.Values[:0]
	for i, e := range all {
		if n := len(f.Keys); i > 0 && key.Compare(f.Keys[n-1], e.key) == 0 {
			if val.Compare(f.Values[n-1], e.value) != 0 {
				contrary = &Filter{Column: f.Column, Cell: f.Cell, Op: syntax.OpEQ, Key: e.key, Value: e.value}
			}
			continue
		}
		f.Keys, f.Values = append(f.Keys, e.key), append(f.Values, e.value)
	}
	return contrary
}

// filters returns the predicates of a restriction.
func (r *Restriction) filters(env *eval.Env) ([]Filter, error) {
	c := r.Columns[0]
	one := func(op syntax.Op, e eval.Expr) (Filter, error) {
		v, err := filterValue(c, e, env)
		return Filter{Column: c, Cell: r.Cells[0], Op: op, Value: v}, err
	}
	switch r.Kind {
	case EQ:
		if r.Tuple {
			return r.tupleFilters(env)
		}
		f, err := one(syntax.OpEQ, r.Term)
		return []Filter{f}, err
	case Contains, ContainsKey, Like:
		op := map[RestrictionKind]syntax.Op{Contains: syntax.OpContains, ContainsKey: syntax.OpContainsKey, Like: syntax.OpLike}[r.Kind]
		f, err := one(op, r.Term)
		return []Filter{f}, err
	case Entry:
		f := Filter{Column: c, Cell: r.Cells[0], Op: syntax.OpEQ}
		var err error
		if f.Key, err = entryPart(c, "key", r.Key, env); err != nil {
			return nil, err
		}
		f.Value, err = entryPart(c, "value", r.Term, env)
		return []Filter{f}, err
	case IN:
		if r.Tuple && len(r.Columns) > 1 {
			return nil, invalid("Multicolumn IN filters are not supported")
		}
		values, err := r.filterList(env)
		values = slices.DeleteFunc(values, func(v []byte) bool { return v == nil })
		slices.SortFunc(values, c.Type.Compare)
		return []Filter{{Column: c, Cell: r.Cells[0], Op: syntax.OpIn, Values: values}}, err
	}
	if r.Tuple {
		return nil, invalid("Multi-column slice restrictions cannot be used for filtering.")
	}
	var out []Filter
	for _, end := range []struct {
		e         eval.Expr
		inclusive bool
		in, ex    syntax.Op
	}{{r.Start, r.StartInclusive, syntax.OpGE, syntax.OpGT}, {r.End, r.EndInclusive, syntax.OpLE, syntax.OpLT}} {
		if end.e == nil {
			continue
		}
		op := end.ex
		if end.inclusive {
			op = end.in
		}
		f, err := one(op, end.e)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func (r *Restriction) tupleFilters(env *eval.Env) ([]Filter, error) {
	parts, err := r.components(r.Term, true, env)
	if err != nil {
		return nil, err
	}
	var out []Filter
	for i, c := range r.Columns {
		if i >= len(parts) || parts[i] == nil {
			return nil, invalid("Unsupported null value for column %s", c.Name)
		}
		out = append(out, Filter{Column: c, Cell: r.Cells[i], Op: syntax.OpEQ, Value: parts[i]})
	}
	return out, nil
}

// filterList returns the values of an IN that filters. Null values match nothing.
func (r *Restriction) filterList(env *eval.Env) ([][]byte, error) {
	if r.Tuple {
		tuples, err := r.tupleValues(env)
		return tuples.firsts(), err
	}
	if r.List != nil {
		tuples, err := r.listed(env, func(v eval.Value) ([]byte, error) { return v.Bytes, nil })
		return tuples.firsts(), err
	}
	var out [][]byte
	for _, e := range r.Terms {
		v, err := eval.Term(e, env)
		if err != nil {
			return nil, err
		}
		out = append(out, v.Bytes)
	}
	return out, nil
}

func filterValue(c *schema.Column, e eval.Expr, env *eval.Env) ([]byte, error) {
	v, err := eval.Term(e, env)
	switch {
	case err != nil:
		return nil, err
	case v.Unset:
		return nil, invalid("Unsupported unset value for column %s", c.Name)
	case v.Bytes == nil:
		return nil, invalid("Unsupported null value for column %s", c.Name)
	}
	return v.Bytes, nil
}

// entryPart evaluates the key or the value of c[key] = value.
func entryPart(c *schema.Column, what string, e eval.Expr, env *eval.Env) ([]byte, error) {
	v, err := eval.Term(e, env)
	switch {
	case err != nil:
		return nil, err
	case v.Unset:
		return nil, invalid("Unsupported unset map %s for column %s", what, c.Name)
	case v.Bytes == nil:
		return nil, invalid("Unsupported null map %s for column %s", what, c.Name)
	}
	return v.Bytes, nil
}
