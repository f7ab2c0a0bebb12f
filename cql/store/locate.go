// SPDX-License-Identifier: Apache-2.0

package store

import "context"

// A Locator is a Store of several nodes that knows which of them have a partition.
type Locator interface {
	// AppendNodes appends to dst the nodes that a read of a partition should go to, as
	// numbers: none where that is not known. key is the serialized partition key.
	// Numbers are good until the nodes change; one that is older costs no more than the
	// way to another node.
	AppendNodes(dst []int, keyspace string, key []byte) []int
}

type nodesKey struct{}

// AtNodes returns the context of a part of a fan-out (see Wide) that should go to the node
// with a number, of a Locator, or else to another; -1 where there is none.
func AtNodes(ctx context.Context, node, other int) context.Context {
	return context.WithValue(ctx, nodesKey{}, [2]int{node, other})
}

// NodesOf returns the numbers of AtNodes.
func NodesOf(ctx context.Context) (node, other int) {
	if n, ok := ctx.Value(nodesKey{}).([2]int); ok {
		return n[0], n[1]
	}
	return -1, -1
}
