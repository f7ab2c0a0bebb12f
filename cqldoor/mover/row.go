// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// Table is a table between two layouts, in one physical table or in two.
type Table struct {
	old, new *plan.Table
	started  int64 // start of the change, in microseconds
	known    int64 // since then every door knows the change, in microseconds

	from, to *side // the physical tables of the old and the new places; equal if there is only one

	rollovers Rollovers               // has the shards of the keys of a layout of strategy rollover
	fixed     map[*side]*shard.Rolled // the shards to which cells of any time are copied
}

// NewTable makes a Table of the physical tables of the old and the new places and of the door's
// plans for the two layouts. from and to may be the same table.
func NewTable(from, to *schema.Table, old, new *plan.Table, started int64) *Table {
	t := &Table{old: old, new: new, started: started, from: newSide(from, old.Plain())}
	if t.to = t.from; from != to {
		t.to = newSide(to, new.Plain())
	}
	return t
}

// two reports whether the places are in two physical tables.
func (t *Table) two() bool { return t.from != t.to }

// place is a physical partition of a logical partition. There may be the same shard in two physical
// tables.
type place struct {
	*side
	shard int
}

func ident(c *schema.Column) string { return string(syntax.AppendIdent(nil, c.Name)) }

func list(columns []*schema.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = ident(c)
	}
	return strings.Join(names, ", ")
}

// cells returns selectors of the value, the write time and the time to live of each column. If times is set, it
// selects the write time in the place of the value, because the caller does not need the value.
func cells(columns []*schema.Column, times bool) string {
	var b strings.Builder
	for _, c := range columns {
		n := ident(c)
		written := "WRITETIME(" + n + ")"
		value := n
		if times {
			value = written
		}
		b.WriteString(", " + value + ", " + written + ", TTL(" + n + ")")
	}
	return b.String()
}

func equal(columns []*schema.Column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = ident(c) + " = ?"
	}
	return strings.Join(parts, " AND ")
}

// cell is one column's value. value is nil if there is none.
type cell struct {
	value []byte
	time  int64
	ttl   int32 // 0: it does not expire
}

// row is one row at one place, or the static columns of one physical partition.
type row struct {
	key        [][]byte // logical partition key
	clustering [][]byte // nil: the static columns
	at         place
	there      bool   // the row exists at the place
	cells      []cell // cells of the regular columns, or of the static ones
}

func readCells(raw [][]byte) []cell {
	out := make([]cell, len(raw)/3)
	for i := range out {
		if v := raw[3*i]; v != nil {
			out[i].value = v
			if w := raw[3*i+1]; len(w) == 8 {
				out[i].time = int64(binary.BigEndian.Uint64(w))
			}
			if l := raw[3*i+2]; len(l) == 4 {
				out[i].ttl = max(1, int32(binary.BigEndian.Uint32(l)))
			}
		}
	}
	return out
}

// of returns the layout of a physical table of the change. If there is only one such table, it returns the
// old layout.
func (t *Table) of(s *side) *plan.Table {
	if s == t.from {
		return t.old
	}
	return t.new
}

// places returns the places of a row under the two layouts. Under strategy rollover a place is
// plan.AnyShard. If the row was read at that place, the place is the shard where it was read.
func (t *Table) places(r *row) (old, new place) {
	if r.clustering == nil {
		return place{t.from, t.old.Home(r.key)}, place{t.to, t.new.Home(r.key)}
	}
	old, new = place{t.from, t.old.PlaceOf(r.key, r.clustering)}, place{t.to, t.new.PlaceOf(r.key, r.clustering)}
	for _, p := range []*place{&old, &new} {
		if p.shard == plan.AnyShard && r.at.side == p.side {
			p.shard = r.at.shard
		}
	}
	return old, new
}

// copied returns the place to which a row is copied, as precisely as one place can tell it.
func (t *Table) copied(r *row, to place) place {
	if to.shard == plan.AnyShard && !r.expires() {
		to.shard = t.copiedTo(r, to)
	}
	return to
}

// fix notes the shards to which a pass may copy cells of any time. While this mover stands still, another mover may
// open further shards. Earlier deletions do not reach those shards. So this mover must not copy there what it has
// read before.
func (t *Table) fix() {
	t.fixed = map[*side]*shard.Rolled{}
	for _, s := range []*side{t.from, t.to} {
		if of := t.of(s); of.Layout.Strategy.Anywhere() {
			t.fixed[s] = t.rollovers.Rolled(of.PhysicalID())
		}
	}
}

