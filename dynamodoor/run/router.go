// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/requestid"
	"github.com/evenkeel/evenkeel/dynamodoor/shift"
	"github.com/evenkeel/evenkeel/shardrules"
)

// Backend is a store of plain tables.
type Backend interface {
	// Has says whether there is such an operation.
	Has(operation string) bool
	// Do carries out an operation, whose request has this body, and appends the
	// answer's body to dst.
	Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error)
	// Answer carries out a decoded request and gives the answer to use, which must
	// not keep it.
	Answer(ctx context.Context, q api.Request, use func(api.Response) error) error
}

// Options are what a Router is made of.
type Options struct {
	Backend Backend          // needed
	Now     func() time.Time // default time.Now
	Log     *slog.Logger     // default none
	// RetryFor is how long the parts of one request on several shards are tried again
	// when the backend throttles them; default 5 seconds. Requests that go to one
	// shard are the client's to try again.
	RetryFor time.Duration
	// Lease is how long what is known of tables is good for, where other doors are on
	// the same store; sharded tables are then deleted and made with as much of a
	// pause as it takes that no door goes by what was before. 0 says that no other
	// door is.
	Lease time.Duration
	// Fanout bounds the requests of one client's request that are under way at a
	// time; default 16.
	Fanout int
	// Caution is how long the stubs of a table whose layout was changed stay, for Scans
	// that began before; default 10 minutes.
	Caution time.Duration
	// Rules shard tables whose CreateTable says nothing of it. They are kept in the store.
	// Nil: those that the store has.
	Rules *shardrules.Rules
	// ReplaceRules has Rules take the place of others that the store has, which is refused
	// otherwise where other doors may be on it.
	ReplaceRules bool
	// Door is how this door is called where others read it.
	Door string
}

// Router is a store with sharded tables. It is safe for concurrent use.
type Router struct {
	backend Backend
	catalog *catalog.Catalog
	rules   *ruled
	log     *slog.Logger
	fanout  int
	retry   time.Duration
	caution time.Duration
	now     func() time.Time
	draw    func() uint64 // which shards a page asks first; tests draw the same again

	tables   atomic.Pointer[map[string]*entry] // the sharded ones by name; replaced, never changed
	defining sync.Mutex                        // held by one change of tables at a time

	// Of a store with other doors on it:
	lease    time.Duration // 0: there are none
	asOf     atomic.Pointer[time.Time]
	renewing sync.Mutex // held while the catalogue is read, or changed together with tables; after defining
	plain    sync.Map   // names of plain tables
	plains   atomic.Int64

	decoders sync.Pool
	schemas  sync.Map // of plain tables, known by name; for statements

	problems sync.Map     // what keeps changes of tables' layouts from going on, by table
	stamps   atomic.Int64 // of items that move: no two of a door are the same

	goneStreams sync.Map // goneStream by the stream's name
	gones       atomic.Int64
}

// entry is a sharded table in use, or what is wrong with it.
type entry struct {
	*catalog.Entry
	table     *plan.Table
	wrong     error
	described time.Time
	pins      *pins        // nil of one that is not in use
	shift     *shift.Table // of a table whose layout is being changed, or was; else nil
}

// New returns a Router. Start must be called before it is used.
func New(o Options) *Router {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Fanout <= 0 {
		o.Fanout = 16
	}
	if o.Caution <= 0 {
		o.Caution = 10 * time.Minute
	}
	if o.RetryFor <= 0 {
		o.RetryFor = 5 * time.Second
	}
	r := &Router{
		retry: o.RetryFor, caution: o.Caution, backend: observed{o.Backend}, catalog: catalog.New(asDoor{o.Backend}, o.Now), log: o.Log, fanout: o.Fanout,
		now: o.Now, draw: rand.Uint64, lease: o.Lease,
	}
	r.rules = &ruled{catalog: r.catalog, log: o.Log, mine: o.Rules, replace: o.ReplaceRules || o.Lease == 0, door: o.Door}
	r.asOf.Store(new(time.Time))
	r.decoders.New = func() any { return new(api.Decoder) }
	r.tables.Store(&map[string]*entry{})
	return r
}

// asDoor is a store that is asked by the door, whoever's request is carried out.
type asDoor struct{ backend Backend }

func (s asDoor) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	return s.backend.Do(requestid.With(principal.With(ctx, principal.Principal{}), nil), operation, body, dst)
}

// answer carries out a decoded request.
func (s asDoor) answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	return s.backend.Answer(requestid.With(principal.With(ctx, principal.Principal{}), nil), q, use)
}

// Has says whether there is such an operation.
func (r *Router) Has(operation string) bool {
	return isPartiQL(operation) || operation == "Reshard" || r.backend.Has(operation)
}

// Do carries out one operation, whose request has this body, and appends the
// answer's body to dst.
func (r *Router) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	if r.lease > 0 {
		return r.doShared(ctx, operation, body, dst)
	}
	q, ok := api.New(operation)
	if !ok {
		return dst, exception.New(exception.UnknownOperation, "")
	}
	if len(*r.tables.Load()) == 0 && !defines(q) && !isPartiQL(operation) && !aboutStreams(q) && !mayNameCatalogue(body) {
		return r.backend.Do(ctx, operation, body, dst)
	}
	d := r.decoders.Get().(*api.Decoder)
	defer func() {
		d.Reset()
		r.decoders.Put(d)
	}()
	if err := q.Decode(d, body); err != nil {
		return dst, err
	}
	if isPartiQL(operation) && r.forwards(q) {
		return r.backend.Do(ctx, operation, body, dst)
	}
	err := r.answer(ctx, q, func(a api.Response) error {
		dst = a.AppendJSON(dst)
		return nil
	})
	return dst, err
}

