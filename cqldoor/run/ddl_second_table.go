// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	carrier "github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// A plain table is sharded while it is in use by a change between two physical tables: the plain
// one and a second one with another name. This file holds the door's work on the names. Package
// mover makes and drops the tables.

// alterPlain executes ALTER TABLE … WITH write_sharding on a plain table. It starts a change, or
// replies with the outlook of one, or replies that no change is under way.
func (c *change) alterPlain(ctx context.Context, stmt *syntax.AlterTable) error {
	declared, err := shardingOf(stmt.With)
	if err != nil {
		return err
	}
	if declared.names(optionAdopt) {
		return (&adopting{c, stmt.Name.Name, nil, declared}).adopt(ctx, stmt)
	}
	s, err := c.catalog.Schema(ctx, c.keyspace)
	if err != nil {
		return errCatalog(err)
	}
	table := s.Table(c.keyspace, stmt.Name.Name)
	if table == nil || table.View != nil {
		return wire.Invalidf("Table '%s.%s' doesn't exist", c.keyspace, stmt.Name.Name)
	}
	if err := c.mayAlter(ctx, &sharded{entry: carrier.Plain(table), physical: table}); err != nil {
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
		if order == string(carrier.Rollback) && c.movers.adoptions.stop(name) {
			c.void()
			return nil
		}
		if order != changeStatus {
			return wire.Invalidf("table %s.%s: no change of its layout is under way", table.Keyspace, table.Name)
		}
		if !c.view.Load().present {
			status := reshard.Status{Table: table.Keyspace + "." + table.Name, Phase: reshard.NoPhase}
			c.movers.adoptions.status(name, &status, c.req.Username == "")
			return c.json(status)
		}
		e, err := c.catalog.Entry(ctx, table.Keyspace, table.Name)
		if err != nil {
			return errCatalog(err)
		}
		if e == nil {
			e = carrier.Plain(table)
		}
		status, err := c.movers.mover.Status(ctx, e)
		if err != nil {
			return err
		}
		c.movers.adoptions.status(name, &status, c.req.Username == "")
		return c.json(status)
	}
	if len(declared) == 0 {
		return wire.Invalidf("write_sharding: table %s.%s is plain already", table.Keyspace, table.Name)
	}
	if err := declared.fitsPlain(carrier.Plain(table)); err != nil {
		return err
	}
	asked, warnings, err := declared.layout(table)
	if err != nil {
		return err
	}
	if err := keepsTTL(table, asked); err != nil {
		return err
	}
	against, err := c.againstSecond(ctx)
	if err != nil {
		return err
	}
	if c.opts.Eras == nil {
		against = append(against, "this router does not know what its doors have forwarded")
	}
	if order == changePlan {
		o, err := c.movers.mover.OutlookOfSecond(ctx, carrier.Plain(table), s.Keyspaces[c.keyspace], table, asked, against...)
		if err != nil {
			return err
		}
		return c.json(o)
	}
	if len(against) > 0 {
		return wire.Invalidf("write_sharding: table %s.%s cannot be sharded while it is in use: %s", table.Keyspace, table.Name, strings.Join(against, "; "))
	}
	if _, err := c.movers.mover.StartPlain(ctx, s.Keyspaces[c.keyspace], table, asked, c.opts.UUID()); err != nil {
		return err
	}
	warnings = append(warnings, advice(defaultTTL(table), table, asked)...)
	return (&answer{warnings: warnings}).reply(c.req, wire.AppendVoid(nil))
}

// alterSecond starts a change of a table with an entry to a second physical table, or replies with
// the outlook of one. The table is sharded and becomes plain (declared is empty), or it became plain
// once and is sharded again.
func (c *relayout) alterSecond(ctx context.Context) error {
	asked, warnings := shard.Plain(), []string(nil)
	if len(c.declared) > 0 {
		if err := c.declared.fitsPlain(c.entry); err != nil {
			return err
		}
		var err error
		if asked, warnings, err = c.declared.layout(c.t.logical); err != nil {
			return err
		}
	}
	if c.entry.Layout.Plain() && asked.Plain() {
		return wire.Invalidf("write_sharding: table %s is plain already", c.entry)
	}
	return c.toSecond(ctx, asked, warnings)
}

