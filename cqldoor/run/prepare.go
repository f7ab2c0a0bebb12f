// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// explain returns the plan of a statement as JSON. The plan shows values if the statement contains all of
// them.
func (x *preparer) explain(ctx context.Context, s *request.Statement) ([]byte, error) {
	var env *eval.Env
	if len(s.Head.Binds) == 0 {
		env = &eval.Env{}
		if err := x.binder.Fill(env, s, &wire.Values{}, nil); err != nil {
			return nil, err
		}
		made := request.ValueMemory{Ctx: ctx}
		defer made.Close()
		env.Wanted, env.Memory = ctx, &made
	}
	var (
		e   *plan.Explained
		err error
	)
	switch {
	case s.Sel != nil:
		const page = 100
		e, err = s.Sel.Explain(env, x.buckets.Directory(ctx), page)
	case s.Write != nil:
		e, err = s.Write.Explain(env, x.buckets.Directory(ctx))
	default:
		e, err = plan.ExplainBatch(s.Batch.Writes, env, x.buckets.Directory(ctx))
	}
	if err != nil {
		return nil, err
	}
	t := s.Placed()[0]
	rule, err := x.explains.RuleOf(ctx, syntax.Name{Keyspace: t.Keyspace, Name: t.Name})
	if err != nil {
		return nil, err
	}
	return json.Marshal(definitions.Explanation{Explained: e, Rule: rule})
}

// preparer answers PREPAREs of statements on sharded tables.
type preparer struct {
	cache    *request.PlanCache
	explains *definitions.Explainer
	binder   *request.Binder
	buckets  *buckets.Buckets
}

// prepare answers a PREPARE.
func (x *preparer) prepare(ctx context.Context, req *cqldoor.Request, s *request.Statement) error {
	p := wire.Prepared{ID: s.ID[:], MetadataID: s.MetadataID[:]}
	if whole := s.Whole(); whole != nil {
		ids, err := s.Physical.Renew(ctx, req.Link, req.Version, whole.Text)
		if err != nil {
			return err
		}
		// The backend answers the EXECUTE, so the backend compares the metadata id.
		p.MetadataID = ids.Metadata
	} else if s.Write != nil && s.Write.AnyShard() != nil {
		// The store may have forgotten the physical statement and have told the client so.
		text := s.Write.AnyShard().Text
		if _, err := x.cache.Physical(text).Renew(ctx, req.Link, req.Version, text); err != nil {
			return err
		}
	} else if p := s.InPlace; p != nil {
		if _, err := p.Physical.Renew(ctx, req.Link, req.Version, p.Whole.Text); err != nil {
			return err
		}
	}
	binds := make([]wire.Column, len(s.Head.Binds))
	for i, b := range s.Head.Binds {
		binds[i] = wire.Column{Keyspace: b.Keyspace, Table: b.Table, Name: b.Name, Type: b.Type}
	}
	p.Variables = wire.EncodeColumns(req.Version, binds)
	for _, i := range s.Head.PartitionKeyBinds {
		p.KeyIndexes = append(p.KeyIndexes, uint16(i))
	}
	p.Result = wire.Metadata{Flags: wire.MetadataNone}
	if s.Sel != nil {
		p.Result = request.EncodeColumns(req.Version, s.Head.Table, s.Sel.Logical.Columns)
	}
	var body []byte
	var flags wire.Flags
	if definitions.AsksExplain(req.Message) {
		if req.Username != "" {
			if err := request.Permitted(ctx, req.Link, req.Version, s.Needs()); err != nil {
				return err
			}
		}
		e, err := x.explain(ctx, s)
		if err != nil {
			return err
		}
		flags = wire.FlagCustomPayload
		body = wire.AppendBytesMap(nil, map[string][]byte{definitions.ExplainPayload: e})
	}
	req.Reply(wire.Message{Op: wire.OpResult, Flags: flags, Body: wire.AppendPrepared(body, req.Version, &p)})
	return nil
}
