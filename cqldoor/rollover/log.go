// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"context"
	"fmt"
	"maps"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// readLog holds what this door has read of a table's log.
type readLog struct {
	next   int           // the number of the first entry that it has not read
	rolled *shard.Rolled // the shards of the table's keys by the entries before next
}

// catchUp reads the entries of a table's log that this door has not read. It returns the shards of the table's
// keys by all entries. The caller holds reading.
func (o *Rollovers) catchUp(ctx context.Context, table [16]byte) (*shard.Rolled, error) {
	l := o.logs[table]
	if l == nil {
		l = &readLog{}
		o.logs[table] = l
	}
	var rolling *shard.Rolling
	defer func() { // keep the entries read so far if the next request fails
		if rolling != nil {
			l.rolled = rolling.Done()
		}
	}()
	for {
		entries, err := o.Catalogue.Read(ctx, table, l.next)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			break
		}
		if rolling == nil {
			rolling = l.rolled.Next()
		}
		for i := range entries {
			if !o.apply(rolling, table, &entries[i]) {
				return nil, fmt.Errorf("read the directory of rollovers: entry %d says that shard %d follows one that does not exist", l.next, entries[i].Shard)
			}
			l.next++
		}
	}
	if rolling != nil {
		l.rolled, rolling = rolling.Done(), nil
	}
	return l.rolled, nil
}

// apply applies an entry of a table's log to the shards of the table's keys, and to closed. It reports whether
// the entry can follow the earlier ones.
func (o *Rollovers) apply(to *shard.Rolling, table [16]byte, r *catalog.Rollover) bool {
	at := KeyShard{table, string(r.Key), r.Shard}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case r.From == nil:
		delete(o.closed, at)
		return to.Open(r.Key, r.Shard)
	case *r.From != shard.Always && to.OpenCopied(r.Key, r.Shard, *r.From):
		delete(o.closed, at)
		return true
	}
	if _, known := o.closed[at]; !known {
		o.closed[at] = o.x.Doors.Lease.Now()
	}
	return to.Announce(r.Key, r.Shard, *r.From)
}

// OfEntries reads the new entries in the logs of the tables of strategy rollover. It returns the shards of their
// keys, by the id of the physical table. It forgets the logs of other tables.
func (o *Rollovers) OfEntries(ctx context.Context, entries []*catalog.Entry) (map[[16]byte]*shard.Rolled, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	out := map[[16]byte]*shard.Rolled{}
	for _, e := range entries {
		if e.State != registry.Active {
			continue
		}
		var ids [][16]byte
		if e.Layout.Strategy == shard.Rollover {
			ids = append(ids, e.PhysicalID())
		}
		if e.Next != nil && e.Next.Strategy == shard.Rollover && e.Second != nil {
			ids = append(ids, e.Second.ID)
		}
		for _, id := range ids {
			rolled, err := o.catchUp(ctx, id)
			if err != nil {
				return nil, err
			}
			out[id] = rolled
		}
	}
	maps.DeleteFunc(o.logs, func(id [16]byte, _ *readLog) bool {
		_, there := out[id]
		return !there
	})
	return out, nil
}

// CatchUpAll reads the new entries of all logs. If there are any, it publishes a new State. If no table has strategy
// rollover, it returns at once and does not wait for a running refresh. tables.Schemas calls it about once a second
// (cqldoor/tables/poll.go).
func (o *Rollovers) CatchUpAll(ctx context.Context) error {
	if !rollsOver(o.x.State.Load()) {
		return nil
	}
	return o.x.Renew(func(t *plan.Table) (map[[16]byte]*shard.Rolled, error) {
		fresh, all := false, map[[16]byte]*shard.Rolled{}
		for of := range tables.RollingOf(t) {
			o.reading.Lock()
			rolled, err := o.catchUp(ctx, of.PhysicalID())
			o.reading.Unlock()
			if err != nil {
				return nil, err
			}
			all[of.PhysicalID()] = rolled
			fresh = fresh || rolled != of.Layout.Rolled
		}
		if !fresh {
			return nil, nil
		}
		return all, nil
	})
}

// rollsOver reports whether a table of a state has strategy rollover, or a change gives it that strategy.
func rollsOver(s *tables.State) bool {
	for _, keyspace := range s.Tables {
		for _, t := range keyspace {
			for range tables.RollingOf(t) {
				return true
			}
		}
	}
	return false
}

// Next returns the number of the first entry of a table's log that this door has not read. It also returns how
// many shards a key has by the earlier entries.
func (o *Rollovers) Next(table [16]byte, key string) (next, has int) {
	o.reading.Lock()
	defer o.reading.Unlock()
	l := o.logs[table]
	if l == nil {
		return 0, 0 // the table was dropped
	}
	return l.next, l.rolled.Shards([]byte(key))
}
