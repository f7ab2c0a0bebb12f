// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// answer is a response of the backend to a request sent for a client. Parts of it may be
// replaced.
type answer struct {
	tracing  []byte
	warnings []string
	body     []byte // body of a RESULT, without its prefix
}

// askStore sends a request over the client's link and waits for the response. It returns an ERROR
// response as an error.
func askStore(ctx context.Context, req *cqldoor.Request, m wire.Message) (*answer, error) {
	type outcome struct {
		a   *answer
		err error
	}
	m.Flags |= req.Flags & wire.FlagTracing
	done := make(chan outcome, 1)
	v := req.Version
	req.Link.Send(ctx, m, func(resp wire.Message) {
		prefix, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
		if err == nil {
			body, err = wire.ResultBody(v, resp)
		}
		a := &answer{tracing: append([]byte(nil), prefix.TracingID...), warnings: prefix.WarningList(), body: append([]byte(nil), body...)}
		done <- outcome{a, err}
	})
	select {
	case o := <-done:
		return o.a, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reply answers a request with the given body instead of the answer's own.
func (a *answer) reply(req *cqldoor.Request, body []byte) error {
	var p wire.Prefix
	if len(a.tracing) > 0 {
		p.TracingID = a.tracing
	}
	if len(a.warnings) > 0 {
		p.Warnings = wire.AppendStringList(nil, a.warnings)
	}
	req.Reply(wire.Message{Op: wire.OpResult, Flags: p.Flags(), Body: append(p.Append(nil), body...)})
	return nil
}
