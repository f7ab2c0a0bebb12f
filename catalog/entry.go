package catalog

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
)

// Keyspace is the catalogue's own keyspace, which clients do not see.
const Keyspace = "evenkeel"

// State is how far an operation on a table has come.
type State string

// The states.
const (
	Creating State = "creating"
	Active   State = "active"
	Dropping State = "dropping"
)

// Entry is what the catalogue says of one table. It is not changed once made.
type Entry struct {
	Keyspace string
	Table    string // the logical table's name
	Physical string // the physical table's name, in the same keyspace
	ID       [16]byte
	State    State
	Layout   *shard.Layout

	// Statement is the logical CREATE TABLE, for people who look for what was
	// meant.
	Statement string

	// Owner is the operation that brought the entry to Creating or Dropping, and
	// Started when: after a while another door may complete it or undo it.
	Owner   [16]byte
	Started time.Time
}

func (e *Entry) String() string { return e.Keyspace + "." + e.Table }

// Logical is the table that the application sees: the physical one without the
// hidden column, and with write_sharding among its options. It reports false for
// a table that has not the shape that the layout asks for.
func Logical(t *schema.Table, l *shard.Layout) (*schema.Table, bool) {
	n := len(t.PartitionKey) - 1
	if n < 1 || t.PartitionKey[n].Name != l.Column || t.PartitionKey[n].Type.Kind != value.Int {
		return nil, false
	}
	out := *t
	out.PartitionKey = t.PartitionKey[:n:n]
	out.Columns = maps.Clone(t.Columns)
	delete(out.Columns, l.Column)
	out.Options = maps.Clone(t.Options)
	out.Options[Property] = Shown(l)
	return &out, true
}

// Property is the name of the table option that clients declare a layout with.
const Property = "write_sharding"

// Shown are a layout's options as clients see them: the hidden column is named
// only where it has not its default name.
func Shown(l *shard.Layout) map[string]string {
	m := l.Options()
	if l.Column == shard.DefaultColumn {
		delete(m, "column")
	}
	return m
}

// columns of the table of layouts, in the order of values.
const columns = `physical_name, table_id, state, strategy, "by", hash, shards, "column", generation, statement, owner, started_at`

// values are the serialized values of columns.
func (e *Entry) values() [][]byte {
	o := e.Layout.Options()
	text := func(name string) []byte {
		if s, ok := o[name]; ok {
			return []byte(s)
		}
		return nil
	}
	var id []byte
	if e.ID != ([16]byte{}) {
		id = e.ID[:]
	}
	return [][]byte{
		[]byte(e.Physical), id, []byte(e.State), text("strategy"), text("by"), text("hash"),
		binary.BigEndian.AppendUint32(nil, uint32(e.Layout.N)), []byte(o["column"]),
		binary.BigEndian.AppendUint64(nil, uint64(e.Layout.Generation)), []byte(e.Statement), e.Owner[:], millis(e.Started),
	}
}

func millis(t time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli())) }

// readEntry is the inverse of values.
func readEntry(r Row) (*Entry, error) {
	e := &Entry{
		Keyspace: string(r["keyspace_name"]), Table: string(r["table_name"]), Physical: string(r["physical_name"]),
		State: State(r["state"]), Statement: string(r["statement"]),
	}
	copy(e.ID[:], r["table_id"])
	copy(e.Owner[:], r["owner"])
	if b := r["started_at"]; len(b) == 8 {
		e.Started = time.UnixMilli(int64(binary.BigEndian.Uint64(b)))
	}
	o := map[string]string{"shards": strconv.FormatInt(r.Int("shards"), 10)}
	for _, name := range []string{"strategy", "by", "hash", "column"} {
		if b, ok := r[name]; ok {
			o[name] = string(b)
		}
	}
	var err error
	if e.Layout, err = shard.Parse(o); err != nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: %w", e, err)
	}
	if b := r["generation"]; len(b) == 8 {
		e.Layout.Generation = int64(binary.BigEndian.Uint64(b))
	}
	return e, nil
}
