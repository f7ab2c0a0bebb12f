// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Ways says how a query that the table's key does not serve can be served, and what each way costs.
type Ways struct {
	Line  int     `json:"line"`
	Share float64 `json:"share"` // of the load
	Ways  []Way   `json:"ways"`  // the one that is taken first, then the cheapest first
}

// Way is one of these ways. Its cost is that of the query, and of the writes that it adds.
type Way struct {
	Way      string  `json:"way"` // filter, scan, further table, global secondary index or storage-attached index
	Taken    bool    `json:"taken"`
	CPU      float64 `json:"cpu_seconds_per_second,omitempty"` // of nodes, without replicas
	Month    float64 `json:"month,omitempty"`                  // in Currency
	Currency string  `json:"currency,omitempty"`
	Writes   float64 `json:"writes_per_second"` // that it adds
	Reads    string  `json:"reads"`             // what each query reads
	Note     string  `json:"note,omitempty"`    // why it cannot be, or what else it takes
	DDL      string  `json:"ddl,omitempty"`     // of an index

	cost float64
}

// What an index costs a node of Cassandra, as parts of the costs above: the ratios are those of `make
// bench-index`, on Cassandra 5.0.9. An entry is written with a row. A query asks the index of a range of
// tokens, or of a partition, and reads each row that it finds.
const (
	cpuEntry = 0.27 * cpuWrite
	cpuIndex = 2.1 * cpuPartition
	cpuFound = 0.13 * cpuPartition
)

// indexName is the Way of an index of Cassandra.
const indexName = "storage-attached index"

// ways returns the ways to serve the queries that a design's key does not serve.
func (s *ranker) ways(d *Design, extras []Extra) []Ways {
	out := []Ways{}
	for i := range s.qs {
		q := &s.qs[i]
		v := s.serve(d, q)
		if q.Writes() || v.Kind < Filtered {
			continue
		}
		w := Ways{Line: q.Line, Share: s.shareOf(q)}
		read := s.reading(d, i)
		further := s.further(i, d)
		index := s.index(d, q)
		at := -1 // the further table or index that serves it best
		for j := range extras {
			if slices.Contains(extras[j].Lines, q.Line) && (at < 0 || s.serve(extras[j].design, q).Kind < s.serve(extras[at].design, q).Kind) {
				at = j
			}
		}
		switch {
		case at >= 0:
			further = s.furtherWay(i, extras[at].design)
			further.Taken = true
		case s.filtersByIndex(q, index, &read):
			index.Taken = true
		default:
			read.Taken = true
		}
		for _, x := range []*Way{&read, further, index} {
			if x != nil {
				w.Ways = append(w.Ways, *x)
			}
		}
		slices.SortStableFunc(w.Ways, func(a, b Way) int {
			switch {
			case a.Taken != b.Taken:
				return int(boolTo(b.Taken) - boolTo(a.Taken))
			case a.cost < b.cost:
				return -1
			case a.cost > b.cost:
				return 1
			}
			return 0
		})
		out = append(out, w)
	}
	return out
}

// filtersByIndex reports whether an index is worth its entries: with it a query costs less than half of what
// it costs without. The statement is the same. The first rows in an order are no case for an index: it reads all.
func (s *ranker) filtersByIndex(q *queries.Query, index, read *Way) bool {
	return index != nil && index.DDL != "" && 2*index.cost < read.cost && len(q.Order) == 0
}

// priced gives a way its cost: of reads, in units and CPU, and of writes.
func (s *ranker) priced(w *Way, c Cost) {
	if !s.o.Target.units() {
		c.WriteUnits, c.ReadUnits = 0, 0
	} else {
		c.CPU = 0
		if p := s.o.Prices; p != nil {
			w.Month, w.Currency = p.Month(c.WriteUnits, c.ReadUnits, 0), p.Currency
			c.Month = w.Month
		}
	}
	w.CPU, w.cost = c.CPU, c.figure()
}

// readCost returns what it costs to read that many partitions and rows for each query.
func (s *ranker) readCost(d *Design, q *queries.Query, v Service) Cost {
	units := math.Max(v.Partitions/2, s.readUnits(v.Rows, s.keyBytes(d)))
	if v.Kind == FullScan {
		units = s.readUnits(v.Rows, s.keyBytes(d))
	}
	return Cost{ReadUnits: rateOf(q) * units, CPU: rateOf(q) * (v.Partitions*cpuPartition + v.Rows*cpuRow)}
}

// reading returns the way that adds nothing: to filter partitions, or the whole table.
func (s *ranker) reading(d *Design, i int) Way {
	q := &s.qs[i]
	v := s.serve(d, q)
	w := Way{Way: "filter", Reads: fmt.Sprintf("about %s in %s", countOf(v.Rows, "row"), countOf(v.Partitions, "partition"))}
	if v.Kind == FullScan {
		w.Way, w.Reads = "scan", fmt.Sprintf("the whole table: %s in these data, and more as it grows", countOf(v.Rows, "row"))
	} else if s.growthOf(d).Unbounded {
		w.Note = "the partitions grow for ever, and so does what is read"
	}
	s.priced(&w, s.readCost(d, q, v))
	return w
}

