// SPDX-License-Identifier: Apache-2.0

package budget

import "context"

// Client is whose requests take turns with those of other clients: a connection.
type Client struct {
	of          *Budget
	short, long line
}

// Client makes a client of the budget; of a nil budget, nil, which takes nothing.
func (b *Budget) Client() *Client {
	if b == nil {
		return nil
	}
	return &Client{of: b}
}

// Hold counts bytes that the client leaves unread, or, where they are negative, has
// read. It does not wait.
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

// Account is what one place holds of a request. The zero value, and that of a context
// without a client, takes nothing and is never refused. It is not safe for concurrent
// use; several accounts of one request are.
type Account struct {
	request *request
	bytes   int64
}

// On reports whether what the account takes is counted.
func (a *Account) On() bool { return a.request != nil }

// Bytes is what the account holds.
func (a *Account) Bytes() int64 { return a.bytes }

// Try takes bytes if there is room for them now and nobody is ahead.
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

// Queue calls start(nil) when the account has the bytes, perhaps before Queue returns.
// Otherwise it calls start with why it has not: ErrNoRoom, or the context's error. The
// account is not to be used until then. start returns at once.
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
	b.settle() // what was given back between is not looked at otherwise
}

// Take waits until the account has the bytes. With 0 it waits until what was taken by
// Add has its room.
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

// Shrink gives back what the account holds beyond so many bytes.
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

// Close gives everything back. The account is not used after it.
func (a *Account) Close() {
	a.Shrink(0)
	a.request = nil
}
