// SPDX-License-Identifier: Apache-2.0

package statements

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// Explain answers with the plan of a statement: the plan of the requests that the statement becomes. It
// does not carry the statement out. The client needs the right to make these requests.
func (r *Runner) Explain(ctx context.Context, q *api.ExecuteStatement, use func(api.Response) error) error {
	s, err := partiql.Parse(q.Text, q.Parameters)
	switch {
	case err != nil:
		return err
	case s.Kind() == partiql.Exists:
		return errExists
	}
	if r.Forwards(q) {
		return use(explained(plan.Forwarded(q)))
	}
	t, err := r.Tables.Schema(ctx, s.Table())
	if err != nil {
		return err
	}
	var becomes []api.Request
	if s.Kind() == partiql.Select {
		selection, err := r.selection(ctx, q, s, t)
		if err != nil {
			return err
		}
		for i := range selection.Len() {
			becomes = append(becomes, selection.Request(i, nil, q.Limit, q.Capacity))
		}
	} else {
		one, err := s.Write(t, api.Write{ReturnOnFailure: q.ReturnOnFailure, Capacity: q.Capacity})
		if err != nil {
			return r.told(ctx, s, err)
		}
		becomes = append(becomes, one)
	}
	out := new(plan.Explained)
	for _, b := range becomes {
		one, ok := b.(api.ItemRequest)
		if !ok {
			return fmt.Errorf("a statement becomes %s, which is no request on items", b.Operation())
		}
		err := r.Items.Explain(ctx, one, func(a api.Response) error {
			out.Include(one, a.(*api.ExplainResponse).Value.(*plan.Explained))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return use(explained(out))
}

func explained(p *plan.Explained) api.Response {
	return &api.ExplainResponse{ReshardResponse: api.ReshardResponse{Value: p}}
}
