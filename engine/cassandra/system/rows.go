// SPDX-License-Identifier: Apache-2.0

package system

import (
	"encoding/binary"
	"math"

	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// A Row holds the serialized values of a row by column name. Null values are absent.
type Row map[string][]byte

// Rows returns the contents of a system table, in no particular order. s is the whole schema,
// including the system keyspaces.
func Rows(t *schema.Table, s *schema.Schema, info *Info) []Row {
	switch t.Keyspace {
	case "system":
		if t.Name == "local" {
			return []Row{local(info)}
		}
	case "system_schema":
		return schemaRows(t.Name, s)
	case "system_virtual_schema":
		return virtualSchemaRows(t.Name, s)
	case ddl.KeyspacesSystem:
		return keyspacesRows(t, s)
	}
	return nil
}

func local(info *Info) Row {
	addr := info.Address.Addr().AsSlice()
	port := integer(int(info.Address.Port()))
	return Row{
		"key":                     []byte("local"),
		"bootstrapped":            []byte("COMPLETED"),
		"broadcast_address":       addr,
		"broadcast_port":          integer(7000),
		"cluster_name":            []byte(info.ClusterName),
		"cql_version":             []byte(CQLVersion),
		"data_center":             []byte(info.DataCenter),
		"gossip_generation":       integer(int(info.Generation)),
		"host_id":                 info.HostID[:],
		"listen_address":          addr,
		"listen_port":             integer(7000),
		"native_protocol_version": []byte("5"),
		"partitioner":             []byte(Partitioner),
		"rack":                    []byte(info.Rack),
		"release_version":         []byte(Release),
		"rpc_address":             addr,
		"rpc_port":                port,
		"schema_version":          info.SchemaVersion[:],
		"tokens":                  list([]string{Token}),
	}
}

// An Entry stands for a row of a table of system_schema. A schema can have far more rows than a page. So a
// read calls Row only for the rows that it returns.
type Entry struct {
	Clustering []string // the values of the clustering columns
	Row        func() Row
}

// Entries returns the rows of a table of system_schema that are about a keyspace, in the order of
// their clustering columns.
func Entries(table string, ks *schema.Keyspace) (all []Entry) {
	switch {
	case Virtual(ks.Name):
	case table == "keyspaces":
		all = append(all, Entry{Row: func() Row {
			return Row{"keyspace_name": []byte(ks.Name), "durable_writes": boolean(ks.DurableWrites), "replication": textMap(ks.Replication)}
		}})
	case table == "types":
		for _, name := range sortedKeys(ks.Types) {
			all = append(all, Entry{[]string{name}, func() Row { return typeRow(ks.Name, ks.Types[name]) }})
		}
	case table == "tables":
		for _, name := range sortedKeys(ks.Tables) {
			all = append(all, Entry{[]string{name}, func() Row { return tableRow(ks.Tables[name]) }})
		}
	default:
		for _, name := range sortedKeys(ks.Tables) {
			all = appendEntries(all, table, ks.Tables[name])
		}
	}
	return all
}

func appendEntries(all []Entry, table string, t *schema.Table) []Entry {
	switch table {
	case "columns":
		for _, name := range sortedKeys(t.Columns) {
			all = append(all, Entry{[]string{t.Name, name}, func() Row { return columnRow(t, t.Columns[name]) }})
		}
	case "dropped_columns":
		for _, name := range sortedKeys(t.Dropped) {
			all = append(all, Entry{[]string{t.Name, name}, func() Row {
				d := t.Dropped[name]
				return Row{
					"keyspace_name": []byte(t.Keyspace), "table_name": []byte(t.Name), "column_name": []byte(name),
					"dropped_time": long(d.Time / 1000), "kind": []byte(d.Kind.String()), "type": []byte(d.Type.String()),
				}
			}})
		}
	case "indexes":
		for _, i := range t.Indexes {
			all = append(all, Entry{[]string{t.Name, i.Name}, func() Row {
				return Row{
					"keyspace_name": []byte(t.Keyspace), "table_name": []byte(t.Name), "index_name": []byte(i.Name),
					"kind": []byte(i.Kind), "options": textMap(i.Options),
				}
			}})
		}
	}
	return all
}

func schemaRows(table string, s *schema.Schema) (rows []Row) {
	for _, name := range sortedKeys(s.Keyspaces) {
		for _, e := range Entries(table, s.Keyspaces[name]) {
			rows = append(rows, e.Row())
		}
	}
	return rows
}

func columnRow(t *schema.Table, c *schema.Column) Row {
	order := "none"
	if c.Kind == schema.Clustering {
		order = "asc"
		if c.Desc {
			order = "desc"
		}
	}
	return Row{
		"keyspace_name": []byte(t.Keyspace), "table_name": []byte(t.Name), "column_name": []byte(c.Name),
		"clustering_order": []byte(order), "column_name_bytes": []byte(c.Name), "kind": []byte(c.Kind.String()),
		"position": integer(c.Position), "type": []byte(c.Type.String()),
	}
}

func typeRow(keyspace string, t *value.Type) Row {
	types := make([]string, len(t.Elems))
	for i, e := range t.Elems {
		types[i] = e.String()
	}
	return Row{
		"keyspace_name": []byte(keyspace), "type_name": []byte(t.Name), "field_names": list(t.Fields), "field_types": list(types),
	}
}

// tableRow returns a row of system_schema.tables. It leaves out options that are not columns of
// that table (for example those of a door in front of the engine). It also leaves out cdc, which a
// node without change data capture does not show.
func tableRow(t *schema.Table) Row {
	r := Row{"keyspace_name": []byte(t.Keyspace), "table_name": []byte(t.Name), "id": t.ID[:], "flags": list(flags(t))}
	columns := Keyspaces()["system_schema"].Tables["tables"].Columns
	for name, v := range t.Options {
		if columns[name] != nil && name != "cdc" {
			r[name] = option(v)
		}
	}
	return r
}

func flags(t *schema.Table) []string {
	if t.Counter {
		return []string{"compound", "counter"}
	}
	return []string{"compound"}
}

// option returns the serialized value of a table option.
func option(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case int:
		return integer(v)
	case float64:
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(v))
	case bool:
		return boolean(v)
	case map[string]string:
		return textMap(v)
	case map[string][]byte:
		return blobMap(v)
	}
	return nil
}

