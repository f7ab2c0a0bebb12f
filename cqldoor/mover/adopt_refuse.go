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

// RefuseAdoption returns all reasons why a table that was sharded by hand cannot be adopted with a
// layout, or nothing if there is none. ks is the table's keyspace, t the physical table. It does not
// look at rows.
func RefuseAdoption(ks *schema.Keyspace, t *schema.Table, l *shard.Layout) []string {
	var why []string
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if t.View != nil {
		add("it is a materialized view")
	}
	for _, name := range slices.Sorted(maps.Keys(ks.Tables)) {
		if v := ks.Tables[name].View; v != nil && v.Base == t.Name {
			add("the materialized view %s shows its column %s; drop the view", name, l.Column)
		}
	}
	for _, i := range t.Indexes {
		add("it has the index %s: sharded tables have none; drop the index", i.Name)
	}
	if len(t.Statics) > 0 {
		add("it has static columns: each shard of a key has its own, and a key of an adopted table would have one")
	}
	if l.Strategy != shard.Random {
		return why
	}
	var open []string
	for _, c := range t.Regulars {
		if (c.Type.Collection() || c.Type.Kind == value.UDT) && !c.Type.Frozen {
			open = append(open, c.Name)
		}
	}
	if len(open) > 0 {
		add("columns %s are collections or user-defined types that are not frozen: under strategy 'random' every shard has all of them, and here each shard has its own", strings.Join(open, ", "))
	}
	return why
}
