// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
)

// model executes analysed statements in memory, one after another, as simply as possible: the last
// write wins, nothing expires. It shows that the results of Analyze and Bind are enough to answer
// as Cassandra does.
type model struct {
	schema *schema.Schema
	tables map[*schema.Table]map[string]*modelPartition
	clock  int64
}

type modelPartition struct {
	key    [][]byte
	static *modelRow
	rows   []*modelRow
}

type modelRow struct {
	clustering [][]byte
	marker     bool // the row was inserted
	cells      map[*schema.Column]map[string]modelCell
}

type modelCell struct {
	value []byte
	time  eval.CellTime
}

func newModel(s *schema.Schema) *model {
	return &model{schema: s, tables: map[*schema.Table]map[string]*modelPartition{}, clock: 1700000000000000}
}

func (m *model) env(values []eval.Value) *eval.Env {
	m.clock += 1000
	n := m.clock
	return &eval.Env{Values: values, Now: n, Timeuuid: func() (u [16]byte) {
		n++
		copy(u[:], eval.AppendTimeuuid(nil, n*10+uuidEpochTicks, 0x8080808080808080))
		return u
	}}
}

// run executes one statement and returns the rows of its result; nil if it has no result.
func (m *model) run(text string, values []eval.Value) ([]ResultColumn, [][][]byte, error) {
	stmt, err := syntax.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	a, err := Analyze(stmt, m.schema, keyspace)
	if err != nil {
		return nil, nil, err
	}
	switch a := a.(type) {
	case *Select:
		b, err := a.Bind(m.env(values))
		if err != nil {
			return nil, nil, err
		}
		rows, err := m.selectRows(b)
		return a.Columns, rows, err
	case *Write:
		b, err := a.Bind(m.env(values))
		if err != nil {
			return nil, nil, err
		}
		if a.Conditional() {
			return m.cas(b)
		}
		return nil, nil, m.write(b)
	case *Batch:
		b, err := a.Bind(m.env(values))
		if err != nil {
			return nil, nil, err
		}
		for _, w := range b.Writes {
			if err := m.write(w); err != nil {
				return nil, nil, err
			}
		}
	}
	return nil, nil, nil
}

func (m *model) partition(t *schema.Table, key [][]byte, create bool) *modelPartition {
	parts := m.tables[t]
	if parts == nil {
		parts = map[string]*modelPartition{}
		m.tables[t] = parts
	}
	id := string(partitioner.AppendComposite(nil, key...))
	p := parts[id]
	if p == nil && create {
		p = &modelPartition{key: key, static: &modelRow{}}
		parts[id] = p
	}
	return p
}

func (p *modelPartition) row(t *schema.Table, clustering [][]byte, create bool) *modelRow {
	i, found := slices.BinarySearchFunc(p.rows, clustering, func(r *modelRow, c [][]byte) int {
		return CompareClustering(t, r.clustering, c)
	})
	if found {
		return p.rows[i]
	}
	if !create {
		return nil
	}
	r := &modelRow{clustering: clustering}
	p.rows = slices.Insert(p.rows, i, r)
	return r
}

func (m *model) write(b *BoundWrite) error {
	for _, key := range b.Keys.All() {
		p := m.partition(b.Table, key, true)
		switch b.Scope {
		case ScopeDeletePartition:
			p.rows, p.static = nil, &modelRow{}
		case ScopeDeleteRows:
			for _, c := range b.Rows.All() {
				p.rows = slices.DeleteFunc(p.rows, func(r *modelRow) bool { return CompareClustering(b.Table, r.clustering, c) == 0 })
			}
		case ScopeDeleteSlices:
			for s := range b.Slices.All() {
				p.rows = slices.DeleteFunc(p.rows, func(r *modelRow) bool { return s.Contains(b.Table, r.clustering) })
			}
		case ScopeStatic:
			if err := m.mutate(b, p, nil); err != nil {
				return err
			}
		case ScopeRows:
			for _, c := range b.Rows.All() {
				if err := m.mutate(b, p, p.row(b.Table, c, true)); err != nil {
					return err
				}
			}
		}
		p.rows = slices.DeleteFunc(p.rows, func(r *modelRow) bool { return !r.marker && r.empty() })
	}
	return nil
}

