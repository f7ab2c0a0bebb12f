// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// Explain answers with the plan of a request, and does not carry the request out. The client needs
// the right to make the request.
func (r *Runner) Explain(ctx context.Context, q api.ItemRequest, use func(api.Response) error) error {
	var wrong error
	q.EachTable(func(name string) {
		if catalog.Owns(api.TableName(name)) {
			wrong = tables.ErrNoTable
		}
	})
	if wrong != nil {
		return wrong
	}
	if r.Tables.Shared() {
		if err := r.Tables.Current(ctx); err != nil {
			return err
		}
		var err error
		q.EachTable(func(name string) {
			if err == nil {
				_, err = r.Tables.Lookup(ctx, api.TableName(name))
			}
		})
		if err != nil {
			return err
		}
	}
	if err := r.Permitted(ctx, q, errPermitted); err != errPermitted {
		return err
	}
	var by uses
	defer by.Release()
	p, err := r.plan(ctx, q, &by)
	if err != nil {
		return err
	}
	rule, settled := "", false
	of := func(name string) *plan.Table {
		e := r.Tables.Entry(api.TableName(name))
		if e == nil {
			return nil
		}
		rule = e.Rule
		settled = settled || e.Shown() != e.Plan
		return by.rolling(e.Shown())
	}
	q.EachTable(func(name string) { of(name) })
	if settled { // the door no longer goes by the layout that p was made with
		if p, err = plan.Make(q, of); err != nil {
			return err
		}
	}
	var list func(from, to int64, down bool, limit int) ([]int64, error)
	if f, ok := p.(*plan.Fanout); ok && f.Way == plan.ByBuckets {
		b := f.Buckets()
		partition := b.Partition()
		list = func(from, to int64, down bool, limit int) ([]int64, error) {
			buckets, err := r.Catalog.Buckets(ctx, partition, from, to, down, limit, func(int64, int64) {})
			return buckets, tables.DoorError(err)
		}
	}
	out, err := plan.Explain(p, q, of, list)
	if err != nil {
		return err
	}
	out.Rule = rule
	return use(&api.ExplainResponse{ReshardResponse: api.ReshardResponse{Value: out}})
}
