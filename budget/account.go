// SPDX-License-Identifier: Apache-2.0

package budget

import "context"

// Client is a connection, for example. The requests of different clients take turns.
type Client struct {
	of          *Budget
	short, long line
}

// Client makes a client of the budget. A client of a nil budget is nil and takes nothing.
func (b *Budget) Client() *Client {
	if b == nil {
		return nil
	}
	return &Client{of: b}
}

// Hold counts bytes that the client leaves unread or, if bytes is negative, has read. It does not
// wait.
func (c *Client) Hold(bytes int) {
	if c == nil {
		return
	}
	b := c.of
	b.queued.Add(int64(bytes))
	b.mu.Lock()
	b.long += int64(bytes)
	b.mu.Unlock()
	if bytes < 0 {
		b.settle()
	}
}

// Account is what one place holds for a request. The zero value, and an account of a context
// without a client, take nothing and are never refused. An Account is not safe for concurrent
// use, but several accounts of one request are.
type Account struct {
	request *request
	bytes   int64
}

// On reports whether the account is counted.
func (a *Account) On() bool { return a.request != nil }

// Bytes returns what the account holds.
func (a *Account) Bytes() int64 { return a.bytes }

// Try takes bytes if there is room now and nobody waits in front.
func (a *Account) Try(bytes int64) bool {
	r := a.request
	if r == nil {
		return true
	}
	b := r.of
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.try(a, bytes)
}

// try is Try. The caller holds mu.
func (b *Budget) try(a *Account, bytes int64) bool {
	r := a.request
	if !b.eldest(r, bytes) {
		short := b.staysShort(r, bytes)
		behind := short && b.shortQueue.waiting > 0 || !short && (b.growing.Len() > 0 || r.at == nil && b.longQueue.waiting > 0)
		if behind || !b.fits(r, bytes) {
			return false
		}
	}
	b.hold(r, bytes)
	a.bytes += bytes
	return true
}

// Queue calls start(nil) when the account has the bytes, perhaps before Queue returns. If the
// account cannot get them, Queue calls start with the reason: ErrNoRoom, or the context's error.
// The account must not be used before that. start returns at once.
func (a *Account) Queue(ctx context.Context, bytes int64, start func(error)) {
	r := a.request
	if r == nil {
		start(nil)
		return
	}
	if err := ctx.Err(); err != nil {
		start(err)
		return
	}
	b := r.of
	b.mu.Lock()
	if b.try(a, bytes) {
		b.mu.Unlock()
		start(nil)
		return
	}
	if r.waited >= b.patience {
		b.mu.Unlock()
		b.refused.Add(1)
		start(ErrNoRoom)
		return
	}
	b.wait(ctx, a, bytes, start)
	b.mu.Unlock()
	b.settle() // bytes may have been returned in between
}

// Take waits until the account has the bytes. Take(0) waits until there is room for what Add has
// taken.
func (a *Account) Take(ctx context.Context, bytes int64) error {
	if a.Try(bytes) {
		return nil
	}
	done := make(chan error, 1)
	a.Queue(ctx, bytes, func(err error) { done <- err })
	return <-done
}

// Add takes bytes that are in memory already. It does not wait.
func (a *Account) Add(bytes int64) {
	if r := a.request; r != nil {
		r.of.mu.Lock()
		r.of.hold(r, bytes)
		a.bytes += bytes
		r.of.mu.Unlock()
	}
}

// Shrink returns what the account holds beyond so many bytes.
func (a *Account) Shrink(to int64) {
	r := a.request
	if r == nil || a.bytes <= to {
		return
	}
	r.of.mu.Lock()
	r.of.giveBack(r, a.bytes-to)
	a.bytes = to
	r.of.mu.Unlock()
	r.of.settle()
}

// Close returns everything. The account must not be used afterwards.
func (a *Account) Close() {
	a.Shrink(0)
	a.request = nil
}
