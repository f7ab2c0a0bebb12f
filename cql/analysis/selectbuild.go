// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

func analyzeSelect(stmt *syntax.Select, s *schema.Schema, keyspace string) (*Select, error) {
	b := &binds{}
	a, err := newAnalyzer(s, keyspace, stmt.From, b)
	if err != nil {
		return nil, err
	}
	a.selecting = true
	for i := range stmt.Selectors {
		a.memo.next()
		if err := a.checkSelector(stmt.Selectors[i].Expr); err != nil {
			return nil, err
		}
	}
	a.selecting = false
	out := &Select{
		Header:         Header{Keyspace: a.table.Keyspace, Table: a.table},
		Wildcard:       len(stmt.Selectors) == 0,
		Distinct:       stmt.Distinct,
		JSON:           stmt.JSON,
		Grouped:        len(stmt.GroupBy) > 0,
		AllowFiltering: stmt.AllowFiltering,
	}
	orders, err := a.orderings(stmt.OrderBy)
	if err != nil {
		return nil, err
	}
	w := &whereBuilder{analyzer: a, statement: "SELECT", allowFilt: stmt.AllowFiltering}
	// The selected columns are fetched before the columns of filters.
	w.analyzer = analyzerOf(a.ks, a.table, b, a.memo)
	w.implicit = virtual(a.table.Keyspace)
	out.Where, err = w.build(stmt.Where, a.onlyStatics(stmt.Selectors))
	if err != nil {
		return nil, err
	}
	if w.useIndex {
		out.NeedsIndex, out.Index = true, w.idx
	}
	out.StaticRows = w.clustering.empty() && !slices.ContainsFunc(w.regular.columns, func(c *schema.Column) bool { return c.Kind == schema.Regular })
	if err := a.selection(stmt, out); err != nil {
		return nil, err
	}
	selected := slices.Clone(a.fetch)
	if stmt.Distinct {
		if stmt.PerPartitionLimit != nil {
			return nil, invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries")
		}
		if err := a.checkDistinct(w, selected, orders); err != nil {
			return nil, err
		}
		out.StaticsOnly = true
	}
	if err := a.groupBy(stmt, out, w); err != nil {
		return nil, err
	}
	if !out.Grouped && out.Selection.Aggregated && stmt.PerPartitionLimit != nil {
		return nil, invalid("PER PARTITION LIMIT is not allowed with aggregate queries.")
	}
	if err := a.order(orders, out, w); err != nil {
		return nil, err
	}
	if !stmt.AllowFiltering && !w.implicit && (w.keyRange || w.useIndex) && w.needsFiltering() {
		return nil, invalid(needsFiltering)
	}
	if out.Limit, err = a.limit(stmt.Limit, "[limit]"); err != nil {
		return nil, err
	}
	if out.PerPartitionLimit, err = a.limit(stmt.PerPartitionLimit, "[per_partition_limit]"); err != nil {
		return nil, err
	}
	for _, r := range out.Where.Filters {
		for i, c := range r.Columns {
			r.Cells[i] = a.cell(c)
		}
	}
	out.Fetch = a.fetch
	out.Binds = b.list
	out.PartitionKeyBinds = b.partitionKey(a.table)
	return out, nil
}

// virtual reports whether a keyspace's tables are virtual tables of Cassandra.
func virtual(keyspace string) bool {
	return keyspace == "system_views" || keyspace == "system_virtual_schema"
}

func (a *analyzer) limit(e syntax.Expr, name string) (eval.Expr, error) {
	if e == nil {
		return nil, nil
	}
	return a.prepare(e, spec{name: name, t: value.Native(value.Int)})
}

// onlyStatics reports whether only static columns are selected, apart from the partition key.
func (a *analyzer) onlyStatics(selectors []syntax.Selector) bool {
	static := false
	for _, s := range selectors {
		for _, name := range columnsOf(s.Expr) {
			c := a.table.Column(name)
			if c == nil || c.Kind == schema.Clustering || c.Kind == schema.Regular {
				return false
			}
			static = static || c.Kind == schema.Static
		}
	}
	return static
}

// columnsOf returns the columns that a selector names. A name before the colon in a map's braces
// may be a field's name.
func columnsOf(e syntax.Expr) []string {
	var names []string
	syntax.Walk(e, func(e syntax.Expr) bool {
		switch e := e.(type) {
		case *syntax.Column:
			names = append(names, e.Name)
		case *syntax.UDT:
			return false
		case *syntax.Map:
			for _, m := range e.Entries {
				if _, ok := m.Key.(*syntax.Column); !ok {
					names = append(names, columnsOf(m.Key)...)
				}
				names = append(names, columnsOf(m.Value)...)
			}
			return false
		}
		return true
	})
	return names
}

// checkDistinct applies the rules of SELECT DISTINCT.
func (a *analyzer) checkDistinct(w *whereBuilder, selected []Fetched, orders []ordering) error {
	nonStatic := slices.ContainsFunc(w.regular.columns, func(c *schema.Column) bool { return c.Kind != schema.Static })
	if !w.clustering.empty() || nonStatic {
		return invalid("SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.")
	}
	fetched := make([]*schema.Column, 0, len(selected))
	for _, f := range selected {
		fetched = append(fetched, f.Column)
	}
	if w.partition.in { // they sort the rows of several partitions
		for _, o := range orders {
			fetched = append(fetched, o.column)
		}
	}
	for _, c := range fetched {
		if c.Kind != schema.PartitionKey && c.Kind != schema.Static {
			return invalid("SELECT DISTINCT queries must only request partition key columns and/or static columns (not %s)", c.Name)
		}
	}
	if !w.keyRange {
		return nil
	}
	for _, c := range a.table.PartitionKey {
		if !slices.ContainsFunc(selected, func(f Fetched) bool { return f.Column == c }) {
			return invalid("SELECT DISTINCT queries must request all the partition key columns (missing %s)", c.Name)
		}
	}
	return nil
}

