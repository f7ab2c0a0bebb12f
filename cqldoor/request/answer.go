// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// Answer is a response of the backend to a request that the door sent for a client. The door may replace
// parts of it.
type Answer struct {
	tracing  []byte
	Warnings []string
	Body     []byte // body of a RESULT, without its prefix
}

// AskStore sends a request over the client's link and waits for the response. It returns an ERROR
// response as an error.
func AskStore(ctx context.Context, req *cqldoor.Request, m wire.Message) (*Answer, error) {
	type outcome struct {
		a   *Answer
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
		a := &Answer{tracing: append([]byte(nil), prefix.TracingID...), Warnings: prefix.WarningList(), Body: append([]byte(nil), body...)}
		done <- outcome{a, err}
	})
	select {
	case o := <-done:
		return o.a, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Reply replies to a request with the given body, and with the answer's trace and warnings.
func (a *Answer) Reply(req *cqldoor.Request, body []byte) error {
	var p wire.Prefix
	if len(a.tracing) > 0 {
		p.TracingID = a.tracing
	}
	if len(a.Warnings) > 0 {
		p.Warnings = wire.AppendStringList(nil, a.Warnings)
	}
	req.Reply(wire.Message{Op: wire.OpResult, Flags: p.Flags(), Body: append(p.Append(nil), body...)})
	return nil
}

// ReplyError ends a request with an error if err is not nil.
func ReplyError(req *cqldoor.Request, err error) {
	if err != nil {
		req.Error(err)
	}
}
