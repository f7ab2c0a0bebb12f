// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// A door that cannot renew its lease may still reach one replica of the catalogue. Before a mover changes a
// plain table, it makes sure that every replica has the entry (Spread). So a door learns from any one
// replica whether such a change has begun (Glance).

// Glance reads all entries from one replica. It misses no entry for which Spread has returned.
func (c *Catalog) Glance(ctx context.Context) ([]*Entry, error) {
	if ok, err := c.tables.exists(ctx, "layouts"); err != nil || !ok {
		return nil, err
	}
	rows, err := c.opts.Session.Query(ctx, wire.One, selectEntries)
	if err != nil {
		return nil, wrap("look at the catalogue", err)
	}
	return readEntries(rows)
}

// Spread makes sure that every replica of the catalogue has the present entry of a table. A read at ALL
// repairs the replicas that differ before it is answered.
func (c *Catalog) Spread(ctx context.Context, keyspace, table string) error {
	const cql = selectEntries + whereKey
	key := [][]byte{[]byte(keyspace), []byte(table)}
	_, err := c.opts.Session.Query(ctx, wire.All, cql, key...)
	if lacks(err) {
		_, err = c.opts.Session.Query(ctx, wire.LocalQuorum, cql, key...) // the store has no level ALL: it chooses the replicas itself
	}
	return wrap("read the catalogue at ALL", err)
}
