package catalog

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Schema reads keyspaces of the backend's schema: the physical one. A keyspace
// that does not exist is absent.
func Schema(ctx context.Context, s Session, keyspaces ...string) (*schema.Schema, error) {
	out := &schema.Schema{Keyspaces: make(map[string]*schema.Keyspace, len(keyspaces))}
	rows, err := keyspaceRows(ctx, s, keyspaces)
	if err != nil {
		return nil, fmt.Errorf("read the keyspaces: %w", err)
	}
	for _, row := range rows {
		name := string(row["keyspace_name"])
		if !slices.Contains(keyspaces, name) {
			continue
		}
		if out.Keyspaces[name], err = readKeyspace(ctx, s, row); err != nil {
			return nil, fmt.Errorf("read the schema of keyspace %s: %w", name, err)
		}
	}
	return out, nil
}

// keyspaceRows asks once, also for many keyspaces: those of stale entries no
// longer exist, and are not read further.
func keyspaceRows(ctx context.Context, s Session, keyspaces []string) ([]Row, error) {
	switch len(keyspaces) {
	case 0:
		return nil, nil
	case 1:
		return s.Query(ctx, wire.One, "SELECT * FROM system_schema.keyspaces WHERE keyspace_name = ?", []byte(keyspaces[0]))
	}
	return s.Query(ctx, wire.One, "SELECT * FROM system_schema.keyspaces")
}

// reader reads the parts of one keyspace.
type reader struct {
	ctx  context.Context
	s    Session
	ks   *schema.Keyspace
	all  map[string]Row // rows of types that are not resolved yet, by name
	open []string       // names of types that are being resolved
}

func readKeyspace(ctx context.Context, s Session, row Row) (*schema.Keyspace, error) {
	r := reader{ctx: ctx, s: s, ks: &schema.Keyspace{
		Name: string(row["keyspace_name"]), Replication: textMap(row["replication"]), DurableWrites: boolean(row["durable_writes"]),
		Tables: map[string]*schema.Table{}, Types: map[string]*value.Type{},
	}}
	for _, read := range []func() error{r.types, r.tables, r.columns, r.dropped, r.indexes} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	for _, t := range r.ks.Tables {
		sortColumns(t)
	}
	return r.ks, nil
}

func (r *reader) rows(table string) ([]Row, error) {
	return r.s.Query(r.ctx, wire.One, "SELECT * FROM system_schema."+table+" WHERE keyspace_name = ?", []byte(r.ks.Name))
}

func (r *reader) types() error {
	rows, err := r.rows("types")
	if err != nil {
		return err
	}
	r.all = make(map[string]Row, len(rows))
	for _, row := range rows {
		r.all[string(row["type_name"])] = row
	}
	for _, row := range rows {
		if _, err := r.userType(string(row["type_name"])); err != nil {
			return err
		}
	}
	return nil
}

// userType resolves a user-defined type and those that it uses.
func (r *reader) userType(name string) (*value.Type, error) {
	if t := r.ks.Types[name]; t != nil {
		return t, nil
	}
	row, ok := r.all[name]
	if !ok || slices.Contains(r.open, name) {
		return nil, fmt.Errorf("type %s is not defined", name)
	}
	r.open = append(r.open, name)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	fields, types := textList(row["field_names"]), textList(row["field_types"])
	if len(fields) != len(types) {
		return nil, fmt.Errorf("type %s has %d fields of %d types", name, len(fields), len(types))
	}
	elems := make([]*value.Type, len(types))
	for i, text := range types {
		t, err := value.ParseType(text, r.userType)
		if err != nil {
			return nil, err
		}
		elems[i] = t
	}
	t := value.UDTOf(r.ks.Name, name, fields, elems, false)
	r.ks.Types[name] = t
	return t, nil
}

// typeOf is the type that a column is said to have. One that is not understood
// is an opaque custom type: it must not keep a door from serving other tables.
func (r *reader) typeOf(text string) *value.Type {
	t, err := value.ParseType(text, r.userType)
	if err != nil {
		return value.CustomOf(strings.Trim(text, "'"))
	}
	return t
}

func (r *reader) tables() error {
	rows, err := r.rows("tables")
	if err != nil {
		return err
	}
	for _, row := range rows {
		t := &schema.Table{
			Keyspace: r.ks.Name, Name: string(row["table_name"]),
			Columns: map[string]*schema.Column{}, Options: map[string]any{}, Dropped: map[string]schema.Dropped{},
		}
		copy(t.ID[:], row["id"])
		t.Counter = slices.Contains(textList(row["flags"]), "counter")
		for name, read := range options {
			if b, ok := row[name]; ok {
				t.Options[name] = read(b)
			}
		}
		r.ks.Tables[t.Name] = t
	}
	return nil
}

