// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
)

// A table of strategy time that keeps its rows for a limited time has a floor in the catalogue:
// the first bucket that is kept. The floor only rises. The door that raises it waits until every
// door uses the new floor and refuses rows below it. Then it drops the buckets below with one
// deletion for each of their partitions. So no row is put into a dropped bucket, and no deletions
// of single rows are left behind.

// keeper raises the floors of tables and drops the buckets below them.
type keeper struct {
	x       *schemas
	ended   func(ctx context.Context, e *catalog.Entry) error // makes all doors use a new layout
	session catalog.Session
	buckets *catalog.Buckets
	swept   map[[16]byte]int64 // by table id: the floor below which another door drops buckets, or this one has dropped them
}

// keepEvery is how often a door checks whether floors must rise.
const keepEvery = time.Minute

// newKeeper returns a keeper. ended makes all doors use a new layout of an entry.
func newKeeper(x *schemas, ended func(ctx context.Context, e *catalog.Entry) error) *keeper {
	return &keeper{x: x, ended: ended, session: x.session, buckets: catalog.NewBuckets(x.session), swept: map[[16]byte]int64{}}
}

// run checks the floors until ctx is done.
func (k *keeper) run(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.round(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// round raises the floors that are due.
func (k *keeper) round(ctx context.Context) {
	for _, tables := range k.x.view.Load().tables {
		for _, t := range tables {
			if l := t.entry.Layout; l.Strategy != shard.Time || l.Keep == 0 || t.entry.Change != nil {
				continue // during a change rows would be dropped in one of their places
			}
			if err := k.table(ctx, t); err != nil && ctx.Err() == nil {
				k.x.opts.Log.Warn("the door cannot drop old buckets of a table yet; it tries again", "table", t.entry.String(), "error", err)
			}
		}
	}
}

// table raises the floor of one table if it is due, and drops the buckets below.
func (k *keeper) table(ctx context.Context, t *sharded) error {
	now, err := agreed(ctx, k.session, k.x.opts.Now)
	if err != nil {
		return err
	}
	e := t.entry
	floor := floorOf(e.Layout, now)
	if floor > e.Layout.Floor {
		next := *e.Layout
		next.Floor = floor
		e, err = k.x.catalog.Publish(ctx, e, e.With(&next))
		if errors.Is(err, catalog.ErrChanged) {
			return nil // another door has raised it, and will drop
		}
		if err == nil {
			err = k.ended(ctx, e)
		}
		if err != nil {
			return err
		}
		delete(k.swept, e.ID)
	}
	if _, known := k.swept[e.ID]; known || e.Layout.Floor == 0 {
		k.swept[e.ID] = e.Layout.Floor
		return nil
	}
	if err := k.drop(ctx, t, e.Layout); err != nil {
		return err
	}
	k.swept[e.ID] = e.Layout.Floor
	return nil
}

// floorOf returns the first bucket that a table keeps.
func floorOf(l *shard.Layout, now time.Time) int64 {
	return l.Grid().Of(now.UnixMilli() - int64(l.Keep))
}

// dropStamp is the timestamp for the deletion of a bucket: later than any timestamp that its rows
// can have. No row is put into the bucket any more.
const dropStamp = 1 << 62

// drop drops the buckets below the floor.
func (k *keeper) drop(ctx context.Context, t *sharded, l *shard.Layout) error {
	d := &syntax.Delete{From: syntax.Name{Keyspace: t.entry.Keyspace, Name: t.entry.Physical}, Using: syntax.Using{Timestamp: &syntax.Constant{Kind: syntax.ConstInteger, Text: fmt.Sprint(int64(dropStamp))}}}
	for _, c := range t.physical.PartitionKey {
		d.Where = append(d.Where, syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpEQ, Value: &syntax.Bind{}})
	}
	text := syntax.Print(d)
	dropped, id := 0, t.entry.PhysicalID()
	err := k.buckets.EachKey(ctx, id, func(key []byte) error {
		values, err := partitioner.SplitComposite(nil, key, len(t.logical.PartitionKey))
		if err != nil {
			return err
		}
		for {
			const some = 100
			old, err := k.buckets.List(ctx, id, key, l.Grid().First(), l.Floor-1, false, some)
			if err != nil {
				return err
			}
			for _, b := range old {
				for _, n := range l.Grid().AppendPlaces(nil, b) {
					if _, err := k.session.Query(ctx, wire.Quorum, text, append(values[:len(values):len(values)], plan.IntValue(n))...); err != nil {
						return fmt.Errorf("drop a bucket: %w", err)
					}
				}
				if err := k.buckets.Remove(ctx, id, key, b); err != nil {
					return err
				}
				dropped++
			}
			if len(old) < some {
				return nil
			}
		}
	})
	if dropped > 0 {
		k.x.opts.Log.Info("buckets that are older than 'keep' are dropped", "table", t.entry.String(), "buckets", dropped)
	}
	return err
}

// errBelow refuses a row in a dropped bucket.
func errBelow(t *plan.Table) error {
	l := t.Layout
	return wire.Invalidf("write_sharding: a row from before %s cannot be written to %s.%s, which keeps rows for %s ('keep'): its bucket was dropped",
		time.UnixMilli(l.Grid().Start(l.Floor)).UTC().Format(time.RFC3339), t.Keyspace, t.Name, l.Keep)
}

// checkKeep refuses a write whose rows would live longer than the table keeps rows.
func checkKeep(w *plan.Write, b *analysis.BoundWrite) error {
	l := w.Table.Layout
	if l.Keep == 0 || b.TTL == nil || int64(*b.TTL) <= seconds(l) {
		return nil
	}
	return wire.Invalidf("write_sharding: USING TTL %d is longer than %s.%s keeps rows, which is %s ('keep'); take a shorter TTL, or none", *b.TTL, w.Table.Keyspace, w.Table.Name, l.Keep)
}

func seconds(l *shard.Layout) int64 { return int64(l.Keep) / 1000 }

// checkDefaultTTL refuses a table whose default TTL is longer than the table keeps rows.
func checkDefaultTTL(with syntax.Properties, l *shard.Layout) error { return keeps(ttlOf(with), l) }

// keepsTTL is checkDefaultTTL for a table that exists.
func keepsTTL(t *schema.Table, l *shard.Layout) error { return keeps(defaultTTL(t), l) }

// defaultTTL returns the default time to live of a table that exists, in seconds.
func defaultTTL(t *schema.Table) int {
	n, _ := t.Options["default_time_to_live"].(int)
	return n
}

func keeps(ttl int, l *shard.Layout) error {
	if l.Keep > 0 && int64(ttl) > seconds(l) {
		return wire.Errorf(wire.CodeConfig, "write_sharding: default_time_to_live is %d, longer than 'keep', which is %s: rows would be dropped before they expire; take a longer 'keep', or a shorter default_time_to_live", ttl, l.Keep)
	}
	return nil
}

// sameButFloor says whether a plan made under one layout is valid under another: they are the
// same, or only the floor has risen. The buckets below a new floor are dropped only when no
// request that was planned before is under way.
func sameButFloor(a, b *shard.Layout) bool {
	if a.Strategy != shard.Time || b.Strategy != shard.Time {
		return reflect.DeepEqual(a, b)
	}
	x, y := *a, *b
	x.Floor, y.Floor, x.Generation, y.Generation = 0, 0, 0, 0
	return reflect.DeepEqual(x, y)
}

// maxClockSkew is the largest allowed difference between the door's clock and the store's.
const maxClockSkew = time.Minute

// agreed returns the earlier of the door's time and the store's time. If a clock is fast, the door would drop buckets too
// early, and their rows would be lost. If the clocks differ by more than maxClockSkew, agreed returns an error.
func agreed(ctx context.Context, session catalog.Session, now func() time.Time) (time.Time, error) {
	there, err := storeTime(ctx, session)
	if err != nil {
		return time.Time{}, err
	}
	here := now()
	switch d := here.Sub(there); {
	case d > maxClockSkew || d < -maxClockSkew:
		return time.Time{}, fmt.Errorf("the door's clock and the store's are %s apart; set them right", d.Abs().Round(time.Second))
	case d > 0:
		return there, nil
	}
	return here, nil
}
