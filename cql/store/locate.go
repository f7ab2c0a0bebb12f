// SPDX-License-Identifier: Apache-2.0

package store

import "context"

// A Locator is a Store of several nodes that knows which of them have a partition.
type Locator interface {
	// AppendNodes appends to dst the nodes that have a partition and can be reached, as numbers.
	// It appends none if they are not known. A read should go to one of the first `best` of the
	// appended nodes; the others can serve it if those do not answer. key is the serialized
	// partition key. A number is valid until the nodes change. A read that goes to an outdated
	// number takes only a longer way.
	AppendNodes(dst []int, keyspace string, key []byte) (nodes []int, best int)
}

type nodesKey struct{}

// AtNodes returns the context of a part of a fan-out (see Wide) that should go to a node of a
// Locator, or to the other node if the first does not answer. -1 stands for no node.
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
