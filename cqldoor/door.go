// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/observe"
)

// Options configure a Door. Store is required; the zero value of every other field works.
type Options struct {
	Store  store.Store
	Router Router // nil: everything is forwarded

	// TLS configures the connections with clients. Nil means no TLS.
	TLS *tls.Config

	// Advertise is the address that the door gives to drivers, if it differs from the one that they
	// connected to (behind a load balancer, in a container).
	Advertise netip.AddrPort

	// HostID identifies the door to drivers. It should stay the same when the door restarts. Zero
	// means that the door draws one at random.
	HostID [16]byte

	// MaxFrame is the longest request body, in bytes. 0 means 16 MiB, as
	// Cassandra's native_transport_max_frame_size.
	MaxFrame int

	// MaxFrameUnauthenticated is the limit before a client is authenticated. 0 means 128 KiB.
	MaxFrameUnauthenticated int

	// MaxConns bounds the client connections. The door closes any further connection at once. 0
	// means 10,000.
	MaxConns int

	// MaxInFlight bounds the requests in flight of one connection. Any further request is
	// answered with Overloaded. 0 means 16,384.
	MaxInFlight int

	// MaxUnread is how many bytes of responses a client may leave unread. Above that, the door
	// does not read its next request. 0 means 4 MiB.
	MaxUnread int

	// UnreadTimeout is how long a client may read nothing while the door has answers for it. Then
	// the door closes the connection. 0 means a minute.
	UnreadTimeout time.Duration

	// Memory bounds the memory of all requests and unread answers together. If there is none left
	// for a request, the request waits. If it waits in vain, the door answers with Overloaded. Nil
	// means no bound.
	Memory *budget.Budget

	// MaxTasks bounds the goroutines that run the router's requests (Request.Go). 0 means 10,000.
	MaxTasks int

	// HandshakeTimeout is how long a client may take to authenticate. 0 means 30 s.
	HandshakeTimeout time.Duration

	// Eras is shared with the router if the router must wait for requests that were forwarded
	// before it claimed their table. Nil: nobody waits for them.
	Eras *Eras

	// The door reports every request to Observe. The zero value means that nothing is measured.
	Observe observe.Observer

	// Log receives messages for the operator. Nil means that nothing is logged.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MaxFrame == 0 {
		o.MaxFrame = 16 << 20
	}
	if o.MaxFrameUnauthenticated == 0 {
		o.MaxFrameUnauthenticated = 128 << 10
	}
	if o.MaxConns == 0 {
		o.MaxConns = 10_000
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 16_384
	}
	if o.MaxUnread == 0 {
		o.MaxUnread = 4 << 20
	}
	if o.UnreadTimeout == 0 {
		o.UnreadTimeout = time.Minute
	}
	if o.MaxTasks == 0 {
		o.MaxTasks = 10_000
	}
	if o.HandshakeTimeout == 0 {
		o.HandshakeTimeout = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Eras == nil {
		o.Eras = new(Eras)
	}
	if o.HostID == ([16]byte{}) {
		_, _ = rand.Read(o.HostID[:]) // never fails
		o.HostID[6] = o.HostID[6]&0x0f | 0x40
		o.HostID[8] = o.HostID[8]&0x3f | 0x80
	}
	return o
}

// Validate returns all errors in the options.
func (o Options) Validate() error {
	var errs []error
	if o.Store == nil {
		errs = append(errs, errors.New("no store is given"))
	}
	for _, n := range []struct {
		name string
		n    int
	}{
		{"longest frame", o.MaxFrame}, {"longest frame before authentication", o.MaxFrameUnauthenticated},
		{"connections", o.MaxConns}, {"requests in flight", o.MaxInFlight},
		{"unread bytes", o.MaxUnread}, {"tasks", o.MaxTasks}, {"handshake timeout", int(o.HandshakeTimeout)}, {"unread timeout", int(o.UnreadTimeout)},
	} {
		if n.n < 0 {
			errs = append(errs, fmt.Errorf("%s must not be negative", n.name))
		}
	}
	if o.MaxFrame > 256<<20 {
		errs = append(errs, fmt.Errorf("longest frame must be at most 256 MiB, not %d bytes", o.MaxFrame))
	}
	return errors.Join(errs...)
}

// Door is a CQL front door.
//
// Lock order: Door.mu, requests.mu, the transport's own.
type Door struct {
	opts       Options
	maxVersion wire.Version
	supported  []byte // body of SUPPORTED
	ctx        context.Context
	stop       context.CancelFunc
	wg         sync.WaitGroup
	standing   Standing      // the router's; nil: answers to forwarded requests always count
	tasks      chan struct{} // one place for each goroutine of the router
	special    specials

	mu       sync.Mutex
	conns    map[*conn]struct{}
	gone     map[*conn]struct{} // ended connections with requests that the store has not answered yet
	draining bool

	counts counts
}

// New makes a door. It asks the store for its versions, and starts nothing.
func New(ctx context.Context, o Options) (*Door, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("door options: %w", err)
	}
	o = o.withDefaults()
	d := &Door{
		opts:       o,
		maxVersion: wire.Highest,
		tasks:      make(chan struct{}, o.MaxTasks),
		conns:      make(map[*conn]struct{}),
		gone:       make(map[*conn]struct{}),
	}
	if o.Router != nil {
		d.standing = o.Router.Standing()
	}
	if v, ok := o.Store.(store.Versioned); ok {
		newest, err := v.MaxVersion(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask the store for its version: %w", err)
		}
		d.maxVersion = min(d.maxVersion, newest)
	}
	d.supported = wire.AppendSupported(nil, d.options(ctx))
	d.ctx, d.stop = context.WithCancel(context.Background())
	o.Eras.join(d)
	return d, nil
}