const groupOrder = "Group by currently only support groups of columns following their declared order in the PRIMARY KEY"

// groupBy sets the expressions that begin a new group when their value changes.
func (a *analyzer) groupBy(stmt *syntax.Select, out *Select, w *whereBuilder) error {
	if !out.Grouped {
		return nil
	}
	key := append(slices.Clone(a.table.PartitionKey), a.table.Clustering...)
	at, prefix := 0, 0
	function := false
	for _, e := range stmt.GroupBy {
		c, x, err := a.groupItem(e)
		if err != nil {
			return err
		}
		if x == nil && function {
			return invalid("Functions are only supported on the last element of the GROUP BY clause")
		}
		function = function || x != nil
		for {
			if at == len(key) {
				return invalid(groupOrder)
			}
			k := key[at]
			at++
			if k.Kind == schema.Clustering {
				prefix++
				if k != c || x == nil {
					out.GroupBy = append(out.GroupBy, &eval.Column{Cell: a.cell(k), Column: k})
				} else {
					out.GroupBy = append(out.GroupBy, x)
				}
			}
			if k == c {
				break
			}
			if !w.equal(k) {
				return invalid(groupOrder)
			}
		}
	}
	if at < len(key) && key[at].Kind == schema.PartitionKey {
		return invalid("Group by is not supported on only a part of the partition key")
	}
	if prefix > 0 && stmt.Distinct {
		return invalid("Grouping on clustering columns is not allowed for SELECT DISTINCT queries")
	}
	return nil
}

// groupItem types one item of GROUP BY: a column, or a function of one.
func (a *analyzer) groupItem(e syntax.Expr) (*schema.Column, eval.Expr, error) {
	a.selecting = true
	defer func() { a.selecting = false }()
	if n, ok := e.(*syntax.Column); ok {
		c, err := a.column(n.Name)
		if err != nil {
			return nil, nil, err
		}
		if c.Kind != schema.PartitionKey && c.Kind != schema.Clustering {
			return nil, nil, invalid("Group by is currently only supported on the columns of the PRIMARY KEY, got %s", c.Name)
		}
		return c, nil, nil
	}
	if err := a.checkSelector(e); err != nil {
		return nil, nil, err
	}
	f, _, err := a.resolve(e, nil)
	if err != nil {
		return nil, nil, err
	}
	if f == nil {
		return nil, nil, invalid("Group by is currently only supported on the columns of the PRIMARY KEY, got %s", a.text(e))
	}
	if f.Aggregate {
		return nil, nil, invalid("Aggregate functions are not supported within the GROUP BY clause, got: system.%s", f.Name)
	}
	x, _, err := a.selector(e, nil)
	if err != nil {
		return nil, nil, err
	}
	var cols []string
	for _, n := range columnsOf(e) {
		if !slices.Contains(cols, n) {
			cols = append(cols, n)
		}
	}
	switch {
	case len(cols) == 0:
		return nil, nil, invalid("GROUP BY functions must have one clustering column name as parameter")
	case len(cols) > 1:
		for i := range cols {
			cols[i] = quote(cols[i])
		}
		return nil, nil, invalid("GROUP BY functions accept only one clustering column as parameter, got: %s", strings.Join(cols, ","))
	}
	c := a.table.Column(cols[0])
	if c.Kind != schema.Clustering {
		return nil, nil, invalid("Group by functions are only supported on clustering columns, got %s", c.Name)
	}
	return c, x, nil
}

// ordering is one item of ORDER BY.
type ordering struct {
	column *schema.Column
	desc   bool
}

func (a *analyzer) orderings(items []syntax.Ordering) ([]ordering, error) {
	var out []ordering
	for _, o := range items {
		c, err := a.column(o.Column)
		if err != nil {
			return nil, err
		}
		if o.ANNOf != nil {
			return nil, invalid("ANN ordering by vector requires the column to be indexed")
		}
		// A column that is named twice keeps its first position and its last direction.
		if i := slices.IndexFunc(out, func(p ordering) bool { return p.column == c }); i >= 0 {
			out[i].desc = o.Desc
			continue
		}
		out = append(out, ordering{c, o.Desc})
	}
	return out, nil
}

// order applies ORDER BY.
func (a *analyzer) order(orders []ordering, out *Select, w *whereBuilder) error {
	if len(orders) == 0 {
		return nil
	}
	switch {
	case w.useIndex:
		return invalid("ORDER BY with 2ndary indexes is not supported, except for ANN queries.")
	case w.keyRange:
		return invalid("ORDER BY is only supported when the partition key is restricted by an EQ or an IN.")
	}
	at := 0
	var reversed *bool
	for _, o := range orders {
		c := o.column
		if c.Kind != schema.Clustering {
			return invalid("Order by is currently only supported on the clustered columns of the PRIMARY KEY, got %s", c.Name)
		}
		for at != c.Position {
			if at >= len(a.table.Clustering) || !w.equal(a.table.Clustering[at]) {
				return invalid("Order by currently only supports the ordering of columns following their declared order in the PRIMARY KEY")
			}
			at++
		}
		at++
		r := o.desc != c.Desc
		if reversed != nil && *reversed != r {
			return invalid("Unsupported order by relation")
		}
		reversed = &r
	}
	out.Reversed = *reversed
	if w.partition.in && w.token == nil || w.partition.in && !w.onToken() {
		for _, o := range orders {
			out.Sort = append(out.Sort, Sort{Cell: a.cell(o.column), Desc: o.desc, NullsLast: out.Reversed})
		}
	}
	return nil
}
