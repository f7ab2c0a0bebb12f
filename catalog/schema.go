// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Schema reads keyspaces of the backend's physical schema. A keyspace that does not exist is left
// out.
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
		if out.Keyspaces[name], err = readKeyspace(ctx, s, row, ""); err != nil {
			return nil, fmt.Errorf("read the schema of keyspace %s: %w", name, err)
		}
	}
	return out, nil
}

// keyspaceRows reads the rows of all keyspaces in one request. Keyspaces of stale entries may not
// exist any more; they are not read further.
func keyspaceRows(ctx context.Context, s Session, keyspaces []string) ([]Row, error) {
	switch len(keyspaces) {
	case 0:
		return nil, nil
	case 1:
		return s.Query(ctx, wire.One, "SELECT * FROM system_schema.keyspaces WHERE keyspace_name = ?", []byte(keyspaces[0]))
	}
	return s.Query(ctx, wire.One, "SELECT * FROM system_schema.keyspaces")
}

// readTable reads one table of the backend's physical schema, or nil if there is none. It does not read the
// other tables of the keyspace, which can have tens of thousands of columns.
func readTable(ctx context.Context, s Session, keyspace, name string) (*schema.Table, error) {
	rows, err := keyspaceRows(ctx, s, []string{keyspace})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ks, err := readKeyspace(ctx, s, rows[0], name)
	if err != nil {
		return nil, err
	}
	return ks.Tables[name], nil
}

// readKeyspace reads a keyspace by its row. If only is not "", it has no table but that one.
func readKeyspace(ctx context.Context, s Session, row Row, only string) (*schema.Keyspace, error) {
	name := row["keyspace_name"]
	rows := schema.Rows{Keyspaces: []Row{row}}
	for _, part := range []struct {
		table string
		into  *[]Row
	}{{"types", &rows.Types}, {"tables", &rows.Tables}, {"columns", &rows.Columns}, {"dropped_columns", &rows.DroppedColumns}, {"indexes", &rows.Indexes}} {
		text, values := "SELECT * FROM system_schema."+part.table+" WHERE keyspace_name = ?", [][]byte{name}
		if only != "" && part.table != "types" {
			text, values = text+" AND table_name = ?", append(values, []byte(only))
		}
		var err error
		if *part.into, err = s.Query(ctx, wire.One, text, values...); err != nil {
			return nil, err
		}
	}
	loaded, err := schema.Load(rows)
	if err != nil {
		return nil, err
	}
	return loaded.Keyspaces[string(name)], nil
}
