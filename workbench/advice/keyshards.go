// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/profile"
)

// KeyShards gives shards only to the few keys that need them. All other keys have fewer, so that
// reading them takes fewer requests.
type KeyShards struct {
	Columns []string  `json:"columns"`
	Keys    []HotOnes `json:"keys"`
	Others  int       `json:"others"`        // shards of every other key
	DDL     string    `json:"ddl,omitempty"` // only of CQL: a table whose keys have Others shards

	// OwnTable is the DDL of a table for the Keys alone, and OwnName its name: if each bucket of time is a
	// partition of its own, no command can give all of a key's buckets their shards.
	OwnTable string `json:"own_table,omitempty"`
	OwnName  string `json:"own_table_name,omitempty"`
	Why      string `json:"why"` // what the others would cost otherwise
}

// HotOnes is a key with its own number of shards.
type HotOnes struct {
	Values  []string `json:"values"`
	Writes  float64  `json:"writes_per_second"`
	Low     float64  `json:"writes_per_second_low"`
	High    float64  `json:"writes_per_second_high"`
	Shards  int      `json:"shards"`
	Command string   `json:"command,omitempty"` // only of CQL; the DynamoDB door's tables have one number for all keys
}

// fewKeys is the greatest number of keys that get their own shards. There must be fewOf times as
// many keys in all.
const (
	fewKeys = 5
	fewOf   = 10
)

// shardsFor returns how many shards a key needs for its heat, from its writes per second, its share
// of all writes, and the units of a write; 0 if it needs none.
func (s *traffic) shardsFor(writes, share float64, each profile.Units) float64 {
	switch {
	case s.o.Target.units() && writes > 0:
		n, _ := mixed(each).Shards(writes)
		return float64(n)
	case s.o.Target.nodes() && share >= hotShare && writes >= s.o.NodeWrites*partitionPart:
		return math.Max(math.Ceil(share/shardShare), math.Ceil(writes/(s.o.NodeWrites*partitionPart)))
	}
	return 0
}

// keyShards finds the few keys that need a design's shards, if all others need at most half and
// queries read whole keys; nil: there are none. indexed is how many bytes an item has for indexes.
func (s *heats) keyShards(d *Design, indexed float64) *KeyShards {
	parts := s.timeless(d)
	if d.Shards <= 1 || len(parts) == 0 {
		return nil
	}
	bucketed := len(parts) < len(d.Partition) // each period of a key is a partition of its own
	m := s.ofPartition(parts)
	if m == nil || len(m.Largest) == 0 || m.Largest[0].Share <= 0 {
		return nil
	}
	unsharded := &Design{Partition: d.Partition, Clustering: d.Clustering, Desc: d.Desc, AddID: d.AddID, Shards: 1}
	h := s.heatOf(unsharded, indexed)
	if h.Moment.larger {
		return nil // the hottest key is not the one with most rows
	}
	size := s.projected(unsharded)
	wants := func(p *profile.Partition) int { // scaled from the hottest key by its share of the rows
		part := p.Share / m.Largest[0].Share
		n := s.shardsFor(h.Moment.Writes*part, h.Moment.Share*part, h.each)
		if b := size.bytes * part; s.o.Target.nodes() && b > MaxBytes {
			n = math.Max(n, math.Ceil(b/(MaxBytes*0.7)))
		}
		return int(math.Min(math.Max(1, n), float64(d.Shards)))
	}
	hot := 0
	for hot < len(m.Largest) && (hot == 0 || 2*wants(&m.Largest[hot]) > d.Shards) {
		hot++
	}
	if hot > fewKeys || hot == len(m.Largest) || m.Partitions.Value < float64(fewOf*hot) {
		return nil
	}
	out := &KeyShards{Columns: s.partNames(&Design{Partition: parts}), Others: wants(&m.Largest[hot])}
	for i := range m.Largest[:hot] {
		p := &m.Largest[i]
		n := wants(p)
		if i == 0 {
			n = d.Shards
		}
		part := p.Share / m.Largest[0].Share
		out.Keys = append(out.Keys, HotOnes{Values: p.Values, Writes: h.Moment.Writes * part, Low: h.Moment.Low * part, High: h.Moment.High * part, Shards: n})
	}
	if out.Why = s.othersPay(d, out.Others, hot, m.Partitions.Value); out.Why == "" {
		return nil
	}
	if s.o.Target != DynamoDB {
		cql := cqlWriter{&s.serving}
		for i := range out.Keys {
			if !bucketed {
				out.Keys[i].Command = cql.reshardKey(out.Keys[i].Values, out.Keys[i].Shards)
			}
		}
		if bucketed {
			out.OwnName = cql.table() + "_hot"
			out.OwnTable = cql.createCQL(d, out.OwnName)
		}
		others := *d
		others.Shards = out.Others
		out.DDL = cql.createWith(&others)
	}
	return out
}

// reshardKey returns the command that gives a key its shards.
func (s cqlWriter) reshardKey(values []string, n int) string {
	key := "'" + strings.ReplaceAll(strings.Join(values, ","), "'", `'\''`) + "'"
	return fmt.Sprintf("evenkeel reshard key --cql HOST:PORT %s %s --shards %d", s.table(), key, n)
}

// othersPay says what reading the other keys costs if they have as many shards as the hottest; ""
// if no query reads a whole key.
func (s *heats) othersPay(d *Design, others, hot int, keys float64) string {
	var asked []int
	many := *d
	few := *d
	few.Shards = others
	partitions, extra := 0.0, 0.0
	for i := range s.qs {
		q := &s.qs[i]
		v, w := s.serve(&many, q), s.serve(&few, q)
		if q.Writes() || v.Kind == FullScan || v.Partitions <= w.Partitions {
			continue
		}
		if !slices.Contains(asked, q.Line) {
			asked = append(asked, q.Line)
		}
		rate := rateOf(q) * (1 - math.Min(1, float64(hot)/keys)) // all keys count as read equally often
		partitions += rate * (v.Partitions - w.Partitions)
		units := func(v Service) float64 { return math.Max(v.Partitions/2, s.readUnits(v.Rows, s.keyBytes(d))) }
		extra += rate * (units(v) - units(w))
	}
	if len(asked) == 0 {
		return ""
	}
	t := fmt.Sprintf("with %d shards for every key %s %s %d partitions of each in place of %d: %s more a second", d.Shards, lines(asked), agreeing(asked, "reads", "read"), d.Shards, others, number(partitions))
	if s.o.Target.units() && extra > 0 {
		t += fmt.Sprintf(", %s more read units", number(extra))
		if p := s.o.Prices; p != nil {
			t += fmt.Sprintf(", %s a month", money(p.Month(0, extra, 0), p.Currency))
		}
	}
	return t
}
