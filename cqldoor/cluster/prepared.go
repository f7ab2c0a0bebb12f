// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"container/list"
	"hash/maphash"
	"sync"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// statement is what must be prepared to get an id. Cassandra's ids are a hash of keyspace and text.
type statement struct {
	text     string
	keyspace string // the current keyspace when it was prepared; "": none
	said     uint64 // hash of the response to PREPARE without the id
}

// prepared remembers the most recently prepared statements, up to a number of bytes. It reads texts
// only after UNPREPARED and on lost connections, but routes for each EXECUTE.
type prepared struct {
	routes routes

	mu    sync.Mutex
	limit int
	bytes int
	byID  map[[16]byte]*list.Element
	order list.List // of *entry, latest first
}

type entry struct {
	id [16]byte
	statement
}

func (e *entry) size() int { return len(e.text) + len(e.keyspace) + 200 }

func newPrepared(limit int) *prepared {
	return &prepared{limit: limit, byID: make(map[[16]byte]*list.Element)}
}

func (p *prepared) put(id []byte, s statement) {
	if len(id) != 16 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.byID[[16]byte(id)]; ok {
		e.Value.(*entry).said = s.said
		p.order.MoveToFront(e)
		return
	}
	e := &entry{id: [16]byte(id), statement: s}
	p.byID[e.id] = p.order.PushFront(e)
	p.bytes += e.size()
	for p.bytes > p.limit && p.order.Len() > 1 {
		last := p.order.Remove(p.order.Back()).(*entry)
		delete(p.byID, last.id)
		p.routes.remove(last.id)
		p.bytes -= last.size()
	}
}

func (p *prepared) get(id []byte) (statement, bool) {
	if len(id) != 16 {
		return statement{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.byID[[16]byte(id)]
	if !ok {
		return statement{}, false
	}
	p.order.MoveToFront(e)
	return e.Value.(*entry).statement, true
}

// learner stands between a PREPARE and the receiver of its response.
type learner struct {
	prep    *prepared
	version wire.Version
	statement
	to  store.Receiver
	tag uint32
}

// learn returns a receiver for the response to a PREPARE. The receiver remembers the statement if
// the PREPARE succeeds. keyspace is the link's.
func (p *prepared) learn(v wire.Version, keyspace string, req wire.Message, to store.Receiver, tag uint32) store.Receiver {
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return to
	}
	m, err := wire.ParsePrepare(v, body)
	if err != nil {
		return to
	}
	l := &learner{prep: p, version: v, statement: statement{text: string(m.Text), keyspace: keyspace}, to: to, tag: tag}
	if m.Keyspace != nil {
		l.keyspace = string(m.Keyspace)
	}
	return l
}

func (l *learner) Receive(_ uint32, resp wire.Message) {
	if id, said, ok := preparedResult(resp); ok {
		s := l.statement
		s.said = said
		l.prep.put(id, s)
		l.prep.routes.learn(l.version, id, resp, s.text)
	}
	l.to.Receive(l.tag, resp)
}

func (l *learner) Flush() { l.to.Flush() }

// preparedID returns the id in a RESULT Prepared.
func preparedID(resp wire.Message) ([]byte, bool) {
	id, _, ok := preparedResult(resp)
	return id, ok
}

var saidSeed = maphash.MakeSeed()

// preparedResult returns the id in a RESULT Prepared and a hash of the rest: the bind markers and
// the result's columns.
func preparedResult(resp wire.Message) (id []byte, said uint64, ok bool) {
	if resp.Op != wire.OpResult {
		return nil, 0, false
	}
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil || wire.KindOf(body) != wire.ResultPrepared {
		return nil, 0, false
	}
	c := wire.NewCursor(body)
	c.Int()
	if id = c.ShortBytes(); c.Err() != nil {
		return nil, 0, false
	}
	return id, maphash.Bytes(saidSeed, body[4+2+len(id):]), true
}

// mayCure looks at an ERROR to a kept request. If it is an UNPREPARED for a known statement,
// mayCure returns the body of a PREPARE of the statement, and its stream, for the caller to send on
// this connection. The request keeps its own stream until it is sent again. The caller holds mu.
//
// A v4 PREPARE cannot name a keyspace. mayCure prepares a statement of another keyspace than the
// connection's all the same. If the statement names its table in full, as the door's own
// statements do, its id is the same. If not, the request gets UNPREPARED again, and the driver
// receives that.
func (c *conn) mayCure(h wire.Header, s *slot, body []byte) (id int16, prepare []byte, ok bool) {
	_, rest, err := wire.SplitPrefix(h.Op, h.Flags, body)
	if err != nil {
		return 0, nil, false
	}
	e, err := wire.ParseError(c.version, rest)
	if err != nil || e.Code != wire.CodeUnprepared {
		return 0, nil, false
	}
	st, ok := c.prep.get(e.ID)
	if !ok || c.ended.Load() {
		return 0, nil, false
	}
	m := wire.Prepare{Text: []byte(st.text)}
	if c.version >= wire.V5 && st.keyspace != "" && (c.pool == nil || st.keyspace != c.pool.options.Keyspace) {
		m.Keyspace = []byte(st.keyspace)
	}
	if id, ok = c.takeFree(); !ok { // s is stale from here on: slots may have moved
		return 0, nil, false
	}
	c.slots[h.Stream].cures++
	p := &c.slots[id]
	*p = slot{to: &cure{c: c, stream: h.Stream, flags: h.Flags, said: st.said, unprepared: append([]byte(nil), body...)},
		op: wire.OpPrepare, since: c.tick.Load()}
	c.inFlight.Add(1)
	return id, wire.AppendPrepare(nil, c.version, &m), true
}

// cure receives the response to the PREPARE and sends the request again.
type cure struct {
	c          *conn
	stream     int16
	flags      wire.Flags
	said       uint64 // the value of statement.said, as clients know it
	unprepared []byte // the answer if the statement cannot be prepared
}

func (u *cure) Receive(_ uint32, resp wire.Message) {
	c := u.c
	_, said, ok := preparedResult(resp)
	if said != u.said {
		// The table was altered. A client that knows the old columns learns the new ones only by
		// preparing again, as with Cassandra; v4 offers no other way.
		ok = false
	}
	c.mu.Lock()
	if int(u.stream) >= len(c.slots) {
		c.mu.Unlock() // the connection has ended and answered every request
		return
	}
	s := &c.slots[u.stream]
	if s.to == nil {
		// The door has given up the request meanwhile. The host has answered it (UNPREPARED), so no
		// further answer comes.
		if s.gone {
			s.gone = false
			c.orphans--
			c.release(u.stream)
		}
		c.mu.Unlock()
		return
	}
	if ok {
		s.since = c.tick.Load()
		again, body := wire.Header{Version: c.version, Flags: s.flags, Stream: u.stream, Op: s.op}, s.body
		c.mu.Unlock()
		// The stream is not free until the host answers. So nothing changes the body, even if the
		// door gives up the request.
		c.t.Append(again, body)
		return
	}
	to, tag := s.to, s.tag
	c.release(u.stream)
	c.mu.Unlock()
	c.left()
	to.Receive(tag, wire.Message{Op: wire.OpError, Flags: u.flags, Body: u.unprepared})
	to.Flush()
}

func (u *cure) Flush() { u.c.t.Flush() }
