// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// validate applies the rules that Cassandra checks when the write is executed.
func (w *Write) validate() error {
	switch {
	case w.Conditional() && w.Timestamp != nil:
		return invalid("Cannot provide custom timestamp for conditional updates")
	case w.Counter && w.Timestamp != nil:
		return invalid("Cannot provide custom timestamp for counter updates")
	case w.Counter && w.TTL != nil:
		return invalid("Cannot provide custom TTL for counter updates")
	case w.Table.View != nil:
		return invalid("Cannot directly modify a materialized view")
	}
	return nil
}

// Bind binds the statement to its values, one for each of Binds.
func (w *Write) Bind(env *eval.Env) (*BoundWrite, error) {
	if len(env.Values) != len(w.Binds) {
		return nil, invalid("Invalid amount of bind variables")
	}
	return w.bind(env, false)
}

// bind works as Bind does, but env may hold values of other statements too. batched is set for a
// write of a batch, whose conditions are checked together.
func (w *Write) bind(env *eval.Env, batched bool) (*BoundWrite, error) {
	if err := w.validate(); err != nil {
		return nil, err
	}
	if w.JSON != nil {
		v, err := eval.Term(w.JSON, env)
		if err != nil {
			return nil, err
		}
		if v.Unset || v.Bytes == nil {
			return nil, invalid("Got null for INSERT JSON values")
		}
		made := *w
		made.JSON = nil
		if err := made.json(v.Bytes, env.FromJSON); err != nil {
			return nil, err
		}
		w = &made
	}
	b := &BoundWrite{Write: w, Env: env, Scope: w.Scope}
	var err error
	if b.Keys, err = w.Where.keys(env, w.Table); err != nil {
		return nil, err
	}
	if err := b.Keys.storable(w.Table.PartitionKey); err != nil {
		return nil, err
	}
	if w.Conditional() && !batched {
		if err := w.checkConditional(); err != nil {
			return nil, err
		}
	}
	if err := b.bindRows(env); err != nil {
		return nil, err
	}
	none := b.NoRows()
	if !none {
		if err := b.bindAttributes(env); err != nil {
			return nil, err
		}
	}
	for i := range w.Conditions {
		c, err := w.Conditions[i].bind(env)
		if err != nil {
			return nil, err
		}
		b.Conditions = append(b.Conditions, c)
	}
	if b.Keys.Len() == 0 || none {
		return b, nil
	}
	for i := range w.Operations {
		m, ok, err := w.Operations[i].bind(env)
		if err != nil {
			return nil, err
		}
		if ok {
			b.Mutations = append(b.Mutations, m)
		}
	}
	return b, nil
}

// NoRows reports whether a list of clustering values is empty, so that the statement writes nothing.
// Cassandra then looks at none of its other values: it does not refuse a TTL that is too long, for example.
func (b *BoundWrite) NoRows() bool {
	return (b.Scope == ScopeRows || b.Scope == ScopeDeleteRows) && b.Rows.Len() == 0
}

// checkConditional refuses IN in lightweight transactions.
func (w *Write) checkConditional() error {
	kind := "deletions"
	if w.Kind == Update {
		kind = "updates"
	}
	switch {
	case in(w.Where.Partition):
		return invalid("IN on the partition key is not supported with conditional %s", kind)
	case in(w.Where.Clustering):
		return invalid("IN on the clustering key columns is not supported with conditional %s", kind)
	}
	return nil
}

// bindRows computes the rows or the ranges of rows that the statement writes.
func (b *BoundWrite) bindRows(env *eval.Env) error {
	if b.rangeOfColumns {
		return invalid("Range deletions are not supported for specific columns")
	}
	switch b.Scope {
	case ScopeDeleteSlices:
		var err error
		b.Slices, err = b.Where.slices(env, b.Table, false)
		return err
	case ScopeStatic:
		onRow := func(c Condition) bool { return c.Column.Kind != schema.Static }
		if b.Kind != Delete || !slices.ContainsFunc(b.Write.Conditions, onRow) {
			return nil
		}
		// DELETE static … IF regular = …: the row is the one that the conditions read.
	case ScopeDeletePartition:
		if len(b.Table.Clustering) > 0 {
			return nil
		}
	}
	var err error
	if b.Rows, _, err = b.Where.prefixes(env, b.Table); err != nil {
		return err
	}
	if err := b.Rows.checkClustering(); err != nil {
		return err
	}
	return b.Rows.storable(b.Table.Clustering)
}

