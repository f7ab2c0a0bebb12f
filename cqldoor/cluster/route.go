// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// The door sends an EXECUTE to a replica of its partition, so that no coordinator has to ask
// another node. The response to PREPARE says which bound values are the partition key. The body of
// the request stays unchanged.

// route is what the door knows about a prepared statement to choose a host.
type route struct {
	keyspace    string
	key         []uint16 // indexes of the bound values that form the partition key, in its order
	read        bool     // it is a SELECT
	conditional bool     // it has IF: its executions go to one replica, whichever door sends them
}

// routes holds the routes of all recently prepared statements by id.
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

// learn stores the route of a statement from its RESULT Prepared. The route has no key if the
// statement does not bind all of the partition key.
func (r *routes) learn(v wire.Version, id []byte, resp wire.Message, text string) {
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil || len(id) != 16 {
		return
	}
	p, err := wire.ParsePrepared(v, body)
	if err != nil {
		return
	}
	// A statement that only looks conditional loses only the choice among replicas.
	to := route{read: isSelect([]byte(text)), conditional: strings.Contains(strings.ToUpper(text), "IF")}
	columns, err := p.Variables.Columns()
	if err == nil && len(columns) > 0 {
		to.keyspace, to.key = columns[0].Keyspace, p.KeyIndexes
	}
	r.put([16]byte(id), to)
}

// target lists the replicas to which a request may go.
type target struct {
	topology *topology
	nodes    []int
	ordered  bool // use the first that is up, so that conditions of two doors meet at one node
}

// replicas returns the hosts of the target that can receive requests.
func (to *target) replicas() (all []*host) {
	for _, n := range to.nodes {
		if h := to.topology.hosts[n]; h != nil {
			all = append(all, h)
		}
	}
	return all
}

// nearest reports whether h is one of the replicas and none of them is nearer.
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

// target returns the replicas of the partition of an EXECUTE, or none if they are unknown.
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

// maxKeyColumns is the largest number of columns of a partition key for which token computes the
// token.
const maxKeyColumns = 16

// token computes the token of the partition that these values bind.
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
				return 0, false // null or not set: the host will refuse it
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
