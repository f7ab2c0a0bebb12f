// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// Heat is the load of a design's hottest partition, per second.
type Heat struct {
	Source Source  `json:"source"`
	Why    string  `json:"why"`
	Share  float64 `json:"share"` // the share of all writes that goes to the hottest key at its busiest; each shard has a part of it
	Writes float64 `json:"writes_per_second"`
	Moment Moment  `json:"busiest"` // of the hottest key: when, and how much

	WriteUnits float64 `json:"write_units,omitempty"` // per second, to the hottest partition
	WriteLow   float64 `json:"write_units_low,omitempty"`
	WriteHigh  float64 `json:"write_units_high,omitempty"`
	WriteLimit float64 `json:"write_limit,omitempty"`
	// ReadUnits is per second, if keys are read as often as they have rows. The data say nothing
	// about reads.
	ReadUnits  float64 `json:"read_units,omitempty"`
	ReadLimit  float64 `json:"read_limit,omitempty"`
	ReadSource Source  `json:"read_source"`

	// Throttled is the chance that a second is throttled, in stores that throttle.
	Throttled float64 `json:"throttled_seconds,omitempty"`
	// Splits says whether the store would split a hot partition by itself.
	Splits string `json:"splits,omitempty"`

	// Node is the share of all writes that the hottest node takes, in stores that run on the user's
	// own nodes. This node is a replica of the hottest partition, and takes its part of the rest.
	Node      float64 `json:"node_share,omitempty"`
	NodeLimit float64 `json:"node_limit,omitempty"` // writes a second

	each profile.Units // of a write to the hottest key, in stores that bill requests
	even float64       // the share of a key's replicas that a node has if all are spread evenly
}

// bounds returns the interval of the hottest key's rate, as factors of that rate.
func (h *Heat) bounds() (low, high float64) {
	if h.Moment.Writes <= 0 {
		return 1, 1
	}
	return h.Moment.Low / h.Moment.Writes, h.Moment.High / h.Moment.Writes
}

// writes, units and ofNode format the load of the hottest partition and node, with its interval.
func (h *Heat) writes() string { return h.ranged(h.Writes) }
func (h *Heat) units() string {
	return ranged(h.WriteUnits, h.WriteLow, h.WriteHigh, number)
}

func (h *Heat) ranged(x float64) string {
	low, high := h.bounds()
	return ranged(x, x*low, x*high, number)
}

func (h *Heat) ofNode() string {
	low, high := h.bounds()
	at := func(f float64) float64 { // a node is a replica of the hottest partition, and takes its part of the rest
		return math.Min(1, h.Node+h.Share*(f-1)*(1-h.even)) * h.Moment.All
	}
	return ranged(at(1), at(low), at(high), number)
}

// heats says what load the hottest partition of a design gets.
type heats struct{ sizes }

// heatOf returns a design's heat at the present rates. indexed is the mean number of bytes that the
// keys of indexes add to an item.
func (s *heats) heatOf(d *Design, indexed float64) Heat {
	part := s.shardPart(d)
	mo := s.moment(d)
	more := indexed
	var each profile.Units
	if s.o.Target.units() {
		more += s.keyBytes(d)
		mo, each = s.hottest(d, mo, more)
	}
	h := Heat{Source: s.load.from, Why: s.load.why, Share: mo.Share, ReadSource: Unknown, Moment: mo, Writes: mo.Writes * part, each: each}
	h.Why += mo.text()
	if s.o.Target.nodes() {
		if s.load.writes > 0 {
			hot := h.Share * part
			// The hottest partition's replicas take all of its writes, and their part of the rest.
			// Of the rest, each node has an even part.
			h.even = RF / s.nodes()
			h.Node = math.Min(1, hot+(1-hot)*h.even)
			if d.Shards > 1 {
				h.Node = math.Min(1, math.Max(h.Node, h.Share*shardsOnNode(d.Shards, h.even)+(1-h.Share)*h.even))
			}
			h.NodeLimit = s.o.NodeWrites
		}
		return h
	}
	h.WriteUnits, h.WriteLimit = h.Writes*each.Mean, capacity.PartitionWriteUnits
	low, high := h.bounds()
	h.WriteLow, h.WriteHigh = h.Writes*low*each.Low, h.Writes*high*each.High
	h.ReadUnits, h.ReadLimit = s.hotReads(d, more), capacity.PartitionReadUnits
	if h.ReadUnits > 0 {
		h.ReadSource = FromQueries
	}
	if h.Writes > 0 {
		h.Throttled = mixed(each).Throttled(h.Writes, max(1, d.Shards))
	}
	h.Splits = s.splits(d)
	return h
}

// mixed returns the units of writes as package capacity takes them.
func mixed(u profile.Units) capacity.Mixed { return capacity.Mixed{Mean: u.Mean, Square: u.Square} }

// A key's items count with their own mean of units if at least enoughItems of them are known, and if
// that mean is more than otherUnits standard errors from the mean of all items.
const (
	enoughItems = 20
	otherUnits  = 3
)

