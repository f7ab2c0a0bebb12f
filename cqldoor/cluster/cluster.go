// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Cluster is a store.Store on a real cluster.
//
// Lock order: Cluster.mu, pool.mu, conn.mu, the transport's own locks.
type Cluster struct {
	opts     Options
	prepared *prepared
	hedges   *hedges
	ctx      context.Context // of all goroutines of the cluster; done after Close
	stop     context.CancelFunc
	wg       sync.WaitGroup

	serverName    string // for TLS
	version       wire.Version
	authenticator string
	topology      atomic.Pointer[topology] // nil: the door does not know which hosts store which partitions
	refresh       chan struct{}            // signals that the hosts may have changed
	reached       chan struct{}            // signals that a host has just been connected to

	mu     sync.Mutex
	pools  map[store.LinkOptions]*pool
	hosts  []*host
	local  string // data centre; "" while unknown
	closed bool

	eventMu sync.Mutex // serializes calls of subscribers
	subs    map[*func([]byte)]struct{}
}

var (
	_ store.Store     = (*Cluster)(nil)
	_ store.Versioned = (*Cluster)(nil)
	_ store.Locator   = (*Cluster)(nil)
	_ store.Forwarder = (*link)(nil)
	_ store.NodesLink = (*link)(nil)
)

// host is a node of the cluster, identified by the address to which clients connect.
type host struct {
	cluster *Cluster
	addr    string
	up      chan struct{} // closed and replaced when the cluster reports that the host is up
	conns   atomic.Int32  // connections of all pools
	quiet   atomic.Uint32 // number of seconds for which the host has answered none of its requests
	latency latency
}

// silent reports whether the host has answered none of its requests for a second. Requests prefer
// other hosts until it answers.
func (h *host) silent() bool { return h.quiet.Load() > 1 }

// speaks notes that something has arrived from the host.
func (h *host) speaks() {
	if h.quiet.Load() != 0 {
		h.quiet.Store(0)
	}
}

// Connect connects to the cluster and starts the goroutines that keep the connection. It fails if
// it reaches no contact point before ctx is done.
func Connect(ctx context.Context, o Options) (*Cluster, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("cluster options: %w", err)
	}
	o = o.withDefaults()
	cl := &Cluster{
		opts:     o,
		prepared: newPrepared(o.PreparedBytes),
		hedges:   newHedges(),
		refresh:  make(chan struct{}, 1),
		reached:  make(chan struct{}, 1),
		pools:    make(map[store.LinkOptions]*pool),
		subs:     make(map[*func([]byte)]struct{}),
	}
	if first, err := address(o.Contacts[0], DefaultPort); err == nil {
		cl.serverName, _, _ = net.SplitHostPort(first)
	}
	cl.ctx, cl.stop = context.WithCancel(context.Background())
	ctl, err := cl.connectControl(ctx)
	if err != nil {
		cl.stop()
		cl.wg.Wait()
		return nil, err
	}
	cl.wg.Go(func() { cl.runControl(ctl) })
	cl.wg.Go(cl.runBeat)
	return cl, nil
}

// Authenticator returns the class that the cluster announces.
func (cl *Cluster) Authenticator(context.Context) (string, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.authenticator, nil
}

// MaxVersion returns the newest protocol version that the cluster speaks.
func (cl *Cluster) MaxVersion(context.Context) (wire.Version, error) { return cl.version, nil }

// Open makes a link.
func (cl *Cluster) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	if o.Version > cl.version || !o.Version.Supported() {
		return nil, wire.VersionError(uint8(o.Version))
	}
	fresh := o.Fresh
	o.Fresh = false
	p, err := cl.pool(o)
	if err != nil {
		return nil, err
	}
	if fresh || !p.connected() {
		if err := p.open(ctx); err != nil {
			p.release()
			return nil, err
		}
	}
	// Only a pool that has connected once gets keepers. A pool with wrong credentials or a wrong
	// keyspace must not keep trying.
	p.followHosts(true)
	return &link{p: p}, nil
}

