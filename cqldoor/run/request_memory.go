// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"sync"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// A request takes its memory from the budget in its context, if there is one (package budget). A read takes it for
// rows before they are requested, by their probable size; for the result as it grows; and for rows that wait to be
// sorted. Short reads are not counted.

const (
	// shortRead is how many bytes of a read are not counted.
	shortRead = 64 << 10

	// copied is how many times the result counts, because a copy waits for the client before the
	// original is freed.
	copied = 2
)

// errNoRoom refuses a request for which there is no memory left.
var errNoRoom = wire.Errorf(wire.CodeOverloaded, "evenkeel: %v", budget.ErrNoRoom)

// memory is the memory of one request. It is safe for concurrent use, except that close comes
// after every reserve.
type memory struct {
	ctx context.Context

	mu     sync.Mutex
	all    map[*holding]struct{} // not returned yet
	closed bool
}

// holding is the memory of one page of fetched rows, or of one result. nil holds nothing.
type holding struct {
	of      *memory
	account budget.Account
}

// newMemory returns nil if the context has no budget.
func newMemory(ctx context.Context) *memory {
	if !budget.Counts(ctx) {
		return nil
	}
	return &memory{ctx: ctx, all: map[*holding]struct{}{}}
}

// made is the memory of the values that functions make for a request. It implements eval.Env's
// Memory, for one goroutine.
type made struct {
	ctx     context.Context
	account budget.Account
}

// Hold waits until there is room for so many bytes in total.
func (m *made) Hold(bytes int) error {
	if !m.account.On() {
		m.account = budget.Open(m.ctx)
	}
	return taken(&m.account, m.ctx, bytes)
}

// close returns the memory.
func (m *made) close() { m.account.Close() }

// unwaiting is the memory of values for a request that is evaluated where its connection is read. There
// the door waits for nothing, so it makes no long values. errWaits sends the request to a goroutine
// of its own, which may wait.
type unwaiting struct{}

var errWaits = errors.New("request: the request waits for memory")

// Hold implements eval.Env's Memory.
func (unwaiting) Hold(int) error { return errWaits }

// taken waits until an account has at least so many bytes.
func taken(a *budget.Account, ctx context.Context, bytes int) error {
	more := int64(bytes) - a.Bytes()
	if more <= 0 {
		return nil
	}
	err := a.Take(ctx, more)
	if errors.Is(err, budget.ErrNoRoom) {
		return errNoRoom
	}
	return err
}

// open makes a holding if there is none. It returns false if memory is not counted.
func (m *memory) open(h **holding) bool {
	if m == nil {
		return false
	}
	if *h != nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	*h = &holding{of: m, account: budget.Open(m.ctx)}
	m.all[*h] = struct{}{}
	return true
}

// close returns the memory of all open holdings.
func (m *memory) close() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for h := range m.all {
		h.account.Close()
	}
	m.all, m.closed = nil, true
}

// reserve waits until a holding has at least so many bytes.
func (m *memory) reserve(h **holding, bytes int) error {
	if bytes <= shortRead || !m.open(h) {
		return nil
	}
	return taken(&(*h).account, m.ctx, bytes)
}

// add makes a holding count at least so many bytes that are in memory already.
func (m *memory) add(h **holding, bytes int) {
	if bytes <= shortRead || !m.open(h) {
		return
	}
	(*h).still(func(a *budget.Account) {
		if more := int64(bytes) - a.Bytes(); more > 0 {
			a.Add(more)
		}
	})
}

// shrink returns what a holding has beyond so many bytes.
func (h *holding) shrink(to int) {
	h.still(func(a *budget.Account) { a.Shrink(int64(to)) })
}

// close returns all memory of a holding.
func (h *holding) close() {
	h.still(func(a *budget.Account) {
		a.Close()
		delete(h.of.all, h)
	})
}

// still calls f with the account of a holding that is still open.
func (h *holding) still(f func(*budget.Account)) {
	if h == nil {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if _, ok := h.of.all[h]; ok {
		f(&h.account)
	}
}
