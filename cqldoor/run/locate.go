// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// A request for several shards goes to a node that has all of them, which then asks no
// other node for rows. So shards are put together by node, where the store tells nodes.

// nodes returns which nodes have the shards of a logical partition; nil where the store does
// not tell. What the function returns is good until it is called again.
func (x *reader) nodes(key [][]byte) func(shard int) []int {
	l, ok := x.r.opts.Store.(store.Locator)
	if !ok || len(key) == 0 {
		return nil
	}
	var nodes []int
	var physical []byte
	keyspace := x.plan.Table.Keyspace
	return func(shard int) []int {
		physical = plan.AppendPhysicalKey(physical[:0], key, shard)
		nodes = l.AppendNodes(nodes[:0], keyspace, physical)
		return nodes
	}
}

// together parts shards of a logical partition into those that a request asks, of so many
// at most.
func (x *reader) together(key [][]byte, shards []int, most int) [][]int {
	return scatter.Together(shards, most, x.nodes(key))
}

// to returns the context of a read: it names the node that has most of the shards, and the
// one that has most after it, where the read is of several. A read of one shard binds all of its partition key, by which the store
// finds the node itself.
func (x *reader) to(f *plan.Fetch) context.Context {
	ctx := x.shardsKnown(f.Shards)
	if len(f.Shards) < 2 || x.plan == nil {
		return ctx
	}
	of := x.nodes(f.Key())
	if of == nil {
		return ctx
	}
	var room [8]nodeShards
	count := room[:0]
	for _, shard := range f.Shards {
	next:
		for _, n := range of(shard) {
			for i := range count {
				if count[i].node == n {
					count[i].shards++
					continue next
				}
			}
			count = append(count, nodeShards{n, 1})
		}
	}
	best, other := nodeShards{node: -1}, nodeShards{node: -1}
	for _, c := range count {
		switch {
		case c.shards > best.shards:
			best, other = c, best
		case c.shards > other.shards:
			other = c
		}
	}
	if best.node < 0 {
		return ctx
	}
	return store.AtNodes(ctx, best.node, other.node)
}

// nodeShards is how many shards of a read a node has.
type nodeShards struct{ node, shards int }
