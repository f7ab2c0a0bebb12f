// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Kind says how a design serves a query.
type Kind uint8

const (
	OnePartition Kind = iota
	FanOut            // several partitions, which the query names
	Filtered          // the query names the partitions, but it reads more rows than it asks for, or in another order: CQL requires ALLOW FILTERING, or refuses
	FullScan          // the whole table
)

func (k Kind) String() string {
	return [...]string{"one partition", "fan-out", "filtered", "full scan"}[k]
}

// Service says how a design serves one query.
type Service struct {
	Kind       Kind
	Partitions float64 // the number of partitions read; of a full scan, all of them
	Rows       float64 // about how many rows are read
	Why        string  // why it is not one partition
}

// serving says how designs serve queries.
type serving struct{ traffic }

// serve says how a design serves a query.
func (s *serving) serve(d *Design, q *queries.Query) Service {
	if q.Verb == queries.Insert {
		return Service{Kind: OnePartition, Partitions: 1, Rows: 1}
	}
	out := Service{Partitions: 1}
	var why []string
	for _, p := range d.Partition {
		n, reason, ok := s.named(d, p, q)
		if !ok {
			return s.scan(d, reason)
		}
		if n > 1 {
			out.Partitions *= n
			why = append(why, reason)
		}
	}
	if d.Shards > 1 && !boundBy(d, q) {
		out.Partitions *= float64(d.Shards)
		why = append(why, fmt.Sprintf("%d shards", d.Shards))
	}
	if out.Partitions > 1 {
		out.Kind = FanOut // also if they are only shards
	}
	refused := s.within(d, q)
	if refused != "" {
		out.Kind = Filtered
		why = append(why, refused)
	}
	out.Rows = s.rowsRead(d, q, out)
	out.Why = strings.Join(why, " × ")
	if refused != "" && len(why) > 1 {
		out.Why = strings.Join(why[:len(why)-1], " × ") + ", and " + refused
	}
	return out
}

// scan returns the service of a design whose partition key the query does not name.
func (s *serving) scan(d *Design, reason string) Service {
	out := Service{Kind: FullScan, Partitions: 1, Rows: float64(s.p.Rows), Why: reason}
	if m := s.ofPartition(d.Partition); m != nil {
		out.Partitions = m.Partitions.Value * float64(max(1, d.Shards))
	}
	return out
}

// named returns how many values of a part of the partition key a query names. ok is false if it
// names none.
func (s *serving) named(d *Design, p profile.Part, q *queries.Query) (n float64, reason string, ok bool) {
	if q.Tokens {
		return 0, "it reads by ranges of tokens", false
	}
	if b := q.Bound(p.Column); b != nil {
		if b.Values == 0 {
			return ListValues, fmt.Sprintf("%s IN, taken as %d values", p.Column, ListValues), true
		}
		return float64(b.Values), fmt.Sprintf("%d values of %s", b.Values, p.Column), true
	}
	if n, can := s.listed(p, q); can {
		return n, fmt.Sprintf("all %s values of %s", number(n), p.Column), true
	}
	c := s.p.Column(p.Column)
	unit := p.Bucket
	if unit == profile.Whole {
		if c == nil || c.Time == nil || c.Time.Granularity < profile.Hour {
			return 0, "it does not name " + p.Column, false
		}
		unit = c.Time.Granularity
	}
	name := unit.String() + "s"
	r := q.Range(p.Column)
	switch {
	case s.onward(d, p, q):
	case r != nil && r.Above && (r.Below || r.From != ""):
		if span, known := literalSpan(c, r); known {
			n := math.Floor(span/seconds(unit)) + 1
			return n, fmt.Sprintf("%s %s", number(n), name), true
		}
		return RangeBuckets, fmt.Sprintf("a range of %s, taken as %d %s", p.Column, RangeBuckets, name), true
	case r != nil && r.Above:
		return RangeBuckets, fmt.Sprintf("a range of %s, taken as %d %s", p.Column, RangeBuckets, name), true
	case p.Bucket == profile.Whole:
		if r == nil {
			return 0, "it does not name " + p.Column, false
		}
	}
	all := s.buckets(d, p, unit)
	if s.onward(d, p, q) {
		from := "from the newest on"
		if r != nil {
			from = "from the limit that the query gives on"
		}
		if m := s.ofPartition(d.Partition); m != nil && m.RowSizes.Mean > 0 {
			// It reads from the newest bucket on, until there are enough rows.
			n := math.Min(math.Max(all, 2), math.Ceil(1+float64(q.Limit)/s.bucketRows(d, m, unit)))
			return n, fmt.Sprintf("%s, %s, for %s", countOf(n, unit.String()), from, countOf(float64(q.Limit), "row")), true
		}
		return math.Min(all, RangeBuckets), fmt.Sprintf("some %s, %s", name, from), true
	}
	// There will be more buckets: those of a year, or those of a row's life.
	year := seconds(profile.Year)
	if s.load.ttl > 0 {
		year = math.Min(year, s.load.ttl)
	}
	more := math.Max(math.Ceil(year/seconds(unit)), 2)
	if more <= all {
		return math.Max(all, 2), fmt.Sprintf("all %s of a key, %s so far", name, number(all)), true
	}
	return more, fmt.Sprintf("all %s of a key, %s so far, %s in a year", name, number(all), number(more)), true
}

