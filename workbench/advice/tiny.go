// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/queries"
)

// A query with less than tinyShare of the load does not decide the key. It only chooses among keys that
// serve the other queries and keep the limits. The same holds for a query with less than smallShare of all
// queries, if a further table is not worth its writes for it: every row must also be written to that table.
// It is not worth this if the query comes less than once in dearWrites writes, or in dearIfFull writes if
// the nodes are full.
const (
	tinyShare  = 0.01
	smallShare = 0.1
	dearWrites = 1000
	dearIfFull = 100 // if the nodes do not bear a further table
)

// shareOf returns a query's share of the load: of all statements, or of the queries alone if each
// query is tiny beside the inserts.
func (s *facts) shareOf(q *queries.Query) float64 {
	all, asked, most := 0.0, 0.0, 0.0
	for i := range s.qs {
		rate := rateOf(&s.qs[i])
		all += rate
		if s.qs[i].Verb != queries.Insert {
			asked += rate
			most = max(most, rate)
		}
	}
	if most < tinyShare*all {
		all = asked
	}
	return rateOf(q) / all
}

// tiny reports whether a query is so small a share of the load that it does not decide the key.
func (s *traffic) tiny(q *queries.Query) bool {
	switch {
	case q.Rate == 0 || q.Verb == queries.Insert:
		return false
	case s.shareOf(q) < tinyShare:
		return true
	}
	asked := 0.0
	for i := range s.qs {
		if s.qs[i].Verb != queries.Insert {
			asked += rateOf(&s.qs[i])
		}
	}
	return q.Rate < smallShare*asked && s.tooDear(q.Rate)
}

// tinyPart returns the lines' part of the load in words. It returns "" if the part is not tiny, or unknown.
func (s *traffic) tinyPart(asked []int) string {
	share := 0.0
	for i := range s.qs {
		if q := &s.qs[i]; slices.Contains(asked, q.Line) {
			if q.Rate == 0 {
				return ""
			}
			share += s.shareOf(q)
		}
	}
	if share >= tinyShare {
		return ""
	}
	return percent(share) + " of the load, "
}

// dear reports whether a further table would be written far more often than some queries are asked.
func (s *traffic) dear(asked []int) bool {
	rate := 0.0
	for _, i := range asked {
		if s.qs[i].Rate == 0 {
			return false // the rate is unknown
		}
		rate += s.qs[i].Rate
	}
	return s.tooDear(rate)
}

// tooDear reports whether a further table is not worth its writes for queries of that rate.
func (s *traffic) tooDear(rate float64) bool {
	most := float64(dearWrites)
	if s.full() {
		most = dearIfFull
	}
	return s.load.writes > most*rate && s.load.from == FromQueries
}

// Unserved is a query that neither the table's key nor a further table serves, and why that is right.
type Unserved struct {
	Line  int     `json:"line"`
	Share float64 `json:"share"` // of the load
	How   string  `json:"how"`   // what the application does then: left unserved, filtered, or served by an index
	Why   string  `json:"why"`
}

// Text says it in a sentence.
func (u *Unserved) Text() string {
	return fmt.Sprintf("line %d is %s, %s of the load: %s", u.Line, u.How, percent(u.Share), u.Why)
}

// unserved returns the unserved queries of a design. ways holds what its key does not serve.
func (s *ranker) unserved(d *Design, extras []Extra, ways []Ways) []Unserved {
	out := []Unserved{}
	for i := range s.qs {
		q := &s.qs[i]
		if why := s.refused(d, q); why != "" {
			if s.speaks(q) {
				out = append(out, Unserved{Line: q.Line, Share: s.shareOf(q), How: "left unserved", Why: why})
			}
			continue
		}
		v := s.served(d, extras, q)
		if q.Verb == queries.Insert || v.Kind < Filtered {
			continue
		}
		u := Unserved{Line: q.Line, Share: s.shareOf(q), How: "left unserved"}
		what := "the whole table is read"
		if v.Kind == Filtered {
			u.How, what = "filtered", v.Why
		}
		dear := ""
		if s.tooDear(rateOf(q)) {
			dear = fmt.Sprintf("a further %s for it would add %s writes/s for %s/s", s.o.Target.furtherKind(), number(s.load.writes), countOf(rateOf(q), "read"))
			if t := s.moreNodes(1); t != "" {
				dear += " (" + t + ")"
			}
			what += "; " + dear
		}
		index := slices.IndexFunc(ways, func(w Ways) bool { return w.Line == q.Line && w.way().Way == indexName })
		switch {
		case q.Writes():
			u.Why = fmt.Sprintf("%s; write by the whole primary key", what)
		case index >= 0:
			w := &ways[index]
			u.How = "served by an index"
			u.Why = fmt.Sprintf("a storage-attached index costs %s, and reading without it %s", w.way().costText(), w.without().costText())
			if dear != "" {
				u.Why += "; " + dear
			}
			u.Why += fmt.Sprintf(". On Cassandra itself, create it with %s (without it the statement is the same)", strings.TrimSuffix(w.way().DDL, ";"))
		case s.changedOrder(q) != "":
			u.Why = fmt.Sprintf("%s. %s", what, s.changedOrder(q))
		case s.filterCheaper(d, []int{i}):
			w := s.reading(d, i)
			filter, further, _ := s.filterCosts(d, []int{i})
			u.Why = fmt.Sprintf("%s. Each query reads %s; the writes to a further %s would cost %s times as much", what, w.Reads, s.o.Target.furtherKind(), number(math.Round(10*further/filter)/10))
		case v.Kind == Filtered && !s.growthOf(d).Unbounded:
			w := s.reading(d, i)
			u.Why = fmt.Sprintf("%s. Each query reads %s, which costs %s in all", what, w.Reads, w.costText())
		default:
			u.Why = fmt.Sprintf("%s. %s", what, s.o.Target.otherWay(rateOf(q)))
		}
		out = append(out, u)
	}
	return out
}

// changedOrder says how to serve a query that orders rows, or takes a range of them, by a column that
// another query updates; "" if it does not.
func (s *ranker) changedOrder(q *queries.Query) string {
	for _, c := range inOrderOf([]queries.Query{*q}) {
		if line := s.fixed[c]; line > 0 {
			return fmt.Sprintf("%s is updated by line %d, so that it cannot be in a key: keep this order in a cache, or in a table from which the application deletes a row, and inserts it anew, at each update", c, line)
		}
	}
	return ""
}

func (t Target) furtherKind() string {
	if t == DynamoDB {
		return "global secondary index"
	}
	return "table"
}

// often is a rate, in queries a second. A query with this rate must not read the whole table each time.
const often = 1.0

// otherWay says how to serve a query that neither the table nor a further table serves.
func (t Target) otherWay(rate float64) string {
	switch {
	case rate >= often && t == DynamoDB:
		return "Keep what it asks for as rows come, or ask an export of the table"
	case t == DynamoDB:
		return "Filter it, or ask an export of the table"
	case rate >= often && t == Keyspaces:
		return "Keep what it asks for as rows come, or ask a copy of the table elsewhere"
	case t == Keyspaces:
		return "Filter it now and then, or ask a copy of the table elsewhere"
	case rate >= often:
		return "Keep what it asks for as rows come, such as sums in a counter table, or ask a copy of the table"
	}
	return "Filter it now and then, or ask a copy of the table"
}
