package run

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/reshard"
)

// reshard answers what is asked about a change of a table's layout.
func (r *Router) reshard(ctx context.Context, q *api.Reshard, use func(api.Response) error) error {
	e, err := r.sharded(q.Table)
	switch {
	case err != nil:
		return err
	case e == nil:
		return r.reshardPlain(ctx, q, use)
	case e.wrong != nil:
		return e.wrong
	}
	if q.Action != "status" {
		return exception.Invalid("table %s: its layout cannot be changed while it is in use yet; create a table with the tag write-sharding and copy the items", e.Table)
	}
	s := reshard.Status{Table: e.Table, Phase: reshard.NoPhase}
	if e.Layout != nil {
		s.Generation, s.From, s.To = e.Layout.Generation, e.Layout.N, e.Layout.N
	}
	return use(&api.ReshardResponse{Value: s})
}

// reshardPlain answers of a plain table.
func (r *Router) reshardPlain(ctx context.Context, q *api.Reshard, use func(api.Response) error) error {
	t, err := r.physical(ctx, q.Table)
	switch {
	case err != nil:
		return err
	case t == nil:
		return notThere(q.Table)
	case q.Action != "status":
		return exception.Invalid("table %s is a plain one: a plain table is not made a sharded one while it is in use yet; create a table with the tag write-sharding and copy the items", t.Name)
	}
	return use(&api.ReshardResponse{Value: reshard.Status{Table: t.Name, Phase: reshard.NoPhase}})
}
