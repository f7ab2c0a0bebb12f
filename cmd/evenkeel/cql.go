// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	cqlcache "github.com/evenkeel/evenkeel/cqldoor/cache"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	sharded "github.com/evenkeel/evenkeel/cqldoor/run"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/observe"
)

// cqlSide is the CQL half of serve. It is nil if serve has no CQL door.
type cqlSide struct {
	door   *cqldoor.Door
	router *sharded.Router
	store  store.Store
	cache  *cqlcache.Cache // in front of the store; nil: no cache
	what   string          // describes the store to the user

	observe observe.Observer
}

// listenCQL opens the CQL door's listener. It returns nil if the door is off.
func (s *serveCmd) listenCQL() (net.Listener, error) {
	if s.ListenCQL != "off" {
		return listen(s.ListenCQL, "--listen-cql", 9042)
	}
	switch {
	case len(s.Cassandra) > 0:
		return nil, withHint(errors.New("--cassandra is given, and --listen-cql is off"), "leave one of them out")
	case slices.Contains(s.Capacity, likeKeyspaces):
		return nil, withHint(errors.New("--capacity keyspaces: --listen-cql is off"), "leave one of them out")
	}
	return nil, nil
}

// openCQL opens the CQL door in front of the cluster or the embedded engine.
func (s *serveCmd) openCQL(ctx context.Context, ln net.Listener, log *slog.Logger, signals <-chan os.Signal) (*cqlSide, error) {
	tls, err := s.serverTLS()
	if err != nil {
		return nil, err
	}
	advertise, err := s.advertise(ln.Addr())
	if err != nil {
		return nil, err
	}
	c := &cqlSide{observe: s.observe("cassandra", cqldoor.Operations)}
	at := s.address(ln.Addr().(*net.TCPAddr).AddrPort(), advertise)
	if c.store, c.what, err = s.openStore(ctx, log, at, signals); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	ids := newIdentity()
	var lease, hints time.Duration // the embedded engine has no second door and keeps no hints
	if len(s.Cassandra) > 0 {
		lease, hints = fleet.DefaultLease, hintWindow
	}
	if s.StoreOnly {
		return c, c.openDoor(ctx, cqldoor.Options{TLS: tls, Advertise: advertise, HostID: hostID(at), Observe: c.observe, Memory: s.memory, Log: log})
	}
	if err := s.withCQLCache(ctx, c, log); err != nil {
		c.close()
		return nil, err
	}
	routing := tables.RoundRobin
	if s.DriverRouting == "token" {
		routing = tables.ByToken
	}
	eras := new(cqldoor.Eras)
	c.router = sharded.New(sharded.Options{
		Eras:    eras,
		Routing: routing, Found: len(s.Cassandra) > 0,
		Lease: lease, Hints: hints, Timeout: s.RequestTimeout, Self: fleet.Door{HostID: hostID(at), CQL: at.String(), Rack: s.Rack, Release: version}, Store: c.front(), Now: time.Now, Timeuuid: ids.timeuuid, UUID: ids.uuid, IntN: rand.IntN, Log: log, Requests: c.observe.Requests,
		Rules: s.cqlRules(), ReplaceRules: s.ShardRulesReplace,
	})
	if err = c.router.Start(ctx); errors.Is(err, definitions.ErrOtherRules) {
		err = withHint(err, otherRules)
	} else if errors.Is(err, sharded.ErrDoor) {
		err = withHint(err, "name the cluster behind it with --cassandra; to share an embedded engine among several doors, start it with --store-only")
	} else if err != nil {
		err = withHint(err, "the door's own account must be able to read system_schema and to create the keyspace evenkeel")
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, c.openDoor(ctx, cqldoor.Options{Router: c.router, Eras: eras, TLS: tls, Advertise: advertise, HostID: hostID(at), Observe: c.observe, Memory: s.memory, Log: log})
}

// openDoor makes the door in front of the store. If that fails, it closes the store.
func (c *cqlSide) openDoor(ctx context.Context, o cqldoor.Options) (err error) {
	o.Store = c.front()
	if c.door, err = cqldoor.New(ctx, o); err != nil {
		c.close()
		return err
	}
	if c.router != nil {
		c.router.Announce(c.door.Announce)
	}
	return nil
}

// hintWindow is how long Cassandra keeps hints for a node that is down, unless its configuration
// says otherwise.
const hintWindow = 3 * time.Hour

// serve answers clients until the door shuts down. It sends an error to failed if serving fails.
func (c *cqlSide) serve(ctx context.Context, ln net.Listener, failed chan<- error) {
	go func() {
		if err := c.door.Run(); ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			failed <- fmt.Errorf("events of the backend: %w", err)
		}
	}()
	if err := c.door.Serve(ln); err != nil {
		failed <- err
	}
}

