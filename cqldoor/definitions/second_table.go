// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// While a plain table is in use, the door shards it by a change between two physical tables: the plain
// table, and a second table with another name. This file starts such changes and handles the two names.
// Package mover creates and drops the tables.

// alterPlain executes ALTER TABLE … WITH write_sharding on a plain table. It adopts the table, starts a change,
// or replies with the outlook of a change or with the status. 'rollback' ends an adoption that is under way. For
// any other order, alterPlain returns an error, because no change is under way.
func (c *change) alterPlain(ctx context.Context, stmt *syntax.AlterTable) error {
	declared, err := shardingOf(stmt.With)
	if err != nil {
		return err
	}
	if declared.names(optionAdopt) {
		return (&adopting{c, stmt.Name.Name, nil, declared}).adopt(ctx, stmt)
	}
	s, err := c.Catalog.Schema(ctx, c.keyspace)
	if err != nil {
		return errCatalog(err)
	}
	table := s.Table(c.keyspace, stmt.Name.Name)
	if table == nil || table.View != nil {
		return wire.Invalidf("Table '%s.%s' doesn't exist", c.keyspace, stmt.Name.Name)
	}
	if err := c.mayAlter(ctx, &tables.Sharded{Entry: mover.Plain(table), Physical: table}); err != nil {
		return err
	}
	if len(stmt.With) > 1 {
		return wire.Invalidf("write_sharding: change the layout of a table by itself, and its other options in another statement")
	}
	order := declared[optionChange]
	delete(declared, optionChange)
	if order != "" && order != changePlan {
		if len(declared) > 0 {
			return wire.Invalidf("write_sharding: 'change': '%s' stands alone", order)
		}
		name := syntax.Name{Keyspace: table.Keyspace, Name: table.Name}
		if order == string(mover.Rollback) && c.Movers.adoptions.stop(name) {
			c.void()
			return nil
		}
		if order != changeStatus {
			return wire.Invalidf("table %s.%s: no change of its layout is under way", table.Keyspace, table.Name)
		}
		if !c.View.Load().Present {
			status := reshard.Status{Table: table.Keyspace + "." + table.Name, Phase: reshard.NoPhase}
			c.Movers.adoptions.status(name, &status, c.req.Username == "")
			return c.json(status)
		}
		e, err := c.Catalog.Entry(ctx, table.Keyspace, table.Name)
		if err != nil {
			return errCatalog(err)
		}
		if e == nil {
			e = mover.Plain(table)
		}
		status, err := c.Movers.Mover.Status(ctx, e)
		if err != nil {
			return err
		}
		c.Movers.adoptions.status(name, &status, c.req.Username == "")
		return c.json(status)
	}
	if len(declared) == 0 {
		return wire.Invalidf("write_sharding: table %s.%s is plain already", table.Keyspace, table.Name)
	}
	if err := declared.fitsPlain(mover.Plain(table)); err != nil {
		return err
	}
	asked, warnings, err := declared.layout(table)
	if err != nil {
		return err
	}
	if err := buckets.CheckTableTTL(table, asked); err != nil {
		return err
	}
	against, err := c.againstSecond(ctx)
	if err != nil {
		return err
	}
	if c.Opts.Eras == nil {
		against = append(against, "this router does not know what its doors have forwarded")
	}
	if order == changePlan {
		o, err := c.Movers.Mover.OutlookOfSecond(ctx, mover.Plain(table), s.Keyspaces[c.keyspace], table, asked, against...)
		if err != nil {
			return err
		}
		return c.json(o)
	}
	if len(against) > 0 {
		return wire.Invalidf("write_sharding: table %s.%s cannot be sharded while it is in use: %s", table.Keyspace, table.Name, strings.Join(against, "; "))
	}
	if _, err := c.Movers.Mover.StartPlain(ctx, s.Keyspaces[c.keyspace], table, asked, c.Opts.UUID()); err != nil {
		return err
	}
	warnings = append(warnings, advice(buckets.DefaultTTL(table), table, asked)...)
	return (&request.Answer{Warnings: warnings}).Reply(c.req, wire.AppendVoid(nil))
}

// alterSecond starts a change of a table to a second physical table, or replies with the outlook of the change.
// The table has an entry in the catalogue. Either it is sharded and becomes plain (declared is empty), or it became
// plain earlier and is sharded again.
func (c *relayout) alterSecond(ctx context.Context) error {
	asked, warnings := shard.Plain(), []string(nil)
	if len(c.declared) > 0 {
		if err := c.declared.fitsPlain(c.entry); err != nil {
			return err
		}
		var err error
		if asked, warnings, err = c.declared.layout(c.t.Logical); err != nil {
			return err
		}
	}
	if c.entry.Layout.Plain() && asked.Plain() {
		return wire.Invalidf("write_sharding: table %s is plain already", c.entry)
	}
	return c.toSecond(ctx, asked, warnings)
}

