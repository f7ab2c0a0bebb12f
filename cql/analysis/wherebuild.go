// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

const needsFiltering = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. " +
	"If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING"

// whereBuilder collects the relations of a WHERE and applies Cassandra's rules to them.
type whereBuilder struct {
	*analyzer
	statement string // SELECT, INSERT, UPDATE, DELETE

	partition  restrictions
	token      *Restriction
	clustering restrictions
	regular    restrictions // static columns too

	keyRange  bool // the execution scans partitions
	useIndex  bool
	idx       *schema.Index
	filterPK  bool // partition key restrictions filter
	filterCK  bool // clustering restrictions filter
	allowFilt bool
	implicit  bool // a virtual table: filtering needs no ALLOW FILTERING
}

func (b *whereBuilder) isSelect() bool { return b.statement == "SELECT" }

// ranges reports whether the statement may restrict ranges of rows.
func (b *whereBuilder) ranges() bool { return b.isSelect() || b.statement == "DELETE" }

// build makes the WHERE from its relations.
func (b *whereBuilder) build(relations []syntax.Relation, onlyStatics bool) (Where, error) {
	for i := range relations {
		b.memo.next()
		if err := b.relation(&relations[i]); err != nil {
			return Where{}, err
		}
	}
	return b.finish(onlyStatics)
}

func (b *whereBuilder) relation(r *syntax.Relation) error {
	if r.Index != "" {
		return b.customIndex(r)
	}
	contains := r.Op == syntax.OpContains || r.Op == syntax.OpContainsKey
	if contains && (b.statement == "UPDATE" || b.statement == "DELETE") {
		return invalid("Cannot use %s with %s", b.statement, symbol(r.Op))
	}
	if r.Op == syntax.OpIsNotNull {
		return invalid("Unsupported restriction: %s", b.relationText(r))
	}
	out, err := b.restriction(r)
	if err != nil {
		return err
	}
	if r.Op == syntax.OpLike && (!b.isSelect() || b.index(&merged{Restriction: out}) == nil) {
		return invalid("LIKE restriction is only supported on properly indexed columns. %s is not valid.", b.relationText(r))
	}
	return b.add(out, r.Token)
}

// customIndex refuses expr(index, value), because no index here takes expressions.
func (b *whereBuilder) customIndex(r *syntax.Relation) error {
	if !b.isSelect() {
		return invalid("Custom index expressions cannot be used in WHERE clauses for UPDATE or DELETE statements")
	}
	for _, i := range b.table.Indexes {
		if i.Name == r.Index {
			if i.Options["class_name"] == "" {
				return invalid("Only CUSTOM indexes may be used in custom index expressions, %s is not valid", r.Index)
			}
			return invalid("Index %s does not support custom expressions", r.Index)
		}
	}
	return invalid("Invalid index expression, index %s not found for %s.%s", r.Index, b.table.Keyspace, b.table.Name)
}

func (b *whereBuilder) add(r *Restriction, token bool) error {
	switch {
	case token && b.token == nil:
		b.token = r
		return nil
	case token:
		m, err := mergeToken(b.token, r)
		if err == nil {
			b.token = m
		}
		return err
	}
	switch r.firstColumn().Kind {
	case schema.PartitionKey:
		return b.partition.add(r)
	case schema.Clustering:
		return b.addClustering(r)
	}
	return b.regular.add(r)
}

// addClustering adds a clustering restriction, unless a range before it makes that impossible.
func (b *whereBuilder) addClustering(r *Restriction) error {
	last := b.clustering.last()
	if err := b.clustering.add(r); err != nil {
		return err
	}
	if last == nil || b.allowFilt || b.isSelect() && b.index(&merged{Restriction: r}) != nil {
		return nil
	}
	was, now := last.firstColumn(), r.firstColumn()
	if last.Kind == Range && now.Position > was.Position {
		return invalid(`Clustering column "%s" cannot be restricted (preceding column "%s" is restricted by a non-EQ relation)`, now.Name, was.Name)
	}
	if now.Position < was.Position && r.Kind == Range {
		next := was
		for _, c := range b.clustering.columns {
			if c.Position > now.Position {
				next = c
				break
			}
		}
		return invalid(`PRIMARY KEY column "%s" cannot be restricted (preceding column "%s" is restricted by a non-EQ relation)`, next.Name, now.Name)
	}
	return nil
}

