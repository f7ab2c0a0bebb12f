// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// A logical table whose rows were copied from an unsharded physical table into a sharded one
// has a physical table of another name: no store can rename a table. The name is hidden from
// clients, and is never used again.

// Second is a second physical table of a logical table.
type Second struct {
	Physical string   // its name, in the same keyspace
	ID       [16]byte // zero: not made yet
}

// suffix tells the names of second tables from others; eight hexadecimal digits follow.
const suffix = "_evenkeel_"

// longestName is how long the name of a table may be in Cassandra.
const longestName = 48

// SecondName is a name for a second physical table: the logical one's, cut where it is too
// long, and a number that is drawn.
func SecondName(table string, drawn [16]byte) string {
	tail := suffix + hex.EncodeToString(drawn[:4])
	return table[:min(len(table), longestName-len(tail))] + tail
}

// PhysicalID is the id of the physical table that has the rows.
func (e *Entry) PhysicalID() [16]byte {
	if e.Own != ([16]byte{}) {
		return e.Own
	}
	return e.ID
}

// Hidden are the names of the entry's physical tables that are not the logical one's:
// clients do not see them.
func (e *Entry) Hidden() (names []string) {
	if e.Physical != e.Table {
		names = append(names, e.Physical)
	}
	if e.Second != nil && e.Second.Physical != e.Table {
		names = append(names, e.Second.Physical)
	}
	return names
}

// Filling returns the entry with a second physical table that a change is to fill.
func (e *Entry) Filling(s Second) *Entry {
	n := *e
	n.Second = &s
	return &n
}

// Filled returns the entry without a change, the rows in the second table by its layout, which
// is l. The first table is to be dropped.
func (e *Entry) Filled(l *shard.Layout) *Entry {
	n := e.With(l)
	n.Second = &Second{e.Physical, e.PhysicalID()}
	n.Physical, n.Own = e.Second.Physical, e.Second.ID
	return n
}

// Left says whether the second table is to be dropped.
func (e *Entry) Left() bool { return e.Second != nil && e.Change == nil }

// Logical is the logical table as an entry's physical tables say it: as the one that has the
// rows, with the options of the other while a change goes on.
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

// several says that the entry has physical tables that earlier formats cannot say.
func (e *Entry) several() bool {
	return e.Layout.Plain() || e.Next != nil && e.Next.Plain() || e.Second != nil || e.Own != ([16]byte{})
}

// columns are the name, the id and the layout that the columns of the entry have: in format 4
// those of the sharded physical table.
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

// tables is what an entry of format 4 says of the physical tables.
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

// readTables is the inverse of tables; nil leaves what the columns have said.
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

// parseLayout reads the options of a layout; those of a plain one, which format 4 alone has, are none.
func parseLayout(options map[string]string, t *tables) (*shard.Layout, error) {
	if t != nil && len(options) == 0 {
		return shard.Plain(), nil
	}
	return shard.Parse(options)
}

// Adopt enters a plain table, which has no entry yet, with the second table that a change is
// to fill; like is the keyspace that it is in. It returns ErrExists if the table has an entry.
func (c *Catalog) Adopt(ctx context.Context, e *Entry, like *schema.Keyspace) error {
	if err := c.ensure(ctx, like); err != nil {
		return err
	}
	ok, err := c.insert(ctx, c.own(e.in(Active)))
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", e, ErrExists)
	}
	return err
}

// Remove takes an entry away, unless it was changed: the table is plain again. It returns
// ErrChanged if it was.
func (c *Catalog) Remove(ctx context.Context, e *Entry) error {
	ok, err := c.remove(ctx, e)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", e, ErrChanged)
	}
	return err
}

// Overdue says whether a second table that is to be dropped has been there for so long that
// nobody is at it any more.
func (c *Catalog) Overdue(e *Entry) bool { return e.Left() && c.expired(e) }
