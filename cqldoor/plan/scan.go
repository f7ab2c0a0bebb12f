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
	if err := p.partitions(stmt, !p.seesApart()); err != nil {
		return err
	}
	p.walks = map[*Table]*walk{}
	return p.walksBy(p.Table)
}

// walksBy prepares scans that go over the places of one more table.
func (p planning) walksBy(t *Table) (err error) {
	names := t.keyColumns()
	s := &syntax.Select{Distinct: true, From: t.name(), Limit: marker(Limit, 0)}
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

// Position is a physical partition in the order of a scan.
type Position struct {
	Token int64
	Key   []byte // serialized, including the shard
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

// Position returns the position of one shard of a logical partition.
func (t *Table) Position(key [][]byte, n int) Position {
	if t.Plain() {
		k := AppendKey(nil, key)
		return Position{partitioner.Murmur3(k), k}
	}
	k := partitioner.AppendComposite(nil, append(slices.Clone(key), IntValue(n))...)
	return Position{partitioner.Murmur3(k), k}
}

// AppendPhysicalKey appends the serialized partition key of a shard of a logical partition.
func AppendPhysicalKey(dst []byte, key [][]byte, shard int) []byte {
	var room [8][]byte
	return partitioner.AppendComposite(dst, append(append(room[:0], key...), IntValue(shard))...)
}

// At decodes the key of a position.
func (t *Table) At(k []byte) (p Position, key [][]byte, shard int, err error) {
	n := len(t.PartitionKey)
	if t.Plain() {
		if key, err = SplitKey(k, n); err != nil {
			return p, nil, 0, errState
		}
		return Position{partitioner.Murmur3(k), k}, key, plainPlace, nil
	}
	parts, err := partitioner.SplitComposite(nil, k, n+1)
	if err != nil || len(parts[n]) != 4 {
		return p, nil, 0, errState
	}
	return Position{partitioner.Murmur3(k), k}, parts[:n], int(int32(binary.BigEndian.Uint32(parts[n]))), nil
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

// Sum returns a checksum of the table's layout.
//
// A scan continues when a key gets another shard under strategy rollover. So the number of shards does
// not change the checksum.
func (t *Table) Sum() uint32 {
	text := t.Layout.String()
	if t.Layout.Keys.Len() > 0 {
		text += fmt.Sprint(t.Layout.Keys.Texts()) // in the order of the keys
	}
	return uint32(partitioner.Murmur3([]byte(text)))
}

// Walks says whether a scan by this layout visits a shard of a logical partition.
func (t *Table) Walks(key [][]byte, n int) bool {
	if t.Timed() {
		return true
	}
	s := t.Layout.Spread(AppendKey(nil, key))
	return s.Contains(n) || slices.ContainsFunc(s.Rows, func(e shard.RowEpoch) bool { return e.Contains(n) })
}

// Precedes says whether a scan shows a logical partition at the first of two of its shards if both
// have rows. It shows it at the one with the lower token. Under strategy rollover it is the one
// with the lower number. So a shard that is added during the scan does not take over a partition
// that the scan has passed or has yet to meet.
func (t *Table) Precedes(a, b Position) bool {
	if t.Layout.Strategy == shard.Rollover {
		_, _, m, _ := t.At(a.Key)
		_, _, n, _ := t.At(b.Key)
		return m < n
	}
	return a.Compare(b) < 0
}

// Before returns the shards of a logical partition that precede the given position (Precedes), in
// the order of the scan. all are the partition's shards (Places).
func (t *Table) Before(key [][]byte, at Position, all []int) []int {
	var lower []Position
	shards := map[string]int{}
	for _, n := range all {
		if q := t.Position(key, n); t.Precedes(q, at) {
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

// Met takes apart a row of Walk's result: the key of a logical partition, and one of its shards.
func (t *Table) Met(row [][]byte) (key [][]byte, shard int, ok bool) {
	n := len(t.PartitionKey)
	switch {
	case t.Plain():
		return row, plainPlace, len(row) == n
	case len(row) != n+1 || len(row[n]) != 4:
		return nil, 0, false
	}
	return row[:n:n], int(int32(binary.BigEndian.Uint32(row[n]))), true
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

// firstKeys prints the statement that reads the first clustering keys of some shards of a partition.
func (t *Table) firstKeys() (*Statement, error) {
	s := &syntax.Select{From: t.name(), Where: t.inShards(), PerPartitionLimit: marker(Limit, 0)}
	for _, c := range t.Clustering {
		s.Selectors = append(s.Selectors, column(c.Name))
	}
	s.Selectors = append(s.Selectors, column(t.Layout.Column))
	return newStatement(s)
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
