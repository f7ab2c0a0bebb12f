// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/shard"
)

// nameColumn gives the hidden column another name in the layout if the table already has a column with its name.
// Then it returns a warning. If the owner declared the name, nameColumn returns an error instead.
func (d declaration) nameColumn(t *schema.Table, l *shard.Layout) ([]string, error) {
	taken := l.Column
	if t.Columns[taken] == nil {
		return nil, nil
	}
	name := free(t, taken)
	if d.names("column") {
		return nil, wire.Errorf(wire.CodeConfig, "write_sharding: the table has a column %s, a name that write_sharding needs for a column "+
			"of its own; choose another for that one: 'column': '%s'", request.Identifier(taken), request.Identifier(name))
	}
	l.Column = name
	return []string{fmt.Sprintf("write_sharding: the table has a column %s, so that write_sharding's own, in the stored table, is called %s ('column': '%[2]s')",
		request.Identifier(taken), request.Identifier(name))}, nil
}

// free returns a name similar to taken that no column of the table has.
func free(t *schema.Table, taken string) string {
	for name := taken + "_no"; ; name += "_" {
		if t.Columns[name] == nil {
			return name
		}
	}
}

// refuseChange returns an error if an ALTER TABLE uses the name of the hidden column, renames a column in 'by', or
// adds or drops a mask.
func refuseChange(stmt *syntax.AlterTable, l *shard.Layout) error {
	if stmt.Mask != nil || stmt.DropMask {
		return errMask
	}
	for _, c := range stmt.Add {
		switch {
		case c.Name == l.Column:
			return nameTaken(c.Name)
		case c.Mask != nil:
			return errMask
		}
	}
	for _, r := range stmt.Rename {
		if r.To == l.Column {
			return nameTaken(r.To)
		}
		if slices.Contains(l.By, r.From) {
			return wire.Invalidf("write_sharding: column %s cannot be renamed: the table's 'by' names it, and the shards of its rows depend on that", r.From)
		}
	}
	return nil
}

// nameTaken returns the error for a column with the name of the hidden column.
func nameTaken(name string) error {
	return wire.Invalidf("write_sharding: the name %s is taken by write_sharding itself for this table; choose another name for the column, "+
		"or create the table with another one for write_sharding's: 'column': '…'", request.Identifier(name))
}
