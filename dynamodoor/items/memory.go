// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"
	"sync"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// A Query of several shards counts the rows that it fetches, and the row that it decodes, against
// the budget of the request's context (package budget).

// shortRead is the number of bytes that are not counted.
const shortRead = 64 << 10

// memory is what one Query holds. It is safe for concurrent use.
type memory struct {
	mu      sync.Mutex
	rows    budget.Account
	decoded budget.Account
	short   int64 // bytes of rows that are not counted
}

func newMemory(ctx context.Context) *memory {
	return &memory{rows: budget.Open(ctx), decoded: budget.Open(ctx)}
}

// fetched counts bytes that were fetched.
func (m *memory) fetched(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.short += int64(bytes); m.short > shortRead {
		m.rows.Add(m.short - m.rows.Bytes())
	}
}

// room waits until there is room for what was fetched.
func (m *memory) room(ctx context.Context) error {
	m.mu.Lock()
	counted := m.rows.Bytes() > 0
	m.mu.Unlock()
	if !counted {
		return nil
	}
	waits := budget.Open(ctx)
	defer waits.Close()
	return noRoom(waits.Take(ctx, 0))
}

// drop returns the memory of the fetched rows.
func (m *memory) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.short = 0
	m.rows.Shrink(0)
}

// try reports whether there is room to decode a row of so many bytes.
func (m *memory) try(bytes int) bool {
	more := int64(bytes) - m.decoded.Bytes()
	return bytes <= shortRead || more <= 0 || m.decoded.Try(more)
}

// decode waits for room to decode a row of so many bytes.
func (m *memory) decode(ctx context.Context, bytes int) error {
	if m.try(bytes) {
		return nil
	}
	return noRoom(m.decoded.Take(ctx, int64(bytes)-m.decoded.Bytes()))
}

// close returns all memory.
func (m *memory) close() {
	m.rows.Close()
	m.decoded.Close()
}

// noRoom returns an error as clients see it.
func noRoom(err error) error {
	if errors.Is(err, budget.ErrNoRoom) {
		return exception.New(exception.ServiceUnavailable, "%s", err)
	}
	return err
}
