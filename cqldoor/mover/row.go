// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// Table is a table between two layouts, in one physical table or in two.
type Table struct {
	old, new *plan.Table
	started  int64 // of the change, in microseconds

	from, to *side // the physical tables of the old and the new places: the same where there is one
}

// NewTable joins the physical tables of the old and the new places, which may be the same one,
// and the two layouts as the door plans with them.
func NewTable(from, to *schema.Table, old, new *plan.Table, started int64) *Table {
	t := &Table{old: old, new: new, started: started, from: newSide(from, old.Plain())}
	if t.to = t.from; from != to {
		t.to = newSide(to, new.Plain())
	}
	return t
}

// two says whether the places are in two physical tables.
func (t *Table) two() bool { return t.from != t.to }

// in is the physical table that a place is in.
func (t *Table) in(shard int) *side {
	if t.from.plain == (shard == plainPlace) {
		return t.from
	}
	return t.to
}

// plainPlace is the place of the rows of a plain table.
const plainPlace = shard.PlainPlace

func ident(c *schema.Column) string { return string(syntax.AppendIdent(nil, c.Name)) }

func list(columns []*schema.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = ident(c)
	}
	return strings.Join(names, ", ")
}

// cells selects columns, each with its write time and its time to live.
func cells(columns []*schema.Column) string {
	var b strings.Builder
	for _, c := range columns {
		n := ident(c)
		b.WriteString(", " + n + ", WRITETIME(" + n + "), TTL(" + n + ")")
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

// cell is one column's value; nil where there is none.
type cell struct {
	value []byte
	time  int64
	ttl   int32 // 0: it does not expire
}

// row is one row at one place, or the static columns of one physical partition.
type row struct {
	key        [][]byte // logical partition key
	clustering [][]byte // nil: the static columns
	shard      int
	there      bool   // the place has it
	cells      []cell // of the regular columns, or of the static ones
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

// places are where a row belongs under the two layouts.
func (t *Table) places(r *row) (old, new int) {
	if r.clustering == nil {
		return t.old.Home(r.key), t.new.Home(r.key)
	}
	return t.old.ShardOfRow(r.key, r.clustering), t.new.ShardOfRow(r.key, r.clustering)
}

// alike says whether two places show the same of a row.
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

// statement is a text and the values of its markers.
type statement struct {
	text   string
	values [][]byte
}

// together makes one statement of several in one physical partition: the store takes
// them as a whole.
func together(parts []statement) (statement, bool) {
	switch len(parts) {
	case 0:
		return statement{}, false
	case 1:
		return parts[0], true
	}
	all := statement{text: "BEGIN UNLOGGED BATCH "}
	for _, p := range parts {
		all.text += p.text + "; "
		all.values = append(all.values, p.values...)
	}
	all.text += "APPLY BATCH"
	return all, true
}

func bigint(n int64) []byte   { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
func double(f float64) []byte { return bigint(int64(math.Float64bits(f))) }
func integer(n int32) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(n))
}

// using prints the time of a write and its time to live; 0 is none, whatever the table's default.
func using(time int64, ttl int32) statement {
	return statement{text: " USING TIMESTAMP ? AND TTL ?", values: [][]byte{bigint(time), integer(ttl)}}
}

// copyTo writes a row into a place, with the times that its cells have.
func (t *Table) copyTo(r *row, shard int) (statement, bool) {
	if !r.there {
		return statement{}, false
	}
	var parts []statement
	at := t.in(shard)
	columns := at.columnsOf(r)
	written := make([]bool, len(columns))
	if r.clustering != nil {
		// The marker and the cells of its time: what one INSERT wrote is written by one.
		time, ttl := t.marker(r)
		named := at.whole(r)
		values := at.bind(r, nil, shard)
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
		if c.value == nil || written[i] {
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
		s.values = at.bind(r, s.values, shard)
		parts = append(parts, s)
	}
	return together(parts)
}

// marker is the time and the time to live that a row's marker gets in a copy: its own
// cannot be read.
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

// drop deletes at a row's place what the other place, after it was given all of it, does
// not show: it is shadowed there. Each cell is deleted at its own time.
func (t *Table) drop(r, other *row) (statement, bool) {
	if !r.there {
		return statement{}, false
	}
	var parts []statement
	at := t.in(r.shard)
	newest, some := t.started, false
	for i, c := range at.columnsOf(r) {
		x := r.cells[i]
		if x.value == nil {
			continue
		}
		if !some || x.time > newest {
			newest = x.time
		}
		some = true
		if other.there && other.cells[i].value == nil {
			parts = append(parts, statement{
				text:   "DELETE " + ident(c) + " FROM " + at.name + " USING TIMESTAMP ? WHERE " + equal(at.whole(r)),
				values: at.bind(r, [][]byte{bigint(x.time)}, r.shard),
			})
		}
	}
	if !other.there {
		return t.remove(r, newest)
	}
	return together(parts)
}

// remove deletes a row, or static columns, at its place.
func (t *Table) remove(r *row, time int64) (statement, bool) {
	what, at := "", t.in(r.shard)
	if r.clustering == nil {
		what = " " + list(at.physical.Statics)
	}
	return statement{
		text:   "DELETE" + what + " FROM " + at.name + " USING TIMESTAMP ? WHERE " + equal(at.whole(r)),
		values: at.bind(r, [][]byte{bigint(time)}, r.shard),
	}, true
}

// removePartition deletes a physical partition.
func (t *Table) removePartition(r *row, time int64) statement {
	p, at := *r, t.in(r.shard)
	p.clustering = nil
	return statement{
		text:   "DELETE FROM " + at.name + " USING TIMESTAMP ? WHERE " + equal(at.physical.PartitionKey),
		values: at.bind(&p, [][]byte{bigint(time)}, r.shard),
	}
}
