// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/cluster/ring"
	"github.com/evenkeel/evenkeel/partitioner"
)

// topology says which hosts store which partitions, according to the cluster. It is immutable.
type topology struct {
	hosts     []*host // by their numbers in placements; nil: a host of another data centre
	near      []bool  // which hosts are in the door's own rack; nil: the door has none
	keyspaces map[string]*ring.Placement
}

// murmur3 is the only partitioner whose tokens the door computes.
const murmur3 = "org.apache.cassandra.dht.Murmur3Partitioner"

// place reads how keyspaces are replicated and computes which hosts store their partitions. rows
// are those of system.local and system.peers; hosts are their hosts, in the same order.
func (cl *Cluster) place(ctx context.Context, c *conn, rows []map[string][]byte, hosts []*host) error {
	if cl.opts.AnyHost || string(rows[0]["partitioner"]) != murmur3 {
		cl.topology.Store(nil)
		return nil
	}
	nodes := make([]ring.Node, len(rows))
	for i, row := range rows {
		tokens, err := tokensOf(row["tokens"])
		if err != nil {
			return err
		}
		nodes[i] = ring.Node{Datacenter: string(row["data_center"]), Rack: string(row["rack"]), Tokens: tokens}
	}
	keyspaces, err := c.query(ctx, "SELECT keyspace_name, replication FROM system_schema.keyspaces")
	if err != nil {
		return err
	}
	r := ring.New(nodes)
	t := &topology{hosts: hosts, keyspaces: make(map[string]*ring.Placement, len(keyspaces))}
	if rack := cl.opts.Rack; rack != "" {
		t.near = make([]bool, len(rows))
		for i := range rows {
			t.near[i] = hosts[i] != nil && nodes[i].Rack == rack
		}
	}
	alike := map[string]*ring.Placement{} // by replication
	for _, row := range keyspaces {
		replication := row["replication"]
		p := alike[string(replication)]
		if p == nil {
			rep, known := ring.ParseReplication(textsOf(replication))
			if !known {
				continue
			}
			p = r.Place(rep)
			alike[string(replication)] = p
		}
		t.keyspaces[string(row["keyspace_name"])] = p
	}
	cl.topology.Store(t)
	return nil
}

// AppendNodes implements store.Locator. It appends the replicas that have connections: first those
// in the door's own rack, then those in other racks, then those that are silent. The best replicas
// are those of the first of these kinds that is not empty.
func (cl *Cluster) AppendNodes(dst []int, keyspace string, key []byte) (nodes []int, best int) {
	t := cl.topology.Load()
	if t == nil || t.keyspaces[keyspace] == nil {
		return dst, 0
	}
	replicas := t.keyspaces[keyspace].Of(partitioner.Murmur3(key))
	var end [silentNode + 1]int // of each rank's nodes in dst
	for rank := range end {
		end[rank] = len(dst)
	}
	from := len(dst)
	for _, n := range replicas {
		h := t.hosts[n]
		if h == nil || h.conns.Load() == 0 {
			continue
		}
		rank := t.rank(n, h) // it may change at any time: each node is ranked once
		dst = slices.Insert(dst, end[rank], n)
		for ; rank <= silentNode; rank++ {
			end[rank]++
		}
	}
	for rank := nearNode; best == 0 && rank <= silentNode; rank++ {
		best = end[rank] - from
	}
	return dst, best
}

// These are the ranks of nodes: a read goes to a node of the lowest rank.
const (
	nearNode = iota
	farNode
	silentNode
)

// rank returns the rank of a node and its host. Without a rack of the door's own, no node is near.
func (t *topology) rank(n int, h *host) int {
	switch {
	case h.silent():
		return silentNode
	case t.near != nil && t.near[n]:
		return nearNode
	}
	return farNode
}

// host returns the host with a number, or nil if there is none.
func (t *topology) host(n int) *host {
	if t == nil || n < 0 || n >= len(t.hosts) {
		return nil
	}
	return t.hosts[n]
}

var (
	text     = value.Native(value.Text)
	texts    = value.SetOf(text, true)
	textMaps = value.MapOf(text, text, true)
)

// tokensOf reads a set of tokens, which Cassandra writes as decimal digits.
func tokensOf(cell []byte) ([]int64, error) {
	var tokens []int64
	for p := texts.Parts(cell); p.Next(); {
		n, err := strconv.ParseInt(string(p.Part()), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("a node's token: %w", err)
		}
		tokens = append(tokens, n)
	}
	return tokens, nil
}

// textsOf reads a map of texts.
func textsOf(cell []byte) map[string]string {
	m := map[string]string{}
	for p := textMaps.Parts(cell); p.Next(); {
		key := string(p.Part())
		if !p.Next() {
			break
		}
		m[key] = string(p.Part())
	}
	return m
}
