// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

func (c *change) drop(stmt *syntax.Drop) error {
	switch stmt.Kind {
	case syntax.KindKeyspace:
		return c.dropKeyspace(stmt)
	case syntax.KindTable:
		return c.dropTable(stmt)
	case syntax.KindType:
		return c.dropType(stmt)
	case syntax.KindIndex:
		return c.dropAbsent(stmt, "Index '%s.%s' doesn't exist'")
	case syntax.KindView:
		return c.dropAbsent(stmt, "Materialized view '%s.%s' doesn't exist")
	}
	return invalid("DROP %s is not supported by the embedded engine", stmt.Kind)
}

func (c *change) dropKeyspace(stmt *syntax.Drop) error {
	name := stmt.Name.Name
	if err := permit(name, "DROP", "<keyspace "+name+">"); err != nil {
		return err
	}
	if c.old.Keyspaces[name] == nil {
		if stmt.IfExists {
			return nil
		}
		return noKeyspace(name)
	}
	c.put(name, nil, wire.SchemaChange{Change: wire.ChangeDropped, Target: wire.TargetKeyspace})
	return nil
}

func (c *change) dropTable(stmt *syntax.Drop) error {
	keyspace, err := c.keyspaceOf(stmt.Name)
	if err != nil {
		return err
	}
	name := stmt.Name.Name
	if err := permit(keyspace, "DROP", "<table "+keyspace+"."+name+">"); err != nil {
		return err
	}
	if c.old.Table(keyspace, name) == nil {
		if stmt.IfExists {
			return nil
		}
		return invalid("Table '%s.%s' doesn't exist", keyspace, name)
	}
	c.put(keyspace, withTable(c.old.Keyspaces[keyspace], name, nil), wire.SchemaChange{Change: wire.ChangeDropped, Target: wire.TargetTable, Name: name})
	return nil
}

// dropAbsent handles DROP of an index or a view. They cannot exist, because none can be created.
func (c *change) dropAbsent(stmt *syntax.Drop, absent string) error {
	keyspace, err := c.keyspaceOf(stmt.Name)
	if err != nil {
		return err
	}
	if stmt.IfExists {
		return nil
	}
	return invalid(absent, keyspace, stmt.Name.Name)
}
