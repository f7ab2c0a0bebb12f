// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"context"
	"crypto/md5"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/observe"
)

// A prepared id is the MD5 sum of a text, so anybody can compute the id of any text. It could be a
// statement that the door prepared for itself, which writes into any shard, or one that a client
// prepared directly at the store. The gate cannot judge a text that it does not see. So a door
// executes only ids of statements that some client has prepared at it. It answers UNPREPARED to all
// others, and the driver prepares them through the gate.
//
// It does not matter which client prepared the statement. The store checks the rights of the
// client that executes it, as Cassandra does. Drivers prepare on one connection and execute on
// all. They prepare again at a door that has not seen the statement, which costs one PREPARE for
// each statement and door.
//
// The ids are those that Cassandra gives, also for statements on sharded tables. So a statement
// keeps its id when its table is dropped and created again, sharded or not. Drivers do not accept
// another id for a statement that they prepare again.

// Known is what an id stands for. One of the first three fields is set.
type Known struct {
	ID        [16]byte
	Statement *Statement                                            // a statement on sharded tables
	Schema    func(ctx context.Context, req *cqldoor.Request) error // executes a statement about the schema
	Passed    *Passed                                               // a statement that the store handles
	Size      int
	at        int         // index in the ring; guarded by mu of its segment
	used      atomic.Bool // since the table last looked for an entry to drop
}

// Passed is a statement that the store has prepared for a client.
type Passed struct {
	kind     syntax.StatementKind
	tables   []syntax.Name // tables whose rows it reads or writes
	keyspace string
	text     string                      // text of a statement about anything else
	System   bool                        // it is on system tables, which no door creates
	seen     atomic.Pointer[tables.View] // the latest view under which the store handles it
	Series   atomic.Pointer[observe.Series]
}

// newPassed returns the statement of a text that goes to the store.
func newPassed(keyspace, text string) *Passed {
	h := syntax.Target(text)
	p := &Passed{kind: h.Kind, keyspace: keyspace}
	if !tables.OnRows(h.Kind) {
		p.text = text
		return p
	}
	p.System = true
	for n := range syntax.Tables(text) {
		p.System = p.System && strings.HasPrefix(cmp.Or(n.Keyspace, keyspace), "system")
		p.tables = append(p.tables, syntax.Name{Keyspace: strings.Clone(n.Keyspace), Name: strings.Clone(n.Name)})
	}
	return p
}

// Passes says whether the store still handles a statement that it has prepared. The statement's
// table may have been sharded or dropped meanwhile.
func (x *Relays) Passes(p *Passed) bool {
	v := x.View.Load()
	if p.seen.Load() == v {
		return true
	}
	if !tables.OnRows(p.kind) {
		h := syntax.Target(p.text)
		if v.NamesCatalogue(h, p.text, p.keyspace) || !v.PassesOn(h, p.keyspace, p.text) {
			return false
		}
	}
	for _, n := range p.tables {
		if v.Judge(syntax.Head{Kind: p.kind, Name: n}, p.keyspace) != tables.ToStore {
			return false
		}
	}
	p.seen.Store(v)
	p.Series.Store(seriesOf(x.Requests, p.kind, p.keyspace, p.tables))
	return true
}

// keyOf returns an id as a map key. Ids of other stores may have other lengths.
func keyOf(id []byte) [16]byte {
	if len(id) == 16 {
		return [16]byte(id)
	}
	return md5.Sum(id)
}

// NewID returns the id of a prepared statement, as Cassandra computes it.
func NewID(keyspace, text string) [16]byte {
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

// qualified says whether a statement gives the keyspace of all its tables.
func qualified(text string) bool {
	for n := range syntax.Tables(text) {
		if n.Keyspace == "" {
			return false
		}
	}
	return true
}

// knownBytes is about how many bytes the known ids may take: 100,000 statements and more. Ids
// that were not used for long are dropped and then answered with UNPREPARED.
const knownBytes = 32 << 20

const knownSegments = 16

// knownIDs holds the ids that a door knows. Every EXECUTE reads it without taking a lock that
// another reader holds.
type knownIDs [knownSegments]knownSegment

type knownSegment struct {
	mu    sync.RWMutex
	limit int
	bytes int
	all   map[[16]byte]*Known
	ring  []*Known
	hand  int
	_     [64]byte // keeps segments in different cache lines
}

func newKnownIDs(limit int) *knownIDs {
	var t knownIDs
	for i := range t {
		t[i].limit, t[i].all = limit/knownSegments, map[[16]byte]*Known{}
	}
	return &t
}

// Get returns what an id stands for, or nil if the door does not know the id.
func (t *knownIDs) Get(id []byte) *Known {
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

// Put adds an id. It replaces what the id stood for before.
func (t *knownIDs) Put(k *Known) {
	const each = 250 // plus the parts with a length of their own
	k.Size += each
	s := &t[k.ID[0]%knownSegments]
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.all[k.ID]; old != nil {
		s.bytes -= old.Size
		k.at = old.at
		s.ring[k.at] = k
	} else {
		k.at = len(s.ring)
		s.ring = append(s.ring, k)
	}
	s.all[k.ID] = k
	s.bytes += k.Size
	for s.bytes > s.limit && len(s.ring) > 1 {
		s.hand %= len(s.ring)
		o := s.ring[s.hand]
		if o == k || o.used.Swap(false) {
			s.hand++
			continue
		}
		delete(s.all, o.ID)
		s.bytes -= o.Size
		last := s.ring[len(s.ring)-1]
		last.at, s.ring[s.hand] = s.hand, last
		s.ring = s.ring[:len(s.ring)-1]
	}
}

// Held returns how many ids are known, and an estimate of their bytes.
func (t *knownIDs) Held() (n, bytes int) {
	for i := range t {
		s := &t[i]
		s.mu.RLock()
		n += len(s.all)
		bytes += s.bytes
		s.mu.RUnlock()
	}
	return n, bytes
}

// Unprepared is the error for a statement that the client must prepare again.
func Unprepared(id []byte) error {
	return &wire.Error{Code: wire.CodeUnprepared, ID: append([]byte(nil), id...),
		Message: "Prepared query with ID " + hexID(id) + " not found (either the query was not prepared on this host (maybe the host has been restarted?) or you have prepared too many queries and it has been evicted from the internal cache)"}
}
