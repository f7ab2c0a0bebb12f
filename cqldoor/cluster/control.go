// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// The control connection uses the door's own account. Over it, the door discovers the hosts and
// receives events.

const refreshEvery = time.Minute // the interval of discovery, because events may be lost

// connectControl tries the known hosts and the contact points until one answers or ctx is done.
func (cl *Cluster) connectControl(ctx context.Context) (*conn, error) {
	var addrs []string
	for _, h := range cl.hostList() {
		addrs = append(addrs, h.addr)
	}
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	for _, c := range cl.opts.Contacts {
		addr, err := address(c, DefaultPort)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	var errs []error
	for _, addr := range addrs {
		c, err := cl.controlTo(ctx, addr)
		if err == nil {
			return c, nil
		}
		var unknown *UnknownPlaceError
		if errors.As(err, &unknown) {
			return nil, unknown // every other host would give the same result
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// controlTo connects to a host and discovers the cluster through it. It gives up a host that accepts
// the connection but does not answer.
func (cl *Cluster) controlTo(ctx context.Context, addr string) (*conn, error) {
	versions := []wire.Version{wire.V5, wire.V4}
	if cl.version != 0 {
		versions = []wire.Version{cl.version}
	}
	var d dialed
	var err error
	var version wire.Version
	for _, version = range versions {
		d, err = cl.dial(ctx, addr, store.LinkOptions{Version: version, Own: true}, nil)
		var refused *wire.Error
		if err == nil || !errors.As(err, &refused) || refused.Code != wire.CodeProtocol {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if cl.version == 0 {
		cl.version = version
	}
	cl.mu.Lock()
	cl.authenticator = d.authenticator
	cl.mu.Unlock()
	// A name may stand for several hosts. From here on, the host has its address.
	addr = d.t.NetConn().RemoteAddr().String()
	c := newConn(d.t, version, &host{cluster: cl, addr: addr}, nil, cl.prepared)
	cl.wg.Go(c.read)
	ctx, cancel := context.WithTimeout(ctx, cl.opts.ConnectTimeout)
	defer cancel()
	if err = cl.discover(ctx, c); err == nil {
		_, err = c.call(ctx, wire.OpRegister, wire.AppendRegister(nil, []string{"TOPOLOGY_CHANGE", "STATUS_CHANGE", "SCHEMA_CHANGE"}))
	}
	if err != nil {
		c.close("it is of no use")
		<-c.done
		return nil, fmt.Errorf("discover the cluster through %s: %w", addr, err)
	}
	return c, nil
}

// runControl keeps a control connection alive, and replaces it when it ends.
func (cl *Cluster) runControl(c *conn) {
	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	timeout, heartbeat := uint32(cl.opts.RequestTimeout/time.Second), uint32(max(1, cl.opts.Heartbeat/time.Second))
	for {
		select {
		case <-cl.ctx.Done():
			c.close("the door closes")
			<-c.done
			return
		case <-beat.C:
			c.beat(timeout, heartbeat)
			continue
		case <-c.done:
			cl.opts.Log.Warn("the control connection was lost", "host", c.host.addr)
			if c = cl.reconnectControl(); c == nil {
				return
			}
			cl.event(nil)
			continue
		case <-ticker.C:
		case <-cl.refresh:
			// A node reports that it is up a moment before it listens, and events come in groups.
			select {
			case <-cl.ctx.Done():
				continue
			case <-time.After(time.Second):
			}
		}
		ctx, cancel := context.WithTimeout(cl.ctx, cl.opts.ConnectTimeout)
		if err := cl.discover(ctx, c); err != nil && cl.ctx.Err() == nil {
			cl.opts.Log.Warn("cannot look for the hosts of the cluster", "error", err)
		}
		cancel()
	}
}

// reconnectControl tries until it has a connection. It returns nil if the cluster closes.
func (cl *Cluster) reconnectControl() *conn {
	select {
	case <-cl.reached: // an old signal
	default:
	}
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		c, err := cl.connectControl(cl.ctx)
		if err == nil {
			cl.opts.Log.Info("the control connection is back", "host", c.host.addr)
			return c
		}
		cl.opts.Log.Warn("cannot connect to the cluster", "error", err, "again in", pause)
		select {
		case <-cl.ctx.Done():
			return nil
		case <-time.After(pause/2 + rand.N(pause)):
		case <-cl.reached: // another connection has reached a host
		}
	}
}

// reach tells reconnectControl that a host can be reached.
func (cl *Cluster) reach() {
	select {
	case cl.reached <- struct{}{}:
	default:
	}
}

// event passes an event on to subscribers. If the event may concern hosts or keyspaces, event also
// requests a discovery.
func (cl *Cluster) event(body []byte) {
	if e, err := wire.ParseEvent(body); err == nil && (e.Type != "SCHEMA_CHANGE" || e.Schema.Target == wire.TargetKeyspace) {
		select {
		case cl.refresh <- struct{}{}:
		default:
		}
	}
	cl.eventMu.Lock()
	defer cl.eventMu.Unlock()
	for f := range cl.subs {
		(*f)(body)
	}
}

// discover reads the cluster's hosts and which partitions they store, and adapts the pools.
func (cl *Cluster) discover(ctx context.Context, c *conn) error {
	local, err := c.query(ctx, "SELECT * FROM system.local WHERE key='local'")
	if err != nil {
		return err
	}
	if len(local) == 0 {
		return errors.New("system.local is empty")
	}
	_, portText, _ := net.SplitHostPort(c.host.addr)
	port, _ := strconv.Atoi(portText)
	peers, err := c.query(ctx, "SELECT * FROM system.peers_v2")
	if err != nil {
		// Versions before Cassandra 4 have neither peers_v2 nor ports in it.
		if peers, err = c.query(ctx, "SELECT * FROM system.peers"); err != nil {
			return err
		}
	}
	rows := append(local[:1:1], peers...)
	dc, err := cl.localDC(rows)
	if err != nil {
		return err
	}
	at := make([]string, len(rows)) // "": a host of another data centre
	var addrs []string
	for i, row := range rows {
		addr, ok := c.host.addr, true // this address is known to work
		if i > 0 {
			addr, ok = peerAddress(row, port)
		}
		if !ok || string(row["data_center"]) != dc || slices.Contains(addrs, addr) {
			continue
		}
		at[i] = addr
		addrs = append(addrs, addr)
	}
	if len(addrs) == 0 {
		return fmt.Errorf("no host of data centre %q has an address that clients can connect to", dc)
	}
	cl.setHosts(addrs)
	hosts := make([]*host, len(rows))
	for i, addr := range at {
		hosts[i] = cl.hostAt(addr)
	}
	return cl.place(ctx, c, rows, hosts)
}

// peerAddress returns the address for clients from a row of system.peers or peers_v2. It returns
// false for a row that gossip has not completed yet.
func peerAddress(row map[string][]byte, port int) (string, bool) {
	ip, ok := netip.AddrFromSlice(row["native_address"])
	if p := row["native_port"]; ok && len(p) == 4 {
		port = int(p[2])<<8 | int(p[3])
	}
	if !ok {
		ip, ok = netip.AddrFromSlice(row["rpc_address"])
	}
	if ok && ip.IsUnspecified() {
		ip, ok = netip.AddrFromSlice(row["peer"])
	}
	if !ok || len(row["host_id"]) == 0 {
		return "", false
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)).String(), true
}

func (cl *Cluster) setHosts(addrs []string) {
	cl.mu.Lock()
	var hosts []*host
	for _, addr := range addrs {
		i := slices.IndexFunc(cl.hosts, func(h *host) bool { return h.addr == addr })
		if i < 0 {
			hosts = append(hosts, &host{cluster: cl, addr: addr, up: make(chan struct{})})
			continue
		}
		h := cl.hosts[i]
		close(h.up) // a keeper that waits to try the host again tries now
		h.up = make(chan struct{})
		hosts = append(hosts, h)
	}
	cl.hosts = hosts
	pools := make([]*pool, 0, len(cl.pools))
	for _, p := range cl.pools {
		pools = append(pools, p)
	}
	cl.mu.Unlock()
	for _, p := range pools {
		p.followHosts(false)
	}
}

// call sends one request and waits for its response. The caller owns the response's body.
func (c *conn) call(ctx context.Context, op wire.Op, body []byte) (wire.Message, error) {
	got := make(chan wire.Message, 1)
	ok := c.forward(wire.Message{Op: op, Body: body}, &replier{func(resp wire.Message) {
		resp.Body = append([]byte(nil), resp.Body...)
		got <- resp
	}}, 0)
	if !ok {
		return wire.Message{}, errNotSent("the connection was lost")
	}
	c.t.Flush()
	select {
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	case resp := <-got:
		_, rest, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
		if err != nil {
			return wire.Message{}, err
		}
		if resp.Op == wire.OpError {
			e, err := wire.ParseError(c.version, rest)
			if err != nil {
				return wire.Message{}, err
			}
			return wire.Message{}, e
		}
		return wire.Message{Op: resp.Op, Body: rest}, nil
	}
}

// query returns the rows of a small result, each by column name.
func (c *conn) query(ctx context.Context, text string) ([]map[string][]byte, error) {
	q := wire.Query{Text: []byte(text)}
	q.Params.Consistency = wire.One
	resp, err := c.call(ctx, wire.OpQuery, wire.AppendQuery(nil, c.version, &q))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	rows, err := wire.ParseRows(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	columns, err := rows.Metadata.Columns()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	var out []map[string][]byte
	it := rows.Iter(nil)
	for it.Next() {
		row := make(map[string][]byte, len(columns))
		for i, cell := range it.Cells {
			row[columns[i].Name] = cell
		}
		out = append(out, row)
	}
	return out, it.Err()
}
