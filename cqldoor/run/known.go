// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"crypto/md5"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/observe"
)

// Prepared ids are MD5 sums of texts, so anybody can name the id of any text: of one
// that the door itself has prepared, which writes into any shard, or of one that was
// prepared past the door. The gate cannot read a text that it does not see. So a door
// executes the ids of those statements only that a client has prepared at it: all others
// are UNPREPARED, and the driver prepares them, through the gate.
//
// Whose PREPARE it was does not matter. The store judges the rights of who executes, as
// of who executes an id that another has prepared at a Cassandra. Drivers prepare on one
// connection and execute on all, and anew at a door that has not seen the statement: it
// costs them one PREPARE for each statement and door.
//
// The ids are those that Cassandra gives, also for statements on sharded tables, so that
// a statement keeps its id when its table is dropped and created anew, sharded now or no
// more: drivers do not take another id for a statement that they prepare again.

// known is what an id stands for: one of these.
type known struct {
	id        [16]byte
	statement *statement       // on sharded tables
	schema    *schemaStatement // about the schema
	passed    *passed          // the store's
	size      int
	at        int         // where it is in the ring; guarded by its segment's mu
	used      atomic.Bool // since the table last thought of giving it up
}

// passed is a statement that the store has prepared for a client.
type passed struct {
	kind     syntax.StatementKind
	tables   []syntax.Name // whose rows it reads or writes
	keyspace string
	text     string               // of one about anything else
	system   bool                 // of the system's tables, which no door makes
	seen     atomic.Pointer[view] // the latest under which it is the store's
	series   atomic.Pointer[observe.Series]
}

// newPassed is the statement of a text that goes to the store.
func newPassed(keyspace, text string) *passed {
	h := syntax.Target(text)
	p := &passed{kind: h.Kind, keyspace: keyspace}
	if !ofRows(h.Kind) {
		p.text = text
		return p
	}
	p.system = true
	for n := range syntax.Tables(text) {
		p.system = p.system && strings.HasPrefix(cmp.Or(n.Keyspace, keyspace), "system")
		p.tables = append(p.tables, syntax.Name{Keyspace: strings.Clone(n.Keyspace), Name: strings.Clone(n.Name)})
	}
	return p
}

// passes says whether a statement that the store has prepared is still the store's. Its
// table may have become sharded, or gone.
func (x *schemas) passes(p *passed) bool {
	v := x.view.Load()
	if p.seen.Load() == v {
		return true
	}
	if !ofRows(p.kind) {
		h := syntax.Target(p.text)
		if v.namesCatalogue(h, p.text, p.keyspace) || !x.isStores(h, p.keyspace, p.text) {
			return false
		}
	}
	for _, n := range p.tables {
		if v.judge(syntax.Head{Kind: p.kind, Name: n}, p.keyspace) != ofStore {
			return false
		}
	}
	p.seen.Store(v)
	p.series.Store(x.r.seriesOf(p.kind, p.keyspace, p.tables))
	return true
}

// ClaimsID implements cqldoor.Router.
func (r *Router) ClaimsID(id []byte) (claimed bool, of *observe.Series) {
	k := r.registry.known.get(id)
	switch {
	case k == nil:
		return true, nil
	case k.statement != nil:
		return true, k.statement.series
	case k.passed == nil:
		return true, nil
	}
	claimed = !r.schema.passes(k.passed) || r.schema.lease.Over() && !k.passed.system
	return claimed, k.passed.series.Load()
}

// Spreads implements cqldoor.Router.
func (r *Router) Spreads(driver string) bool { return r.schema.nodes.mannerOf(driver) == noKeyIndexes }

// Prepared implements cqldoor.Router.
func (r *Router) Prepared(id []byte, keyspace, text string) { r.prepared(id, nil, keyspace, text) }

