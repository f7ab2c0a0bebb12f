// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// pool holds the connections of all links with equal options.
//
// Each host has a keeper: a goroutine that keeps ConnsPerHost connections to the host, as long as
// the pool and the host exist.
type pool struct {
	cluster *Cluster
	options store.LinkOptions // Fresh is false
	queues  queues

	live atomic.Pointer[liveHosts]
	next atomic.Uint32

	following sync.Mutex // held while the pool takes over the cluster's hosts; taken before mu

	mu      sync.Mutex
	conns   []*conn            // the connections that are alive
	keepers map[string]*keeper // by address
	links   int
	idle    int // seconds without a link
	closed  bool
}

type keeper struct {
	host   *host
	cancel context.CancelFunc
	kick   chan struct{} // signals that a connection was lost, or is wanted
}

func newPool(cl *Cluster, o store.LinkOptions) *pool {
	p := &pool{cluster: cl, options: o, queues: newQueues(), keepers: make(map[string]*keeper)}
	p.live.Store(&liveHosts{})
	p.queues.setHosts(1, cl.opts.InFlight)
	return p
}

// spill is the number of requests in flight on a connection from which the next connection to the
// same host is used, too. Below it, more connections would only mean more and smaller writes.
const spill = 128

// pick returns a connection that takes a request, or nil if there is none.
func (p *pool) pick() *conn {
	hosts := p.live.Load().hosts
	if len(hosts) == 1 {
		return hosts[0].pick()
	}
	return lessBusy(len(hosts), p.next.Add(1), func(i int) hostConns { return hosts[i] })
}

// lessBusy returns a connection to one of n hosts, or nil if none takes a request. From the index
// turn on, it compares the first two hosts that take one and chooses the connection with less in
// flight. It chooses a silent host only if there is no other.
func lessBusy(n int, turn uint32, host func(i int) hostConns) *conn {
	var first, silent *conn
	for i := range uint32(n) {
		c := host(int((turn + i) % uint32(n))).pick()
		switch {
		case c == nil:
		case c.host.silent():
			silent = c
		case first == nil:
			first = c
		case c.inFlight.Load() < first.inFlight.Load():
			return c
		default:
			return first
		}
	}
	if first == nil {
		return silent
	}
	return first
}

// liveHosts holds the hosts that have connections. It is immutable.
type liveHosts struct {
	hosts []hostConns
	of    map[*host]hostConns
}

// pickOf returns a connection to one of the hosts of a target, or nil if none takes a request. A
// host that is far comes before one that is near and silent.
func (l *liveHosts) pickOf(to target, turn uint32) *conn {
	host := func(i int) hostConns { return l.of[to.topology.hosts[to.nodes[i]]] }
	if !to.ordered {
		var near *conn
		if of := to.topology.near; of != nil {
			near = lessBusy(len(to.nodes), turn, func(i int) hostConns {
				if !of[to.nodes[i]] {
					return nil
				}
				return host(i)
			})
			if near != nil && !near.host.silent() {
				return near
			}
		}
		c := lessBusy(len(to.nodes), turn, host)
		if near != nil && (c == nil || c.host.silent()) {
			return near
		}
		return c
	}
	var silent *conn
	for i := range to.nodes {
		c := host(i).pick()
		if c != nil && !c.host.silent() {
			return c
		}
		if silent == nil {
			silent = c
		}
	}
	return silent
}

// hostConns are the connections to one host, at least one.
type hostConns []*conn

func (h hostConns) pick() *conn {
	var least *conn
	for _, c := range h {
		if !c.takes() {
			continue
		}
		n := c.inFlight.Load()
		if n < spill {
			return c
		}
		if least == nil || n < least.inFlight.Load() {
			least = c
		}
	}
	return least
}

// set replaces the pool's connections. The caller holds mu.
func (p *pool) set(conns []*conn) {
	p.conns = conns
	var hosts []hostConns
next:
	for _, c := range conns {
		if c.leaving.Load() {
			continue
		}
		for i := range hosts {
			if hosts[i][0].host.addr == c.host.addr {
				hosts[i] = append(hosts[i], c)
				continue next
			}
		}
		hosts = append(hosts, hostConns{c})
	}
	live := &liveHosts{hosts, make(map[*host]hostConns, len(hosts))}
	for _, h := range hosts {
		live.of[h[0].host] = h
	}
	p.live.Store(live)
}

// add adds a connection to the pool and starts its reader, unless the pool has enough connections
// to that host or is closed.
func (p *pool) add(d dialed, h *host) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.count(h) >= p.cluster.opts.ConnsPerHost {
		d.t.Close()
		return false
	}
	h.speaks() // it has answered the handshake
	c := newConn(d.t, p.options.Version, h, p, p.cluster.prepared)
	p.set(append(p.conns, c))
	h.conns.Add(1)
	p.cluster.wg.Go(c.read)
	return true
}

// resume runs the backlog after a connection came or ended. If no connection is left, waiting
// requests get an error.
func (p *pool) resume() { p.queues.backlog.Resume() }

// count returns the number of connections to a host that take requests. The caller holds mu.
func (p *pool) count(h *host) int {
	n := 0
	for _, c := range p.conns {
		if c.host.addr == h.addr && !c.leaving.Load() {
			n++
		}
	}
	return n
}

func (p *pool) remove(c *conn) {
	defer p.resume()
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.conns, c); i >= 0 {
		p.set(slices.Delete(p.conns, i, i+1))
		c.host.conns.Add(-1)
	}
	if k := p.keepers[c.host.addr]; k != nil {
		k.wake()
	}
}

