// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Extra is a further table, or a global secondary index, for queries that the table's key does not
// serve.
type Extra struct {
	Kind   string  `json:"kind"` // "table", "global secondary index"
	Key    string  `json:"key"`
	Shards int     `json:"shards"`
	Lines  []int   `json:"serves_lines"`
	Why    string  `json:"why"`
	DDL    string  `json:"ddl,omitempty"`
	Hot    *HotKey `json:"hot,omitempty"`
	// Bucket is the column of its partition key that the application writes.
	Bucket *BucketColumn `json:"time_bucket_column,omitempty"`

	design *Design
	again  bool // an earlier one has the same partition key, and another order
}

// named returns the columns from which its name is made. partition has the columns of its partition key.
func (e *Extra) named(partition []string) []string {
	if e.again && len(e.design.Clustering) > 0 {
		return append(slices.Clone(partition), e.design.Clustering[0])
	}
	return partition
}

// extras returns what a design needs besides its table, for queries that it answers only by reading
// the whole table or by filtering. For each group of queries that bind the same columns, it returns
// the design that is best for them alone.
func (s *ranker) extras(d *Design) []Extra {
	if s.alone {
		return nil
	}
	var out []Extra
	groups := make(map[string][]int) // by partition key, indexes of queries
	var order []string
	for i := range s.qs {
		q := &s.qs[i]
		if q.Writes() || s.serve(d, q).Kind < Filtered {
			continue
		}
		if parts := s.extraKey(q); len(parts) > 0 {
			id := partitionID(parts)
			if groups[id] == nil {
				order = append(order, id)
			}
			groups[id] = append(groups[id], i)
		}
	}
	for ; len(order) > 0; order = order[1:] {
		id := order[0]
		if s.dear(groups[id]) || s.filterCheaper(d, groups[id]) {
			continue
		}
		best := s.bestFor(groups[id])
		if best == nil {
			continue
		}
		// Queries that ask for another order of the same rows are served by one more.
		left := slices.DeleteFunc(slices.Clone(groups[id]), func(i int) bool { return s.serve(best, &s.qs[i]).Kind < Filtered })
		if len(left) > 0 && len(left) < len(groups[id]) && !s.cheaperIn(best, left) {
			next := id + "+"
			groups[next], order = left, append(order, next)
		}
		e := Extra{Kind: "table"}
		if s.o.Target == DynamoDB {
			e.Kind = "global secondary index"
			best = s.inIndex(best, groups[id])
		} else {
			best = s.besides(best, d)
		}
		e.design, e.Key, e.Shards = best, s.keyOf(best), max(1, best.Shards)
		for _, i := range groups[id] {
			if s.serve(best, &s.qs[i]).Kind < s.serve(d, &s.qs[i]).Kind && !slices.Contains(e.Lines, s.qs[i].Line) {
				e.Lines = append(e.Lines, s.qs[i].Line)
			}
		}
		if len(e.Lines) == 0 {
			continue
		}
		if at := slices.IndexFunc(out, func(x Extra) bool { return x.design.id() == best.id() }); at >= 0 {
			out[at].Lines = append(out[at].Lines, e.Lines...)
			continue
		}
		out = append(out, e)
	}
	for i := range out {
		e := &out[i]
		e.again = slices.ContainsFunc(out[:i], func(x Extra) bool {
			return slices.EqualFunc(x.design.Partition, e.design.Partition, func(p, q profile.Part) bool { return p.Column == q.Column })
		})
		e.Bucket = s.bucketColumnOf(e.design)
		e.Why = fmt.Sprintf("serves %s, %swhich the table's key does not", lines(e.Lines), s.tinyPart(e.Lines))
		if t := s.sparse(e.design); t != "" {
			e.Why += "; " + t
		}
		e.Why += s.behindBatch()
		if e.Shards > 1 && s.share(e.design) >= hotShare {
			e.Why += fmt.Sprintf("; without shards its hottest key takes %s of all writes", percent(s.share(e.design)))
		}
		c := score{}
		if !s.o.Target.nodes() {
			continue
		}
		if s.limits(e.design, &c); c.severity >= inHorizon {
			e.Why += "; but a limit is exceeded all the same: " + c.worst() + s.wayOut(e.design)
		}
	}
	return out
}

