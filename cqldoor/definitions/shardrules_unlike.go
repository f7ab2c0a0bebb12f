// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/schemaview"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shardrules"
)

// Warn logs a warning for each table that differs from the rules.
func (k *ShardRules) Warn(rules *shardrules.Rules, v *tables.View) {
	if rules.Len() == 0 {
		return
	}
	for _, keyspace := range slices.Sorted(maps.Keys(v.Names)) {
		for _, table := range slices.Sorted(maps.Keys(v.Names[keyspace])) {
			if note := unlike(v, rules, keyspace, table); note != "" {
				k.Opts.Log.Warn("a table is not as the shard rules say", "table", keyspace+"."+table, "why", note)
			}
		}
	}
}

// unlike returns a text that says how a table differs from the rules, and what the owner can do. It returns "" if
// the table does not differ, or if the table's own statement declared its layout.
func unlike(v *tables.View, rules *shardrules.Rules, keyspace, table string) string {
	rule, err := rules.OfCQL(keyspace, table)
	switch {
	case ownKeyspace(keyspace):
		return ""
	case err != nil:
		return err.Error()
	case rule == nil:
		return ""
	}
	with := "ALTER TABLE " + string(syntax.AppendName(nil, syntax.Name{Keyspace: keyspace, Name: table})) + " WITH write_sharding = "
	t := v.Tables[keyspace][table]
	if t == nil {
		if rule.Plain {
			return ""
		}
		return fmt.Sprintf("the table is older than the shard rule %s, and is not sharded: rules are for tables that are created; to shard it, create a new table WITH write_sharding = %s and copy the rows",
			rules.Label(rule), propertyText(rule.Options))
	}
	if t.Entry.Rule == "" {
		return ""
	}
	if rule.Plain {
		return fmt.Sprintf("the shard rule %s says plain now, and the table was sharded by the rule %s: it stays sharded", rules.Label(rule), t.Entry.Rule)
	}
	said, err := shard.Parse(rule.Options)
	if err != nil {
		return err.Error() // does not happen: the rules were checked when they were parsed
	}
	if _, named := rule.Options["column"]; !named {
		said.Column = t.Entry.Layout.Column
	}
	if said.Equal(t.Entry.Layout) {
		return ""
	}
	return fmt.Sprintf("the shard rule %s says %s now, and the table was sharded by the rule %s: it keeps its layout, %s; to change it: %s%s",
		rules.Label(rule), rule.Says(), t.Entry.Rule, t.Entry.Layout, with, propertyText(rule.Options))
}

// propertyText returns options as the value of the property write_sharding in CQL.
func propertyText(options map[string]string) string {
	return string(syntax.AppendExpr(nil, schemaview.MapLiteral(options)))
}
