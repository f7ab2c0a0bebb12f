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

// Change describes how a table's layout is being changed. The Table with the old layout has it. It
// is immutable.
type Change struct {
	reshard.Change
	Duty reshard.Duty
	From *Table // the table with the old layout
	To   *Table // the table with the new layout

	rows, statics *Carrier
}

// twoTables reports whether the two layouts of a change are in two physical tables.
func twoTables(from, to *Table) bool { return from.Physical() != to.Physical() }

// Apart reports whether a change from one layout to the other needs a second physical table: the
// partition keys have other columns, or places of the old layout are also places of the new one.
// Buckets of time and shards of a rollover have no base. So two such layouts share places.
func Apart(from, to *shard.Layout) bool {
	return from.Plain() || to.Plain() || from.Column != to.Column || baseless(from.Strategy) || baseless(to.Strategy)
}

func baseless(s shard.Strategy) bool { return s == shard.Time || s == shard.Rollover }

// NewChanging returns a table whose layout is being changed. Statements planned on it use the old
// places, the new places or both, as the change's step says. Either one physical table has both
// layouts, or the new places are in a second physical table.
func NewChanging(t *schema.Table, from, to Kept, c reshard.Change) (*Table, error) {
	out, err := NewKept(t, from)
	if err != nil {
		return nil, err
	}
	next, err := NewKept(t, to)
	if err != nil {
		return nil, err
	}
	switch one := !twoTables(out, next); {
	case one && Apart(from.Layout, to.Layout), !one && (!Apart(from.Layout, to.Layout) || out.Plain() && next.Plain()):
		return nil, fmt.Errorf("write_sharding: a change of %s.%s from %s in %s to %s in %s is not possible", t.Keyspace, t.Name, from.Layout, out.Physical(), to.Layout, next.Physical())
	case one:
		// The mover first copies all rows. Only then it deletes them from their old places. If there
		// are two physical tables, neither has rows of the other.
		next.hides = true
	}
	out.moves, next.moves = true, true
	next.dated = from.Layout.Strategy.Anywhere()
	rows, err := newCarrier(out, next, false)
	if err != nil {
		return nil, err
	}
	statics, err := newCarrier(out, next, true)
	if err != nil {
		return nil, err
	}
	out.Change = &Change{c, c.Step.Duty(), out, next, rows, statics}
	return out, nil
}

// reads returns the table whose layout answers reads.
func (t *Table) reads() *Table {
	if t.Change != nil && t.Change.Duty.New() {
		return t.Change.To
	}
	return t
}

// Moving holds the physical writes that a write needs during a change.
type Moving struct {
	// Rounds are sent one after the other. Each is sent when the one before is acknowledged.
	Rounds []Round

	// Disjoint says that the writes of a round delete from disjoint shards. Then they may be sent
	// separately; otherwise a round must be sent as one.
	Disjoint bool

	// Lives lists the rows that the write adds and that move. The write may be older than a
	// deletion that was made before the change, and such a deletion exists only in the old
	// places. So after the rounds the door reads these rows in the old places, and writes to the
	// new places only what is alive there.
	Lives []Moved
}

// Round holds writes that go to the places of one layout.
type Round struct {
	Of   *Write // the write under that layout
	Sent []Mutation
}

// Place is a physical partition of a logical partition while its table's layout is being changed.
type Place struct {
	Shard  int  // AnyShard: each shard that the key has
	Second bool // it is in the second physical table of the change
}

// AnyShard is the place of a row under strategy rollover. Each shard of the key can have cells of the
// row. The newest of each cell counts. What is copied to the place goes to CopiedTo.
const AnyShard = -1

// CopiedTo is the shard of a rollover to which cells are copied. A copied cell keeps its time. Each
// further shard has an opening, and may have no cells that are older than the opening.
const CopiedTo = 1

// Partitions returns the physical partitions that can have cells of a row at a place.
func (c *Change) Partitions(key [][]byte, at Place) []Place {
	if at.Shard != AnyShard {
		return []Place{at}
	}
	var out []Place
	for _, n := range c.From.Shards(key) {
		out = append(out, Place{n, at.Second})
	}
	return out
}

// Copied returns the physical partition to which the cells of a row at this place are copied.
func (p Place) Copied() Place {
	if p.Shard == AnyShard {
		p.Shard = CopiedTo
	}
	return p
}

// Moved is a row with an old and a new place. If they are equal, the row does not move.
type Moved struct {
	Key, Clustering [][]byte // Clustering nil: the static columns
	Old, New        Place
	Stamp           int64 // timestamp of the cells put there
	Marker          bool  // an INSERT: it also writes the row's marker
	TTL             int32 // of the marker, in seconds; 0: it does not expire
}

// Moving returns the writes of a bound statement while the table's layout is being changed. stamp
// is the timestamp if the statement has none. draw is for an old layout of strategy rollover. A deletion
// must be in the directory already, see Deletes.
func (p *Write) Moving(b *analysis.BoundWrite, stamp int64, draw Draw, dir Directory) (m Moving, err error) {
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
	var old []Mutation
	if slices.Contains(program, reshard.PutOld) {
		bound, err := p.Bound(b, draw, dir)
		if err != nil {
			return m, err
		}
		if old, err = bound.All(0); err != nil {
			return m, err
		}
	}
	bound, err := p.To.Bound(b, nil, dir)
	if err != nil {
		return m, err
	}
	next, err := bound.All(0)
	if err != nil {
		return m, err
	}
	next = without(next, old) // a row that does not move is written once
	for _, act := range program {
		switch act {
		case reshard.PutOld:
			m.Rounds = append(m.Rounds, Round{p, old})
		case reshard.PutNew:
			if slices.Contains(program, reshard.IfLives) {
				m.Lives = p.lives(b, stamp)
			} else if len(next) > 0 {
				m.Rounds = append(m.Rounds, Round{p.To, next})
			}
		}
	}
	return m, nil
}

// Deletes returns the writes, under the layouts of the change, by which a deletion is carried out.
// Deletions always follow the program Duty.Write.
func (p *Write) Deletes() (out []*Write) {
	for _, act := range p.Table.Change.Duty.Write {
		switch act {
		case reshard.PutOld:
			out = append(out, p)
		case reshard.PutNew:
			out = append(out, p.To)
		}
	}
	return out
}

// without returns the writes in ms that are not in others.
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

// kinds says whether a write deletes anything, and whether it adds anything.
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

// lives returns the rows that a write adds and that move.
func (p *Write) lives(b *analysis.BoundWrite, stamp int64) (out []Moved) {
	from := p.Table
	row, static := p.row != nil || p.random != nil, p.static != nil // a table that changes from rollover has no static columns
	var ttl int32
	if b.TTL != nil {
		ttl = *b.TTL
	} else if n, _ := from.Options["default_time_to_live"].(int); n > 0 {
		ttl = int32(n)
	}
	for _, key := range b.Keys.All() {
		if static {
			m := from.Change.Moved(key, nil)
			if m.Stamp = stamp; m.Old != m.New {
				out = append(out, m)
			}
		}
		for _, clustering := range b.Rows.All() {
			if !row {
				break
			}
			m := from.Change.Moved(key, clustering)
			if m.Stamp, m.Marker, m.TTL = stamp, b.Kind == analysis.Insert, ttl; m.Old != m.New {
				out = append(out, m)
			}
		}
	}
	return out
}

// errConditions refuses conditions during a change: two places cannot decide one condition.
var errConditions = refused("conditions (IF) are not possible while the layout of the table is being changed", "try again when the change has ended, which 'evenkeel reshard status' shows")
