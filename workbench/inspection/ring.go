// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// NodeLoad is what a node stores of the table.
type NodeLoad struct {
	Address    string  `json:"address"`
	DataCenter string  `json:"data_center"`
	Rack       string  `json:"rack"`
	Ring       float64 `json:"ring"`    // share of the ring that it owns
	Replica    float64 `json:"replica"` // share of the ring that it stores, as owner or replica
	Rows       float64 `json:"rows"`
	Bytes      float64 `json:"bytes"`
	OverMean   float64 `json:"over_mean"`      // its bytes over the mean of its data centre's nodes
	RingOver   float64 `json:"ring_over_mean"` // the same for Replica: the effect of the ring alone
}

// ring holds tokens with their owners.
type ring struct {
	tokens []int64
	owners []int
	nodes  []Node
}

func newRing(nodes []Node) *ring {
	r := &ring{nodes: nodes}
	type entry struct {
		token int64
		owner int
	}
	var all []entry
	for i, n := range nodes {
		for _, t := range n.Tokens {
			all = append(all, entry{t, i})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.token, b.token), a.owner-b.owner) })
	for _, e := range all {
		r.tokens, r.owners = append(r.tokens, e.token), append(r.owners, e.owner)
	}
	return r
}

// find returns the index of the token whose range contains t.
func (r *ring) find(t int64) int {
	i, _ := slices.BinarySearch(r.tokens, t)
	return i % len(r.tokens)
}

// width returns the share of the ring in the range that ends at token i.
func (r *ring) width(i int) float64 {
	if len(r.tokens) == 1 {
		return 1
	}
	before := r.tokens[(i+len(r.tokens)-1)%len(r.tokens)]
	return float64(uint64(r.tokens[i])-uint64(before)) / (1 << 64)
}

// replicas returns the nodes that store the range of token i under a keyspace's replication.
// SimpleStrategy takes the next different nodes. NetworkTopologyStrategy takes in each data centre
// the next nodes of different racks, as long as there are such nodes.
func (r *ring) replicas(i int, replication map[string]string) []int {
	class := replication["class"]
	walk := func(rf int, fits func(n int) bool, racks int) (chosen []int) {
		var skipped []int
		seen := map[string]bool{}
		for step := range r.owners {
			n := r.owners[(i+step)%len(r.owners)]
			if len(chosen) == rf || !fits(n) || slices.Contains(chosen, n) || slices.Contains(skipped, n) {
				continue
			}
			if racks > 0 && seen[r.nodes[n].Rack] && len(seen) < racks {
				skipped = append(skipped, n)
				continue
			}
			seen[r.nodes[n].Rack] = true
			chosen = append(chosen, n)
			if len(seen) == racks {
				for len(skipped) > 0 && len(chosen) < rf {
					chosen, skipped = append(chosen, skipped[0]), skipped[1:]
				}
			}
		}
		for _, n := range skipped {
			if len(chosen) < rf {
				chosen = append(chosen, n)
			}
		}
		return chosen
	}
	switch {
	case strings.HasSuffix(class, "NetworkTopologyStrategy"):
		var all []int
		var centres []string
		for dc := range replication {
			if dc != "class" {
				centres = append(centres, dc)
			}
		}
		slices.Sort(centres)
		for _, dc := range centres {
			racks := map[string]bool{}
			for _, n := range r.nodes {
				if n.DataCenter == dc {
					racks[n.Rack] = true
				}
			}
			all = append(all, walk(factor(replication[dc]), func(n int) bool { return r.nodes[n].DataCenter == dc }, len(racks))...)
		}
		if len(all) > 0 {
			return all
		}
	case strings.HasSuffix(class, "SimpleStrategy"):
		return walk(max(1, factor(replication["replication_factor"])), func(int) bool { return true }, 0)
	}
	return []int{r.owners[i]}
}

// factor reads a replication factor. With transient replicas, as in 3/1, it counts the full
// replicas.
func factor(text string) int {
	full, transient, _ := strings.Cut(text, "/")
	n, _ := strconv.Atoi(full)
	t, _ := strconv.Atoi(transient)
	return max(0, n-t)
}

// Loads spreads what was read over the nodes and their replicas.
func (r *Run) Loads(replication map[string]string) []NodeLoad {
	g := newRing(r.Plan.Nodes)
	if len(g.tokens) == 0 {
		return nil
	}
	type part struct{ rows, bytes, covered float64 }
	parts := make([]part, len(g.tokens))
	for _, d := range r.Done {
		rg := r.Plan.Ranges[d.Range]
		p := &parts[g.find(rg.UpTo)]
		p.rows += float64(d.Rows)
		p.bytes += float64(d.Bytes)
		p.covered += rg.share()
	}
	covered := r.Covered()
	if covered == 0 {
		return nil
	}
	loads := make([]NodeLoad, len(g.nodes))
	for i, n := range g.nodes {
		loads[i] = NodeLoad{Address: n.Address, DataCenter: n.DataCenter, Rack: n.Rack}
	}
	for i := range g.tokens {
		width := g.width(i)
		p := parts[i]
		if p.covered == 0 {
			p = part{float64(r.Total.Rows), float64(r.Total.Bytes), covered}
		}
		scale := width / p.covered
		loads[g.owners[i]].Ring += width
		for _, n := range g.replicas(i, replication) {
			loads[n].Replica += width
			loads[n].Rows += p.rows * scale
			loads[n].Bytes += p.bytes * scale
		}
	}
	bytes, ring, count := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, l := range loads {
		bytes[l.DataCenter] += l.Bytes
		ring[l.DataCenter] += l.Replica
		count[l.DataCenter]++
	}
	for i := range loads {
		l := &loads[i]
		if b := bytes[l.DataCenter]; b > 0 {
			l.OverMean = l.Bytes * count[l.DataCenter] / b
		}
		if w := ring[l.DataCenter]; w > 0 {
			l.RingOver = l.Replica * count[l.DataCenter] / w
		}
		l.Rows, l.Bytes = math.Round(l.Rows), math.Round(l.Bytes)
	}
	return loads
}
