// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestNodes checks that the links of Nodes lead to one node each, and that a node that is away is
// told of.
func TestNodes(t *testing.T) {
	r := newTokenRing(t, 1)
	l := r.open(t, connectTo(t, Options{}, r.servers[0])).(store.NodesLink)
	links, all := l.Nodes()
	if !all || len(links) != 3 {
		t.Fatalf("%d links, all: %t", len(links), all)
	}
	bound := executeWith(byKey, wire.One, []byte("key"))
	for _, one := range links {
		for range 2 {
			if resp := ask(t, one, wire.OpExecute, bound); resp.Op != wire.OpResult {
				t.Fatalf("EXECUTE: %s %q", resp.Op, resp.Body)
			}
		}
	}
	at := r.nodesOf("key")
	for i := 0; i < len(at); i += 2 {
		if at[i] != at[i+1] {
			t.Errorf("one link led to nodes %v", at[i:i+2])
		}
	}
	slices.Sort(at)
	if at = slices.Compact(at); !slices.Equal(at, []int{0, 1, 2}) {
		t.Errorf("the links lead to nodes %v", at)
	}
	r.servers[2].stop()
	eventually(t, "the lost node is missed", func() bool {
		links, all = l.Nodes()
		return !all && len(links) == 2
	})
}
