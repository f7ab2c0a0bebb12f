// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/stats"
)

// Report is the result of a simulation. It marshals to the output of `evenkeel simulate --json`.
type Report struct {
	Data        string       `json:"data"`
	Rows        int64        `json:"rows"`
	BadRows     int64        `json:"bad_rows"`          // bad rows are not counted
	Partial     bool         `json:"partial,omitempty"` // not all rows were read
	Partitioner Partitioner  `json:"partitioner"`
	Partitions  int          `json:"partitions"`
	Sweep       []int        `json:"sweep,omitempty"` // other numbers of partitions
	Ring        *RingReport  `json:"ring,omitempty"`
	Keys        []KeyReport  `json:"keys"`
	Moves       []MoveReport `json:"compare_salts,omitempty"`

	Uniformity []UniformityReport `json:"uniformity,omitempty"` // of Options.Attributes, and of keys of several columns
}

// RingReport describes the ring.
type RingReport struct {
	Ring
	Tokens string `json:"tokens"` // how the tokens were drawn
}

// KeyReport is the result for a key.
type KeyReport struct {
	Key    string       `json:"key"`
	Rows   int64        `json:"rows"`            // rows that have the key
	Nulls  []NullReport `json:"nulls,omitempty"` // the other rows, by the column that is null
	Values ValuesReport `json:"values"`          // of the key
	Sizes  []int64      `json:"sizes"`           // rows of each partition
	Spread
	Sweep    []SweepReport    `json:"sweep,omitempty"` // with other numbers of partitions
	Within   *Within          `json:"within,omitempty"`
	Nodes    *NodesReport     `json:"nodes,omitempty"`
	Computed []ComputedReport `json:"computed,omitempty"`

	Detail *Detail      `json:"-"` // nil unless the options asked for it
	Salts  []SaltDetail `json:"-"` // with several numbers of salts, if the key has a salt
}

// NullReport counts the rows without a place because a column is null, or because it is the whole
// key and empty.
type NullReport struct {
	Column string `json:"column"`
	Rows   int64  `json:"rows"`
}

// SweepReport is the result for a key over another number of partitions.
type SweepReport struct {
	Partitions int     `json:"partitions"`
	Sizes      []int64 `json:"sizes"`
	Spread
}

// Within judges a limit of the difference between the fullest and the emptiest partition.
type Within struct {
	Bound      int64   `json:"bound"`
	Difference int64   `json:"difference"`
	Chance     float64 `json:"chance"` // the chance that a key which is unique to each row keeps the limit
	Draws      int     `json:"draws"`  // the draws from which Chance was counted
	Seed       uint64  `json:"seed"`
}

// NodesReport says how a key loads the nodes.
type NodesReport struct {
	Sizes     []int64   `json:"sizes"`     // rows of each node, all replicas
	Primary   []int64   `json:"primary"`   // rows whose token it owns
	Ownership []float64 `json:"ownership"` // share of the ring of which it is a replica; adds up to the replication factor
	// Spread describes Sizes, except its chi-square. Chi-square compares Primary, in which each row
	// counts once, with what each node owns, so that the ring's own unevenness does not count
	// against the key.
	Spread
	RingMaxOverMean float64 `json:"ring_max_over_mean"` // of an ideally spread key
}

// ComputedReport says how the values of a salt, shard or code_points are spread.
type ComputedReport struct {
	Part        string           `json:"part"`
	N           int              `json:"n"`
	Used        int              `json:"used"`          // values that occur
	Fullest     int              `json:"fullest"`       // the value with the most rows
	Share       float64          `json:"fullest_share"` // of all rows
	MaxOverMean float64          `json:"max_over_mean"`
	Variants    []ComputedReport `json:"variants,omitempty"`
}

