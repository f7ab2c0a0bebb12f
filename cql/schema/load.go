// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
)

// A Row is a row of a table of system_schema: serialized cells by column name. Null cells, and
// cells that an older server does not have, are nil or absent.
type Row map[string][]byte

// Rows are the rows that a schema is loaded from, in any order.
type Rows struct {
	Keyspaces      []Row // system_schema.keyspaces
	Tables         []Row // system_schema.tables
	Columns        []Row // system_schema.columns
	Types          []Row // system_schema.types
	Indexes        []Row // system_schema.indexes
	DroppedColumns []Row // system_schema.dropped_columns
	Views          []Row // system_schema.views
}

// Load makes the schema from these rows. It returns an error for a user-defined type that cannot
// be resolved. Anything else that it does not understand is no error, so that the rest of the
// schema can be used: a column gets an opaque custom type, as does a type of more than value.MaxParts parts, and a table without a partition key
// (one that is being dropped) is left out.
func Load(rows Rows) (*Schema, error) {
	l := loader{schema: &Schema{Keyspaces: map[string]*Keyspace{}}}
	for _, r := range rows.Keyspaces {
		name := r.text("keyspace_name")
		l.schema.Keyspaces[name] = &Keyspace{
			Name:          name,
			Replication:   r.pairs("replication"),
			DurableWrites: r.Bool("durable_writes"),
			Tables:        map[string]*Table{},
			Types:         map[string]*value.Type{},
		}
	}
	if err := l.types(rows.Types); err != nil {
		return nil, err
	}
	l.columns, l.dropped, l.indexes = byTable(rows.Columns), byTable(rows.DroppedColumns), byTable(rows.Indexes)
	for _, r := range rows.Tables {
		l.table(r, r.text("table_name"), nil)
	}
	for _, r := range rows.Views {
		l.table(r, r.text("view_name"), &View{
			Base:       r.text("base_table_name"),
			AllColumns: r.Bool("include_all_columns"),
			Where:      r.text("where_clause"),
		})
	}
	return l.schema, nil
}

type tableName struct{ keyspace, table string }

func byTable(rows []Row) map[tableName][]Row {
	m := map[tableName][]Row{}
	for _, r := range rows {
		n := tableName{r.text("keyspace_name"), r.text("table_name")}
		m[n] = append(m[n], r)
	}
	return m
}

type loader struct {
	schema                    *Schema
	columns, dropped, indexes map[tableName][]Row
}

