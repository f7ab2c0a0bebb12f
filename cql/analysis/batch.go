// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"bytes"
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Batch is an analysed BATCH.
type Batch struct {
	Header
	Kind   syntax.BatchKind
	Writes []*Write

	Timestamp   eval.Expr // nil if absent
	Conditional bool
}

// BoundBatch is a batch with its bound values.
type BoundBatch struct {
	*Batch
	Writes    []*BoundWrite
	Timestamp *int64
}

func analyzeBatch(stmt *syntax.Batch, s *schema.Schema, keyspace string) (*Batch, error) {
	marks := &binds{}
	out := &Batch{Kind: stmt.Kind}
	for _, child := range stmt.Statements {
		w, err := analyzeWrite(child, s, keyspace, marks)
		if err != nil {
			return nil, err
		}
		out.Writes = append(out.Writes, w)
	}
	if stmt.Using.Timestamp != nil {
		a := analyzerOf(nil, &schema.Table{Keyspace: "[batch]", Name: "[batch]"}, marks, newMemo())
		x, err := a.prepare(stmt.Using.Timestamp, spec{name: "[timestamp]", t: value.Native(value.Bigint)})
		if err != nil {
			return nil, err
		}
		out.Timestamp = x
	}
	out.Binds = marks.list
	if err := out.check(); err != nil {
		return nil, err
	}
	if stmt.Using.TTL != nil {
		return nil, invalid("Global TTL on the BATCH statement is not supported.")
	}
	for _, w := range out.Writes {
		if err := w.validate(); err != nil {
			return nil, err
		}
	}
	// The metadata format has no place for partition key indexes if the markers' tables differ.
	_, foreign := out.Timestamp.(*eval.Marker)
	if out.Table != nil && !foreign && !slices.ContainsFunc(out.Writes, func(w *Write) bool { return w.Table != out.Table }) {
		out.PartitionKeyBinds = marks.partitionKey(out.Table)
	}
	return out, nil
}

// NewBatch makes a batch of statements that were given one by one (a BATCH message). The rules are
// those of a BATCH statement.
func NewBatch(kind syntax.BatchKind, writes []*Write) (*Batch, error) {
	b := &Batch{Kind: kind, Writes: writes}
	return b, b.check()
}

// check applies Cassandra's rules for batches.
func (b *Batch) check() error {
	counters, others := false, false
	for _, w := range b.Writes {
		b.Conditional = b.Conditional || w.Conditional()
		counters = counters || w.Counter
		others = others || !w.Counter
	}
	if len(b.Writes) > 0 {
		b.Keyspace, b.Table = b.Writes[0].Keyspace, b.Writes[0].Table
	}
	if b.Timestamp != nil {
		switch {
		case b.Conditional:
			return invalid("Cannot provide custom timestamp for conditional BATCH")
		case b.Kind == syntax.BatchCounter:
			return invalid("Cannot provide custom timestamp for counter BATCH")
		}
		for _, w := range b.Writes {
			if w.Timestamp != nil {
				return invalid("Timestamp must be set either on BATCH or individual statements")
			}
		}
	}
	switch {
	case b.Timestamp != nil && counters:
		return invalid("Cannot provide custom timestamp for a BATCH containing counters")
	case b.Kind == syntax.BatchCounter && others:
		return invalid("Cannot include non-counter statement in a counter batch")
	case counters && others:
		return invalid("Counter and non-counter mutations cannot exist in the same batch")
	case b.Kind == syntax.BatchLogged && counters:
		return invalid("Cannot include a counter statement in a logged batch")
	}
	if b.Conditional {
		for _, w := range b.Writes {
			if w.Keyspace != b.Keyspace || w.Table.Name != b.Table.Name {
				return invalid("Batch with conditions cannot span multiple tables")
			}
		}
	}
	return nil
}

