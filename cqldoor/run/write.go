// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// write executes a write that is not passed on unchanged.
func (r *Router) write(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, env *eval.Env) error {
	if w.To != nil {
		b, err := w.Logical.Bind(env)
		if err != nil {
			return err
		}
		return r.move(ctx, req, &gathering{draw: r.drawers.draw, writes: []*plan.Write{w}, bound: []*analysis.BoundWrite{b}}, &wire.Batch{}, params)
	}
	b, err := w.Logical.Bind(env)
	if err != nil {
		return err
	}
	if err := checkKeep(w, b); err != nil {
		return err
	}
	if err := r.record(ctx, req, w, b, params); err != nil {
		return err
	}
	p := *params
	r.stamp(req, &p, w)
	if err := r.checkAhead(req, &p, w, b); err != nil {
		return err
	}
	bound, err := w.Bound(b, r.draws(req, &p, false, takes(req)), r.directory(ctx))
	if err != nil {
		return err
	}
	if bound.Disjoint && !w.Logical.Conditional() {
		return r.mutateEach(ctx, req, bound, &p)
	}
	ms, err := bound.All(0)
	if err != nil {
		return err
	}
	if err := r.announceAll(ctx, req, w, ms); err != nil {
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
	return r.mutate(ctx, req, ms, w.Logical.Counter, &p)
}

// stamp gives a write the door's time if it has none and shards are compared by time. A request
// that is executed again gets the same time.
func (r *Router) stamp(req *cqldoor.Request, params *wire.Params, w *plan.Write) {
	if w.Stamped() && !params.Has(wire.QueryDefaultTimestamp) {
		if req.Stamp == 0 {
			req.Stamp = r.clock.next()
		}
		params.SetDefaultTimestamp(req.Stamp)
	}
}

// conditional executes a conditional write in its shard, and shows the answer without the hidden
// column.
func (r *Router) conditional(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, ids *ids, values []eval.Value, key [][]byte) error {
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
func (r *Router) withNulls(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, body []byte, key [][]byte) ([]byte, error) {
	rows, err := wire.ParseRows(body)
	if err != nil || rows.Metadata.Count != 1 {
		return body, err
	}
	it := rows.Iter(nil)
	if !it.Next() || len(it.Cells[0]) != 1 || it.Cells[0][0] != 0 {
		return body, nil // the write was applied
	}
	x := r.newReader(ctx, req.Link, req.Version, params, nil, nil)
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

// mutate executes the physical writes of one statement, all or none.
func (r *Router) mutate(ctx context.Context, req *cqldoor.Request, ms []plan.Mutation, counter bool, params *wire.Params) error {
	if len(ms) < 2 {
		return r.mutateEach(ctx, req, plan.Listed(ms), params)
	}
	if e, ok := req.Link.(*coordinator); ok {
		e.single()
	}
	b := wire.Batch{Type: wire.BatchLogged}
	if counter {
		b.Type = wire.BatchCounter
	}
	if err := r.appendMutations(ctx, req, &b, ms); err != nil {
		return err
	}
	return r.sendBatch(ctx, req, &b, params, nil)
}

// mutateEach sends writes that need not be applied together: deletions in disjoint shards. The
// coordinators give their timestamps, so that a slow door's clock cannot make a deletion older
// than the data that it deletes.
func (r *Router) mutateEach(ctx context.Context, req *cqldoor.Request, ms plan.Mutations, params *wire.Params) error {
	if err := r.applyEach(ctx, req, ms, params); err != nil {
		return err
	}
	return respond(ctx, req, nil, wire.AppendVoid(nil))
}

// applyEach is mutateEach without an answer.
func (r *Router) applyEach(ctx context.Context, req *cqldoor.Request, ms plan.Mutations, params *wire.Params) error {
	done := make(chan error, r.opts.FanOut)
	under := 0
	wait := func() error {
		select {
		case err := <-done:
			under--
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	send := func(m *plan.Mutation) error {
		ids, err := r.registry.physical(m.Statement.Text).prepare(ctx, req.Link, req.Version, m.Statement.Text)
		if err != nil {
			return err
		}
		p := *params
		p.SetKeyspace(nil)
		p.SetValues(encodeValues(m.Values))
		body := wire.AppendExecute(nil, req.Version, &wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p})
		v := req.Version
		under++
		req.Link.Send(ctx, wire.Message{Op: wire.OpExecute, Body: body}, func(resp wire.Message) {
			_, err := resultOf(v, resp)
			done <- err
		})
		return nil
	}
	var first error
	for m, err := range ms.Each() {
		if first = cmp.Or(err, ctx.Err()); first == nil && under == r.opts.FanOut {
			first = wait()
		}
		if first == nil {
			first = send(&m)
		}
		if first != nil {
			break // nothing more is sent
		}
	}
	for under > 0 && ctx.Err() == nil {
		first = cmp.Or(first, wait())
	}
	if under > 0 {
		first = cmp.Or(first, ctx.Err())
	}
	if first != nil {
		return first
	}
	return nil
}

// maxBatch is the largest number of bytes of statements in a BATCH of the door's: what Cassandra
// accepts in one message and one mutation by default. An UPDATE with IN repeats its values for
// each row.
const maxBatch = 16 << 20

var errBatchTooLarge = wire.Invalidf("Batch too large")

// appendMutations adds physical writes to a batch.
func (r *Router) appendMutations(ctx context.Context, req *cqldoor.Request, b *wire.Batch, ms []plan.Mutation) error {
	const overhead = 1 + 2 + 16 + 2 // bytes of a statement besides its values
	n := len(b.Raw)
	for i := range ms {
		n += overhead
		for _, v := range ms[i].Values {
			n += 4 + len(v.Bytes)
		}
		if n > maxBatch && b.Count+i > 0 {
			return errBatchTooLarge
		}
	}
	b.Raw = slices.Grow(b.Raw, n-len(b.Raw))
	for i := range ms {
		m := &ms[i]
		ids, err := r.registry.physical(m.Statement.Text).prepare(ctx, req.Link, req.Version, m.Statement.Text)
		if err != nil {
			return err
		}
		b.Raw = wire.AppendBatchStatement(b.Raw, &wire.BatchStatement{Prepared: true, ID: ids.statement, Values: encodeValues(m.Values)})
		b.Count++
	}
	return nil
}

// sendBatch sends a batch and answers with its result. of is the table of the batch's conditions, nil
// if it has none.
func (r *Router) sendBatch(ctx context.Context, req *cqldoor.Request, b *wire.Batch, params *wire.Params, of *plan.Table) error {
	body, err := r.applyBatch(ctx, req, b, params)
	if err != nil {
		return err
	}
	if of != nil {
		if body, err = logicalRow(req.Version, body, of); err != nil {
			return err
		}
	}
	return respond(ctx, req, nil, body)
}

// applyBatch sends a batch and returns its result.
func (r *Router) applyBatch(ctx context.Context, req *cqldoor.Request, b *wire.Batch, params *wire.Params) ([]byte, error) {
	if b.Count > plan.MaxMutations {
		return nil, wire.Invalidf("Too many statements in a batch: write_sharding makes %d of it, the protocol allows %d", b.Count, plan.MaxMutations)
	}
	b.Params = wire.Params{Consistency: params.Consistency}
	if params.Has(wire.QuerySerialConsistency) {
		b.Params.SetSerialConsistency(params.SerialConsistency)
	}
	if params.Has(wire.QueryDefaultTimestamp) {
		b.Params.SetDefaultTimestamp(params.DefaultTimestamp)
	}
	if params.Has(wire.QueryKeyspace) { // for statements that are passed on unchanged
		b.Params.SetKeyspace(params.Keyspace)
	}
	if params.Has(wire.QueryNowInSeconds) {
		b.Params.SetNowInSeconds(params.NowInSeconds)
	}
	return call(ctx, req.Link, req.Version, wire.Message{Op: wire.OpBatch, Body: wire.AppendBatch(nil, req.Version, b)})
}
