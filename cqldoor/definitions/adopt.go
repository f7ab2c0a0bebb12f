// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/describe"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// A table that was sharded by hand has a shard column, which applications fill in. An adoption
// declares this column to be the hidden column. Afterwards, doors serve the logical table. The physical
// table stays as it is.
//
// The door reads all rows before it publishes the adoption, so it does not disturb a table that does not
// fit. Until every door uses the adoption, statements that name the shard column may put rows in any shard.
// So the door reads all rows again when every door uses it. If the second reading finds a row in a wrong
// shard, the door takes the adoption back.

// adoptions carries out the adoptions of this door.
type adoptions struct {
	x     *tables.Schemas
	doors *Movers
	begin chan *adoption // start hands an adoption over to run
	ended chan struct{}  // closed when run ends

	mu  sync.Mutex
	all map[syntax.Name]*adoption // the last adoption of each table
}

// adoption is one adoption. It goes on if the client leaves.
type adoption struct {
	entry    *catalog.Entry // the door publishes it; if the table is adopted already, its present entry
	again    bool           // the table is adopted already, and the door only reads its rows
	physical *schema.Table
	logical  *schema.Table
	like     *schema.Keyspace
	began    time.Time
	read     atomic.Int64 // rows that the door has read, or partitions
	done     chan struct{}
	err      error              // set when done is closed
	cancel   context.CancelFunc // guarded by adoptions.mu
}

func newAdoptions(x *tables.Schemas, doors *Movers) *adoptions {
	return &adoptions{x: x, doors: doors, begin: make(chan *adoption), ended: make(chan struct{}), all: map[syntax.Name]*adoption{}}
}

// run carries out adoptions until ctx is done.
func (a *adoptions) run(ctx context.Context) {
	var under sync.WaitGroup
	defer close(a.ended)
	defer under.Wait()
	for {
		select {
		case one := <-a.begin:
			within, cancel := context.WithCancel(ctx)
			a.mu.Lock()
			one.cancel = cancel
			a.mu.Unlock()
			under.Go(func() {
				defer cancel()
				one.err = a.adopt(within, one)
				close(one.done)
			})
		case <-ctx.Done():
			return
		}
	}
}

// errStopping is the answer to a statement that this door cannot carry out because it stops.
var errStopping = wire.Errorf(wire.CodeIsBootstrapping, "evenkeel: this door is stopping; the table is not adopted")

// of returns the last adoption of a table by this door, which may be under way. If there is none, it returns nil.
func (a *adoptions) of(n syntax.Name) *adoption {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[n]
}

// start starts an adoption and returns it. If the same adoption is under way, start returns that one instead. It
// returns an error if a different adoption of the table is under way, or if the door stops.
func (a *adoptions) start(ctx context.Context, one *adoption) (*adoption, error) {
	n := syntax.Name{Keyspace: one.entry.Keyspace, Name: one.entry.Table}
	a.mu.Lock()
	if old := a.all[n]; old != nil && old.under() {
		a.mu.Unlock()
		if !old.entry.Layout.Equal(one.entry.Layout) || old.entry.ID != one.entry.ID {
			return nil, wire.Invalidf("write_sharding: table %s is being adopted already, as %s; wait until that is over", old.entry, old.entry.Layout)
		}
		return old, nil
	}
	a.all[n] = one
	a.mu.Unlock()
	select {
	case a.begin <- one:
		return one, nil
	case <-a.ended:
	case <-ctx.Done():
	}
	one.err = errStopping
	close(one.done)
	return nil, errStopping
}

// under reports whether the adoption is under way.
func (a *adoption) under() bool {
	select {
	case <-a.done:
		return false
	default:
		return true
	}
}

// stop ends the adoption of a table. It reports whether one was under way.
func (a *adoptions) stop(n syntax.Name) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.all[n]
	if one == nil || !one.under() || one.cancel == nil {
		return false
	}
	one.cancel()
	return true
}

// phaseAdopting is the phase in the status of a table that is being adopted.
const phaseAdopting = "adopting"

// status adds this door's adoption of a table to the table's status. The reason for a refusal names rows, so only
// clients that may read the table see it. reader reports whether this client may read the table.
func (a *adoptions) status(n syntax.Name, s *reshard.Status, reader bool) {
	one := a.of(n)
	switch {
	case one == nil || s.Phase != reshard.NoPhase:
	case one.under():
		s.Phase, s.To, s.RowsVerified, s.Began = phaseAdopting, one.entry.Layout.N, one.read.Load(), one.began.UTC()
	case one.err != nil:
		s.Problem, s.RowsVerified, s.Began = "the table was not adopted; send the statement again to see why", one.read.Load(), one.began.UTC()
		if reader {
			s.Problem = wire.AsError(one.err).Message
		}
	}
}

