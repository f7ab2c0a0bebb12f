package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	sharded "github.com/evenkeel/evenkeel/cqldoor/run"
	"github.com/evenkeel/evenkeel/engine"
)

// serveCmd is `evenkeel serve`.
type serveCmd struct {
	ListenCQL      string          `placeholder:"ADDR" default:"127.0.0.1:9042" help:"Address of the CQL door (${default})."`
	ListenDynamoDB string          `name:"listen-dynamodb" placeholder:"ADDR" help:"Address of the DynamoDB door, on this machine; 'off' for none (127.0.0.1:8000; off with --cassandra)."`
	ListenHTTP     string          `placeholder:"ADDR" default:"127.0.0.1:8080" help:"Address of the workbench's page, /metrics, /ready and /live; 'off' for none (${default})."`
	Advertise      string          `placeholder:"ADDR" help:"Address, with or without a port, that drivers are told, where it is not the one that they connect to."`
	Data           string          `placeholder:"DIR" default:"./evenkeel-data" help:"Where the embedded engine keeps its data (${default})."`
	Config         kong.ConfigFlag `placeholder:"FILE" help:"YAML file with any of these flags by name; flags go before it."`
	Drain          time.Duration   `default:"10s" help:"How long requests in flight may take when the door stops (${default})."`
	LogLevel       string          `enum:"debug,info,warn,error" default:"info" help:"Least level that is logged: ${enum} (${default})."`

	capacityFlags
	cacheFlags

	TLSCert string `placeholder:"FILE" help:"Certificate for clients, PEM; they then have to speak TLS."`
	TLSKey  string `placeholder:"FILE" help:"Its private key, PEM."`

	Cassandra              []string `placeholder:"HOST[:PORT],…" help:"Contact points of the cluster to serve; without them it is the embedded engine."`
	CassandraUser          string   `placeholder:"NAME" help:"The door's own account at the cluster, for its schema and hosts; clients bring theirs."`
	CassandraPasswordFile  string   `placeholder:"FILE" help:"File with that account's password."`
	CassandraConnections   int      `placeholder:"N" default:"2" help:"Connections to each host for each account and keyspace (${default})."`
	CassandraTLS           bool     `name:"cassandra-tls" help:"Speak TLS with the cluster."`
	CassandraTLSCA         string   `name:"cassandra-tls-ca" placeholder:"FILE" help:"Certificates that its own are checked against; the system's by default."`
	CassandraTLSCert       string   `name:"cassandra-tls-cert" placeholder:"FILE" help:"Certificate that the door shows the cluster."`
	CassandraTLSKey        string   `name:"cassandra-tls-key" placeholder:"FILE" help:"Its private key."`
	CassandraTLSServerName string   `name:"cassandra-tls-server-name" placeholder:"NAME" help:"Name that the cluster's certificates must have; the first contact point by default."`
	CassandraTLSInsecure   bool     `name:"cassandra-tls-insecure" help:"Do not check the cluster's certificates."`
}

// Run serves until a signal.
func (s *serveCmd) Run(std *stdio) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	return s.serve(ctx, std, signals)
}

