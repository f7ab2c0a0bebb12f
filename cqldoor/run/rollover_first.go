// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	carrier "github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/shard"
)

// This file gives the keys of a table their first shards, for the mover that gives the table strategy
// rollover. The mover says when.

var _ carrier.Rollovers = (*rollovers)(nil)

// Rolled implements carrier.Rollovers.
func (o *rollovers) Rolled(table [16]byte) *shard.Rolled {
	o.reading.Lock()
	defer o.reading.Unlock()
	if l := o.logs[table]; l != nil {
		return l.rolled
	}
	return nil
}

// Announce implements carrier.Rollovers.
func (o *rollovers) Announce(ctx context.Context, table [16]byte, key []byte, n int) error {
	from := int64(shard.Always)
	return o.append(ctx, table, func(has *shard.Rolled) *catalog.Rollover {
		open, closed := has.Timeless(key)
		next := has.Shards(key) + 1
		if len(open)+len(closed) >= n || next > shard.MaxShards {
			return nil
		}
		return &catalog.Rollover{Key: key, Shard: next, From: &from}
	})
}

// Open implements carrier.Rollovers.
func (o *rollovers) Open(ctx context.Context, table [16]byte, key []byte) error {
	return o.append(ctx, table, func(has *shard.Rolled) *catalog.Rollover {
		_, closed := has.Timeless(key)
		if len(closed) == 0 {
			return nil
		}
		return &catalog.Rollover{Key: key, Shard: closed[0]}
	})
}

// append appends entries to a table's log until next, which gets the shards by all entries, returns nil.
func (o *rollovers) append(ctx context.Context, table [16]byte, next func(*shard.Rolled) *catalog.Rollover) error {
	for failed := 0; failed < appends; {
		o.reading.Lock()
		has, err := o.catchUp(ctx, table)
		at := o.logs[table].next
		o.reading.Unlock()
		if err != nil {
			return err
		}
		entry := next(has)
		if entry == nil {
			return nil
		}
		did, err := o.catalogue.Append(ctx, table, at, *entry)
		if err != nil {
			return err
		}
		if !did {
			failed++
		}
	}
	return errAppends
}
