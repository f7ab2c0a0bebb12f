// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/shard"
)

// Some changes of a layout move no row:
//
//   - a new epoch of keys or of rows, to which nobody has written yet,
//   - more shards under strategy random,
//   - another 'keep' under strategy time, and
//   - other 'rows', 'bytes' and 'max' under strategy rollover.
//
// Such a change takes one or two publications. The door answers the statement when every door knows of each
// publication.

// These options of ALTER TABLE begin an epoch. From their value on, keys or rows have 'shards' shards.
const (
	optionFrom     = "from"
	optionRowsFrom = "rows_from"
)

// stillSpare is the least time between the moment when all doors can know of an epoch of keys and the beginning
// of that epoch.
const stillSpare = time.Minute

// unmoved is an ALTER TABLE that gives a table another layout and moves no row.
type unmoved struct{ relayout }

// alterStill executes an ALTER TABLE that moves no row. It returns false, and changes nothing, if rows would move.
func (c *change) alterStill(ctx context.Context, t *tables.Sharded, declared declaration) (bool, error) {
	if declared.names(optionChange) {
		return false, nil // an order for a change in which rows move
	}
	e, err := c.Catalog.Entry(ctx, t.Entry.Keyspace, t.Entry.Table)
	switch {
	case err != nil:
		return true, errCatalog(err)
	case e == nil || e.ID != t.Entry.ID:
		return true, wire.Invalidf("table %s does not exist", t.Entry)
	case e.Foreign != nil:
		return true, wire.Invalidf("write_sharding: %s", e.Foreign)
	case e.Layout.Plain() && e.Change == nil:
		err := declared.fitsPlain(e)
		return err != nil, err
	case e.Change != nil:
		if declared.names(optionFrom) || declared.names(optionRowsFrom) {
			return true, wire.Invalidf("write_sharding: the layout of %s is being changed already (%s)", e, e.Change.Step)
		}
		return false, nil
	}
	return (&unmoved{relayout{change: c, entry: e, t: t, declared: declared}}).alter(ctx)
}

// alter executes the ALTER TABLE. It returns false, and changes nothing, if rows would move.
func (c *unmoved) alter(ctx context.Context) (bool, error) {
	var next *shard.Layout
	var check func(context.Context) error
	var err error
	switch {
	case c.declared.names(optionFrom) && c.declared.names(optionRowsFrom):
		return true, wire.Errorf(wire.CodeConfig, "write_sharding: 'from' is for keys and 'rows_from' for rows; give one of them")
	case c.declared.names(optionFrom):
		next, check, err = c.keysFrom()
	case c.declared.names(optionRowsFrom):
		next, check, err = c.rowsFrom()
	case c.entry.Layout.Strategy == shard.Time || c.entry.Layout.Strategy == shard.Rollover:
		return c.alterLimits(ctx)
	default:
		if grows, err := c.grows(); err != nil || !grows {
			return err != nil, err
		}
		return true, c.growRandom(ctx)
	}
	if err == nil {
		err = check(ctx)
	}
	if err == nil {
		err = c.publish(ctx, next)
	}
	if err == nil {
		c.void()
	}
	return true, err
}

// epoch returns the number of shards that the declaration gives an epoch. option is the option that begins the
// epoch. epoch returns an error if the declaration has options that it must not have beside that one.
func (d declaration) epoch(option string) (shard.Range, error) {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if name != "shards" && name != option && (name != optionKey || option != optionRowsFrom) {
			return shard.Range{}, wire.Errorf(wire.CodeConfig, "write_sharding: '%s' cannot change with an epoch; give 'shards' and '%s' alone", name, option)
		}
	}
	l, err := shard.Parse(map[string]string{"shards": d["shards"]})
	if !d.names("shards") {
		l, err = shard.Parse(nil)
	}
	if err != nil {
		return shard.Range{}, wire.Errorf(wire.CodeConfig, "%s", err)
	}
	return shard.Range{N: l.N}, nil
}