func (s *serveCmd) serve(ctx context.Context, std *stdio, signals <-chan os.Signal) error {
	if err := s.checkCapacity(); err != nil {
		return err
	}
	if err := s.checkCache(); err != nil {
		return err
	}
	log := s.logger(std.err)
	ln, err := listen(s.ListenCQL, "--listen-cql", 9042)
	if err != nil {
		return err
	}
	defer ln.Close()
	dynamoLn, err := s.listenDynamoDB()
	if err != nil {
		return err
	}
	if dynamoLn != nil {
		defer dynamoLn.Close()
	}
	health := newHealth()
	var web net.Listener
	if s.ListenHTTP != "off" && s.ListenHTTP != "" {
		if web, err = listen(s.ListenHTTP, "--listen-http", 8080); err != nil {
			return err
		}
		defer web.Close()
	}
	serverTLS, err := s.serverTLS()
	if err != nil {
		return err
	}
	advertise, err := s.advertise(ln.Addr())
	if err != nil {
		return err
	}

	backend, what, err := s.openStore(ctx, log, ln.Addr(), advertise, signals)
	if err != nil {
		return err
	}
	defer backend.Close()
	ids := newIdentity()
	router := sharded.New(sharded.Options{
		Store: backend, Now: time.Now, Timeuuid: ids.timeuuid, UUID: ids.uuid, IntN: rand.IntN, Log: log,
	})
	starting, cancelStart := context.WithTimeout(ctx, startLimit)
	defer cancelStart()
	if err := router.Start(starting); err != nil {
		return withHint(err, "the door's own account must be able to read system_schema and to create the keyspace evenkeel")
	}
	defer router.Close()
	door, err := cqldoor.New(starting, cqldoor.Options{
		Store: backend, Router: router, TLS: serverTLS, Advertise: advertise, HostID: hostID(ln.Addr(), advertise), Log: log,
	})
	if err != nil {
		return err
	}

	var dynamo *dynamoDB
	if dynamoLn != nil {
		if dynamo, err = s.openDynamoDB(starting, backend, log); err != nil {
			return err
		}
		defer dynamo.close()
	}

	failed := make(chan error, 4)
	go func() {
		if err := door.Run(); ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			failed <- fmt.Errorf("events of the backend: %w", err)
		}
	}()
	go func() {
		if err := door.Serve(ln); err != nil {
			failed <- err
		}
	}()
	collectors := []prometheus.Collector{doorCollector{door}}
	if dynamo != nil {
		collectors = append(collectors, dynamoCollector{dynamo.door})
		if dynamo.cache != nil {
			collectors = append(collectors, cacheCollector{dynamo.cache})
		}
		go func() {
			if err := dynamo.door.Serve(dynamoLn); err != nil {
				failed <- err
			}
		}()
	}
	if web != nil {
		stop := health.serve(web, collectors, failed)
		defer stop()
	}
	health.ready.Store(true)
	fmt.Fprintf(std.err, "evenkeel: CQL on %s, %s\n", ln.Addr(), what)
	if dynamo != nil {
		fmt.Fprintf(std.err, "evenkeel: DynamoDB on %s, on the embedded engine, data in %s\n", dynamoLn.Addr(), s.Data)
	}
	s.sayCapacity(std.err)
	if web != nil {
		fmt.Fprintf(std.err, "evenkeel: the workbench on http://%s/#token=%s (the token is for live tables)\n", web.Addr(), health.page.Token())
		fmt.Fprintf(std.err, "evenkeel: metrics and health on http://%s/metrics, /ready, /live\n", web.Addr())
	}

	select {
	case err := <-failed:
		return err
	case sig := <-signals:
		fmt.Fprintf(std.err, "evenkeel: %s, finishing what is in flight (again to end at once)\n", sig)
	case <-ctx.Done():
	}
	health.ready.Store(false)
	ln.Close()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Drain)
	defer cancel()
	go func() {
		select {
		case <-signals:
			cancel()
		case <-drain.Done():
		}
	}()
	ended := make(chan error, 1)
	go func() {
		if dynamo == nil {
			ended <- nil
			return
		}
		ended <- dynamo.door.Shutdown(drain)
	}()
	if err := errors.Join(door.Shutdown(drain), <-ended); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// startLimit bounds the way to the first client: connecting, discovering, reading
// the schema.
const startLimit = 30 * time.Second