func virtualSchemaRows(table string, s *schema.Schema) []Row {
	var rows []Row
	for _, name := range sortedKeys(s.Keyspaces) {
		if !Virtual(name) {
			continue
		}
		if table == "keyspaces" {
			rows = append(rows, Row{"keyspace_name": []byte(name)})
			continue
		}
		ks := s.Keyspaces[name]
		for _, u := range sortedKeys(ks.Tables) {
			t := ks.Tables[u]
			if table == "tables" {
				rows = append(rows, Row{"keyspace_name": []byte(name), "table_name": []byte(u), "comment": {}})
				continue
			}
			for _, c := range t.All() {
				rows = append(rows, columnRow(t, c))
			}
		}
	}
	return rows
}

func boolean(b bool) []byte {
	if b {
		return []byte{1}
	}
	return []byte{0}
}

func integer(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(int32(n))) }

func long(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// list serializes a list of text. It also serializes a set if elems is sorted.
func list(elems []string) []byte {
	b := value.AppendCount(nil, len(elems))
	for _, e := range elems {
		b = value.AppendPart(b, []byte(e))
	}
	return b
}

func textMap(m map[string]string) []byte {
	b := value.AppendCount(nil, len(m))
	for _, k := range sortedKeys(m) {
		b = value.AppendPart(value.AppendPart(b, []byte(k)), []byte(m[k]))
	}
	return b
}

func blobMap(m map[string][]byte) []byte {
	b := value.AppendCount(nil, len(m))
	for _, k := range sortedKeys(m) {
		b = value.AppendPart(value.AppendPart(b, []byte(k)), m[k])
	}
	return b
}
