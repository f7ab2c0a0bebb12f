// SPDX-License-Identifier: Apache-2.0

package write

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// Writer executes writes that the door does not pass on unchanged, and answers them.
type Writer struct {
	Cache    *request.PlanCache
	Applier  *Applier
	Placer   *Placer
	Buckets  *buckets.Buckets
	Resolver *read.Resolver
	Reads    *read.Reads // tells which shards of a partition have rows
}

// Write executes one write, and answers.
func (r *Writer) Write(ctx context.Context, req *cqldoor.Request, w *plan.Write, params *wire.Params, env *eval.Env) error {
	if w.To != nil {
		b, err := w.Logical.Bind(env)
		if err != nil {
			return err
		}
		return r.Move(ctx, req, &Gathering{draw: r.Placer.Draws(req, params, false, r.Placer.takes(req)), writes: []*plan.Write{w}, bound: []*analysis.BoundWrite{b}}, &wire.Batch{}, params)
	}
	b, err := w.Logical.Bind(env)
	if err != nil {
		return err
	}
	if err := buckets.CheckKeep(w, b); err != nil {
		return err
	}
	if err := r.Buckets.Record(ctx, req, w, b, params); err != nil {
		return err
	}
	p := *params
	r.Placer.Stamp(req, &p, w)
	if err := r.Placer.checkAhead(req, &p, w, b); err != nil {
		return err
	}
	bound, err := w.Bound(b, r.Placer.Draws(req, &p, false, r.Placer.takes(req)), r.Buckets.Directory(ctx))
	if err != nil {
		return err
	}
	if bound.Disjoint && !w.Logical.Conditional() {
		return r.Applier.mutateEach(ctx, req, bound, &p)
	}
	ms, err := bound.All(0)
	if err != nil {
		return err
	}
	if err := r.Buckets.AnnounceAll(ctx, req, w, ms); err != nil {
		return err
	}
	if w.Logical.Conditional() {
		if len(ms) != 1 {
			return wire.Errorf(wire.CodeServer, "a conditional write of %d parts", len(ms))
		}
		ids, err := r.Cache.Physical(ms[0].Statement.Text).Prepare(ctx, req.Link, req.Version, ms[0].Statement.Text)
		if err != nil {
			return err
		}
		return r.Conditional(ctx, req, w, &p, ms[0].Statement.Text, ids, ms[0].Values, ms[0].Key)
	}
	return r.Applier.mutate(ctx, req, ms, w.Logical.Counter, &p)
}
