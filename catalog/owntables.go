// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// ownTables creates keyspace evenkeel and the tables that doors keep in it. Several doors may create
// them at the same time.
type ownTables struct{ nodes }

// keyspaceExists reports whether keyspace evenkeel exists.
func (o ownTables) keyspaceExists(ctx context.Context) (bool, error) {
	rows, err := o.Query(ctx, wire.One, "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '"+Keyspace+"'")
	return len(rows) > 0, wrap("look for the catalogue", err)
}

// exists reports whether keyspace evenkeel has the table.
func (o ownTables) exists(ctx context.Context, table string) (bool, error) {
	rows, err := o.Query(ctx, wire.One, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '"+Keyspace+"' AND table_name = '"+table+"'")
	return len(rows) > 0, wrap("look for the catalogue's table "+table, err)
}

// ensureLayouts creates the table of layouts if it does not exist. If there is no keyspace evenkeel
// either, ensureLayouts creates it with the replication of keyspace like (nil: see replicateEverywhere).
// It returns when the table can be read, also if another door is creating it.
func (o ownTables) ensureLayouts(ctx context.Context, like *schema.Keyspace) error {
	exists, err := o.exists(ctx, "layouts")
	if err != nil {
		return err
	}
	if !exists {
		if err := o.ensureKeyspace(ctx, like); err != nil {
			return err
		}
		if err := o.create(ctx, "the catalogue's table", createLayouts); err != nil {
			return err
		}
	}
	return o.ready(ctx, func() error {
		_, err := o.Query(ctx, wire.LocalQuorum, "SELECT state FROM evenkeel.layouts WHERE keyspace_name = '' AND table_name = ''")
		return wrap("read the catalogue", err)
	})
}

// ensureRules creates the table of shard rules, and keyspace evenkeel, if they do not exist. It returns
// when the table can be read.
func (o ownTables) ensureRules(ctx context.Context) error {
	if err := o.ensureKeyspace(ctx, nil); err != nil {
		return err
	}
	if err := o.create(ctx, "the table of the shard rules", createRules); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	return o.ready(within, func() error {
		_, err := o.Query(ctx, wire.LocalQuorum, readRules)
		return wrap("read the shard rules", err)
	})
}

// ensureBuckets creates the tables of the directory of buckets if they do not exist. It returns when
// they can be read.
func (o ownTables) ensureBuckets(ctx context.Context) error {
	if err := o.create(ctx, "the directory of buckets", bucketTables...); err != nil {
		return err
	}
	b := NewBuckets(o.Session)
	return o.ready(ctx, func() error {
		if _, err := b.List(ctx, [16]byte{}, []byte{0}, 0, 0, false, 1); err != nil {
			return err
		}
		_, err := b.Deletions(ctx, [16]byte{}, []byte{0})
		return err
	})
}

// ensureRollovers creates the tables of the directory of rollovers if they do not exist. It returns
// when they can be read.
func (o ownTables) ensureRollovers(ctx context.Context) error {
	if err := o.create(ctx, "the directory of rollovers", rolloverTables...); err != nil {
		return err
	}
	d := NewRollovers(o.Session, [16]byte{})
	return o.ready(ctx, func() error {
		if _, err := d.Read(ctx, [16]byte{}, 0); err != nil {
			return err
		}
		_, err := d.Counts(ctx, [16]byte{}, []byte{0})
		return err
	})
}

// create executes CREATE TABLE statements. After each one it waits until the nodes agree on the schema.
// what names the tables in an error.
func (o ownTables) create(ctx context.Context, what string, statements ...string) error {
	for _, cql := range statements {
		if err := CreateTable(ctx, o.Session, cql); err != nil {
			return wrap("create "+what, err)
		}
		o.agree(ctx)
	}
	return nil
}

// CreateTable executes a CREATE TABLE for one of the doors' own tables. It sets speculative_retry to
// 'ALWAYS': each read then asks one replica more than it needs. Without this, a read can wait for a
// killed node until the other nodes notice that it is down, and a door can lose its lease. If the store
// refuses the option, CreateTable creates the table without it.
func CreateTable(ctx context.Context, s Session, cql string) error {
	option := " WITH speculative_retry = 'ALWAYS'"
	if strings.Contains(cql, ") WITH ") {
		option = strings.Replace(option, "WITH", "AND", 1)
	}
	_, err := s.Query(ctx, wire.LocalQuorum, cql+option)
	if definite(err) {
		_, err = s.Query(ctx, wire.LocalQuorum, cql)
	}
	return err
}

// ensureKeyspace creates keyspace evenkeel if it does not exist, with the replication of keyspace like
// (nil: see replicateEverywhere). It returns when the nodes know the keyspace.
func (o ownTables) ensureKeyspace(ctx context.Context, like *schema.Keyspace) error {
	// CREATE KEYSPACE IF NOT EXISTS is not enough: Cassandra checks the right to create keyspaces
	// even if the keyspace exists. The door's account may lack that right where an administrator has
	// created the keyspace.
	exists, err := o.keyspaceExists(ctx)
	if err != nil {
		return err
	}
	if !exists {
		if like == nil {
			if like, err = o.replicateEverywhere(ctx); err != nil {
				return err
			}
		}
		if err := o.createKeyspace(ctx, like); err != nil {
			return err
		}
	}
	o.agree(ctx)
	return nil
}

// createKeyspace creates keyspace evenkeel with the replication of keyspace like.
func (o ownTables) createKeyspace(ctx context.Context, like *schema.Keyspace) error {
	var replication []byte
	for i, k := range slices.Sorted(maps.Keys(like.Replication)) {
		if i > 0 {
			replication = append(replication, ", "...)
		}
		replication = append(syntax.AppendString(replication, k), ": "...)
		replication = syntax.AppendString(replication, like.Replication[k])
	}
	_, err := o.Query(ctx, wire.LocalQuorum, "CREATE KEYSPACE IF NOT EXISTS evenkeel WITH replication = {"+string(replication)+"}")
	return wrap("create the catalogue's keyspace with the replication of keyspace "+like.Name, err)
}

// mostReplicas is the most replicas that replicateEverywhere asks for in a data centre.
const mostReplicas = 3

// replicateEverywhere returns a keyspace that is replicated to every data centre: to mostReplicas
// nodes, or to all nodes where there are fewer.
func (o ownTables) replicateEverywhere(ctx context.Context) (*schema.Keyspace, error) {
	nodes, _, err := o.dataCentres(ctx)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("create the catalogue's keyspace: the store names no data centre; create keyspace %s with the replication that suits you", Keyspace)
	}
	k := &schema.Keyspace{Name: "of " + strconv.Itoa(len(nodes)) + " data centres", Replication: map[string]string{"class": "NetworkTopologyStrategy"}}
	for dc, n := range nodes {
		k.Replication[dc] = strconv.Itoa(min(n, mostReplicas))
	}
	return k, nil
}

// dataCentres returns the number of nodes of each data centre, and the one of a node that the door
// is connected to.
func (o ownTables) dataCentres(ctx context.Context) (nodes map[string]int, own string, err error) {
	nodes = map[string]int{}
	for _, cql := range []string{"SELECT data_center FROM system.local", "SELECT data_center FROM system.peers"} {
		rows, err := o.Query(ctx, wire.One, cql)
		if err != nil {
			return nil, "", wrap("read the data centres", err)
		}
		for _, r := range rows {
			if dc := string(r["data_center"]); dc != "" {
				nodes[dc]++
				own = cmp.Or(own, dc) // the first row is of system.local
			}
		}
	}
	return nodes, own, nil
}