// copiedTo returns the shard to which those cells of a row are copied that do not expire.
func (t *Table) copiedTo(r *row, to place) int {
	return t.of(to.side).CopiedTo(t.fixed[to.side], r.key, r.clustering)
}

// expires reports whether a cell of the row expires.
func (r *row) expires() bool {
	return slices.ContainsFunc(r.cells, func(c cell) bool { return c.ttl > 0 })
}

// partitions returns the physical partitions of a place to which the mover writes what is for all of them.
func (t *Table) partitions(r *row, at place) []place {
	if at.shard != plan.AnyShard {
		return []place{at}
	}
	var out []place
	for n := range t.rollovers.Rolled(t.of(at.side).PhysicalID()).Shards(plan.AppendKey(nil, r.key)) {
		out = append(out, place{at.side, n + 1})
	}
	return out
}

// any returns the place of a whole row. The mover has read a part of the row at the place at. Under
// strategy rollover, the whole row is in all shards of the key.
func (t *Table) any(at place) place {
	if t.of(at.side).Layout.Strategy.Anywhere() {
		at.shard = plan.AnyShard
	}
	return at
}

// merge adds the cells that another physical partition has of a row. Of two versions of a cell, the newer
// one counts.
func (r *row) merge(o *row) {
	r.there = r.there || o.there
	for i, x := range o.cells {
		if y := r.cells[i]; x.value != nil && (y.value == nil || x.time > y.time || x.time == y.time && bytes.Compare(x.value, y.value) > 0) {
			r.cells[i] = x
		}
	}
}

// newest returns the write time of the newest cell. If no cell is newer than least, it returns least.
func (r *row) newest(least int64) int64 {
	for _, c := range r.cells {
		if c.value != nil {
			least = max(least, c.time)
		}
	}
	return least
}

// outlives reports whether a deletion with a timestamp leaves a cell of the row. The timestamp 0 means that there is
// no deletion.
func (r *row) outlives(deleted int64) bool { return deleted == 0 || r.newest(deleted) > deleted }

// alike reports whether two places hold the same values and write times for a row.
func alike(a, b *row) bool {
	if a.there != b.there {
		return false
	}
	for i := range a.cells {
		x, y := a.cells[i], b.cells[i]
		if (x.value == nil) != (y.value == nil) || x.time != y.time || !bytes.Equal(x.value, y.value) {
			return false
		}
	}
	return true
}

// statement is a CQL text and the values of its markers.
type statement struct {
	text   string
	values [][]byte
	logged bool // its batch has statements on several physical partitions
}

func bigint(n int64) []byte   { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
func double(f float64) []byte { return bigint(int64(math.Float64bits(f))) }
func integer(n int32) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(n))
}

// using returns the USING clause with a write time and a time to live. A ttl of 0 means no expiry,
// whatever the table's default is.
func using(time int64, ttl int32) statement {
	return statement{text: " USING TIMESTAMP ? AND TTL ?", values: [][]byte{bigint(time), integer(ttl)}}
}

// copyTo returns the statements that write a row to a place with the write times of its cells. The
// store must apply all of them or none. Under strategy rollover, a cell that expires goes to each shard that can have
// an older version of it, as a client's write does: there it hides the older version for ever. No cell goes to a shard
// that opened after the cell's time, because deletions from before the opening do not reach that shard.
func (t *Table) copyTo(r *row, to place) []statement {
	switch {
	case !r.there:
		return nil
	case to.shard != plan.AnyShard:
		return t.writes(r, to, func(int64, int32) bool { return true })
	}
	lasting := func(_ int64, ttl int32) bool { return ttl == 0 }
	one := to
	one.shard = t.copiedTo(r, to)
	parts := t.writes(r, one, lasting)
	in := t.partitions(r, to)
	rolled, key := t.rollovers.Rolled(t.of(to.side).PhysicalID()), plan.AppendKey(nil, r.key)
	for _, each := range in {
		earliest := rolled.Earliest(key, each.shard)
		if each.shard > t.fixed[to.side].Shards(key) {
			earliest = rolled.Since(key, each.shard) // see fix
		}
		parts = append(parts, t.writes(r, each, func(time int64, ttl int32) bool { return ttl > 0 && time >= earliest })...)
	}
	for i := range parts {
		parts[i].logged = len(in) > 1
	}
	return parts
}

