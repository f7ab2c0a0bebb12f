// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// In system.local, system.peers and system.peers_v2 a client sees the door: one node that owns
// the whole ring. The door sends the statement to the backend unchanged. In the response it
// replaces the cells that describe the node's identity and address, whichever columns were
// selected, and leaves out the rows of peers. Everything else (data centre, rack, versions,
// cluster name, partitioner, schema version, the columns themselves) comes from the backend, of
// any kind and release.

// special is a kind of statement whose response the door rewrites.
type special uint8

const (
	specialNone special = iota
	specialLocal
	specialPeers
	specialPrepareLocal
	specialPreparePeers
)

// specialOf returns the kind of a SELECT of a system table.
func specialOf(table string) special {
	switch table {
	case "local":
		return specialLocal
	case "peers", "peers_v2":
		return specialPeers
	}
	return specialNone
}

// specials holds the prepared ids of such statements. Every EXECUTE reads it; it is rarely
// written.
type specials struct {
	byID atomic.Pointer[map[[16]byte]special]
	mu   sync.Mutex
}

const maxSpecials = 4096 // different texts of such statements

func (s *specials) get(id []byte) special {
	m := s.byID.Load()
	if m == nil || len(id) != 16 {
		return specialNone
	}
	return (*m)[[16]byte(id)]
}

func (s *specials) put(id []byte, k special) {
	if len(id) != 16 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := make(map[[16]byte]special)
	if m := s.byID.Load(); m != nil {
		if (*m)[[16]byte(id)] == k {
			return
		}
		for id, k := range *m {
			if len(next) < maxSpecials-1 {
				next[id] = k
			}
		}
	}
	next[[16]byte(id)] = k
	s.byID.Store(&next)
}

// rewrite appends to dst the response to a special statement for a client to which the door gives
// the address at. It reports whether that differs from resp. The response to any other statement does not.
func (d *Door) rewrite(at netip.AddrPort, k special, resp wire.Message, dst []byte) ([]byte, bool) {
	if k == specialNone || resp.Op != wire.OpResult {
		return dst, false
	}
	prefix, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return dst, false
	}
	switch k {
	case specialPrepareLocal, specialPreparePeers:
		if id, ok := preparedID(resp); ok {
			d.special.put(id, k-specialPrepareLocal+specialLocal)
		}
		return dst, false
	}
	if wire.KindOf(body) != wire.ResultRows {
		return dst, false
	}
	rows, err := wire.ParseRows(body)
	if err != nil {
		return dst, false
	}
	columns, err := rows.Metadata.Columns()
	if err != nil {
		return dst, false
	}
	var w wire.RowsWriter
	w.Begin(nil, rows.Metadata)
	if k == specialPeers {
		w.SetPagingState(nil)
		if len(columns) == 1 && columns[0].Name == "count" {
			w.Cell(make([]byte, 8))
			w.EndRow()
		}
	} else {
		own := d.own(at)
		it := rows.Iter(nil)
		for it.Next() {
			for i, cell := range it.Cells {
				if mine, ok := own[columns[i].Name]; ok && cell != nil {
					cell = mine
				}
				w.Cell(cell)
			}
			w.EndRow()
		}
		if it.Err() != nil {
			return dst, false
		}
	}
	return append(prefix.Append(dst), w.Finish()...), true
}

// own returns the cells of system.local that describe the door at an address.
func (d *Door) own(at netip.AddrPort) map[string][]byte {
	ip := at.Addr().Unmap().AsSlice()
	port := binary.BigEndian.AppendUint32(nil, uint32(at.Port()))
	return map[string][]byte{
		"host_id":           d.opts.HostID[:],
		"broadcast_address": ip,
		"listen_address":    ip,
		"rpc_address":       ip,
		"native_address":    ip,
		"rpc_port":          port,
		"native_port":       port,
		// These are the names that other servers use.
		"native_transport_address": ip,
		"native_transport_port":    port,
		// One token is enough: a node without peers owns the whole ring.
		"tokens": wire.AppendBytes(wire.AppendInt(nil, 1), []byte("0")),
	}
}

// address returns the door's address that the door gives to this client.
func (c *conn) address() netip.AddrPort {
	if at := c.d.opts.Advertise; at.IsValid() {
		return at
	}
	return addrPort(c.t.NetConn().LocalAddr())
}

func addrPort(a net.Addr) netip.AddrPort {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort()
	}
	return netip.AddrPortFrom(netip.IPv4Unspecified(), 9042)
}
