// SPDX-License-Identifier: Apache-2.0

package buckets

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
)

// A table of strategy time that keeps its rows for a limited time has a floor in the catalogue:
// the first bucket that is kept. The floor only rises. The door that raises it waits until every
// door uses the new floor and refuses rows below it. Then it drops the buckets below with one
// deletion for each of their partitions. So no row is put into a dropped bucket, and no deletions
// of single rows are left behind.

// Keeper raises the floors of tables and drops the buckets below them.
type Keeper struct {
	x       *tables.Schemas
	ended   func(ctx context.Context, e *catalog.Entry) error // see NewKeeper
	Session catalog.Session
	Buckets *catalog.Buckets
	swept   map[[16]byte]int64 // by table id: the floor below which another door drops buckets, or this one has dropped them
}

// keepEvery is how often a door checks whether floors must rise.
const keepEvery = time.Minute

// NewKeeper returns a Keeper. ended tells all doors of the new layout of an entry, and waits until they
// use it.
func NewKeeper(x *tables.Schemas, ended func(ctx context.Context, e *catalog.Entry) error) *Keeper {
	return &Keeper{x: x, ended: ended, Session: x.Session, Buckets: catalog.NewBuckets(x.Session), swept: map[[16]byte]int64{}}
}

// Run calls Round every keepEvery until ctx is done.
func (k *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.Round(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// Round calls Table for each table that keeps its rows for a limited time, and logs errors.
func (k *Keeper) Round(ctx context.Context) {
	for _, tables := range k.x.View.Load().Tables {
		for _, t := range tables {
			if l := t.Entry.Layout; l.Strategy != shard.Time || l.Keep == 0 || t.Entry.Change != nil {
				continue // during a change, rows would be dropped in only one of their places
			}
			if err := k.Table(ctx, t); err != nil && ctx.Err() == nil {
				k.x.Opts.Log.Warn("the door cannot drop old buckets of a table yet; it tries again", "table", t.Entry.String(), "error", err)
			}
		}
	}
}

// Table raises the floor of one table if it is due, and drops the buckets below.
func (k *Keeper) Table(ctx context.Context, t *tables.Sharded) error {
	now, err := EarlierTime(ctx, k.Session, k.x.Opts.Now)
	if err != nil {
		return err
	}
	e := t.Entry
	floor := FloorOf(e.Layout, now)
	if floor > e.Layout.Floor {
		next := *e.Layout
		next.Floor = floor
		e, err = k.x.Catalog.Publish(ctx, e, e.With(&next))
		if errors.Is(err, catalog.ErrChanged) {
			return nil // another door has changed the entry: it drops the buckets, or a later round raises the floor
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

// FloorOf returns the first bucket that a table keeps at time now.
func FloorOf(l *shard.Layout, now time.Time) int64 {
	return l.Grid().Of(now.UnixMilli() - int64(l.Keep))
}

// dropStamp is the timestamp for the deletion of a bucket. It is later than any timestamp that the
// bucket's rows can have. No door puts a row into the bucket any more.
const dropStamp = 1 << 62

// drop deletes the rows in all buckets below the floor, and removes these buckets from the directory.
func (k *Keeper) drop(ctx context.Context, t *tables.Sharded, l *shard.Layout) error {
	d := &syntax.Delete{From: syntax.Name{Keyspace: t.Entry.Keyspace, Name: t.Entry.Physical}, Using: syntax.Using{Timestamp: &syntax.Constant{Kind: syntax.ConstInteger, Text: fmt.Sprint(int64(dropStamp))}}}
	for _, c := range t.Physical.PartitionKey {
		d.Where = append(d.Where, syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpEQ, Value: &syntax.Bind{}})
	}
	text := syntax.Print(d)
	dropped, id := 0, t.Entry.PhysicalID()
	err := k.Buckets.EachKey(ctx, id, func(key []byte) error {
		values, err := partitioner.SplitComposite(nil, key, len(t.Logical.PartitionKey))
		if err != nil {
			return err
		}
		for {
			const some = 100
			old, err := k.Buckets.List(ctx, id, key, l.Grid().First(), l.Floor-1, false, some)
			if err != nil {
				return err
			}
			for _, b := range old {
				for _, n := range l.Grid().AppendPlaces(nil, b) {
					if _, err := k.Session.Query(ctx, wire.Quorum, text, append(values[:len(values):len(values)], plan.IntValue(n))...); err != nil {
						return fmt.Errorf("drop a bucket: %w", err)
					}
				}
				if err := k.Buckets.Remove(ctx, id, key, b); err != nil {
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
		k.x.Opts.Log.Info("buckets that are older than 'keep' are dropped", "table", t.Entry.String(), "buckets", dropped)
	}
	return err
}

// errBelow returns the error for a write to a dropped bucket.
func errBelow(t *plan.Table) error {
	l := t.Layout
	return wire.Invalidf("write_sharding: a row from before %s cannot be written to %s.%s, which keeps rows for %s ('keep'): its bucket was dropped",
		time.UnixMilli(l.Grid().Start(l.Floor)).UTC().Format(time.RFC3339), t.Keyspace, t.Name, l.Keep)
}

// CheckKeep returns an error if the TTL of a write is longer than the table keeps rows.
func CheckKeep(w *plan.Write, b *analysis.BoundWrite) error {
	l := w.Table.Layout
	if l.Keep == 0 || b.TTL == nil || int64(*b.TTL) <= seconds(l) {
		return nil
	}
	return wire.Invalidf("write_sharding: USING TTL %d is longer than %s.%s keeps rows, which is %s ('keep'); take a shorter TTL, or none", *b.TTL, w.Table.Keyspace, w.Table.Name, l.Keep)
}

func seconds(l *shard.Layout) int64 { return int64(l.Keep) / 1000 }

// CheckDefaultTTL returns an error if a statement declares a default TTL that is longer than the table
// keeps rows.
func CheckDefaultTTL(with syntax.Properties, l *shard.Layout) error { return keeps(TTLOf(with), l) }

// CheckTableTTL checks the default TTL of a table that exists, as CheckDefaultTTL does.
func CheckTableTTL(t *schema.Table, l *shard.Layout) error { return keeps(DefaultTTL(t), l) }

// DefaultTTL returns the default time to live of a table that exists, in seconds.
func DefaultTTL(t *schema.Table) int {
	n, _ := t.Options["default_time_to_live"].(int)
	return n
}

func keeps(ttl int, l *shard.Layout) error {
	if l.Keep > 0 && int64(ttl) > seconds(l) {
		return wire.Errorf(wire.CodeConfig, "write_sharding: default_time_to_live is %d, longer than 'keep', which is %s: rows would be dropped before they expire; take a longer 'keep', or a shorter default_time_to_live", ttl, l.Keep)
	}
	return nil
}

// maxClockSkew is the largest allowed difference between the door's clock and the store's.
const maxClockSkew = time.Minute

// EarlierTime returns the earlier of the door's time and the store's time. By a clock that is fast, the
// door would drop buckets too early, and their rows would be lost. If the clocks differ by more than
// maxClockSkew, EarlierTime returns an error.
func EarlierTime(ctx context.Context, session catalog.Session, now func() time.Time) (time.Time, error) {
	there, err := tables.StoreTime(ctx, session)
	if err != nil {
		return time.Time{}, err
	}
	here := now()
	switch d := here.Sub(there); {
	case d > maxClockSkew || d < -maxClockSkew:
		return time.Time{}, fmt.Errorf("the clocks of the door and the store are %s apart; synchronize them", d.Abs().Round(time.Second))
	case d > 0:
		return there, nil
	}
	return here, nil
}

// TTLOf returns the default time to live that a statement declares, in seconds; 0: none.
func TTLOf(with syntax.Properties) int {
	for _, p := range with {
		if c, ok := p.Value.(*syntax.Constant); ok && p.Name == "default_time_to_live" {
			n, _ := strconv.Atoi(c.Text)
			return n
		}
	}
	return 0
}
