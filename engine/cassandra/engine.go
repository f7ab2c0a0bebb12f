// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/cassandra/system"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// Options configure an engine. The zero value works.
type Options struct {
	// Storage configures how the data is stored.
	Storage storage.Options

	// ClusterName, DataCenter and Rack appear in system.local. Defaults "evenkeel",
	// "datacenter1", "rack1".
	ClusterName, DataCenter, Rack string

	// Address is the native protocol's address in system.local. Default 127.0.0.1:9042.
	Address netip.AddrPort

	// Prepared is how many prepared statements the engine keeps. Default 10,000. For a dropped
	// statement it answers UNPREPARED, which drivers handle.
	Prepared int

	// Capacity makes the tables apply the limits of Amazon Keyspaces. Default none.
	Capacity *throughput.Limits

	// Timeout is how long a long request may take, including the wait for its turn. For an
	// aggregate the time restarts with every 10,000 rows. Default: no limit.
	Timeout time.Duration

	// Clock tells the time; default time.Now.
	Clock func() time.Time
}

func (o *Options) withDefaults() {
	if o.ClusterName == "" {
		o.ClusterName = "evenkeel"
	}
	if o.DataCenter == "" {
		o.DataCenter = "datacenter1"
	}
	if o.Rack == "" {
		o.Rack = "rack1"
	}
	if !o.Address.IsValid() {
		o.Address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 9042)
	}
	if o.Prepared == 0 {
		o.Prepared = 10_000
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
}

// Engine is an open engine. It is a store.Store and safe for concurrent use.
type Engine struct {
	options  Options
	db       *storage.DB
	clock    *clock
	state    atomic.Pointer[state]
	changing sync.Mutex // held by one schema change at a time
	plans    *planCache
	commits  *committer
	limits   *limiter // nil: no limits
	events   events
	hostID   [16]byte
	pageKey  []byte // key that authenticates paging states
	started  time.Time
	timeuuid func() [16]byte // clock.timeuuid

	closing sync.RWMutex // keeps new work from starting while closed is set
	closed  bool
	work    sync.WaitGroup // goroutines of requests
	lanes   lanes          // for requests that may take long

	longest int // see maxResult
}

var _ store.Store = (*Engine)(nil)
var _ store.Versioned = (*Engine)(nil)

// These are the keys of the metadata. A keyspace's record is at metaKeyspace and its name. A
// dropped table whose data must still be removed is at metaDrop and its id.
const (
	metaKeyspace = "engine/keyspace/"
	metaDrop     = "engine/drop/"
	metaVersion  = "engine/schema-version"
	metaHost     = "engine/host-id"
	metaPageKey  = "engine/page-key"
)

