// SPDX-License-Identifier: Apache-2.0

package write

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// Conditional executes a conditional write in its shard, and answers. The answer does not show the
// hidden column.
func (r *Writer) Conditional(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, text string, ids *request.IDs, values []eval.Value, key [][]byte) error {
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
	return request.Respond(ctx, req, nil, body)
}

// compareAndSet executes a conditional write and returns the body of the RESULT.
func compareAndSet(ctx context.Context, req *cqldoor.Request, params *wire.Params, text string, ids *request.IDs, values []eval.Value) ([]byte, error) {
	p := *params
	p.SetKeyspace(nil)
	p.SetValues(request.EncodeValues(values))
	p.SetSkipMetadata(false)
	e := wire.Execute{ID: ids.Statement, MetadataID: ids.Metadata, Params: p}
	return store.Call(ctx, req.Link, req.Version, request.Execution(req.Link, req.Version, text, &e))
}

// withNulls returns an answer (body) with the columns of the conditions, as nulls. The store leaves
// these columns out if the shard of the static columns has no row with a marker. If no other shard of
// the partition has such a row either, withNulls returns the answer unchanged.
func (r *Writer) withNulls(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, body []byte, key [][]byte) ([]byte, error) {
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
// asks the shards that have rows one after the other. Mostly the first of them has such a row.
func (r *Writer) marked(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, key [][]byte) (bool, error) {
	f, err := w.Table.Exists(key)
	if err != nil {
		return false, err
	}
	shards, err := r.Reads.Shards(ctx, req, params, f)
	if err != nil {
		return false, err
	}
	for _, shard := range shards {
		if shard == w.Table.Home(key) {
			continue
		}
		m, err := w.Marked(key, shard)
		if err != nil {
			return false, err
		}
		ids, err := r.Cache.Physical(m.Statement.Text).Prepare(ctx, req.Link, req.Version, m.Statement.Text)
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