// toSecond starts a change to a layout that needs a second physical table, or replies with the outlook of the
// change.
func (c *relayout) toSecond(ctx context.Context, asked *shard.Layout, warnings []string) error {
	s, err := c.Catalog.Schema(ctx, c.entry.Keyspace)
	if err != nil {
		return errCatalog(err)
	}
	ks := s.Keyspaces[c.entry.Keyspace]
	physical := s.Table(c.entry.Keyspace, c.entry.Physical)
	if physical == nil || physical.ID != c.entry.PhysicalID() {
		return wire.Invalidf("table %s does not exist", c.entry)
	}
	if err := buckets.CheckTableTTL(physical, asked); err != nil {
		return err
	}
	against, err := c.againstSecond(ctx)
	if err != nil {
		return err
	}
	if c.order == changePlan {
		o, err := c.Movers.Mover.OutlookOfSecond(ctx, c.entry, ks, physical, asked, against...)
		if err != nil {
			return err
		}
		return c.json(o)
	}
	if len(against) > 0 {
		return wire.Invalidf("write_sharding: the layout of table %s cannot be changed while it is in use: %s", c.entry, strings.Join(against, "; "))
	}
	if _, err := c.Movers.Mover.StartSecond(ctx, c.entry, ks, physical, asked, c.Opts.UUID()); err != nil {
		return err
	}
	if !asked.Plain() {
		warnings = append(warnings, advice(buckets.DefaultTTL(physical), physical, asked)...)
	}
	return (&request.Answer{Warnings: warnings}).Reply(c.req, wire.AppendVoid(nil))
}

// noCatalogue is the reason against a change if there is no catalogue: then doors cannot tell each other of it.
const noCatalogue = "there is no keyspace " + catalog.Keyspace + " yet, in which doors find each other; 'evenkeel serve' makes it, and so does the first sharded table"

// fitsPlain returns an error if the declaration has an option with which a plain table cannot be sharded.
func (d declaration) fitsPlain(e *catalog.Entry) error {
	for _, name := range []string{optionKey, optionFrom, optionRowsFrom, "base", "epochs", "row_epochs"} {
		if d.names(name) {
			return wire.Invalidf("write_sharding: table %s is plain; shard it first, and give it '%s' then", e, name)
		}
	}
	return nil
}

// againstSecond returns the reasons against every change between two physical tables. It returns an error if the
// catalogue cannot be read.
func (c *change) againstSecond(ctx context.Context) (why []string, err error) {
	if c.req.Username != "" {
		why = append(why, "the store has accounts, and keeps their rights by the physical tables' names: the rights on this table would not be rights on the one that takes its place")
	}
	if c.Doors.Member == nil {
		return why, nil
	}
	if !c.View.Load().Present {
		return append(why, noCatalogue), nil
	}
	if err := c.Doors.Member.Established(ctx); err != nil {
		return nil, errCatalog(err)
	}
	if err := c.Doors.Member.Knows(ctx, append(reshard.Steps(), fleet.StepForwarded)...); err != nil {
		why = append(why, err.Error())
	}
	return why, nil
}

// logicalResult returns the body of a schema statement's RESULT with the physical table's name
// replaced by the logical one.
func logicalResult(body []byte, physical, logical string) []byte {
	if physical == logical || wire.KindOf(body) != wire.ResultSchemaChange {
		return body
	}
	s, err := wire.ParseSchemaChange(body)
	if err != nil || s.Name != physical {
		return body
	}
	s.Name = logical
	return wire.AppendSchemaChange(nil, &s)
}

// Truncate empties the physical table of a table that is sharded or was sharded. If a change of the layout begins
// before the store answers, rows may be at places that the store has not emptied. So when the store has answered,
// Truncate checks that this door knows of no such change. Then this door has not acknowledged a change, so no row
// has been copied. If the check fails, Truncate returns errTruncateOvertaken.
func (x *Definer) Truncate(ctx context.Context, req *cqldoor.Request, n syntax.Name) error {
	v := x.View.Load()
	t := v.Tables[n.Keyspace][n.Name]
	if t == nil || req.Op == wire.OpPrepare {
		return wire.Invalidf("evenkeel: TRUNCATE of table %s.%s cannot be prepared; execute it as it is", n.Keyspace, n.Name)
	}
	if err := refuseTruncate(v, n); err != nil {
		return err
	}
	text := syntax.AppendName([]byte("TRUNCATE "), syntax.Name{Keyspace: n.Keyspace, Name: t.Entry.Physical})
	q := wire.Query{Text: text, Params: wire.Params{Consistency: wire.One}}
	a, err := request.AskStore(ctx, req, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, req.Version, &q)})
	if !x.unchanged(ctx, t.Entry) {
		return errTruncateOvertaken
	}
	if err != nil {
		return v.LogicalError(err)
	}
	return a.Reply(req, a.Body)
}

// errTruncateOvertaken is the answer to a TRUNCATE during which a change of the layout began.
var errTruncateOvertaken = &wire.Error{Code: wire.CodeWriteTimeout, Consistency: wire.LocalQuorum, Required: 1, WriteType: wire.WriteSimple,
	Message: "evenkeel: the layout of the table began to change, or this door could not ask the store whether it did, while the TRUNCATE was under way; " +
		"it may have been applied, or to a part of the rows, or not; send it again when the change has ended"}

// unchanged reports whether a table still has the layout of an entry, and no change of it is under way. If the
// door's lease has ended, unchanged renews the lease first. It returns false if the door cannot renew it.
func (x *Definer) unchanged(ctx context.Context, e *catalog.Entry) bool {
	if x.Doors.Lapsed() && x.Doors.Renew(ctx) != nil {
		return false
	}
	now := x.View.Load().Tables[e.Keyspace][e.Table]
	return now != nil && now.Entry.ID == e.ID && now.Entry.Layout.Generation == e.Layout.Generation && now.Entry.Change == nil
}