// shutdown stops accepting clients and waits for the requests in flight.
func (c *cqlSide) shutdown(ctx context.Context, ln net.Listener) error {
	if c == nil {
		return nil
	}
	ln.Close()
	return c.door.Shutdown(ctx)
}

// storage returns the database of the embedded engine, or nil if the door fronts a cluster.
func (c *cqlSide) storage() *storage.DB {
	if c == nil {
		return nil
	}
	if e, ok := c.store.(*cassandra.Engine); ok {
		return e.Storage()
	}
	return nil
}

// front returns the store that the router talks to: the cache, or the store itself if there is no
// cache.
func (c *cqlSide) front() store.Store {
	if c.cache != nil {
		return c.cache
	}
	return c.store
}

func (c *cqlSide) close() {
	if c.router != nil {
		c.router.Close()
	}
	if c.cache != nil {
		c.cache.Close()
	}
	c.store.Close()
}

// openStore opens the cluster of --cassandra, or the embedded engine if the flag is not given. It
// also returns a description of the store.
func (s *serveCmd) openStore(ctx context.Context, log *slog.Logger, at netip.AddrPort, signals <-chan os.Signal) (store.Store, string, error) {
	if len(s.Cassandra) > 0 {
		return s.openCluster(ctx, log, signals)
	}
	for flag, set := range map[string]bool{
		"--cassandra-user": s.CassandraUser != "", "--cassandra-password-file": s.CassandraPasswordFile != "", "--cassandra-tls": s.CassandraTLS,
		"--local-dc": s.LocalDC != "", "--rack": s.Rack != "",
	} {
		if set {
			return nil, "", withHint(fmt.Errorf("%s is given without a cluster", flag), "--cassandra HOST[:PORT] says which")
		}
	}
	e, err := cassandra.Open(s.Data, cassandra.Options{Address: at, Capacity: s.limits(likeKeyspaces), Clock: s.clock, Timeout: s.RequestTimeout, Storage: s.storage(log)})
	if err != nil {
		return nil, "", storeHint(err, "--data DIR chooses another directory")
	}
	what := "on the embedded engine, data in " + s.Data
	if s.StoreOnly {
		what += ", as a store for the --cassandra of other doors"
	}
	return e, what, nil
}

// storage returns the options for opening the data directory. If a write to the directory fails,
// the process ends: only unacknowledged writes can be lost then.
func (s *serveCmd) storage(log *slog.Logger) storage.Options {
	cache, memTable := engineMemory(int64(s.Memory))
	return storage.Options{FS: s.files, Logger: log, CacheBytes: cache, MemTableBytes: memTable, Failed: func(err error) {
		fmt.Fprintf(os.Stderr, "evenkeel: the data directory %s cannot be written: %v; no acknowledged write is lost\n", s.Data, err)
		os.Exit(1)
	}}
}

func (s *serveCmd) openCluster(ctx context.Context, log *slog.Logger, signals <-chan os.Signal) (store.Store, string, error) {
	o := cluster.Options{
		Contacts: s.Cassandra, Username: s.CassandraUser, ConnsPerHost: s.CassandraConnections, InFlight: s.CassandraInFlight, AnyHost: s.CassandraRouting == "any",
		LocalDC: s.LocalDC, Rack: s.Rack, NoHedge: s.Hedge == "off", Log: log,
	}
	if s.CassandraPasswordFile != "" {
		b, err := os.ReadFile(s.CassandraPasswordFile)
		if err != nil {
			return nil, "", fmt.Errorf("--cassandra-password-file: %w", err)
		}
		o.Password = strings.TrimRight(string(b), "\r\n")
	}
	if s.Rack != "" && o.AnyHost {
		return nil, "", withHint(errors.New("--rack is given, but with --cassandra-routing any requests go to any host, not to replicas"), "leave one of them out")
	}
	if s.CassandraUser != "" && s.CassandraPasswordFile == "" {
		return nil, "", withHint(errors.New("--cassandra-user needs a password"), "put it in a file and name that with --cassandra-password-file")
	}
	var err error
	if o.TLS, err = s.clusterTLS(); err != nil {
		return nil, "", err
	}
	// A signal ends the wait for a cluster that does not answer.
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	interrupted := make(chan os.Signal, 1)
	go func() {
		select {
		case sig := <-signals:
			interrupted <- sig
			cancel()
		case <-ctx.Done():
		}
	}()
	cl, err := cluster.Connect(ctx, o)
	select {
	case sig := <-interrupted:
		if err == nil {
			cl.Close()
		}
		return nil, "", fmt.Errorf("%s while connecting to Cassandra", sig)
	default:
	}
	if err != nil {
		return nil, "", s.explainCluster(err)
	}
	hosts := cl.Hosts()
	return cl, fmt.Sprintf("in front of Cassandra at %s", strings.Join(hosts, ", ")), nil
}

