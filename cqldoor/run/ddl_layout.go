// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// These are the errors for features that sharded tables do not support yet.
var (
	errReserved = wire.Invalidf("Keyspace '%s' is reserved: front doors keep there which tables are sharded", catalog.Keyspace)
	errIndex    = wire.Invalidf("write_sharding: CREATE INDEX on a sharded table is not supported yet: what an index finds would come " +
		"in the order of the shards; read by the primary key, or keep a table of your own by the column")
	errView = wire.Invalidf("write_sharding: CREATE MATERIALIZED VIEW on a sharded table is not supported yet: the view would have " +
		"to be sharded too; keep a second table, written in one batch with the first")
	errTrigger = wire.Invalidf("write_sharding: CREATE TRIGGER on a sharded table is not supported: the trigger would be given the " +
		"physical rows, with the hidden column in their key")
	errCompact = wire.Invalidf("write_sharding: a table WITH COMPACT STORAGE cannot be sharded; leave COMPACT STORAGE out")
	errMask    = wire.Invalidf("write_sharding: MASKED WITH is not supported on sharded tables yet: a fan-out would read masked values")
)

// refuseForNow refuses a CREATE TABLE with features that sharded tables do not support yet.
func refuseForNow(stmt *syntax.CreateTable) error {
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

// refuseChange refuses an ALTER TABLE of something that must not change.
func refuseChange(stmt *syntax.AlterTable, l *shard.Layout) error {
	if stmt.Mask != nil || stmt.DropMask {
		return errMask
	}
	for _, c := range stmt.Add {
		switch {
		case c.Name == l.Column:
			return nameTaken(c.Name)
		case c.Mask != nil:
			return errMask
		}
	}
	for _, r := range stmt.Rename {
		if r.To == l.Column {
			return nameTaken(r.To)
		}
		if slices.Contains(l.By, r.From) {
			return wire.Invalidf("write_sharding: column %s cannot be renamed: the table's 'by' names it, and the shards of its rows depend on that", r.From)
		}
	}
	return nil
}

// nameTaken returns the error for a column with the name that write_sharding needs for its own.
func nameTaken(name string) error {
	return wire.Invalidf("write_sharding: the name %s is taken by write_sharding itself for this table; choose another name for the column, "+
		"or create the table with another one for write_sharding's: 'column': '…'", identifier(name))
}

func identifier(name string) string { return string(syntax.AppendIdent(nil, name)) }

// declaration holds the options of write_sharding in a CREATE TABLE.
type declaration map[string]string

// declares says whether write_sharding is among a statement's properties.
func declares(with syntax.Properties) bool {
	return slices.ContainsFunc(with, func(p syntax.Property) bool { return p.Name == catalog.Property })
}

// shardingOf returns the declaration among a statement's properties.
func shardingOf(with syntax.Properties) (declaration, error) {
	var found *syntax.Property
	for i := range with {
		if with[i].Name != catalog.Property {
			continue
		}
		if found != nil {
			return nil, wire.Errorf(wire.CodeSyntax, "Multiple definitions for property '%s'", catalog.Property)
		}
		found = &with[i]
	}
	notMap := wire.Errorf(wire.CodeSyntax, "Invalid value for property '%s'. It should be a map.", catalog.Property)
	d := declaration{}
	switch v := found.Value.(type) {
	case *syntax.Set:
		if len(v.Elems) > 0 {
			return nil, notMap
		}
	case *syntax.Map:
		for _, e := range v.Entries {
			key, isKey := e.Key.(*syntax.Constant)
			val, isVal := e.Value.(*syntax.Constant)
			if !isKey || !isVal {
				return nil, notMap
			}
			d[key.Text] = val.Text
		}
	default:
		return nil, notMap
	}
	return d, nil
}

// layout returns the layout declared for a logical table, and warnings for its owner.
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
	if len(t.Clustering) == 0 && l.Strategy != shard.Random {
		return nil, nil, wire.Errorf(wire.CodeConfig, "write_sharding: table %s.%s has no clustering column, so each partition is a single row, "+
			"and there is nothing to spread; add a column that tells the rows of a partition apart to the primary key, PRIMARY KEY (%s, …), "+
			"leave write_sharding out, or spread the writes of each row with 'strategy': 'random'", t.Keyspace, t.Name, keyText(t.PartitionKey))
	}
	var warnings []string
	if taken := l.Column; t.Columns[taken] != nil {
		name := free(t, taken)
		if d.names("column") {
			return nil, nil, wire.Errorf(wire.CodeConfig, "write_sharding: the table has a column %s, a name that write_sharding needs for a column "+
				"of its own; choose another for that one: 'column': '%s'", identifier(taken), identifier(name))
		}
		l.Column = name
		warnings = append(warnings, fmt.Sprintf("write_sharding: the table has a column %s, so that write_sharding's own, in the stored table, is called %s ('column': '%[2]s')",
			identifier(taken), identifier(name)))
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

// names says whether the declaration has an option.
func (d declaration) names(option string) bool {
	_, given := d[option]
	return given
}

// checkBy checks one column of `by`.
func checkBy(t *schema.Table, name string) error {
	c := t.Columns[name]
	switch {
	case c == nil:
		return wire.Errorf(wire.CodeConfig, "write_sharding: 'by' names %s, which is not a column of the table; name clustering columns%s",
			identifier(name), those(t))
	case c.Kind == schema.PartitionKey:
		return wire.Errorf(wire.CodeConfig, "write_sharding: 'by' names %s, which is a partition key column: all rows of a partition have the "+
			"same value, so they would all be in one shard; name clustering columns%s", identifier(name), those(t))
	case c.Kind != schema.Clustering:
		clustering := append(slices.Clone(t.Clustering), c)
		return wire.Errorf(wire.CodeConfig, "write_sharding: 'by' names %[1]s, which is not part of the primary key: rows with the same %[2]s that "+
			"come to the same shard would overwrite each other. Make it a clustering column: PRIMARY KEY (%[3]s, %[4]s)",
			identifier(name), names(slices.Concat(t.PartitionKey, t.Clustering), " and "), keyText(t.PartitionKey), names(clustering, ", "))
	}
	return nil
}

// those lists the clustering columns, if there are any.
func those(t *schema.Table) string {
	if len(t.Clustering) == 0 {
		return ""
	}
	return " (" + names(t.Clustering, ", ") + ")"
}

func names(columns []*schema.Column, separator string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = identifier(c.Name)
	}
	return strings.Join(list, separator)
}

func keyText(key []*schema.Column) string {
	if len(key) == 1 {
		return identifier(key[0].Name)
	}
	return "(" + names(key, ", ") + ")"
}

// free returns a column name that the table does not have, similar to the taken one.
func free(t *schema.Table, taken string) string {
	for name := taken + "_no"; ; name += "_" {
		if t.Columns[name] == nil {
			return name
		}
	}
}

// codePoints checks a declaration that uses the hash of the Keyspaces document, and warns of its
// skew.
func (d declaration) codePoints(t *schema.Table, l *shard.Layout) ([]string, error) {
	by := t.Clustering
	if len(l.By) > 0 {
		by = nil
		for _, name := range l.By {
			by = append(by, t.Columns[name])
		}
	}
	for _, c := range by {
		if c.Type.Kind != value.Text && c.Type.Kind != value.Ascii {
			return nil, wire.Errorf(wire.CodeConfig, "write_sharding: hash 'code_points' multiplies the characters of text, and %s is %s; "+
				"name text columns in 'by', or use 'murmur3'", identifier(c.Name), c.Type)
		}
	}
	return []string{skewed(l.N)}, nil
}

// skewed returns the warning for code_points.
func skewed(n int) string {
	why := fmt.Sprintf("write_sharding: hash 'code_points' is skewed over %d shards", n)
	if p := nextPrime(n); p != n {
		why += fmt.Sprintf(": a product collects the factors of %d, so most rows come to few shards; "+
			"%d shards, a prime number, are less so", n, p)
	} else {
		why += ", though less so than over a number that is not prime"
	}
	return why + "; with 'murmur3' they are even"
}

// nextPrime returns the smallest prime that is not less than n.
func nextPrime(n int) int {
	for ; !big.NewInt(int64(n)).ProbablyPrime(0); n++ {
	}
	return n
}

// physicalTable returns the CREATE TABLE of the physical table. It has one more partition-key
// column, the last, and no write_sharding.
func physicalTable(stmt *syntax.CreateTable, t *schema.Table, l *shard.Layout) *syntax.CreateTable {
	p := *stmt
	p.Name = syntax.Name{Keyspace: t.Keyspace, Name: t.Name}
	p.IfNotExists = false // the door must know whether the table existed
	p.With = slices.DeleteFunc(slices.Clone(stmt.With), func(w syntax.Property) bool { return w.Name == catalog.Property })
	p.Columns = slices.Clone(stmt.Columns)
	for i := range p.Columns {
		p.Columns[i].PrimaryKey = false
	}
	p.Columns = append(p.Columns, syntax.ColumnDef{Name: l.Column, Type: syntax.TypeRef{Name: syntax.Name{Name: "int"}}})
	p.PartitionKey, p.Clustering = nil, nil
	for _, c := range t.PartitionKey {
		p.PartitionKey = append(p.PartitionKey, c.Name)
	}
	p.PartitionKey = append(p.PartitionKey, l.Column)
	for _, c := range t.Clustering {
		p.Clustering = append(p.Clustering, c.Name)
	}
	return &p
}

// mapLiteral returns a map of strings as CQL, with sorted keys.
func mapLiteral(m map[string]string) *syntax.Map {
	out := &syntax.Map{}
	for _, k := range sortedKeys(m) {
		out.Entries = append(out.Entries, syntax.MapEntry{
			Key: &syntax.Constant{Kind: syntax.ConstString, Text: k}, Value: &syntax.Constant{Kind: syntax.ConstString, Text: m[k]},
		})
	}
	return out
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
