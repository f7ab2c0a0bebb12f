// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// Change is a change of a table's layout that is under way. It belongs to the table as
// the old layout has it. It is immutable.
type Change struct {
	reshard.Change
	Duty reshard.Duty
	To   *Table // the table as the new layout has it

	rows, statics *Carrier
}

// NewChanging is a table whose layout is being changed. What is planned on it reads and
// writes the old places, the new ones or both, as the change's step says.
func NewChanging(t *schema.Table, from, to *shard.Layout, c reshard.Change) (*Table, error) {
	out, err := NewTable(t, from)
	if err != nil {
		return nil, err
	}
	next, err := NewTable(t, to)
	if err != nil {
		return nil, err
	}
	if from.Column != to.Column {
		return nil, fmt.Errorf("write_sharding: a change of %s.%s from column %s to %s is not possible in one table", t.Keyspace, t.Name, from.Column, to.Column)
	}
	// What has moved leaves its old place only when all has been moved.
	next.hides = true
	out.moves, next.moves = true, true
	rows, err := out.newCarrier(false)
	if err != nil {
		return nil, err
	}
	statics, err := out.newCarrier(true)
	if err != nil {
		return nil, err
	}
	out.Change = &Change{c, c.Step.Duty(), next, rows, statics}
	return out, nil
}

// reads is the table that reads are answered by.
func (t *Table) reads() *Table {
	if t.Change != nil && t.Change.Duty.New() {
		return t.Change.To
	}
	return t
}

// Quorum says that reads and writes of the table have LOCAL_QUORUM at least.
func (t *Table) Quorum() bool { return t.Change != nil && t.Change.Duty.Quorum }

// Moving is what a write comes to under a change.
type Moving struct {
	// Rounds are sent one after the other, each when the one before is acknowledged.
	Rounds [][]Mutation

	// Disjoint says that the writes of a round delete disjoint shards, so that each may
	// go by itself; otherwise they are one whole.
	Disjoint bool

	// Lives are the rows that the write is to be made of in their new places if it lives
	// in their old ones, which is known once the rounds are done: it is older than the
	// change, and what was deleted before the change is deleted in the old places alone.
	Lives []Moved
}

// Moved is a row between its two places.
type Moved struct {
	Key, Clustering [][]byte // Clustering nil: the static columns
	Old, New        int
	Stamp           int64 // of what was put there
	Marker          bool  // an INSERT: a row without cells is there, too
	TTL             int32 // of the marker, in seconds; 0: it does not expire
}

// Moving is the write under the change of its table. stamp is its timestamp where the
// statement does not say one.
func (p *Write) Moving(b *analysis.BoundWrite, stamp int64) (m Moving, err error) {
	c := p.Table.Change
	if b.Timestamp != nil {
		stamp = *b.Timestamp
	}
	program := c.Duty.Write
	if c.Past(stamp) {
		deletes, puts := kinds(b)
		switch {
		case deletes && puts && !slices.Equal(c.Duty.Past, c.Duty.Write):
			return m, refused("a write with a timestamp from before the change of the table's layout that both sets and deletes (null deletes)", "write what is set and what is null by two statements, or when the change has ended")
		case !deletes:
			program = c.Duty.Past
		}
	}
	m.Disjoint = p.slices != nil
	bound, err := p.Bound(b, nil, nil)
	if err != nil {
		return m, err
	}
	old, err := bound.All(0)
	if err != nil {
		return m, err
	}
	if bound, err = p.To.Bound(b, nil, nil); err != nil {
		return m, err
	}
	next, err := bound.All(0)
	if err != nil {
		return m, err
	}
	if slices.Contains(program, reshard.PutOld) {
		next = without(next, old) // what does not move is written once
	}
	for _, act := range program {
		switch act {
		case reshard.PutOld:
			m.Rounds = append(m.Rounds, old)
		case reshard.PutNew:
			if slices.Contains(program, reshard.IfLives) {
				m.Lives = p.lives(b, stamp)
			} else if len(next) > 0 {
				m.Rounds = append(m.Rounds, next)
			}
		}
	}
	return m, nil
}

// without are the writes that are not among others.
func without(ms, others []Mutation) []Mutation {
	name := func(m *Mutation) string {
		b := append([]byte(m.Statement.Text), 0)
		for _, v := range m.Values {
			if v.Unset {
				b = append(b, 2)
			} else {
				b = wire.AppendBytes(append(b, 1), v.Bytes)
			}
		}
		return string(b)
	}
	there := make(map[string]bool, len(others))
	for i := range others {
		there[name(&others[i])] = true
	}
	return slices.DeleteFunc(slices.Clone(ms), func(m Mutation) bool { return there[name(&m)] })
}

// kinds says whether a write deletes anything, and whether it puts anything.
func kinds(b *analysis.BoundWrite) (deletes, puts bool) {
	if b.Kind == analysis.Delete || b.Scope != analysis.ScopeRows && b.Scope != analysis.ScopeStatic {
		return true, false
	}
	puts = b.Kind == analysis.Insert
	for _, m := range b.Mutations {
		if m.Kind == analysis.PutCell && m.Value != nil {
			puts = true
		} else {
			deletes = true
		}
	}
	return deletes, puts
}

// lives are the rows that a write puts, and that move.
func (p *Write) lives(b *analysis.BoundWrite, stamp int64) (out []Moved) {
	from, to := p.Table, p.To.Table
	row, static := p.row != nil, p.static != nil
	var ttl int32
	if b.TTL != nil {
		ttl = *b.TTL
	} else if n, _ := from.Options["default_time_to_live"].(int); n > 0 {
		ttl = int32(n)
	}
	for _, key := range b.Keys.All() {
		if static {
			if m := (Moved{key, nil, from.Home(key), to.Home(key), stamp, false, 0}); m.Old != m.New {
				out = append(out, m)
			}
		}
		for _, clustering := range b.Rows.All() {
			if !row {
				break
			}
			if m := (Moved{key, clustering, from.shardOfRow(key, clustering), to.shardOfRow(key, clustering), stamp, b.Kind == analysis.Insert, ttl}); m.Old != m.New {
				out = append(out, m)
			}
		}
	}
	return out
}

// errConditions refuses conditions under a change: two places cannot decide.
var errConditions = refused("conditions (IF) are not possible while the layout of the table is being changed", "try again when the change has ended, which 'evenkeel reshard status' shows")
