// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// writer executes writes that are not passed on unchanged, and answers them.
type writer struct {
	cache    *planCache
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
		return r.move(ctx, req, &gathering{draw: r.placer.draws(req, params, false, r.placer.takes(req)), writes: []*plan.Write{w}, bound: []*analysis.BoundWrite{b}}, &wire.Batch{}, params)
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
	bound, err := w.Bound(b, r.placer.draws(req, &p, false, r.placer.takes(req)), r.buckets.directory(ctx))
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
		ids, err := r.cache.physical(ms[0].Statement.Text).prepare(ctx, req.Link, req.Version, ms[0].Statement.Text)
		if err != nil {
			return err
		}
		return r.conditional(ctx, req, w, &p, ms[0].Statement.Text, ids, ms[0].Values, ms[0].Key)
	}
	return r.applier.mutate(ctx, req, ms, w.Logical.Counter, &p)
}

// conditional executes a conditional write in its shard, and shows the answer without the hidden
// column.
func (r *writer) conditional(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, text string, ids *ids, values []eval.Value, key [][]byte) error {
	body, err := compareAndSet(ctx, req, params, text, ids, values)
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

// compareAndSet executes a conditional write and returns the RESULT.
func compareAndSet(ctx context.Context, req *cqldoor.Request, params *wire.Params, text string, ids *ids, values []eval.Value) ([]byte, error) {
	p := *params
	p.SetKeyspace(nil)
	p.SetValues(encodeValues(values))
	p.SetSkipMetadata(false)
	e := wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p}
	return store.Call(ctx, req.Link, req.Version, execution(req.Link, req.Version, text, &e))
}

// withNulls adds the columns of the conditions, as null, to an answer that has none. That happens
// if the shard of the static columns has no marked row but another shard of the partition has one.
func (r *writer) withNulls(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, body []byte, key [][]byte) ([]byte, error) {
	rows, err := wire.ParseRows(body)
	if err != nil || rows.Metadata.Count != 1 {
		return body, err
	}
	it := rows.Iter(nil)
	if !it.Next() || len(it.Cells[0]) != 1 || it.Cells[0][0] != 0 {
		return body, nil // the write was applied
	}
	if marked, err := r.marked(ctx, req, w, params, key); err != nil || !marked {
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

// marked reports whether a shard other than that of the static columns has a row with a marker. It
// asks the shards that have rows, one by one: mostly the first of them has one.
func (r *writer) marked(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, key [][]byte) (bool, error) {
	x := r.reads.newReader(ctx, req.Link, req.Version, params, nil, nil)
	f, err := w.Table.Exists(key)
	if err != nil {
		return false, err
	}
	shards, err := x.all(placed(scatter.Unplaced, f))
	if err != nil {
		return false, err
	}
	for _, cells := range shards {
		shard, ok := shardValue(cells[0])
		if !ok {
			return false, fmt.Errorf("write: a read of the shards of %s.%s brought none", w.Table.Keyspace, w.Table.Name)
		}
		if shard == w.Table.Home(key) {
			continue
		}
		m, err := w.Marked(key, shard)
		if err != nil {
			return false, err
		}
		ids, err := r.cache.physical(m.Statement.Text).prepare(ctx, req.Link, req.Version, m.Statement.Text)
		if err != nil {
			return false, err
		}
		body, err := compareAndSet(ctx, req, params, m.Statement.Text, ids, m.Values)
		if err != nil {
			return false, err
		}
		rows, err := wire.ParseRows(body)
		if err != nil {
			return false, err
		}
		if rows.Metadata.Count > 1 {
			return true, nil
		}
	}
	return false, nil
}