// Open opens the engine with its data in dir. It creates the data if there is none.
func Open(dir string, o Options) (*Engine, error) {
	o.withDefaults()
	db, err := storage.Open(dir, o.Storage)
	if err != nil {
		return nil, err
	}
	e := &Engine{options: o, db: db, clock: newClock(o.Clock), started: o.Clock()}
	e.timeuuid = e.clock.timeuuid
	e.limits = newLimiter(o.Capacity, o.Clock)
	e.lanes, e.longest = newLanes(), maxResult
	e.plans = newPlanCache(o.Prepared)
	if err := e.load(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e.commits = newCommitter(db)
	return e, nil
}

// load reads the metadata, or writes the metadata of a new engine.
func (e *Engine) load() error {
	user := map[string]*schema.Keyspace{}
	ids := map[[16]byte]columnIDs{}
	var failed error
	err := e.db.MetaRange(metaKeyspace, func(_ string, raw []byte) bool {
		ks, err := decodeKeyspace(raw, ids)
		if err != nil {
			failed = err
			return false
		}
		user[ks.Name] = ks
		return true
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if err := e.identify(); err != nil {
		return err
	}
	version, err := e.db.Meta(metaVersion)
	if err != nil {
		return err
	}
	s, err := newState(e.db, e.limits.keyspaces(), user, ids, nil, [16]byte(version))
	if err != nil {
		return err
	}
	if err := e.db.Raise(s.stores()); err != nil {
		return err
	}
	e.state.Store(s)
	for _, t := range s.tables {
		e.limits.declared(t)
	}
	return e.finishDrops()
}

// identify reads or makes the values that a node keeps for life.
func (e *Engine) identify() error {
	b := e.db.NewBatch()
	defer b.Release()
	fresh := false
	get := func(key string, size int, make func() []byte) ([]byte, error) {
		v, err := e.db.Meta(key)
		if err != nil {
			return nil, err
		}
		if v == nil {
			v, fresh = make(), true
			b.SetMeta(key, v)
		}
		if len(v) != size {
			return nil, fmt.Errorf("read metadata: %s has %d bytes, not %d", key, len(v), size)
		}
		return v, nil
	}
	uuid := func() []byte { u := randomUUID(); return u[:] }
	host, err := get(metaHost, 16, uuid)
	if err != nil {
		return err
	}
	e.hostID = [16]byte(host)
	if e.pageKey, err = get(metaPageKey, 16, uuid); err != nil {
		return err
	}
	if _, err = get(metaVersion, 16, uuid); err != nil {
		return err
	}
	if !fresh {
		return nil
	}
	return b.Commit()
}

// finishDrops removes the data of tables whose drop was interrupted.
func (e *Engine) finishDrops() error {
	var ids []string
	err := e.db.MetaRange(metaDrop, func(key string, _ []byte) bool {
		ids = append(ids, strings.TrimPrefix(key, metaDrop))
		return true
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := e.dropData([16]byte([]byte(id))); err != nil {
			return err
		}
	}
	return nil
}

// dropData removes a dropped table's data, and then the note that it must be removed.
func (e *Engine) dropData(id [16]byte) error {
	if err := e.db.DropTable(id); err != nil {
		return err
	}
	e.limits.forget(id)
	b := e.db.NewBatch()
	defer b.Release()
	b.SetMeta(metaDrop+string(id[:]), nil)
	return b.Commit()
}

// Authenticator implements store.Store: the engine wants no credentials.
func (e *Engine) Authenticator(context.Context) (string, error) { return "", nil }

// MaxVersion implements store.Versioned.
func (e *Engine) MaxVersion(context.Context) (wire.Version, error) { return wire.V5, nil }

// Open implements store.Store.
func (e *Engine) Open(_ context.Context, o store.LinkOptions) (store.Link, error) {
	if o.Version != wire.V4 && o.Version != wire.V5 {
		return nil, wire.VersionError(uint8(o.Version))
	}
	if o.Keyspace != "" && e.state.Load().schema.Keyspaces[o.Keyspace] == nil {
		return nil, noKeyspace(o.Keyspace)
	}
	return &link{engine: e, version: o.Version, keyspace: o.Keyspace, own: o.Own}, nil
}

func noKeyspace(name string) error { return wire.Invalidf("Keyspace '%s' does not exist", name) }

// Storage returns the engine's database, for other data that is kept there. It is open until
// Close.
func (e *Engine) Storage() *storage.DB { return e.db }

// Close implements store.Store. Later requests are refused.
func (e *Engine) Close() error {
	e.closing.Lock()
	again := e.closed
	e.closed = true
	e.closing.Unlock()
	if again {
		return nil
	}
	e.db.GiveUp()
	e.work.Wait()
	e.commits.close()
	e.events.close()
	return e.db.Close()
}

// begin counts a request, unless the engine is closed. work.Done ends it.
func (e *Engine) begin() bool {
	e.closing.RLock()
	defer e.closing.RUnlock()
	if e.closed {
		return false
	}
	e.work.Add(1)
	return true
}

// info returns the content of system.local.
func (e *Engine) info(s *state) *system.Info {
	return &system.Info{
		ClusterName: e.options.ClusterName, DataCenter: e.options.DataCenter, Rack: e.options.Rack,
		HostID: e.hostID, SchemaVersion: s.version, Address: e.options.Address, Generation: int32(e.started.Unix()),
	}
}
