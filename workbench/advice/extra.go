package advice

import (
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Extra is a further table, or a global secondary index, for queries that the
// table's key does not serve.
type Extra struct {
	Kind   string  `json:"kind"` // "table", "global secondary index"
	Key    string  `json:"key"`
	Shards int     `json:"shards"`
	Lines  []int   `json:"serves_lines"`
	Why    string  `json:"why"`
	DDL    string  `json:"ddl,omitempty"`
	Hot    *HotKey `json:"hot,omitempty"`

	design *Design
}

// extras are what a design needs beside it, for queries that it answers only by
// reading the whole table or by filtering.
func (s *Study) extras(d *Design) []Extra {
	var out []Extra
	for i := range s.qs {
		q := &s.qs[i]
		if q.Writes() {
			continue
		}
		v := s.serve(d, q)
		if v.Kind < Filtered {
			continue
		}
		parts := s.extraKey(q)
		if len(parts) == 0 || partitionID(parts) == partitionID(d.Partition) {
			continue
		}
		at := slices.IndexFunc(out, func(e Extra) bool { return partitionID(e.design.Partition) == partitionID(parts) })
		if at < 0 {
			at = len(out)
			e := &Design{Partition: parts, Shards: 1}
			s.cluster(e)
			s.identify(e)
			out = append(out, Extra{Kind: "table", design: e})
			if s.o.Target == DynamoDB {
				out[at].Kind = "global secondary index"
			}
		}
		if s.serve(out[at].design, q).Kind < v.Kind {
			out[at].Lines = append(out[at].Lines, q.Line)
		}
	}
	out = slices.DeleteFunc(out, func(e Extra) bool { return len(e.Lines) == 0 })
	for i := range out {
		e := &out[i]
		e.design.Shards = s.extraShards(e.design)
		e.Shards = e.design.Shards
		e.Key = e.design.Key()
		e.Why = fmt.Sprintf("serves line %s, which the table's key does not", lines(e.Lines))
		if e.Shards > 1 {
			e.Why += fmt.Sprintf("; without shards its hottest key takes %s of all writes", percent(s.share(e.design)))
		}
	}
	return out
}

// extraKey is the partition key that a query asks for.
func (s *Study) extraKey(q *queries.Query) []profile.Part {
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
		if c := s.p.Column(r.Column); c != nil && c.Time != nil {
			if c.Time.Granularity >= profile.Day {
				return wholes([]string{r.Column})
			}
			return []profile.Part{{Column: r.Column, Bucket: profile.Day}}
		}
	}
	return nil
}

// extraShards is how many shards an index's hottest key wants.
func (s *Study) extraShards(d *Design) int {
	hot := s.load.writes * s.share(d)
	switch {
	case hot == 0:
		return 1
	case s.o.Target.units():
		plan, err := capacity.For(capacity.Request{Store: s.o.Target.store(), WritesPerSecond: hot, ItemBytes: max(1, int(math.Ceil(s.itemBytes())))})
		if err != nil {
			return shard.MaxShards
		}
		return plan.Recommended
	}
	n := 1.0
	if size := s.projected(d).bytes; size > MaxBytes {
		n = math.Ceil(size / (MaxBytes * 0.7))
	}
	if hot > s.o.NodeWrites/4 {
		n = math.Max(n, math.Max(math.Ceil(4*hot/s.o.NodeWrites), Nodes))
	}
	return int(math.Min(n, shard.MaxShards))
}

// served is how a design and its extras serve a query.
func (s *Study) served(d *Design, extras []Extra, q *queries.Query) Service {
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

func lines(list []int) string {
	out := ""
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
