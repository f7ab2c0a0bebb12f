// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"iter"
	"maps"
	"sync"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/engine/cassandra/system"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// state is a snapshot of the schema, with the engine's storage of each table. It is immutable.
type state struct {
	schema  *schema.Schema // includes the system keyspaces
	version [16]byte       // of the user's keyspaces; changes when they do
	tables  map[*schema.Table]*table
	listed  sync.Map // the tables of system_schema that were read, by name: func() []virtualPartition
}

// table is a table and its storage.
type table struct {
	*schema.Table
	ids   columnIDs
	store *storage.Table // nil for a system table, which is virtual
}

// newState makes the state of the system's keyspaces and the user's. before is the previous
// state, from which unchanged parts are taken; it may be nil.
func newState(db *storage.DB, own, user map[string]*schema.Keyspace, ids map[[16]byte]columnIDs, before *state, version [16]byte) (*state, error) {
	s := &state{
		schema:  &schema.Schema{Keyspaces: maps.Clone(own)},
		version: version,
		tables:  map[*schema.Table]*table{},
	}
	maps.Copy(s.schema.Keyspaces, user)
	for _, ks := range s.schema.Keyspaces {
		for _, t := range ks.Tables {
			if before != nil && before.tables[t] != nil {
				s.tables[t] = before.tables[t]
				continue
			}
			made, err := newTable(db, t, ids[t.ID])
			if err != nil {
				return nil, err
			}
			s.tables[t] = made
		}
	}
	return s, nil
}

func newTable(db *storage.DB, t *schema.Table, ids columnIDs) (*table, error) {
	n := &table{Table: t, ids: ids.assign(t)}
	if system.Has(t.Keyspace) {
		return n, nil
	}
	store, err := db.Table(n.spec())
	if err != nil {
		return nil, fmt.Errorf("open table %s.%s: %w", t.Keyspace, t.Name, err)
	}
	n.store = store
	return n, nil
}

// spec describes the table for storage.
func (t *table) spec() storage.TableSpec {
	grace, _ := t.Options["gc_grace_seconds"].(int)
	s := storage.TableSpec{ID: t.ID, GCGrace: int64(grace)}
	for _, c := range t.Clustering {
		s.Clustering = append(s.Clustering, storage.ClusteringColumn{Type: c.Type, Desc: c.Desc})
	}
	for _, cols := range [2][]*schema.Column{t.Statics, t.Regulars} {
		for _, c := range cols {
			col := storage.Column{
				ID: t.ids.of[c.Name], Static: c.Kind == schema.Static, Counter: c.Type.Kind == value.Counter, Path: pathType(c.Type),
			}
			if d, ok := t.Dropped[c.Name]; ok {
				col.DroppedAt = &d.Time
			}
			s.Columns = append(s.Columns, col)
		}
	}
	for name, id := range t.ids.dropped {
		d := t.Dropped[name]
		s.Columns = append(s.Columns, storage.Column{
			ID: id, Static: d.Kind == schema.Static, Path: pathType(d.Type), DroppedAt: &d.Time, Absent: true,
		})
	}
	return s
}

// pathType returns the type of the paths of a column's cells, or nil if it has a single cell.
func pathType(t *value.Type) *value.Type {
	if !t.Multicell() {
		return nil
	}
	switch t.Kind {
	case value.List:
		return value.Native(value.Timeuuid)
	case value.UDT:
		return value.Native(value.Smallint)
	}
	return t.Elems[0]
}

// stores yields storage's handles of the user's tables, by name.
func (s *state) stores() iter.Seq2[string, *storage.Table] {
	return func(yield func(string, *storage.Table) bool) {
		for t, table := range s.tables {
			if table.store != nil && !yield(t.Keyspace+"."+t.Name, table.store) {
				return
			}
		}
	}
}

// ids returns the column ids of the user's tables.
func (s *state) ids() map[[16]byte]columnIDs {
	ids := make(map[[16]byte]columnIDs, len(s.tables))
	for t, table := range s.tables {
		if table.store != nil {
			ids[t.ID] = table.ids
		}
	}
	return ids
}
