// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/observe/exposition"
	"github.com/evenkeel/evenkeel/observe/otlp"
)

// serveCmd holds the arguments of `evenkeel serve`.
type serveCmd struct {
	ListenCQL      string          `placeholder:"ADDR" default:"127.0.0.1:9042" help:"Address of the CQL door; 'off' for none (${default})."`
	ListenDynamoDB string          `name:"listen-dynamodb" placeholder:"ADDR" help:"Address of the DynamoDB door, on this machine unless there are --access-keys; 'off' for none (127.0.0.1:8000; off with --cassandra alone)."`
	ListenHTTP     string          `placeholder:"ADDR" default:"127.0.0.1:8080" help:"Address of the workbench's page, /metrics, /ready and /live; 'off' for none (${default})."`
	Advertise      string          `placeholder:"ADDR" help:"Address that the door gives to drivers, with or without a port, if it is not the one that they connect to."`
	DriverRouting  string          `enum:"round-robin,token" default:"round-robin" help:"How drivers choose one of several doors: in turn, which spreads one hot key over all doors, or by the key's token: ${enum} (${default})."`
	Data           string          `placeholder:"DIR" default:"./evenkeel-data" help:"Where the embedded engine keeps its data (${default})."`
	StoreOnly      bool            `help:"Serve the embedded engine as a plain CQL node, without sharding: a store for the --cassandra of other doors (for DynamoDB: --dynamodb-sharding off)."`
	Config         kong.ConfigFlag `placeholder:"FILE" help:"YAML file with any of these flags by name; flags of the command line override it."`
	Drain          time.Duration   `default:"10s" help:"How long requests in flight may take when the door stops (${default})."`
	RequestTimeout time.Duration   `default:"10s" help:"How long a CQL request may take on the embedded engine or on sharded tables; after that it ends with a read or write timeout. 0 for any time (${default})."`
	LogLevel       string          `enum:"debug,info,warn,error" default:"info" help:"The lowest level that is logged: ${enum} (${default})."`

	endpointFlags
	capacityFlags
	cacheFlags
	memoryFlags
	traceFlags
	ruleFlags

	ShowKeys bool `help:"Show the partition keys that DynamoDB throttles in /metrics; without this flag, their hashes."`

	memory *budget.Budget // shared by both doors
	traces *otlp.Exporter // nil: no spans are sent
	files  vfs.FS         // file system of the embedded engine's data; nil: the machine's

	TLSCert string `placeholder:"FILE" help:"Certificate for clients, PEM; clients must then use TLS."`
	TLSKey  string `placeholder:"FILE" help:"Its private key, PEM."`

	Cassandra              []string `placeholder:"HOST[:PORT],…" help:"Contact points of the cluster to serve; without them the door serves the embedded engine."`
	CassandraUser          string   `placeholder:"NAME" help:"The door's own account at the cluster, for its schema and hosts; clients bring theirs."`
	CassandraPasswordFile  string   `placeholder:"FILE" help:"File with that account's password."`
	CassandraConnections   int      `placeholder:"N" default:"2" help:"Connections to each host for each account and keyspace (${default})."`
	CassandraInFlight      int      `placeholder:"N" default:"2048" help:"How many requests each host may have in flight, for each account and keyspace; 16 times as many wait, and the rest get Overloaded (${default})."`
	CassandraRouting       string   `enum:"token,any" default:"token" help:"Which host gets a prepared statement: a replica of its partition, or any: ${enum} (${default})."`
	LocalDC                string   `name:"local-dc" placeholder:"NAME" help:"Data centre of the cluster whose hosts get all requests; by default that of the contact point that the door reaches first."`
	Rack                   string   `placeholder:"NAME" help:"The door's own rack in that data centre: replicas in it come first."`
	Hedge                  string   `enum:"on,off" default:"on" help:"Whether the door also sends a read of a shard to a second host if it takes longer than 99 of 100 reads, within 5% more requests: ${enum} (${default})."`
	CassandraTLS           bool     `name:"cassandra-tls" help:"Speak TLS with the cluster."`
	CassandraTLSCA         string   `name:"cassandra-tls-ca" placeholder:"FILE" help:"Certificates against which the door checks the cluster's; the system's by default."`
	CassandraTLSCert       string   `name:"cassandra-tls-cert" placeholder:"FILE" help:"Certificate that the door shows the cluster."`
	CassandraTLSKey        string   `name:"cassandra-tls-key" placeholder:"FILE" help:"Its private key."`
	CassandraTLSServerName string   `name:"cassandra-tls-server-name" placeholder:"NAME" help:"Name that the cluster's certificates must have; the first contact point by default."`
	CassandraTLSInsecure   bool     `name:"cassandra-tls-insecure" help:"Do not check the cluster's certificates."`
}