// bucketRows returns the mean rows of a bucket: as many as in the data, or, if the queries have a
// rate, as many as come in its period.
func (s *traffic) bucketRows(d *Design, m *profile.Measured, unit profile.Granularity) float64 {
	rows := m.RowSizes.Mean
	if less := s.ofPartition(s.timeless(d)); s.load.from == FromQueries && less != nil {
		rows = math.Max(rows, s.load.insert*seconds(unit)/math.Max(1, less.Partitions.Value))
	}
	return rows
}

func countOf(n float64, what string) string {
	if number(n) == "1" {
		return "1 " + what
	}
	return number(n) + " " + what + "s"
}

// onward reports whether a query reads a key's rows by time, from one end or from one time on, until
// it has enough.
func (s *serving) onward(d *Design, p profile.Part, q *queries.Query) bool {
	r := q.Range(p.Column)
	return (r == nil || !r.Above || !r.Below) && p.Bucket != profile.Whole && q.Limit > 0 && newestFirst(d, p, q)
}

// newestFirst reports whether a query asks for rows by time, from one end.
func newestFirst(d *Design, p profile.Part, q *queries.Query) bool {
	for _, o := range q.Order {
		if o.Column == p.Column || o.Column == "" {
			return true
		}
		if q.Bound(o.Column) == nil {
			return false
		}
	}
	// Without ORDER BY the rows come in clustering order, which is then that of time.
	for i, c := range d.Clustering {
		if q.Bound(c) == nil {
			return c == p.Column && len(q.Order) == 0 && i < len(d.Desc)
		}
	}
	return false
}

// buckets returns the mean number of periods in which a key has rows.
func (s *measures) buckets(d *Design, p profile.Part, unit profile.Granularity) float64 {
	var without []profile.Part
	for _, other := range d.Partition {
		if other != p {
			without = append(without, other)
		}
	}
	with, less := s.ofPartition(d.Partition), s.ofPartition(without)
	switch {
	case with != nil && len(without) == 0:
		return math.Max(1, with.Partitions.Value)
	case with != nil && less != nil && less.Partitions.Value > 0:
		return math.Max(1, math.Ceil(with.Partitions.Value/less.Partitions.Value))
	}
	c := s.p.Column(p.Column)
	return math.Max(1, math.Ceil(c.Moments().Last.Sub(c.Moments().First).Seconds()/seconds(unit)))
}

// literalSpan returns the length of a range of literals, in seconds.
func literalSpan(c *profile.Column, r *queries.Range) (float64, bool) {
	if r.From == "" || r.To == "" {
		return 0, false
	}
	from, ok1 := instant(c.Type, r.From)
	to, ok2 := instant(c.Type, r.To)
	if c.Made != nil {
		from, ok1 = c.Made.At(r.From)
		to, ok2 = c.Made.At(r.To)
	}
	if !ok1 || !ok2 || to.Before(from) {
		return 0, false
	}
	return to.Sub(from).Seconds(), true
}

// instant reads a literal of a column of time.
func instant(t *value.Type, text string) (time.Time, bool) {
	for _, k := range []value.Kind{t.Kind, value.Timestamp, value.Date} {
		switch k {
		case value.Timestamp:
			if v, err := value.Native(k).FromString(text); err == nil && len(v) == 8 {
				return time.UnixMilli(value.Native(k).Int64(v)).UTC(), true
			}
		case value.Date:
			if v, err := value.Native(k).FromString(text); err == nil && len(v) == 4 {
				day, err := time.Parse(time.DateOnly, strings.TrimSpace(text))
				return day, err == nil
			}
		}
	}
	return time.Time{}, false
}

// boundBy reports whether a query binds the hashed columns, so that it finds its shard.
func boundBy(d *Design, q *queries.Query) bool {
	by := d.By
	if len(by) == 0 {
		by = d.Clustering
		if d.AddID {
			return false
		}
	}
	if len(by) == 0 {
		return false
	}
	return !slices.ContainsFunc(by, func(c string) bool { return q.Bound(c) == nil })
}