// prepared remembers a statement that is the store's under a view, which may be nil.
func (r *Router) prepared(id []byte, v *view, keyspace, text string) {
	p := newPassed(keyspace, text)
	p.seen.Store(v)
	p.series.Store(r.seriesOf(p.kind, keyspace, p.tables))
	size := len(p.text)
	for _, n := range p.tables {
		size += len(n.Keyspace) + len(n.Name) + 32
	}
	r.registry.known.put(&known{id: keyOf(id), passed: p, size: size})
}

// passedOn remembers the statement of a PREPARE that the router itself has sent on, under a
// view: what the store could prepare although no table of that name is known is the store's.
func (r *Router) passedOn(req *cqldoor.Request, v *view, keyspace, text string, resp wire.Message) {
	if req.Op != wire.OpPrepare || resp.Op != wire.OpResult {
		return
	}
	if _, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body); err == nil && wire.KindOf(body) == wire.ResultPrepared {
		if p, err := wire.ParsePrepared(req.Version, body); err == nil {
			r.prepared(p.ID, v, keyspace, text)
		}
	}
}

// keyOf is an id as it is looked up: those of other stores may have other lengths.
func keyOf(id []byte) [16]byte {
	if len(id) == 16 {
		return [16]byte(id)
	}
	return md5.Sum(id)
}

// newID is the id of a prepared statement, as Cassandra gives it.
func newID(keyspace, text string) [16]byte {
	if qualified(text) {
		keyspace = ""
	}
	h := md5.New()
	h.Write([]byte(keyspace))
	h.Write([]byte(text))
	var id [16]byte
	h.Sum(id[:0])
	return id
}

// qualified says whether a statement names the keyspace of all its tables.
func qualified(text string) bool {
	for n := range syntax.Tables(text) {
		if n.Keyspace == "" {
			return false
		}
	}
	return true
}

// knownBytes is how much the ids that a door knows may take, about: 100,000 statements
// and more. What was not used for long is given up, and is UNPREPARED.
const knownBytes = 32 << 20

const knownSegments = 16

// knownIDs are the ids that a door knows. It is read with every EXECUTE, and takes no
// lock there that another reader holds.
type knownIDs [knownSegments]knownSegment

type knownSegment struct {
	mu    sync.RWMutex
	limit int
	bytes int
	all   map[[16]byte]*known
	ring  []*known
	hand  int
	_     [64]byte // apart from the next in the cache
}

func newKnownIDs(limit int) *knownIDs {
	var t knownIDs
	for i := range t {
		t[i].limit, t[i].all = limit/knownSegments, map[[16]byte]*known{}
	}
	return &t
}

func (t *knownIDs) get(id []byte) *known {
	key := keyOf(id)
	s := &t[key[0]%knownSegments]
	s.mu.RLock()
	k := s.all[key]
	s.mu.RUnlock()
	if k != nil && !k.used.Load() {
		k.used.Store(true)
	}
	return k
}

// put adds an id, in the place of what it stood for before.
func (t *knownIDs) put(k *known) {
	const each = 250 // beside what has a length of its own
	k.size += each
	s := &t[k.id[0]%knownSegments]
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.all[k.id]; old != nil {
		s.bytes -= old.size
		k.at = old.at
		s.ring[k.at] = k
	} else {
		k.at = len(s.ring)
		s.ring = append(s.ring, k)
	}
	s.all[k.id] = k
	s.bytes += k.size
	for s.bytes > s.limit && len(s.ring) > 1 {
		s.hand %= len(s.ring)
		o := s.ring[s.hand]
		if o == k || o.used.Swap(false) {
			s.hand++
			continue
		}
		delete(s.all, o.id)
		s.bytes -= o.size
		last := s.ring[len(s.ring)-1]
		last.at, s.ring[s.hand] = s.hand, last
		s.ring = s.ring[:len(s.ring)-1]
	}
}

// held is how many ids are known, and the bytes that they are thought to take.
func (t *knownIDs) held() (n, bytes int) {
	for i := range t {
		s := &t[i]
		s.mu.RLock()
		n += len(s.all)
		bytes += s.bytes
		s.mu.RUnlock()
	}
	return n, bytes
}
