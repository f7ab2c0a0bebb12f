// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// An EXECUTE goes to a replica of its partition, which then need not ask another node for
// its share of the work. The response to PREPARE says which of the bound values are the
// partition key. The body of the request stays unchanged.

// route is what is known of a prepared statement for that.
type route struct {
	keyspace    string
	key         []uint16 // which bound values are the partition key, in its order
	read        bool     // it is a SELECT
	conditional bool     // it has IF: its executions go to one replica, whoever sends them
}

// routes are those of all statements that were prepared lately, by id.
type routes struct {
	mu   sync.RWMutex
	byID map[[16]byte]route
}

func (r *routes) put(id [16]byte, to route) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[[16]byte]route{}
	}
	r.byID[id] = to
}

func (r *routes) remove(id [16]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
}

func (r *routes) get(id []byte) (route, bool) {
	if len(id) != 16 {
		return route{}, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	to, ok := r.byID[[16]byte(id)]
	return to, ok
}

// learn takes the route of a statement from its RESULT Prepared. It has no key where not
// all of the partition key is bound.
func (r *routes) learn(v wire.Version, id []byte, resp wire.Message, text string) {
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil || len(id) != 16 {
		return
	}
	p, err := wire.ParsePrepared(v, body)
	if err != nil {
		return
	}
	// A statement that only looks conditional loses nothing but the choice among replicas.
	to := route{read: isSelect([]byte(text)), conditional: strings.Contains(strings.ToUpper(text), "IF")}
	columns, err := p.Variables.Columns()
	if err == nil && len(columns) > 0 {
		to.keyspace, to.key = columns[0].Keyspace, p.KeyIndexes
	}
	r.put([16]byte(id), to)
}

// target is the replicas that a request may go to.
type target struct {
	topology *topology
	nodes    []int
	ordered  bool // to the first that there is: so two doors' conditions meet at one node
}

// replicas are the hosts of the target that requests may go to.
func (to *target) replicas() (all []*host) {
	for _, n := range to.nodes {
		if h := to.topology.hosts[n]; h != nil {
			all = append(all, h)
		}
	}
	return all
}

// nearest reports whether no replica is nearer than a host, which is one of them.
func (to *target) nearest(h *host) bool {
	t, far, near := to.topology, false, false
	for _, n := range to.nodes {
		switch {
		case t.near != nil && t.near[n]:
			if t.hosts[n] == h {
				return true
			}
			near = true
		case t.hosts[n] == h:
			far = true
		}
	}
	return far && !near
}

// target returns the replicas of what an EXECUTE is about, none where nothing tells them.
func (cl *Cluster) target(v wire.Version, req wire.Message) (to target) {
	t := cl.topology.Load()
	if t == nil || req.Op != wire.OpExecute {
		return target{}
	}
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return target{}
	}
	id, err := wire.ExecuteID(body)
	if err != nil {
		return target{}
	}
	r, ok := cl.prepared.routes.get(id)
	placement := t.keyspaces[r.keyspace]
	if !ok || len(r.key) == 0 || placement == nil {
		return target{}
	}
	e, err := wire.ParseExecute(v, body)
	if err != nil {
		return target{}
	}
	token, ok := r.token(&e.Params.Values)
	if !ok {
		return target{}
	}
	serial := e.Params.Consistency == wire.Serial || e.Params.Consistency == wire.LocalSerial
	return target{t, placement.Of(token), r.conditional || serial}
}

// maxKeyColumns is how many columns of a partition key are looked at.
const maxKeyColumns = 16

// token computes the token of the partition that an execution with these values is about.
func (r *route) token(values *wire.Values) (token int64, ok bool) {
	if values.Named || len(r.key) > maxKeyColumns {
		return 0, false
	}
	var key [maxKeyColumns][]byte
	left, place := len(r.key), uint16(0)
	for it := values.Iter(); left > 0 && it.Next(); place++ {
		for i, at := range r.key {
			if at != place {
				continue
			}
			if it.Bytes == nil {
				return 0, false // null or not set: the host refuses it
			}
			key[i] = it.Bytes
			left--
		}
	}
	if left > 0 {
		return 0, false
	}
	if len(r.key) == 1 {
		return partitioner.Murmur3(key[0]), true
	}
	var room [256]byte
	return partitioner.Murmur3(partitioner.AppendComposite(room[:0], key[:len(r.key)]...)), true
}
