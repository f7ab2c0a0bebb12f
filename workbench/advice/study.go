// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Options says what the data and the queries do not say.
type Options struct {
	Target Target // "": Cassandra
	Table  string // name or keyspace.name; "": the name in the queries, else that of the data

	// EventTime is the column that says when a row was written. "": the most likely one;
	// NoEventTime: none.
	EventTime string

	NodeWrites float64      // writes per second that a node can take; 0: the constant NodeWrites
	Prices     *prices.List // nil: no costs in money
	LocalIndex bool         // DynamoDB: the table has a local secondary index, so that a key can hold at most 10 GB
}

// NoEventTime is the Options.EventTime of data without one.
const NoEventTime = "none"

// Study judges the keys of one table. It is for one goroutine.
//
// Its parts are layers, and each sees only those below it: facts (the input), measures (the
// measurements), traffic (the writes and their times), serving (the reads of queries), sizes,
// heats, proposer (the designs to measure), ranker. Besides these, critic names antipatterns, and
// cqlWriter and dynamoWriter write statements.
type Study struct {
	ranker
	round  int
	asked  []ask
	listed []*Design // of the last report, in its order
}

// ask is a candidate that Next returned, with its purpose.
type ask struct {
	design *Design
	ids    []string // not nil: to find whether these columns tell rows apart
}

// New prepares a study. The queries' columns must be those of the data (queries.Resolve).
func New(p *profile.Profile, qs []queries.Query, o Options) (*Study, error) {
	if o.Target == "" {
		o.Target = Cassandra
	}
	if o.NodeWrites == 0 {
		o.NodeWrites = NodeWrites
	}
	s := new(Study)
	s.facts = facts{itemSizes: itemSizes{o.Target, p}, o: o, p: p, qs: qs, fixed: make(map[string]int)}
	s.measured, s.best = make(map[string]*profile.Measured), make(map[string]*Design)
	if p.Rows == 0 {
		return nil, fmt.Errorf("%s: has no rows to judge by, at the most the names of columns", p.Data)
	}
	if err := s.checkTable(); err != nil {
		return nil, err
	}
	for i := range qs {
		if q := &qs[i]; q.Verb == queries.Update {
			for _, c := range q.Columns {
				if q.Bound(c) == nil && s.fixed[c] == 0 {
					s.fixed[c] = q.Line
				}
			}
		}
	}
	s.dropNumbers()
	if err := s.findTime(); err != nil {
		return nil, err
	}
	s.findLoad()
	s.findTwice()
	s.ids = s.identities()
	return s, nil
}

func boolTo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Next returns the candidates to measure next, or none if the study has all that it needs.
func (s *Study) Next() []profile.Candidate {
	s.asked = nil
	switch s.round {
	case 0:
		for _, set := range s.ids {
			s.asked = append(s.asked, ask{design: &Design{Partition: wholes(set[:1]), Clustering: set[1:], Shards: 1}, ids: set})
		}
		s.natural = s.naturals()
		for _, d := range s.natural {
			s.asked = append(s.asked, ask{design: d})
		}
	case 1:
		s.conclude()
		s.designs = s.refine()
		for _, d := range s.designs {
			if s.measured[d.id()] == nil {
				s.asked = append(s.asked, ask{design: d})
			}
		}
	}
	s.round++
	out := s.candidates()
	if out == nil && s.round < 2 {
		return s.Next()
	}
	return out
}

// Alone returns the verdict's designs that were sampled: together with the other designs, there was
// not enough memory for all of their partitions or primary keys. If the caller measures these designs
// alone, in one lane (profile.Options.OneLane), the figures are exact, or their intervals are
// narrower. Take takes the measurements.
func (s *Study) Alone() []profile.Candidate {
	s.asked = nil
	for _, d := range s.inexact() {
		s.asked = append(s.asked, ask{design: d})
	}
	return s.candidates()
}

// candidates returns the designs that the caller asks to measure.
func (s *Study) candidates() (out []profile.Candidate) {
	for _, a := range s.asked {
		c := a.design.candidate(s.timeName())
		c.LossAlone, c.InShard = a.ids != nil, s.timed(a.design)
		c.NoPeak = c.Shards > 1 || s.time == nil // heat comes from candidates without shards
		out = append(out, c)
	}
	return out
}

// inexact returns the designs of the verdict that have estimates among their figures.
func (s *Study) inexact() (out []*Design) {
	list := s.ranking()
	if len(list) == 0 || !s.reads() {
		return nil
	}
	add := func(d *Design) {
		if m := s.exactly(d); m != nil && !(m.Partitions.Exact && m.RowSizes.P99.Exact && m.ByteSizes.P99.Exact && m.Lost.Exact) && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	add(list[0].d)
	for _, e := range s.extras(list[0].d) {
		add(e.design)
	}
	return out
}

// Take takes the measurements of the candidates that Next returned, in their order.
func (s *Study) Take(measured []*profile.Measured) {
	for i, m := range measured {
		a := s.asked[i]
		if a.ids != nil {
			if lost(m) == 0 && m.Unkeyed == 0 {
				s.tells = append(s.tells, a.ids)
			}
			continue
		}
		s.measured[a.design.id()] = m
		s.rowSizes = m.ItemSizes
	}
}

// conclude ends the first round. It keeps the queries' own designs that lose rows, in the data or at the
// stated rate, so that the report shows them.
func (s *Study) conclude() {
	s.findPace()
	s.paceLoad()
	for _, d := range s.natural {
		if m := s.measured[d.id()]; m != nil && (lost(m) > 0 || s.lossAtRate(d) != nil) {
			d.bare = true
			s.bare = append(s.bare, d)
		}
	}
}

// lost returns how many rows a primary key loses; 0 if it is not certain that it loses any.
func lost(m *profile.Measured) float64 {
	if !m.Lost.Exact && m.Lost.Low <= 0 {
		return 0
	}
	return m.Lost.Value
}
