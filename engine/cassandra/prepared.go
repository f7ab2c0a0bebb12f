// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"crypto/md5"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// prepared is a prepared statement.
type prepared struct {
	id       [md5.Size]byte
	text     string
	keyspace string
	resultID [md5.Size]byte       // id of its result's columns when it was prepared
	plan     atomic.Pointer[plan] // nil if the schema has changed since
	weight   int                  // of its plan, if the cache counts that
	used     atomic.Bool          // since the cache last looked for a statement to drop
}

// current returns the plan under the present schema. If the statement is no longer valid, the
// error asks the client to prepare it again.
func (p *prepared) current(e *Engine) (*plan, error) {
	s := e.state.Load()
	if have := p.plan.Load(); have != nil && have.state == s {
		return have, nil
	}
	n, err := newPlan(s, p.text, p.keyspace)
	if err != nil {
		e.plans.forget(p.id)
		return nil, unprepared(p.id[:])
	}
	p.plan.Store(n)
	e.plans.keep(p)
	return n, nil
}

func unprepared(id []byte) error {
	e := wire.Errorf(wire.CodeUnprepared, "Prepared query with ID %x not found (either the query was not prepared on this host "+
		"(maybe the host has been restarted?) or you have prepared too many queries and it has been evicted from the internal cache)", id)
	e.ID = append([]byte(nil), id...)
	return e
}

// planCache holds the prepared statements by id. It is bounded, and drops statements that were
// not used for long.
type planCache struct {
	mu   sync.RWMutex
	all  map[[md5.Size]byte]*prepared
	ring []*prepared // nil: a dropped statement's slot
	hand int

	texts int // bytes of all texts

	long      []*prepared // with a plan that counts, the oldest first
	longTexts int         // their weights
}

const (
	// longText is the weight from which a statement's plan counts: the length of its text. A plan takes
	// some 40 times that. It also has the description of the result's columns, which can be far longer than
	// the text.
	longText    = 16 << 10
	timesAsLong = 40

	// mostLongTexts is the weight of all plans that count and are kept. A plan that is not
	// kept is made again when its statement is executed. mostTexts is the length of all texts.
	mostLongTexts = 2 << 20
	mostTexts     = 64 << 20
)

// keep keeps the plan of a statement, and drops older ones if the long ones take too much memory.
func (c *planCache) keep(p *prepared) {
	weight := len(p.text)
	if plan := p.plan.Load(); plan != nil {
		weight += plan.described / timesAsLong
	}
	if weight < longText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.long, p) {
		return
	}
	c.long = append(c.long, p)
	p.weight = weight
	c.longTexts += weight
	for c.longTexts > mostLongTexts && len(c.long) > 1 {
		old := c.long[0]
		c.long = slices.Delete(c.long, 0, 1)
		c.longTexts -= old.weight
		old.plan.Store(nil)
	}
}

func newPlanCache(bound int) *planCache {
	return &planCache{all: map[[md5.Size]byte]*prepared{}, ring: make([]*prepared, 0, bound)}
}

// get returns a statement, or nil.
func (c *planCache) get(id []byte) *prepared {
	if len(id) != md5.Size {
		return nil
	}
	c.mu.RLock()
	p := c.all[[md5.Size]byte(id)]
	c.mu.RUnlock()
	if p != nil && !p.used.Load() {
		p.used.Store(true)
	}
	return p
}

// add adds a statement unless it is there already, and returns the one to use.
func (c *planCache) add(p *prepared) *prepared {
	p = c.insert(p)
	c.keep(p)
	return p
}

func (c *planCache) insert(p *prepared) *prepared {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.all[p.id]; have != nil {
		have.plan.Store(p.plan.Load())
		return have
	}
	for c.texts += len(p.text); c.texts > mostTexts && len(c.all) > 0; c.hand = (c.hand + 1) % len(c.ring) {
		if old := c.ring[c.hand]; old != nil && !old.used.Swap(false) {
			c.drop(c.hand)
		}
	}
	c.all[p.id] = p
	if len(c.ring) < cap(c.ring) {
		c.ring = append(c.ring, p)
		return p
	}
	for {
		old := c.ring[c.hand]
		if old == nil || !old.used.Swap(false) {
			if old != nil {
				c.drop(c.hand)
			}
			c.ring[c.hand] = p
			c.hand = (c.hand + 1) % len(c.ring)
			return p
		}
		c.hand = (c.hand + 1) % len(c.ring)
	}
}

// renew drops the plans under other states of the schema. Otherwise a statement that is no longer
// executed would keep a whole old state in memory. A plan that is being made at the same time is
// dropped at the next change.
func (c *planCache) renew(s *state) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, p := range c.all {
		if have := p.plan.Load(); have != nil && have.state != s {
			p.plan.CompareAndSwap(have, nil)
		}
	}
}

func (c *planCache) forget(id [md5.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.all[id]
	if p == nil {
		return
	}
	c.drop(slices.Index(c.ring, p))
}

// drop drops the statement in a slot. The caller holds mu.
func (c *planCache) drop(slot int) {
	p := c.ring[slot]
	delete(c.all, p.id)
	c.texts -= len(p.text)
	c.ring[slot] = nil
}

// prepare serves a PREPARE.
func (c *call) prepare(body []byte) (outcome, error) {
	req, err := wire.ParsePrepare(c.version, body)
	if err != nil {
		return answered, err
	}
	keyspace := c.link.keyspace
	if req.Keyspace != nil {
		keyspace = string(req.Keyspace)
	}
	plan, err := newPlan(c.engine.state.Load(), string(req.Text), keyspace)
	if err != nil {
		return answered, err
	}
	p := &prepared{id: plan.id(), text: plan.text, keyspace: keyspace}
	result, resultID := plan.result(c.version)
	p.resultID = resultID
	p.plan.Store(plan)
	c.engine.plans.add(p)
	m := wire.Prepared{ID: p.id[:], MetadataID: resultID[:], Variables: plan.variables(c.version), Result: result}
	for _, i := range plan.keyBinds {
		m.KeyIndexes = append(m.KeyIndexes, uint16(i))
	}
	c.buffer = wire.AppendPrepared(c.buffer[:0], c.version, &m)
	c.answer(wire.OpResult, c.buffer)
	return answered, nil
}
