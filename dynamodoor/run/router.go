// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/definitions"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
	"github.com/evenkeel/evenkeel/dynamodoor/mover"
	"github.com/evenkeel/evenkeel/dynamodoor/statements"
	"github.com/evenkeel/evenkeel/dynamodoor/streams"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shardrules"
)

// Options holds the dependencies and settings of a Router.
type Options struct {
	Backend backend.Store    // needed
	Now     func() time.Time // default time.Now
	Log     *slog.Logger     // default none
	// RetryFor is how long the door retries the throttled parts of one request on several shards;
	// default 5 seconds. The client itself retries requests that go to one shard.
	RetryFor time.Duration
	// Lease is how long a door's knowledge of tables is valid if other doors are on the same store.
	// A door that deletes or creates a sharded table then waits until no door uses its earlier
	// state. 0: no other door is on the store.
	Lease time.Duration
	// Fanout is the largest number of requests under way at a time for one client request; default
	// 16. 1 is for a Backend in this process. If that Backend is a backend.Gatherer, it reads all
	// shards in one request.
	Fanout int
	// Caution is how long the stubs of a table stay after its layout was changed, for Scans that
	// began before; default 10 minutes.
	Caution time.Duration
	// Rules shard tables whose CreateTable declares no sharding. The store keeps them. Nil: the
	// rules in the store apply.
	Rules *shardrules.Rules
	// ReplaceRules lets Rules replace other rules in the store. Without it, the door refuses to
	// start if other doors may be on the store.
	ReplaceRules bool
	// Rights says that clients have rights of their own at the Backend. These are by the names of
	// physical tables, so that a plain table is then not made a sharded one, which needs another.
	Rights bool
	// Door is the name of this door for others.
	Door string
}

// Router is a store with sharded tables. It sends each request to the part that carries it out. It
// is safe for concurrent use.
type Router struct {
	backend     backend.Store
	lease       time.Duration
	now         func() time.Time
	tables      *tables.Registry
	items       *items.Runner
	statements  *statements.Runner
	streams     *streams.Reader
	mover       *mover.Mover
	definitions *definitions.Definer
	decoders    sync.Pool
}

// New returns a Router. Call Start before using it.
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
	store, known := backend.Store(backend.Observed{Store: o.Backend}), catalog.New(backend.Door{Store: o.Backend}, o.Now)
	r := &Router{backend: store, lease: o.Lease, now: o.Now}
	r.decoders.New = func() any { return new(api.Decoder) }
	r.tables = tables.New(tables.Options{Backend: store, Catalog: known, Now: o.Now, Log: o.Log, Lease: o.Lease})
	r.items = &items.Runner{Backend: store, Catalog: known, Tables: r.tables, Log: o.Log, Fanout: o.Fanout, RetryFor: o.RetryFor, Now: o.Now, Draw: rand.Uint64}
	if o.Fanout == 1 {
		r.items.Together = backend.GathererOf(o.Backend)
	}
	r.statements = &statements.Runner{Backend: store, Tables: r.tables, Items: r.items, Log: o.Log, Fanout: o.Fanout}
	r.streams = &streams.Reader{Backend: store, Catalog: known, Tables: r.tables, Log: o.Log}
	r.mover = &mover.Mover{Backend: store, Catalog: known, Tables: r.tables, Items: r.items, Log: o.Log, Now: o.Now, Caution: o.Caution, Rights: o.Rights}
	r.definitions = &definitions.Definer{
		Backend: store, Catalog: known, Tables: r.tables, Items: r.items, Mover: r.mover, Streams: r.streams, Log: o.Log,
		Rules: &definitions.Rules{Catalog: known, Log: o.Log, Mine: o.Rules, Replace: o.ReplaceRules || o.Lease == 0, Door: o.Door},
	}
	return r
}

// Start reads the catalogue and settles unfinished operations.
func (r *Router) Start(ctx context.Context) error { return r.definitions.Start(ctx) }

// RunMover carries out changes of tables' layouts until the context ends.
func (r *Router) RunMover(ctx context.Context) { r.mover.Run(ctx) }

