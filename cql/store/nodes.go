// SPDX-License-Identifier: Apache-2.0

package store

// A NodesLink is a Link to a store of several nodes.
type NodesLink interface {
	Link

	// Nodes returns a link to each node that the link is connected to. Such a link refuses requests
	// once its connection has ended, and need not be closed. all says that no known node is missing.
	Nodes() (links []Link, all bool)
}