// within says why the clustering order does not serve what a query asks of a partition's rows. It
// returns "" if it does.
func (s *serving) within(d *Design, q *queries.Query) (refused string) {
	inKey := func(c string) bool {
		return slices.ContainsFunc(d.Partition, func(p profile.Part) bool { return p.Column == c && p.Bucket == profile.Whole })
	}
	at, ranged := 0, ""
	for at < len(d.Clustering) {
		c := d.Clustering[at]
		if q.Bound(c) == nil {
			if r := q.Range(c); r != nil && (r.Prefix || s.sorts(c)) {
				ranged = c
			}
			break
		}
		at++
	}
	used := func(c string) bool { return inKey(c) || c == ranged || slices.Contains(d.Clustering[:at], c) }
	for _, e := range q.Equal {
		if !used(e.Column) {
			return fmt.Sprintf("%s is filtered", e.Column)
		}
	}
	for _, r := range q.Ranges {
		switch {
		case used(r.Column):
		case !r.Prefix && !s.sorts(r.Column):
			return fmt.Sprintf("%s is filtered: its values do not sort by time", r.Column)
		default:
			return fmt.Sprintf("%s is filtered", r.Column)
		}
	}
	if q.Writes() {
		if q.Verb == queries.Update && (at < len(d.Clustering) || d.AddID) {
			return "it names no whole primary key: it reads before it writes"
		}
		return ""
	}
	return s.ordered(d, q, at)
}

// ordered says why a query's order is not the clustering order from column at on. It returns "" if
// it is, forward or backward.
func (s *serving) ordered(d *Design, q *queries.Query, at int) string {
	backward := -1
	for _, o := range q.Order {
		if o.Column == "" || q.Bound(o.Column) != nil && q.Bound(o.Column).Values == 1 {
			continue
		}
		if at >= len(d.Clustering) || d.Clustering[at] != o.Column {
			return fmt.Sprintf("rows do not come in the order of %s", o.Column)
		}
		if !s.sorts(o.Column) {
			return fmt.Sprintf("rows come in the order in which %s is written, which is not that of time", o.Column)
		}
		turned := 0
		if at < len(d.Desc) && d.Desc[at] != o.Desc && s.o.Target != DynamoDB || o.Desc && s.o.Target == DynamoDB { // its sort keys ascend
			turned = 1
		}
		if backward >= 0 && backward != turned {
			return fmt.Sprintf("the directions of ORDER BY at %s differ from the clustering order", o.Column)
		}
		backward = turned
		at++
	}
	return ""
}

// rowsRead returns about how many rows a query reads. The number of rows that it selects does not
// depend on the design. The number that it reads does, if it filters.
func (s *serving) rowsRead(d *Design, q *queries.Query, v Service) float64 {
	if q.Writes() && q.Verb != queries.Update {
		return 1
	}
	if v.Kind == Filtered {
		return math.Max(1, s.meanRows(d)*v.Partitions)
	}
	rows := s.selected(q)
	if q.Limit > 0 && rows > float64(q.Limit) {
		rows = float64(q.Limit)
	}
	if v.Partitions > 1 && rows > 1 && d.Shards > 1 { // the merge of shards reads a little more
		rows += math.Min(rows, 2*v.Partitions)
	}
	return rows
}

// selected returns about how many rows a query selects before its limit. It assumes that queries
// ask for all keys equally often.
func (s *measures) selected(q *queries.Query) float64 {
	var equal []string
	lists := 1.0
	for _, e := range q.Equal {
		if !slices.Contains(equal, e.Column) {
			equal = append(equal, e.Column)
		}
		if e.Values == 0 {
			lists *= ListValues
		} else {
			lists *= float64(e.Values)
		}
	}
	rows := float64(s.p.Rows)
	if m := s.ofPartition(wholes(equal)); m != nil && len(equal) > 0 {
		rows = m.RowSizes.Mean
	} else {
		for _, c := range equal {
			rows = math.Min(rows, float64(s.p.Rows)/math.Max(1, s.p.Column(c).Distinct.Value))
		}
	}
	rows *= lists
	for range q.Ranges {
		rows *= RangeShare
	}
	return math.Max(1, math.Min(rows, float64(s.p.Rows)))
}

// meanRows returns the mean rows of a partition.
func (s *measures) meanRows(d *Design) float64 {
	if m := s.of(d); m != nil {
		return math.Max(1, m.RowSizes.Mean)
	}
	if m := s.ofPartition(d.Partition); m != nil {
		return math.Max(1, m.RowSizes.Mean/float64(max(1, d.Shards)))
	}
	return 1
}
