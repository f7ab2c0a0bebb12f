package engine

import (
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// link is a way to send requests with one current keyspace.
type link struct {
	engine   *Engine
	version  wire.Version
	keyspace string

	mu    sync.Mutex
	dirty []store.Receiver // answered by Forward since Flush
}

var _ store.Forwarder = (*link)(nil)

// Close implements store.Link.
func (l *link) Close() {}

// Send implements store.Link.
func (l *link) Send(req wire.Message, reply func(resp wire.Message)) {
	l.serve(req, &callback{reply}, 0)
}

// callback is a Receiver for one response.
type callback struct{ reply func(resp wire.Message) }

func (c *callback) Receive(_ uint32, resp wire.Message) { c.reply(resp) }
func (c *callback) Flush()                              {}

// Forward implements store.Forwarder.
func (l *link) Forward(req wire.Message, to store.Receiver, tag uint32) {
	if !l.serve(req, to, tag) {
		return
	}
	l.mu.Lock()
	if !slices.Contains(l.dirty, to) {
		l.dirty = append(l.dirty, to)
	}
	l.mu.Unlock()
}

// Flush implements store.Forwarder.
func (l *link) Flush() {
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = nil
	l.mu.Unlock()
	for _, to := range dirty {
		to.Flush()
	}
}

// serve answers a request, or sees to it that it is answered, and says whether
// it has been.
func (l *link) serve(req wire.Message, to store.Receiver, tag uint32) bool {
	if !l.engine.begin() {
		to.Receive(tag, errorMessage(errClosing, l.version))
		return true
	}
	c := newCall(l, to, tag)
	switch c.run(req) {
	case answered:
		c.release()
		l.engine.work.Done()
		return true
	case queued:
		c.release()
		l.engine.work.Done()
		return false
	}
	// It may take long: once more, elsewhere, with a body of its own.
	req.Body = slices.Clone(req.Body)
	c.warnings = nil
	c.read.reset()
	go func() {
		defer l.engine.work.Done()
		// Each may hold a long result: those that wait hold nothing but the request.
		l.engine.long <- struct{}{}
		defer func() { <-l.engine.long }()
		c.detached = true
		if c.run(req) == answered {
			to.Flush()
		}
		c.release()
	}()
	return false
}

var errClosing = wire.Errorf(wire.CodeOverloaded, "the server is shutting down")
