// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"sync"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// What a read holds is taken from the budget of the request's context, where it has one
// (see package budget): what is likely to come before it is asked of the shards, the
// result as it grows, and what waits to be put in order. Short reads are not counted.

const (
	// shortRead is how many bytes are not counted.
	shortRead = 64 << 10

	// copied is how many times a result is counted: a copy of it waits for the client
	// before this one is let go of.
	copied = 2
)

var errNoRoom = wire.Errorf(wire.CodeOverloaded, "evenkeel: %v", budget.ErrNoRoom)

// memory is what one request holds. It is safe for concurrent use, but for close, which
// comes after every reserve.
type memory struct {
	ctx context.Context

	mu     sync.Mutex
	all    map[*holding]struct{} // that have not been given back
	closed bool
}

// holding is what one page of fetched rows, or one result, holds. nil holds nothing.
type holding struct {
	of      *memory
	account budget.Account
}

// newMemory is nil where the context has no budget.
func newMemory(ctx context.Context) *memory {
	if !budget.Counts(ctx) {
		return nil
	}
	return &memory{ctx: ctx, all: map[*holding]struct{}{}}
}

// open makes a holding where there is none. It is false where nothing is counted.
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

// close gives back what no holding has given back.
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

// reserve has a holding hold at least so many bytes. It waits for room.
func (m *memory) reserve(h **holding, bytes int) error {
	if bytes <= shortRead || !m.open(h) {
		return nil
	}
	more := int64(bytes) - (*h).account.Bytes()
	if more <= 0 {
		return nil
	}
	err := (*h).account.Take(m.ctx, more)
	if errors.Is(err, budget.ErrNoRoom) {
		return errNoRoom
	}
	return err
}

// add has a holding hold at least so many bytes, which are there already.
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

// shrink gives back what a holding holds beyond so many bytes.
func (h *holding) shrink(to int) {
	h.still(func(a *budget.Account) { a.Shrink(int64(to)) })
}

// close gives back all that a holding holds.
func (h *holding) close() {
	h.still(func(a *budget.Account) {
		a.Close()
		delete(h.of.all, h)
	})
}

// still calls f with the account of a holding that has not been given back.
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
