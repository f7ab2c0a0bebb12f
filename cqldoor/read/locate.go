// SPDX-License-Identifier: Apache-2.0

package read

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// A request for several shards goes to a node that has all of them. Then this node asks no other node
// for rows. So the door groups shards by node, if the store knows its nodes.

// fetch is one physical read, and where it should go.
type fetch struct {
	plan.Fetch
	at scatter.Place
}

// placed returns reads that should go to one place.
func placed(at scatter.Place, all ...plan.Fetch) []fetch {
	out := make([]fetch, len(all))
	for i, f := range all {
		out[i] = fetch{f, at}
	}
	return out
}

// split returns one read for each shard.
func (f *fetch) split() []fetch { return placed(f.at, f.Fetch.Split()...) }

// nodes returns a function that returns the nodes of a shard of a logical partition, as store.Locator
// does. The function's result is valid until its next call. nodes returns nil if the store does not
// know its nodes.
func (x *fetcher) nodes(key [][]byte) func(shard int) (all []int, best int) {
	l, ok := x.reads.Store.(store.Locator)
	if !ok || len(key) == 0 {
		return nil
	}
	var nodes []int
	var physical []byte
	keyspace := x.plan.Table.Keyspace
	return func(shard int) (all []int, best int) {
		physical = plan.AppendPhysicalKey(physical[:0], key, shard)
		nodes, best = l.AppendNodes(nodes[:0], keyspace, physical)
		return nodes, best
	}
}

// together parts shards of a logical partition into groups. One request reads one group. most is the
// largest number of shards in a group.
func (x *fetcher) together(key [][]byte, shards []int, most int) []scatter.Group {
	return scatter.Together(shards, most, x.nodes(key))
}

// to returns the context of a read. If the read is of several shards, the context names the nodes
// that the read should go to. A read of one shard binds its whole partition key, so the store finds
// the node itself.
func (x *fetcher) to(f *fetch) context.Context {
	ctx := x.shardsKnown(f.Shards)
	if len(f.Shards) < 2 || f.at.Node == scatter.Nowhere {
		return ctx
	}
	return store.AtNodes(ctx, f.at.Node, f.at.Other)
}
