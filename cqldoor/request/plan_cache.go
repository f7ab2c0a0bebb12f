// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// gaveUp says whether an error is the store's UNPREPARED for a physical statement. The statement
// is then prepared again when it is next needed.
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

// PlanCache holds planned and prepared statements. Each kind is bounded; the least recently used
// entries are dropped first.
type PlanCache struct {
	Known     *knownIDs                   // prepared by clients
	Texts     *lru[[16]byte, *Statement]  // sent by clients as text, by id
	Physicals *lru[string, *Physical]     // by text
	widths    *lru[string, *atomic.Int64] // size of a row, by what is selected of it; 0: not known
}

// NewPlanCache returns an empty cache.
func NewPlanCache() *PlanCache {
	text := func(_ [16]byte, s *Statement) int { return statementBytes(s.Text) }
	physicalText := func(text string, _ *Physical) int { return len(text) }
	return &PlanCache{newKnownIDs(knownBytes), newLRU[[16]byte, *Statement](1_000).bounded(knownBytes, text),
		newLRU[string, *Physical](10_000).bounded(knownBytes, physicalText), newLRU[string, *atomic.Int64](10_000)}
}

// statementBytes returns about how many bytes a planned statement takes: some 40 times its text if that
// is long.
func statementBytes(text string) int { return 4*len(text) + 1000 + 36*max(0, len(text)-longStatement) }

// longStatement is the length up to which most of a statement's text is names.
const longStatement = 4 << 10

// Prepared remembers a statement that a client has prepared.
func (r *PlanCache) Prepared(s *Statement) {
	r.Known.Put(&Known{ID: s.ID, Statement: s, Size: statementBytes(s.Text)})
}

// Physical returns the entry of a physical statement.
func (r *PlanCache) Physical(text string) *Physical {
	return r.Physicals.getOr(text, func() *Physical { return &Physical{} })
}

// Width returns the size of a row of a selection.
func (r *PlanCache) Width(selection string) *atomic.Int64 {
	return r.widths.getOr(selection, func() *atomic.Int64 { return new(atomic.Int64) })
}
