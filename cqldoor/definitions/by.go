// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// checkBy returns an error if a name in 'by' is not a clustering column of the table.
func checkBy(t *schema.Table, name string) error {
	c := t.Columns[name]
	switch {
	case c == nil:
		return wire.Errorf(wire.CodeConfig, "write_sharding: 'by' names %s, which is not a column of the table; name clustering columns%s",
			request.Identifier(name), those(t))
	case c.Kind == schema.PartitionKey:
		return wire.Errorf(wire.CodeConfig, "write_sharding: 'by' names %s, which is a partition key column: all rows of a partition have the "+
			"same value, so they would all be in one shard; name clustering columns%s", request.Identifier(name), those(t))
	case c.Kind != schema.Clustering:
		clustering := append(slices.Clone(t.Clustering), c)
		return wire.Errorf(wire.CodeConfig, "write_sharding: 'by' names %[1]s, which is not part of the primary key: rows with the same %[2]s that "+
			"come to the same shard would overwrite each other. Make it a clustering column: PRIMARY KEY (%[3]s, %[4]s)",
			request.Identifier(name), names(slices.Concat(t.PartitionKey, t.Clustering), " and "), keyText(t.PartitionKey), names(clustering, ", "))
	}
	return nil
}

// those returns the list of the clustering columns in parentheses, or "" if there are none.
func those(t *schema.Table) string {
	if len(t.Clustering) == 0 {
		return ""
	}
	return " (" + names(t.Clustering, ", ") + ")"
}
