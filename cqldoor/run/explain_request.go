// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// ExplainPayload is the key in the custom payload of a PREPARE that asks for the statement's
// plan, and in the answer that carries an Explanation as JSON. A PREPARE executes nothing,
// wherever it goes. An answer without the payload says that the statement is forwarded unchanged
// and that no shard rule applies to its table.
const ExplainPayload = "evenkeel.explain"

// Explanation is a plan, with the shard rules' statement about the table. A statement on a plain
// table has no layout and no plan.
type Explanation struct {
	*plan.Explained
	Rule *RuleShown `json:"rule,omitempty"`
}

// asksExplain says whether a request's custom payload asks for the plan.
func asksExplain(m wire.Message) bool {
	p, _, err := wire.SplitPrefix(m.Op, m.Flags, m.Body)
	if err != nil || p.Payload == nil {
		return false
	}
	c := wire.NewCursor(p.Payload)
	_, ok := c.BytesMap()[ExplainPayload]
	return ok && c.Err() == nil
}

// explain returns the plan of a statement as JSON, with values if the statement contains all of
// them.
func (x *preparer) explain(ctx context.Context, s *statement) ([]byte, error) {
	var env *eval.Env
	if len(s.head.Binds) == 0 {
		env = &eval.Env{}
		if err := x.binder.fill(env, s, &wire.Values{}, nil); err != nil {
			return nil, err
		}
		made := made{ctx: ctx}
		defer made.close()
		env.Wanted, env.Memory = ctx, &made
	}
	var (
		e   *plan.Explained
		err error
	)
	switch {
	case s.sel != nil:
		const page = 100
		e, err = s.sel.Explain(env, x.buckets.directory(ctx), page)
	case s.write != nil:
		e, err = s.write.Explain(env, x.buckets.directory(ctx))
	default:
		e, err = plan.ExplainBatch(s.batch.writes, env, x.buckets.directory(ctx))
	}
	if err != nil {
		return nil, err
	}
	t := s.placed()[0]
	rule, err := x.explains.ruleOf(ctx, syntax.Name{Keyspace: t.Keyspace, Name: t.Name})
	if err != nil {
		return nil, err
	}
	return json.Marshal(Explanation{e, rule})
}

// reply answers a PREPARE with an explanation and the body of a RESULT.
func (e *Explanation) reply(req *cqldoor.Request, result []byte) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	body := wire.AppendBytesMap(nil, map[string][]byte{ExplainPayload: text})
	req.Reply(wire.Message{Op: wire.OpResult, Flags: wire.FlagCustomPayload, Body: append(body, result...)})
	return nil
}
