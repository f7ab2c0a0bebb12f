// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
)

// SourceKind is the kind of place that a cell of a merged row comes from.
type SourceKind uint8

// These are the kinds of sources.
const (
	FromKey        SourceKind = iota // component Cell of the partition key
	FromClustering                   // component Cell of the clustering key
	FromRow                          // column Cell of the fetched row
	FromStatic                       // column Cell of the row that Presence reads
)

// Source says where a cell and its times come from.
type Source struct {
	Kind      SourceKind
	Cell      int
	WriteTime int // index of the write time; -1: not fetched
	TTL       int // index of the time to live; -1: not fetched
	multi     bool
}

// sources selects the cells and times that the evaluation needs.
func (p planning) sources(f *syntax.Select) {
	a := p.Logical
	for _, c := range a.Fetch {
		switch c.Column.Kind {
		case schema.PartitionKey:
			p.Sources = append(p.Sources, Source{Kind: FromKey, Cell: c.Column.Position, WriteTime: -1, TTL: -1})
		case schema.Clustering:
			p.Sources = append(p.Sources, Source{Kind: FromClustering, Cell: c.Column.Position, WriteTime: -1, TTL: -1})
		case schema.Static:
			if p.Presence == nil {
				p.Presence = &Presence{}
			}
			p.Sources = append(p.Sources, p.source(FromStatic, c, &p.Presence.selectors, &p.Presence.merge))
		case schema.Regular:
			p.Sources = append(p.Sources, p.source(FromRow, c, &f.Selectors, &p.merge))
		}
	}
}

// source selects one column.
func (p planning) source(kind SourceKind, c analysis.Fetched, selectors *[]syntax.Selector, merge *[]mergeCell) Source {
	s := Source{Kind: kind, Cell: len(*selectors), WriteTime: -1, TTL: -1, multi: c.Column.Type.Multicell()}
	*selectors = append(*selectors, column(c.Column.Name))
	times := func(function string) int {
		*selectors = append(*selectors, syntax.Selector{Expr: &syntax.Call{Func: syntax.Name{Name: function}, Args: []syntax.Expr{&syntax.Column{Name: c.Column.Name}}}})
		return len(*selectors) - 1
	}
	counter := c.Column.Type.Kind == value.Counter
	if c.Times || (p.Table.Layout.Strategy.Anywhere() || p.Table.dated) && !s.multi && !counter {
		s.WriteTime = times("writetime")
	}
	if c.Times {
		s.TTL = times("ttl")
	}
	*merge = append(*merge, mergeCell{s, counter})
	return s
}

// mergeCell says how a cell that two shards have is merged.
type mergeCell struct {
	Source
	counter bool
}

// Same says whether the visible cells of two rows are equal. It ignores the remaining times to
// live.
func (p *Select) Same(a, b [][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) || (a[i] == nil) != (b[i] == nil) {
			if !slices.ContainsFunc(p.Sources, func(s Source) bool { return s.Kind == FromRow && s.TTL == i }) {
				return false
			}
		}
	}
	return true
}

// Merges says that several shards may have parts of one row.
func (p *Select) Merges() bool { return p.Table.Layout.Strategy.Anywhere() }

// Merge merges two rows with the same key from two shards, as strategy random needs. into is
// changed.
func (p *Select) Merge(into, other [][]byte) { mergeCells(p.merge, into, other) }

func mergeCells(cells []mergeCell, into, other [][]byte) {
	for _, m := range cells {
		a, b := into[m.Cell], other[m.Cell]
		switch {
		case b == nil:
			continue
		case a == nil:
		case m.counter:
			if rule.On(rule.AddCounters) {
				into[m.Cell] = addInts(a, b)
				if m.WriteTime >= 0 && bytes.Compare(other[m.WriteTime], into[m.WriteTime]) > 0 {
					into[m.WriteTime] = other[m.WriteTime]
				}
			}
			continue
		case m.multi:
			continue // the same in all shards
		default:
			if later := compareTimes(other[m.WriteTime], into[m.WriteTime]); rule.On(rule.LaterCellWins) && later < 0 || later == 0 && bytes.Compare(b, a) <= 0 {
				continue
			}
		}
		into[m.Cell] = b
		if m.WriteTime >= 0 {
			into[m.WriteTime] = other[m.WriteTime]
		}
		if m.TTL >= 0 {
			into[m.TTL] = other[m.TTL]
		}
	}
}

// compareTimes compares two write times, which are bigints.
func compareTimes(a, b []byte) int { return bigintType.Compare(a, b) }

// Row is a merged row. Its cells are those of Logical.Fetch. It is an eval.Row.
type Row struct {
	Select     *Select
	Key        [][]byte // the partition key
	Clustering [][]byte // the clustering key; nil: a row of static columns only
	Cells      [][]byte // as fetched; nil: a row of static columns only
	Statics    [][]byte // as Presence reads them; nil: there are none
}

// Cell implements eval.Row.
func (r *Row) Cell(i int) []byte {
	s := &r.Select.Sources[i]
	return cellAt(r.cells(s), s.Cell)
}

func (r *Row) cells(s *Source) [][]byte {
	switch s.Kind {
	case FromKey:
		return r.Key
	case FromClustering:
		return r.Clustering
	case FromRow:
		return r.Cells
	}
	return r.Statics
}

func cellAt(cells [][]byte, i int) []byte {
	if i < 0 || i >= len(cells) {
		return nil
	}
	return cells[i]
}

// Times implements eval.Row.
func (r *Row) Times(i int) []eval.CellTime {
	s := &r.Select.Sources[i]
	cells := r.cells(s)
	written, left := cellAt(cells, s.WriteTime), cellAt(cells, s.TTL)
	if written == nil {
		return nil
	}
	if !s.multi {
		return []eval.CellTime{eval.CellTimeOf(written, left)}
	}
	var out []eval.CellTime
	ttls := intsType.Parts(left)
	for p := bigintsType.Parts(written); p.Next(); {
		var ttl []byte
		if ttls.Next() {
			ttl = ttls.Part()
		}
		out = append(out, eval.CellTimeOf(p.Part(), ttl))
	}
	return out
}

var (
	bigintsType = value.ListOf(bigintType, true)
	intsType    = value.ListOf(value.Native(value.Int), true)
)