// openStore is what is served, and in words what it is: the cluster where one is
// given, else the embedded engine.
func (s *serveCmd) openStore(ctx context.Context, log *slog.Logger, ln net.Addr, advertise netip.AddrPort, signals <-chan os.Signal) (store.Store, string, error) {
	if len(s.Cassandra) > 0 {
		return s.openCluster(ctx, log, signals)
	}
	for flag, set := range map[string]bool{
		"--cassandra-user": s.CassandraUser != "", "--cassandra-password-file": s.CassandraPasswordFile != "", "--cassandra-tls": s.CassandraTLS,
	} {
		if set {
			return nil, "", withHint(fmt.Errorf("%s is given without a cluster", flag), "--cassandra HOST[:PORT] says which")
		}
	}
	if !advertise.IsValid() {
		advertise = ln.(*net.TCPAddr).AddrPort()
	}
	e, err := engine.Open(s.Data, engine.Options{Address: advertise, Capacity: s.limits(likeKeyspaces)})
	if err != nil {
		return nil, "", withHint(err, "--data DIR chooses another directory")
	}
	return e, "on the embedded engine, data in " + s.Data, nil
}

func (s *serveCmd) openCluster(ctx context.Context, log *slog.Logger, signals <-chan os.Signal) (store.Store, string, error) {
	o := cluster.Options{
		Contacts: s.Cassandra, Username: s.CassandraUser, ConnsPerHost: s.CassandraConnections, Log: log,
	}
	if s.CassandraPasswordFile != "" {
		b, err := os.ReadFile(s.CassandraPasswordFile)
		if err != nil {
			return nil, "", fmt.Errorf("--cassandra-password-file: %w", err)
		}
		o.Password = strings.TrimRight(string(b), "\r\n")
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
	switch {
	case errors.As(err, &refused) && refused.Code == wire.CodeBadCredentials:
		return withHint(what, "check --cassandra-user and --cassandra-password-file")
	case strings.Contains(err.Error(), "wants credentials"):
		return withHint(what, "the door needs an account of its own: --cassandra-user NAME --cassandra-password-file FILE")
	case errors.Is(err, syscall.ECONNREFUSED):
		return withHint(what, "nothing listens there: is Cassandra running, and is %d its native_transport_port?", cluster.DefaultPort)
	}
	return withHint(what, "check --cassandra, and --cassandra-tls if the cluster speaks TLS")
}

func (s *serveCmd) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// listen listens, and says plainly why it cannot.
func listen(addr, flag string, port int) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		if strings.Contains(addr, ":") {
			return nil, fmt.Errorf("%s %q: %w", flag, addr, err)
		}
		addr = net.JoinHostPort(addr, strconv.Itoa(port))
	}
	ln, err := net.Listen("tcp", addr)
	if err == nil {
		return ln, nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, withHint(fmt.Errorf("%s %s: %w", flag, addr, err), "choose another address with %s ADDR", flag)
	}
	err = fmt.Errorf("%s is in use", addr)
	_, p, _ := net.SplitHostPort(addr)
	if p == "8000" {
		return nil, withHint(err, "a DynamoDB Local on this machine usually holds 8000; choose another port with %s 127.0.0.1:8001, or go without: %s off", flag, flag)
	}
	if p == "9042" {
		return nil, withHint(err, "a Cassandra on this machine usually holds 9042; choose another port with %s 127.0.0.1:9043, or serve that Cassandra with --cassandra 127.0.0.1:9042 as well", flag)
	}
	return nil, withHint(err, "choose another address with %s ADDR", flag)
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

// hostID is the door's identity to drivers: the same whenever it is started here.
func hostID(ln net.Addr, advertise netip.AddrPort) (id [16]byte) {
	name, _ := os.Hostname() // without a name the address alone must do
	sum := sha256.Sum256([]byte("evenkeel door " + name + " " + ln.String() + " " + advertise.String()))
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x80 // RFC 9562, version 8
	id[8] = id[8]&0x3f | 0x80
	return id
}

func (s *serveCmd) serverTLS() (*tls.Config, error) {
	if s.TLSCert == "" && s.TLSKey == "" {
		return nil, nil
	}
	if s.TLSCert == "" || s.TLSKey == "" {
		return nil, errors.New("--tls-cert and --tls-key go together")
	}
	cert, err := tls.LoadX509KeyPair(s.TLSCert, s.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
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
