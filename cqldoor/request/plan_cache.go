// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// gaveUp reports whether an error is the store's UNPREPARED for a physical statement. If so, it forgets the
// statement's ids. The door then prepares the statement again when it next needs it.
func (r *PlanCache) gaveUp(err error) bool {
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != wire.CodeUnprepared {
		return false
	}
	found := false
	r.Physicals.each(func(p *Physical) {
		if n := p.Named.Load(); n != nil && string(n.Statement) == string(e.ID) {
			p.Named.CompareAndSwap(n, nil)
			found = true
		}
	})
	return found
}

// PlanCache holds planned and prepared statements. Each kind is bounded. The cache drops entries first that
// were not used for a long time.
type PlanCache struct {
	Known     *knownIDs                   // prepared by clients
	Texts     *lru[[16]byte, *Statement]  // sent by clients as text, by id
	Physicals *lru[string, *Physical]     // by text
	widths    *lru[string, *atomic.Int64] // size of a row in bytes, by its selection; 0: not known
}

// NewPlanCache returns an empty cache.
func NewPlanCache() *PlanCache {
	text := func(_ [16]byte, s *Statement) int { return statementBytes(s.Text) }
	physicalText := func(text string, _ *Physical) int { return len(text) }
	return &PlanCache{newKnownIDs(knownBytes), newLRU[[16]byte, *Statement](1_000).bounded(knownBytes, text),
		newLRU[string, *Physical](10_000).bounded(knownBytes, physicalText), newLRU[string, *atomic.Int64](10_000)}
}

// statementBytes returns an estimate of the bytes that a planned statement takes. A long statement takes
// some 40 times its text.
func statementBytes(text string) int { return 4*len(text) + 1000 + 36*max(0, len(text)-longStatement) }

// longStatement is a length in bytes. The text of a statement that is not longer consists mostly of names.
const longStatement = 4 << 10

// Prepared remembers a statement that a client has prepared.
func (r *PlanCache) Prepared(s *Statement) {
	r.Known.Put(&Known{ID: s.ID, Statement: s, Size: statementBytes(s.Text)})
}

// Physical returns the entry of a physical statement. It adds one if there is none.
func (r *PlanCache) Physical(text string) *Physical {
	return r.Physicals.getOr(text, func() *Physical { return &Physical{} })
}

// Width returns the place where the cache keeps the size in bytes of a row of a selection.
func (r *PlanCache) Width(selection string) *atomic.Int64 {
	return r.widths.getOr(selection, func() *atomic.Int64 { return new(atomic.Int64) })
}