// maxTTL is the longest time to live in seconds: 20 years.
const maxTTL = 20 * 365 * 24 * 60 * 60

func (b *BoundWrite) bindAttributes(env *eval.Env) error {
	var err error
	if b.Timestamp, err = timestamp(b.Write.Timestamp, env); err != nil {
		return err
	}
	if b.Write.TTL == nil {
		return nil
	}
	v, err := eval.Term(b.Write.TTL, env)
	if err != nil || v.Unset {
		return err
	}
	var ttl int32
	switch len(v.Bytes) {
	case 0: // null or empty
	case 4:
		ttl = int32(binary.BigEndian.Uint32(v.Bytes))
	default:
		return invalid("Invalid TTL value: %x", v.Bytes)
	}
	switch {
	case ttl < 0:
		return invalid("A TTL must be greater or equal to 0, but was %d", ttl)
	case ttl > maxTTL:
		return invalid("ttl is too large. requested (%d) maximum (%d)", ttl, maxTTL)
	}
	b.TTL = &ttl
	return nil
}

func timestamp(e eval.Expr, env *eval.Env) (*int64, error) {
	if e == nil {
		return nil, nil
	}
	v, err := eval.Term(e, env)
	switch {
	case err != nil || v.Unset:
		return nil, err
	case v.Bytes == nil:
		return nil, invalid("Invalid null value of timestamp")
	case len(v.Bytes) != 8:
		return nil, invalid("Invalid timestamp value: %x", v.Bytes)
	}
	ts := int64(binary.BigEndian.Uint64(v.Bytes))
	if ts == math.MinInt64 { // Cassandra uses it for "no timestamp"
		return nil, invalid("Out of bound timestamp, must be in [%d, %d]", int64(math.MinInt64+1), int64(math.MaxInt64))
	}
	return &ts, nil
}

// bind binds an operation to its values. ok is false if the operation changes nothing.
func (o *Operation) bind(env *eval.Env) (m Mutation, ok bool, err error) {
	var v eval.Value
	if o.Term != nil {
		if v, err = eval.Term(o.Term, env); err != nil {
			return m, false, err
		}
	}
	if o.Term != nil && o.Kind != Discard {
		if err := storable(o.Term.Type(), v.Bytes); err != nil {
			return m, false, err
		}
	}
	m = Mutation{Column: o.Column}
	t := o.Column.Type
	switch o.Kind {
	case Set:
		return o.set(v, env)
	case Append, Put, Prepend:
		if v.Unset || v.Bytes == nil {
			return m, false, nil
		}
		m.Kind, m.Cells = PutCells, o.cells(v.Bytes, env)
		return m, m.Cells.Len() > 0, nil
	case Discard:
		return o.discard(v)
	case SetElement, DeleteElement:
		return o.element(v, env)
	case SetField:
		m.Kind, m.Cells = PutCells, singleCell(fieldPath(o.Field), v.Bytes)
		return m, !v.Unset, nil
	case DeleteField:
		m.Kind, m.Cells = PutCells, singleCell(fieldPath(o.Field), nil)
		return m, true, nil
	case DeleteColumn:
		m.Kind = PutCell
		if t.Multicell() {
			m.Kind = ClearCells
		}
		return m, true, nil
	case AddToValue:
		m.Kind, m.Value = AddToCell, v.Bytes
		return m, !v.Unset && v.Bytes != nil, nil
	}
	return o.count(v)
}