// Run serves until a signal arrives.
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
	if err := s.checkEndpoint(); err != nil {
		return err
	}
	if err := s.checkRules(); err != nil {
		return err
	}
	var err error
	limitArenas()
	if s.memory, err = s.memoryFlags.budget(); err != nil {
		return err
	}
	log := s.logger(std.err)
	if s.traces, err = s.openTraces(ctx, log); err != nil {
		return err
	}
	if s.traces != nil {
		defer closeTraces(s.traces, log)
	}
	cqlLn, err := s.listenCQL()
	if err != nil {
		return err
	}
	if cqlLn != nil {
		defer cqlLn.Close()
	}
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
	if cqlLn == nil && dynamoLn == nil && web == nil {
		return withHint(errors.New("there is nothing to serve: --listen-cql, --listen-dynamodb and --listen-http are all off"), "leave one of them out")
	}

	var cql *cqlSide
	if cqlLn != nil {
		if cql, err = s.openCQL(ctx, cqlLn, log, signals); err != nil {
			return err
		}
		defer cql.close()
	}
	var dynamo *dynamoDB
	if dynamoLn != nil {
		if dynamo, err = s.openDynamoDB(ctx, cql.storage(), log); err != nil {
			return err
		}
		defer dynamo.close()
	}

	failed := make(chan error, 4)
	var collectors []prometheus.Collector
	if cql != nil {
		collectors = append(collectors, counts(cql.door.Stats, doorMetrics))
		collectors = append(collectors, cql.measures()...)
		if cql.cache != nil {
			collectors = append(collectors, counts(cql.cache.Stats, cqlCacheMetrics))
		}
		go cql.serve(ctx, cqlLn, failed)
	}
	if dynamo != nil {
		collectors = append(collectors, counts(dynamo.door.Stats, dynamoMetrics), exposition.New("evenkeel_dynamodb", dynamo.observe.Requests), throttleCollector{dynamo.throttled})
		if dynamo.changes != nil {
			collectors = append(collectors, changesOf("evenkeel_dynamodb", dynamo.changes))
		}
		if dynamo.cache != nil {
			collectors = append(collectors, counts(dynamo.cache.Stats, cacheMetrics))
		}
		go func() {
			if err := dynamo.door.Serve(dynamoLn); err != nil {
				failed <- err
			}
		}()
	}
	if web != nil {
		collectors = append(collectors, consumptionOf(cql, dynamo, s)...)
		collectors = append(collectors, workOf(cql)...)
		collectors = append(collectors, memoryCollectors(s.memory)...)
		if s.traces != nil {
			collectors = append(collectors, traceCollector{s.traces})
		}
		stop := health.serve(web, collectors, failed)
		defer stop()
	}
	health.ready.Store(true)
	if cql != nil {
		fmt.Fprintf(std.err, "evenkeel: CQL on %s, %s\n", cqlLn.Addr(), cql.what)
	}
	if dynamo != nil {
		fmt.Fprintf(std.err, "evenkeel: DynamoDB on %s, %s\n", dynamoLn.Addr(), dynamo.what)
	}
	s.sayCapacity(std.err)
	if web != nil {
		fmt.Fprintf(std.err, "evenkeel: the workbench on http://%s/#token=%s (the token is for live tables)\n", web.Addr(), health.page.Token())
		fmt.Fprintf(std.err, "evenkeel: what this server does now: http://%s/server; also /metrics, /ready, /live\n", web.Addr())
	}

	select {
	case err := <-failed:
		return err
	case sig := <-signals:
		fmt.Fprintf(std.err, "evenkeel: %s, finishing the requests in flight (a second signal ends at once)\n", sig)
	case <-ctx.Done():
	}
	health.ready.Store(false)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Drain)
	defer cancel()
	go func() {
		select {
		case <-signals:
			cancel()
		case <-drain.Done():
		}
	}()
	ended := make(chan error, 2)
	go func() { ended <- cql.shutdown(drain, cqlLn) }()
	go func() { ended <- dynamo.shutdown(drain) }()
	if err := errors.Join(<-ended, <-ended); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// startLimit bounds the time until the first client is served: connecting, discovering the
// cluster, reading the schema.
const startLimit = 30 * time.Second

func (s *serveCmd) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// listen opens a listener. If it cannot, the error says why in plain words.
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
