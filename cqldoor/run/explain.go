package run

import (
	"context"
	"encoding/json"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// ExplainPayload is the name in a PREPARE's custom payload that asks for the plan
// of the statement, and in the answer's that carries it as JSON: a list of
// plan.Explained. A PREPARE executes nothing, wherever it ends up; an answer
// without the payload says that the statement is forwarded as it is.
const ExplainPayload = "evenkeel.explain"

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

// explain is the plan of a statement as JSON: with its values where they are all
// written out.
func (r *Router) explain(ctx context.Context, s *statement) ([]byte, error) {
	var env *eval.Env
	if len(s.head.Binds) == 0 {
		env = &eval.Env{}
		if err := r.fill(env, s, &wire.Values{}, nil); err != nil {
			return nil, err
		}
	}
	var (
		e   *plan.Explained
		err error
	)
	switch {
	case s.sel != nil:
		const page = 100
		e, err = s.sel.Explain(env, r.directory(ctx), page)
	case s.write != nil:
		e, err = s.write.Explain(env, r.directory(ctx))
	default:
		e, err = plan.ExplainBatch(s.batch.writes, env, r.directory(ctx))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(e)
}
