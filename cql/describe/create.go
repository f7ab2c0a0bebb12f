// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

const locator = "org.apache.cassandra.locator."

// Keyspace returns the CREATE KEYSPACE statement.
func Keyspace(ks *schema.Keyspace) string {
	replication := maps.Clone(ks.Replication)
	replication["class"] = strings.TrimPrefix(replication["class"], locator)
	return fmt.Sprintf("CREATE KEYSPACE %s WITH replication = %s  AND durable_writes = %t;",
		Name(ks.Name), mapText(replication, true), ks.DurableWrites)
}

// Type returns the CREATE TYPE statement.
func Type(t *value.Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TYPE %s (", qualified(t.Keyspace, t.Name))
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    %s %s", Name(f), t.Elems[i])
	}
	b.WriteString("\n);")
	return b.String()
}

// Table returns the CREATE TABLE statement. With internals, it includes the table's id and the
// statements that restore dropped columns.
func Table(t *schema.Table, internals bool) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE ")
	writeColumns(&b, t, internals)
	with := " WITH "
	if internals {
		b.WriteString(with + "ID = " + uuid(t.ID))
		with = "\n    AND "
	}
	if len(t.Clustering) > 0 {
		b.WriteString(with + clusteringOrder(t))
		with = "\n    AND "
	}
	for _, o := range tableOptions(t) {
		b.WriteString(with + o)
		with = "\n    AND "
	}
	b.WriteByte(';')
	if internals {
		writeDropped(&b, t)
	}
	return b.String()
}

// Stated returns the CREATE TABLE statement with only those options that the table has. A store of
// any release accepts the options that it reported itself.
func Stated(t *schema.Table) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE ")
	writeColumns(&b, t, false)
	with := " WITH "
	if len(t.Clustering) > 0 {
		b.WriteString(with + clusteringOrder(t))
		with = "\n    AND "
	}
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		if !unstated[name] && t.Options[name] != nil {
			b.WriteString(with + name + " = " + optionText(t.Options[name]))
			with = "\n    AND "
		}
	}
	return b.String()
}

// VirtualKeyspace describes a virtual keyspace, which no statement can create.
func VirtualKeyspace(name string) string {
	return fmt.Sprintf("/*\nWarning: Keyspace %[1]s is a virtual keyspace and cannot be recreated with CQL.\n"+
		"Structure, for reference:\nVIRTUAL KEYSPACE %[1]s;\n*/", Name(name))
}

// VirtualTable describes a virtual table as Table does, but as a comment.
func VirtualTable(t *schema.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "/*\nWarning: Table %s is a virtual table and cannot be recreated with CQL.\n"+
		"Structure, for reference:\nVIRTUAL TABLE ", qualified(t.Keyspace, t.Name))
	writeColumns(&b, t, false)
	b.WriteString(" WITH ")
	if len(t.Clustering) > 0 {
		b.WriteString(clusteringOrder(t) + "\n    AND ")
	}
	comment, _ := t.Options["comment"].(string)
	b.WriteString("comment = " + Literal(comment) + ";\n*/")
	return b.String()
}

// Index returns the CREATE INDEX statement.
func Index(t *schema.Table, i *schema.Index) string {
	target := i.Options["target"]
	class := i.Options["class_name"]
	if class == "" {
		return fmt.Sprintf("CREATE INDEX %s ON %s (%s);", Name(i.Name), qualified(t.Keyspace, t.Name), target)
	}
	options := maps.Clone(i.Options)
	delete(options, "target")
	delete(options, "class_name")
	s := fmt.Sprintf("CREATE CUSTOM INDEX %s ON %s (%s) USING %s", Name(i.Name), qualified(t.Keyspace, t.Name), target, Literal(class))
	if len(options) > 0 {
		s += " WITH OPTIONS = " + mapText(options, false)
	}
	return s + ";"
}

// writeColumns writes the table's name and columns in parentheses.
func writeColumns(b *strings.Builder, t *schema.Table, internals bool) {
	inline := len(t.PartitionKey) == 1 && len(t.Clustering) == 0
	b.WriteString(qualified(t.Keyspace, t.Name) + " (")
	separator := "\n    "
	column := func(name string, typ *value.Type, suffix string) {
		b.WriteString(separator + Name(name) + " " + typ.String() + suffix)
		separator = ",\n    "
	}
	for _, c := range slices.Concat(t.PartitionKey, t.Clustering, simpleFirst(t.Statics), simpleFirst(t.Regulars)) {
		switch {
		case c.Kind == schema.Static:
			column(c.Name, c.Type, " static")
		case inline && c.Kind == schema.PartitionKey:
			column(c.Name, c.Type, " PRIMARY KEY")
		default:
			column(c.Name, c.Type, "")
		}
	}
	if internals {
		for _, name := range gone(t) {
			suffix := ""
			if t.Dropped[name].Kind == schema.Static {
				suffix = " static"
			}
			column(name, t.Dropped[name].Type, suffix)
		}
	}
	if !inline {
		b.WriteString(separator + primaryKey(t))
	}
	b.WriteString("\n)")
}