// MoveReport counts the rows that change place when the number of salts changes.
type MoveReport struct {
	Part   string `json:"part"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	Modulo int64  `json:"modulo"` // with hash modulo n
	Jump   int64  `json:"jump"`   // with murmur3 and jump hash, as write_sharding does
}

// withinDraws and withinSeed are the draws and the seed for Within's chance.
const (
	withinDraws = 20_000
	withinSeed  = 1
)

// MaxWithinPartitions is the greatest number of partitions for which a limit is judged.
const MaxWithinPartitions = 10_000

// Report returns the results for the rows counted so far.
func (s *Simulation) Report() *Report {
	r := &Report{Rows: s.rows, Partitioner: s.o.Partitioner, Partitions: s.o.Partitions, Sweep: s.o.Sweep, Keys: []KeyReport{}}
	chances := make(map[int64]float64) // by rows
	draws := min(withinDraws, max(200, 20_000_000/s.o.Partitions))
	for _, k := range s.keys {
		sizes := k.sizes(append([]int{s.o.Partitions}, s.o.Sweep...))
		out := KeyReport{Key: k.Text, Rows: k.rows, Values: k.values[0].report(k.rows, s.o.Limit), Sizes: sizes[0], Spread: spreadOf(sizes[0], nil)}
		for i, n := range k.nulls {
			if n > 0 {
				out.Nulls = append(out.Nulls, NullReport{s.columns[i].name, n})
			}
		}
		for i, n := range s.o.Sweep {
			out.Sweep = append(out.Sweep, SweepReport{n, sizes[i+1], spreadOf(sizes[i+1], nil)})
		}
		if s.o.Within >= 0 {
			chance, ok := chances[k.rows]
			if !ok {
				chance = stats.SpreadWithin(k.rows, s.o.Partitions, s.o.Within, draws, withinSeed)
				chances[k.rows] = chance
			}
			out.Within = &Within{Bound: s.o.Within, Difference: out.Max - out.Min, Chance: chance, Draws: draws, Seed: withinSeed}
		}
		if s.ring != nil {
			out.Nodes = s.nodes(k)
		}
		for _, p := range k.parts {
			if p.computed != nil {
				out.Computed = append(out.Computed, p.computed.report())
			}
		}
		if s.o.Detail {
			out.Detail, out.Salts = k.details()
		}
		r.Keys = append(r.Keys, out)
	}
	r.Uniformity = s.uniformity(r.Keys)
	if s.ring != nil {
		r.Ring = &RingReport{Ring: s.ring.Ring, Tokens: fmt.Sprintf("random, seed %d", s.ring.Seed)}
	}
	for _, c := range s.computed {
		for _, m := range c.moves {
			r.Moves = append(r.Moves, MoveReport{Part: c.text, From: m.from, To: m.to, Modulo: m.modulo, Jump: m.jump})
		}
	}
	return r
}

// sizes returns the rows of each partition, for each number of partitions.
func (k *key) sizes(numbers []int) (list [][]int64) {
	for i, n := range numbers {
		if k.tokens != nil {
			list = append(list, k.tokens.sizes(n))
			continue
		}
		list = append(list, slices.Clone(k.tallies[i]))
	}
	return list
}

// nodes adds up the ranges of each node.
func (s *Simulation) nodes(k *key) *NodesReport {
	owns, ownership := s.ring.ownership()
	n := &NodesReport{Sizes: make([]int64, s.ring.Nodes), Primary: make([]int64, s.ring.Nodes), Ownership: ownership}
	var nodes []int
	for i, rows := range k.perToken {
		nodes = s.ring.replicas(nodes[:0], i)
		n.Primary[nodes[0]] += rows
		for _, node := range nodes {
			n.Sizes[node] += rows
		}
	}
	n.Spread = spreadOf(n.Sizes, nil)
	against := spreadOf(n.Primary, owns)
	n.ChiSquare, n.PValue = against.ChiSquare, against.PValue
	n.RingMaxOverMean = slices.Max(n.Ownership) * float64(s.ring.Nodes) / float64(s.ring.RF)
	return n
}

func (c *computed) report() ComputedReport {
	r := ComputedReport{Part: c.text, N: c.part.N}
	most := 0
	for i, n := range c.counts {
		if n > 0 {
			r.Used++
		}
		if n > c.counts[most] {
			most = i
		}
	}
	r.Fullest = most + c.least
	if c.rows > 0 {
		r.Share = float64(c.counts[most]) / float64(c.rows)
		r.MaxOverMean = r.Share * float64(c.part.N)
	}
	for _, v := range c.variants {
		r.Variants = append(r.Variants, v.report())
	}
	return r
}

// enoughRows is how many rows a partition must have on average for chi-square to mean something, by
// the usual rule.
const enoughRows = 5

// Reading returns a sentence that sums up a key's figures.
func (k *KeyReport) Reading() string {
	if k.Rows == 0 {
		return "no row has a place under this key"
	}
	return k.Spread.Reading(len(k.Sizes))
}

// Reading returns a sentence that sums up a spread over n partitions.
func (s *Spread) Reading(n int) string {
	switch {
	case s.Max == 0:
		return "there are no rows"
	case n == 1:
		return "one partition has all"
	case s.PValue >= 0.01 && s.Mean < enoughRows:
		return fmt.Sprintf("too few rows to tell: %.1f to a partition", s.Mean)
	case float64(s.Max) == s.Mean*float64(n):
		return "one partition has all rows: the others stand idle"
	case s.PValue >= 0.01:
		return "as even as chance makes it"
	case s.MaxOverMean < 1.1:
		return fmt.Sprintf("nearly even: not by chance alone, but the fullest partition is only %.1f%% above the mean", 100*(s.MaxOverMean-1))
	case s.MaxOverMean < 2:
		return fmt.Sprintf("uneven: the fullest partition has %.0f%% more than the mean", 100*(s.MaxOverMean-1))
	}
	return fmt.Sprintf("very uneven: the fullest partition has %.1f times the mean", s.MaxOverMean)
}

// Reading returns a sentence that sums up a computed part.
func (c *ComputedReport) Reading() string {
	if c.Used == c.N {
		return fmt.Sprintf("all %d values come up, the fullest has %.2f times the mean", c.N, c.MaxOverMean)
	}
	return fmt.Sprintf("%d of %d values come up, %d has %.1f%% of the rows", c.Used, c.N, c.Fullest, 100*c.Share)
}
