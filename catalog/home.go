// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// home creates the catalogue's own keyspace and tables. Several doors may do so at the same time.
type home struct{ nodes }

// founded says whether the keyspace exists.
func (h home) founded(ctx context.Context) (bool, error) {
	rows, err := h.Query(ctx, wire.One, "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '"+Keyspace+"'")
	return len(rows) > 0, wrap("look for the catalogue", err)
}

// has says whether one of the tables exists.
func (h home) has(ctx context.Context, table string) (bool, error) {
	rows, err := h.Query(ctx, wire.One, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '"+Keyspace+"' AND table_name = '"+table+"'")
	return len(rows) > 0, wrap("look for the catalogue's table "+table, err)
}

// layouts creates the table of layouts, and the keyspace with the replication of another one,
// where they do not exist, and waits until the table can be read: another door may be creating it.
func (h home) layouts(ctx context.Context, like *schema.Keyspace) error {
	ok, err := h.has(ctx, "layouts")
	if err == nil && !ok {
		err = h.create(ctx, "the catalogue's table", like, createLayouts)
	}
	if err != nil {
		return err
	}
	return h.ready(ctx, func() error {
		_, err := h.Query(ctx, wire.LocalQuorum, "SELECT state FROM evenkeel.layouts WHERE keyspace_name = '' AND table_name = ''")
		return wrap("read the catalogue", err)
	})
}

// rules creates the table of shard rules if it does not exist, and the keyspace.
func (h home) rules(ctx context.Context) error {
	if err := h.create(ctx, "the table of the shard rules", nil, createRules); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	return h.ready(within, func() error {
		_, err := h.Query(ctx, wire.LocalQuorum, readRules)
		return wrap("read the shard rules", err)
	})
}

// buckets creates the tables of the directory of buckets if they do not exist.
func (h home) buckets(ctx context.Context) error {
	if err := h.tables(ctx, "the directory of buckets", bucketTables...); err != nil {
		return err
	}
	b := NewBuckets(h.Session)
	return h.ready(ctx, func() error {
		if _, err := b.List(ctx, [16]byte{}, []byte{0}, 0, 0, false, 1); err != nil {
			return err
		}
		_, err := b.Deletions(ctx, [16]byte{}, []byte{0})
		return err
	})
}

// rollovers creates the tables of the directory of rollovers if they do not exist.
func (h home) rollovers(ctx context.Context) error {
	if err := h.tables(ctx, "the directory of rollovers", rolloverTables...); err != nil {
		return err
	}
	d := NewRollovers(h.Session, [16]byte{})
	return h.ready(ctx, func() error {
		if _, err := d.Read(ctx, [16]byte{}, 0); err != nil {
			return err
		}
		_, err := d.Counts(ctx, [16]byte{}, []byte{0})
		return err
	})
}

// create creates a table, and the keyspace if there is none: with the replication of another one,
// or, if like is nil, with replicas in all data centres.
func (h home) create(ctx context.Context, what string, like *schema.Keyspace, table string) error {
	// If an administrator has created the keyspace, the door's account may lack the right to
	// create keyspaces. Cassandra would check that right even with IF NOT EXISTS.
	ok, err := h.founded(ctx)
	if err == nil && !ok && like == nil {
		like, err = h.everywhere(ctx)
	}
	if err == nil && !ok {
		err = h.found(ctx, like)
	}
	if err != nil {
		return err
	}
	h.agree(ctx) // only some nodes may know the keyspace
	return h.tables(ctx, what, table)
}

// tables executes statements that create tables.
func (h home) tables(ctx context.Context, what string, statements ...string) error {
	for _, cql := range statements {
		if _, err := h.Query(ctx, wire.LocalQuorum, cql); err != nil {
			return wrap("create "+what, err)
		}
		h.agree(ctx)
	}
	return nil
}

// found creates the keyspace with the replication of another one.
func (h home) found(ctx context.Context, like *schema.Keyspace) error {
	var replication []byte
	for i, k := range slices.Sorted(maps.Keys(like.Replication)) {
		if i > 0 {
			replication = append(replication, ", "...)
		}
		replication = append(syntax.AppendString(replication, k), ": "...)
		replication = syntax.AppendString(replication, like.Replication[k])
	}
	_, err := h.Query(ctx, wire.LocalQuorum, "CREATE KEYSPACE IF NOT EXISTS evenkeel WITH replication = {"+string(replication)+"}")
	if err != nil {
		return wrap("create the catalogue's keyspace with the replication of keyspace "+like.Name, err)
	}
	return nil
}

// mostReplicas is how many replicas the catalogue gets in a data centre if no keyspace of a
// client gives a number.
const mostReplicas = 3

// everywhere returns a keyspace with replicas in all data centres of the store.
func (h home) everywhere(ctx context.Context) (*schema.Keyspace, error) {
	nodes := map[string]int{}
	for _, cql := range []string{"SELECT data_center FROM system.local", "SELECT data_center FROM system.peers"} {
		rows, err := h.Query(ctx, wire.One, cql)
		if err != nil {
			return nil, wrap("read the data centres", err)
		}
		for _, r := range rows {
			if dc := string(r["data_center"]); dc != "" {
				nodes[dc]++
			}
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("create the catalogue's keyspace: the store names no data centre; create keyspace %s with the replication that suits you", Keyspace)
	}
	like := &schema.Keyspace{Name: "of " + strconv.Itoa(len(nodes)) + " data centres", Replication: map[string]string{"class": "NetworkTopologyStrategy"}}
	for dc, n := range nodes {
		like.Replication[dc] = strconv.Itoa(min(n, mostReplicas))
	}
	return like, nil
}
