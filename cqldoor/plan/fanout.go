// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
)

// fanOut plans a fan-out: the statement that fetches rows, and how their result is made.
// together says that a result cannot be made from one shard's rows alone.
func (p planning) fanOut(stmt *syntax.Select, together bool) error {
	a, t := p.Logical, p.Table
	together = together || p.both
	onRegulars := true
	for _, r := range a.Where.Filters {
		for _, c := range r.Columns {
			onRegulars = onRegulars && c.Kind == schema.Regular
		}
	}
	p.FilterHere = len(a.Where.Filters) > 0 && (together && rule.On(rule.FilterMerged) || !onRegulars)
	p.output(together)
	f := syntax.Select{From: stmt.From, AllowFiltering: stmt.AllowFiltering && !p.FilterHere && len(a.Where.Filters) > 0}
	if p.Output == Evaluated {
		p.sources(&f)
		if err := p.presence(); err != nil {
			return err
		}
	} else {
		f.Selectors = stmt.Selectors
	}
	p.Visible = len(f.Selectors)
	if p.Output != Combined {
		at := func(name string) int {
			for i, s := range f.Selectors {
				if c, ok := s.Expr.(*syntax.Column); ok && c.Name == name {
					return i
				}
			}
			f.Selectors = append(f.Selectors, column(name))
			return len(f.Selectors) - 1
		}
		for _, c := range t.Clustering {
			p.Clustering = append(p.Clustering, at(c.Name))
		}
		if p.ShardCell = -1; !t.Plain() {
			p.ShardCell = at(t.Layout.Column)
		}
	}
	for i, c := range t.PartitionKey {
		f.Where = append(f.Where, syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpEQ, Value: marker(Key, i)})
	}
	if !p.FilterHere {
		filtered := map[string]bool{}
		for _, r := range a.Where.Filters {
			for _, c := range r.Columns {
				filtered[c.Name] = true
			}
		}
		for _, r := range stmt.Where {
			if !r.Token && filtered[r.Columns[0]] {
				p.filters = append(p.filters, r)
			}
		}
	}
	if a.Reversed {
		for _, c := range t.Clustering {
			f.OrderBy = append(f.OrderBy, syntax.Ordering{Column: c.Name, Desc: !c.Desc})
		}
	}
	p.base = f
	p.Selection = syntax.Print(&syntax.Select{Selectors: f.Selectors, From: f.From})
	return nil
}

// limited says whether a limit on a fetch counts rows.
func (p *Select) limited() bool { return p.Output != Combined }