// toSecond starts a change to a layout that needs a second physical table, or replies with the outlook
// of one.
func (c *relayout) toSecond(ctx context.Context, asked *shard.Layout, warnings []string) error {
	s, err := c.catalog.Schema(ctx, c.entry.Keyspace)
	if err != nil {
		return errCatalog(err)
	}
	ks := s.Keyspaces[c.entry.Keyspace]
	physical := s.Table(c.entry.Keyspace, c.entry.Physical)
	if physical == nil || physical.ID != c.entry.PhysicalID() {
		return wire.Invalidf("table %s does not exist", c.entry)
	}
	if err := keepsTTL(physical, asked); err != nil {
		return err
	}
	against, err := c.againstSecond(ctx)
	if err != nil {
		return err
	}
	if c.order == changePlan {
		o, err := c.movers.mover.OutlookOfSecond(ctx, c.entry, ks, physical, asked, against...)
		if err != nil {
			return err
		}
		return c.json(o)
	}
	if len(against) > 0 {
		return wire.Invalidf("write_sharding: the layout of table %s cannot be changed while it is in use: %s", c.entry, strings.Join(against, "; "))
	}
	if _, err := c.movers.mover.StartSecond(ctx, c.entry, ks, physical, asked, c.opts.UUID()); err != nil {
		return err
	}
	if !asked.Plain() {
		warnings = append(warnings, advice(defaultTTL(physical), physical, asked)...)
	}
	return (&answer{warnings: warnings}).reply(c.req, wire.AppendVoid(nil))
}

// noCatalogue is a reason against a change that all doors must know of.
const noCatalogue = "there is no keyspace " + catalog.Keyspace + " yet, in which doors find each other; 'evenkeel serve' makes it, and so does the first sharded table"

// fitsPlain refuses options that a plain table cannot be sharded with.
func (d declaration) fitsPlain(e *catalog.Entry) error {
	for _, name := range []string{optionKey, optionFrom, optionRowsFrom, "base", "epochs", "row_epochs"} {
		if d.names(name) {
			return wire.Invalidf("write_sharding: table %s is plain; shard it first, and give it '%s' then", e, name)
		}
	}
	return nil
}

// againstSecond returns the reasons against any change between two physical tables.
func (c *change) againstSecond(ctx context.Context) (why []string, err error) {
	if c.req.Username != "" {
		why = append(why, "the store has accounts, and keeps their rights by the physical tables' names: the rights on this table would not be rights on the one that takes its place")
	}
	if c.doors.member == nil {
		return why, nil
	}
	if !c.view.Load().present {
		return append(why, noCatalogue), nil
	}
	if err := c.doors.member.Established(ctx); err != nil {
		return nil, errCatalog(err)
	}
	if err := c.doors.member.Knows(ctx, append(reshard.Steps(), fleet.StepForwarded)...); err != nil {
		why = append(why, err.Error())
	}
	return why, nil
}

// refuseSecond returns an error if a statement names a physical table that clients do not see.
func (v *view) refuseSecond(h syntax.Head, text, keyspace string) error {
	if len(v.hidden) == 0 {
		return nil
	}
	check := func(n syntax.Name) error {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		if v.hidden[n] {
			return wire.Invalidf("table %s does not exist", n.Name)
		}
		return nil
	}
	if h.Kind == syntax.StatementCreateTable {
		return nil // the store reports that the name is taken
	}
	for _, n := range []syntax.Name{h.Name, h.On} {
		if err := check(n); err != nil {
			return err
		}
	}
	for n := range syntax.Tables(text) {
		if err := check(n); err != nil {
			return err
		}
	}
	return nil
}

// logicalError returns the store's error with the logical name in place of each hidden physical
// name.
func (v *view) logicalError(err error) error {
	e, ok := err.(*wire.Error)
	if !ok || len(v.hidden) == 0 {
		return err
	}
	for n := range v.hidden {
		if t := v.logicalOf(n); t != nil && strings.Contains(e.Message, n.Name) {
			named := *e
			named.Message = strings.ReplaceAll(e.Message, n.Name, t.entry.Table)
			e = &named
		}
	}
	return e
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

// renamed reports whether the physical table of a table has another name. keyspace is the keyspace of
// an unqualified name.
func (v *view) renamed(n syntax.Name, keyspace string) bool {
	if n.Keyspace != "" {
		keyspace = n.Keyspace
	}
	t := v.tables[keyspace][n.Name]
	return t != nil && t.entry.Physical != t.entry.Table
}

// truncate empties the physical table of a sharded table, or of one that was sharded. If a change of the
// layout has begun when the store answers, rows may be at places that the store has not emptied. So the answer
// counts only if this door knows of no such change then: it has acknowledged none, and no row has been copied.
func (x *definer) truncate(ctx context.Context, req *cqldoor.Request, n syntax.Name) error {
	v := x.view.Load()
	t := v.tables[n.Keyspace][n.Name]
	if t == nil || req.Op == wire.OpPrepare {
		return wire.Invalidf("evenkeel: TRUNCATE of table %s.%s cannot be prepared; execute it as it is", n.Keyspace, n.Name)
	}
	if err := refuseTruncate(v, n); err != nil {
		return err
	}
	text := syntax.AppendName([]byte("TRUNCATE "), syntax.Name{Keyspace: n.Keyspace, Name: t.entry.Physical})
	q := wire.Query{Text: text, Params: wire.Params{Consistency: wire.One}}
	a, err := askStore(ctx, req, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, req.Version, &q)})
	if !x.unchanged(ctx, t.entry) {
		return errTruncateOvertaken
	}
	if err != nil {
		return v.logicalError(err)
	}
	return a.reply(req, a.body)
}