// followHosts starts keepers for new hosts and stops those of hosts that have gone. A pool without
// keepers gets its first ones only if begin is true. The caller that comes last has the newest
// list, since each reads it while it holds following.
func (p *pool) followHosts(begin bool) {
	p.following.Lock()
	defer p.following.Unlock()
	p.mu.Lock()
	begun := len(p.keepers) > 0
	p.mu.Unlock()
	if !begin && !begun {
		return
	}
	hosts := p.cluster.hostList()
	p.queues.setHosts(len(hosts), p.cluster.opts.InFlight)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	gone := make(map[string]bool)
	for addr := range p.keepers {
		gone[addr] = true
	}
	for _, h := range hosts {
		delete(gone, h.addr)
		if p.keepers[h.addr] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(p.cluster.ctx)
		k := &keeper{host: h, cancel: cancel, kick: make(chan struct{}, 1)}
		p.keepers[h.addr] = k
		p.cluster.wg.Go(func() { p.keep(ctx, k) })
	}
	for addr := range gone {
		p.keepers[addr].cancel()
		delete(p.keepers, addr)
		for _, c := range p.conns {
			if c.host.addr == addr {
				c.leaving.Store(true) // beat closes it when its requests are answered
			}
		}
	}
	if len(gone) > 0 {
		p.set(p.conns)
	}
}

// keep runs a keeper.
func (p *pool) keep(ctx context.Context, k *keeper) {
	const firstPause, longestPause = 100 * time.Millisecond, 10 * time.Second
	pause := firstPause
	var reported time.Time // when the host's absence was last logged; zero: the host is there
	for {
		p.mu.Lock()
		missing := p.cluster.opts.ConnsPerHost - p.count(k.host)
		p.mu.Unlock()
		if missing <= 0 {
			pause = firstPause
			select {
			case <-ctx.Done():
				return
			case <-k.kick:
			}
			continue
		}
		d, err := p.cluster.dial(ctx, k.host.addr, p.options, p.roomy)
		if err == nil {
			p.add(d, k.host)
			p.resume()
			p.cluster.reach()
			pause, reported = firstPause, time.Time{}
			continue
		}
		if ctx.Err() != nil {
			return
		}
		// Requests that wait for the host cause many attempts, and most need no log line.
		if now := time.Now(); now.Sub(reported) >= longestPause {
			reported = now
			p.cluster.opts.Log.Warn("cannot connect to a host of the cluster; the door tries again and again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)):
		case <-p.cluster.hostUp(k.host): // the cluster has just reported it
		case <-k.kick:
			// A request wants a connection now. Try at most ten times a second.
			select {
			case <-ctx.Done():
				return
			case <-time.After(firstPause):
			}
		}
		pause = min(2*pause, longestPause)
	}
}

// open makes a connection at once: the first of a pool, or a fresh one.
func (p *pool) open(ctx context.Context) error {
	hosts := p.cluster.hostList()
	if len(hosts) == 0 {
		return errNotSent("no host of the cluster is known")
	}
	from := rand.IntN(len(hosts))
	var last error
	for i := range hosts {
		h := hosts[(from+i)%len(hosts)]
		d, err := p.cluster.dial(ctx, h.addr, p.options, p.roomy)
		if err == nil {
			p.add(d, h)
			p.resume()
			return nil
		}
		last = err
		var refused *wire.Error
		if errors.As(err, &refused) && !elsewhere(refused.Code) {
			return refused
		}
		var needs *needsCredentials
		if errors.As(err, &needs) {
			return wire.Errorf(wire.CodeBadCredentials, "evenkeel: %s", needs.Error())
		}
	}
	var refused *wire.Error
	if errors.As(last, &refused) {
		return refused
	}
	p.cluster.opts.Log.Warn("no host of the cluster can be reached", "error", last)
	return wire.Errorf(wire.CodeOverloaded, "evenkeel: no host of the cluster can be reached")
}

// elsewhere reports whether another host may accept what this one refused.
func elsewhere(c wire.Code) bool {
	switch c {
	case wire.CodeServer, wire.CodeOverloaded, wire.CodeIsBootstrapping, wire.CodeUnavailable:
		return true
	}
	return false
}

// wake makes keepers that pause between two attempts try again, because a request has come and
// there is no connection.
func (p *pool) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.keepers {
		k.wake()
	}
}

func (k *keeper) wake() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// connected reports whether the pool has a connection that has not ended.
func (p *pool) connected() bool {
	for _, h := range p.live.Load().hosts {
		for _, c := range h {
			if !c.ended.Load() {
				return true
			}
		}
	}
	return false
}

// release removes a link from the pool.
func (p *pool) release() {
	p.mu.Lock()
	p.links--
	p.idle = 0
	p.mu.Unlock()
}

// asked adds the hosts that have not answered all their requests.
func (p *pool) asked(to map[*host]bool) {
	for h, conns := range p.live.Load().of {
		for _, c := range conns {
			if c.inFlight.Load() > 0 {
				to[h] = true
			}
		}
	}
}

// beat runs once a second. It reports whether the pool may be closed.
func (p *pool) beat(timeout, heartbeat, idle uint32) bool {
	p.mu.Lock()
	conns := slices.Clone(p.conns)
	p.mu.Unlock()
	busy := false
	for _, c := range conns {
		c.beat(timeout, heartbeat)
		busy = busy || c.inFlight.Load() > 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links > 0 || busy {
		p.idle = 0
		return false
	}
	p.idle++
	return p.idle > int(idle)
}

// close ends the pool's connections and keepers. Requests in flight are answered as lost, so the
// cluster closes a pool only if it is idle, or when the cluster itself closes.
func (p *pool) close(why string) {
	p.mu.Lock()
	p.closed = true
	for _, k := range p.keepers {
		k.cancel()
	}
	clear(p.keepers)
	conns := slices.Clone(p.conns)
	p.mu.Unlock()
	for _, c := range conns {
		c.close(why)
	}
}
