// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/cql/value"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden file")

// rows reads what testdata/dump.py wrote down of a real Cassandra.
func rows(t *testing.T) (r Rows) {
	t.Helper()
	data, err := os.ReadFile("testdata/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var dump map[string][]map[string]string
	if err := json.Unmarshal(data, &dump); err != nil {
		t.Fatal(err)
	}
	for name, into := range map[string]*[]Row{
		"keyspaces": &r.Keyspaces, "tables": &r.Tables, "columns": &r.Columns, "types": &r.Types,
		"indexes": &r.Indexes, "dropped_columns": &r.DroppedColumns, "views": &r.Views,
	} {
		for _, cells := range dump[name] {
			row := Row{}
			for c, v := range cells {
				b, err := hex.DecodeString(v)
				if err != nil {
					t.Fatal(err)
				}
				row[c] = b
			}
			*into = append(*into, row)
		}
	}
	return r
}

func print(s *Schema) string {
	var b strings.Builder
	for _, kn := range slices.Sorted(maps.Keys(s.Keyspaces)) {
		k := s.Keyspaces[kn]
		fmt.Fprintf(&b, "keyspace %s %v durable=%t\n", k.Name, k.Replication, k.DurableWrites)
		for _, name := range slices.Sorted(maps.Keys(k.Types)) {
			u := k.Types[name]
			fmt.Fprintf(&b, "type %s %s\n", u, u.Class())
			for i, f := range u.Fields {
				fmt.Fprintf(&b, "  %s %s\n", f, u.Elems[i])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(k.Tables)) {
			t := k.Tables[name]
			fmt.Fprintf(&b, "table %s.%s id=%x counter=%t\n", t.Keyspace, t.Name, t.ID, t.Counter)
			if t.View != nil {
				fmt.Fprintf(&b, "  view %+v\n", *t.View)
			}
			for _, c := range t.All() {
				fmt.Fprintf(&b, "  %s %s %s %d desc=%t multicell=%t\n", c.Name, c.Type, c.Kind, c.Position, c.Desc, c.Type.Multicell())
			}
			for _, o := range slices.Sorted(maps.Keys(t.Options)) {
				fmt.Fprintf(&b, "  option %s %T %v\n", o, t.Options[o], t.Options[o])
			}
			for _, d := range slices.Sorted(maps.Keys(t.Dropped)) {
				fmt.Fprintf(&b, "  dropped %s %s %s %d\n", d, t.Dropped[d].Type, t.Dropped[d].Kind, t.Dropped[d].Time)
			}
			for _, i := range t.Indexes {
				fmt.Fprintf(&b, "  index %s %s %v\n", i.Name, i.Kind, i.Options)
			}
		}
	}
	return b.String()
}

func TestLoad(t *testing.T) {
	s, err := Load(rows(t))
	if err != nil {
		t.Fatal(err)
	}
	got := print(s)
	if *rewrite {
		if err := os.WriteFile("testdata/schema.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/schema.txt")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// TestLoadBroken breaks one thing at a time.
func TestLoadBroken(t *testing.T) {
	for _, c := range []struct {
		name   string
		breaks func(r *Rows)
		fault  string
		gone   []string // tables that cannot be there
	}{
		{"type holds itself", func(r *Rows) {
			for _, u := range r.Types {
				if u.text("type_name") == "Zip" {
					u["field_types"] = list.Build(nil, [][]byte{[]byte("frozen<aaa>"), []byte("int")})
				}
			}
		}, " is not defined", nil},
		{"a type is missing", func(r *Rows) {
			r.Types = slices.DeleteFunc(r.Types, func(u Row) bool { return u.text("type_name") == "Zip" })
		}, "type Zip is not defined", nil},
		{"columns are missing", func(r *Rows) {
			r.Columns = slices.DeleteFunc(r.Columns, func(u Row) bool { return u.text("table_name") == "one" })
		}, "", []string{"one"}},
		{"the keyspace is missing", func(r *Rows) { r.Keyspaces = nil }, "", []string{"one", "people", "counts"}},
		{"an unknown type", func(r *Rows) {
			for _, c := range r.Columns {
				if c.text("table_name") == "counts" && c.text("kind") == "regular" {
					c["type"] = []byte("bigint<")
				}
			}
		}, "", nil},
	} {
		r := rows(t)
		c.breaks(&r)
		s, err := Load(r)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: error %v, want %s", c.name, err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, name := range []string{"people", "one", "counts"} {
			if there := s.Table("schema_rows", name) != nil; there == slices.Contains(c.gone, name) {
				t.Errorf("%s: table %s is there: %t", c.name, name, there)
			}
		}
		if counts := s.Table("schema_rows", "counts"); c.name == "an unknown type" && (!counts.Counter || counts.Regulars[0].Type.String() != "'bigint<'") {
			t.Errorf("%s: %s, counter %t", c.name, counts.Regulars[0].Type, counts.Counter)
		}
	}
}

func TestChangesMakeNewSnapshots(t *testing.T) {
	s, err := Load(rows(t))
	if err != nil {
		t.Fatal(err)
	}
	before := print(s)

	key := &Column{Name: "k", Type: value.Native(value.Int), Kind: PartitionKey}
	added := s.WithTable(NewTable("schema_rows", "extra", []*Column{key}))
	if s.Table("schema_rows", "extra") != nil || added.Table("schema_rows", "extra") == nil {
		t.Error("WithTable")
	}
	if added.Table("schema_rows", "one") != s.Table("schema_rows", "one") {
		t.Error("WithTable copies what it need not")
	}
	removed := added.WithoutTable("schema_rows", "extra")
	if removed.Table("schema_rows", "extra") != nil || print(removed) != before {
		t.Error("WithoutTable")
	}
	if removed.WithoutTable("schema_rows", "none") != removed || removed.WithoutTable("none", "none") != removed {
		t.Error("WithoutTable of what is not there")
	}
	if s.Without("schema_rows").Keyspaces["schema_rows"] != nil || s.Keyspaces["schema_rows"] == nil {
		t.Error("Without")
	}

	k := s.Keyspaces["schema_rows"]
	zip := k.Types["Zip"]
	wider := value.UDTOf("schema_rows", "Zip", append(slices.Clone(zip.Fields), "more"), append(slices.Clone(zip.Elems), value.Native(value.Text)), false)
	changed := k.WithType(wider)
	work := changed.Tables["people"].Column("work").Type
	if f := work.Elems[work.Field("zip")]; len(f.Fields) != 3 || !f.Frozen {
		t.Errorf("zip of work is %s with fields %v", f, f.Fields)
	}
	if home := changed.Tables["people"].Column("home").Type; home.Frozen || !home.Uses("schema_rows", "Zip") {
		t.Error("home is frozen, or does not use Zip")
	}
	aaa := changed.Types["aaa"].Elems[0]
	if f := aaa.Elems[aaa.Field("zip")]; len(f.Fields) != 3 {
		t.Error("a type that holds the type is unchanged")
	}
	if changed.Tables["one"] != k.Tables["one"] || changed.Tables["people"].ID != k.Tables["people"].ID {
		t.Error("WithType copies what it need not, or not what it must")
	}
	if print(s) != before {
		t.Error("a snapshot changed")
	}
}

func FuzzRow(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 1, 'a', 0, 0, 0, 1, 'b'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, v []byte) {
		r := Row{"keyspace_name": []byte("k"), "table_name": []byte("t"), "type_name": v, "column_name": v, "kind": v}
		for name := range optionTypes {
			r[name] = v
		}
		for _, name := range []string{"replication", "field_names", "field_types", "type", "position", "id", "flags", "dropped_time", "options"} {
			r[name] = v
		}
		all := []Row{r}
		_, _ = Load(Rows{all, all, all, all, all, all, all})
	})
}