// onToken reports whether the token rather than the key selects the partitions.
func (b *whereBuilder) onToken() bool {
	return b.token != nil && (b.partitionFilters() || len(b.partition.columns) < len(b.table.PartitionKey))
}

// partitionFilters reports whether restrictions of the partition key only filter.
func (b *whereBuilder) partitionFilters() bool {
	p := &b.partition
	return !p.empty() && (len(p.columns) < len(b.table.PartitionKey) || p.slice || p.inside)
}

// unrestricted reports whether a part of the partition key is not restricted.
func (b *whereBuilder) unrestricted() bool {
	return b.token == nil && len(b.partition.columns) < len(b.table.PartitionKey)
}

// inFilter returns the clustering restrictions that cannot make slices: those inside collections
// and those after a gap or a range.
func (b *whereBuilder) inFilter() map[*merged]bool {
	out := map[*merged]bool{}
	at := 0
	for _, g := range b.clustering.groups() {
		if g.contains() || g.Kind == Like || at != g.firstColumn().Position {
			out[g] = true
			continue
		}
		if g.Kind != Range {
			at = g.lastColumn().Position + 1
		}
	}
	return out
}

func (b *whereBuilder) clusteringFilters() bool {
	return len(b.inFilter()) > 0
}

// finish applies the rules that concern all restrictions together.
func (b *whereBuilder) finish(onlyStatics bool) (Where, error) {
	var clusteringIndex *schema.Index
	if b.isSelect() {
		clusteringIndex = b.indexed(&b.clustering)
		for _, i := range []*schema.Index{clusteringIndex, b.indexed(&b.partition), b.indexed(&b.regular)} {
			if i != nil && b.idx == nil {
				b.idx = i
			}
		}
	}
	if err := b.checkPartition(); err != nil {
		return Where{}, err
	}
	b.filterPK = b.useIndex || b.partitionFilters()
	if onlyStatics && !b.clustering.empty() {
		if b.isSelect() {
			return Where{}, invalid("Cannot restrict clustering columns when selecting only static columns")
		}
		if b.statement != "INSERT" {
			return Where{}, invalid("Invalid restrictions on clustering columns since the %s statement modifies only static columns", b.statement)
		}
	}
	if err := b.checkClustering(onlyStatics); err != nil {
		return Where{}, err
	}
	if b.keyRange && clusteringIndex != nil {
		b.useIndex = true
	}
	b.filterCK = b.useIndex || b.clusteringFilters()
	if err := b.checkRegular(); err != nil {
		return Where{}, err
	}
	if b.useIndex && b.partition.in {
		return Where{}, invalid("Select on indexed columns and with IN clause for the PRIMARY KEY are not supported")
	}
	return b.where(), nil
}

func (b *whereBuilder) checkPartition() error {
	if !b.isSelect() {
		switch {
		case b.onToken():
			return invalid("The token function cannot be used in WHERE clauses for %s statements", b.statement)
		case b.unrestricted():
			var missing []string
			for _, c := range b.table.PartitionKey {
				if !slices.Contains(b.partition.columns, c) {
					missing = append(missing, c.Name)
				}
			}
			return invalid("Some partition key parts are missing: %s", strings.Join(missing, ", "))
		case b.partition.slice:
			return invalid("Only EQ and IN relation are supported on the partition key (unless you use the token() function) for %s statements", b.statement)
		}
		return nil
	}
	if b.onToken() {
		b.keyRange = true
	}
	if b.partition.empty() && b.unrestricted() {
		b.keyRange = true
		b.useIndex = b.idx != nil
	}
	if b.partitionFilters() {
		if !b.allowFilt && !b.implicit && b.idx == nil {
			return invalid(needsFiltering)
		}
		b.keyRange = true
		b.useIndex = b.idx != nil
	}
	return nil
}