func (s *serveCmd) explainCluster(err error) error {
	what := fmt.Errorf("cannot reach Cassandra at %s: %w", strings.Join(s.Cassandra, ", "), err)
	var refused *wire.Error
	var unknown *cluster.UnknownPlaceError
	switch {
	case errors.As(err, &unknown) && unknown.What == "rack":
		return withHint(fmt.Errorf("--rack: %w", unknown), "name one of these, or leave --rack out")
	case errors.As(err, &unknown):
		return withHint(fmt.Errorf("--local-dc: %w", unknown), "name one of these, or leave --local-dc out")
	case errors.As(err, &refused) && refused.Code == wire.CodeBadCredentials:
		return withHint(what, "check --cassandra-user and --cassandra-password-file")
	case strings.Contains(err.Error(), "wants credentials"):
		return withHint(what, "the door needs an account of its own: --cassandra-user NAME --cassandra-password-file FILE")
	case errors.Is(err, syscall.ECONNREFUSED):
		return withHint(what, "nothing listens there: is Cassandra running, and is %d its native_transport_port?", cluster.DefaultPort)
	}
	return withHint(what, "check --cassandra, and --cassandra-tls if the cluster speaks TLS")
}

// advertise returns the address that the door gives to drivers, or the zero value for the address
// that they connected to.
func (s *serveCmd) advertise(ln net.Addr) (netip.AddrPort, error) {
	if s.Advertise == "" {
		return netip.AddrPort{}, nil
	}
	if at, err := netip.ParseAddrPort(s.Advertise); err == nil {
		return at, nil
	}
	ip, err := netip.ParseAddr(s.Advertise)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("--advertise %q: give an IP address, with or without a port", s.Advertise)
	}
	return netip.AddrPortFrom(ip, uint16(ln.(*net.TCPAddr).Port)), nil
}

// address returns the address under which other doors announce this door to drivers: the
// advertised address, or else the listening address. A door that listens on all addresses takes
// its local address on the route to the cluster.
func (s *serveCmd) address(ln, advertise netip.AddrPort) netip.AddrPort {
	if advertise.IsValid() || !ln.Addr().IsUnspecified() || len(s.Cassandra) == 0 {
		return cmp.Or(advertise, ln)
	}
	to := s.Cassandra[0]
	if _, _, err := net.SplitHostPort(to); err != nil {
		to = net.JoinHostPort(to, strconv.Itoa(cluster.DefaultPort))
	}
	c, err := net.Dial("udp", to) // UDP: sends nothing
	if err != nil {
		return ln
	}
	defer c.Close()
	return netip.AddrPortFrom(c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), ln.Port())
}

// hostID returns the id by which drivers know this door. The id is the same after a restart on
// the same machine and address.
func hostID(at netip.AddrPort) (id [16]byte) {
	name, _ := os.Hostname() // without a name, the id depends on the address alone
	sum := sha256.Sum256([]byte("evenkeel door " + name + " " + at.String()))
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x80 // RFC 9562, version 8
	id[8] = id[8]&0x3f | 0x80
	return id
}

func (s *serveCmd) clusterTLS() (*tls.Config, error) {
	if !s.CassandraTLS {
		if s.CassandraTLSCA != "" || s.CassandraTLSCert != "" || s.CassandraTLSKey != "" || s.CassandraTLSServerName != "" || s.CassandraTLSInsecure {
			return nil, withHint(errors.New("flags for TLS with the cluster are given, but not --cassandra-tls"), "add --cassandra-tls")
		}
		return nil, nil
	}
	c := &tls.Config{ServerName: s.CassandraTLSServerName, InsecureSkipVerify: s.CassandraTLSInsecure, MinVersion: tls.VersionTLS12}
	if s.CassandraTLSCA != "" {
		pem, err := os.ReadFile(s.CassandraTLSCA)
		if err != nil {
			return nil, fmt.Errorf("--cassandra-tls-ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--cassandra-tls-ca: no certificate in %s", s.CassandraTLSCA)
		}
	}
	if (s.CassandraTLSCert == "") != (s.CassandraTLSKey == "") {
		return nil, errors.New("--cassandra-tls-cert and --cassandra-tls-key go together")
	}
	if s.CassandraTLSCert != "" {
		cert, err := tls.LoadX509KeyPair(s.CassandraTLSCert, s.CassandraTLSKey)
		if err != nil {
			return nil, fmt.Errorf("--cassandra-tls-cert, --cassandra-tls-key: %w", err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	return c, nil
}
