package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// mutate carries out the physical writes of one statement.
func (r *Router) mutate(ctx context.Context, req *cqldoor.Request, ms []plan.Mutation, disjoint, counter bool, params *wire.Params) error {
	if disjoint || len(ms) == 1 {
		return r.mutateEach(ctx, req, ms, params)
	}
	if len(ms) == 0 {
		req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
		return nil
	}
	b := wire.Batch{Type: wire.BatchLogged}
	if counter {
		b.Type = wire.BatchCounter
	}
	if err := r.appendMutations(ctx, req, &b, ms); err != nil {
		return err
	}
	return r.sendBatch(ctx, req, &b, params, "")
}

// mutateEach sends writes that need not be one whole: deletions of disjoint
// shards. Their timestamps are the coordinators', so that a door's clock cannot
// make a deletion older than what it deletes.
func (r *Router) mutateEach(ctx context.Context, req *cqldoor.Request, ms []plan.Mutation, params *wire.Params) error {
	done := make(chan error, r.opts.FanOut)
	var first error
	sent := 0
	for finished := 0; finished < len(ms); finished++ {
		for ; first == nil && sent < len(ms) && sent-finished < r.opts.FanOut; sent++ {
			m := &ms[sent]
			ids, err := r.registry.physical(m.Statement.Text).prepare(ctx, req.Link, req.Version, m.Statement.Text)
			if err != nil {
				first = err
				break
			}
			p := *params
			p.SetKeyspace(nil)
			p.SetValues(encodeValues(m.Values))
			body := wire.AppendExecute(nil, req.Version, &wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p})
			v := req.Version
			req.Link.Send(wire.Message{Op: wire.OpExecute, Body: body}, func(resp wire.Message) {
				_, err := result(v, resp)
				done <- err
			})
		}
		if finished == sent {
			break // nothing is under way, and no more is sent after an error
		}
		select {
		case err := <-done:
			if first == nil {
				first = err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if first != nil {
		return first
	}
	req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
	return nil
}

// appendMutations adds physical writes to a batch.
func (r *Router) appendMutations(ctx context.Context, req *cqldoor.Request, b *wire.Batch, ms []plan.Mutation) error {
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

// sendBatch sends a batch and answers with its result, without the hidden column.
func (r *Router) sendBatch(ctx context.Context, req *cqldoor.Request, b *wire.Batch, params *wire.Params, hidden string) error {
	if b.Count > 65535 {
		return wire.Invalidf("Too many statements in a batch: write_sharding makes %d of it, the protocol allows 65535", b.Count)
	}
	b.Params = wire.Params{Consistency: params.Consistency}
	if params.Has(wire.QuerySerialConsistency) {
		b.Params.SetSerialConsistency(params.SerialConsistency)
	}
	if params.Has(wire.QueryDefaultTimestamp) {
		b.Params.SetDefaultTimestamp(params.DefaultTimestamp)
	}
	if params.Has(wire.QueryNowInSeconds) {
		b.Params.SetNowInSeconds(params.NowInSeconds)
	}
	body, err := call(ctx, req.Link, req.Version, wire.Message{Op: wire.OpBatch, Body: wire.AppendBatch(nil, req.Version, b)})
	if err != nil {
		return err
	}
	if hidden != "" {
		if body, err = withoutColumn(req.Version, body, hidden); err != nil {
			return err
		}
	}
	req.Reply(wire.Message{Op: wire.OpResult, Body: body})
	return nil
}

// writtenBatch executes a BATCH that was written as one statement.
func (r *Router) writtenBatch(ctx context.Context, req *cqldoor.Request, s *statement, params *wire.Params, env *eval.Env) error {
	l := s.batch.logical
	g := gathering{}
	for _, w := range s.batch.writes {
		if err := g.add(w, env); err != nil {
			return err
		}
	}
	p := *params
	if l.Timestamp != nil {
		v, err := eval.Term(l.Timestamp, env)
		if err != nil {
			return err
		}
		if len(v.Bytes) == 8 {
			p.SetDefaultTimestamp(int64(be64(v.Bytes)))
		}
	}
	b := wire.Batch{Type: g.kind(wire.BatchType(l.Kind))}
	if err := g.check(); err != nil {
		return err
	}
	if err := r.appendMutations(ctx, req, &b, g.mutations); err != nil {
		return err
	}
	return r.sendBatch(ctx, req, &b, &p, g.hidden)
}

func be64(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}