// adopt checks a table and adopts it. If the table is adopted already, adopt only checks it. It returns an error
// if rows are not where the layout puts them.
func (a *adoptions) adopt(ctx context.Context, one *adoption) error {
	look := func() error {
		err := a.doors.Mover.CheckPlaces(ctx, one.physical, one.logical, one.entry.Layout, &one.read)
		if errors.Is(err, context.Canceled) {
			return wire.Invalidf("write_sharding: the adoption of table %s was ended, by 'rollback' or because the door stops; the table is as it was", one.entry)
		}
		var m *mover.Misplaced
		switch {
		case !errors.As(err, &m):
			return err
		case one.again:
			return wire.Invalidf("write_sharding: table %s is adopted, but rows are not where its layout says, so clients do not see them: %s. Give the table back with {'adopt': ''}, "+
				"put these rows into their shards, and adopt it again", one.entry, m.Rows)
		}
		return wire.Invalidf("write_sharding: table %s is not adopted, since rows are not where it says: %s. %s", one.entry, m.Rows, m.Advice)
	}
	if err := look(); err != nil || one.again {
		return err
	}
	err := a.x.Catalog.Adopt(ctx, one.entry, one.like)
	if errors.Is(err, catalog.ErrExists) {
		return wire.Invalidf("write_sharding: table %s is sharded already, or being changed, by another door", one.entry)
	}
	if err != nil {
		return errCatalog(err)
	}
	e, err := a.x.Catalog.Entry(ctx, one.entry.Keyspace, one.entry.Table)
	if err != nil || e == nil || e.Adopted != one.entry.Adopted {
		return errCatalog(errors.Join(err, catalog.ErrChanged))
	}
	if err = a.doors.Ended(ctx, e); err == nil {
		err = a.unchanged(ctx, one)
	}
	if err == nil {
		err = look()
	}
	if err != nil {
		back := context.WithoutCancel(ctx)
		if released := a.doors.giveBack(back, e); released != nil {
			return fmt.Errorf("%w; the adoption could not be taken back, and stays: %w", err, released)
		}
		return err
	}
	a.x.Opts.Log.Info("a table that was sharded by hand is adopted", "table", e.String(), "as", e.Layout.String())
	return nil
}

// unchanged returns an error if the table was dropped, or altered so that it cannot be adopted. Doors do not
// refuse such statements before they use the adoption, so unchanged checks again what refuseAdoption has checked.
func (a *adoptions) unchanged(ctx context.Context, one *adoption) error {
	s, err := a.x.Catalog.Schema(ctx, one.entry.Keyspace)
	if err != nil {
		return errCatalog(err)
	}
	t := s.Table(one.entry.Keyspace, one.entry.Table)
	if t == nil || t.ID != one.physical.ID {
		return wire.Invalidf("write_sharding: table %s was dropped while its rows were read", one.entry)
	}
	why, err := a.doors.against(ctx, s.Keyspaces[one.entry.Keyspace], t, one.entry.Layout)
	if err == nil && len(why) > 0 {
		err = notAdopted(one.entry, why)
	}
	return err
}

// against returns the reasons against an adoption of a table. It looks at the table's definition, and not at rows.
func (m *Movers) against(ctx context.Context, ks *schema.Keyspace, t *schema.Table, l *shard.Layout) ([]string, error) {
	why := mover.RefuseAdoption(ks, t, l)
	more, err := m.Mover.Unseen(ctx, t)
	return append(why, more...), err
}

func notAdopted(e *catalog.Entry, why []string) error {
	return wire.Invalidf("write_sharding: table %s cannot be adopted: %s", e, strings.Join(why, "; "))
}

// giveBack removes the entry of an adopted table. It returns when no door uses the entry any more.
func (m *Movers) giveBack(ctx context.Context, e *catalog.Entry) error {
	if err := m.x.Catalog.Release(ctx, e); err != nil {
		if errors.Is(err, catalog.ErrChanged) {
			return wire.Invalidf("write_sharding: %s; look at it, and try again", err)
		}
		return errCatalog(err)
	}
	return m.Gone(ctx, e)
}

// adopting is an ALTER TABLE … WITH write_sharding = {'adopt': …}.
type adopting struct {
	*change
	table    string
	t        *tables.Sharded // nil: this door knows of no sharded table with the name
	declared declaration
}

