// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// writer executes writes that are not passed on unchanged, and answers them.
type writer struct {
	registry *registry
	applier  *applier
	placer   *placer
	buckets  *buckets
	resolver *resolver
	reads    *reads // asks whether a partition has rows
}

// write executes a write that is not passed on unchanged.
func (r *writer) write(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, env *eval.Env) error {
	if w.To != nil {
		b, err := w.Logical.Bind(env)
		if err != nil {
			return err
		}
		return r.move(ctx, req, &gathering{draw: r.placer.drawers.draw, writes: []*plan.Write{w}, bound: []*analysis.BoundWrite{b}}, &wire.Batch{}, params)
	}
	b, err := w.Logical.Bind(env)
	if err != nil {
		return err
	}
	if err := checkKeep(w, b); err != nil {
		return err
	}
	if err := r.buckets.record(ctx, req, w, b, params); err != nil {
		return err
	}
	p := *params
	r.placer.stamp(req, &p, w)
	if err := r.placer.checkAhead(req, &p, w, b); err != nil {
		return err
	}
	bound, err := w.Bound(b, r.placer.draws(req, &p, false, takes(req)), r.buckets.directory(ctx))
	if err != nil {
		return err
	}
	if bound.Disjoint && !w.Logical.Conditional() {
		return r.applier.mutateEach(ctx, req, bound, &p)
	}
	ms, err := bound.All(0)
	if err != nil {
		return err
	}
	if err := r.buckets.announceAll(ctx, req, w, ms); err != nil {
		return err
	}
	if w.Logical.Conditional() {
		if len(ms) != 1 {
			return wire.Errorf(wire.CodeServer, "a conditional write of %d parts", len(ms))
		}
		ids, err := r.registry.physical(ms[0].Statement.Text).prepare(ctx, req.Link, req.Version, ms[0].Statement.Text)
		if err != nil {
			return err
		}
		return r.conditional(ctx, req, w, &p, ids, ms[0].Values, ms[0].Key)
	}
	return r.applier.mutate(ctx, req, ms, w.Logical.Counter, &p)
}

// conditional executes a conditional write in its shard, and shows the answer without the hidden
// column.
func (r *writer) conditional(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, ids *ids, values []eval.Value, key [][]byte) error {
	p := *params
	p.SetKeyspace(nil)
	p.SetValues(encodeValues(values))
	p.SetSkipMetadata(false)
	body, err := call(ctx, req.Link, req.Version, wire.Message{Op: wire.OpExecute,
		Body: wire.AppendExecute(nil, req.Version, &wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p})})
	if err != nil {
		return err
	}
	if body, err = logicalRow(req.Version, body, w.Table); err != nil {
		return err
	}
	if w.Logical.Scope == analysis.ScopeStatic {
		if body, err = r.withNulls(ctx, req, w, params, body, key); err != nil {
			return err
		}
	}
	return respond(ctx, req, nil, body)
}

// withNulls adds the columns of the conditions, as null, to an answer that has none. That happens
// if the shard of the static columns is empty but the partition is not.
func (r *writer) withNulls(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, body []byte, key [][]byte) ([]byte, error) {
	rows, err := wire.ParseRows(body)
	if err != nil || rows.Metadata.Count != 1 {
		return body, err
	}
	it := rows.Iter(nil)
	if !it.Next() || len(it.Cells[0]) != 1 || it.Cells[0][0] != 0 {
		return body, nil // the write was applied
	}
	x := r.reads.newReader(ctx, req.Link, req.Version, params, nil, nil)
	f, err := w.Table.Exists(key)
	if err != nil {
		return nil, err
	}
	found, err := x.all(placed(scatter.Unplaced, f))
	if err != nil || len(found) == 0 {
		return body, err
	}
	columns, err := rows.Metadata.Columns()
	if err != nil {
		return nil, err
	}
	for _, f := range w.Logical.Fetch {
		columns = append(columns, wire.Column{Keyspace: w.Table.Keyspace, Table: w.Table.Name, Name: f.Column.Name, Type: f.Column.Type})
	}
	var out wire.RowsWriter
	out.Begin(nil, wire.EncodeColumns(req.Version, columns))
	out.Cell(it.Cells[0])
	for range w.Logical.Fetch {
		out.Cell(nil)
	}
	out.EndRow()
	return out.Finish(), nil
}