// writes returns those statements of copyTo that write to one physical partition. wanted gets the timestamp and the
// time to live of a cell, or of the row's marker; 0: it lives for ever. writes leaves out what wanted rejects.
func (t *Table) writes(r *row, at place, wanted func(time int64, ttl int32) bool) []statement {
	var parts []statement
	columns := at.columnsOf(r)
	written := make([]bool, len(columns))
	if time, ttl := t.marker(r); r.clustering != nil && wanted(time, ttl) {
		// One INSERT writes the marker and the cells of the same time, as the original INSERT did.
		named := at.whole(r)
		values := at.bind(r, nil)
		for i, c := range r.cells {
			if c.value != nil && c.time == time && c.ttl == ttl {
				named, values, written[i] = append(named, columns[i]), append(values, c.value), true
			}
		}
		u := using(time, ttl)
		parts = append(parts, statement{
			text:   "INSERT INTO " + at.name + " (" + list(named) + ") VALUES (?" + strings.Repeat(", ?", len(named)-1) + ")" + u.text,
			values: append(values, u.values...),
		})
	}
	for i := range columns {
		c := r.cells[i]
		if c.value == nil || written[i] || !wanted(c.time, c.ttl) {
			continue
		}
		u := using(c.time, c.ttl)
		s := statement{text: "UPDATE " + at.name + u.text + " SET ", values: u.values}
		for j := i; j < len(columns); j++ {
			if d := r.cells[j]; d.value != nil && !written[j] && d.time == c.time && d.ttl == c.ttl {
				if j > i {
					s.text += ", "
				}
				s.text += ident(columns[j]) + " = ?"
				s.values = append(s.values, d.value)
				written[j] = true
			}
		}
		s.text += " WHERE " + equal(at.whole(r))
		s.values = at.bind(r, s.values)
		parts = append(parts, s)
	}
	return parts
}

// marker returns the time and the time to live of a row marker in a copy. The original marker's
// times cannot be read.
func (t *Table) marker(r *row) (time int64, ttl int32) {
	time = t.started
	some, lasting := false, false
	for _, c := range r.cells {
		if c.value == nil {
			continue
		}
		if !some || c.time < time {
			time = c.time
		}
		some = true
		lasting = lasting || c.ttl == 0
		ttl = max(ttl, c.ttl)
	}
	if lasting {
		ttl = 0
	}
	return time, ttl
}

// drops returns the statements that delete cells at a row's place. The mover has copied all cells to the other
// place. If the other place does not show a cell, a deletion there hides it. So the cell must go here, too. drops
// deletes each cell at its own time. Then a cell stays that a client writes later with an earlier timestamp.
func (t *Table) drops(r, other *row) (parts []statement) {
	in := t.partitions(r, r.at)
	for _, at := range in {
		for i, c := range at.columnsOf(r) {
			if x := r.cells[i]; x.value != nil && other.cells[i].value == nil {
				parts = append(parts, statement{
					text:   "DELETE " + ident(c) + " FROM " + at.name + " USING TIMESTAMP ? WHERE " + equal(at.whole(r)),
					values: at.bind(r, [][]byte{bigint(x.time)}),
					logged: len(in) > 1,
				})
			}
		}
	}
	return parts
}

// removes returns the statements that delete a row in all physical partitions of its place.
func (t *Table) removes(r *row, time int64) (parts []statement) {
	in := t.partitions(r, r.at)
	for _, at := range in {
		part := *r
		part.at = at
		s := t.remove(&part, time)
		s.logged = len(in) > 1
		parts = append(parts, s)
	}
	return parts
}

// remove returns a statement that deletes a row. For the row of the static columns, it deletes
// these columns. The statement goes to the place from which the mover has read the row.
func (t *Table) remove(r *row, time int64) statement {
	what, at := "", r.at
	if r.clustering == nil {
		what = " " + list(at.physical.Statics)
	}
	return statement{
		text:   "DELETE" + what + " FROM " + at.name + " USING TIMESTAMP ? WHERE " + equal(at.whole(r)),
		values: at.bind(r, [][]byte{bigint(time)}),
	}
}

// removePartition returns a statement that deletes a physical partition.
func (t *Table) removePartition(r *row, time int64) statement {
	p, at := *r, r.at
	p.clustering = nil
	return statement{
		text:   "DELETE FROM " + at.name + " USING TIMESTAMP ? WHERE " + equal(at.physical.PartitionKey),
		values: at.bind(&p, [][]byte{bigint(time)}),
	}
}