// muchCheaper is how many times as much a further table must cost as filtering: then it is no advice. If
// queries read no more than fewFiltered rows each, it is none as soon as it costs more.
const (
	muchCheaper = 10
	fewFiltered = 1000
)

// filterCheaper reports whether filtering partitions costs less than a further table for some queries:
// far less, if they read many rows. It does not if partitions grow for ever, because filtering then costs
// ever more.
func (s *ranker) filterCheaper(d *Design, asked []int) bool {
	for _, i := range asked {
		// CQL refuses another order than that of the clustering columns, and filters none.
		if q := &s.qs[i]; s.serve(d, q).Kind != Filtered || q.Rate == 0 || s.ordered(d, q, boundPrefix(d, q)) != "" {
			return false
		}
	}
	return s.cheaperIn(d, asked)
}

// cheaperIn compares two ways to serve some queries: to read whole partitions of a design, or to write a
// further table too. It reports whether the reads cost less. If a query reads many rows, the reads must cost
// far less.
func (s *ranker) cheaperIn(d *Design, asked []int) bool {
	if s.load.from != FromQueries || s.growthOf(d).Unbounded {
		return false
	}
	filter, further, rows := s.filterCosts(d, asked)
	if rows <= fewFiltered {
		return filter < further
	}
	return filter*muchCheaper < further
}

// inIndex returns a design as a global secondary index. Its keys need not be unique, so its sort key has only
// the columns that the queries need.
func (s *ranker) inIndex(d *Design, asked []int) *Design {
	for n := 1; n < len(d.Clustering); n++ {
		e := *d
		e.Clustering, e.Desc, e.AddID = d.Clustering[:n], d.Desc[:n], false
		if !slices.ContainsFunc(asked, func(i int) bool { return s.serve(&e, &s.qs[i]).Kind > s.serve(d, &s.qs[i]).Kind }) {
			return &e
		}
	}
	e := *d
	e.AddID = d.AddID && len(d.Clustering) == 0
	return &e
}

// filterCosts returns the cost of filtering for some queries, and the cost of the writes to a further
// table: in money if the store bills requests, else in seconds of CPU a second. rows is how many rows one
// of the queries reads at most.
func (s *ranker) filterCosts(d *Design, asked []int) (filter, further, rows float64) {
	more := s.keyBytes(d)
	for _, i := range asked {
		q := &s.qs[i]
		v := s.serve(d, q)
		if unit, has := s.period(d); has { // partitions fill further than in the data
			if m := s.ofPartition(d.Partition); m != nil {
				v.Rows = math.Max(v.Rows, v.Partitions*s.bucketRows(d, m, unit)/float64(max(1, d.Shards)))
			}
		}
		rows = math.Max(rows, v.Rows)
		reads := Cost{ReadUnits: q.Rate * math.Max(v.Partitions/2, s.readUnits(v.Rows, more)), CPU: q.Rate * (v.Partitions*cpuPartition + v.Rows*cpuRow)}
		if !s.o.Target.units() {
			reads.ReadUnits = 0
		}
		filter += reads.figure()
	}
	writes := Cost{CPU: s.load.writes * cpuWrite}
	if s.o.Target.units() {
		writes.WriteUnits = s.load.writes * s.unitsOf(writeUnitBytes, more).Mean
	}
	return filter, writes.figure(), rows
}

// sparse says which rows a further table does not have; "": it has all.
func (s *ranker) sparse(d *Design) string {
	m := s.of(d)
	if m == nil || m.Unkeyed == 0 {
		return ""
	}
	return fmt.Sprintf("%s have no value in %s, and are not in it", countOf(float64(m.Unkeyed), "row"), strings.Join(s.nullsIn(d), ", "))
}

