// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
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
	opts Options
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
	return &Catalog{opts: o}
}

// Schema reads keyspaces of the physical schema.
func (c *Catalog) Schema(ctx context.Context, keyspaces ...string) (*schema.Schema, error) {
	return Schema(ctx, c.opts.Session, keyspaces...)
}

// Load reads all entries, in any state. present says whether the catalogue's keyspace exists.
func (c *Catalog) Load(ctx context.Context) (entries []*Entry, present bool, err error) {
	if ok, err := c.keyspaceExists(ctx); err != nil || !ok {
		return nil, false, err
	}
	var rows []Row
	within, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err = c.ready(within, func() error {
		rows = nil
		ok, err := c.exists(ctx)
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
func (c *Catalog) Present(ctx context.Context) (bool, error) { return c.keyspaceExists(ctx) }

// keyspaceExists says whether the catalogue's keyspace exists.
func (c *Catalog) keyspaceExists(ctx context.Context) (bool, error) {
	rows, err := c.opts.Session.Query(ctx, wire.One, "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '"+Keyspace+"'")
	return len(rows) > 0, wrap("look for the catalogue", err)
}

// Found creates the catalogue if there is none, with three replicas in each data centre, or with
// one on each node if there are fewer nodes.
func (c *Catalog) Found(ctx context.Context) error {
	if ok, err := c.exists(ctx); err != nil || ok {
		return err
	}
	like, err := c.everywhere(ctx)
	if err != nil {
		return err
	}
	return c.ensure(ctx, like)
}

// exists says whether the table of layouts exists.
func (c *Catalog) exists(ctx context.Context) (bool, error) {
	rows, err := c.opts.Session.Query(ctx, wire.One, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '"+Keyspace+"' AND table_name = 'layouts'")
	return len(rows) > 0, wrap("look for the catalogue", err)
}

// get reads one entry consistently. It returns nil if there is none.
func (c *Catalog) get(ctx context.Context, keyspace, table string) (*Entry, error) {
	const cql = "SELECT keyspace_name, table_name, " + columns + " FROM evenkeel.layouts WHERE keyspace_name = ? AND table_name = ?"
	rows, err := c.opts.Session.Query(ctx, wire.LocalSerial, cql, []byte(keyspace), []byte(table))
	if refused := (*wire.Error)(nil); errors.As(err, &refused) && definite(err) {
		rows, err = c.opts.Session.Query(ctx, wire.LocalQuorum, cql, []byte(keyspace), []byte(table))
	}
	if err != nil {
		return nil, wrap("read the catalogue", err)
	}
	if len(rows) == 0 || rows[0]["state"] == nil {
		return nil, nil
	}
	return readEntry(rows[0])
}

// ensure creates the catalogue if there is none, with the replication of another keyspace. It
// waits until the catalogue can be read, because another door may be creating it.
func (c *Catalog) ensure(ctx context.Context, like *schema.Keyspace) error {
	ok, err := c.exists(ctx)
	if err == nil && !ok {
		err = c.create(ctx, like)
	}
	if err != nil {
		return err
	}
	return c.ready(ctx, func() error {
		_, err := c.opts.Session.Query(ctx, wire.LocalQuorum, "SELECT state FROM evenkeel.layouts WHERE keyspace_name = '' AND table_name = ''")
		return wrap("read the catalogue", err)
	})
}

func (c *Catalog) create(ctx context.Context, like *schema.Keyspace) error {
	// If an administrator has created the keyspace, the door's account may lack the right to
	// create keyspaces. Cassandra would check that right even with IF NOT EXISTS.
	if ok, err := c.keyspaceExists(ctx); err != nil {
		return err
	} else if !ok {
		if err := c.createKeyspace(ctx, like); err != nil {
			return err
		}
	}
	c.Agree(ctx) // only some nodes may know the keyspace
	const table = `CREATE TABLE IF NOT EXISTS evenkeel.layouts (keyspace_name text, table_name text, physical_name text, table_id uuid, ` +
		`state text, strategy text, "by" text, hash text, shards int, "column" text, generation bigint, statement text, owner uuid, ` +
		`started_at timestamp, PRIMARY KEY ((keyspace_name, table_name)))`
	if _, err := c.opts.Session.Query(ctx, wire.LocalQuorum, table); err != nil {
		return wrap("create the catalogue's table", err)
	}
	c.Agree(ctx)
	return nil
}

func (c *Catalog) createKeyspace(ctx context.Context, like *schema.Keyspace) error {
	var replication []byte
	for i, k := range slices.Sorted(maps.Keys(like.Replication)) {
		if i > 0 {
			replication = append(replication, ", "...)
		}
		replication = append(syntax.AppendString(replication, k), ": "...)
		replication = syntax.AppendString(replication, like.Replication[k])
	}
	_, err := c.opts.Session.Query(ctx, wire.LocalQuorum, "CREATE KEYSPACE IF NOT EXISTS evenkeel WITH replication = {"+string(replication)+"}")
	if err != nil {
		return wrap("create the catalogue's keyspace with the replication of keyspace "+like.Name, err)
	}
	return nil
}

// ready reads from the table of layouts until the backend can answer.
//
// Cassandra executes a CREATE TABLE in three steps. First system_schema shows the table. Then
// statements can name it (before: "table layouts does not exist"). Then it can be read (before:
// "Unknown CF", or a replica's failure). A door that sees the table in system_schema may be
// between these steps. Other backends create tables in the background.
func (c *Catalog) ready(ctx context.Context, read func() error) error {
	var unready error
	err := c.wait(ctx, func() (bool, error) {
		err := read()
		if refused := (*wire.Error)(nil); errors.As(err, &refused) {
			switch refused.Code {
			case wire.CodeInvalid, wire.CodeServer, wire.CodeReadFailure:
				unready = err
				return false, nil
			}
		}
		unready = nil
		return true, err
	})
	if unready != nil {
		return unready // tells more than the end of the time does
	}
	return err
}

// Agree waits for a limited time until the nodes of the backend have the same schema, and reports
// whether they do. A node that is read after that knows of all earlier changes.
func (c *Catalog) Agree(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err := c.wait(ctx, func() (bool, error) {
		versions, err := c.versions(ctx)
		return err == nil && len(versions) == 1, nil
	})
	return err == nil
}

// versions returns the different versions of the schema at the backend's nodes. Each node tells its
// own. Only if a node cannot be asked do the others tell what they know of its version. They may
// know an old one: gossip tells of a change some time after it.
func (c *Catalog) versions(ctx context.Context) (map[string]bool, error) {
	rows, all, err := c.eachNode(ctx, "SELECT schema_version FROM system.local")
	if err == nil && !all {
		var peers []Row
		peers, _, err = c.eachNode(ctx, "SELECT schema_version FROM system.peers")
		rows = append(rows, peers...)
	}
	versions := map[string]bool{}
	for _, r := range rows {
		if v := r["schema_version"]; v != nil {
			versions[string(v)] = true
		}
	}
	return versions, err
}

// eachNode executes a statement at each node, or at any node if the session cannot choose one.
func (c *Catalog) eachNode(ctx context.Context, cql string) (rows []Row, all bool, err error) {
	if s, ok := c.opts.Session.(NodesSession); ok {
		if rows, all, err = s.EachNode(ctx, cql); err != nil || rows != nil {
			return rows, all, err
		}
	}
	rows, err = c.opts.Session.Query(ctx, wire.One, cql)
	return rows, false, err
}

// wait calls done until it returns true or ctx is done.
func (c *Catalog) wait(ctx context.Context, done func() (bool, error)) error {
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
}

func (c *Catalog) pause(ctx context.Context) error {
	t := time.NewTimer(c.opts.Poll)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// apply runs a lightweight transaction and reports whether it was applied.
func (c *Catalog) apply(ctx context.Context, cql string, values ...[]byte) (bool, error) {
	rows, err := c.opts.Session.Query(ctx, wire.LocalQuorum, cql, values...)
	if err != nil {
		return false, wrap("write the catalogue", err)
	}
	return len(rows) == 1 && rows[0].Bool("[applied]"), nil
}

const whereKey = " WHERE keyspace_name = ? AND table_name = ?"

// insert adds an entry if there is none.
func (c *Catalog) insert(ctx context.Context, e *Entry) (bool, error) {
	return c.apply(ctx, "INSERT INTO evenkeel.layouts (keyspace_name, table_name, "+columns+
		") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS",
		append([][]byte{[]byte(e.Keyspace), []byte(e.Table)}, e.values()...)...)
}

// replace replaces old by e, if the entry is still old.
func (c *Catalog) replace(ctx context.Context, old, e *Entry) (bool, error) {
	values := append(e.values(), []byte(e.Keyspace), []byte(e.Table), []byte(old.State), old.Owner[:], millis(old.Started))
	return c.apply(ctx, `UPDATE evenkeel.layouts SET physical_name = ?, table_id = ?, state = ?, strategy = ?, "by" = ?, hash = ?, `+
		`shards = ?, "column" = ?, generation = ?, statement = ?, owner = ?, started_at = ?`+whereKey+
		" IF state = ? AND owner = ? AND started_at = ?", values...)
}

// remove deletes an entry if it has not changed.
func (c *Catalog) remove(ctx context.Context, e *Entry) (bool, error) {
	return c.apply(ctx, "DELETE FROM evenkeel.layouts"+whereKey+" IF state = ? AND owner = ? AND started_at = ?",
		[]byte(e.Keyspace), []byte(e.Table), []byte(e.State), e.Owner[:], millis(e.Started))
}

// removeID deletes the entry of a physical table that no longer exists, whatever the entry's
// state.
func (c *Catalog) removeID(ctx context.Context, e *Entry) error {
	_, at, _ := e.columns()
	_, err := c.apply(ctx, "DELETE FROM evenkeel.layouts"+whereKey+" IF table_id = ?", []byte(e.Keyspace), []byte(e.Table), idOrNull(at))
	return err
}

// in returns the entry with another state.
func (e *Entry) in(s State) *Entry {
	n := *e
	n.State = s
	return &n
}

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
