// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Ring describes a cluster and how its tokens are drawn.
type Ring struct {
	Nodes  int    `json:"nodes"`
	VNodes int    `json:"vnodes"` // tokens of each node
	RF     int    `json:"rf"`     // replicas of each row
	Seed   uint64 `json:"seed"`   // of the tokens
}

// Deal draws the tokens. tokens are ascending; each is the end of a range. owners has, for each
// token, the nodes that store its range, the owner first. replica has, for each node, the share of
// the ring that it stores; the shares add up to RF. Tokens are Murmur3's.
func (r Ring) Deal() (tokens []int64, owners [][]int, replica []float64) {
	g := newRing(r)
	for i, t := range g.tokens {
		tokens = append(tokens, int64(t^1<<63))
		owners = append(owners, g.replicas(nil, i))
	}
	_, replica = g.ownership()
	return tokens, owners, replica
}

// These are bounds of a ring.
const (
	maxNodes  = 10_000
	maxTokens = 1 << 20
)

// ring is a token ring with random tokens, as a Cassandra node draws them if
// allocate_tokens_for_local_replication_factor is not set. Cassandra's allocator, the default since
// 4.0, makes ownership more even than this. The replicas are the next distinct nodes clockwise
// (SimpleStrategy).
type ring struct {
	Ring
	tokens []uint64 // ascending; each is the end of a range that begins behind the previous one
	owners []int    // by token
}

func newRing(r Ring) *ring {
	rnd := rand.New(rand.NewPCG(r.Seed, uint64(r.VNodes)))
	type token struct {
		at    uint64
		owner int
	}
	tokens := make([]token, 0, r.Nodes*r.VNodes)
	taken := make(map[uint64]bool, cap(tokens))
	for node := range r.Nodes {
		for range r.VNodes {
			at := rnd.Uint64()
			for taken[at] {
				at = rnd.Uint64()
			}
			taken[at] = true
			tokens = append(tokens, token{at, node})
		}
	}
	slices.SortFunc(tokens, func(a, b token) int { return cmp.Compare(a.at, b.at) })
	g := &ring{Ring: r}
	for _, t := range tokens {
		g.tokens = append(g.tokens, t.at)
		g.owners = append(g.owners, t.owner)
	}
	return g
}

// find returns the index of the token whose range contains the position: the first token that is
// not below it, or the first of all.
func (g *ring) find(position uint64) int {
	i, _ := slices.BinarySearch(g.tokens, position)
	return i % len(g.tokens)
}

// replicas appends the nodes that keep the range of token i, its owner first.
func (g *ring) replicas(dst []int, i int) []int {
	for at := i; len(dst) < g.RF; at = (at + 1) % len(g.owners) {
		if !slices.Contains(dst, g.owners[at]) {
			dst = append(dst, g.owners[at])
		}
	}
	return dst
}

// ownership returns for each node the share of the ring that it owns, and the share of which it is
// a replica. The latter adds up to RF.
func (g *ring) ownership() (primary, replica []float64) {
	primary, replica = make([]float64, g.Nodes), make([]float64, g.Nodes)
	var nodes []int
	for i := range g.tokens {
		before := g.tokens[(i+len(g.tokens)-1)%len(g.tokens)]
		width := float64(g.tokens[i]-before) / (1 << 64) // unsigned: also right over the ring's start
		if len(g.tokens) == 1 {
			width = 1
		}
		nodes = g.replicas(nodes[:0], i)
		primary[nodes[0]] += width
		for _, n := range nodes {
			replica[n] += width
		}
	}
	return primary, replica
}
