// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/registry"
)

// Options configure a Catalog.
type Options struct {
	Session Session          // required
	Now     func() time.Time // required: a clock with a monotonic reading
	UUID    func() [16]byte  // required; makes the owner ids of operations
	Lease   time.Duration    // how long another door must see an operation unchanged before it ends it; default a minute
	Poll    time.Duration    // how often an operation that waits for another one checks it; default 100 ms
	Log     *slog.Logger     // default: nothing is logged

	// Wait waits until every other door has read the present schema and catalogue; nil: there is no
	// other door.
	Wait func(context.Context)
}

// Catalog is the table of layouts.
type Catalog struct {
	opts    Options
	nodes   nodes
	tables  ownTables
	layouts layouts
	watched *registry.Watched // the entries that operations have left half-way
}

const defaultPoll = 100 * time.Millisecond

// New makes a catalogue. It sends nothing until a method is called.
func New(o Options) *Catalog {
	if o.Lease <= 0 {
		o.Lease = time.Minute
	}
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n := nodes{o.Session, o.Poll}
	return &Catalog{opts: o, nodes: n, tables: ownTables{n}, layouts: layouts{n}, watched: registry.NewWatched(o.Now)}
}

// Schema reads keyspaces of the physical schema.
func (c *Catalog) Schema(ctx context.Context, keyspaces ...string) (*schema.Schema, error) {
	return Schema(ctx, c.opts.Session, keyspaces...)
}

// selectEntries reads all entries.
const selectEntries = "SELECT keyspace_name, table_name, " + columns + " FROM evenkeel.layouts"

// Load reads all entries, in any state. present reports whether keyspace
// evenkeel exists.
func (c *Catalog) Load(ctx context.Context) (entries []*Entry, present bool, err error) {
	if ok, err := c.tables.keyspaceExists(ctx); err != nil || !ok {
		return nil, false, err
	}
	var rows []Row
	within, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err = c.nodes.ready(within, func() error {
		rows = nil
		ok, err := c.tables.exists(ctx, "layouts")
		if err != nil || !ok {
			return err
		}
		rows, err = c.opts.Session.Query(ctx, wire.LocalQuorum, selectEntries)
		return wrap("read the catalogue", err)
	})
	if err != nil {
		return nil, true, err
	}
	entries, err = readEntries(rows)
	return entries, true, err
}

// readEntries reads entries, in the order of their names.
func readEntries(rows []Row) (entries []*Entry, err error) {
	for _, r := range rows {
		if _, ok := r["state"]; !ok {
			continue // one door deleted this entry while another one wrote it
		}
		e, err := readEntry(r)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *Entry) int { return strings.Compare(a.String(), b.String()) })
	return entries, nil
}

// Present reports whether keyspace evenkeel exists.
func (c *Catalog) Present(ctx context.Context) (bool, error) { return c.tables.keyspaceExists(ctx) }

// Found creates the catalogue if it does not exist. A new keyspace evenkeel has three replicas in each
// data centre, or one on each node of a data centre that has fewer nodes.
func (c *Catalog) Found(ctx context.Context) error {
	if ok, err := c.tables.exists(ctx, "layouts"); err != nil || ok {
		return err
	}
	return c.tables.ensureLayouts(ctx, nil)
}

// in returns the entry with state s.
func (e *Entry) in(s registry.State) *Entry {
	n := *e
	n.State = s
	return &n
}

// Agree waits for a limited time until the nodes of the backend have the same schema, and reports
// whether they do. A node that is read after that knows of all earlier changes.
func (c *Catalog) Agree(ctx context.Context) bool { return c.nodes.agree(ctx) }

// EnsureBuckets creates the directory of buckets if it does not exist.
func (c *Catalog) EnsureBuckets(ctx context.Context) error { return c.tables.ensureBuckets(ctx) }

// EnsureRollovers creates the directory of rollovers if it does not exist.
func (c *Catalog) EnsureRollovers(ctx context.Context) error { return c.tables.ensureRollovers(ctx) }

// expired reports whether this door has seen the entry unchanged, half-way in an operation, for longer
// than the lease of operations.
func (c *Catalog) expired(e *Entry) bool {
	if !e.halfWay() {
		return false
	}
	return c.watched.Unchanged(e.String(), fmt.Sprintf("%s %x %d", e.State, e.Owner, e.Started.UnixMilli())) > c.opts.Lease
}

// halfWay reports whether an operation on the entry is under way, or was left by its door.
func (e *Entry) halfWay() bool { return e.State != registry.Active || e.Left() }

// own returns the entry as that of an operation which starts now: it has a new owner id.
func (c *Catalog) own(e *Entry) *Entry {
	n := *e
	n.Owner = c.opts.UUID()
	n.Started = c.opts.Now().Truncate(time.Millisecond)
	return &n
}

// definite says whether an error means that a statement was not executed and will not be.
func definite(err error) bool {
	var e *wire.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case wire.CodeProtocol, wire.CodeSyntax, wire.CodeUnauthorized, wire.CodeInvalid, wire.CodeConfig, wire.CodeAlreadyExists,
		wire.CodeIsBootstrapping, wire.CodeBadCredentials:
		return true
	}
	return false
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