// adopt executes the statement: it adopts the table, checks an adopted one again, or gives it back.
func (c *adopting) adopt(ctx context.Context, stmt *syntax.AlterTable) error {
	if len(stmt.With) > 1 {
		return wire.Invalidf("write_sharding: adopt a table by itself, and change its other options in another statement")
	}
	s, err := c.Catalog.Schema(ctx, c.keyspace)
	if err != nil {
		return errCatalog(err)
	}
	physical := s.Table(c.keyspace, c.table)
	if physical != nil && c.t == nil {
		if err := c.mayAlter(ctx, &tables.Sharded{Entry: mover.Plain(physical), Physical: physical}); err != nil {
			return err
		}
	}
	if c.declared[optionAdopt] == "" {
		return c.giveBack(ctx)
	}
	if physical == nil || c.t != nil && (c.t.Entry.Adopted == 0 || c.t.Entry.Physical != c.t.Entry.Table) {
		return c.notOne()
	}
	// The error about a row in a wrong place names the row's key. Only clients that may read the table see it.
	if err := c.mayRead(ctx, physical); err != nil {
		return err
	}
	layout, logical, warnings, err := c.declared.adoption(physical)
	if err != nil {
		return err
	}
	one := &adoption{physical: physical, logical: logical, like: s.Keyspaces[c.keyspace], began: c.Opts.Now(), done: make(chan struct{})}
	if c.t != nil {
		if !layout.Equal(c.t.Entry.Layout) {
			return c.notOne()
		}
		one.entry, one.again = c.t.Entry, true
	} else {
		one.entry = mover.Plain(physical)
		one.entry.State, one.entry.Layout, one.entry.Statement = registry.Active, layout, describe.Stated(logical)
		// This generation is different from those of earlier adoptions.
		layout.Generation = c.Schemas.Clock.Now().UnixMicro()
		layout.Used, one.entry.Adopted = max(mover.UsedByHand, layout.Last()), layout.Generation
		if err := c.refuseAdoption(ctx, one); err != nil {
			return err
		}
	}
	if one, err = c.Movers.adoptions.start(ctx, one); err != nil {
		return err
	}
	if err := c.waitFor(ctx, one); err != nil {
		return err
	}
	if err := c.Schemas.RefreshIfChanged(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return (&request.Answer{Warnings: warnings}).Reply(c.req, wire.AppendVoid(nil))
}

// waitFor waits for the end of an adoption, and returns its error. The adoption waits for all statements that
// arrived before the doors knew of it. It must not wait for the statement that waits here, so waitFor calls Rejoin.
func (c *adopting) waitFor(ctx context.Context, one *adoption) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-one.done:
			return one.err
		case <-tick.C:
			c.req.Rejoin()
		case <-ctx.Done():
			return wire.Errorf(wire.CodeServer, "write_sharding: table %s is still being adopted, and %d of its rows were read; that goes on. Send the statement again to wait for its end, "+
				"or look at it with ALTER TABLE … WITH write_sharding = {'change': 'status'}", one.entry, one.read.Load())
		}
	}
}

// notOne returns the error for a table that cannot be adopted: it does not exist, evenkeel has sharded it, or it is
// adopted already.
func (c *adopting) notOne() error {
	switch {
	case c.t == nil:
		return wire.Invalidf("Table '%s.%s' doesn't exist", c.keyspace, c.table)
	case c.t.Entry.Adopted == 0:
		return wire.Invalidf("write_sharding: table %s was not sharded by hand, but by evenkeel; there is nothing to adopt", c.t.Entry)
	}
	return wire.Invalidf("write_sharding: table %s is adopted already, and has the layout %s; give it back before it is adopted in another way: ALTER TABLE … WITH write_sharding = {'adopt': ''}",
		c.t.Entry, c.t.Entry.Layout)
}

// refuseAdoption returns an error if the table cannot be adopted, or if a door does not know how to serve an
// adopted table.
func (c *adopting) refuseAdoption(ctx context.Context, one *adoption) error {
	why, err := c.Movers.against(ctx, one.like, one.physical, one.entry.Layout)
	if err != nil {
		return err
	}
	if len(why) > 0 {
		return notAdopted(one.entry, why)
	}
	if c.Doors.Member == nil {
		return nil
	}
	if !c.View.Load().Present {
		return notAdopted(one.entry, []string{noCatalogue})
	}
	if err := c.Doors.Member.Knows(ctx, append(slices.Clone(reshard.Steps()), fleet.StepAdopted)...); err != nil {
		return notAdopted(one.entry, []string{err.Error()})
	}
	return nil
}

