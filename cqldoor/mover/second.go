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

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/describe"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// A change from unsharded to sharded fills a second physical table, which has the shard in its key.
// The mover writes the table's name to the catalogue before it makes the table, so that a door that
// dies in between leaves no unknown table. When the change has ended, the mover drops the table
// that no longer has the rows.

// RefusePlain returns all reasons why a plain table cannot be sharded while it is in use, or
// nothing if there is none.
func RefusePlain(ks *schema.Keyspace, t *schema.Table, to *shard.Layout) []string {
	why := Refuse(ks, t, shard.Plain(), to)
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if t.View != nil {
		add("it is a materialized view")
	}
	for _, name := range slices.Sorted(maps.Keys(ks.Tables)) {
		if v := ks.Tables[name].View; v != nil && v.Base == t.Name {
			add("it has the materialized view %s, which no other table can feed", name)
		}
	}
	for _, i := range t.Indexes {
		add("it has the index %s: sharded tables have none", i.Name)
	}
	if len(t.Statics) > 0 {
		add("it has static columns, which doors do not move yet")
	}
	if len(t.Clustering) == 0 {
		add("it has no clustering column, so that each partition is a single row, and there is nothing to spread")
	}
	if on, _ := t.Options["cdc"].(bool); on {
		add("cdc is on: what reads its log would find the physical tables' names there")
	}
	if extensions, _ := t.Options["extensions"].(map[string][]byte); len(extensions) > 0 {
		add("it has extensions, which only what has made them can make again")
	}
	if t.Columns[to.Column] != nil {
		add("it has a column %s; choose another name for the hidden one: 'column': '…'", to.Column)
	}
	return why
}

// sharded returns the physical table to which a plain one is copied.
func sharded(t *schema.Table, name string, l *shard.Layout) *schema.Table {
	out := *t
	hidden := &schema.Column{Name: l.Column, Type: value.Native(value.Int), Kind: schema.PartitionKey, Position: len(t.PartitionKey)}
	out.Name = name
	out.PartitionKey = append(slices.Clone(t.PartitionKey), hidden)
	out.Columns = maps.Clone(t.Columns)
	out.Columns[hidden.Name] = hidden
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
	next, err := m.fill(ctx, e, t, to)
	if err != nil {
		return nil, errors.Join(err, m.Tidy(context.WithoutCancel(ctx), e.Keyspace, e.Table))
	}
	return next, nil
}

// OutlookOfPlain returns the cost of a change of a plain table to a layout and changes nothing.
// against lists reasons against the change besides those of RefusePlain.
func (m *Mover) OutlookOfPlain(ctx context.Context, ks *schema.Keyspace, t *schema.Table, to *shard.Layout, against ...string) (reshard.Outlook, error) {
	e := Plain(t)
	o := reshard.Outlook{Table: e.String(), To: to.N, Refused: append([]string{}, against...), Notes: []string{}}
	more, err := m.unseen(ctx, t)
	if err != nil {
		return o, err
	}
	if o.Refused = append(append(o.Refused, RefusePlain(ks, t, to)...), more...); len(o.Refused) > 0 {
		return o, nil
	}
	got, err := m.count(ctx, e, t, To(e.Layout, to, 0))
	if err != nil {
		return o, err
	}
	o.Rows, o.RowsMoved = got.rows, float64(got.Total)
	o.Notes = append(o.Notes,
		"all rows are copied into a second table, and the plain one is dropped in the end: until then everything is stored twice",
		fmt.Sprintf("about %d requests: each row is copied once and read twice; all rows are scanned four times", 3*got.Total),
		"until the plain table is dropped, writes take two requests, one after the other, and conditions (IF) are refused",
		"a row's marker has no readable write time: a copied row gets its oldest cell's")
	return o, nil
}

// Plain returns an entry for a plain table. The catalogue has none for it.
func Plain(t *schema.Table) *catalog.Entry {
	return &catalog.Entry{Keyspace: t.Keyspace, Table: t.Name, Physical: t.Name, ID: t.ID, Layout: shard.Plain()}
}

// leaving returns the last step of a change that has ended, except that the second table must still
// be dropped.
func leaving(e *catalog.Entry) reshard.Step {
	if e.Layout.Plain() {
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
	if _, err := m.opts.Session.Query(ctx, wire.LocalQuorum, describe.Stated(sharded(t, e.Second.Physical, to))); err != nil {
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