// options are the columns of system_schema.tables that are options of tables.
var options = map[string]func([]byte) any{
	"additional_write_policy": anyText, "allow_auto_snapshot": anyBoolean, "bloom_filter_fp_chance": anyDouble,
	"caching": anyMap, "cdc": anyBoolean, "comment": anyText, "compaction": anyMap, "compression": anyMap,
	"crc_check_chance": anyDouble, "dclocal_read_repair_chance": anyDouble, "default_time_to_live": anyInteger,
	"extensions": func(b []byte) any { return blobMap(b) }, "gc_grace_seconds": anyInteger,
	"incremental_backups": anyBoolean, "max_index_interval": anyInteger, "memtable": anyText,
	"memtable_flush_period_in_ms": anyInteger, "min_index_interval": anyInteger, "read_repair": anyText,
	"read_repair_chance": anyDouble, "speculative_retry": anyText,
}

func anyText(b []byte) any    { return string(b) }
func anyBoolean(b []byte) any { return boolean(b) }
func anyInteger(b []byte) any { return integer(b) }
func anyMap(b []byte) any     { return textMap(b) }

func anyDouble(b []byte) any {
	if len(b) != 8 {
		return 0.0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

func (r *reader) columns() error {
	rows, err := r.rows("columns")
	if err != nil {
		return err
	}
	for _, row := range rows {
		t := r.ks.Tables[string(row["table_name"])]
		if t == nil {
			continue // made since the tables were read
		}
		c := &schema.Column{
			Name: string(row["column_name"]), Type: r.typeOf(string(row["type"])),
			Position: integer(row["position"]), Desc: string(row["clustering_order"]) == "desc",
		}
		switch string(row["kind"]) {
		case "partition_key":
			c.Kind = schema.PartitionKey
			t.PartitionKey = append(t.PartitionKey, c)
		case "clustering":
			c.Kind = schema.Clustering
			t.Clustering = append(t.Clustering, c)
		case "static":
			c.Kind = schema.Static
			t.Statics = append(t.Statics, c)
		default:
			c.Kind = schema.Regular
			t.Regulars = append(t.Regulars, c)
		}
		t.Columns[c.Name] = c
	}
	return nil
}

func sortColumns(t *schema.Table) {
	byPosition := func(a, b *schema.Column) int { return a.Position - b.Position }
	byName := func(a, b *schema.Column) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(t.PartitionKey, byPosition)
	slices.SortFunc(t.Clustering, byPosition)
	slices.SortFunc(t.Statics, byName)
	slices.SortFunc(t.Regulars, byName)
}

func (r *reader) dropped() error {
	rows, err := r.rows("dropped_columns")
	if err != nil {
		return err
	}
	for _, row := range rows {
		t := r.ks.Tables[string(row["table_name"])]
		if t == nil {
			continue
		}
		d := schema.Dropped{Type: r.typeOf(string(row["type"])), Kind: schema.Regular}
		if string(row["kind"]) == "static" {
			d.Kind = schema.Static
		}
		if b := row["dropped_time"]; len(b) == 8 {
			d.Time = int64(binary.BigEndian.Uint64(b)) * 1000 // system_schema has milliseconds
		}
		t.Dropped[string(row["column_name"])] = d
	}
	return nil
}

func (r *reader) indexes() error {
	rows, err := r.rows("indexes")
	if err != nil {
		return err
	}
	for _, row := range rows {
		if t := r.ks.Tables[string(row["table_name"])]; t != nil {
			t.Indexes = append(t.Indexes, schema.Index{
				Name: string(row["index_name"]), Kind: string(row["kind"]), Options: textMap(row["options"]),
			})
		}
	}
	return nil
}

func boolean(b []byte) bool { return len(b) == 1 && b[0] != 0 }

func integer(b []byte) int {
	if len(b) != 4 {
		return 0
	}
	return int(int32(binary.BigEndian.Uint32(b)))
}

var (
	textListType = value.ListOf(value.Native(value.Text), true)
	textMapType  = value.MapOf(value.Native(value.Text), value.Native(value.Text), true)
)

// textList reads a list or a set of text.
func textList(b []byte) []string {
	var list []string
	if b == nil {
		return nil
	}
	for p := textListType.Parts(b); p.Next(); {
		list = append(list, string(p.Part()))
	}
	return list
}

func textMap(b []byte) map[string]string {
	m := map[string]string{}
	for k, v := range blobMap(b) {
		m[k] = string(v)
	}
	return m
}

func blobMap(b []byte) map[string][]byte {
	m := map[string][]byte{}
	if b == nil {
		return m
	}
	for p := textMapType.Parts(b); p.Next(); {
		k := string(p.Part())
		if p.Next() {
			m[k] = p.Part()
		}
	}
	return m
}
