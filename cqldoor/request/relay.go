// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/observe"
)

// Relays sends requests to the store unchanged, and remembers what the store has prepared by them.
type Relays struct {
	Cache    *PlanCache
	View     *atomic.Pointer[tables.View]
	Standing *Standing
	Requests *observe.Requests // measures statements; may be nil
}

// Relay sends a request unchanged and replies with its response.
func (x *Relays) Relay(ctx context.Context, req *cqldoor.Request) error {
	resp, err := x.Forward(ctx, req)
	if err == nil {
		req.Reply(resp)
	}
	return err
}

// Forward sends a request unchanged and waits for its response. If the request prepares a
// statement, clients may execute it from then on.
func (x *Relays) Forward(ctx context.Context, req *cqldoor.Request) (wire.Message, error) {
	v := x.View.Load()
	resp, err := send(ctx, req)
	if err == nil {
		err = x.Standing.judge(ctx, req, resp)
	}
	if err != nil || req.Op != wire.OpPrepare {
		return resp, err
	}
	if body, err := BodyOf(req.Message); err == nil {
		if p, err := wire.ParsePrepare(req.Version, body); err == nil {
			x.passedOn(req, v, KeyspaceOf(req, p.Keyspace), string(p.Text), resp)
		}
	}
	return resp, nil
}

func send(ctx context.Context, req *cqldoor.Request) (wire.Message, error) {
	link := req.Link
	if e, ok := link.(*Coordinator); ok {
		link = e.Forwarder // the client gets the whole response, with its warnings
	}
	done := make(chan wire.Message, 1)
	link.Send(ctx, req.Message, func(resp wire.Message) {
		resp.Body = slices.Clone(resp.Body)
		done <- resp
	})
	select {
	case resp := <-done:
		return resp, nil
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	}
}

// passedOn remembers the statement of a PREPARE that the router has sent to the store, under a
// view. If the store could prepare a statement on a table that the door does not know, the store
// handles it.
func (x *Relays) passedOn(req *cqldoor.Request, v *tables.View, keyspace, text string, resp wire.Message) {
	if req.Op != wire.OpPrepare || resp.Op != wire.OpResult {
		return
	}
	if _, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body); err == nil && wire.KindOf(body) == wire.ResultPrepared {
		if p, err := wire.ParsePrepared(req.Version, body); err == nil {
			x.Prepared(p.ID, v, keyspace, text)
		}
	}
}

// Prepared remembers that the store handles a statement under a view. v may be nil.
func (x *Relays) Prepared(id []byte, v *tables.View, keyspace, text string) {
	p := newPassed(keyspace, text)
	p.seen.Store(v)
	p.Series.Store(seriesOf(x.Requests, p.kind, keyspace, p.tables))
	size := len(p.text)
	for _, n := range p.tables {
		size += len(n.Keyspace) + len(n.Name) + 32
	}
	x.Cache.Known.Put(&Known{ID: keyOf(id), Passed: p, Size: size})
}