// storable refuses a value that Cassandra would store but could not read again.
func storable(t *value.Type, v []byte) error {
	if t.HasNull(v) {
		return invalid("null is not supported inside collections")
	}
	return nil
}

// set returns the mutation of c = value.
func (o *Operation) set(v eval.Value, env *eval.Env) (Mutation, bool, error) {
	m := Mutation{Kind: PutCell, Column: o.Column, Value: v.Bytes}
	if v.Unset {
		return m, false, nil
	}
	if o.Column.Type.Multicell() {
		m = Mutation{Kind: PutCells, Column: o.Column, Clear: true}
		if v.Bytes != nil {
			m.Cells = o.cells(v.Bytes, env)
		}
	}
	return m, true, nil
}

// discard returns the mutation of c = c - value.
func (o *Operation) discard(v eval.Value) (Mutation, bool, error) {
	m := Mutation{Kind: PutCells, Column: o.Column}
	if v.Unset || v.Bytes == nil {
		return m, false, nil
	}
	t := o.Term.Type()
	m.Cells = removed(t, v.Bytes)
	if t.Kind == value.List {
		m.Kind = DiscardValues
	}
	return m, m.Cells.Len() > 0, nil
}

// element returns the mutation of c[key] = value or DELETE c[key].
func (o *Operation) element(v eval.Value, env *eval.Env) (Mutation, bool, error) {
	m := Mutation{Column: o.Column, Value: v.Bytes}
	key, err := eval.Term(o.Key, env)
	if err == nil && o.Kind == SetElement {
		err = storable(o.Key.Type(), key.Bytes)
	}
	if err != nil {
		return m, false, err
	}
	switch o.Column.Type.Kind {
	case value.List:
		switch {
		case key.Unset && o.Kind == DeleteElement:
			return m, false, nil
		case key.Unset:
			return m, false, invalid("Invalid unset value for list index")
		case len(key.Bytes) != 4:
			return m, false, invalid("Invalid null value for list index")
		}
		m.Index = int32(binary.BigEndian.Uint32(key.Bytes))
		m.Kind = SetIndex
		if o.Kind == DeleteElement {
			m.Kind = DeleteIndex
		}
		return m, !v.Unset, nil
	case value.Map:
		if key.Unset {
			return m, false, invalid("Invalid unset map key")
		}
		if key.Bytes == nil {
			return m, false, invalid("Invalid null map key")
		}
	default:
		if key.Unset {
			return m, false, nil
		}
		if key.Bytes == nil {
			return m, false, invalid("Invalid null set element")
		}
	}
	return Mutation{Kind: PutCells, Column: o.Column, Cells: singleCell(key.Bytes, v.Bytes)}, !v.Unset, nil
}

// count returns the mutation of c = c + value or c = c - value for a counter.
func (o *Operation) count(v eval.Value) (Mutation, bool, error) {
	m := Mutation{Kind: AddCounter, Column: o.Column}
	switch {
	case v.Unset:
		return m, false, nil
	case len(v.Bytes) != 8:
		return m, false, invalid("Invalid null value for counter increment")
	}
	m.Delta = int64(binary.BigEndian.Uint64(v.Bytes))
	if o.Kind == CounterSubtract {
		if m.Delta == math.MinInt64 {
			return m, false, invalid("The negation of %d overflows supported counter precision (signed 8 bytes integer)", m.Delta)
		}
		m.Delta = -m.Delta
	}
	return m, true, nil
}

// ListIndexError returns Cassandra's error for SetIndex and DeleteIndex on a list of size elements,
// if the index is out of range; else nil.
func (m *Mutation) ListIndexError(size int) error {
	if size == 0 {
		verb := "set an element on"
		if m.Kind == DeleteIndex {
			verb = "delete an element from"
		}
		return invalid("Attempted to %s a list which is null", verb)
	}
	if m.Index < 0 || int(m.Index) >= size {
		return invalid("List index %d out of bound, list has size %d", m.Index, size)
	}
	return nil
}
