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
	out.dated, next.dated = to.Layout.Strategy.Anywhere(), from.Layout.Strategy.Anywhere()
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

// Stays reports whether the change moves no row of a logical partition.
func (c *Change) Stays(key [][]byte) bool {
	from, to := c.From.Layout, c.To.Layout
	if twoTables(c.From, c.To) || from.Strategy != shard.Calculated || to.Strategy != shard.Calculated || from.Hash != to.Hash || !slices.Equal(from.By, to.By) {
		return false
	}
	k := AppendKey(nil, key)
	return from.Spread(k).Equal(to.Spread(k))
}

// Place is a physical partition of a logical partition while its table's layout is being changed.
type Place struct {
	Shard  int  // AnyShard: each shard that the key has
	Second bool // it is in the second physical table of the change
}

// AnyShard is the place of a row under strategy rollover. Each shard of the key can have cells of the
// row. The newest of each cell counts.
const AnyShard = -1

// CopiedTo returns the shard to which cells of a row are copied under strategy rollover. rolled has the
// shards of the table's keys. A copied cell keeps its time, so it goes to a shard that takes cells of any
// time. If the key has several of them, a hash spreads the rows.
func (t *placement) CopiedTo(rolled *shard.Rolled, key, clustering [][]byte) int {
	open, _ := rolled.Timeless(AppendKey(nil, key))
	values := make([][]byte, len(clustering))
	for i, v := range clustering {
		values[i] = t.canonical(i, v)
	}
	return open[t.Layout.Place(shard.Range{N: len(open)}, values...)-1]
}

// at returns the table with the layout of a place.
func (c *Change) at(p Place) *Table {
	if p.Second {
		return c.To
	}
	return c.From
}

// Partitions returns the physical partitions that can have cells of a row at a place.
func (c *Change) Partitions(key [][]byte, at Place) []Place {
	if at.Shard != AnyShard {
		return []Place{at}
	}
	var out []Place
	for _, n := range c.at(at).Shards(key) {
		out = append(out, Place{n, at.Second})
	}
	return out
}

// Put returns the writes that put cells of a row into one of its places, with their own times. If
// marker is set, the row's marker gets the time at and lives for ttl seconds. Under
// strategy rollover, a cell that expires goes to each shard that can have an older version of it, as a client's write
// does: there it hides the older version for ever. No cell goes to a shard that opened after the cell's time, because
// deletions from before the opening do not reach that shard.
func (c *Change) Put(m *Moved, to Place, i Picture, marker bool, at int64, ttl int32) []Mutation {
	carrier := c.Carrier(m.Clustering == nil)
	if to.Shard != AnyShard {
		return carrier.Put(m, to, i, marker, at, ttl)
	}
	t := c.at(to)
	one := Place{t.CopiedTo(t.Layout.Rolled, m.Key, m.Clustering), to.Second}
	lasting, expiring := i.split()
	out := carrier.Put(m, one, lasting, marker && ttl == 0, at, 0)
	for _, each := range c.Partitions(m.Key, to) {
		earliest := t.Layout.Rolled.Earliest(AppendKey(nil, m.Key), each.Shard)
		out = append(out, carrier.Put(m, each, expiring.from(earliest), marker && ttl > 0 && at >= earliest, at, ttl)...)
	}
	return out
}

// Copy returns the writes that copy the wanted cells of a row into another place. all is the
// whole row. The row's marker gets the time of the oldest cell, because its own time cannot be
// read, or the time of the change's start if there are no cells.
func (c *Change) Copy(m *Moved, to Place, all, wanted Picture) []Mutation {
	at, ttl := all.Age(c.Started)
	return c.Put(m, to, wanted, all.There, at, ttl)
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
// is the timestamp if the statement has none. old and next draw for layouts of strategy rollover. A
// deletion must be in the directory already, see Deletes.
func (p *Write) Moving(b *analysis.BoundWrite, stamp int64, old, next Draw, dir Directory) (m Moving, err error) {
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
	all := func(under *Write, draw Draw) ([]Mutation, error) {
		bound, err := under.Bound(b, draw, dir)
		if err != nil {
			return nil, err
		}
		return bound.All(0)
	}
	var toOld, toNew []Mutation
	if slices.Contains(program, reshard.PutOld) {
		if toOld, err = all(p, old); err != nil {
			return m, err
		}
	}
	if toNew, err = all(p.To, next); err != nil {
		return m, err
	}
	toNew = without(toNew, toOld) // a row that does not move is written once
	for _, act := range program {
		switch act {
		case reshard.PutOld:
			m.Rounds = append(m.Rounds, Round{p, toOld})
		case reshard.PutNew:
			if slices.Contains(program, reshard.IfLives) {
				m.Lives = p.lives(b, stamp)
			} else if len(toNew) > 0 {
				m.Rounds = append(m.Rounds, Round{p.To, toNew})
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
