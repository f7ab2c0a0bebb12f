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
	sharded "github.com/evenkeel/evenkeel/cqldoor/run"
	"github.com/evenkeel/evenkeel/engine"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/observe"
)

// cqlSide is the CQL side of serve; nil where there is none.
type cqlSide struct {
	door   *cqldoor.Door
	router *sharded.Router
	store  store.Store
	cache  *cqlcache.Cache // before the store; nil where there is none
	what   string          // the store, in words

	observe observe.Observer
}

// listenCQL listens for the CQL door; nil where there is none.
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

// openCQL opens the door in front of the cluster, or of the embedded engine.
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
	var lease, hints time.Duration // the embedded engine has no other door, and no hints
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
	routing := sharded.RoundRobin
	if s.DriverRouting == "token" {
		routing = sharded.ByToken
	}
	c.router = sharded.New(sharded.Options{
		Routing: routing, Found: len(s.Cassandra) > 0,
		Lease: lease, Hints: hints, Timeout: s.RequestTimeout, Self: fleet.Door{HostID: hostID(at), CQL: at.String(), Rack: s.Rack, Release: version}, Store: c.front(), Now: time.Now, Timeuuid: ids.timeuuid, UUID: ids.uuid, IntN: rand.IntN, Log: log, Requests: c.observe.Requests,
		Rules: s.cqlRules(), ReplaceRules: s.ShardRulesReplace,
	})
	if err = c.router.Start(ctx); errors.Is(err, sharded.ErrOtherRules) {
		err = withHint(err, otherRules)
	} else if errors.Is(err, sharded.ErrDoor) {
		err = withHint(err, "name the cluster behind it with --cassandra; an embedded engine that several doors are to share is started with --store-only")
	} else if err != nil {
		err = withHint(err, "the door's own account must be able to read system_schema and to create the keyspace evenkeel")
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, c.openDoor(ctx, cqldoor.Options{Router: c.router, TLS: tls, Advertise: advertise, HostID: hostID(at), Observe: c.observe, Memory: s.memory, Log: log})
}

// openDoor makes the door in front of the store, and closes both where it cannot.
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

// hintWindow is for how long a Cassandra keeps hints for a node that is down, unless it
// is told otherwise.
const hintWindow = 3 * time.Hour

// serve answers until the door is shut down, and passes on why it cannot.
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

// shutdown accepts no more clients and finishes what is in flight.
func (c *cqlSide) shutdown(ctx context.Context, ln net.Listener) error {
	if c == nil {
		return nil
	}
	ln.Close()
	return c.door.Shutdown(ctx)
}

// storage is what the embedded engine keeps its data in; nil where there is none.
func (c *cqlSide) storage() *storage.DB {
	if c == nil {
		return nil
	}
	if e, ok := c.store.(*engine.Engine); ok {
		return e.Storage()
	}
	return nil
}

// front is what the door and its router go through: the cache, or the store itself.
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

// openStore is what is served, and in words what it is: the cluster where one is
// given, else the embedded engine.
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
	e, err := engine.Open(s.Data, engine.Options{Address: at, Capacity: s.limits(likeKeyspaces), Clock: s.clock, Timeout: s.RequestTimeout, Storage: s.storage(log)})
	if err != nil {
		return nil, "", withHint(err, "--data DIR chooses another directory")
	}
	what := "on the embedded engine, data in " + s.Data
	if s.StoreOnly {
		what += ", as a store for the --cassandra of other doors"
	}
	return e, what, nil
}

// storage is how the data directory is opened. Where it fails, the process ends: what
// was not acknowledged may be lost, and nothing else.
func (s *serveCmd) storage(log *slog.Logger) storage.Options {
	return storage.Options{FS: s.files, Logger: log, Failed: func(err error) {
		fmt.Fprintf(os.Stderr, "evenkeel: the data directory %s cannot be written: %v; nothing that was acknowledged is lost\n", s.Data, err)
		os.Exit(1)
	}}
}

func (s *serveCmd) openCluster(ctx context.Context, log *slog.Logger, signals <-chan os.Signal) (store.Store, string, error) {
	o := cluster.Options{
		Contacts: s.Cassandra, Username: s.CassandraUser, ConnsPerHost: s.CassandraConnections, AnyHost: s.CassandraRouting == "any",
		LocalDC: s.LocalDC, Rack: s.Rack, Log: log,
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

// advertise is the address that drivers are told, zero for the one they connect to.
func (s *serveCmd) advertise(ln net.Addr) (netip.AddrPort, error) {
	if s.Advertise == "" {
		return netip.AddrPort{}, nil
	}
	if at, err := netip.ParseAddrPort(s.Advertise); err == nil {
		return at, nil
	}
	ip, err := netip.ParseAddr(s.Advertise)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("--advertise %q: an IP address, with or without a port, is wanted", s.Advertise)
	}
	return netip.AddrPortFrom(ip, uint16(ln.(*net.TCPAddr).Port)), nil
}

// address is where other doors tell drivers that this one is: what is advertised, or what it
// listens on; for a door that listens on all addresses, the one by which it reaches the cluster.
func (s *serveCmd) address(ln, advertise netip.AddrPort) netip.AddrPort {
	if advertise.IsValid() || !ln.Addr().IsUnspecified() || len(s.Cassandra) == 0 {
		return cmp.Or(advertise, ln)
	}
	to := s.Cassandra[0]
	if _, _, err := net.SplitHostPort(to); err != nil {
		to = net.JoinHostPort(to, strconv.Itoa(cluster.DefaultPort))
	}
	c, err := net.Dial("udp", to) // which sends nothing
	if err != nil {
		return ln
	}
	defer c.Close()
	return netip.AddrPortFrom(c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), ln.Port())
}

// hostID is the door's identity to drivers: the same whenever it is started here.
func hostID(at netip.AddrPort) (id [16]byte) {
	name, _ := os.Hostname() // without a name the address alone must do
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