func (r *modelRow) empty() bool {
	for _, c := range r.cells {
		if len(c) > 0 {
			return false
		}
	}
	return true
}

// mutate applies the mutations to a row. It applies those of static columns to the static row.
func (m *model) mutate(b *BoundWrite, p *modelPartition, row *modelRow) error {
	if b.Kind == Insert && row != nil {
		row.marker = true
	}
	when := eval.CellTime{Timestamp: b.Env.Now, TTL: eval.NoTTL}
	if b.Timestamp != nil {
		when.Timestamp = *b.Timestamp
	}
	if b.TTL != nil && *b.TTL > 0 {
		when.TTL = *b.TTL
	}
	for i := range b.Mutations {
		mu := &b.Mutations[i]
		r := row
		if mu.Column.Kind == schema.Static {
			r = p.static
		}
		if r.cells == nil {
			r.cells = map[*schema.Column]map[string]modelCell{}
		}
		cells := r.cells[mu.Column]
		if cells == nil {
			cells = map[string]modelCell{}
			r.cells[mu.Column] = cells
		}
		if err := mu.apply(cells, when); err != nil {
			return err
		}
	}
	return nil
}

func (mu *Mutation) apply(cells map[string]modelCell, when eval.CellTime) error {
	put := func(path string, v []byte) {
		if v == nil {
			delete(cells, path)
		} else {
			cells[path] = modelCell{v, when}
		}
	}
	switch mu.Kind {
	case PutCell:
		put("", mu.Value)
	case ClearCells:
		clear(cells)
	case PutCells:
		if mu.Clear {
			clear(cells)
		}
		for c := range mu.Cells.All() {
			put(string(c.Path), c.Value)
		}
	case AddCounter:
		n := mu.Delta
		if c, ok := cells[""]; ok {
			n += int64(binary.BigEndian.Uint64(c.value))
		}
		put("", binary.BigEndian.AppendUint64(nil, uint64(n)))
	case SetIndex, DeleteIndex:
		paths := sortedPaths(mu.Column.Type, cells)
		if err := mu.ListIndexError(len(paths)); err != nil {
			return err
		}
		put(paths[mu.Index], mu.Value)
	case DiscardValues:
		for p, c := range cells {
			if slices.ContainsFunc(slices.Collect(mu.Cells.All()), func(d Cell) bool { return bytes.Equal(d.Value, c.value) }) {
				delete(cells, p)
			}
		}
	case AddToCell:
		if c, ok := cells[""]; ok {
			v, err := eval.Add(mu.Column.Type, c.value, mu.Value)
			if err != nil {
				return err
			}
			put("", v)
		}
	}
	return nil
}

// partitions returns the partitions that a SELECT reads, in its order.
func (m *model) partitions(b *BoundSelect) []*modelPartition {
	var out []*modelPartition
	if !b.Scan {
		for _, k := range b.Keys.All() {
			if p := m.partition(b.Table, k, false); p != nil {
				out = append(out, p)
			}
		}
		return out
	}
	token := func(p *modelPartition) int64 {
		return partitioner.Murmur3(partitioner.AppendComposite(nil, p.key...))
	}
	for _, p := range m.tables[b.Table] {
		t := token(p)
		if slices.ContainsFunc(b.Tokens, func(r TokenRange) bool { return r.Start <= t && t <= r.End }) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(x, y *modelPartition) int { return cmp.Compare(token(x), token(y)) })
	return out
}

// views returns the rows of a partition that a SELECT reads, in its order.
func (m *model) views(b *BoundSelect, p *modelPartition) []*modelView {
	var out []*modelView
	for _, r := range p.rows {
		if b.Slices.Contains(b.Table, r.clustering) {
			out = append(out, &modelView{b.Fetch, p, r})
		}
	}
	if b.Reversed {
		slices.Reverse(out)
	}
	if len(out) == 0 && len(p.rows) == 0 && b.StaticRows && !p.static.empty() {
		out = []*modelView{{b.Fetch, p, nil}}
	}
	if b.StaticsOnly && len(out) > 1 {
		out = out[:1]
	}
	return slices.DeleteFunc(out, func(v *modelView) bool { return !b.Matches(v) })
}

