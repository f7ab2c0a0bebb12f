// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// answerRenamed executes the statement plain in place of s, and replies with the store's rows. plain reads a
// plain table of another name. The reply describes the rows as rows of the logical table.
func (x *answers) answerRenamed(ctx context.Context, req *cqldoor.Request, s, plain *request.Statement, params *wire.Params, env *eval.Env, metadataID []byte) error {
	var warnings []string
	if s.Sel.Logical.Selection.Aggregated {
		b, err := s.Sel.Bind(env)
		if err != nil {
			return err
		}
		warnings = request.AggregateWarnings(b)
	}
	whole := plain.Whole()
	ids, err := plain.Physical.Prepare(ctx, req.Link, req.Version, whole.Text)
	if err != nil {
		return err
	}
	s.ShowMetadata(req.Version, params)
	p := *params
	p.SetKeyspace(nil)
	p.SetValues(request.EncodeValues(whole.Values(env, plan.Target{})))
	p.SetSkipMetadata(true) // the statement names the columns, so the door knows them
	e := wire.Execute{ID: ids.Statement, MetadataID: ids.Metadata, Params: p}
	body, err := store.Call(ctx, req.Link, req.Version, request.Execution(req.Link, req.Version, whole.Text, &e))
	if err != nil {
		return err
	}
	rows, err := wire.ParseRows(body)
	if err != nil {
		return err
	}
	var w wire.RowsWriter
	w.Begin(nil, s.Metadata(req.Version, params, metadataID))
	if rows.Metadata.Count != w.Metadata.Count {
		return fmt.Errorf("run: the store answers %q with %d columns, and not with %d", whole.Text, rows.Metadata.Count, w.Metadata.Count)
	}
	w.Rows(rows.Count, rows.Raw)
	w.SetPagingState(rows.Metadata.PagingState)
	return request.Respond(ctx, req, warnings, w.Finish())
}

// plainly returns the statement by which the store answers s from the plain table, which has all rows. It
// returns nil if the store cannot answer s from that table. During a change it raises the consistency level
// of params to the level of the change, because no read during the change may use a lower one.
func (x *answers) plainly(s *request.Statement, params *wire.Params) *request.Statement {
	if s.Sel == nil || s.Sel.Plainly == nil {
		return nil
	}
	var state []byte
	if params.Has(wire.QueryPagingState) && len(params.PagingState) > 0 {
		state = params.PagingState
	}
	sel := s.Sel.ReadsPlainly(state)
	if sel == nil {
		return nil
	}
	if s.Sel.Quorum && rule.On(rule.QuorumInChange) {
		params.Consistency = read.AtLeastQuorum(params.Consistency)
	}
	m := *s
	m.Sel, m.Direct, m.Physical = sel, nil, x.cache.Physical(sel.Whole.Text)
	return &m
}