// Bind binds the batch's statements to the values in env, which holds the values of all statements
// one after the other.
func (b *Batch) Bind(env *eval.Env) (*BoundBatch, error) {
	if len(env.Values) != len(b.Binds) {
		return nil, invalid("Invalid amount of bind variables")
	}
	out := &BoundBatch{Batch: b}
	for _, w := range b.Writes {
		if err := w.validate(); err != nil {
			return nil, err
		}
	}
	var err error
	if out.Timestamp, err = timestamp(b.Timestamp, env); err != nil {
		return nil, err
	}
	for _, w := range b.Writes {
		bw, err := w.bind(env, true)
		if err != nil {
			return nil, err
		}
		out.Writes = append(out.Writes, bw)
	}
	return out, out.checkConditional()
}

// BindEach works as Bind does, for statements that were given one by one, each with its own Env.
func (b *Batch) BindEach(envs []*eval.Env) (*BoundBatch, error) {
	out := &BoundBatch{Batch: b}
	for i, w := range b.Writes {
		if i >= len(envs) || len(envs[i].Values) != len(w.Binds) {
			return nil, invalid("Invalid amount of bind variables")
		}
		if err := w.validate(); err != nil {
			return nil, err
		}
	}
	for i, w := range b.Writes {
		if i > 0 {
			envs[i].After(envs[i-1])
		}
		bw, err := w.bind(envs[i], true)
		if err != nil {
			return nil, err
		}
		out.Writes = append(out.Writes, bw)
	}
	return out, out.checkConditional()
}

// checkConditional verifies that a conditional batch writes to one partition only, and that each
// row has only one kind of condition.
func (b *BoundBatch) checkConditional() error {
	if !b.Conditional {
		return nil
	}
	var key []byte
	kinds := map[string]conditionKind{}
	for _, w := range b.Writes {
		if in(w.Where.Partition) {
			return &wire.Error{Code: wire.CodeServer, Message: "java.lang.IllegalArgumentException: " +
				"Batch with conditions cannot span multiple partitions (you cannot use IN on the partition key)"}
		}
		k := partitioner.AppendComposite(nil, w.Keys.At(0)...)
		if key == nil {
			key = k
		} else if !bytes.Equal(key, k) {
			return invalid("Batch with conditions cannot span multiple partitions")
		}
		if in(w.Where.Clustering) {
			kind := "deletions"
			if w.Kind == Update {
				kind = "updates"
			}
			return invalid("IN on the clustering key columns is not supported with conditional %s", kind)
		}
		if err := w.checkConditions(kinds); err != nil {
			return err
		}
	}
	return nil
}

// in reports whether at least one restriction is an IN.
func in(rs []*Restriction) bool {
	return slices.ContainsFunc(rs, func(r *Restriction) bool { return r.Kind == IN })
}

// conditionKind is the kind of a row's condition.
type conditionKind uint8

const (
	ifColumns conditionKind = iota + 1
	ifExists
	ifNotExists
)

// checkConditions records the kind of condition that a write puts on its row (or on the static
// row). It refuses a second kind for the same row.
func (b *BoundWrite) checkConditions(kinds map[string]conditionKind) error {
	row := "static"
	if b.Rows.Len() > 0 {
		row = "row" + string(partitioner.AppendComposite(nil, slices.Concat(b.Rows.At(0), [][]byte{{}})...))
	}
	note := func(row string, k conditionKind) error {
		was := kinds[row]
		kinds[row] = k
		switch {
		case was == 0 || was == k:
			return nil
		case k == ifColumns:
			return invalid("Cannot mix IF conditions and IF NOT EXISTS for the same row")
		case was != ifColumns:
			return invalid("Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row")
		case k == ifNotExists:
			return invalid("Cannot mix IF conditions and IF NOT EXISTS for the same row")
		}
		return invalid("Cannot mix IF conditions and IF EXISTS for the same row")
	}
	switch {
	case b.IfExists:
		return note(row, ifExists)
	case b.IfNotExists:
		return note(row, ifNotExists)
	}
	for _, c := range b.Write.Conditions {
		at := row
		if c.Column.Kind == schema.Static {
			at = "static"
		}
		if err := note(at, ifColumns); err != nil {
			return err
		}
	}
	return nil
}
