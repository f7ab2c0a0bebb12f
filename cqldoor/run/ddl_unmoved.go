// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
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
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/shard"
)

// Some changes of a layout move no row: a new epoch of keys or of rows that nobody has written to
// yet, more shards under strategy random, and another 'keep' under strategy time. They take one or two publications. Before the
// statement is answered, every door knows of each publication.

// These options of ALTER TABLE begin an epoch: from there on, keys or rows have 'shards' shards.
const (
	optionFrom     = "from"
	optionRowsFrom = "rows_from"
)

// stillSpare is how long after all doors can know of it an epoch of keys may begin at the
// earliest.
const stillSpare = time.Minute

// alterStill executes an ALTER TABLE in which no row moves. It returns false if rows would move.
func (c *change) alterStill(ctx context.Context, t *sharded, declared declaration) (bool, error) {
	if declared.names(optionChange) {
		return false, nil // an order for a change in which rows move
	}
	e, err := c.catalog.Entry(ctx, t.entry.Keyspace, t.entry.Table)
	switch {
	case err != nil:
		return true, errCatalog(err)
	case e == nil || e.ID != t.entry.ID:
		return true, wire.Invalidf("table %s does not exist", t.entry)
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
	var next *shard.Layout
	var check func(context.Context) error
	switch {
	case declared.names(optionFrom) && declared.names(optionRowsFrom):
		return true, wire.Errorf(wire.CodeConfig, "write_sharding: 'from' is for keys and 'rows_from' for rows; give one of them")
	case declared.names(optionFrom):
		next, check, err = c.keysFrom(e, t, declared)
	case declared.names(optionRowsFrom):
		next, check, err = c.rowsFrom(e, t, declared)
	case e.Layout.Strategy == shard.Time:
		return c.keepFor(ctx, t, e, declared)
	default:
		var grows bool
		if grows, err = c.grows(e, declared); err != nil || !grows {
			return err != nil, err
		}
		return true, c.growRandom(ctx, t, e, declared)
	}
	if err == nil {
		err = check(ctx)
	}
	if err == nil {
		_, err = c.publishStill(ctx, e, next)
	}
	if err == nil {
		c.void()
	}
	return true, err
}

// epoch returns the number of shards that an epoch is declared with.
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

// keysFrom returns the layout with one more epoch of keys.
func (c *change) keysFrom(e *catalog.Entry, t *sharded, declared declaration) (*shard.Layout, func(context.Context) error, error) {
	r, err := declared.epoch(optionFrom)
	if err != nil {
		return nil, nil, err
	}
	config := func(format string, args ...any) (*shard.Layout, func(context.Context) error, error) {
		return nil, nil, wire.Errorf(wire.CodeConfig, format, args...)
	}
	at, err := shard.ParseInstant(declared[optionFrom])
	if err != nil {
		return config("write_sharding: 'from': %s", err)
	}
	earliest := c.schemas.clock.Now().Add(c.doors.lease.Length() + stillSpare)
	if !time.UnixMilli(at).After(earliest) {
		return config("write_sharding: 'from' is %s, which is not later than every door can know of it; choose an instant after %s",
			declared[optionFrom], earliest.UTC().Format(time.RFC3339))
	}
	next := *e.Layout
	next.Epochs = append(append([]shard.KeyEpoch(nil), next.Epochs...), shard.KeyEpoch{From: at, Range: r})
	if n := len(e.Layout.Epochs); n > 0 && e.Layout.Epochs[n-1].From >= at {
		return config("write_sharding: the table has an epoch of keys from %s; a new one begins later", shard.FormatInstant(e.Layout.Epochs[n-1].From))
	}
	logical, err := plan.NewTable(t.logical, &next)
	if err != nil {
		return config("%s", err)
	}
	return &next, func(ctx context.Context) error {
		return c.eachKey(ctx, t, func(key [][]byte) error {
			if logical.Layout.Since(plan.AppendKey(nil, key), at) {
				return wire.Invalidf("write_sharding: the table has rows of keys from %s on already, which would have to move; choose a later instant", declared[optionFrom])
			}
			return nil
		})
	}, nil
}

// rowsFrom returns the layout with one more epoch of rows.
func (c *change) rowsFrom(e *catalog.Entry, t *sharded, declared declaration) (*shard.Layout, func(context.Context) error, error) {
	r, err := declared.epoch(optionRowsFrom)
	if err != nil {
		return nil, nil, err
	}
	config := func(format string, args ...any) (*shard.Layout, func(context.Context) error, error) {
		return nil, nil, wire.Errorf(wire.CodeConfig, format, args...)
	}
	switch {
	case e.Layout.Strategy == shard.Random:
		return config("write_sharding: 'rows_from' means nothing under strategy 'random', whose rows may be in any shard; let 'shards' grow")
	case len(e.Layout.Epochs) > 0:
		return config("write_sharding: a table with epochs of keys has no epochs of rows beside them; use 'from'")
	case len(t.logical.Clustering) == 0:
		return config("write_sharding: the table has no clustering column that epochs of rows could be told by")
	}
	column := t.logical.Clustering[0]
	w, err := column.Type.FromString(declared[optionRowsFrom])
	if err != nil || len(w) == 0 {
		return config("write_sharding: 'rows_from' is '%s', which is no %s, the type of the first clustering column, %s", declared[optionRowsFrom], column.Type, column.Name)
	}
	if declared.names(optionKey) {
		return c.keyRowsFrom(e, t, declared, r, w)
	}
	next := *e.Layout
	r.Base = next.Base
	next.Rows = append(append([]shard.RowEpoch(nil), next.Rows...), shard.RowEpoch{From: w, Range: r})
	if _, err := plan.NewTable(t.logical, &next); err != nil {
		return config("%s", err)
	}
	return &next, func(ctx context.Context) error {
		from := syntax.Select{From: syntax.Name{Keyspace: e.Keyspace, Name: e.Physical}, Limit: &syntax.Constant{Kind: syntax.ConstInteger, Text: "1"}, AllowFiltering: true,
			Selectors: []syntax.Selector{{Expr: &syntax.Column{Name: column.Name}}},
			Where:     []syntax.Relation{{Columns: []string{column.Name}, Op: syntax.OpGE, Value: &syntax.Bind{}}}}
		rows, err := c.schemas.session.Query(ctx, wire.Quorum, syntax.Print(&from), w)
		switch {
		case err != nil:
			return fmt.Errorf("look for rows beyond the watermark: %w", err)
		case len(rows) > 0:
			return wire.Invalidf("write_sharding: the table has rows with %s from '%s' on already, which would have to move; choose a greater value", column.Name, declared[optionRowsFrom])
		}
		return nil
	}, nil
}

// keysAtOnce is how many physical partitions one request reads.
const keysAtOnce = 1000

// eachKey calls f for the partition keys of a table, each as many times as it has physical
// partitions.
func (c *change) eachKey(ctx context.Context, t *sharded, f func(key [][]byte) error) error {
	var names []string
	for _, k := range t.physical.PartitionKey {
		names = append(names, string(syntax.AppendIdent(nil, k.Name)))
	}
	list := strings.Join(names, ", ")
	table := string(syntax.AppendName(nil, syntax.Name{Keyspace: t.entry.Keyspace, Name: t.entry.Physical}))
	last, limit := be64Bytes(1<<63), keysAtOnce
	for {
		text := fmt.Sprintf("SELECT DISTINCT %s, token(%[1]s) AS evenkeel_token FROM %[2]s WHERE token(%[1]s) >= ? LIMIT %[3]d", list, table, limit)
		rows, err := c.schemas.session.Query(ctx, wire.Quorum, text, last)
		if err != nil {
			return fmt.Errorf("look for keys of the epoch: %w", err)
		}
		for _, r := range rows {
			if err := f(logicalKey(t.logical, r)); err != nil {
				return err
			}
		}
		if len(rows) < limit {
			return nil
		}
		next := rows[len(rows)-1]["evenkeel_token"]
		if string(next) == string(last) {
			limit *= 2 // more partitions than that share one token
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

// grows says whether the declaration only gives a table of strategy random more shards, or leaves
// it unchanged.
func (c *change) grows(e *catalog.Entry, declared declaration) (bool, error) {
	if e.Layout.Strategy != shard.Random || !declared.names("shards") {
		return false, nil
	}
	options := map[string]string{"strategy": e.Layout.Strategy.String()}
	for k, v := range declared {
		options[k] = v
	}
	asked, err := shard.Parse(options)
	if err != nil {
		return false, wire.Errorf(wire.CodeConfig, "%s", err)
	}
	if asked.Strategy != shard.Random || declared.names("column") && asked.Column != e.Layout.Column || declared.names("base") || declared.names("epochs") {
		return false, nil
	}
	switch {
	case asked.N == e.Layout.N && e.Layout.Drawn == 0:
		return false, wire.Invalidf("write_sharding: the table has %d shards already", asked.N)
	case asked.N < e.Layout.N:
		return false, wire.Invalidf("write_sharding: a table of strategy 'random' cannot have fewer shards while it is in use: its rows are in all %d; create a new table with the layout that you want and copy", e.Layout.N)
	}
	return true, nil
}

// keepFor gives a table of strategy time another 'keep'. The keeper drops what is older later. It returns
// false if the declaration changes something else too.
func (c *change) keepFor(ctx context.Context, t *sharded, e *catalog.Entry, declared declaration) (bool, error) {
	asked, _, err := c.asked(e, t, declared)
	if err != nil {
		return true, err
	}
	next := *e.Layout
	next.Keep = asked.Keep
	if next.Keep == e.Layout.Keep || !next.Equal(asked) {
		return false, nil
	}
	if err := keepsTTL(t.physical, &next); err != nil {
		return true, err
	}
	if _, err = c.publishStill(ctx, e, &next); err == nil {
		c.void()
	}
	return true, err
}

// growRandom gives a table of strategy random more shards. All doors read the new shards before
// any door writes to them.
func (c *change) growRandom(ctx context.Context, t *sharded, e *catalog.Entry, declared declaration) error {
	n, err := declared.epoch("strategy")
	if err != nil {
		return err
	}
	next := *e.Layout
	if next.Drawn == 0 {
		next.Drawn = next.N
	}
	next.N = n.N
	if e, err = c.publishStill(ctx, e, &next); err != nil {
		return err
	}
	all := *e.Layout
	all.Drawn = 0
	if _, err = c.publishStill(ctx, e, &all); err != nil {
		return err
	}
	c.void()
	return nil
}

// publishStill publishes a layout under which no row moves. It waits until every door uses the
// layout.
func (c *change) publishStill(ctx context.Context, old *catalog.Entry, next *shard.Layout) (*catalog.Entry, error) {
	e, err := c.catalog.Publish(ctx, old, old.With(next))
	if errors.Is(err, catalog.ErrChanged) {
		return nil, wire.Invalidf("write_sharding: %s; look at it, and try again", err)
	}
	if err != nil {
		return nil, errCatalog(err)
	}
	if err := c.schemas.refresh(ctx); err != nil || c.doors.member == nil {
		return e, err
	}
	table := fleet.Table{Keyspace: e.Keyspace, Name: e.Table, ID: e.ID}
	if err := c.doors.member.Publish(ctx, fleet.Publication{Table: table, Generation: e.Layout.Generation}); err != nil {
		return nil, err
	}
	var vanished *fleet.VanishedError
	if err := c.doors.member.Barrier(ctx, table, e.Layout.Generation); err != nil && !errors.As(err, &vanished) {
		return nil, wire.Errorf(wire.CodeServer, "write_sharding: the new layout of %s is published, but not every door has acknowledged it: %s", e, err)
	}
	return e, c.doors.member.Withdraw(ctx, table, e.Layout.Generation)
}