// keysFrom returns the layout with one more epoch of keys. It also returns a function that checks that the table
// has no rows of keys in the epoch yet.
func (c *unmoved) keysFrom() (*shard.Layout, func(context.Context) error, error) {
	r, err := c.declared.epoch(optionFrom)
	if err != nil {
		return nil, nil, err
	}
	config := func(format string, args ...any) (*shard.Layout, func(context.Context) error, error) {
		return nil, nil, wire.Errorf(wire.CodeConfig, format, args...)
	}
	at, err := shard.ParseInstant(c.declared[optionFrom])
	if err != nil {
		return config("write_sharding: 'from': %s", err)
	}
	earliest := c.Schemas.Clock.Now().Add(c.Doors.Lease.Length() + stillSpare)
	if !time.UnixMilli(at).After(earliest) {
		return config("write_sharding: 'from' is %s, which is too early: every door must know of the epoch before it begins; choose an instant after %s",
			c.declared[optionFrom], earliest.UTC().Format(time.RFC3339))
	}
	next := *c.entry.Layout
	next.Epochs = append(append([]shard.KeyEpoch(nil), next.Epochs...), shard.KeyEpoch{From: at, Range: r})
	if n := len(c.entry.Layout.Epochs); n > 0 && c.entry.Layout.Epochs[n-1].From >= at {
		return config("write_sharding: the table has an epoch of keys from %s; a new one begins later", shard.FormatInstant(c.entry.Layout.Epochs[n-1].From))
	}
	logical, err := plan.NewTable(c.t.Logical, &next)
	if err != nil {
		return config("%s", err)
	}
	return &next, func(ctx context.Context) error {
		return c.eachKey(ctx, func(key [][]byte) error {
			if logical.Layout.Since(plan.AppendKey(nil, key), at) {
				return wire.Invalidf("write_sharding: the table has rows of keys from %s on already, which would have to move; choose a later instant", c.declared[optionFrom])
			}
			return nil
		})
	}, nil
}

// rowsFrom returns the layout with one more epoch of rows, for the whole table or for one key. It also returns a
// function that checks that there are no rows in the epoch yet.
func (c *unmoved) rowsFrom() (*shard.Layout, func(context.Context) error, error) {
	r, err := c.declared.epoch(optionRowsFrom)
	if err != nil {
		return nil, nil, err
	}
	config := func(format string, args ...any) (*shard.Layout, func(context.Context) error, error) {
		return nil, nil, wire.Errorf(wire.CodeConfig, format, args...)
	}
	switch {
	case c.entry.Layout.Strategy == shard.Random:
		return config("write_sharding: 'rows_from' means nothing under strategy 'random', whose rows may be in any shard; let 'shards' grow")
	case len(c.entry.Layout.Epochs) > 0:
		return config("write_sharding: a table with epochs of keys has no epochs of rows beside them; use 'from'")
	case len(c.t.Logical.Clustering) == 0:
		return config("write_sharding: the table has no clustering column that epochs of rows could be told by")
	}
	column := c.t.Logical.Clustering[0]
	w, err := column.Type.FromString(c.declared[optionRowsFrom])
	if err != nil || len(w) == 0 {
		return config("write_sharding: 'rows_from' is '%s', which is no %s, the type of the first clustering column, %s", c.declared[optionRowsFrom], column.Type, column.Name)
	}
	if c.declared.names(optionKey) {
		return c.keyRowsFrom(r, w)
	}
	next := *c.entry.Layout
	r.Base = next.Base
	next.Rows = append(append([]shard.RowEpoch(nil), next.Rows...), shard.RowEpoch{From: w, Range: r})
	if _, err := plan.NewTable(c.t.Logical, &next); err != nil {
		return config("%s", err)
	}
	return &next, func(ctx context.Context) error {
		from := syntax.Select{From: syntax.Name{Keyspace: c.entry.Keyspace, Name: c.entry.Physical}, Limit: &syntax.Constant{Kind: syntax.ConstInteger, Text: "1"}, AllowFiltering: true,
			Selectors: []syntax.Selector{{Expr: &syntax.Column{Name: column.Name}}},
			Where:     []syntax.Relation{{Columns: []string{column.Name}, Op: syntax.OpGE, Value: &syntax.Bind{}}}}
		rows, err := c.Schemas.Session.Query(ctx, wire.Quorum, syntax.Print(&from), w)
		switch {
		case err != nil:
			return fmt.Errorf("look for rows in the new epoch: %w", err)
		case len(rows) > 0:
			return wire.Invalidf("write_sharding: the table has rows with %s from '%s' on already, which would have to move; choose a greater value", column.Name, c.declared[optionRowsFrom])
		}
		return nil
	}, nil
}

// keysAtOnce is how many physical partitions one request reads at most. If more partitions share one token, eachKey
// raises the limit.
const keysAtOnce = 1000

// eachKey calls f for each physical partition of a table, with the logical partition key. So it calls f several
// times for a key in several shards. At the bound between two requests, it may also call f twice for one partition.
func (c *unmoved) eachKey(ctx context.Context, f func(key [][]byte) error) error {
	var names []string
	for _, k := range c.t.Physical.PartitionKey {
		names = append(names, string(syntax.AppendIdent(nil, k.Name)))
	}
	list := strings.Join(names, ", ")
	table := string(syntax.AppendName(nil, syntax.Name{Keyspace: c.t.Entry.Keyspace, Name: c.t.Entry.Physical}))
	last, limit := binary.BigEndian.AppendUint64(nil, 1<<63), keysAtOnce
	for {
		text := fmt.Sprintf("SELECT DISTINCT %s, token(%[1]s) AS evenkeel_token FROM %[2]s WHERE token(%[1]s) >= ? LIMIT %[3]d", list, table, limit)
		rows, err := c.Schemas.Session.Query(ctx, wire.Quorum, text, last)
		if err != nil {
			return fmt.Errorf("look for keys of the epoch: %w", err)
		}
		for _, r := range rows {
			if err := f(logicalKey(c.t.Logical, r)); err != nil {
				return err
			}
		}
		if len(rows) < limit {
			return nil
		}
		next := rows[len(rows)-1]["evenkeel_token"]
		if string(next) == string(last) {
			limit *= 2 // at least limit partitions share one token
		}
		last = next
	}
}

