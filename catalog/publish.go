// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// ErrChanged says that an entry is not the expected one: another door has published something, or
// the table has been dropped.
var ErrChanged = errors.New("the table's entry in the catalogue was changed by another door, or the table is gone")

// Entry reads one table's entry consistently. It returns nil if there is none.
func (c *Catalog) Entry(ctx context.Context, keyspace, table string) (*Entry, error) {
	return c.layouts.get(ctx, keyspace, table)
}

// Publish replaces the layout, or the step of a change, in an active entry, and returns the new
// entry. It is a conditional write. If several doors publish at once, one succeeds, and the
// others get ErrChanged. A door that publishes over an entry that is not the present one gets
// ErrChanged too. If an error leaves the outcome unknown, Publish reads the entry to learn
// whether the write took place.
//
// next has the table's names and its new layout. Publish raises the generation. While a DROP is
// under way, Publish waits for its outcome.
func (c *Catalog) Publish(ctx context.Context, old, next *Entry) (*Entry, error) {
	n := *next
	n.Owner = c.opts.UUID()
	layout := *next.Layout
	layout.Generation = old.Layout.Generation + 1
	n.Layout = &layout
	generation := binary.BigEndian.AppendUint64(nil, uint64(old.Layout.Generation))
	_, at, _ := old.columns()
	owner := old.Owner
	for {
		values := append(n.values(), []byte(n.Keyspace), []byte(n.Table), []byte(registry.Active), idOrNull(at), generation, owner[:])
		applied, err := c.layouts.apply(ctx, `UPDATE evenkeel.layouts SET physical_name = ?, table_id = ?, state = ?, strategy = ?, "by" = ?, hash = ?, `+
			`shards = ?, "column" = ?, generation = ?, statement = ?, owner = ?, started_at = ?`+whereKey+
			" IF state = ? AND table_id = ? AND generation = ? AND owner = ?", values...)
		if applied {
			return &n, nil
		}
		if definite(err) {
			return nil, err
		}
		now, readErr := c.layouts.get(ctx, n.Keyspace, n.Table)
		switch {
		case readErr != nil && err != nil:
			return nil, err
		case readErr != nil:
			return nil, readErr
		case now != nil && now.Owner == n.Owner:
			return &n, nil
		case err != nil:
			return nil, err
		case now == nil || now.ID != old.ID || now.Layout.Generation != old.Layout.Generation:
			return nil, fmt.Errorf("%s: %w", old, ErrChanged)
		}
		// The layout is still the old one. But another door has begun a DROP, which the store may
		// refuse. Or the store has refused it, and the entry has another owner.
		if owner = now.Owner; now.State != registry.Active {
			if err := c.nodes.pause(ctx); err != nil {
				return nil, fmt.Errorf("wait for another operation on %s: %w", old, err)
			}
		}
	}
}

// With returns the entry with another layout and no change.
func (e *Entry) With(l *shard.Layout) *Entry {
	n := *e
	n.Layout, n.Next, n.Change, n.Key = l, nil, nil, ""
	return &n
}

// Changing returns the entry with a change to the layout next under way.
func (e *Entry) Changing(next *shard.Layout, c reshard.Change) *Entry {
	n := *e
	n.Next, n.Change = next, &c
	return &n
}
