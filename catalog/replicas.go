// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// replication returns the replication of keyspace evenkeel; nil: the keyspace does not exist.
func replication(ctx context.Context, s Session) (map[string]string, error) {
	rows, err := s.Query(ctx, wire.One, "SELECT * FROM system_schema.keyspaces WHERE keyspace_name = '"+Keyspace+"'")
	if err != nil || len(rows) == 0 {
		return nil, wrap("read the replication of the catalogue", err)
	}
	all, err := schema.Load(schema.Rows{Keyspaces: rows})
	if err != nil {
		return nil, wrap("read the replication of the catalogue", err)
	}
	return all.Keyspaces[Keyspace].Replication, nil
}

// classOf returns the name of a replication's strategy, without its package.
func classOf(replication map[string]string) string {
	class := replication["class"]
	return class[strings.LastIndexByte(class, '.')+1:]
}

// Spans reports whether keyspace evenkeel has replicas in several data centres, each with a number of its
// own. LOCAL_QUORUM then means another set of replicas in each of them.
func Spans(ctx context.Context, s Session) (bool, error) {
	r, err := replication(ctx, s)
	return classOf(r) == "NetworkTopologyStrategy" && len(r) > 2, err // beside the class
}

// Thin says where keyspace evenkeel has fewer replicas than Found would give it, such as "1 of the 3
// nodes of data centre dc1". With one or two replicas, no door can use sharded tables while one node
// is down. Thin returns nothing if the keyspace does not exist, or if its strategy is not one of
// Cassandra's.
func (c *Catalog) Thin(ctx context.Context) ([]string, error) {
	replication, err := replication(ctx, c.opts.Session)
	if err != nil || replication == nil {
		return nil, err
	}
	nodes, own, err := c.tables.dataCentres(ctx)
	if err != nil {
		return nil, err
	}
	switch classOf(replication) {
	case "SimpleStrategy":
		all := 0
		for _, n := range nodes {
			all += n
		}
		if n, err := strconv.Atoi(replication["replication_factor"]); err == nil && n < min(all, mostReplicas) {
			return []string{fmt.Sprintf("%d of the %d nodes", n, all)}, nil
		}
	case "NetworkTopologyStrategy":
		var thin []string
		for _, dc := range slices.Sorted(maps.Keys(nodes)) {
			n, err := strconv.Atoi(replication[dc])
			if replication[dc] == "" {
				n, err = 0, nil
			}
			// A data centre without a replica is not for doors. But this door is in its own.
			if err == nil && n < min(nodes[dc], mostReplicas) && (n > 0 || dc == own) {
				thin = append(thin, fmt.Sprintf("%d of the %d nodes of data centre %s", n, nodes[dc], dc))
			}
		}
		return thin, nil
	}
	return nil, nil
}