func logicalKey(t *schema.Table, r catalog.Row) [][]byte {
	key := make([][]byte, len(t.PartitionKey))
	for i, k := range t.PartitionKey {
		key[i] = r[k.Name]
	}
	return key
}

// grows reports whether the declaration only gives a table of strategy random more shards, or repeats a change to
// more shards that has not ended. It returns an error if the table has so many shards already, or has more.
func (c *unmoved) grows() (bool, error) {
	if c.entry.Layout.Strategy != shard.Random || !c.declared.names("shards") {
		return false, nil
	}
	options := map[string]string{"strategy": c.entry.Layout.Strategy.String()}
	for k, v := range c.declared {
		options[k] = v
	}
	asked, err := shard.Parse(options)
	if err != nil {
		return false, wire.Errorf(wire.CodeConfig, "%s", err)
	}
	if asked.Strategy != shard.Random || c.declared.names("column") && asked.Column != c.entry.Layout.Column || c.declared.names("base") || c.declared.names("epochs") {
		return false, nil
	}
	switch {
	case asked.N == c.entry.Layout.N && c.entry.Layout.Drawn == 0:
		return false, wire.Invalidf("write_sharding: the table has %d shards already", asked.N)
	case asked.N < c.entry.Layout.N:
		return false, wire.Invalidf("write_sharding: a table of strategy 'random' cannot have fewer shards while it is in use: its rows are in all %d; create a new table with the layout that you want and copy", c.entry.Layout.N)
	}
	return true, nil
}

// alterLimits changes options that do not decide the shard of an existing row: 'keep' under strategy time, and
// 'rows', 'bytes' and 'max' under strategy rollover. The keeper (package buckets) later drops rows that are older
// than 'keep'. alterLimits returns false if the declaration changes something else, or nothing.
func (c *unmoved) alterLimits(ctx context.Context) (bool, error) {
	asked, _, err := c.asked()
	if err != nil {
		return true, err
	}
	next := *c.entry.Layout
	next.Keep, next.Fill, next.Max = asked.Keep, asked.Fill, asked.Max
	if next.Equal(c.entry.Layout) || !next.Equal(asked) {
		return false, nil
	}
	if err := buckets.CheckTableTTL(c.t.Physical, &next); err != nil {
		return true, err
	}
	if err = c.publish(ctx, &next); err == nil {
		c.void()
	}
	return true, err
}

// growRandom gives a table of strategy random more shards. It publishes two layouts, so that all doors read the new
// shards before any door writes to them.
func (c *unmoved) growRandom(ctx context.Context) error {
	n, err := c.declared.epoch("strategy")
	if err != nil {
		return err
	}
	next := *c.entry.Layout
	if next.Drawn == 0 {
		next.Drawn = next.N
	}
	next.N = n.N
	if err := c.publish(ctx, &next); err != nil {
		return err
	}
	all := *c.entry.Layout
	all.Drawn = 0
	if err := c.publish(ctx, &all); err != nil {
		return err
	}
	c.void()
	return nil
}

// publish publishes a layout that moves no row. It waits until every door that holds its lease uses the layout.
func (c *unmoved) publish(ctx context.Context, next *shard.Layout) error {
	e, err := c.Catalog.Publish(ctx, c.entry, c.entry.With(next))
	if errors.Is(err, catalog.ErrChanged) {
		return wire.Invalidf("write_sharding: %s; look at it, and try again", err)
	}
	if err != nil {
		return errCatalog(err)
	}
	c.entry = e
	if err := c.Schemas.Refresh(ctx); err != nil || c.Doors.Member == nil {
		return err
	}
	table := fleet.Table{Keyspace: e.Keyspace, Name: e.Table, ID: e.ID}
	if err := c.Doors.Member.Publish(ctx, fleet.Publication{Table: table, Generation: e.Layout.Generation}); err != nil {
		return err
	}
	var vanished *fleet.VanishedError
	if err := c.Doors.Member.Barrier(ctx, table, e.Layout.Generation); err != nil && !errors.As(err, &vanished) {
		return wire.Errorf(wire.CodeServer, "write_sharding: the new layout of %s is published, but not every door has acknowledged it: %s", e, err)
	}
	return c.Doors.Member.Withdraw(ctx, table, e.Layout.Generation)
}