// giveBack ends the adoption of a table. Afterwards, doors serve the table as the store has it.
func (c *adopting) giveBack(ctx context.Context) error {
	switch {
	case len(c.declared) > 1:
		return wire.Invalidf("write_sharding: 'adopt': '' gives a table back, and stands alone")
	case c.t == nil && c.Movers.adoptions.stop(syntax.Name{Keyspace: c.keyspace, Name: c.table}):
		c.void()
		return nil
	case c.t == nil:
		return wire.Invalidf("write_sharding: table %s.%s is not adopted", c.keyspace, c.table)
	}
	e, err := c.Catalog.Entry(ctx, c.t.Entry.Keyspace, c.t.Entry.Table)
	switch {
	case err != nil:
		return errCatalog(err)
	case e == nil || e.ID != c.t.Entry.ID:
		return wire.Invalidf("table %s does not exist", c.t.Entry)
	case e.Foreign != nil:
		return wire.Invalidf("write_sharding: %s", e.Foreign)
	case e.Adopted == 0 || e.Physical != e.Table:
		return wire.Invalidf("write_sharding: table %s was not sharded by hand, or it has another physical table by now, so that it cannot be given back; "+
			"{} makes it a plain table", e)
	case e.Change != nil || e.Second != nil:
		return underChange(e, "giving back")
	}
	var a request.Answer
	if e.Layout.Generation != e.Adopted {
		a.Warnings = []string{fmt.Sprintf("write_sharding: the layout of table %s was changed since it was adopted; its rows are where %s puts them", e, e.Layout)}
	}
	if err := c.Movers.giveBack(ctx, e); err != nil {
		return err
	}
	c.Opts.Log.Info("an adopted table is given back", "table", e.String())
	return a.Reply(c.req, wire.AppendVoid(nil))
}

// adoption returns the layout that d declares for t, a table that was sharded by hand. It also returns the logical
// table, and warnings for the table's owner. It returns an error if t cannot have that layout.
func (d declaration) adoption(t *schema.Table) (*shard.Layout, *schema.Table, []string, error) {
	config := func(format string, args ...any) (*shard.Layout, *schema.Table, []string, error) {
		return nil, nil, nil, wire.Errorf(wire.CodeConfig, "write_sharding: "+format, args...)
	}
	options := declaration{}
	for name, v := range d {
		switch name {
		case optionAdopt:
			options["column"] = v
		case "column":
			return config("'adopt' names the column already; leave 'column' out")
		case optionChange:
			return config("'change' means nothing beside 'adopt', which changes nothing unless every row is in its place; leave it out")
		case "epochs", "row_epochs", optionFrom, optionRowsFrom, optionKey:
			return config("'%s' cannot be given when a table is adopted; change its layout afterwards", name)
		default:
			options[name] = v
		}
	}
	l, err := shard.Parse(options)
	if err != nil {
		return nil, nil, nil, wire.Errorf(wire.CodeConfig, "%s", err)
	}
	n := len(t.PartitionKey) - 1
	column, name := t.Columns[l.Column], request.Identifier(l.Column)
	switch {
	case l.Strategy != shard.Calculated && l.Strategy != shard.Random:
		return config("a table cannot be adopted with strategy '%s'; use 'calculated' if the shard can be computed from clustering columns, or else 'random'", l.Strategy)
	case column == nil:
		return config("'adopt' names %s, which is not a column of the table; name the column with the shard", name)
	case column.Kind != schema.PartitionKey:
		return config("'adopt' names %s, which is not in the partition key, so it does not spread a key over partitions; name the partition-key column with the shard", name)
	case n == 0:
		return config("'adopt' names %s, which is the whole partition key: without it, nothing is left by which rows are found", name)
	case t.PartitionKey[n] != column:
		return config("'adopt' names %s, which is not the last column of the partition key (%s), where evenkeel has the shard, and no store can change that order; "+
			"create a table WITH write_sharding, and copy the rows", name, names(t.PartitionKey, ", "))
	case column.Type.Kind != value.Int:
		return config("'adopt' names %s, which is %s; evenkeel's shards are int, and no store can change the type of a key; create a table WITH write_sharding, and copy the rows",
			name, column.Type)
	case len(t.Clustering) == 0 && !t.Counter:
		key := names(t.PartitionKey[:n], ", ")
		return config("table %s.%s has no clustering column, so each %s and %s is a single row, and only %[4]s tells the rows of one %[3]s apart: without it, all of them would be one row. "+
			"Rows that came to the same shard are lost already: the later one has overwritten the earlier one. "+
			"Create a table whose key tells rows apart, PRIMARY KEY (%[5]s, …) WITH write_sharding, and copy the rows", t.Keyspace, t.Name, key, name, keyText(t.PartitionKey[:n]))
	}
	logical, ok := catalog.Logical(t, l)
	if !ok {
		return config("table %s.%s does not have the form of a sharded table", t.Keyspace, t.Name)
	}
	l, warnings, err := options.layout(logical)
	if err != nil {
		return nil, nil, nil, err
	}
	if logical, ok = catalog.Logical(t, l); !ok {
		return config("table %s.%s does not have the form of a sharded table", t.Keyspace, t.Name)
	}
	return l, logical, warnings, nil
}