// pool returns the pool for o and counts one more link on it.
func (cl *Cluster) pool(o store.LinkOptions) (*pool, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.closed {
		return nil, errNotSent("the connection to the cluster is closed")
	}
	p := cl.pools[o]
	if p == nil {
		p = newPool(cl, o)
		cl.pools[o] = p
	}
	p.mu.Lock()
	p.links++
	p.idle = 0
	p.mu.Unlock()
	return p, nil
}

// Events calls f with the events that the control connection receives from one host.
func (cl *Cluster) Events(ctx context.Context, f func(body []byte)) error {
	cl.eventMu.Lock()
	cl.subs[&f] = struct{}{}
	cl.eventMu.Unlock()
	defer func() {
		cl.eventMu.Lock()
		delete(cl.subs, &f)
		cl.eventMu.Unlock()
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-cl.ctx.Done():
		return errors.New("the connection to the cluster is closed")
	}
}

// Close ends every connection and waits for all goroutines.
func (cl *Cluster) Close() error {
	cl.mu.Lock()
	cl.closed = true
	pools := cl.pools
	cl.pools = nil
	cl.mu.Unlock()
	cl.stop()
	cl.hedges.close()
	for _, p := range pools {
		p.close("the door closes")
	}
	cl.hedges.wait()
	cl.wg.Wait()
	return nil
}

// Hosts returns the addresses in use.
func (cl *Cluster) Hosts() []string {
	var addrs []string
	for _, h := range cl.hostList() {
		addrs = append(addrs, h.addr)
	}
	return addrs
}

// Work returns the number of requests that the cluster has not answered yet, including those of
// clients that have disconnected, and the number of requests that wait to be sent.
func (cl *Cluster) Work() (inFlight, waiting int) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	for _, p := range cl.pools {
		for _, h := range p.live.Load().hosts {
			for _, c := range h {
				inFlight += int(c.inFlight.Load())
			}
		}
		waiting += p.queues.waiting()
	}
	return inFlight, waiting
}

func (cl *Cluster) hostList() []*host {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.hosts
}

// hostAt returns the host with an address, or nil if there is none.
func (cl *Cluster) hostAt(addr string) *host {
	for _, h := range cl.hostList() {
		if h.addr == addr {
			return h
		}
	}
	return nil
}

func (cl *Cluster) hostUp(h *host) <-chan struct{} {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return h.up
}

// runBeat calls beat once a second.
func (cl *Cluster) runBeat() {
	ticker := time.NewTicker(cl.opts.beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-cl.ctx.Done():
			return
		case <-ticker.C:
			cl.beat()
		}
	}
}

// beat counts one more second for each host that owes an answer, and calls beat on all pools.
func (cl *Cluster) beat() {
	seconds := func(d time.Duration) uint32 { return uint32(max(1, d/time.Second)) }
	timeout, heartbeat, idle := seconds(cl.opts.RequestTimeout), seconds(cl.opts.Heartbeat), seconds(cl.opts.IdlePool)
	cl.mu.Lock()
	pools := make([]*pool, 0, len(cl.pools))
	for _, p := range cl.pools {
		pools = append(pools, p)
	}
	cl.mu.Unlock()
	asked := map[*host]bool{}
	for _, p := range pools {
		p.asked(asked)
	}
	for h := range asked {
		h.quiet.Add(1)
	}
	for _, p := range pools {
		if p.beat(timeout, heartbeat, idle) {
			cl.retire(p)
		}
	}
}

// retire closes a pool, unless a link has been opened on it since it was idle.
func (cl *Cluster) retire(p *pool) {
	cl.mu.Lock()
	p.mu.Lock()
	used := p.links > 0
	p.mu.Unlock()
	if !used && cl.pools[p.options] == p {
		delete(cl.pools, p.options)
	}
	cl.mu.Unlock()
	if !used {
		p.close("it was idle")
	}
}
