// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/write"
)

// answers executes planned statements and waits for their results. It executes the statements that need
// several requests to the store, and those whose one answer the door must look at.
type answers struct {
	binder *request.Binder
	cache  *request.PlanCache
	writer *write.Writer
	reads  *read.Reads
}

// querySlowly serves a QUERY that needs several requests. It parses the retained body again.
func (x *answers) querySlowly(ctx context.Context, req *cqldoor.Request, s *request.Statement) error {
	q, err := request.QueryOf(req)
	if err != nil {
		return err
	}
	if err := s.CheckAmount(&q); err != nil {
		return err
	}
	return x.answer(ctx, req, s, &q.Params, nil)
}

// executeSlowly serves an EXECUTE that needs several requests.
func (x *answers) executeSlowly(ctx context.Context, req *cqldoor.Request, s *request.Statement) error {
	e, err := request.ExecuteOf(req)
	if err != nil {
		return err
	}
	return x.answer(ctx, req, s, &e.Params, e.MetadataID)
}

// answer executes any planned statement and replies with its result.
func (x *answers) answer(ctx context.Context, req *cqldoor.Request, s *request.Statement, params *wire.Params, metadataID []byte) error {
	for _, n := range s.Needs() {
		request.Needed(req, n)
	}
	request.Planned(req, s)
	w := struct {
		env  eval.Env
		made request.ValueMemory
	}{made: request.ValueMemory{Ctx: ctx}}
	defer w.made.Close()
	env := &w.env
	if err := x.binder.Fill(env, s, &params.Values, nil); err != nil {
		return err
	}
	env.Wanted, env.Memory = ctx, &w.made
	if p := x.plainly(s, params); p != nil {
		if p.Sel.Table.Renamed() {
			return x.answerRenamed(ctx, req, s, p, params, env, metadataID)
		}
		return x.answerOne(ctx, req, p, params, env, metadataID)
	}
	merged, err := s.Merged(params)
	if err != nil {
		return err
	}
	switch {
	case merged != nil:
		return x.reads.Read(ctx, req, merged, params, env, metadataID)
	case s.Sel != nil && s.Sel.Whole == nil:
		return x.reads.Read(ctx, req, s, params, env, metadataID)
	case s.Whole() != nil:
		return x.answerOne(ctx, req, s, params, env, metadataID)
	case s.Batch != nil:
		return x.writer.Batch(ctx, req, s, params, env)
	}
	return x.writer.Write(ctx, req, s.Write, params, env)
}

// answerOne executes a statement of one shard if the door must inspect its answer, or has not prepared its
// physical statement yet.
func (x *answers) answerOne(ctx context.Context, req *cqldoor.Request, s *request.Statement, params *wire.Params, env *eval.Env, metadataID []byte) error {
	whole := s.Whole()
	target, err := s.Target(env, nil)
	if err != nil {
		return err
	}
	if buckets.Announces(s.Write) {
		if s.Write.Table.Layout.Keep > 0 {
			b, err := s.Write.Logical.Bind(env)
			if err != nil {
				return err
			}
			if err := buckets.CheckKeep(s.Write, b); err != nil {
				return err
			}
		}
		if err := x.writer.Buckets.Announce(ctx, req, s.Write.Table, target.Key, target.Shard); err != nil {
			return err
		}
	}
	values := whole.Values(env, target)
	ids, err := s.Physical.Prepare(ctx, req.Link, req.Version, whole.Text)
	if err != nil {
		return err
	}
	if s.Conditional() {
		return x.writer.Conditional(ctx, req, s.Write, params, whole.Text, ids, values, target.Key)
	}
	if metadataID == nil {
		metadataID = ids.Metadata
	}
	p := *params
	p.SetKeyspace(nil)
	p.SetValues(request.EncodeValues(values))
	s.ShowMetadata(req.Version, &p)
	e := wire.Execute{ID: ids.Statement, MetadataID: metadataID, Params: p}
	body, err := store.Call(ctx, req.Link, req.Version, request.Execution(req.Link, req.Version, whole.Text, &e))
	if err != nil {
		return err
	}
	return request.Respond(ctx, req, nil, body)
}
