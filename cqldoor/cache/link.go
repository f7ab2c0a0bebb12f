// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// link is a link to the store with the cache in front.
type link struct {
	c       *Cache
	inner   store.Link
	options store.LinkOptions
}

// forwarder is a link whose store can forward.
type forwarder struct {
	*link
	inner store.Forwarder
}

// Close implements store.Link.
func (l *link) Close() { l.inner.Close() }

// Pace implements store.Pacer.
func (l *link) Pace(begin bool) {
	if p, ok := l.inner.(store.Pacer); ok {
		p.Pace(begin)
	}
}

// keyspace returns the keyspace of unqualified names in a request.
func (l *link) keyspace(p *wire.Params) string {
	if p.Has(wire.QueryKeyspace) {
		return string(p.Keyspace)
	}
	return l.options.Keyspace
}

// taking takes the response to a caller's request.
type taking interface {
	take(resp wire.Message) // as store.Receiver.Receive
	flush()
}

// callback is the reply function of Send.
type callback func(wire.Message)

func (f callback) take(resp wire.Message) { f(resp) }
func (callback) flush()                   {}

// receiver is the receiver of Forward.
type receiver struct {
	to  store.Receiver
	tag uint32
}

func (r receiver) take(resp wire.Message) { r.to.Receive(r.tag, resp) }
func (r receiver) flush()                 { r.to.Flush() }

// Send implements store.Link.
func (l *link) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	seen, done := l.before(ctx, req, callback(reply), func(ctx context.Context, seen *seen) {
		l.inner.Send(ctx, req, func(resp wire.Message) { seen.Receive(0, resp); seen.Flush() })
	})
	switch {
	case done:
	case seen == nil:
		l.inner.Send(ctx, req, reply)
	default:
		l.inner.Send(ctx, req, func(resp wire.Message) { seen.Receive(0, resp); seen.Flush() })
	}
}

// Forward implements store.Forwarder.
func (f *forwarder) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	seen, done := f.before(ctx, req, receiver{to, tag}, func(ctx context.Context, seen *seen) { f.inner.Forward(ctx, req, seen, 0) })
	switch {
	case done:
	case seen == nil:
		f.inner.Forward(ctx, req, to, tag)
	default:
		f.inner.Forward(ctx, req, seen, 0)
	}
}

// Flush implements store.Forwarder.
func (f *forwarder) Flush() { f.inner.Flush() }

// seen is a request whose response the cache inspects before the caller gets it.
type seen struct {
	to    taking
	after func(resp wire.Message)
}

// Receive implements store.Receiver.
func (s *seen) Receive(_ uint32, resp wire.Message) {
	s.after(resp)
	s.to.take(resp)
}

// Flush implements store.Receiver.
func (s *seen) Flush() { s.to.flush() }

// before inspects a request. It returns true if it has answered the request or sent it with send.
// Otherwise it returns how to inspect the response; nil means not at all.
func (l *link) before(ctx context.Context, req wire.Message, to taking, send func(context.Context, *seen)) (*seen, bool) {
	c := l.c
	switch req.Op {
	case wire.OpPrepare:
		return l.prepare(req, to), false
	case wire.OpExecute:
		if req.Flags == 0 {
			if e, err := wire.ParseExecute(l.options.Version, req.Body); err == nil {
				if st := c.known.get(e.ID); st != nil && st.kind == reads {
					if a := c.ask(l, st, &e); a != nil {
						l.read(ctx, a, to, send)
						return nil, true
					}
				}
			}
		}
	}
	w := c.aim(l, req)
	if w == nil {
		return nil, false
	}
	c.begin(w)
	return &seen{to, func(resp wire.Message) { c.end(w, c.settled(l.options.Version, resp)) }}, false
}

// prepare inspects a PREPARE and notes its statement when the response comes.
func (l *link) prepare(req wire.Message, to taking) *seen {
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return nil
	}
	p, err := wire.ParsePrepare(l.options.Version, body)
	if err != nil {
		return nil
	}
	keyspace := l.options.Keyspace
	if p.Keyspace != nil {
		keyspace = string(p.Keyspace)
	}
	st := l.c.known.classify(string(p.Text), keyspace)
	return &seen{to, func(resp wire.Message) {
		_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
		if err != nil || resp.Op != wire.OpResult || wire.KindOf(body) != wire.ResultPrepared {
			return
		}
		if p, err := wire.ParsePrepared(l.options.Version, body); err == nil {
			st.key = append([]uint16(nil), p.KeyIndexes...)
			l.c.known.put(p.ID, st)
		}
	}}
}
