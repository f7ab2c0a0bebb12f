// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// answers executes planned statements and waits for their results: those that need several requests
// to the store, and those whose one answer the door must look at.
type answers struct {
	binder *binder
	cache  *planCache
	writer *writer
	reads  *reads
}

// querySlowly serves a QUERY that needs several requests. Its body was retained, so the views
// into it are made again.
func (x *answers) querySlowly(ctx context.Context, req *cqldoor.Request, s *statement) error {
	q, err := queryOf(req)
	if err != nil {
		return err
	}
	if err := s.checkAmount(&q); err != nil {
		return err
	}
	return x.answer(ctx, req, s, &q.Params, nil)
}

// executeSlowly serves an EXECUTE that needs several requests.
func (x *answers) executeSlowly(ctx context.Context, req *cqldoor.Request, s *statement) error {
	e, err := executeOf(req)
	if err != nil {
		return err
	}
	return x.answer(ctx, req, s, &e.Params, e.MetadataID)
}

// answer executes any statement and waits for its result.
func (x *answers) answer(ctx context.Context, req *cqldoor.Request, s *statement, params *wire.Params, metadataID []byte) error {
	for _, n := range s.needs() {
		needed(req, n)
	}
	planned(req, s)
	w := struct {
		env  eval.Env
		made made
	}{made: made{ctx: ctx}}
	defer w.made.close()
	env := &w.env
	if err := x.binder.fill(env, s, &params.Values, nil); err != nil {
		return err
	}
	env.Wanted, env.Memory = ctx, &w.made
	if p := x.plainly(s, params); p != nil {
		if p.sel.Table.Renamed() {
			return x.answerRenamed(ctx, req, s, p, params, env, metadataID)
		}
		return x.answerOne(ctx, req, p, params, env, metadataID)
	}
	merged, err := s.merged(params)
	if err != nil {
		return err
	}
	switch {
	case merged != nil:
		return x.reads.read(ctx, req, merged, params, env, metadataID)
	case s.sel != nil && s.sel.Whole == nil:
		return x.reads.read(ctx, req, s, params, env, metadataID)
	case s.whole() != nil:
		return x.answerOne(ctx, req, s, params, env, metadataID)
	case s.batch != nil:
		return x.writer.writtenBatch(ctx, req, s, params, env)
	}
	return x.writer.write(ctx, req, s.write, params, env)
}

// answerOne executes a statement of one shard whose answer must be inspected, or whose physical
// statement is not prepared yet.
func (x *answers) answerOne(ctx context.Context, req *cqldoor.Request, s *statement, params *wire.Params, env *eval.Env, metadataID []byte) error {
	whole := s.whole()
	target, err := s.target(env, nil)
	if err != nil {
		return err
	}
	if announces(s.write) {
		if s.write.Table.Layout.Keep > 0 {
			b, err := s.write.Logical.Bind(env)
			if err != nil {
				return err
			}
			if err := checkKeep(s.write, b); err != nil {
				return err
			}
		}
		if err := x.writer.buckets.announce(ctx, req, s.write.Table, target.Key, target.Shard); err != nil {
			return err
		}
	}
	values := whole.Values(env, target)
	ids, err := s.physical.prepare(ctx, req.Link, req.Version, whole.Text)
	if err != nil {
		return err
	}
	if s.conditional() {
		return x.writer.conditional(ctx, req, s.write, params, whole.Text, ids, values, target.Key)
	}
	if metadataID == nil {
		metadataID = ids.metadata
	}
	p := *params
	p.SetKeyspace(nil)
	p.SetValues(encodeValues(values))
	s.showMetadata(req.Version, &p)
	e := wire.Execute{ID: ids.statement, MetadataID: metadataID, Params: p}
	body, err := store.Call(ctx, req.Link, req.Version, execution(req.Link, req.Version, whole.Text, &e))
	if err != nil {
		return err
	}
	return respond(ctx, req, nil, body)
}

// logicalRow returns the RESULT of a conditional write, which shows the row as the store has it,
// without the hidden column and with the logical table's name.
func logicalRow(v wire.Version, body []byte, t *plan.Table) ([]byte, error) {
	if wire.KindOf(body) != wire.ResultRows {
		return body, nil
	}
	rows, err := wire.ParseRows(body)
	if err != nil {
		return nil, err
	}
	columns, err := rows.Metadata.Columns()
	if err != nil {
		return nil, err
	}
	hidden := -1
	for i, c := range columns {
		if c.Name == t.Layout.Column {
			hidden = i
		}
	}
	if hidden < 0 && !t.Renamed() {
		return body, nil
	}
	var shown []wire.Column
	for i, c := range columns {
		if c.Table = t.Name; i != hidden {
			shown = append(shown, c)
		}
	}
	var w wire.RowsWriter
	w.Begin(nil, wire.EncodeColumns(v, shown))
	it := rows.Iter(nil)
	for it.Next() {
		for i, cell := range it.Cells {
			if i != hidden {
				w.Cell(cell)
			}
		}
		w.EndRow()
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	return w.Finish(), nil
}
