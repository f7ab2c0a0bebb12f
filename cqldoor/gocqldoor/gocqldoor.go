// SPDX-License-Identifier: Apache-2.0

package gocqldoor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/run"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/shardrules"
)

// Host is the address that the driver is given for the door: gocql.NewCluster(gocqldoor.Host).
// Nothing listens there, and nothing connects to it.
const Host = "127.0.0.1:9042"

// Options say what is behind the door: the Contacts of a cluster, or a Store.
type Options struct {
	// Contacts are hosts of the cluster, HOST or HOST:PORT.
	Contacts []string

	// LocalDC is the data centre whose hosts get all requests; "" for that of the contact point
	// that the door reaches first. Rack is the rack whose replicas come first there; "" for no
	// preference.
	LocalDC, Rack string

	// Username and Password are the door's own account, if the cluster wants one. The door reads
	// the schema and the hosts with it, and keeps the catalogue in keyspace evenkeel. Sessions
	// use their own credentials.
	Username, Password string

	// TLS configures the connections with the cluster; nil for none.
	TLS *tls.Config

	// Store replaces the cluster, for example an *engine.Engine in this process. No other door
	// may use it. The caller closes it after the door.
	Store store.Store

	// Rules shard tables whose CREATE TABLE has no write_sharding property (shardrules.Parse).
	// The store keeps them, and all doors on it must have the same rules. Nil: the rules that the
	// store has.
	Rules *shardrules.Rules

	// Lease is how long the door may use what it has read about tables, if the catalogue does not
	// say so yet. Default 2 seconds, as in evenkeel serve.
	Lease time.Duration

	// Hints is how long the cluster may take to deliver a write that it has accepted: its
	// max_hint_window. Default 3 hours, as in Cassandra.
	Hints time.Duration

	// Memory bounds what long requests and answers hold together, in bytes. Default 256 MiB.
	Memory int64

	// Drain is how long Close waits for requests in flight. Default 10 seconds.
	Drain time.Duration

	// Log receives messages for the operator; default none.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Lease == 0 && o.Store == nil {
		o.Lease = fleet.DefaultLease
	}
	if o.Hints == 0 && o.Store == nil {
		o.Hints = 3 * time.Hour
	}
	if o.Memory == 0 {
		o.Memory = 256 << 20
	}
	if o.Drain == 0 {
		o.Drain = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate returns all errors in the options.
func (o Options) Validate() error {
	var errs []error
	switch {
	case len(o.Contacts) == 0 && o.Store == nil:
		errs = append(errs, errors.New("neither contacts of a cluster nor a store are given"))
	case len(o.Contacts) > 0 && o.Store != nil:
		errs = append(errs, errors.New("contacts of a cluster and a store are given: one of them can be behind the door"))
	case o.Store != nil && (o.Username != "" || o.TLS != nil):
		errs = append(errs, errors.New("an account or TLS is given for a store in this process, which has neither"))
	case o.Store != nil && (o.LocalDC != "" || o.Rack != ""):
		errs = append(errs, errors.New("a data centre or a rack is given for a store in this process, which has neither"))
	case o.Store != nil && o.Lease != 0:
		errs = append(errs, errors.New("a lease is given for a store in this process, on which no other door may be"))
	}
	if o.Password != "" && o.Username == "" {
		errs = append(errs, errors.New("a password is given without a user name"))
	}
	if o.Lease < 0 || o.Hints < 0 || o.Memory < 0 || o.Drain < 0 {
		errs = append(errs, errors.New("times and sizes must not be negative"))
	}
	return errors.Join(errs...)
}

// Dialer is the door as a gocql.HostDialer. Several sessions may use it concurrently.
type Dialer struct {
	opts   Options
	store  store.Store // opened by New; nil: the caller owns the store
	router *run.Router
	door   *cqldoor.Door
	pipes  *pipes
	done   sync.WaitGroup
	once   sync.Once
	ended  error
}

var _ gocql.HostDialer = (*Dialer)(nil)

// New makes the door. It connects to the cluster and reads which tables are sharded. ctx bounds
// only that.
func New(ctx context.Context, o Options) (*Dialer, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("a CQL door's options: %w", err)
	}
	d := &Dialer{opts: o.withDefaults(), pipes: newPipes()}
	if err := d.open(ctx); err != nil {
		return nil, fmt.Errorf("a CQL door: %w", err)
	}
	d.done.Go(func() {
		if err := d.door.Run(); err != nil && !errors.Is(err, context.Canceled) {
			d.opts.Log.Warn("events of the store end", "error", err)
		}
	})
	d.done.Go(func() {
		if err := d.door.Serve(d.pipes); err != nil {
			d.opts.Log.Error("the door does not serve any more", "error", err)
		}
	})
	return d, nil
}

// open opens what the door needs. After an error nothing is open.
func (d *Dialer) open(ctx context.Context) error {
	o := d.opts
	behind := o.Store
	if behind == nil {
		c, err := cluster.Connect(ctx, cluster.Options{Contacts: o.Contacts, LocalDC: o.LocalDC, Rack: o.Rack, Username: o.Username, Password: o.Password, TLS: o.TLS, Log: o.Log})
		if err != nil {
			return err
		}
		behind, d.store = c, c
	}
	eras := new(cqldoor.Eras)
	d.router = run.New(run.Options{
		Eras: eras, Store: behind, Lease: o.Lease, Hints: o.Hints, Rules: o.Rules, Self: fleet.Door{HostID: gocql.MustRandomUUID(), Release: "gocqldoor"},
		Now: time.Now, IntN: rand.IntN, Log: o.Log,
		Timeuuid: func() [16]byte { return gocql.TimeUUID() }, UUID: func() [16]byte { return gocql.MustRandomUUID() },
	})
	err := d.router.Start(ctx)
	if err == nil {
		d.door, err = cqldoor.New(ctx, cqldoor.Options{
			Store: behind, Router: d.router, Eras: eras, Advertise: netip.MustParseAddrPort(Host), Memory: budget.New(o.Memory, 0), Log: o.Log,
		})
	}
	if err != nil {
		d.router.Close()
		if d.store != nil {
			err = errors.Join(err, d.store.Close())
		}
	}
	return err
}

// DialHost connects the driver to the door, whichever host the driver names.
func (d *Dialer) DialHost(ctx context.Context, _ *gocql.HostInfo) (*gocql.DialedHost, error) {
	nc, err := d.pipes.dial(ctx)
	if err != nil {
		return nil, err
	}
	// The connection is in memory, so joining writes would save no system call.
	return &gocql.DialedHost{Conn: nc, DisableCoalesce: true}, nil
}

// Close ends the door. It waits for requests in flight, at most Options.Drain. Sessions that are
// still open lose their connections.
func (d *Dialer) Close() error {
	d.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), d.opts.Drain)
		defer cancel()
		d.pipes.Close()
		d.ended = d.door.Shutdown(ctx)
		d.done.Wait()
		d.router.Close()
		if d.store != nil {
			d.ended = errors.Join(d.ended, d.store.Close())
		}
	})
	return d.ended
}
