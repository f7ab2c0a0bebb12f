// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// A keyspace is stored in storage's metadata as one JSON record. recordVersion is the version of
// its form. The engine does not read another version.
const recordVersion = 1

type keyspaceRecord struct {
	Version     int               `json:"version"`
	Name        string            `json:"name"`
	Replication map[string]string `json:"replication"`
	Durable     bool              `json:"durable_writes"`
	Types       []typeRecord      `json:"types,omitempty"` // a type comes before those that use it
	Tables      []tableRecord     `json:"tables,omitempty"`
}

type typeRecord struct {
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
	Types  []string `json:"types"`
}

type tableRecord struct {
	Name    string                     `json:"name"`
	ID      string                     `json:"id"`
	Columns []columnRecord             `json:"columns"`
	NextID  uint32                     `json:"next_column_id"`
	Options map[string]json.RawMessage `json:"options"`
	Dropped []droppedRecord            `json:"dropped,omitempty"`
}

type columnRecord struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Kind     schema.ColumnKind `json:"kind"`
	Position int               `json:"position"`
	Desc     bool              `json:"desc,omitempty"`
	ID       uint32            `json:"id"` // of regular and static columns
}

type droppedRecord struct {
	Name string            `json:"name"`
	Type string            `json:"type"`
	Kind schema.ColumnKind `json:"kind"`
	Time int64             `json:"time"`
	ID   *uint32           `json:"id,omitempty"` // of a column that was not added again
}

// encodeKeyspace returns the record of a keyspace.
func encodeKeyspace(ks *schema.Keyspace, ids map[[16]byte]columnIDs) ([]byte, error) {
	r := keyspaceRecord{Version: recordVersion, Name: ks.Name, Replication: ks.Replication, Durable: ks.DurableWrites}
	for _, t := range ks.TypesInOrder() {
		u := typeRecord{Name: t.Name, Fields: t.Fields}
		for _, e := range t.Elems {
			u.Types = append(u.Types, e.String())
		}
		r.Types = append(r.Types, u)
	}
	for _, name := range slices.Sorted(maps.Keys(ks.Tables)) {
		t, err := encodeTable(ks.Tables[name], ids[ks.Tables[name].ID])
		if err != nil {
			return nil, err
		}
		r.Tables = append(r.Tables, t)
	}
	return json.Marshal(r)
}

func encodeTable(t *schema.Table, ids columnIDs) (tableRecord, error) {
	r := tableRecord{Name: t.Name, ID: hex.EncodeToString(t.ID[:]), NextID: ids.next, Options: map[string]json.RawMessage{}}
	for _, c := range t.All() {
		r.Columns = append(r.Columns, columnRecord{
			Name: c.Name, Type: c.Type.String(), Kind: c.Kind, Position: c.Position, Desc: c.Desc, ID: ids.of[c.Name],
		})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Dropped)) {
		d := t.Dropped[name]
		record := droppedRecord{Name: name, Type: d.Type.String(), Kind: d.Kind, Time: d.Time}
		if id, ok := ids.dropped[name]; ok {
			record.ID = &id
		}
		r.Dropped = append(r.Dropped, record)
	}
	for name, v := range t.Options {
		raw, err := json.Marshal(v)
		if err != nil {
			return r, fmt.Errorf("encode option %s of %s.%s: %w", name, t.Keyspace, t.Name, err)
		}
		r.Options[name] = raw
	}
	return r, nil
}

