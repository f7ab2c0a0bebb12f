// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// keyspace holds the scripts' tables, both here and in the real Cassandra.
const keyspace = "h4_scripts"

// statements returns the statements of a file. Each is one paragraph.
func statements(t testing.TB, file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range strings.Split(string(text), ";\n") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// loadSchema builds the schema from a file of CREATE statements.
func loadSchema(t testing.TB, file string) *schema.Schema {
	ks := &schema.Keyspace{Name: keyspace, Tables: map[string]*schema.Table{}, Types: map[string]*value.Type{}}
	for _, text := range statements(t, file) {
		stmt, err := syntax.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		switch stmt := stmt.(type) {
		case *syntax.CreateType:
			var fields []string
			var types []*value.Type
			for _, f := range stmt.Fields {
				ft, err := ResolveType(f.Type, ks)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				fields, types = append(fields, f.Name), append(types, ft)
			}
			ks.Types[stmt.Name.Name] = value.UDTOf(keyspace, stmt.Name.Name, fields, types, false)
		case *syntax.CreateTable:
			ks.Tables[stmt.Name.Name] = makeTable(t, ks, stmt)
		case *syntax.CreateIndex:
			tb := ks.Tables[stmt.Table.Name]
			target := stmt.Targets[0].Column
			if f := stmt.Targets[0].Function; f != "" {
				target = f + "(" + target + ")"
			} else if tb.Columns[target].Type.Multicell() {
				target = "values(" + target + ")"
			}
			tb.Indexes = append(tb.Indexes, schema.Index{Name: stmt.Name, Kind: "COMPOSITES", Options: map[string]string{"target": target}})
		default:
			t.Fatalf("unexpected %T in %s", stmt, file)
		}
	}
	return &schema.Schema{Keyspaces: map[string]*schema.Keyspace{keyspace: ks}}
}

func makeTable(t testing.TB, ks *schema.Keyspace, stmt *syntax.CreateTable) *schema.Table {
	tb := &schema.Table{Keyspace: ks.Name, Name: stmt.Name.Name, Columns: map[string]*schema.Column{}}
	partition := stmt.PartitionKey
	for _, d := range stmt.Columns {
		typ, err := ResolveType(d.Type, ks)
		if err != nil {
			t.Fatal(err)
		}
		c := &schema.Column{Name: d.Name, Type: typ, Kind: schema.Regular, Position: -1}
		if d.Static {
			c.Kind = schema.Static
		}
		if d.PrimaryKey {
			partition = []string{d.Name}
		}
		tb.Columns[d.Name] = c
		tb.Counter = tb.Counter || typ.Kind == value.Counter
	}
	for i, n := range partition {
		c := tb.Columns[n]
		c.Kind, c.Position, c.Type = schema.PartitionKey, i, c.Type.Freeze()
		tb.PartitionKey = append(tb.PartitionKey, c)
	}
	for i, n := range stmt.Clustering {
		c := tb.Columns[n]
		c.Kind, c.Position, c.Type = schema.Clustering, i, c.Type.Freeze()
		tb.Clustering = append(tb.Clustering, c)
	}
	for _, o := range stmt.Order {
		tb.Columns[o.Column].Desc = o.Desc
	}
	for _, c := range tb.Columns {
		switch c.Kind {
		case schema.Static:
			tb.Statics = append(tb.Statics, c)
		case schema.Regular:
			tb.Regulars = append(tb.Regulars, c)
		}
	}
	byName := func(a, b *schema.Column) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(tb.Statics, byName)
	slices.SortFunc(tb.Regulars, byName)
	return tb
}
