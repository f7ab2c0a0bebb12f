// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
)

// Carrier reads rows with the times of their cells, and writes or deletes them elsewhere with the
// same times. All of its columns are atomic (not collections or counters).
type Carrier struct {
	columns []*schema.Column
	static  bool

	first  *carriage // of the table that has the old places
	second *carriage // of the second table that has the new places; nil: there is only one
}

// carriage are the statements that carry rows from and to the places of one physical table.
type carriage struct {
	look   *Statement
	put    []*Statement // one for each column
	drop   []*Statement
	marker *Statement
	row    *Statement // deletes a row
}

// Cell is the value of a column, with its times.
type Cell struct {
	Value []byte // nil: there is no value
	Time  int64
	TTL   int32 // seconds; 0: it does not expire
}

// Picture is a row, or the static columns of a partition, as one place has it.
type Picture struct {
	There bool
	Cells []Cell // one for each column
}

// Carrier returns the carrier of the rows under the change, or of their static columns.
func (c *Change) Carrier(static bool) *Carrier {
	if static {
		return c.statics
	}
	return c.rows
}

// newCarrier makes the one between two tables.
func newCarrier(from, to *Table, static bool) (*Carrier, error) {
	c := &Carrier{columns: from.Regulars, static: static}
	if static {
		c.columns = from.Statics
	}
	var err error
	if c.first, err = newCarriage(from, c.columns, static); err == nil && twoTables(from, to) {
		c.second, err = newCarriage(to, c.columns, static)
	}
	return c, err
}

// in returns the statements of the physical table that has a place.
func (c *Carrier) in(at Place) *carriage {
	if at.Second {
		return c.second
	}
	return c.first
}

func newCarriage(t *Table, columns []*schema.Column, static bool) (*carriage, error) {
	c := &carriage{}
	where := t.rowOr(!static)
	look := &syntax.Select{From: t.Physical(), Where: where, Selectors: []syntax.Selector{{Expr: &syntax.Column{Name: t.PartitionKey[0].Name}, Alias: "k"}}}
	if static {
		look.Limit = &syntax.Constant{Kind: syntax.ConstInteger, Text: "1"}
	}
	var err error
	statement := func(s syntax.Statement) *Statement {
		st, fault := t.whole(s)
		if fault != nil {
			err = fault
		}
		return st
	}
	for i, col := range columns {
		cell := &syntax.Column{Name: col.Name}
		look.Selectors = append(look.Selectors, syntax.Selector{Expr: cell, Alias: "v" + strconv.Itoa(i)})
		for _, f := range []string{"writetime", "ttl"} {
			look.Selectors = append(look.Selectors, syntax.Selector{Expr: &syntax.Call{Func: syntax.Name{Name: f}, Args: []syntax.Expr{cell}}, Alias: f[:1] + strconv.Itoa(i)})
		}
		c.put = append(c.put, statement(&syntax.Update{Table: t.Physical(), Using: syntax.Using{Timestamp: marker(Set, 0), TTL: marker(Set, 1)},
			Set: []syntax.Assignment{{Column: col.Name, Value: marker(Set, 2)}}, Where: where}))
		c.drop = append(c.drop, statement(&syntax.Delete{From: t.Physical(), Using: syntax.Using{Timestamp: marker(Set, 0)},
			Items: []syntax.DeleteItem{{Column: col.Name}}, Where: where}))
	}
	c.look = statement(look)
	if !static {
		s := &syntax.Insert{Into: t.Physical(), Using: syntax.Using{Timestamp: marker(Set, 0), TTL: marker(Set, 1)}, Columns: t.keyColumns()}
		for i := range t.PartitionKey {
			s.Values = append(s.Values, marker(Key, i))
		}
		if !t.Plain() {
			s.Values = append(s.Values, marker(Shard, 0))
		}
		for i, col := range t.Clustering {
			s.Columns = append(s.Columns, col.Name)
			s.Values = append(s.Values, marker(Cluster, i))
		}
		c.marker = statement(s)
		c.row = statement(&syntax.Delete{From: t.Physical(), Using: syntax.Using{Timestamp: marker(Set, 0)}, Where: where})
	}
	return c, err
}

// Look returns the read of a row in one of its places.
func (c *Carrier) Look(m *Moved, at Place) Mutation {
	look := c.in(at).look
	return Mutation{look, look.Values(&eval.Env{}, Target{Key: m.Key, Cluster: m.Clustering, Shard: at.Shard}), m.Key, at.Shard}
}

// Image returns the picture that rows contain, with values by column name. The answer to Look has one
// row or none. Under strategy rollover each shard can have a row, and the newest version of each cell
// counts.
func Image[Row ~map[string][]byte](c *Carrier, rows []Row) Picture {
	out := Picture{Cells: make([]Cell, len(c.columns))}
	for _, row := range rows {
		out.There = !c.static
		for i := range out.Cells {
			n := strconv.Itoa(i)
			v, w, l := row["v"+n], row["w"+n], row["t"+n]
			if v == nil || len(w) != 8 {
				continue
			}
			out.There = true
			x := Cell{Value: v, Time: int64(binary.BigEndian.Uint64(w))}
			if len(l) == 4 {
				x.TTL = max(1, int32(binary.BigEndian.Uint32(l)))
			}
			if y := out.Cells[i]; y.Value == nil || x.Time > y.Time || x.Time == y.Time && bytes.Compare(x.Value, y.Value) > 0 {
				out.Cells[i] = x
			}
		}
	}
	return out
}

