// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"
	"slices"
)

// Node is a node of the cluster, as system.local and system.peers describe it.
type Node struct {
	Datacenter, Rack string
	Tokens           []int64
}

// Ring holds the tokens of a cluster in order, each with the node that owns it.
type Ring struct {
	nodes  []Node
	tokens []owned
}

type owned struct {
	token int64
	node  int
}

// New returns the ring of nodes. Callers number the nodes by their places in the slice. The Ring
// shares the slice.
func New(nodes []Node) *Ring {
	r := &Ring{nodes: nodes}
	for i := range nodes {
		for _, t := range nodes[i].Tokens {
			r.tokens = append(r.tokens, owned{t, i})
		}
	}
	slices.SortFunc(r.tokens, func(a, b owned) int { return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.node, b.node)) })
	r.tokens = slices.CompactFunc(r.tokens, func(a, b owned) bool { return a.token == b.token })
	return r
}

// Placement holds the replicas of a keyspace's partitions, for each range of tokens.
type Placement struct {
	ends     []int64 // the last token of each range, ascending
	replicas [][]int // replicas of the range that ends there
}

// Place computes the replicas of every range. Ranges that have the same replicas in the
// same order share memory.
func (r *Ring) Place(rep Replication) *Placement {
	p := &Placement{ends: make([]int64, len(r.tokens)), replicas: make([][]int, len(r.tokens))}
	walk := r.simple
	if rep.factor == 0 {
		walk = r.topology()
	}
	shared := map[string][]int{}
	var key []byte
	for i := range r.tokens {
		p.ends[i] = r.tokens[i].token
		nodes := walk(rep, i)
		key = key[:0]
		for _, n := range nodes {
			key = append(key, byte(n>>8), byte(n))
		}
		if same, ok := shared[string(key)]; ok {
			nodes = same
		} else {
			shared[string(key)] = nodes
		}
		p.replicas[i] = nodes
	}
	return p
}

// Of returns the nodes that store the partition with a token. The caller must not change
// the slice.
func (p *Placement) Of(token int64) []int {
	if len(p.ends) == 0 {
		return nil
	}
	i, _ := slices.BinarySearch(p.ends, token)
	if i == len(p.ends) {
		i = 0 // after the last token, the first range continues
	}
	return p.replicas[i]
}

// simple returns the first nodes from the i-th token on: the replicas of SimpleStrategy.
func (r *Ring) simple(rep Replication, i int) []int {
	var nodes []int
	for k := 0; k < len(r.tokens) && len(nodes) < rep.factor; k++ {
		if n := r.tokens[(i+k)%len(r.tokens)].node; !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// rack is a rack of a data centre.
type rack struct{ datacenter, rack string }

// quota is what one data centre still needs while the walk goes round the ring.
type quota struct {
	left    int // replicas still to place
	repeats int // of these, how many may be in a rack that already has one
}

// topology returns the walk of NetworkTopologyStrategy. In each data centre the walk takes nodes
// of different racks first, then the nodes that come next.
func (r *Ring) topology() func(rep Replication, i int) []int {
	members, racks, seen := map[string]int{}, map[string]int{}, map[rack]bool{}
	for _, n := range r.nodes {
		if len(n.Tokens) == 0 {
			continue
		}
		members[n.Datacenter]++
		if at := (rack{n.Datacenter, n.Rack}); !seen[at] {
			seen[at] = true
			racks[n.Datacenter]++
		}
	}
	return func(rep Replication, i int) []int {
		wanted, open := map[string]*quota{}, 0
		for dc, factor := range rep.datacenters {
			if members[dc] > 0 {
				wanted[dc] = &quota{left: min(factor, members[dc]), repeats: factor - racks[dc]}
				open++
			}
		}
		used := map[rack]bool{}
		var nodes []int
		for k := 0; k < len(r.tokens) && open > 0; k++ {
			n := r.tokens[(i+k)%len(r.tokens)].node
			at := rack{r.nodes[n].Datacenter, r.nodes[n].Rack}
			q := wanted[at.datacenter]
			if q == nil || q.left == 0 || slices.Contains(nodes, n) {
				continue
			}
			if used[at] {
				if q.repeats <= 0 {
					continue
				}
				q.repeats--
			}
			used[at] = true
			nodes = append(nodes, n)
			if q.left--; q.left == 0 {
				open--
			}
		}
		return nodes
	}
}
