// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/describe"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// A change that plan.Apart describes fills a second physical table. From unsharded to sharded, the second
// table has the shard in its key; from sharded to unsharded, it does not have it. To and from strategies
// time and rollover, both have it. The mover writes the table's
// name to the catalogue before it makes the table, so that a door that dies in between leaves no
// unknown table. When the change has ended, the mover drops the table that no longer has the rows.

// reshaped returns the physical table to which the physical table t, with layout from, is copied.
func reshaped(t *schema.Table, name string, from, to *shard.Layout) *schema.Table {
	out := *t
	out.Name = name
	out.Columns, out.PartitionKey = maps.Clone(t.Columns), slices.Clone(t.PartitionKey)
	if !from.Plain() {
		out.PartitionKey = out.PartitionKey[:len(out.PartitionKey)-1]
		delete(out.Columns, from.Column)
	}
	if !to.Plain() {
		hidden := &schema.Column{Name: to.Column, Type: value.Native(value.Int), Kind: schema.PartitionKey, Position: len(out.PartitionKey)}
		out.PartitionKey = append(out.PartitionKey, hidden)
		out.Columns[hidden.Name] = hidden
	}
	return &out
}

// StartPlain publishes a change of a plain table to a layout; a mover carries it out. The table has
// no entry in the catalogue yet. drawn is a random id from which the second table gets its name.
func (m *Mover) StartPlain(ctx context.Context, ks *schema.Keyspace, t *schema.Table, to *shard.Layout, drawn [16]byte) (*catalog.Entry, error) {
	e := Plain(t)
	e.Statement, e.Second = describe.Stated(t), &catalog.Second{Physical: catalog.SecondName(t.Name, drawn)}
	why := RefusePlain(ks, t, to)
	more, err := m.unseen(ctx, t)
	if err != nil {
		return nil, err
	}
	if why = append(why, more...); len(why) > 0 {
		return nil, wire.Invalidf("write_sharding: table %s cannot be sharded while it is in use: %s", e, strings.Join(why, "; "))
	}
	if ks.Tables[e.Second.Physical] != nil {
		return nil, fmt.Errorf("the name %s is taken; try again", e.Second.Physical)
	}
	if err := m.opts.Catalogue.Adopt(ctx, e, ks); err != nil {
		if errors.Is(err, catalog.ErrExists) {
			return nil, wire.Invalidf("write_sharding: table %s is being changed already", e)
		}
		return nil, err
	}
	if e, err = m.opts.Catalogue.Entry(ctx, e.Keyspace, e.Table); err != nil || e == nil || e.Second == nil {
		return nil, errors.Join(err, catalog.ErrChanged)
	}
	return m.fillOrTidy(ctx, e, t, to)
}

// StartSecond publishes a change between two physical tables; a mover carries it out. The table has
// an entry in the catalogue: it is sharded, or it once became plain and is sharded again. t is the physical table that has the rows. drawn is a random id from which the second table
// gets its name.
func (m *Mover) StartSecond(ctx context.Context, e *catalog.Entry, ks *schema.Keyspace, t *schema.Table, to *shard.Layout, drawn [16]byte) (*catalog.Entry, error) {
	if err := busy(e); err != nil {
		return nil, err
	}
	why := RefuseSecond(ks, t, e.Layout, to)
	more, err := m.unseen(ctx, t)
	if err != nil {
		return nil, err
	}
	dropping, err := m.dropping(ctx, e)
	if err != nil {
		return nil, err
	}
	if why = slices.Concat(why, more, dropping); len(why) > 0 {
		return nil, wire.Invalidf("write_sharding: the layout of table %s cannot be changed while it is in use: %s", e, strings.Join(why, "; "))
	}
	prepared := e.Filling(catalog.Second{Physical: catalog.SecondName(e.Table, drawn)})
	prepared.Started = m.opts.Now().Truncate(time.Millisecond) // other doors leave the second table alone for a lease
	if ks.Tables[prepared.Second.Physical] != nil {
		return nil, fmt.Errorf("the name %s is taken; try again", prepared.Second.Physical)
	}
	if e, err = m.opts.Catalogue.Publish(ctx, e, prepared); err != nil {
		return nil, err
	}
	return m.fillOrTidy(ctx, e, t, to)
}

// dropping returns a reason against a change if buckets below the table's floor are not dropped yet.
// Their rows must not be copied: in the new layout nothing would drop them.
func (m *Mover) dropping(ctx context.Context, e *catalog.Entry) (why []string, err error) {
	l := e.Layout
	if l.Floor == 0 {
		return nil, nil
	}
	directory, id := catalog.NewBuckets(m.opts.Session), e.PhysicalID()
	errFound := errors.New("found")
	err = directory.EachKey(ctx, id, func(key []byte) error {
		old, err := directory.List(ctx, id, key, l.Grid().First(), l.Floor-1, false, 1)
		if err == nil && len(old) > 0 {
			err = errFound
		}
		return err
	})
	if errors.Is(err, errFound) {
		return []string{"buckets that are older than 'keep' are being dropped; try again in a few minutes"}, nil
	}
	return nil, err
}

