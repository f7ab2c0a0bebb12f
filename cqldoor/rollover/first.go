// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/shard"
)

// When a mover gives a table strategy rollover, it calls the methods in this file. They give the keys of the table
// their first shards. The mover decides when.

var _ mover.Rollovers = (*Rollovers)(nil)

// Rolled implements mover.Rollovers.
func (o *Rollovers) Rolled(table [16]byte) *shard.Rolled {
	o.reading.Lock()
	defer o.reading.Unlock()
	if l := o.logs[table]; l != nil {
		return l.rolled
	}
	return nil
}

// Written implements mover.Rollovers. While the lease holds, this door knows every open shard, because the door
// that opened the shard announced it at least one lease earlier. If the lease has ended, Written reads the log
// again.
func (o *Rollovers) Written(ctx context.Context, table [16]byte) (*shard.Rolled, error) {
	if o.x.Doors.Lease.Holds() {
		return o.Rolled(table), nil
	}
	o.reading.Lock()
	defer o.reading.Unlock()
	return o.catchUp(ctx, table)
}

// Announce implements mover.Rollovers.
func (o *Rollovers) Announce(ctx context.Context, table [16]byte, key []byte, n int) error {
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

// Open implements mover.Rollovers. Doors have sent all deletions that do not reach the shards before the mover's
// barrier. A client's cell goes to the shards only if its timestamp is later than those of all these deletions.
func (o *Rollovers) Open(ctx context.Context, table [16]byte, key []byte, n int) error {
	return o.append(ctx, table, func(has *shard.Rolled) *catalog.Rollover {
		open, closed := has.Timeless(key)
		if len(open) >= n || len(closed) == 0 {
			return nil
		}
		since := o.x.Clock.Now().Add(o.AheadOfClock + o.ClockSkew).UnixMicro()
		return &catalog.Rollover{Key: key, Shard: closed[0], From: &since}
	})
}

// append appends entries to a table's log. Before each one, it reads the log and passes the shards of the table's
// keys to next. next returns the entry, or nil if there is nothing more to append. append returns errAppends if
// other doors were faster several times (appendAttempts).
func (o *Rollovers) append(ctx context.Context, table [16]byte, next func(*shard.Rolled) *catalog.Rollover) error {
	for failed := 0; failed < appendAttempts; {
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
		did, err := o.Catalogue.Append(ctx, table, at, *entry)
		if err != nil {
			return err
		}
		if !did {
			failed++
		}
	}
	return errAppends
}
