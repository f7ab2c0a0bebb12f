// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// A table of strategy rollover gets another number of items that fill a shard, or of shards that a key may
// have, at once: these only decide when a key gets its next shard. A door that does not know of it yet can
// give a key more shards than it may have now. So the highest place is that of the earlier number.

// refill changes when a key gets its next shard. tag sets the table's tag.
func (r *Mover) refill(ctx context.Context, e *tables.Entry, w Wish, tag func() error) error {
	if err := tag(); err != nil {
		return err
	}
	from := From(e.Entry, "")
	_, err := r.Tables.Advance(ctx, e, func(n *catalog.Entry) error {
		_, n.Layout.Used = has(n, "")
		n.Layout.Fill.Rows, n.Layout.Max = w.Rows, w.Max
		n.Layout.Generation++
		return nil
	})
	if err == nil {
		r.Log.Info("dynamodb: keys of a table get their shards by another rule", "table", e.Table, "from", from.String(), "to", w.String())
	}
	return err
}

// refilled reports whether a change is only one of when a key gets its next shard.
func refilled(from, to plan.Shape) bool { return from.Rolls() && to.Rolls() }
