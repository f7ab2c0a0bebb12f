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
	Now     func() time.Time // required
	UUID    func() [16]byte  // required; makes the owner ids of operations
	Lease   time.Duration    // how long an operation may take before other doors end it; default a minute
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
	home    home
	layouts layouts
}

// New makes a catalogue. It sends nothing until a method is called.
func New(o Options) *Catalog {
	if o.Lease <= 0 {
		o.Lease = time.Minute
	}
	if o.Poll <= 0 {
		o.Poll = 100 * time.Millisecond
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n := nodes{o.Session, o.Poll}
	return &Catalog{opts: o, nodes: n, home: home{n}, layouts: layouts{o.Session}}
}

// Schema reads keyspaces of the physical schema.
func (c *Catalog) Schema(ctx context.Context, keyspaces ...string) (*schema.Schema, error) {
	return Schema(ctx, c.opts.Session, keyspaces...)
}

// Load reads all entries, in any state. present says whether the catalogue's keyspace exists.
func (c *Catalog) Load(ctx context.Context) (entries []*Entry, present bool, err error) {
	if ok, err := c.home.founded(ctx); err != nil || !ok {
		return nil, false, err
	}
	var rows []Row
	within, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err = c.nodes.ready(within, func() error {
		rows = nil
		ok, err := c.home.has(ctx, "layouts")
		if err != nil || !ok {
			return err
		}
		rows, err = c.opts.Session.Query(ctx, wire.LocalQuorum, "SELECT keyspace_name, table_name, "+columns+" FROM evenkeel.layouts")
		return wrap("read the catalogue", err)
	})
	if err != nil {
		return nil, true, err
	}
	for _, r := range rows {
		if _, ok := r["state"]; !ok {
			continue // the remains of an entry that was deleted and written at the same time
		}
		e, err := readEntry(r)
		if err != nil {
			return nil, true, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *Entry) int { return strings.Compare(a.String(), b.String()) })
	return entries, true, nil
}

// Present says whether the catalogue's keyspace exists.
func (c *Catalog) Present(ctx context.Context) (bool, error) { return c.home.founded(ctx) }

// Found creates the catalogue if there is none, with three replicas in each data centre, or with
// one on each node if there are fewer nodes.
func (c *Catalog) Found(ctx context.Context) error {
	if ok, err := c.home.has(ctx, "layouts"); err != nil || ok {
		return err
	}
	like, err := c.home.everywhere(ctx)
	if err != nil {
		return err
	}
	return c.home.layouts(ctx, like)
}

// in returns the entry with another state.
func (e *Entry) in(s registry.State) *Entry {
	n := *e
	n.State = s
	return &n
}

// Agree waits for a limited time until the nodes of the backend have the same schema, and reports
// whether they do. A node that is read after that knows of all earlier changes.
func (c *Catalog) Agree(ctx context.Context) bool { return c.nodes.agree(ctx) }

// expired says whether an operation has used up its time.
func (c *Catalog) expired(e *Entry) bool { return c.opts.Now().Sub(e.Started) > c.opts.Lease }

// own returns the entry with the caller as its owner from now on.
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
