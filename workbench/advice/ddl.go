// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// plainName returns a name with only lower-case letters, digits and underscores.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, strings.ToLower(name))
}

// ident formats a name as a CQL identifier.
func ident(name string) string { return string(syntax.AppendIdent(nil, name)) }

// tableName formats a table's name, which may have a keyspace.
func tableName(name string) string {
	if keyspace, table, two := strings.Cut(name, "."); two {
		return ident(keyspace) + "." + ident(table)
	}
	return ident(name)
}

// createCQL returns the CREATE TABLE of a design.
func (s cqlWriter) createCQL(d *Design, table string) string {
	sharding := ""
	if s.strategy(d) != "none" {
		sharding = s.layout(d).String()
	}
	return s.createSharded(d, table, sharding)
}

// createWith returns the CREATE TABLE of a design with write_sharding, also for a single shard.
func (s cqlWriter) createWith(d *Design) string {
	return s.createSharded(d, s.table(), s.layout(d).String())
}

// createSharded returns a CREATE TABLE with that write_sharding; "": none.
func (s cqlWriter) createSharded(d *Design, table, sharding string) string {
	var b strings.Builder
	d = s.logical(d)
	fmt.Fprintf(&b, "CREATE TABLE %s (\n", tableName(table))
	bucket := s.bucketColumnOf(d)
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		fmt.Fprintf(&b, "    %s %s,\n", ident(c.Name), typeOf(c))
		if bucket != nil && bucket.Of == c.Name {
			fmt.Fprintf(&b, "    %s %s,\n", ident(bucket.Name), bucket.Type)
		}
	}
	if d.AddID {
		fmt.Fprintf(&b, "    %s timeuuid,\n", idColumn)
	}
	var parts []string
	for _, p := range d.Partition {
		if p.Bucket != profile.Whole {
			parts = append(parts, ident(bucket.Name))
			continue
		}
		parts = append(parts, ident(p.Column))
	}
	fmt.Fprintf(&b, "    PRIMARY KEY ((%s)", strings.Join(parts, ", "))
	for _, c := range d.clusteringNames() {
		b.WriteString(", " + ident(c))
	}
	b.WriteString(")\n)")
	with := []string{}
	if slices.Contains(d.Desc, true) {
		var order []string
		for i, c := range d.clusteringNames() {
			dir := "ASC"
			if i < len(d.Desc) && d.Desc[i] {
				dir = "DESC"
			}
			order = append(order, ident(c)+" "+dir)
		}
		with = append(with, "CLUSTERING ORDER BY ("+strings.Join(order, ", ")+")")
	}
	if sharding != "" {
		with = append(with, "write_sharding = "+sharding)
	}
	if len(with) > 0 {
		b.WriteString(" WITH " + strings.Join(with, "\n  AND "))
	}
	b.WriteString(";")
	return b.String()
}

// layout returns a design's write_sharding.
func (s cqlWriter) layout(d *Design) *shard.Layout {
	l := &shard.Layout{N: max(1, d.Shards), Column: shard.DefaultColumn, By: d.By}
	for s.p.Column(l.Column) != nil {
		l.Column += "_"
	}
	switch s.strategy(d) {
	case "random":
		l.Strategy = shard.Random
	case "time":
		l.Strategy, l.By, l.Width = shard.Time, d.Clustering[:1], widthOf(d.bucket().Bucket)
	}
	return l
}

// typeOf returns the type of a column in the table. Nested JSON is stored as text.
func typeOf(c *profile.Column) string {
	if c.Nested || c.Type == nil || c.Type.Kind == value.Custom {
		return "text"
	}
	return c.Type.String()
}