// hottest returns the moment of the key that gets most write units, and the units of its items. mo
// is the moment of the key that gets most writes. A key with fewer writes gets more units if its
// items are larger enough. Each item has more bytes than its row.
func (s *heats) hottest(d *Design, mo Moment, more float64) (Moment, profile.Units) {
	all := s.unitsOf(writeUnitBytes, more)
	parts := s.timeless(d)
	m := s.ofPartition(parts)
	if len(parts) == 0 || m == nil || len(m.Largest) == 0 || m.Rows == 0 {
		return mo, s.load.doubled(all)
	}
	own := func(p *profile.Partition) profile.Units {
		u := p.ItemSizes.Units(writeUnitBytes, more)
		if u.Items < enoughItems || math.Abs(u.Mean-all.Mean) <= otherUnits*math.Sqrt(math.Max(0, u.Square-u.Mean*u.Mean)/u.Items) {
			return all
		}
		return u
	}
	best, each := mo, own(&m.Largest[0])
	if i := slices.IndexFunc(m.Largest, func(p profile.Partition) bool { return slices.Equal(p.Values, mo.key) }); i >= 0 {
		each = own(&m.Largest[i])
	}
	units := best.Writes * each.Mean
	for i := range m.Largest {
		p := &m.Largest[i]
		at := func(rows float64) float64 { return s.load.writes * rows / float64(m.Rows) }
		if u := own(p); u.Mean > each.Mean && at(p.Rows.Value)*u.Mean > units {
			best = Moment{Writes: at(p.Rows.Value), Low: at(p.Rows.Low), High: at(p.Rows.High), All: s.load.writes, Share: p.Share, key: p.Values, larger: true}
			each, units = u, best.Writes*u.Mean
		}
	}
	return best, s.load.doubled(each)
}

// shardsOnNode returns about which share of a key's shards has a replica on the fullest node: the
// mean, p, and two standard deviations.
func shardsOnNode(n int, p float64) float64 {
	return math.Min(1, p+2*math.Sqrt(p*(1-p)/float64(n)))
}

// hotReads returns the read units per second of the hottest partition. Each item has more bytes than
// its row.
func (s *heats) hotReads(d *Design, more float64) float64 {
	total := 0.0
	share := 0.0
	if m := s.ofPartition(d.Partition); m != nil && len(m.Largest) > 0 {
		share = m.Largest[0].Share
	}
	for i := range s.qs {
		q := &s.qs[i]
		if q.Writes() || q.Rate == 0 {
			continue
		}
		v := s.serve(d, q)
		if v.Kind == FullScan {
			continue
		}
		each := s.readUnits(v.Rows/v.Partitions, more)
		hit := share // the chance that a query reads the hottest partition
		if d.Shards > 1 && boundBy(d, q) {
			hit /= float64(d.Shards)
		}
		total += q.Rate * hit * each
	}
	return total
}

// splits says what the store does by itself about a hot partition.
func (s *heats) splits(d *Design) string {
	if s.o.Target == Keyspaces {
		return "Keyspaces parts partitions for heat, but not the rows of one key below its limit"
	}
	if len(d.Clustering) == 0 {
		return "DynamoDB cannot split a key of one item"
	}
	c := s.p.Column(d.Clustering[0])
	switch {
	case s.o.LocalIndex:
		return "DynamoDB would not split it: an item collection with a local secondary index stays together"
	case c.Moments() != nil || c.Order.Sequential || c.Order.Monotonic:
		return fmt.Sprintf("a split would not help: %s ever increases, so that all writes go to the last part", c.Name)
	}
	return fmt.Sprintf("DynamoDB would split it by %s, some minutes after it began to throttle", c.Name)
}

// Skew compares the rows of the fullest node with the mean of all nodes.
type Skew struct {
	Nodes       int     `json:"nodes"`
	RF          int     `json:"rf"`
	MaxOverMean float64 `json:"max_over_mean"`
	Ring        float64 `json:"ring_max_over_mean"` // the same from the ring alone
}

// skewOf places the rows of a design on the ring of package simulation.
func (s *traffic) skewOf(d *Design) *Skew {
	m := s.of(d)
	if m == nil || !s.o.Target.nodes() || len(m.Tokens) == 0 {
		return nil
	}
	nodes := int(s.nodes())
	tokens, owners, owned := simulation.Ring{Nodes: nodes, VNodes: VNodes, RF: RF, Seed: 1}.Deal()
	rows := m.Nodes(nodes, tokens, owners)
	out := &Skew{Nodes: nodes, RF: RF}
	total, most := 0.0, 0.0
	for i, n := range rows {
		total += n
		most = math.Max(most, n)
		out.Ring = math.Max(out.Ring, owned[i]*float64(nodes)/RF)
	}
	if total > 0 {
		out.MaxOverMean = most * float64(nodes) / total
	}
	return out
}

// low reports whether a key has so few values that the load of many rows falls on few partitions.
func (s *measures) low(d *Design) bool {
	if _, has := s.period(d); has {
		return false
	}
	m := s.ofPartition(d.Partition)
	if m == nil {
		return false
	}
	n := m.Partitions.Value * float64(max(1, d.Shards))
	return n < lowCardinality && float64(m.Rows)/n >= lowCardinalityRows
}
