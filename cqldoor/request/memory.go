// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"sync"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// A request takes its memory from the budget in its context, if there is one (package budget). A read takes memory
// for rows before it requests them, by their probable size. It also takes memory for the result as the result grows,
// and for rows that wait to be sorted. The door does not count short reads.

const (
	// ShortRead is the number of bytes up to which the door does not count a holding.
	ShortRead = 64 << 10

	// CopyFactor is how many times the door counts a result: a copy of the result waits for the client before
	// the door frees the original.
	CopyFactor = 2
)

// ErrNoRoom refuses a request for which the budget has no memory left.
var ErrNoRoom = wire.Errorf(wire.CodeOverloaded, "evenkeel: %v", budget.ErrNoRoom)

// Memory is the memory of one request. It is safe for concurrent use, except that Close must come
// after every Reserve.
type Memory struct {
	ctx context.Context

	mu     sync.Mutex
	all    map[*Holding]struct{} // not returned yet
	closed bool
}

// Holding is the memory of one page of fetched rows, or of one result. A nil Holding holds nothing.
type Holding struct {
	of      *Memory
	account budget.Account
}

// NewMemory returns the memory of a request, or nil if its context has no budget.
func NewMemory(ctx context.Context) *Memory {
	if !budget.Counts(ctx) {
		return nil
	}
	return &Memory{ctx: ctx, all: map[*Holding]struct{}{}}
}

// ValueMemory is the memory of the values that functions make for a request. It implements eval.Env's
// Memory, for one goroutine.
type ValueMemory struct {
	Ctx     context.Context
	account budget.Account
}

// Hold waits until the values have room for so many bytes in total. It returns an error if there is no room.
func (m *ValueMemory) Hold(bytes int) error {
	if !m.account.On() {
		m.account = budget.Open(m.Ctx)
	}
	return taken(&m.account, m.Ctx, bytes)
}

// Close gives back the memory.
func (m *ValueMemory) Close() { m.account.Close() }

// NoWait is the memory of values for a request that the door evaluates in the goroutine that reads the
// connection. That goroutine waits for nothing, so it makes no long values.
type NoWait struct{}

// ErrWaits reports that a request must wait for memory. The door then serves it in a goroutine of its own.
var ErrWaits = errors.New("request: the request waits for memory")

// Hold implements eval.Env's Memory. It returns ErrWaits.
func (NoWait) Hold(int) error { return ErrWaits }

// taken waits until an account has at least so many bytes.
func taken(a *budget.Account, ctx context.Context, bytes int) error {
	more := int64(bytes) - a.Bytes()
	if more <= 0 {
		return nil
	}
	err := a.Take(ctx, more)
	if errors.Is(err, budget.ErrNoRoom) {
		return ErrNoRoom
	}
	return err
}

// open opens a holding if *h is nil. It returns false if there is no budget or if m is closed.
func (m *Memory) open(h **Holding) bool {
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
	*h = &Holding{of: m, account: budget.Open(m.ctx)}
	m.all[*h] = struct{}{}
	return true
}

// Close gives back the memory of all open holdings.
func (m *Memory) Close() {
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

// Reserve waits until a holding has at least so many bytes. It returns an error if there is no room.
func (m *Memory) Reserve(h **Holding, bytes int) error {
	if bytes <= ShortRead || !m.open(h) {
		return nil
	}
	return taken(&(*h).account, m.ctx, bytes)
}

// Add makes a holding count at least so many bytes. They are in memory already, so Add does not wait.
func (m *Memory) Add(h **Holding, bytes int) {
	if bytes <= ShortRead || !m.open(h) {
		return
	}
	(*h).still(func(a *budget.Account) {
		if more := int64(bytes) - a.Bytes(); more > 0 {
			a.Add(more)
		}
	})
}

// Shrink gives back the bytes that a holding has beyond to.
func (h *Holding) Shrink(to int) {
	h.still(func(a *budget.Account) { a.Shrink(int64(to)) })
}

// Close gives back all memory of a holding.
func (h *Holding) Close() {
	h.still(func(a *budget.Account) {
		a.Close()
		delete(h.of.all, h)
	})
}

// still calls f with the account of a holding if the holding is still open.
func (h *Holding) still(f func(*budget.Account)) {
	if h == nil {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if _, ok := h.of.all[h]; ok {
		f(&h.account)
	}
}