// further returns the way of a further table or global secondary index; nil: none would serve the query.
func (s *ranker) further(i int, table *Design) *Way {
	if len(s.extraKey(&s.qs[i])) == 0 {
		return nil
	}
	best := s.bestFor([]int{i})
	if best == nil {
		return nil
	}
	if v := s.serve(best, &s.qs[i]); v.Kind >= s.serve(table, &s.qs[i]).Kind || v.Partitions > mostPartitions {
		return nil
	}
	if s.o.Target != DynamoDB {
		best = s.besides(best, table)
	}
	return s.furtherWay(i, best)
}

func (s *ranker) furtherWay(i int, d *Design) *Way {
	q := &s.qs[i]
	v := s.serve(d, q)
	w := Way{Way: "further " + s.o.Target.furtherKind(), Writes: s.load.writes, Reads: fmt.Sprintf("about %s in %s of %s", countOf(v.Rows, "row"), countOf(v.Partitions, "partition"), s.keyOf(d))}
	if t := s.moreNodes(1); t != "" {
		w.Note = t
	}
	c := s.readCost(d, q, v)
	c.CPU += s.load.writes * cpuWrite
	c.WriteUnits = s.load.writes * s.unitsOf(writeUnitBytes, s.keyBytes(d)).Mean
	s.priced(&w, c)
	return &w
}

// index returns the way of a storage-attached index; nil: the store has none, or the query restricts no
// column that one could have. An index is local: a node has the entries of its own rows. A query that names
// the partition asks one node; any other asks all ranges of tokens.
func (s *ranker) index(d *Design, q *queries.Query) *Way {
	c := s.indexable(d, q)
	if s.o.Target != Cassandra || c == nil {
		return nil
	}
	w := &Way{Way: indexName, Writes: s.load.insert * float64(c.Values-c.Empty) / float64(s.p.Rows)} // no entries for null
	for i := range s.qs {
		if u := &s.qs[i]; u.Verb == queries.Update && slices.Contains(u.Columns, c.Name) {
			w.Writes += rateOf(u)
		}
	}
	v := s.serve(d, q)
	rows, ask, where := s.selected(q), v.Partitions, countOf(v.Partitions, "partition")
	if v.Kind == FullScan {
		ask = s.nodes() * VNodes
		where = fmt.Sprintf("all %s ranges of tokens", number(ask))
	}
	if q.Limit > 0 && len(q.Order) == 0 {
		rows = math.Min(rows, float64(q.Limit))
	}
	w.Reads = fmt.Sprintf("the entries of %s in %s, and about %s", c.Name, where, countOf(rows, "row"))
	switch {
	case s.strategy(d) != "none":
		w.Note = "a table with write_sharding has no index"
	default:
		w.DDL = fmt.Sprintf("CREATE INDEX ON %s (%s) USING 'sai';", tableName(s.table()), ident(c.Name))
		w.Note = "on Cassandra itself; evenkeel's engine has no index"
		if len(q.Order) > 0 {
			w.Note = "CQL refuses ORDER BY with it, so that all rows are read, and the application sorts them; " + w.Note
		}
	}
	s.priced(w, Cost{CPU: w.Writes*cpuEntry + rateOf(q)*(ask*cpuIndex+rows*cpuFound)})
	return w
}

// indexable returns the column whose index serves a query best: among the columns that the query binds to
// one value after the partition key, the one with most values; else a number or time of which the query
// gives a range.
func (s *ranker) indexable(d *Design, q *queries.Query) (best *profile.Column) {
	for _, e := range q.Equal {
		c := s.p.Column(e.Column)
		if c != nil && e.Values == 1 && !c.Nested && (len(d.Partition) > 1 || !slices.Contains(d.columns(), c.Name)) && (best == nil || c.Distinct.Value > best.Distinct.Value) {
			best = c
		}
	}
	for _, r := range q.Ranges {
		if c := s.p.Column(r.Column); best == nil && c != nil && !r.Prefix && !slices.Contains(d.columns(), c.Name) && s.sorts(c.Name) && !slices.Contains([]value.Kind{value.Text, value.Ascii, value.Boolean, value.Blob}, c.Type.Kind) {
			best = c
		}
	}
	return best
}

// way returns the chosen way for a query, and without the way that adds no writes.
func (w *Ways) way() *Way { return &w.Ways[0] }

func (w *Ways) without() *Way {
	return &w.Ways[slices.IndexFunc(w.Ways, func(x Way) bool { return x.Writes == 0 })]
}

// costText formats what a way costs.
func (w *Way) costText() string {
	if w.Currency != "" {
		return money(w.Month, w.Currency) + " a month"
	}
	switch {
	case w.CPU >= 0.001:
		return countOf(w.CPU, "core")
	case w.CPU > 0:
		return "under 0.001 cores"
	}
	return number(w.cost)
}

// Text describes a way, and what it costs.
func (w *Way) Text() string {
	t := fmt.Sprintf("%s: %s. Each query reads %s", w.Way, w.costText(), w.Reads)
	if w.Writes > 0 {
		what := "writes"
		if w.Way == indexName {
			what = "entries"
		}
		t += fmt.Sprintf("; %s %s/s more", number(w.Writes), what)
	}
	if w.Note != "" {
		t += "; " + w.Note
	}
	return strings.TrimSpace(t)
}
