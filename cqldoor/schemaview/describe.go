// SPDX-License-Identifier: Apache-2.0

package schemaview

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/describe"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// Describe sends a DESCRIBE to the store and changes the answer. It rewrites the CREATE TABLE of each
// sharded table, and leaves out the rows of the catalogue and of tables that clients do not see.
func (x *Viewer) Describe(ctx context.Context, req *cqldoor.Request, text string, params *wire.Params) error {
	if err := x.Schemas.RefreshIfChanged(ctx); err != nil {
		return err
	}
	keyspace := request.KeyspaceOf(req, params.Keyspace)
	text, err := x.View.Load().DescribesPhysical(text, keyspace)
	if err != nil {
		return err
	}
	p := *params
	p.SetValues(wire.Values{})
	p.SetSkipMetadata(false)
	q := wire.Query{Text: []byte(text), Params: p}
	resp, err := request.AskStore(ctx, req, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, req.Version, &q)})
	if err != nil {
		return err
	}
	if wire.KindOf(resp.Body) != wire.ResultRows {
		return resp.Reply(req, resp.Body)
	}
	rows, err := wire.ParseRows(resp.Body)
	if err != nil {
		return err
	}
	columns, err := rows.Metadata.Columns()
	if err != nil {
		return err
	}
	at := map[string]int{"keyspace_name": -1, "type": -1, "name": -1, "create_statement": -1}
	for i, c := range columns {
		at[c.Name] = i
	}
	var w wire.RowsWriter
	w.Begin(nil, rows.Metadata)
	v := x.View.Load()
	it := rows.Iter(nil)
	cell := func(name string) string {
		if i := at[name]; i >= 0 {
			return string(it.Cells[i])
		}
		return ""
	}
	for it.Next() {
		ks := unquoted(cell("keyspace_name"))
		if ks == catalog.Keyspace || v.Pending[syntax.Name{Keyspace: ks, Name: unquoted(cell("name"))}] {
			continue
		}
		text := cell("create_statement")
		name := cell("name")
		if cell("type") == "table" {
			t, shown := v.Named(ks, unquoted(name))
			if !shown {
				continue
			}
			if t != nil && t.Entry.Physical != t.Entry.Table {
				name = describe.Name(t.Entry.Table)
			}
			if t != nil && text != "" && (!t.Entry.Layout.Plain() || t.Entry.Physical != t.Entry.Table) {
				text = logicalStatement(text, t.Physical, t.Logical)
			}
		}
		for i, c := range it.Cells {
			if i == at["name"] && c != nil {
				c = []byte(name)
			}
			if i == at["create_statement"] && c != nil {
				c = []byte(text)
			}
			w.Cell(c)
		}
		w.EndRow()
	}
	if err := it.Err(); err != nil {
		return err
	}
	return resp.Reply(req, w.Finish())
}

// unquoted returns a name without the quotes that DESCRIBE may put around it.
func unquoted(name string) string {
	if len(name) >= 2 && name[0] == '"' {
		return strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
	}
	return name
}

// logicalStatement returns the CREATE TABLE of a logical table. text is the CREATE TABLE of its
// physical table, as the store wrote it. logicalStatement replaces the columns by the logical ones,
// and adds write_sharding if the table is sharded. It keeps the options as text, so they fit every
// release of the store. If it does not find the physical columns in text, it makes the whole statement.
func logicalStatement(text string, physical, logical *schema.Table) string {
	for _, internals := range []bool{false, true} {
		rest, ok := strings.CutPrefix(text, columnsOf(physical, internals))
		if !ok {
			continue
		}
		end := statementEnd(rest)
		l := *logical
		declared := ""
		if logical.Options[catalog.Property] != nil {
			declared = "\n    AND " + catalog.Property + " = " + optionText(logical)
		}
		return columnsOf(&l, internals) + rest[:end] + declared + rest[end:]
	}
	return describe.Table(logical, strings.Contains(text, " WITH ID = "))
}

// columnsOf returns the beginning of a CREATE TABLE, up to its options. For internals, see
// describe.Table.
func columnsOf(t *schema.Table, internals bool) string {
	head, _, _ := strings.Cut(describe.Table(t, internals), "\n) WITH ")
	return head + "\n)"
}

// statementEnd returns the index of the semicolon that ends the first statement of a text, or the
// text's length if there is none.
func statementEnd(text string) int {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case text[i] == ';' && !quoted:
			return i
		}
	}
	return len(text)
}

// optionText returns a table's write_sharding as CQL.
func optionText(t *schema.Table) string {
	m, _ := t.Options[catalog.Property].(map[string]string)
	return string(syntax.AppendExpr(nil, MapLiteral(m)))
}

// MapLiteral returns a map of strings as CQL, with sorted keys.
func MapLiteral(m map[string]string) *syntax.Map {
	out := &syntax.Map{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out.Entries = append(out.Entries, syntax.MapEntry{
			Key: &syntax.Constant{Kind: syntax.ConstString, Text: k}, Value: &syntax.Constant{Kind: syntax.ConstString, Text: m[k]},
		})
	}
	return out
}
