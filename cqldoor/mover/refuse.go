// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
)

// Refuse returns all reasons why the layout of a table cannot be changed while the table is in use,
// or nothing if there is none. ks is the table's keyspace.
func Refuse(ks *schema.Keyspace, t *schema.Table, from, to *shard.Layout) []string {
	var why []string
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switch {
	case from.Strategy == shard.Rollover && to.Strategy == shard.Rollover:
		add("of strategy 'rollover' only 'rows', 'bytes' and 'max' can be changed, in which no row moves")
	case from.Strategy == shard.Random || to.Strategy == shard.Random:
		add("strategy 'random' puts a row in any shard: its layout cannot be changed while the table is in use")
	}
	if len(from.Epochs) > 0 || len(from.Rows) > 0 || len(to.Epochs) > 0 || len(to.Rows) > 0 || (from.Keys.Len() > 0 || to.Keys.Len() > 0) && !ofKeys(from, to) {
		add("layouts with epochs or entries of keys cannot be changed by moving rows yet")
	}
	if t.Counter {
		add("counters are never copied: an increment that arrives while one is copied would be counted twice or not at all")
	}
	var open []string
	for _, c := range append(append([]*schema.Column(nil), t.Statics...), t.Regulars...) {
		if (c.Type.Collection() || c.Type.Kind == value.UDT) && !c.Type.Frozen {
			open = append(open, c.Name)
		}
	}
	if len(open) > 0 {
		add("columns %s are collections or user-defined types that are not frozen: their elements have write times of their own, which are not moved yet", strings.Join(open, ", "))
	}
	if len(t.Regulars) == 0 && len(t.Clustering) > 0 {
		add("the table has no columns beside its key: a row's own time to live cannot be read, so that it cannot be moved")
	}
	if grace, ok := t.Options["gc_grace_seconds"].(int); ok && grace < leastGrace {
		add("gc_grace_seconds is %d: tombstones have to outlive the change; set it to %d or more, for the time of the change", grace, leastGrace)
	}
	if n := datacentres(ks); n > 1 {
		add("keyspace %s is in %d data centres: changes are for one data centre yet", ks.Name, n)
	}
	if from.Equal(to) {
		add("the table has this layout already")
	}
	return why
}

// ofKeys reports whether two layouts differ only in the entries of keys.
func ofKeys(from, to *shard.Layout) bool {
	a, b := *from, *to
	a.Keys, b.Keys = nil, nil
	return a.Equal(&b)
}

// leastGrace is the shortest gc_grace_seconds, in seconds, with which a table's layout can be
// changed. Hints may arrive for three hours, and a pass takes time.
const leastGrace = 86_400

// datacentres returns the number of data centres in a keyspace's replication.
func datacentres(ks *schema.Keyspace) int {
	if !strings.HasSuffix(ks.Replication["class"], "NetworkTopologyStrategy") {
		return 1
	}
	return len(ks.Replication) - 1
}

// RefusePlain returns all reasons why a plain table cannot be sharded while it is in use, or
// nothing if there is none.
func RefusePlain(ks *schema.Keyspace, t *schema.Table, to *shard.Layout) []string {
	return RefuseSecond(ks, t, shard.Plain(), to)
}

// RefuseSecond returns all reasons why the rows of the physical table t cannot be moved to a second
// physical table. It returns nothing if there is none.
func RefuseSecond(ks *schema.Keyspace, t *schema.Table, from, to *shard.Layout) []string {
	why := Refuse(ks, t, from, to)
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if t.View != nil {
		add("it is a materialized view")
	}
	for _, name := range slices.Sorted(maps.Keys(ks.Tables)) {
		if v := ks.Tables[name].View; v != nil && v.Base == t.Name {
			add("it has the materialized view %s, which no other table can feed", name)
		}
	}
	for _, i := range t.Indexes {
		add("it has the index %s: sharded tables have none", i.Name)
	}
	if len(t.Statics) > 0 {
		add("it has static columns, which doors do not move yet")
	}
	if len(t.Clustering) == 0 {
		add("it has no clustering column, so that each partition is a single row, and there is nothing to spread")
	}
	if on, _ := t.Options["cdc"].(bool); on {
		add("cdc is on: what reads its log would find the physical tables' names there")
	}
	if extensions, _ := t.Options["extensions"].(map[string][]byte); len(extensions) > 0 {
		add("it has extensions, which only what has made them can make again")
	}
	if !to.Plain() && t.Columns[to.Column] != nil && (from.Plain() || from.Column != to.Column) {
		add("it has a column %s; choose another name for the hidden one: 'column': '…'", to.Column)
	}
	return why
}