func (b *whereBuilder) checkClustering(onlyStatics bool) error {
	if !b.ranges() {
		if b.clustering.slice {
			return invalid("Slice restrictions are not supported on the clustering columns in %s statements", b.statement)
		}
		if !onlyStatics && len(b.clustering.columns) != len(b.table.Clustering) {
			var missing []string
			for _, c := range b.table.Clustering {
				if !slices.Contains(b.clustering.columns, c) {
					missing = append(missing, c.Name)
				}
			}
			return invalid("Some clustering keys are missing: %s", strings.Join(missing, ", "))
		}
		return nil
	}
	if b.clustering.inside && b.idx == nil && !b.allowFilt {
		return invalid("Clustering columns can only be restricted with CONTAINS with a secondary index or filtering")
	}
	if b.clustering.empty() || !b.clusteringFilters() {
		return nil
	}
	if b.idx != nil {
		b.useIndex = true
		return nil
	}
	if b.allowFilt {
		return nil
	}
	for i, c := range b.clustering.columns {
		if first := b.table.Clustering[i]; c != first {
			return invalid(`PRIMARY KEY column "%s" cannot be restricted as preceding column "%s" is not restricted`, c.Name, first.Name)
		}
	}
	return nil
}

func (b *whereBuilder) checkRegular() error {
	if b.regular.empty() {
		return nil
	}
	if !b.isSelect() {
		var names []string
		for _, c := range b.regular.columns {
			names = append(names, c.Name)
		}
		return invalid("Non PRIMARY KEY columns found in where clause: %s ", strings.Join(names, ", "))
	}
	switch {
	case b.idx != nil:
		b.useIndex = true
	case !b.allowFilt && !b.implicit:
		return invalid(needsFiltering)
	}
	return nil
}

// needsFiltering reports whether at least one restriction is answered neither by slices nor by the
// index.
func (b *whereBuilder) needsFiltering() bool {
	var filters []*restrictions
	if b.filterPK && !b.partition.empty() {
		filters = append(filters, &b.partition)
	}
	if b.filterCK && !b.clustering.empty() {
		filters = append(filters, &b.clustering)
	}
	if !b.regular.empty() {
		filters = append(filters, &b.regular)
	}
	if len(filters) == 0 {
		return !b.clustering.empty()
	}
	for i := range b.table.Indexes {
		if b.answers(&b.table.Indexes[i], filters) {
			return false
		}
	}
	return true
}

// answers reports whether one index answers all restrictions that filter.
func (b *whereBuilder) answers(idx *schema.Index, filters []*restrictions) bool {
	for _, f := range filters {
		for _, g := range f.groups() {
			if len(g.more) > 0 || !slices.ContainsFunc(g.Columns, func(c *schema.Column) bool { return supports(idx, c, g.Restriction) }) {
				return false
			}
		}
	}
	return true
}

// columnRange reports whether the clustering restrictions name ranges rather than single rows.
func (b *whereBuilder) columnRange() bool {
	return len(b.clustering.columns) < len(b.table.Clustering) || b.clustering.other
}

// equal reports whether a column is restricted by EQ.
func (b *whereBuilder) equal(c *schema.Column) bool {
	if c.Kind == schema.PartitionKey && b.onToken() {
		return false
	}
	s := &b.partition
	switch c.Kind {
	case schema.Clustering:
		s = &b.clustering
	case schema.Static, schema.Regular:
		s = &b.regular
	}
	g := s.by[c]
	return g != nil && g.Kind == EQ
}

// where groups the restrictions by their use.
func (b *whereBuilder) where() Where {
	w := Where{Token: b.token}
	if !b.keyRange && !b.unrestricted() {
		for _, c := range b.table.PartitionKey {
			w.Partition = append(w.Partition, b.partition.by[c].Restriction)
		}
	}
	if b.filterPK {
		for _, g := range b.partition.groups() {
			w.Filters = append(w.Filters, g.all()...)
		}
	}
	in := b.inFilter()
	stop := false
	for _, g := range b.clustering.groups() {
		if in[g] {
			stop = true
			w.Filters = append(w.Filters, g.all()...)
			continue
		}
		if !stop {
			w.Clustering = append(w.Clustering, g.Restriction)
			if g.Kind == Range {
				stop = true
			}
		}
	}
	for _, g := range b.regular.groups() {
		w.Filters = append(w.Filters, g.all()...)
	}
	for _, r := range w.Filters {
		for _, c := range r.Columns {
			r.Cells = append(r.Cells, b.cell(c))
		}
	}
	return w
}