// gone returns the dropped columns that have not been added again.
func gone(t *schema.Table) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.Dropped)), func(name string) bool { return t.Columns[name] != nil })
}

// simpleFirst puts columns with a single cell before columns with several, as Cassandra does.
func simpleFirst(cols []*schema.Column) []*schema.Column {
	sorted := slices.Clone(cols)
	slices.SortStableFunc(sorted, func(a, b *schema.Column) int {
		am, bm := a.Type.Multicell(), b.Type.Multicell()
		switch {
		case am == bm:
			return 0
		case am:
			return 1
		}
		return -1
	})
	return sorted
}

func primaryKey(t *schema.Table) string {
	list := func(cols []*schema.Column) string {
		quoted := make([]string, len(cols))
		for i, c := range cols {
			quoted[i] = Name(c.Name)
		}
		return strings.Join(quoted, ", ")
	}
	key := list(t.PartitionKey)
	if len(t.PartitionKey) > 1 {
		key = "(" + key + ")"
	}
	if len(t.Clustering) > 0 {
		key += ", " + list(t.Clustering)
	}
	return "PRIMARY KEY (" + key + ")"
}

func clusteringOrder(t *schema.Table) string {
	orders := make([]string, len(t.Clustering))
	for i, c := range t.Clustering {
		orders[i] = Name(c.Name) + " ASC"
		if c.Desc {
			orders[i] = Name(c.Name) + " DESC"
		}
	}
	return "CLUSTERING ORDER BY (" + strings.Join(orders, ", ") + ")"
}

// optionOrder is the order of Cassandra's options. Absent options have a default.
var optionOrder = []struct {
	name string
	def  any
}{
	{"additional_write_policy", "99p"}, {"allow_auto_snapshot", true}, {"bloom_filter_fp_chance", 0.01},
	{"caching", map[string]string{"keys": "ALL", "rows_per_partition": "NONE"}}, {"cdc", false}, {"comment", ""},
	{"compaction", map[string]string{}}, {"compression", map[string]string{}}, {"memtable", "default"},
	{"crc_check_chance", 1.0}, {"default_time_to_live", 0}, {"extensions", map[string][]byte{}}, {"gc_grace_seconds", 864000},
	{"incremental_backups", true}, {"max_index_interval", 2048}, {"memtable_flush_period_in_ms", 0},
	{"min_index_interval", 128}, {"read_repair", "BLOCKING"}, {"speculative_retry", "99p"},
}

// unstated are the columns of system_schema.tables that no statement sets.
var unstated = map[string]bool{"dclocal_read_repair_chance": true, "read_repair_chance": true, "flags": true, "id": true}

func tableOptions(t *schema.Table) []string {
	known := maps.Clone(unstated)
	var all []string
	for _, o := range optionOrder {
		known[o.name] = true
		v, ok := t.Options[o.name]
		if !ok || v == nil {
			v = o.def
		}
		all = append(all, o.name+" = "+optionText(v))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		if !known[name] && t.Options[name] != nil {
			all = append(all, name+" = "+optionText(t.Options[name]))
		}
	}
	return all
}

func optionText(v any) string {
	switch v := v.(type) {
	case string:
		return Literal(v)
	case float64:
		return value.JavaDouble(v)
	case map[string]string:
		return mapText(v, false)
	case map[string]map[string]string:
		return customText(v)
	case map[string][]byte:
		parts := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, Literal(k)+": 0x"+hex.EncodeToString(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// customText returns the custom properties of Amazon Keyspaces in the form in which they are
// declared. It writes numbers as numbers and leaves out properties that cannot be declared.
func customText(all map[string]map[string]string) string {
	var properties []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var options []string
		for _, option := range slices.Sorted(maps.Keys(all[name])) {
			v := all[name][option]
			if strings.HasPrefix(option, "last_update_to_") {
				continue
			}
			if v == "" || strings.Trim(v, "0123456789") != "" {
				v = Literal(v)
			}
			options = append(options, Literal(option)+": "+v)
		}
		properties = append(properties, Literal(name)+": {"+strings.Join(options, ", ")+"}")
	}
	return "{" + strings.Join(properties, ", ") + "}"
}

// writeDropped writes statements that drop the dropped columns, and statements that add those
// columns again that were added again.
func writeDropped(b *strings.Builder, t *schema.Table) {
	table := qualified(t.Keyspace, t.Name)
	for _, name := range slices.Sorted(maps.Keys(t.Dropped)) {
		fmt.Fprintf(b, "\nALTER TABLE %s DROP %s USING TIMESTAMP %d;", table, Name(name), t.Dropped[name].Time)
		if c := t.Columns[name]; c != nil {
			suffix := ""
			if c.Kind == schema.Static {
				suffix = " static"
			}
			fmt.Fprintf(b, "\nALTER TABLE %s ADD %s %s%s;", table, Name(name), c.Type, suffix)
		}
	}
}

func uuid(u [16]byte) string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
