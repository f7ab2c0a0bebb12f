// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
)

// testTable makes a table of a CREATE TABLE statement with write_sharding.
func testTable(t testing.TB, text string) (*Table, *schema.Schema) {
	t.Helper()
	tree, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	c := tree.(*syntax.CreateTable)
	table := &schema.Table{Keyspace: "ks", Name: c.Name.Name, Columns: map[string]*schema.Column{}}
	options := map[string]string{}
	for _, p := range c.With {
		if p.Name == "write_sharding" {
			for _, e := range p.Value.(*syntax.Map).Entries {
				options[e.Key.(*syntax.Constant).Text] = e.Value.(*syntax.Constant).Text
			}
		}
	}
	desc := map[string]bool{}
	for _, o := range c.Order {
		desc[o.Column] = o.Desc
	}
	for _, d := range c.Columns {
		typ, err := analysis.ResolveType(d.Type, nil)
		if err != nil {
			t.Fatal(err)
		}
		kind := schema.Regular
		if d.Static {
			kind = schema.Static
		}
		table.Counter = table.Counter || typ.Kind == value.Counter
		table.Columns[d.Name] = &schema.Column{Name: d.Name, Type: typ, Kind: kind, Position: -1, Desc: desc[d.Name]}
	}
	if len(c.PartitionKey) == 0 {
		c.PartitionKey = []string{c.Columns[slices.IndexFunc(c.Columns, func(d syntax.ColumnDef) bool { return d.PrimaryKey })].Name}
	}
	for i, n := range c.PartitionKey {
		col := table.Columns[n]
		col.Kind, col.Position = schema.PartitionKey, i
		table.PartitionKey = append(table.PartitionKey, col)
	}
	for i, n := range c.Clustering {
		col := table.Columns[n]
		col.Kind, col.Position = schema.Clustering, i
		table.Clustering = append(table.Clustering, col)
	}
	for _, d := range c.Columns {
		switch col := table.Columns[d.Name]; col.Kind {
		case schema.Regular:
			table.Regulars = append(table.Regulars, col)
		case schema.Static:
			table.Statics = append(table.Statics, col)
		}
	}
	layout, err := shard.Parse(options)
	if err != nil {
		t.Fatal(err)
	}
	pt, err := NewTable(table, layout)
	if err != nil {
		t.Fatal(err)
	}
	return pt, &schema.Schema{Keyspaces: map[string]*schema.Keyspace{"ks": {Name: "ks", Tables: map[string]*schema.Table{table.Name: table}}}}
}

// TestPlans holds plans to testdata: "table" gives a table, "plan" the plan of a
// statement, with bound values unless it has markers.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var table *Table
		var s *schema.Schema
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "table" {
				table, s = testTable(t, d.Input)
				return table.Layout.String()
			}
			e, err := explain(table, s, d.Input)
			if err != nil {
				return "error: " + err.Error()
			}
			return show(e)
		})
	})
}

func explain(table *Table, s *schema.Schema, text string) (*Explained, error) {
	tree, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	a, err := analysis.Analyze(tree, s, "ks")
	if err != nil {
		return nil, err
	}
	var env *eval.Env
	if len(a.Head().Binds) == 0 {
		env = &eval.Env{}
	}
	switch a := a.(type) {
	case *analysis.Select:
		p, err := NewSelect(table, tree.(*syntax.Select), a)
		if err != nil {
			return nil, err
		}
		return p.Explain(env, &hours{}, 2)
	case *analysis.Write:
		p, err := NewWrite(table, tree, a)
		if err != nil {
			return nil, err
		}
		return p.Explain(env, &hours{})
	}
	return nil, fmt.Errorf("%T", a)
}

func show(e *Explained) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", e.Access)
	if e.Output != "" {
		fmt.Fprintf(&b, ": %s", e.Output)
	}
	if len(e.Order) > 0 {
		fmt.Fprintf(&b, ", by %s", strings.Join(e.Order, ", "))
	}
	shards, _ := json.Marshal(e.Shards)
	fmt.Fprintf(&b, "\nshards %s\n", shards)
	if len(e.Buckets) > 0 {
		fmt.Fprintf(&b, "buckets %s\n", strings.Join(e.Buckets, " "))
	}
	for _, s := range e.Statements {
		fmt.Fprintf(&b, "%s\n", s.CQL)
		if len(s.Values) > 0 {
			fmt.Fprintf(&b, "  %s\n", strings.Join(s.Values, " | "))
		}
	}
	return b.String()
}