// types resolves the user-defined types, each after the types that it contains.
func (l *loader) types(rows []Row) error {
	type name struct{ keyspace, name string }
	waiting := map[name]Row{}
	for _, r := range rows {
		waiting[name{r.text("keyspace_name"), r.text("type_name")}] = r
	}
	var resolve func(n name) (*value.Type, error)
	resolve = func(n name) (*value.Type, error) {
		k := l.schema.Keyspaces[n.keyspace]
		if k == nil {
			return nil, nil
		}
		if t := k.Types[n.name]; t != nil {
			return t, nil
		}
		r, ok := waiting[n]
		if !ok {
			return nil, fmt.Errorf("type %s is not defined", n.name)
		}
		delete(waiting, n) // a type that is met again on the way down contains itself
		fields, texts := r.texts("field_names"), r.texts("field_types")
		if len(fields) != len(texts) {
			return nil, fmt.Errorf("type %s has %d fields of %d types", n.name, len(fields), len(texts))
		}
		elems := make([]*value.Type, len(texts))
		for i, text := range texts {
			t, err := value.ParseType(text, func(inner string) (*value.Type, error) {
				return resolve(name{n.keyspace, inner})
			})
			if err != nil {
				return nil, err
			}
			elems[i] = t
		}
		t := value.UDTOf(n.keyspace, n.name, fields, elems, false)
		if t.CountParts(value.MaxParts) > value.MaxParts {
			t = value.CustomOf(n.name)
		}
		k.Types[n.name] = t
		return t, nil
	}
	for _, r := range rows {
		if _, err := resolve(name{r.text("keyspace_name"), r.text("type_name")}); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) table(r Row, name string, view *View) {
	n := tableName{r.text("keyspace_name"), name}
	k := l.schema.Keyspaces[n.keyspace]
	if k == nil {
		return
	}
	typeOf := func(text string) *value.Type {
		t, err := value.ParseType(text, func(name string) (*value.Type, error) { return k.Types[name], nil })
		if err != nil {
			return value.CustomOf(strings.Trim(text, "'"))
		}
		return t
	}
	var columns []*Column
	for _, c := range l.columns[n] {
		columns = append(columns, &Column{
			Name:     c.text("column_name"),
			Type:     typeOf(c.text("type")),
			Kind:     kindOf(c.text("kind")),
			Position: int(c.Int("position")),
			Desc:     strings.EqualFold(c.text("clustering_order"), "desc"),
		})
	}
	t := NewTable(n.keyspace, n.table, columns)
	if len(t.PartitionKey) == 0 {
		return
	}
	t.View = view
	copy(t.ID[:], r["id"])
	t.Options = r.options()
	t.Counter = t.Counter || slices.Contains(r.texts("flags"), "counter")
	for _, d := range l.dropped[n] {
		t.Dropped[d.text("column_name")] = Dropped{Type: typeOf(d.text("type")), Kind: kindOf(d.text("kind")), Time: d.Int("dropped_time") * 1000}
	}
	for _, i := range l.indexes[n] {
		t.Indexes = append(t.Indexes, Index{Name: i.text("index_name"), Kind: i.text("kind"), Options: i.pairs("options")})
	}
	slices.SortFunc(t.Indexes, func(a, b Index) int { return strings.Compare(a.Name, b.Name) })
	k.Tables[n.table] = t
}

// kindOf parses a column's role. Other roles of old servers (compact_value) count as regular.
func kindOf(s string) ColumnKind {
	for k := PartitionKey; k < Regular; k++ {
		if k.String() == s {
			return k
		}
	}
	return Regular
}

// optionTypes lists the columns of system_schema.tables that are options.
var optionTypes = map[string]value.Kind{
	"additional_write_policy": value.Text, "allow_auto_snapshot": value.Boolean, "bloom_filter_fp_chance": value.Double,
	"caching": value.Map, "cdc": value.Boolean, "comment": value.Text, "compaction": value.Map, "compression": value.Map,
	"crc_check_chance": value.Double, "dclocal_read_repair_chance": value.Double, "default_time_to_live": value.Int,
	"extensions": value.Blob, "gc_grace_seconds": value.Int, "incremental_backups": value.Boolean,
	"max_index_interval": value.Int, "memtable": value.Text, "memtable_flush_period_in_ms": value.Int,
	"min_index_interval": value.Int, "read_repair": value.Text, "read_repair_chance": value.Double, "speculative_retry": value.Text,
}

func (r Row) options() map[string]any {
	o := map[string]any{}
	for name, kind := range optionTypes {
		v := r[name]
		if v == nil {
			continue
		}
		switch kind {
		case value.Text:
			o[name] = string(v)
		case value.Boolean:
			o[name] = r.Bool(name)
		case value.Int:
			o[name] = int(r.Int(name))
		case value.Double:
			if len(v) == 8 {
				o[name] = math.Float64frombits(binary.BigEndian.Uint64(v))
			}
		case value.Map:
			o[name] = r.pairs(name)
		case value.Blob:
			m := map[string][]byte{}
			for p := blobs.Parts(v); p.Next(); {
				key := string(p.Part())
				if !p.Next() {
					break
				}
				m[key] = slices.Clone(p.Part())
			}
			o[name] = m
		}
	}
	return o
}

var (
	text  = value.Native(value.Text)
	list  = value.ListOf(text, true)
	pairs = value.MapOf(text, text, true)
	blobs = value.MapOf(text, value.Native(value.Blob), true)
)

func (r Row) text(name string) string { return string(r[name]) }

// Bool reads a boolean.
func (r Row) Bool(name string) bool { return len(r[name]) == 1 && r[name][0] != 0 }

// Int reads an int or a timestamp.
func (r Row) Int(name string) int64 { return value.Native(value.Bigint).Int64(r[name]) }

// texts reads a list or set of text.
func (r Row) texts(name string) (s []string) {
	for p := list.Parts(r[name]); p.Next(); {
		s = append(s, string(p.Part()))
	}
	return s
}

// pairs reads a map of text to text.
func (r Row) pairs(name string) map[string]string {
	m := map[string]string{}
	for p := pairs.Parts(r[name]); p.Next(); {
		key := string(p.Part())
		if !p.Next() {
			break
		}
		m[key] = string(p.Part())
	}
	return m
}