// Changes returns the changes of layout under way. See mover.Mover.Changes.
func (r *Router) Changes() []reshard.Status { return r.mover.Changes() }

// StepChange carries out one step of the change of a table's layout. more is false if the change is
// done or paused.
func (r *Router) StepChange(ctx context.Context, name string) (more bool, err error) {
	return r.mover.StepChange(ctx, name)
}

// Schema returns the schema of a table as clients know it.
func (r *Router) Schema(ctx context.Context, name string) (*schema.Table, error) {
	return r.tables.Schema(ctx, name)
}

// Has reports whether the store has an operation.
func (r *Router) Has(operation string) bool {
	return api.OperationOf(operation).Is(api.Statements, api.Layouts) || r.backend.Has(operation)
}

// Do carries out one operation whose request has this body, and appends the answer's body to dst.
func (r *Router) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	if r.tables.Shared() {
		return r.doShared(ctx, operation, body, dst)
	}
	o := api.OperationOf(operation)
	if o.New == nil {
		return dst, exception.New(exception.UnknownOperation, "")
	}
	defer r.tables.Forwarded.End(r.tables.Forwarded.Begin())
	if len(r.tables.All()) == 0 && o.Is(api.Items, api.Endpoint) && !mayNameCatalogue(body) {
		return r.backend.Do(ctx, operation, body, dst)
	}
	q, d := o.New(), r.decoders.Get().(*api.Decoder)
	defer func() {
		d.Reset()
		r.decoders.Put(d)
	}()
	if err := q.Decode(d, body); err != nil {
		return dst, err
	}
	if o.About == api.Statements && r.statements.Forwards(q) {
		return r.backend.Do(ctx, operation, body, dst)
	}
	err := r.answer(ctx, q, func(a api.Response) error {
		dst = a.AppendJSON(dst)
		return nil
	})
	return dst, err
}

// mayNameCatalogue reports whether a body may name the catalogue's table, without decoding the
// body. The catalogue still exists after the last sharded table is gone. JSON has only one other
// way to spell a letter.
func mayNameCatalogue(body []byte) bool {
	return bytes.Contains(body, []byte(catalog.Table)) || bytes.Contains(body, []byte(`\u`))
}

// answer carries out a decoded request.
func (r *Router) answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	switch q := q.(type) {
	case *api.CreateTable:
		defer r.tables.ForgetSchema(q.Name)
		return r.definitions.CreateTable(ctx, q, use)
	case *api.UpdateTable:
		defer r.tables.ForgetSchema(q.Table)
		return r.definitions.UpdateTable(ctx, q, use)
	case *api.DeleteTable:
		defer r.tables.ForgetSchema(q.Table)
		return r.definitions.DeleteTable(ctx, q, use)
	case *api.ExecuteStatement, *api.BatchExecuteStatement, *api.ExecuteTransaction:
		return r.statements.Do(ctx, q, use)
	case *api.ListStreams, *api.DescribeStream, *api.GetShardIterator, *api.GetRecords:
		return r.streams.Do(ctx, q, use)
	case *api.DescribeTable:
		return r.definitions.DescribeTable(ctx, q, use)
	case *api.DescribePartitions:
		return r.definitions.DescribePartitions(ctx, q, use)
	case *api.Reshard:
		return r.mover.Do(ctx, q, use)
	case *api.Explain:
		if q.Statement != nil {
			return r.statements.Explain(ctx, q.Statement, use)
		}
		return r.items.Explain(ctx, q.Asked, use)
	case *api.ListTables:
		return r.definitions.ListTables(ctx, q, use)
	case *api.TagResource:
		return r.definitions.Tag(ctx, q, use)
	case *api.UntagResource:
		return r.definitions.Untag(ctx, q, use)
	case *api.UpdateTimeToLive:
		return r.definitions.UpdateTimeToLive(ctx, q, use)
	case *api.DescribeTimeToLive:
		return r.definitions.DescribeTimeToLive(ctx, q, use)
	case *api.ListTagsOfResource:
		return r.definitions.ListTags(ctx, q, use)
	}
	return r.items.Do(ctx, q, use)
}
