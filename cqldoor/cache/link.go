// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
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

// mayKeep says whether the cells of a table are known not to expire. If that is unknown, it asks
// the store in the background. Until the store has answered, nothing is kept.
func (c *Cache) mayKeep(a *asked) bool {
	t := a.table
	if t.expires.Load() {
		return false
	}
	defined := c.fence.Definition(a.epoch)
	if !defined.Quiet {
		return false
	}
	if t.defined.Load() == defined.Count+1 {
		return true
	}
	if c.options.Now().UnixNano() < t.next.Load() || !t.asking.CompareAndSwap(false, true) {
		return false
	}
	keyspace, name, _ := strings.Cut(t.name, ".")
	text := syntax.AppendString([]byte("SELECT default_time_to_live FROM system_schema.tables WHERE keyspace_name = "), keyspace)
	text = syntax.AppendString(append(text, " AND table_name = "...), name)
	q := wire.Query{Text: text, Params: wire.Params{Consistency: wire.One}}
	body := wire.AppendQuery(nil, c.version, &q)
	c.own.Send(context.Background(), wire.Message{Op: wire.OpQuery, Body: body}, func(resp wire.Message) {
		known, expires, err := defaultTTL(c.version, resp)
		switch {
		case err != nil:
			t.next.Store(c.options.Now().Add(againAfter).UnixNano())
			c.options.Log.Warn("the cache cannot ask for a table's default_time_to_live, and does not keep its rows", "table", t.name, "error", err)
		case !known || expires:
			t.expires.Store(true) // it is a view, whose rows change with another table, or it does not exist
		default:
			t.defined.Store(defined.Count + 1)
		}
		t.asking.Store(false)
	})
	return false
}

// defaultTTL reads the store's answer: whether the table exists, and whether its cells expire.
func defaultTTL(v wire.Version, resp wire.Message) (known, expires bool, err error) {
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return false, false, err
	}
	if resp.Op == wire.OpError {
		e, err := wire.ParseError(v, body)
		if err != nil {
			return false, false, err
		}
		return false, false, e
	}
	rows, err := wire.ParseRows(body)
	if err != nil {
		return false, false, fmt.Errorf("read the answer: %w", err)
	}
	for it := rows.Iter(nil); it.Next(); {
		cell := it.Cells[0]
		return true, len(cell) == 4 && string(cell) != "\x00\x00\x00\x00", nil
	}
	return false, false, nil
}
