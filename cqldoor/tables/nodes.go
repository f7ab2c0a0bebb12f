// SPDX-License-Identifier: Apache-2.0

package tables

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

// Routing says how token-aware drivers choose the door for a request.
type Routing uint8

const (
	// RoundRobin makes drivers use the doors in turn for every key. So the requests of one hot logical
	// key are spread over all doors.
	RoundRobin Routing = iota
	// ByToken gives each door tokens of its own, so that drivers send all requests of a key to
	// the same door.
	ByToken
)

// Nodes holds the cluster's nodes as drivers see them: the doors. It is safe for concurrent use.
type Nodes struct {
	routing Routing
	self    fleet.Door // set before the door serves
	release string     // the store's release

	Announce atomic.Pointer[func(body []byte)]
	shown    atomic.Pointer[shownNodes]

	mu      sync.Mutex
	roster  fleet.Roster
	several bool
}

// shownNodes is an immutable snapshot of the nodes.
type shownNodes struct {
	peers   []*fleet.Door // the other doors that serve, those of the same data centre first
	several bool          // this door has seen the row of another door
}

func newNodes(routing Routing, self fleet.Door) *Nodes {
	n := &Nodes{routing: routing, self: self}
	n.shown.Store(&shownNodes{})
	return n
}

// Look updates the nodes from the doors' rows, which the caller has read at time now. It sends clients
// an event for each change.
func (n *Nodes) Look(now time.Time, lease time.Duration, rows []*fleet.Door) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var of []*fleet.Door
	for _, d := range rows {
		if d.HostID != n.self.HostID {
			n.several = true
		}
		// Drivers do not accept a node without a schema version. A door that has just registered
		// has not read its version yet.
		if _, ok := addressOf(d); ok && (d.Schema != [16]byte{} || d.Left()) {
			of = append(of, d)
		}
	}
	changes := n.roster.Look(now, n.self.HostID, lease, of)
	n.shown.Store(&shownNodes{peers: n.roster.Up(n.self.DataCentre), several: n.several})
	announce := n.Announce.Load()
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

// eventsOf returns the events that Cassandra sends for a kind of change of a node.
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

// addressOf returns the address at which clients reach a door. It returns false if the door's row has
// no valid address.
func addressOf(d *fleet.Door) (netip.AddrPort, bool) {
	at, err := netip.ParseAddrPort(d.CQL)
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), err == nil
}

// manner says how the door keeps a driver from choosing a door by the partition key, if it does.
type manner uint8

const (
	// withTokens leaves the driver its token map.
	withTokens manner = iota
	// unknownPartitioner names a partitioner that no driver knows, so that drivers make no token
	// map. Drivers ignore nodes without tokens, so the door shows the nodes with tokens.
	unknownPartitioner
	// NoKeyIndexes leaves the driver its token map, but does not tell it which values of a
	// prepared statement form the partition key. It is for the Node.js driver, which takes an
	// unknown partitioner for Murmur3. Without the key, that driver uses the doors in turn.
	NoKeyIndexes
)

// MannerOf returns the manner for a driver, by the DRIVER_NAME in its STARTUP.
func (n *Nodes) MannerOf(driver string) manner {
	switch {
	case n.routing == ByToken || !n.shown.Load().several:
		return withTokens
	case strings.Contains(driver, "Node.js"):
		return NoKeyIndexes
	}
	return unknownPartitioner
}

// NoPartitioner is the name of a partitioner that no driver knows.
const NoPartitioner = "evenkeel.RoundRobin"

// Local returns the cells of system.local that describe the door. The other cells are the
// store's. at is the address that the client is connected to.
func (n *Nodes) Local(driver string, at netip.AddrPort) map[string][]byte {
	several := n.shown.Load().several
	if own, ok := addressOf(&n.self); ok && several {
		at = own // the address that the other doors show
	}
	ip, port := at.Addr().Unmap().AsSlice(), binary.BigEndian.AppendUint32(nil, uint32(at.Port()))
	m := map[string][]byte{
		"host_id":           n.self.HostID[:],
		"broadcast_address": ip, "listen_address": ip, "rpc_address": ip, "native_address": ip, "native_transport_address": ip,
		"rpc_port": port, "native_port": port, "native_transport_port": port,
		"data_center": []byte(n.self.DataCentre), "rack": []byte(n.self.Rack),
	}
	// One token is enough: a node without peers owns the whole ring.
	m["tokens"] = tokenSet([]string{"0"})
	if several {
		m["broadcast_port"], m["listen_port"] = port, port
		m["tokens"] = tokensOf(n.self.HostID)
	}
	if n.MannerOf(driver) == unknownPartitioner {
		m["partitioner"] = []byte(NoPartitioner)
	}
	return m
}

// Peers returns the rows of system.peers or peers_v2, by column.
func (n *Nodes) Peers(table string) (rows []map[string][]byte) {
	own, _ := addressOf(&n.self)
	seen := map[netip.Addr]bool{own.Addr(): true}
	for _, d := range n.shown.Load().peers {
		at, _ := addressOf(d)
		if table == "peers" {
			if seen[at.Addr()] {
				continue // the table has one row for each address
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

// Agree reports whether all other doors that serve use this version of the store's schema.
func (n *Nodes) Agree(version [16]byte) bool {
	return !slices.ContainsFunc(n.shown.Load().peers, func(d *fleet.Door) bool { return d.Schema != version })
}

// tokensPerDoor is Cassandra's default number of tokens.
const tokensPerDoor = 16

// tokensOf returns the tokens of a door. The same host id always gives the same tokens.
func tokensOf(id [16]byte) []byte {
	var all []string
	for i := range tokensPerDoor {
		all = append(all, strconv.FormatInt(partitioner.Murmur3(append(id[:len(id):len(id)], byte(i))), 10))
	}
	return tokenSet(all)
}

// tokenSet sorts tokens and serializes them as a set<text>.
func tokenSet(all []string) []byte {
	slices.SortFunc(all, func(a, b string) int { return bytes.Compare([]byte(a), []byte(b)) })
	set := wire.AppendInt(nil, int32(len(all)))
	for _, t := range all {
		set = wire.AppendBytes(set, []byte(t))
	}
	return set
}

// ShowsNodes reports whether a table is one of keyspace system that describes nodes. Clients see the
// doors there.
func ShowsNodes(keyspace, table string) bool {
	return keyspace == "system" && (table == "local" || table == "peers" || table == "peers_v2")
}