// mayNameCatalogue tells whether the catalogue's table may be named in a body, which is
// not read: it is there after its last sharded table, too. JSON can spell a letter in one
// other way only.
func mayNameCatalogue(body []byte) bool {
	return bytes.Contains(body, []byte(catalog.Table)) || bytes.Contains(body, []byte(`\u`))
}

// defines tells whether a request is about tables rather than items.
func defines(q api.Request) bool {
	switch q.(type) {
	case *api.CreateTable, *api.UpdateTable, *api.DeleteTable, *api.DescribeTable, *api.ListTables,
		*api.TagResource, *api.UntagResource, *api.ListTagsOfResource, *api.UpdateTimeToLive, *api.DescribeTimeToLive, *api.Reshard:
		return true
	}
	return false
}

// answer carries out a decoded request.
func (r *Router) answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	switch q := q.(type) {
	case *api.CreateTable:
		defer r.forget(q.Name)
		return r.createTable(ctx, q, use)
	case *api.UpdateTable:
		defer r.forget(q.Table)
		return r.updateTable(ctx, q, use)
	case *api.DeleteTable:
		defer r.forget(q.Table)
		return r.deleteTable(ctx, q, use)
	case *api.ExecuteStatement, *api.BatchExecuteStatement, *api.ExecuteTransaction:
		return r.statements(ctx, q, use)
	case *api.ListStreams, *api.DescribeStream, *api.GetShardIterator, *api.GetRecords:
		return r.streams(ctx, q, use)
	case *api.DescribeTable:
		return r.describeTable(ctx, q, use)
	case *api.DescribePartitions:
		return r.describePartitions(ctx, q, use)
	case *api.Reshard:
		return r.reshard(ctx, q, use)
	case *api.ListTables:
		return r.listTables(ctx, q, use)
	case *api.TagResource:
		return r.tag(ctx, q, use)
	case *api.UntagResource:
		return r.untag(ctx, q, use)
	case *api.UpdateTimeToLive:
		return r.updateTimeToLive(ctx, q, use)
	case *api.DescribeTimeToLive:
		return r.about(ctx, q.Table, q, use)
	case *api.ListTagsOfResource:
		return r.about(ctx, q.ARN, q, use)
	}
	return r.execute(ctx, q, use)
}

// about passes on a request about a table that is the same for plain and sharded
// ones.
func (r *Router) about(ctx context.Context, table string, q api.Request, use func(api.Response) error) error {
	if _, err := r.sharded(table); err != nil {
		return err
	}
	return r.backend.Answer(ctx, q, use)
}

// simpleName is a table's name without what an ARN has before it.
func simpleName(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return name
}

// Start reads the catalogue, and settles what is half-way.
func (r *Router) Start(ctx context.Context) error {
	r.defining.Lock()
	defer r.defining.Unlock()
	rules, err := r.rules.start(ctx)
	if err != nil {
		return fmt.Errorf("read the shard rules of DynamoDB tables: %w", err)
	}
	if err := r.readAll(ctx); err != nil {
		return err
	}
	r.warnOfRules(ctx, rules)
	return nil
}

// readAll reads the catalogue. The caller holds defining.
func (r *Router) readAll(ctx context.Context) error {
	if r.lease > 0 {
		r.renewing.Lock()
		defer r.renewing.Unlock()
		if err := r.read(ctx); err != nil {
			return fmt.Errorf("read the catalogue of sharded DynamoDB tables: %w", err)
		}
		return nil // tables without an entry are found when they are asked for
	}
	entries, err := r.catalog.All(ctx)
	if err != nil {
		return fmt.Errorf("read the catalogue of sharded DynamoDB tables: %w", err)
	}
	tables := make(map[string]*entry, len(entries))
	for _, e := range entries {
		in, err := r.use(ctx, e)
		if err != nil {
			return fmt.Errorf("sharded DynamoDB table %s: %w", e.Table, err)
		}
		if in != nil {
			tables[e.Table] = in
		}
	}
	if err := r.orphans(ctx, tables); err != nil {
		return fmt.Errorf("look for physical tables without an entry: %w", err)
	}
	r.tables.Store(&tables)
	return nil
}

// orphans adds the physical tables that have lost their entry: served as plain
// tables, they would take items that no sharded one finds.
func (r *Router) orphans(ctx context.Context, tables map[string]*entry) error {
	for q := (&api.ListTables{Limit: 100}); q != nil; {
		var names []string
		var last string
		err := r.backend.Answer(ctx, q, func(a api.Response) error {
			l := a.(*api.TablesResponse)
			names, last = l.Names, l.Last
			return nil
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			if tables[name] != nil {
				continue
			}
			t, err := r.physical(ctx, name)
			if err != nil {
				return err
			}
			if t != nil && isPhysical(t) {
				e := &catalog.Entry{Table: name, Physical: name, ID: t.ID, State: catalog.Active}
				tables[name] = &entry{Entry: e, wrong: orphan(name)}
				r.log.Error("dynamodb: a sharded table cannot be served", "table", name, "error", tables[name].wrong)
			}
		}
		if q = nil; last != "" {
			q = &api.ListTables{Limit: 100, Start: last}
		}
	}
	return nil
}

// isPhysical tells whether a table is the physical table of a sharded one, or of
// one with sharded indexes.
func isPhysical(t *schema.Table) bool {
	hidden := func(ix schema.Index) bool { return strings.HasPrefix(ix.Key.Hash[0], plan.HiddenPrefix) }
	return len(t.Key.Hash) > 0 && t.Key.Hash[0] == plan.PartitionKey || slices.ContainsFunc(t.Global, hidden)
}

func orphan(name string) error {
	return exception.Invalid("table %s is the physical table of a sharded one, and has lost its entry in table %s; restore the entry", name, catalog.Table)
}