// busy returns an error if a change of the entry's table is not over.
func busy(e *catalog.Entry) error {
	switch {
	case e.Left():
		return wire.Invalidf("write_sharding: the change of table %s before is not over yet: a table that it has left is being dropped; wait until that is over", e)
	case e.Change != nil:
		return wire.Invalidf("write_sharding: table %s is being changed already (%s, to %s); wait until that is over, or take it back", e, e.Change.Step, e.Next)
	}
	return nil
}

// fillOrTidy makes the second table of an entry and publishes the change. If that fails, it drops
// the table again.
func (m *Mover) fillOrTidy(ctx context.Context, e *catalog.Entry, t *schema.Table, to *shard.Layout) (*catalog.Entry, error) {
	next, err := m.fill(ctx, e, t, to)
	if err != nil {
		return nil, errors.Join(err, m.Tidy(context.WithoutCancel(ctx), e.Keyspace, e.Table))
	}
	return next, nil
}

// OutlookOfSecond returns the cost of a change between two physical tables and changes nothing. t is
// the physical table that has the rows. against lists reasons against the change besides those of
// RefuseSecond.
func (m *Mover) OutlookOfSecond(ctx context.Context, e *catalog.Entry, ks *schema.Keyspace, t *schema.Table, to *shard.Layout, against ...string) (reshard.Outlook, error) {
	o := reshard.Outlook{Table: e.String(), From: shards(e.Layout), To: shards(to), Refused: append([]string{}, against...), Notes: []string{}}
	more, err := m.unseen(ctx, t)
	if err != nil {
		return o, err
	}
	dropping, err := m.dropping(ctx, e)
	if err != nil {
		return o, err
	}
	o.Refused = slices.Concat(o.Refused, RefuseSecond(ks, t, e.Layout, to), more, dropping)
	if e.Change != nil {
		o.Refused = append(o.Refused, "a change is under way already: "+e.Change.Step.String())
	}
	if len(o.Refused) > 0 {
		return o, nil
	}
	got, err := m.count(ctx, e, t, To(e.Layout, to, 0))
	if err != nil {
		return o, err
	}
	kind, left := "second", "plain"
	switch {
	case to.Plain():
		kind, left = "plain", "sharded"
	case !e.Layout.Plain():
		left = "first"
	}
	o.Rows, o.RowsMoved = got.rows, float64(got.Total)
	if to.Strategy == shard.Rollover {
		o.Notes = append(o.Notes, "the door reads the table once before it copies a row, to count the rows of each key")
	}
	o.Notes = append(o.Notes,
		fmt.Sprintf("all rows are copied into a %s table, and the %s one is dropped in the end: until then everything is stored twice", kind, left),
		fmt.Sprintf("at most %d requests: each row is copied once and read twice; all rows are scanned four times", 3*got.Total),
		fmt.Sprintf("until the %s table is dropped, writes take two requests, one after the other, and conditions (IF) are refused", left),
		"a row's marker has no readable write time: a copied row gets its oldest cell's")
	return o, nil
}

// Plain returns an entry for a plain table. The catalogue has none for it.
func Plain(t *schema.Table) *catalog.Entry {
	return &catalog.Entry{Keyspace: t.Keyspace, Table: t.Name, Physical: t.Name, ID: t.ID, Layout: shard.Plain()}
}

// leaving returns the last step of a change that has ended, except that the second table must still
// be dropped. result is that of the table's last change.
func leaving(e *catalog.Entry, result string) reshard.Step {
	if e.Second.ID == ([16]byte{}) || result != reshard.ResultDone {
		return reshard.Withdrawn
	}
	return reshard.Cleaned
}

// shards returns a layout's default number of shards, 0 for a plain table.
func shards(l *shard.Layout) int {
	if l.Plain() {
		return 0
	}
	return l.N
}

// unseen returns reasons against a change that the schema does not show.
func (m *Mover) unseen(ctx context.Context, t *schema.Table) (why []string, err error) {
	for _, c := range []struct{ cql, why string }{
		{"SELECT trigger_name FROM system_schema.triggers WHERE keyspace_name = ? AND table_name = ?", "it has a trigger"},
		{"SELECT column_name FROM system_schema.column_masks WHERE keyspace_name = ? AND table_name = ?", "it has masked columns"},
	} {
		rows, err := m.opts.Session.Query(ctx, wire.One, c.cql, []byte(t.Keyspace), []byte(t.Name))
		if refused := (*wire.Error)(nil); errors.As(err, &refused) && refused.Code == wire.CodeInvalid {
			continue // a store without such a system table has none of them
		}
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			why = append(why, c.why)
		}
	}
	rows, err := m.opts.Session.Query(ctx, wire.One, "SELECT flags FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?", []byte(t.Keyspace), []byte(t.Name))
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 && compact(rows[0]["flags"]) {
		why = append(why, "it has COMPACT STORAGE")
	}
	return why, nil
}

