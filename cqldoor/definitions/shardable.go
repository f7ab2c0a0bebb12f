// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/shard"
)

// layout returns the layout that d declares for a logical table, and warnings for the table's owner. It returns an
// error if the table cannot have that layout.
func (d declaration) layout(t *schema.Table) (*shard.Layout, []string, error) {
	l, err := shard.Parse(d)
	if err != nil {
		return nil, nil, wire.Errorf(wire.CodeConfig, "%s", err)
	}
	for _, name := range l.By {
		if err := checkBy(t, name); err != nil {
			return nil, nil, err
		}
	}
	if err := checkClustering(t, l); err != nil {
		return nil, nil, err
	}
	warnings, err := d.nameColumn(t, l)
	if err != nil {
		return nil, nil, err
	}
	if _, err := plan.NewTable(t, l); err != nil {
		return nil, nil, wire.Errorf(wire.CodeConfig, "%s", err)
	}
	if l.Hash != shard.CodePoints {
		return l, warnings, nil
	}
	skewed, err := d.codePoints(t, l)
	return l, append(warnings, skewed...), err
}

// checkClustering returns an error if a table has no clustering column and its layout needs one.
func checkClustering(t *schema.Table, l *shard.Layout) error {
	if len(t.Clustering) > 0 || l.Strategy == shard.Random {
		return nil
	}
	return wire.Errorf(wire.CodeConfig, "write_sharding: table %s.%s has no clustering column, so each partition is a single row, "+
		"and there is nothing to spread; add a column that tells the rows of a partition apart to the primary key, PRIMARY KEY (%s, …), "+
		"leave write_sharding out, or spread the writes of each row with 'strategy': 'random'", t.Keyspace, t.Name, keyText(t.PartitionKey))
}

func names(columns []*schema.Column, separator string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = request.Identifier(c.Name)
	}
	return strings.Join(list, separator)
}

func keyText(key []*schema.Column) string {
	if len(key) == 1 {
		return request.Identifier(key[0].Name)
	}
	return "(" + names(key, ", ") + ")"
}

// refuseFeatures returns an error if a CREATE TABLE has features that sharded tables do not support.
func refuseFeatures(stmt *syntax.CreateTable) error {
	if stmt.CompactStorage {
		return errCompact
	}
	for _, c := range stmt.Columns {
		if c.Mask != nil {
			return errMask
		}
	}
	return nil
}

// refuseLayout returns an error if strategy time or rollover does not allow an ALTER TABLE.
func refuseLayout(stmt *syntax.AlterTable, l *shard.Layout) error {
	timed := l.Strategy == shard.Time
	if timed && slices.ContainsFunc(stmt.Add, func(c syntax.ColumnDef) bool { return c.Static }) {
		return errStaticTimed
	}
	if err := buckets.CheckDefaultTTL(stmt.With, l); err != nil {
		return err
	}
	i := slices.IndexFunc(stmt.With, func(p syntax.Property) bool { return p.Name == catalog.Property })
	if i < 0 {
		return nil
	}
	declared, err := shardingOf(stmt.With)
	if err != nil {
		return err
	}
	if l.Strategy == shard.Rollover && (declared.names(optionFrom) || declared.names(optionRowsFrom) || declared.names(optionKey)) {
		return errEpochRolled
	}
	if timed && (declared.names(optionFrom) || declared.names(optionRowsFrom) || declared.names(optionKey)) {
		return errEpochTimed
	}
	return nil
}
