// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Routing is by what token-aware drivers choose the door for a request.
type Routing uint8

const (
	// RoundRobin has drivers take the doors in turn, whatever the key: one hot logical
	// key is spread over all doors.
	RoundRobin Routing = iota
	// ByToken shows each door with tokens of its own, so that drivers send all requests
	// of a key to the same door.
	ByToken
)

// nodes are the nodes of the cluster as drivers are to see it: the doors. It is safe for
// concurrent use.
type nodes struct {
	routing Routing
	self    fleet.Door // set before the door serves
	release string     // of the store

	announce atomic.Pointer[func(body []byte)]
	shown    atomic.Pointer[shownNodes]

	mu      sync.Mutex
	roster  fleet.Roster
	several bool
}

// shownNodes are the nodes at one time: an immutable snapshot.
type shownNodes struct {
	peers   []*fleet.Door // the other doors that serve, those of the own data centre first
	several bool          // there are other doors, or there were a while ago
}

func newNodes(routing Routing, self fleet.Door) *nodes {
	n := &nodes{routing: routing, self: self}
	n.shown.Store(&shownNodes{})
	return n
}

// look takes the rows of the doors as they were read, and tells clients what has changed.
func (n *nodes) look(now time.Time, lease time.Duration, rows []*fleet.Door) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var of []*fleet.Door
	for _, d := range rows {
		if d.HostID != n.self.HostID {
			n.several = true
		}
		// Drivers do not take a node without a schema version, which a door that has just
		// registered is yet to read.
		if _, ok := addressOf(d); ok && (d.Schema != [16]byte{} || d.Left()) {
			of = append(of, d)
		}
	}
	changes := n.roster.Look(now, n.self.HostID, lease, of)
	n.shown.Store(&shownNodes{peers: n.roster.Up(n.self.DataCentre), several: n.several})
	announce := n.announce.Load()
	if announce == nil {
		return
	}
	for _, c := range changes {
		at, _ := addressOf(c.Door)
		for _, e := range eventsOf(c.Kind) {
			e.Addr = at
			(*announce)(wire.AppendEvent(nil, &e))
		}
	}
}

// eventsOf is what a Cassandra says when that becomes of a node.
func eventsOf(k fleet.Kind) []wire.Event {
	up, down := wire.Event{Type: wire.EventStatus, Change: "UP"}, wire.Event{Type: wire.EventStatus, Change: "DOWN"}
	switch k {
	case fleet.Joined:
		return []wire.Event{{Type: wire.EventTopology, Change: "NEW_NODE"}, up}
	case fleet.Up:
		return []wire.Event{up}
	case fleet.Down:
		return []wire.Event{down}
	}
	return []wire.Event{{Type: wire.EventTopology, Change: "REMOVED_NODE"}}
}

// addressOf is where clients find a door.
func addressOf(d *fleet.Door) (netip.AddrPort, bool) {
	at, err := netip.ParseAddrPort(d.CQL)
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), err == nil
}

// manner is how a driver is kept from choosing a door by the key.
type manner uint8

const (
	// withTokens leaves the driver its token map.
	withTokens manner = iota
	// unknownPartitioner names a partitioner that no driver knows: drivers then make no
	// token map. They ignore nodes that have no tokens, so these are shown.
	unknownPartitioner
	// noKeyIndexes leaves the driver its token map, but tells it of no prepared statement which
	// values are the partition key. The Node driver takes Murmur3 for any partitioner that it
	// does not know; without these it takes the doors in turn.
	noKeyIndexes
)

// mannerOf is that for a driver, by the DRIVER_NAME in its STARTUP.
func (n *nodes) mannerOf(driver string) manner {
	switch {
	case n.routing == ByToken || !n.shown.Load().several:
		return withTokens
	case strings.Contains(driver, "Node.js"):
		return noKeyIndexes
	}
	return unknownPartitioner
}

// noPartitioner is a partitioner that no driver knows.
const noPartitioner = "evenkeel.RoundRobin"

// local are the cells of system.local that are the door's own; the others are the
// store's. at is where the client is connected to.
func (n *nodes) local(driver string, at netip.AddrPort) map[string][]byte {
	several := n.shown.Load().several
	if own, ok := addressOf(&n.self); ok && several {
		at = own // as the other doors show it
	}
	ip, port := at.Addr().Unmap().AsSlice(), binary.BigEndian.AppendUint32(nil, uint32(at.Port()))
	m := map[string][]byte{
		"host_id":           n.self.HostID[:],
		"broadcast_address": ip, "listen_address": ip, "rpc_address": ip, "native_address": ip, "native_transport_address": ip,
		"rpc_port": port, "native_port": port, "native_transport_port": port,
		"data_center": []byte(n.self.DataCentre), "rack": []byte(n.self.Rack),
	}
	// A node without peers owns the ring: one token is enough.
	m["tokens"] = tokenSet([]string{"0"})
	if several {
		m["broadcast_port"], m["listen_port"] = port, port
		m["tokens"] = tokensOf(n.self.HostID)
	}
	if n.mannerOf(driver) == unknownPartitioner {
		m["partitioner"] = []byte(noPartitioner)
	}
	return m
}

// peers are the rows of system.peers or peers_v2 by column.
func (n *nodes) peers(table string) (rows []map[string][]byte) {
	own, _ := addressOf(&n.self)
	seen := map[netip.Addr]bool{own.Addr(): true}
	for _, d := range n.shown.Load().peers {
		at, _ := addressOf(d)
		if table == "peers" {
			if seen[at.Addr()] {
				continue // the table has one row for an address
			}
			seen[at.Addr()] = true
		}
		ip, port := at.Addr().AsSlice(), binary.BigEndian.AppendUint32(nil, uint32(at.Port()))
		row := map[string][]byte{
			"peer": ip, "peer_port": port, "data_center": []byte(d.DataCentre), "rack": []byte(d.Rack), "host_id": d.HostID[:],
			"native_address": ip, "native_port": port, "rpc_address": ip, "native_transport_address": ip, "native_transport_port": port,
			"release_version": []byte(n.release), "schema_version": d.Schema[:], "tokens": tokensOf(d.HostID),
		}
		rows = append(rows, row)
	}
	return rows
}

// agree says whether all doors go by a version of the store's schema.
func (n *nodes) agree(version [16]byte) bool {
	return !slices.ContainsFunc(n.shown.Load().peers, func(d *fleet.Door) bool { return d.Schema != version })
}

// tokensPerDoor are as many as a Cassandra has by default.
const tokensPerDoor = 16

// tokensOf are the tokens of a door: always the same for the same host id.
func tokensOf(id [16]byte) []byte {
	var all []string
	for i := range tokensPerDoor {
		all = append(all, strconv.FormatInt(partitioner.Murmur3(append(id[:len(id):len(id)], byte(i))), 10))
	}
	return tokenSet(all)
}

// tokenSet is a set<text>.
func tokenSet(all []string) []byte {
	slices.SortFunc(all, func(a, b string) int { return bytes.Compare([]byte(a), []byte(b)) })
	set := wire.AppendInt(nil, int32(len(all)))
	for _, t := range all {
		set = wire.AppendBytes(set, []byte(t))
	}
	return set
}

// ofNodes says whether a table of keyspace system is about nodes: clients see the doors there.
func ofNodes(keyspace, table string) bool {
	return keyspace == "system" && (table == "local" || table == "peers" || table == "peers_v2")
}