func (m *model) selectRows(b *BoundSelect) ([][][]byte, error) {
	var out [][][]byte
	if b.Empty() && !b.Selection.Aggregated {
		return out, nil
	}
	var views []*modelView
	group := b.Selection.NewGroup()
	grouped := b.Grouped || b.Selection.Aggregated
	flush := func() error {
		row, err := group.Result(b.Env, nil)
		out = append(out, row)
		return err
	}
	for _, p := range m.partitions(b) {
		n := 0
		var last [][]byte
		first := true
		for _, v := range m.views(b, p) {
			if !grouped {
				if b.PerPartitionLimit > 0 && n >= b.PerPartitionLimit {
					break
				}
				n++
				views = append(views, v)
				continue
			}
			if b.Grouped {
				key, err := groupKey(b, v)
				if err != nil {
					return nil, err
				}
				if !group.Empty() && (first || !slices.EqualFunc(key, last, bytes.Equal)) {
					if err := flush(); err != nil {
						return nil, err
					}
				}
				last, first = key, false
			}
			if err := group.Add(b.Env, v); err != nil {
				return nil, err
			}
		}
	}
	if grouped {
		if !group.Empty() || !b.Grouped {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if len(b.Sort) > 0 {
		slices.SortStableFunc(views, func(x, y *modelView) int { return b.CompareSorted(sortKeys(b.Select, x), sortKeys(b.Select, y)) })
	}
	for _, v := range views {
		row, err := b.Selection.Row(b.Env, v, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	if b.Limit > 0 && len(out) > b.Limit {
		out = out[:b.Limit]
	}
	return out, nil
}

// cas executes a lightweight transaction.
func (m *model) cas(b *BoundWrite) ([]ResultColumn, [][][]byte, error) {
	p := m.partition(b.Table, b.Keys.At(0), true)
	var row *modelRow
	if b.Rows.Len() > 0 {
		row = p.row(b.Table, b.Rows.At(0), false)
	}
	view := &modelView{b.Fetch, p, row}
	exists := row != nil || b.Scope == ScopeStatic && !p.static.empty()
	ok := true
	switch {
	case b.IfNotExists:
		ok = !exists
	case b.IfExists:
		ok = exists
	}
	for i := range b.Conditions {
		c := &b.Conditions[i]
		present := NewTested(c.Column.Type, view.Cell(c.Cell))
		holds, err := c.Applies(&present)
		if err != nil {
			return nil, nil, err
		}
		ok = ok && holds
	}
	cols := []ResultColumn{{"[applied]", value.Native(value.Boolean)}}
	if ok {
		return cols, [][][]byte{{{1}}}, m.write(b)
	}
	out := [][]byte{{0}}
	if exists || !b.IfExists && len(p.rows)+len(p.static.cells) > 0 && row != nil {
		for i, f := range b.Fetch {
			cols = append(cols, ResultColumn{f.Column.Name, f.Column.Type})
			out = append(out, view.Cell(i))
		}
	}
	return cols, [][][]byte{out}, nil
}

// show formats the rows of a result.
func show(cols []ResultColumn, rows [][][]byte) string {
	if cols == nil {
		return "ok\n"
	}
	var b strings.Builder
	for i, c := range cols {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(c.Name)
	}
	b.WriteString("\n")
	for _, r := range rows {
		for i, v := range r {
			if i > 0 {
				b.WriteString(" | ")
			}
			switch {
			case v == nil:
				b.WriteString("null")
			case cols[i].Type.Kind == value.Decimal && len(v) >= 4:
				b.WriteString("0x" + hex.EncodeToString(v) + " ") // hexadecimal, so that the scale is visible
				fallthrough
			default:
				b.Write(cols[i].Type.Format(nil, v))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// groupKey returns the values that stay the same within a group.
func groupKey(b *BoundSelect, row eval.Row) (key [][]byte, err error) {
	for _, e := range b.GroupBy {
		v, err := eval.Eval(e, b.Env, row)
		if err != nil {
			return nil, err
		}
		key = append(key, v)
	}
	return key, nil
}

// sortKeys returns a row's values for ORDER BY.
func sortKeys(s *Select, row eval.Row) (keys [][]byte) {
	for _, k := range s.Sort {
		keys = append(keys, row.Cell(k.Cell))
	}
	return keys
}
