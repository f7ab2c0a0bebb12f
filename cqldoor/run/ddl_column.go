// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/shard"
)

// nameColumn gives the hidden column another name if the table has a column of the layout's name,
// and returns a warning that says so. A name that the owner declared is refused instead.
func (d declaration) nameColumn(t *schema.Table, l *shard.Layout) ([]string, error) {
	taken := l.Column
	if t.Columns[taken] == nil {
		return nil, nil
	}
	name := free(t, taken)
	if d.names("column") {
		return nil, wire.Errorf(wire.CodeConfig, "write_sharding: the table has a column %s, a name that write_sharding needs for a column "+
			"of its own; choose another for that one: 'column': '%s'", identifier(taken), identifier(name))
	}
	l.Column = name
	return []string{fmt.Sprintf("write_sharding: the table has a column %s, so that write_sharding's own, in the stored table, is called %s ('column': '%[2]s')",
		identifier(taken), identifier(name))}, nil
}

// free returns a column name that the table does not have, similar to the taken one.
func free(t *schema.Table, taken string) string {
	for name := taken + "_no"; ; name += "_" {
		if t.Columns[name] == nil {
			return name
		}
	}
}
