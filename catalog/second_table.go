// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// A change can copy the rows of a logical table to a second physical table. No store can rename a
// table, so the second one keeps its own name. The door hides that name from clients. It never uses the
// name for another table.

// Second is a second physical table of a logical table.
type Second struct {
	Physical string   // its name, in the same keyspace
	ID       [16]byte // zero: the table does not exist yet
}

// suffix marks the names of second tables. Eight hexadecimal digits follow it.
const suffix = "_evenkeel_"

// longestName is the longest name of a table in Cassandra.
const longestName = 48

// SecondName returns a name for a second physical table: the logical name, shortened if it is too
// long, and digits from the random id drawn.
func SecondName(table string, drawn [16]byte) string {
	tail := suffix + hex.EncodeToString(drawn[:4])
	return table[:min(len(table), longestName-len(tail))] + tail
}

// PhysicalID returns the id of the physical table that has the rows.
func (e *Entry) PhysicalID() [16]byte {
	if e.Own != ([16]byte{}) {
		return e.Own
	}
	return e.ID
}

// Hidden returns the names of the entry's physical tables that differ from the logical name.
// Clients do not see them.
func (e *Entry) Hidden() (names []string) {
	if e.Physical != e.Table {
		names = append(names, e.Physical)
	}
	if e.Second != nil && e.Second.Physical != e.Table {
		names = append(names, e.Second.Physical)
	}
	return names
}

// Filling returns the entry with a second physical table that a change will fill.
func (e *Entry) Filling(s Second) *Entry {
	n := *e
	n.Second = &s
	return &n
}

// Filled returns the entry after a change: the rows are in the second table, with layout l. The
// first table is still to be dropped.
func (e *Entry) Filled(l *shard.Layout) *Entry {
	n := e.With(l)
	n.Second = &Second{e.Physical, e.PhysicalID()}
	n.Physical, n.Own = e.Second.Physical, e.Second.ID
	return n
}

// Left reports whether the second table must still be dropped.
func (e *Entry) Left() bool { return e.Second != nil && e.Change == nil }

// Logical returns the logical table of an entry. It derives the table from the physical table that
// has the rows. It returns false if that table is missing or does not have the shape of the layout.
func (e *Entry) Logical(s *schema.Schema) (*schema.Table, bool) {
	t := s.Table(e.Keyspace, e.Physical)
	if t == nil {
		return nil, false
	}
	out, ok := Logical(t, e.Layout)
	if !ok {
		return nil, false
	}
	if t.ID != e.ID || t.Name != e.Table {
		named := *out
		named.ID, named.Name = e.ID, e.Table
		out = &named
	}
	return out, true
}

// several reports whether the entry has physical tables that earlier formats cannot express.
func (e *Entry) several() bool {
	return e.Layout.Plain() || e.Next != nil && e.Next.Plain() || e.Second != nil || e.Own != ([16]byte{})
}

// columns returns the name, the id and the layout for the columns of the entry's row. In format 4
// they are those of the sharded physical table.
func (e *Entry) columns() (name string, id [16]byte, l *shard.Layout) {
	if !e.Layout.Plain() {
		return e.Physical, e.PhysicalID(), e.Layout
	}
	sharded := &shard.Layout{N: 1, Column: shard.DefaultColumn}
	if e.Next != nil && !e.Next.Plain() {
		sharded = e.Next
	}
	if e.Second != nil {
		return e.Second.Physical, e.Second.ID, sharded
	}
	return e.Physical, e.PhysicalID(), sharded
}

func idOrNull(id [16]byte) []byte {
	if id == ([16]byte{}) {
		return nil
	}
	return id[:]
}

// tables is the JSON of an entry of format 4 about its physical tables.
type tables struct {
	ID       string  `json:"id"`
	Physical string  `json:"physical"`
	Own      string  `json:"own,omitempty"`
	Second   *second `json:"second,omitempty"`
}

type second struct {
	Physical string `json:"physical"`
	ID       string `json:"id,omitempty"`
}

func (e *Entry) tables() *tables {
	if !e.several() {
		return nil
	}
	t := &tables{ID: hex.EncodeToString(e.ID[:]), Physical: e.Physical, Own: hex.EncodeToString(idOrNull(e.Own))}
	if e.Second != nil {
		t.Second = &second{e.Second.Physical, hex.EncodeToString(idOrNull(e.Second.ID))}
	}
	return t
}

// readTables is the inverse of tables. If t is nil, it keeps the values of the columns.
func (e *Entry) readTables(t *tables) error {
	if t == nil {
		return nil
	}
	var wrong error
	id := func(text string) (out [16]byte) {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) != 0 && len(b) != len(out) {
			wrong = fmt.Errorf("an id of a table is %q", text)
		}
		copy(out[:], b)
		return out
	}
	e.Physical, e.ID, e.Own = t.Physical, id(t.ID), id(t.Own)
	if t.Second != nil {
		e.Second = &Second{t.Second.Physical, id(t.Second.ID)}
	}
	return wrong
}

// parseLayout reads the options of a layout. A plain layout, which only format 4 has, has no
// options.
func parseLayout(options map[string]string, t *tables) (*shard.Layout, error) {
	if t != nil && len(options) == 0 {
		return shard.Plain(), nil
	}
	return shard.Parse(options)
}

// Adopt inserts an entry for a table of the store that has none yet: a plain one, with the second table
// that a change will fill, or one that was sharded by hand. like is the table's keyspace. It returns ErrExists if the table has an entry.
func (c *Catalog) Adopt(ctx context.Context, e *Entry, like *schema.Keyspace) error {
	if err := c.tables.ensureLayouts(ctx, like); err != nil {
		return err
	}
	ok, err := c.layouts.insert(ctx, c.own(e.in(registry.Active)))
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", e, ErrExists)
	}
	return err
}

// Remove removes an unchanged entry: the table is plain again. It returns ErrChanged if the entry
// was changed.
func (c *Catalog) Remove(ctx context.Context, e *Entry) error {
	ok, err := c.layouts.remove(ctx, e)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", e, ErrChanged)
	}
	return err
}

// Release removes an unchanged entry, as Remove does, and waits until no door goes by it.
func (c *Catalog) Release(ctx context.Context, e *Entry) error {
	if err := c.Remove(ctx, e); err != nil {
		return err
	}
	return c.reread(ctx)
}

// Overdue reports whether this door has seen for so long that a second table must be dropped that no
// door is dropping it any more.
func (c *Catalog) Overdue(e *Entry) bool { return e.Left() && c.expired(e) }
