package simulation

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/stats"
)

// Report is what came of it. It marshals to what `evenkeel simulate --json` prints.
type Report struct {
	Data        string       `json:"data"`
	Rows        int64        `json:"rows"`
	BadRows     int64        `json:"bad_rows"`          // passed over
	Partial     bool         `json:"partial,omitempty"` // not all rows were read
	Partitioner Partitioner  `json:"partitioner"`
	Partitions  int          `json:"partitions"`
	Ring        *RingReport  `json:"ring,omitempty"`
	Keys        []KeyReport  `json:"keys"`
	Moves       []MoveReport `json:"compare_salts,omitempty"`
}

// RingReport says what ring it was.
type RingReport struct {
	Ring
	Tokens string `json:"tokens"` // how they were dealt
}

// KeyReport is a key's.
type KeyReport struct {
	Key   string  `json:"key"`
	Sizes []int64 `json:"sizes"` // rows of each partition
	Spread
	Within   *Within          `json:"within,omitempty"`
	Nodes    *NodesReport     `json:"nodes,omitempty"`
	Computed []ComputedReport `json:"computed,omitempty"`

	Detail *Detail      `json:"-"` // nil unless it was asked for
	Salts  []SaltDetail `json:"-"` // with several numbers of salts, where the key has any
}

// Within judges a bound of the difference between the fullest and the emptiest
// partition.
type Within struct {
	Bound      int64   `json:"bound"`
	Difference int64   `json:"difference"`
	Chance     float64 `json:"chance"` // that a key which is unique to each row keeps it
	Draws      int     `json:"draws"`  // of which Chance was counted
	Seed       uint64  `json:"seed"`
}

// NodesReport is a key's load of the nodes.
type NodesReport struct {
	Sizes     []int64   `json:"sizes"`     // rows of each node, all replicas
	Primary   []int64   `json:"primary"`   // rows whose token it owns
	Ownership []float64 `json:"ownership"` // share of the ring of which it is a replica; adds up to the replication factor
	// Spread is of Sizes, but for its chi-square: that is of Primary, where each row
	// counts once, against what each node owns, so that the ring's own unevenness is
	// not held against the key.
	Spread
	RingMaxOverMean float64 `json:"ring_max_over_mean"` // what an ideally spread key would have
}

// ComputedReport is how the values of a salt, shard or code_points came out.
type ComputedReport struct {
	Part        string           `json:"part"`
	N           int              `json:"n"`
	Used        int              `json:"used"`          // values that came up
	Fullest     int              `json:"fullest"`       // the value with the most rows
	Share       float64          `json:"fullest_share"` // of all rows
	MaxOverMean float64          `json:"max_over_mean"`
	Variants    []ComputedReport `json:"variants,omitempty"`
}

// MoveReport is how many rows change place when the number of salts does.
type MoveReport struct {
	Part   string `json:"part"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	Modulo int64  `json:"modulo"` // hash modulo n
	Jump   int64  `json:"jump"`   // murmur3 and jump hash, as write_sharding does
}

// withinDraws and withinSeed are how Within's chance is counted.
const (
	withinDraws = 20_000
	withinSeed  = 1
)

// MaxWithinPartitions bounds the partitions for which a bound is judged.
const MaxWithinPartitions = 10_000

// Report says what was counted so far.
func (s *Simulation) Report() *Report {
	r := &Report{Rows: s.rows, Partitioner: s.o.Partitioner, Partitions: s.o.Partitions}
	chance, draws := 0.0, 0
	if s.o.Within >= 0 {
		draws = min(withinDraws, max(200, 20_000_000/s.o.Partitions))
		chance = stats.SpreadWithin(s.rows, s.o.Partitions, s.o.Within, draws, withinSeed)
	}
	for _, k := range s.keys {
		out := KeyReport{Key: k.Text, Sizes: slices.Clone(k.sizes), Spread: spreadOf(k.sizes, nil)}
		if s.o.Within >= 0 {
			out.Within = &Within{Bound: s.o.Within, Difference: out.Max - out.Min, Chance: chance, Draws: draws, Seed: withinSeed}
		}
		if s.ring != nil {
			out.Nodes = s.nodes(k)
		}
		for _, p := range k.parts {
			if p.computed != nil {
				out.Computed = append(out.Computed, p.computed.report(s.rows))
			}
		}
		if k.values != nil {
			out.Detail, out.Salts = k.details()
		}
		r.Keys = append(r.Keys, out)
	}
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

func (c *computed) report(rows int64) ComputedReport {
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
	if rows > 0 {
		r.Share = float64(c.counts[most]) / float64(rows)
		r.MaxOverMean = r.Share * float64(c.part.N)
	}
	for _, v := range c.variants {
		r.Variants = append(r.Variants, v.report(rows))
	}
	return r
}

// enoughRows is how many rows a partition must have on average for chi-square to
// mean something, by the usual rule.
const enoughRows = 5

// Reading is the sentence that a key's numbers come to.
func (k *KeyReport) Reading() string {
	switch {
	case k.Max == 0:
		return "there are no rows"
	case len(k.Sizes) == 1:
		return "one partition has all"
	case float64(k.Max) == k.Mean*float64(len(k.Sizes)):
		return "one partition has all rows: the others stand idle"
	case k.PValue >= 0.01 && k.Mean < enoughRows:
		return fmt.Sprintf("too few rows to tell: %.1f to a partition", k.Mean)
	case k.PValue >= 0.01:
		return "as even as chance makes it"
	case k.MaxOverMean < 1.1:
		return fmt.Sprintf("nearly even: not by chance alone, but the fullest partition is only %.1f%% above the mean", 100*(k.MaxOverMean-1))
	case k.MaxOverMean < 2:
		return fmt.Sprintf("uneven: the fullest partition has %.0f%% more than the mean", 100*(k.MaxOverMean-1))
	}
	return fmt.Sprintf("very uneven: the fullest partition has %.1f times the mean", k.MaxOverMean)
}

// Reading is the sentence for a computed part.
func (c *ComputedReport) Reading() string {
	if c.Used == c.N {
		return fmt.Sprintf("all %d values come up, the fullest has %.2f times the mean", c.N, c.MaxOverMean)
	}
	return fmt.Sprintf("%d of %d values come up, %d has %.1f%% of the rows", c.Used, c.N, c.Fullest, 100*c.Share)
}