// Same says whether two places have the same picture.
func (a Picture) Same(b Picture) bool {
	if a.There != b.There {
		return false
	}
	for i := range a.Cells {
		if x, y := a.Cells[i], b.Cells[i]; x.Time != y.Time || string(x.Value) != string(y.Value) || (x.Value == nil) != (y.Value == nil) {
			return false
		}
	}
	return true
}

// Occupied reports whether the picture has a cell.
func (a Picture) Occupied() bool {
	return slices.ContainsFunc(a.Cells, func(c Cell) bool { return c.Value != nil })
}

// Newer returns the cells of a that b lacks or has with an earlier time.
func (a Picture) Newer(b Picture) Picture {
	out := Picture{There: a.There && !b.There, Cells: make([]Cell, len(a.Cells))}
	for i, x := range a.Cells {
		if y := b.Cells[i]; x.Value != nil && (y.Value == nil || y.Time < x.Time || y.Time == x.Time && !bytes.Equal(y.Value, x.Value)) {
			out.Cells[i], out.There = x, true
		}
	}
	return out
}

// Lacking returns the cells of a that b does not have.
func (a Picture) Lacking(b Picture) Picture {
	out := Picture{There: a.There && !b.There, Cells: make([]Cell, len(a.Cells))}
	for i, x := range a.Cells {
		if x.Value != nil && b.Cells[i].Value == nil {
			out.Cells[i], out.There = x, true
		}
	}
	return out
}

// At returns the cells that were written at the time stamp.
func (a Picture) At(stamp int64) Picture {
	out := Picture{There: a.There, Cells: make([]Cell, len(a.Cells))}
	for i, x := range a.Cells {
		if x.Value != nil && x.Time == stamp {
			out.Cells[i] = x
		}
	}
	return out
}

// split returns the cells that do not expire, and those that do.
func (a Picture) split() (lasting, expiring Picture) {
	lasting = Picture{There: a.There, Cells: make([]Cell, len(a.Cells))}
	expiring = Picture{There: a.There, Cells: make([]Cell, len(a.Cells))}
	for i, x := range a.Cells {
		if x.TTL == 0 || !rule.On(rule.BroadcastExpiring) {
			lasting.Cells[i] = x
		} else {
			expiring.Cells[i] = x
		}
	}
	return lasting, expiring
}

// from returns the cells whose timestamp is earliest or later.
func (a Picture) from(earliest int64) Picture {
	out := Picture{There: a.There, Cells: make([]Cell, len(a.Cells))}
	for i, x := range a.Cells {
		if x.Time >= earliest {
			out.Cells[i] = x
		}
	}
	return out
}

// Age returns the time of the oldest cell, and the longest time to live of all cells: 0 means for
// ever. Without cells the time is none.
func (a Picture) Age(none int64) (oldest int64, ttl int32) {
	oldest, first := none, true
	for _, x := range a.Cells {
		if x.Value == nil {
			continue
		}
		if first || x.Time < oldest {
			oldest = x.Time
		}
		if first {
			ttl = x.TTL
		} else if ttl > 0 {
			if ttl = max(ttl, x.TTL); x.TTL == 0 {
				ttl = 0
			}
		}
		first = false
	}
	return oldest, ttl
}

// Newest returns the time of the newest cell. Without cells the time is none.
func (a Picture) Newest(none int64) int64 {
	newest, first := none, true
	for _, x := range a.Cells {
		if x.Value != nil && (first || x.Time > newest) {
			newest, first = x.Time, false
		}
	}
	return newest
}

// Put returns the writes that put cells of a row into one of its places, with their own times. If
// marker is set, the row's marker gets the time at and lives for ttl seconds.
func (c *Carrier) Put(m *Moved, to Place, i Picture, marker bool, at int64, ttl int32) (out []Mutation) {
	in, target := c.in(to), Target{Key: m.Key, Cluster: m.Clustering, Shard: to.Shard}
	add := func(st *Statement, set ...eval.Value) {
		target.Set = set
		out = append(out, Mutation{st, st.Values(&eval.Env{}, target), m.Key, to.Shard})
	}
	times := func(at int64, ttl int32) []eval.Value {
		return []eval.Value{{Bytes: binary.BigEndian.AppendUint64(nil, uint64(at))}, {Bytes: IntValue(int(ttl))}}
	}
	if marker && !c.static {
		add(in.marker, times(at, ttl)...)
	}
	for n, x := range i.Cells {
		if x.Value != nil {
			add(in.put[n], append(times(x.Time, x.TTL), eval.Value{Bytes: x.Value})...)
		}
	}
	return out
}

// Drop returns the writes that delete cells of a row in one of its places, each at its own time. So a cell
// that is written later with an earlier timestamp stays.
func (c *Carrier) Drop(m *Moved, in Place, i Picture) (out []Mutation) {
	for n, x := range i.Cells {
		if x.Value != nil {
			out = append(out, c.deletion(c.in(in).drop[n], m, in, x.Time))
		}
	}
	return out
}

// DropRow returns the write that deletes a row in one of its places.
func (c *Carrier) DropRow(m *Moved, in Place, at int64) Mutation {
	return c.deletion(c.in(in).row, m, in, at)
}

func (c *Carrier) deletion(st *Statement, m *Moved, in Place, at int64) Mutation {
	target := Target{Key: m.Key, Cluster: m.Clustering, Shard: in.Shard, Set: []eval.Value{{Bytes: binary.BigEndian.AppendUint64(nil, uint64(at))}}}
	return Mutation{st, st.Values(&eval.Env{}, target), m.Key, in.Shard}
}
