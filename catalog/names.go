// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// Names holds the names of all tables and views of the backend, by keyspace.
type Names map[string]map[string]bool

// Has says whether there is such a table or view.
func (n Names) Has(keyspace, name string) bool { return n[keyspace][name] }

// Names reads the names of all tables and views.
func (c *Catalog) Names(ctx context.Context) (Names, error) {
	n := Names{}
	for column, cql := range map[string]string{
		"table_name": "SELECT keyspace_name, table_name FROM system_schema.tables",
		"view_name":  "SELECT keyspace_name, view_name FROM system_schema.views",
	} {
		rows, err := c.opts.Session.Query(ctx, wire.One, cql)
		if err != nil {
			return nil, wrap("read the names of the tables", err)
		}
		for _, r := range rows {
			keyspace := string(r["keyspace_name"])
			if n[keyspace] == nil {
				n[keyspace] = map[string]bool{}
			}
			n[keyspace][string(r[column])] = true
		}
	}
	return n, nil
}

// Exists says whether the backend has such a table or view now.
func (c *Catalog) Exists(ctx context.Context, keyspace, name string) (bool, error) {
	for _, cql := range []string{
		"SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?",
		"SELECT view_name FROM system_schema.views WHERE keyspace_name = ? AND view_name = ?",
	} {
		rows, err := c.opts.Session.Query(ctx, wire.One, cql, []byte(keyspace), []byte(name))
		if err != nil || len(rows) > 0 {
			return len(rows) > 0, wrap("look for the table "+keyspace+"."+name, err)
		}
	}
	return false, nil
}

// Noted says whether the catalogue has an entry of that name now, in any state.
func (c *Catalog) Noted(ctx context.Context, keyspace, name string) (bool, error) {
	if there, err := c.tables.exists(ctx, "layouts"); err != nil || !there {
		return false, err
	}
	rows, err := c.opts.Session.Query(ctx, wire.LocalQuorum, "SELECT state FROM evenkeel.layouts"+whereKey, []byte(keyspace), []byte(name))
	if refused := (*wire.Error)(nil); errors.As(err, &refused) && refused.Code == wire.CodeInvalid {
		return false, nil // the catalogue is just being made
	}
	return len(rows) > 0 && rows[0]["state"] != nil, wrap("look for the entry of "+keyspace+"."+name, err)
}

// Version returns the version of the backend's schema. It changes with each change of the schema.
func (c *Catalog) Version(ctx context.Context) ([16]byte, error) {
	rows, err := c.opts.Session.Query(ctx, wire.One, "SELECT schema_version FROM system.local")
	if err != nil || len(rows) == 0 || len(rows[0]["schema_version"]) != 16 {
		return [16]byte{}, wrap("read the version of the schema", err)
	}
	return [16]byte(rows[0]["schema_version"]), nil
}
