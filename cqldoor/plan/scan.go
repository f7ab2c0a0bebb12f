// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// scan reads physical partitions: exact where a row is answered for by itself.
func (p *Select) scan(stmt *syntax.Select) error {
	for i, r := range stmt.Where {
		if r.Token {
			stmt.Where[i].Columns = append(slices.Clone(r.Columns), p.Table.Layout.Column)
		}
	}
	for i, s := range stmt.Selectors {
		if callsToken(s.Expr) {
			// The row's own token, under the name that it has for the application.
			c := *s.Expr.(*syntax.Call)
			c.Args = append(slices.Clone(c.Args), &syntax.Column{Name: p.Table.Layout.Column})
			stmt.Selectors[i] = syntax.Selector{Expr: &c, Alias: p.Logical.Columns[i].Name}
		}
	}
	var err error
	p.Whole, err = newStatement(stmt)
	return err
}

// owners reads logical partitions whole. A scan meets each of them once for every
// shard that has something; it is shown where that happens first, in the shard of
// the lowest token, which owns it.
func (p *Select) owners(stmt *syntax.Select) error {
	if err := p.partitions(stmt, !p.seesApart()); err != nil {
		return err
	}
	t := p.Table
	names := t.keyColumns()
	s := &syntax.Select{Distinct: true, From: t.name(), Limit: marker(Limit, 0)}
	for _, n := range names {
		s.Selectors = append(s.Selectors, column(n))
	}
	for i, op := range []syntax.Op{syntax.OpGE, syntax.OpLE} {
		s.Where = append(s.Where, syntax.Relation{Columns: names, Token: true, Op: op, Value: marker(Token, i)})
	}
	p.walk = &walk{}
	var err error
	if p.walk.statement, err = newStatement(s); err != nil {
		return err
	}
	p.walk.probe, err = t.presence(nil)
	return err
}

// walk goes over physical partitions in the order of their tokens.
type walk struct {
	statement *Statement // physical partition keys
	probe     *Statement // which shards have anything
}

// Position is a physical partition in the order of a scan.
type Position struct {
	Token int64
	Key   []byte // serialized, with the shard
}

// Compare orders positions as Cassandra orders partitions.
func (p Position) Compare(q Position) int {
	switch {
	case p.Token < q.Token:
		return -1
	case p.Token > q.Token:
		return 1
	}
	return bytes.Compare(p.Key, q.Key)
}

// Position is that of a shard of a logical partition.
func (t *Table) Position(key [][]byte, n int) Position {
	k := partitioner.AppendComposite(nil, append(slices.Clone(key), IntValue(n))...)
	return Position{partitioner.Murmur3(k), k}
}

// At reads back a position's key.
func (t *Table) At(k []byte) (p Position, key [][]byte, shard int, err error) {
	n := len(t.PartitionKey)
	parts, err := partitioner.SplitComposite(nil, k, n+1)
	if err != nil || len(parts[n]) != 4 {
		return p, nil, 0, errState
	}
	return Position{partitioner.Murmur3(k), k}, parts[:n], int(int32(binary.BigEndian.Uint32(parts[n]))), nil
}

// Walk asks for the physical partitions of a range of tokens, limit of them.
func (p *Select) Walk(r analysis.TokenRange, limit int) Fetch {
	f := Fetch{Statement: p.walk.statement, Values: make([]eval.Value, len(p.walk.statement.Slots))}
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

// Walked returns the table by whose places a scan goes, from its first page to the last:
// by those of the layout that it began with, as long as every partition is in these too.
// nil: the cursor is of a layout whose places are gone, or are being emptied.
func (p *Select) Walked(c Cursor) *Table {
	tables := []*Table{p.Table}
	if p.from != nil {
		switch p.Change.Step {
		case reshard.Settled:
			tables = []*Table{p.Change.To, p.from}
		case reshard.Cleaned:
			tables = []*Table{p.Change.To}
		default:
			tables = []*Table{p.from}
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

// Sum tells the table's layout from others.
func (t *Table) Sum() uint32 {
	text := t.Layout.String()
	if t.Layout.Keys.Len() > 0 {
		text += fmt.Sprint(t.Layout.Keys.Texts()) // in the order of the keys
	}
	return uint32(partitioner.Murmur3([]byte(text)))
}

// Walks says whether a scan by the table's places looks at a shard of a logical partition.
func (t *Table) Walks(key [][]byte, n int) bool {
	if t.Timed() {
		return true
	}
	s := t.Layout.Spread(AppendKey(nil, key))
	return s.Contains(n) || slices.ContainsFunc(s.Rows, func(e shard.RowEpoch) bool { return e.Contains(n) })
}

// Before are those of the shards of a logical partition (Places) that a scan meets before
// the given one, in that order.
func (t *Table) Before(key [][]byte, at Position, all []int) []int {
	var lower []Position
	shards := map[string]int{}
	for _, n := range all {
		if q := t.Position(key, n); q.Compare(at) < 0 {
			lower = append(lower, q)
			shards[string(q.Key)] = n
		}
	}
	slices.SortFunc(lower, Position.Compare)
	out := make([]int, len(lower))
	for i, q := range lower {
		out[i] = shards[string(q.Key)]
	}
	return out
}

// Probe asks which of some shards have anything.
func (p *Select) Probe(b *analysis.BoundSelect, key [][]byte, shards []int) Fetch {
	return fetchKey(p.walk.probe, b, key, shards)
}

// fetchKey fills a statement of Key and ShardList slots.
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