// compact reports whether a table's flags, a set<text>, mean COMPACT STORAGE.
func compact(flags []byte) bool {
	return !bytes.Contains(flags, []byte("compound")) || bytes.Contains(flags, []byte("dense")) || bytes.Contains(flags, []byte("super"))
}

// fill makes the second table of an entry and publishes the change.
func (m *Mover) fill(ctx context.Context, e *catalog.Entry, t *schema.Table, to *shard.Layout) (*catalog.Entry, error) {
	if to.Strategy == shard.Time {
		if err := m.opts.Catalogue.EnsureBuckets(ctx); err != nil {
			return nil, err
		}
	}
	if to.Strategy == shard.Rollover {
		if err := m.opts.Catalogue.EnsureRollovers(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := m.opts.Session.Query(ctx, wire.LocalQuorum, describe.Stated(reshaped(t, e.Second.Physical, e.Layout, to))); err != nil {
		return nil, fmt.Errorf("make the table that the rows are copied to: %w", err)
	}
	m.opts.Catalogue.Agree(ctx)
	s, err := m.opts.Catalogue.Schema(ctx, e.Keyspace)
	if err != nil {
		return nil, err
	}
	second := s.Table(e.Keyspace, e.Second.Physical)
	if second == nil {
		return nil, fmt.Errorf("the table %s.%s, which rows are to be copied to, is not there", e.Keyspace, e.Second.Physical)
	}
	return m.begin(ctx, e, e.Filling(catalog.Second{Physical: second.Name, ID: second.ID}), To(e.Layout, to, 0))
}

// against returns the reason why a change to a second table cannot go on, or "". The mover calls it when
// all doors know the change's step. Before that, doors forwarded statements that alter the table. A door
// that stood still may have sent such a statement late.
func (m *Mover) against(ctx context.Context, e *catalog.Entry) (why string, err error) {
	// A door that cannot renew its lease looks at one replica before it forwards to the plain table.
	if e.Change.Step == reshard.Announced {
		if err := m.opts.Catalogue.Spread(ctx, e.Keyspace, e.Table); err != nil {
			return "", err
		}
	}
	s, err := m.opts.Catalogue.Schema(ctx, e.Keyspace)
	if err != nil {
		return "", err
	}
	first, second := s.Table(e.Keyspace, e.Physical), s.Table(e.Keyspace, e.Second.Physical)
	if first == nil || second == nil {
		return "one of its two tables is gone", nil
	}
	if more := RefuseSecond(s.Keyspaces[e.Keyspace], first, e.Layout, e.Next); len(more) > 0 {
		return strings.Join(more, "; "), nil
	}
	if describe.Stated(reshaped(first, second.Name, e.Layout, e.Next)) != describe.Stated(second) {
		return "the table was altered after the change had begun", nil
	}
	return "", nil
}

// Tidy drops the second table of an entry whose change has ended. It removes the entry if the table
// is plain without it.
func (m *Mover) Tidy(ctx context.Context, keyspace, table string) error {
	e, err := m.opts.Catalogue.Entry(ctx, keyspace, table)
	if err != nil || e == nil || !e.Left() {
		return err
	}
	// A mover that is just beginning a change with this table can no longer publish it.
	if e, err = m.opts.Catalogue.Publish(ctx, e, e.Filling(*e.Second)); err != nil {
		return settled(err)
	}
	return m.tidy(ctx, e)
}

// tidy does the work of Tidy on an entry that no other mover uses.
func (m *Mover) tidy(ctx context.Context, e *catalog.Entry) error {
	s, err := m.opts.Catalogue.Schema(ctx, e.Keyspace)
	if err != nil {
		return err
	}
	// A client may have made a table of that name since. It does not belong to the change.
	if t := s.Table(e.Keyspace, e.Second.Physical); t != nil && (t.ID == e.Second.ID || e.Second.ID == [16]byte{}) {
		name := string(syntax.AppendName(nil, syntax.Name{Keyspace: e.Keyspace, Name: t.Name}))
		if _, err := m.opts.Session.Query(ctx, wire.LocalQuorum, "DROP TABLE IF EXISTS "+name); err != nil {
			return fmt.Errorf("drop the table %s, which a change of layout has left: %w", name, err)
		}
		m.opts.Catalogue.Agree(ctx)
	}
	if err := catalog.NewBuckets(m.opts.Session).Forget(ctx, e.Second.ID); err != nil {
		return err
	}
	if err := catalog.NewRollovers(m.opts.Session, [16]byte{}).Forget(ctx, e.Second.ID); err != nil {
		return err
	}
	if e.Layout.Plain() && e.Physical == e.Table {
		if err := m.opts.Catalogue.Remove(ctx, e); err != nil {
			return settled(err)
		}
		return m.opts.Doors.Gone(ctx, e)
	}
	clean := *e
	clean.Second = nil
	over, err := m.opts.Catalogue.Publish(ctx, e, &clean)
	if err != nil {
		return settled(err)
	}
	return m.opts.Doors.Ended(ctx, over)
}
