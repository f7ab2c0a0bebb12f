// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"net/netip"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/fleet"
)

// TestDriversOfNodes shows each driver the nodes so that it takes the doors in turn.
func TestDriversOfNodes(t *testing.T) {
	id := func(n byte) [16]byte { return [16]byte{n, 15: n} }
	row := &fleet.Door{ID: id(3), HostID: id(2), CQL: "127.0.0.2:9042", Lease: time.Second, Beat: 1, Schema: id(9)}
	for driver, want := range map[string]manner{
		"":                               unknownPartitioner,
		"gocql":                          unknownPartitioner,
		"Apache Cassandra Java Driver":   unknownPartitioner,
		"Apache Cassandra Python Driver": unknownPartitioner,
		"DataStax Node.js Driver for Apache Cassandra": NoKeyIndexes,
	} {
		for routing, after := range map[Routing]manner{RoundRobin: want, ByToken: withTokens} {
			n := newNodes(routing, fleet.Door{HostID: id(1), CQL: "127.0.0.1:9042"})
			if got := n.MannerOf(driver); got != withTokens {
				t.Errorf("%q, alone: %d", driver, got)
			}
			n.Look(time.Now(), time.Second, []*fleet.Door{row})
			if n.Agree(id(8)) || !n.Agree(id(9)) {
				t.Error("the doors agree on a version that one of them does not go by, or do not on its own")
			}
			if got := n.MannerOf(driver); got != after {
				t.Errorf("%q: %d, not %d", driver, got, after)
			}
			own := n.Local(driver, netip.AddrPort{})
			if own["tokens"] == nil { // drivers take no node without
				t.Errorf("%q: no tokens", driver)
			}
			if is := string(own["partitioner"]); (is == NoPartitioner) != (after == unknownPartitioner) {
				t.Errorf("%q: partitioner %q", driver, is)
			}
		}
	}
	if a, b := tokensOf(id(1)), tokensOf(id(1)); string(a) != string(b) || string(a) == string(tokensOf(id(2))) {
		t.Error("the tokens of a door are not its own, always")
	}
}
