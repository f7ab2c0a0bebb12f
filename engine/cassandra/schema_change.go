// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"cmp"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/cassandra/system"
)

// changeSchema executes a DDL statement and answers.
func (c *call) changeSchema(p *plan) error {
	change, warnings, err := c.engine.change(p.stmt, p.keyspace, c.env.Now)
	if err != nil {
		return err
	}
	c.warnings = append(c.warnings, warnings...)
	if change == nil {
		c.answer(wire.OpResult, voidBody)
		return nil
	}
	c.buffer = wire.AppendSchemaChange(c.buffer[:0], change)
	c.answer(wire.OpResult, c.buffer)
	return nil
}

// change executes a DDL statement: the new schema is durable before it is used,
// and dropped data are removed after it is.
func (e *Engine) change(stmt syntax.Statement, keyspace string, now int64) (*wire.SchemaChange, []string, error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	before := e.state.Load()
	r, err := ddl.Apply(before.schema, stmt, &ddl.Env{
		Keyspace: keyspace, Now: now,
		DataCenters: map[string]int{e.options.DataCenter: 1},
		TableID:     e.clock.timeuuid,
		Keyspaces:   e.limits != nil,
	})
	if err != nil || r.Change == nil {
		return nil, nil, err
	}
	user := userKeyspaces(r.Schema)
	after, err := newState(e.db, e.limits.keyspaces(), user, before.ids(), before, randomUUID())
	if err != nil {
		return nil, nil, storageError(err)
	}
	gone := missingTables(before, after)
	if err := e.save(after, r.Change.Keyspace, gone); err != nil {
		return nil, nil, storageError(err)
	}
	e.state.Store(after)
	e.plans.renew(after)
	if r.Change.Target == wire.TargetTable {
		e.limits.declared(after.tables[after.schema.Table(r.Change.Keyspace, r.Change.Name)])
	}
	e.events.publish(r.Change)
	if len(gone) > 0 {
		if err := e.commits.drain(); err != nil {
			return nil, nil, storageError(err)
		}
	}
	for _, t := range gone {
		if err := e.dropData(t.ID); err != nil {
			return nil, nil, storageError(err)
		}
	}
	return r.Change, r.Warnings, nil
}

func userKeyspaces(s *schema.Schema) map[string]*schema.Keyspace {
	user := maps.Clone(s.Keyspaces)
	maps.DeleteFunc(user, func(name string, _ *schema.Keyspace) bool { return system.Has(name) })
	return user
}

// missingTables are the tables that are in a and not, by id, in b.
func missingTables(a, b *state) []*schema.Table {
	there := b.ids()
	var gone []*schema.Table
	for t, table := range a.tables {
		if _, ok := there[t.ID]; !ok && table.store != nil {
			gone = append(gone, t)
		}
	}
	slices.SortFunc(gone, func(a, b *schema.Table) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return gone
}

// save makes the new record of one keyspace durable.
func (e *Engine) save(s *state, keyspace string, gone []*schema.Table) error {
	var record []byte
	if ks := s.schema.Keyspaces[keyspace]; ks != nil {
		var err error
		if record, err = encodeKeyspace(ks, s.ids()); err != nil {
			return err
		}
	}
	b := e.db.NewBatch()
	defer b.Release()
	b.SetMeta(metaKeyspace+keyspace, record)
	b.SetMeta(metaVersion, s.version[:])
	for _, t := range gone {
		b.SetMeta(metaDrop+string(t.ID[:]), []byte{1})
	}
	return b.Commit()
}

// truncate executes a TRUNCATE and answers.
func (c *call) truncate(p *plan, stmt *syntax.Truncate) error {
	keyspace := cmp.Or(stmt.Table.Keyspace, p.keyspace)
	if keyspace == "" {
		return wire.Invalidf("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
	}
	s := c.engine.state.Load()
	if s.schema.Keyspaces[keyspace] == nil {
		return wire.Invalidf("keyspace %s does not exist", keyspace)
	}
	t := s.schema.Table(keyspace, stmt.Table.Name)
	if t == nil {
		return wire.Invalidf("table %s does not exist", stmt.Table.Name)
	}
	table := s.tables[t]
	switch {
	case system.Virtual(keyspace):
		return wire.Invalidf("Truncation is not supported by table %s.%s", keyspace, t.Name)
	case table.store == nil:
		return wire.Errorf(wire.CodeUnauthorized, "%s keyspace is not user-modifiable.", keyspace)
	}
	if err := c.engine.commits.drain(); err != nil {
		return storageError(err)
	}
	if err := table.store.Truncate(); err != nil {
		return wire.Errorf(wire.CodeTruncate, "Error during truncate: %v", err)
	}
	c.answer(wire.OpResult, voidBody)
	return nil
}
