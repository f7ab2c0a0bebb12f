// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/reshard"
)

// scan plans a read of physical partitions. It is exact if each row's result depends on that row
// alone.
func (p planning) scan(stmt *syntax.Select) error {
	for i, r := range stmt.Where {
		if r.Token && !p.Table.Plain() {
			stmt.Where[i].Columns = append(slices.Clone(r.Columns), p.Table.Layout.Column)
		}
	}
	for i, s := range stmt.Selectors {
		if callsToken(s.Expr) && !p.Table.Plain() {
			// The client selects the row's own token. The result column keeps the name that the
			// application knows.
			c := *s.Expr.(*syntax.Call)
			c.Args = append(slices.Clone(c.Args), &syntax.Column{Name: p.Table.Layout.Column})
			stmt.Selectors[i] = syntax.Selector{Expr: &c, Alias: p.Logical.Columns[i].Name}
		}
	}
	var err error
	p.Whole, err = newStatement(stmt)
	return err
}

// owners plans a read of whole logical partitions. A scan meets a logical partition once for each
// of its shards that has rows. The partition is shown at the first of these, the shard with the
// lowest token, which owns it.
func (p planning) owners(stmt *syntax.Select) error {
	if err := p.fanOut(stmt, !p.seesApart()); err != nil {
		return err
	}
	p.walks = map[*Table]*walk{}
	return p.walksBy(p.Table)
}

// walksBy prepares scans that go over the places of one more table.
func (p planning) walksBy(t *Table) (err error) {
	names := t.keyColumns()
	s := &syntax.Select{Distinct: true, From: t.Physical(), Limit: marker(Limit, 0)}
	for _, n := range names {
		s.Selectors = append(s.Selectors, column(n))
	}
	for i, op := range []syntax.Op{syntax.OpGE, syntax.OpLE} {
		s.Where = append(s.Where, syntax.Relation{Columns: names, Token: true, Op: op, Value: marker(Token, i)})
	}
	w := &walk{}
	if w.statement, err = newStatement(s); err != nil {
		return err
	}
	if t.Hides() {
		w.probe, err = t.firstKeys()
	} else {
		w.probe, err = t.presence(nil)
	}
	p.walks[t] = w
	return err
}

// walk goes over physical partitions in the order of their tokens.
type walk struct {
	statement *Statement // reads physical partition keys
	probe     *Statement // asks which shards have any rows; if rows can be hidden, for the first keys of shards
}

// Walk returns a read of the next limit physical partitions, in a range of tokens, of a table
// that Walked returned.
func (p *Select) Walk(by *Table, r analysis.TokenRange, limit int) Fetch {
	st := p.walks[by].statement
	f := Fetch{Statement: st, Values: make([]eval.Value, len(st.Slots))}
	for i, slot := range f.Statement.Slots {
		v := &f.Values[i]
		switch slot.Kind {
		case Token:
			v.Bytes = binary.BigEndian.AppendUint64(nil, uint64([2]int64{r.Start, r.End}[slot.Index]))
		case Limit:
			v.Bytes = IntValue(limit)
		}
	}
	return f
}

// Walked returns the table whose layout a scan follows from its first page to the last. It is the
// layout with which the scan began, as long as every partition is still in that layout's places.
// Walked returns nil if these places are gone, or if the mover empties them.
//
// A scan begins by the new layout as soon as reads use the new places alone. Another door can then be
// one step ahead, and write new partitions there alone. A scan that began so goes on at a door that is one
// step behind, and while the change is taken back, until a door no longer writes to the new places.
func (p *Select) Walked(c Cursor) *Table {
	tables := []*Table{p.Table}
	if p.from != nil {
		old, next := p.from, p.Change.To
		switch step := p.Change.Step; {
		case step == reshard.Cleaned:
			tables = []*Table{next}
		case step == reshard.Settled, step == reshard.Switched:
			tables = []*Table{next, old}
		case step == reshard.Switching, step == reshard.Announced && p.Change.Back:
			tables = []*Table{old, next}
		default:
			tables = []*Table{old}
		}
	}
	if c.Scan == nil {
		return tables[0]
	}
	for _, t := range tables {
		if t.Sum() == c.Layout {
			return t
		}
	}
	return nil
}

// Probe returns a read that tells which of some shards have any rows, of a table that Walked
// returned. If the table hides rows, the read returns the first limit clustering keys of each shard.
// In both cases the shard is the last cell.
func (p *Select) Probe(by *Table, b *analysis.BoundSelect, key [][]byte, shards []int, limit int) Fetch {
	f := fetchKey(p.walks[by].probe, b, key, shards)
	for i, slot := range f.Statement.Slots {
		if slot.Kind == Limit {
			f.Values[i].Bytes = IntValue(limit)
		}
	}
	return f
}

// fetchKey fills a statement with Key and ShardList slots.
func fetchKey(st *Statement, b *analysis.BoundSelect, key [][]byte, shards []int) Fetch {
	f := Fetch{st, make([]eval.Value, len(st.Slots)), shards}
	for i, slot := range st.Slots {
		switch slot.Kind {
		case Client:
			f.Values[i] = b.Env.Values[slot.Index]
		case Key:
			f.Values[i].Bytes = key[slot.Index]
		case ShardList:
			f.Values[i].Bytes = ListValue(shards)
		}
	}
	return f
}