// options returns the content of SUPPORTED: the store's CQL version and what the door itself
// speaks.
func (d *Door) options(ctx context.Context) map[string][]string {
	m := map[string][]string{
		wire.OptionCQLVersion:       {"3.4.7"},
		wire.OptionCompression:      {"lz4"},
		wire.OptionProtocolVersions: wire.SupportedVersions[:d.maxVersion-wire.V4+1],
	}
	link, err := d.opts.Store.Open(ctx, store.LinkOptions{Version: d.maxVersion, Own: true})
	if err != nil {
		return m
	}
	defer link.Close()
	got := make(chan []string, 1)
	link.Send(ctx, wire.Message{Op: wire.OpOptions}, func(resp wire.Message) {
		var versions []string
		if resp.Op == wire.OpSupported && resp.Flags == 0 {
			if theirs, err := wire.ParseSupported(resp.Body); err == nil {
				versions = theirs[wire.OptionCQLVersion]
			}
		}
		got <- versions
	})
	select {
	case versions := <-got:
		if len(versions) > 0 {
			m[wire.OptionCQLVersion] = versions
		}
	case <-ctx.Done():
	}
	return m
}

// Run passes the store's events on until the door is closed.
func (d *Door) Run() error {
	q := newEventQueue()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			bodies, ok := q.take()
			if !ok {
				return
			}
			d.events(bodies)
		}
	}()
	err := d.opts.Store.Events(d.ctx, q.put)
	q.close()
	<-done
	return err
}

// Serve accepts clients until the listener is closed, for example by the caller before Shutdown.
// A closed listener is not an error.
func (d *Door) Serve(ln net.Listener) error {
	stop := context.AfterFunc(d.ctx, func() { ln.Close() })
	defer stop()
	for {
		nc, err := ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			var temporary net.Error
			if errors.As(err, &temporary) && temporary.Timeout() || isTooManyFiles(err) {
				d.opts.Log.Warn("cannot accept a client", "error", err)
				select {
				case <-d.ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
				continue
			}
			return fmt.Errorf("accept CQL clients: %w", err)
		}
		d.accept(nc)
	}
}

func (d *Door) accept(nc net.Conn) {
	if d.opts.TLS != nil {
		nc = tls.Server(nc, d.opts.TLS)
	}
	c := newConn(d, nc)
	d.mu.Lock()
	refused := d.draining || len(d.conns) >= d.opts.MaxConns
	if !refused {
		d.conns[c] = struct{}{}
		d.wg.Add(1)
	}
	d.mu.Unlock()
	if refused {
		d.counts.refused.Add(1)
		nc.Close()
		return
	}
	d.counts.accepted.Add(1)
	go func() {
		defer d.wg.Done()
		c.serve()
		d.mu.Lock()
		delete(d.conns, c)
		d.gone[c] = struct{}{}
		d.forget()
		d.mu.Unlock()
	}()
}

// forget removes the ended connections whose requests have all been answered. The caller holds
// mu.
func (d *Door) forget() {
	for c := range d.gone {
		if c.inFlight.Load() == 0 {
			delete(d.gone, c)
		}
	}
}

// Shutdown ends the door. Clients send requests that arrive from now on to another host. Requests
// in flight are finished until ctx is done, then connections are closed. The caller closes the
// listeners first. Shutdown does not close the store.
func (d *Door) Shutdown(ctx context.Context) error {
	d.mu.Lock()
	d.draining = true
	for c := range d.conns {
		c.draining.Store(true)
	}
	d.mu.Unlock()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	var err error
	for quiet := 0; quiet < 2 && err == nil; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			err = fmt.Errorf("requests were still in flight: %w", ctx.Err())
		}
		if d.busy() == 0 {
			quiet++
		} else {
			quiet = 0
		}
	}
	d.stop()
	d.mu.Lock()
	for c := range d.conns {
		c.t.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
	d.opts.Eras.leave(d)
	return err
}

// busy counts the connections that have requests in flight or bytes to write.
func (d *Door) busy() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for c := range d.conns {
		if c.inFlight.Load() > 0 || c.t.Pending() > 0 {
			n++
		}
	}
	return n
}

// Stats holds what the door has counted since it was made.
type Stats struct {
	Connections int   // open now
	Accepted    int64 // connections
	Refused     int64 // connections over the limit
	Requests    int64 // QUERY, PREPARE, EXECUTE and BATCH
	Routed      int64 // of Requests, those that the router handled
	InFlight    int64 // now; a request whose client has gone counts until the store has answered
	Overloaded  int64 // requests refused because too many were in flight
	Panics      int64 // panics recovered
	Malformed   int64 // connections ended because of malformed bytes
	Slow        int64 // connections ended because the client had stopped reading
}

// counts are the door's counters. When a connection ends, its own counters are added.
type counts struct {
	accepted, refused, requests, routed, overloaded, panics, malformed, slow atomic.Int64
}

// Stats returns the counts.
func (d *Door) Stats() Stats {
	s := Stats{
		Accepted: d.counts.accepted.Load(), Refused: d.counts.refused.Load(),
		Requests: d.counts.requests.Load(), Routed: d.counts.routed.Load(),
		Overloaded: d.counts.overloaded.Load(), Panics: d.counts.panics.Load(), Malformed: d.counts.malformed.Load(), Slow: d.counts.slow.Load(),
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Connections = len(d.conns)
	for c := range d.conns {
		s.InFlight += int64(c.inFlight.Load())
		s.Requests += c.requests.Load()
	}
	d.forget()
	for c := range d.gone {
		s.InFlight += int64(c.inFlight.Load())
	}
	return s
}