// decodeKeyspace reads a record and adds its column ids to ids.
func decodeKeyspace(raw []byte, ids map[[16]byte]columnIDs) (*schema.Keyspace, error) {
	var r keyspaceRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if r.Version != recordVersion {
		return nil, fmt.Errorf("read the schema of %s: version %d of its record is not known (%d is)", r.Name, r.Version, recordVersion)
	}
	ks := &schema.Keyspace{
		Name: r.Name, Replication: r.Replication, DurableWrites: r.Durable,
		Tables: map[string]*schema.Table{}, Types: map[string]*value.Type{},
	}
	d := decoder{ks: ks}
	for _, u := range r.Types {
		types := make([]*value.Type, len(u.Types))
		for i, t := range u.Types {
			types[i] = d.parse(t)
		}
		ks.Types[u.Name] = value.UDTOf(ks.Name, u.Name, u.Fields, types, false)
	}
	for i := range r.Tables {
		t, columns := d.table(&r.Tables[i])
		ks.Tables[t.Name] = t
		ids[t.ID] = columns
	}
	if d.err != nil {
		return nil, fmt.Errorf("read the schema of %s: %w", r.Name, d.err)
	}
	return ks, nil
}

// decoder reads the parts of a keyspace. It keeps its first error.
type decoder struct {
	ks  *schema.Keyspace
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *decoder) parse(cql string) *value.Type {
	t, err := value.ParseType(cql, func(name string) (*value.Type, error) {
		if t := d.ks.Types[name]; t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("unknown type %s", name)
	})
	if err != nil {
		d.fail(err)
		return value.Native(value.Blob)
	}
	return t
}

func (d *decoder) table(r *tableRecord) (*schema.Table, columnIDs) {
	t := &schema.Table{Keyspace: d.ks.Name, Name: r.Name, Options: map[string]any{}, Columns: map[string]*schema.Column{}}
	id, err := hex.DecodeString(r.ID)
	if err != nil || len(id) != len(t.ID) {
		d.fail(fmt.Errorf("table %s: bad id %q", r.Name, r.ID))
		return t, columnIDs{}
	}
	t.ID = [16]byte(id)
	ids := columnIDs{of: map[string]uint32{}, next: r.NextID}
	for _, c := range r.Columns { // in the order of Table.All
		col := &schema.Column{Name: c.Name, Type: d.parse(c.Type), Kind: c.Kind, Position: c.Position, Desc: c.Desc}
		t.Columns[c.Name] = col
		switch c.Kind {
		case schema.PartitionKey:
			t.PartitionKey = append(t.PartitionKey, col)
			continue
		case schema.Clustering:
			t.Clustering = append(t.Clustering, col)
			continue
		case schema.Static:
			t.Statics = append(t.Statics, col)
		default:
			t.Regulars = append(t.Regulars, col)
		}
		t.Counter = t.Counter || col.Type.Kind == value.Counter
		ids.of[c.Name] = c.ID
	}
	for _, c := range r.Dropped {
		if t.Dropped == nil {
			t.Dropped = map[string]schema.Dropped{}
		}
		t.Dropped[c.Name] = schema.Dropped{Type: d.parse(c.Type), Kind: c.Kind, Time: c.Time}
		if c.ID != nil {
			if ids.dropped == nil {
				ids.dropped = map[string]uint32{}
			}
			ids.dropped[c.Name] = *c.ID
		}
	}
	for name, raw := range r.Options {
		v, err := decodeOption(name, raw)
		if err != nil {
			d.fail(fmt.Errorf("table %s: option %s: %w", r.Name, name, err))
		}
		t.Options[name] = v
	}
	return t, ids
}

// decodeOption reads an option as the type of its default.
func decodeOption(name string, raw json.RawMessage) (any, error) {
	switch name {
	case ddl.CustomProperties:
		return decodeAs[ddl.Custom](raw)
	case ddl.Tags:
		return decodeAs[map[string]string](raw)
	}
	switch ddl.DefaultOptions()[name].(type) {
	case int:
		return decodeAs[int](raw)
	case float64:
		return decodeAs[float64](raw)
	case string:
		return decodeAs[string](raw)
	case map[string][]byte:
		return decodeAs[map[string][]byte](raw)
	case map[string]string:
		return decodeAs[map[string]string](raw)
	}
	return decodeAs[bool](raw) // options that are absent by default
}

func decodeAs[T any](raw json.RawMessage) (any, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}