// errTruncateOvertaken is the answer to a TRUNCATE during which a change of the layout began.
var errTruncateOvertaken = &wire.Error{Code: wire.CodeWriteTimeout, Consistency: wire.LocalQuorum, Required: 1, WriteType: wire.WriteSimple,
	Message: "evenkeel: the layout of the table began to change, or this door could not ask the store whether it did, while the TRUNCATE was under way; " +
		"it may have been applied, or to a part of the rows, or not; send it again when the change has ended"}

// unchanged reports whether the layout of a table is as it was in an entry, and no change is under way, as
// this door knows within its lease.
func (x *definer) unchanged(ctx context.Context, e *catalog.Entry) bool {
	if x.doors.lapsed() && x.doors.renew(ctx) != nil {
		return false
	}
	now := x.view.Load().tables[e.Keyspace][e.Table]
	return now != nil && now.entry.ID == e.ID && now.entry.Layout.Generation == e.Layout.Generation && now.entry.Change == nil
}

// named returns the sharded table under whose name clients see a physical table of the store. It
// returns nil and true for a table that clients see unchanged, and false for one that they do not
// see.
func (v *view) named(keyspace, physical string) (*sharded, bool) {
	n := syntax.Name{Keyspace: keyspace, Name: physical}
	if v.hidden[n] {
		t := v.logicalOf(n)
		return t, t != nil
	}
	t := v.tables[keyspace][physical]
	return t, t == nil || t.entry.Physical == physical
}

// describesPhysical rewrites a DESCRIBE of a table to the name of its physical table. It refuses a
// hidden name and returns any other text unchanged.
func (v *view) describesPhysical(text, keyspace string) (string, error) {
	if len(v.hidden) == 0 {
		return text, nil
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return text, nil // the store reports the error
	}
	d, ok := tree.(*syntax.Describe)
	if !ok || d.What != "" && !strings.EqualFold(d.What, "TABLE") || d.Name.Name == "" {
		return text, nil
	}
	n := d.Name
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	if v.hidden[n] {
		return "", wire.Invalidf("'%s' not found in keyspace '%s'", n.Name, n.Keyspace)
	}
	if t := v.tables[n.Keyspace][n.Name]; t != nil && t.entry.Physical != n.Name {
		named := *d
		named.Name = syntax.Name{Keyspace: n.Keyspace, Name: t.entry.Physical}
		return syntax.Print(&named), nil
	}
	return text, nil
}

// answerRenamed executes the statement plain, with which the store answers s from a plain table of
// another name. It answers with the store's rows, described as those of the logical table.
func (x *answers) answerRenamed(ctx context.Context, req *cqldoor.Request, s, plain *statement, params *wire.Params, env *eval.Env, metadataID []byte) error {
	var warnings []string
	if s.sel.Logical.Selection.Aggregated {
		b, err := s.sel.Bind(env)
		if err != nil {
			return err
		}
		warnings = aggregateWarnings(b)
	}
	whole := plain.whole()
	ids, err := plain.physical.prepare(ctx, req.Link, req.Version, whole.Text)
	if err != nil {
		return err
	}
	s.showMetadata(req.Version, params)
	p := *params
	p.SetKeyspace(nil)
	p.SetValues(encodeValues(whole.Values(env, plan.Target{})))
	p.SetSkipMetadata(true) // the text names the columns, so they are known
	e := wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p}
	body, err := store.Call(ctx, req.Link, req.Version, execution(req.Link, req.Version, whole.Text, &e))
	if err != nil {
		return err
	}
	rows, err := wire.ParseRows(body)
	if err != nil {
		return err
	}
	var w wire.RowsWriter
	w.Begin(nil, s.metadata(req.Version, params, metadataID))
	if rows.Metadata.Count != w.Metadata.Count {
		return fmt.Errorf("run: the store answers %q with %d columns, and not with %d", whole.Text, rows.Metadata.Count, w.Metadata.Count)
	}
	w.Rows(rows.Count, rows.Raw)
	w.SetPagingState(rows.Metadata.PagingState)
	return respond(ctx, req, warnings, w.Finish())
}

// plainly returns the statement that the store answers from the plain table, which has all rows, or
// nil if the store cannot answer it so. During a change it raises the consistency of params to the
// change's level: nothing is read below that.
func (x *answers) plainly(s *statement, params *wire.Params) *statement {
	if s.sel == nil || s.sel.Plainly == nil {
		return nil
	}
	var state []byte
	if params.Has(wire.QueryPagingState) && len(params.PagingState) > 0 {
		state = params.PagingState
	}
	sel := s.sel.ReadsPlainly(state)
	if sel == nil {
		return nil
	}
	if s.sel.Quorum && rule.On(rule.QuorumInChange) {
		params.Consistency = quorum(params.Consistency)
	}
	m := *s
	m.sel, m.direct, m.physical = sel, nil, x.cache.physical(sel.Whole.Text)
	return &m
}