// besides adds clustering columns to a further table's design until its primary key is unique to each
// row. It takes as few columns of the table's primary key as possible. If all of them are necessary, it
// takes all, as a materialized view does.
func (s *ranker) besides(further, table *Design) *Design {
	out := *further
	out.AddID = table.AddID
	key := append(table.columns(), table.Clustering...)
	add := key
	if !table.AddID {
		for _, set := range s.tells {
			if s.sound(set) && !slices.ContainsFunc(set, func(c string) bool { return !slices.Contains(key, c) }) && out.lacks(set) < out.lacks(add) {
				add = set
			}
		}
	}
	for _, c := range add {
		if !out.has(c) {
			out.Clustering = append(slices.Clone(out.Clustering), c)
			out.Desc = append(slices.Clone(out.Desc), false)
		}
	}
	return &out
}

// lacks returns how many columns are not in a design's primary key, as they are.
func (d *Design) lacks(columns []string) (n int) {
	for _, c := range columns {
		if !d.has(c) {
			n++
		}
	}
	return n
}

// bestFor returns the best design if the table serves only some of the queries, and the same
// inserts.
func (s *ranker) bestFor(asked []int) *Design {
	key := fmt.Sprint(asked)
	if d, known := s.best[key]; known {
		return d
	}
	t := *s
	t.alone, t.qs = true, nil
	for i := range s.qs {
		if s.qs[i].Verb == queries.Insert || slices.Contains(asked, i) {
			t.qs = append(t.qs, s.qs[i])
		}
	}
	// Try the same partition keys, with clustering columns for these queries.
	seen := make(map[string]bool)
	t.designs, t.bare = nil, nil
	for _, d := range s.designs {
		e := &Design{Partition: d.Partition, Shards: d.Shards}
		t.cluster(e)
		s.identify(e)
		if e.Shards > 1 {
			e.By = slices.DeleteFunc(slices.Clone(d.By), func(c string) bool { return !slices.Contains(e.Clustering, c) })
			if len(e.By) != len(d.By) || len(e.Clustering) == 0 && !e.AddID {
				continue
			}
		}
		if !seen[e.id()] {
			seen[e.id()] = true
			t.designs = append(t.designs, e)
		}
	}
	t.designs = append(t.designs, s.designs...) // t.of finds measurements through this list
	var best *Design
	for _, r := range t.ranking() {
		if r.d.bare || s.o.Target == DynamoDB && r.d.bucket() != nil { // an index's key is an attribute that items have
			continue
		}
		best = r.d
		break
	}
	s.best[key] = best
	return best
}

// extraKey returns the partition key that a query asks for.
func (s *ranker) extraKey(q *queries.Query) []profile.Part {
	var parts []profile.Part
	for _, e := range q.Equal {
		if s.p.Column(e.Column) != nil && !s.p.Column(e.Column).Nested && len(parts) < maxKeys {
			parts = append(parts, profile.Part{Column: e.Column})
		}
	}
	if parts != nil {
		return parts
	}
	for _, r := range q.Ranges {
		if c := s.p.Column(r.Column); c != nil && c.Moments() != nil {
			if c.Moments().Granularity >= profile.Day {
				return wholes([]string{r.Column})
			}
			return []profile.Part{{Column: r.Column, Bucket: profile.Day}}
		}
	}
	return nil
}

// served says how a design and its extras serve a query.
func (s *serving) served(d *Design, extras []Extra, q *queries.Query) Service {
	v := s.serve(d, q)
	for i := range extras {
		if !slices.Contains(extras[i].Lines, q.Line) {
			continue
		}
		if w := s.serve(extras[i].design, q); w.Kind < v.Kind {
			v = w
		}
	}
	return v
}

// agreeing returns the form of a verb that agrees with that many lines.
func agreeing(list []int, one, many string) string {
	if len(list) == 1 {
		return one
	}
	return many
}

// lines names lines of the queries: line 3, or lines 2, 3 and 5.
func lines(list []int) string {
	out := "line "
	if len(list) > 1 {
		out = "lines "
	}
	for i, n := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			out += " and "
		default:
			out += ", "
		}
		out += fmt.Sprint(n)
	}
	return out
}
