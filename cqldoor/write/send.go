// SPDX-License-Identifier: Apache-2.0

package write

import (
	"cmp"
	"context"
	"slices"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// Applier sends physical writes over the client's link, and collects their results. It does not
// know their purpose.
type Applier struct {
	Cache  *request.PlanCache
	FanOut int // how many writes of one statement may be in flight
}

// mutate executes the physical writes of one statement, and answers. It sends several writes as one
// batch (see together).
func (a *Applier) mutate(ctx context.Context, req *cqldoor.Request, ms []plan.Mutation, counter bool, params *wire.Params) error {
	if len(ms) < 2 {
		return a.mutateEach(ctx, req, plan.Listed(ms), params)
	}
	if e, ok := req.Link.(*request.Coordinator); ok {
		e.Single()
	}
	b := wire.Batch{Type: together(counter)}
	return a.SendBatch(ctx, req, &b, ms, params, nil)
}

// mutateEach executes writes that the store need not apply together, and answers. Such writes are a
// single write, or deletions in disjoint shards. The store's coordinators give these deletions their
// timestamps. So a deletion cannot be older than the data that it deletes because a door's clock is
// slow.
func (a *Applier) mutateEach(ctx context.Context, req *cqldoor.Request, ms plan.Mutations, params *wire.Params) error {
	if err := a.ApplyEach(ctx, req, ms, params); err != nil {
		return err
	}
	return request.Respond(ctx, req, nil, wire.AppendVoid(nil))
}

// ApplyEach does what mutateEach does, but does not answer. It returns the first error.
func (a *Applier) ApplyEach(ctx context.Context, req *cqldoor.Request, ms plan.Mutations, params *wire.Params) error {
	done := make(chan error, a.FanOut)
	under := 0
	wait := func() error {
		select {
		case err := <-done:
			under--
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	send := func(m *plan.Mutation) error {
		ids, err := a.Cache.Physical(m.Statement.Text).Prepare(ctx, req.Link, req.Version, m.Statement.Text)
		if err != nil {
			return err
		}
		p := *params
		p.SetKeyspace(nil)
		p.SetValues(request.EncodeValues(m.Values))
		e := wire.Execute{ID: ids.Statement, MetadataID: ids.Metadata, Params: p}
		v := req.Version
		under++
		req.Link.Send(ctx, request.Execution(req.Link, v, m.Statement.Text, &e), func(resp wire.Message) {
			_, err := wire.ResultBody(v, resp)
			done <- err
		})
		return nil
	}
	var first error
	for m, err := range ms.Each() {
		if first = cmp.Or(err, ctx.Err()); first == nil && under == a.FanOut {
			first = wait()
		}
		if first == nil {
			first = send(&m)
		}
		if first != nil {
			break // send no further write
		}
	}
	for under > 0 && ctx.Err() == nil {
		first = cmp.Or(first, wait())
	}
	if under > 0 {
		first = cmp.Or(first, ctx.Err())
	}
	if first != nil {
		return first
	}
	return nil
}

// maxBatch is the largest size, in bytes, of the statements in a BATCH that the door makes. Cassandra
// accepts that much in one message and in one mutation by default. An UPDATE with IN repeats its
// values for each row.
const maxBatch = 16 << 20

var errBatchTooLarge = wire.Invalidf("Batch too large")

// appendMutations adds physical writes to a batch when there is memory for them. It refers to prepared
// statements. If the store has given up such statements, an attempt learns of one of them only, so a
// batch of many statements would need as many attempts. In that case appendMutations writes the text
// of the statements into the batch, if the batch has room.
func (a *Applier) appendMutations(ctx context.Context, req *cqldoor.Request, b *wire.Batch, ms []plan.Mutation, room *request.ValueMemory) error {
	const overhead = 1 + 2 + 16 + 2 // bytes of a statement besides its values
	spell, texts := false, 0
	if request.GaveUpStatements(req.Link) {
		for i := range ms {
			texts += len(ms[i].Statement.Text) + 2
		}
		spell = len(b.Raw)+texts < maxBatch/2
	}
	n := len(b.Raw)
	if spell {
		n += texts
	}
	for i := range ms {
		n += overhead
		for _, v := range ms[i].Values {
			n += 4 + len(v.Bytes)
		}
		if n > maxBatch && b.Count+i > 0 {
			return errBatchTooLarge
		}
	}
	if n > request.ShortRead {
		if err := room.Hold(request.CopyFactor * n); err != nil { // the statements, and the message that the door makes of them
			return err
		}
	}
	b.Raw = slices.Grow(b.Raw, n-len(b.Raw))
	for i := range ms {
		m := &ms[i]
		s := wire.BatchStatement{Values: request.EncodeValues(m.Values)}
		if spell {
			s.Text = []byte(m.Statement.Text)
		} else {
			ids, err := a.Cache.Physical(m.Statement.Text).Prepare(ctx, req.Link, req.Version, m.Statement.Text)
			if err != nil {
				return err
			}
			s.Prepared, s.ID = true, ids.Statement
		}
		b.Raw = wire.AppendBatchStatement(b.Raw, &s)
		b.Count++
	}
	return nil
}

// SendBatch sends a batch with further writes, and answers with its result. of is the table that has
// the batch's conditions; nil: the batch has none.
func (a *Applier) SendBatch(ctx context.Context, req *cqldoor.Request, b *wire.Batch, ms []plan.Mutation, params *wire.Params, of *plan.Table) error {
	body, err := a.applyBatch(ctx, req, b, ms, params)
	if err != nil {
		return err
	}
	if of != nil {
		if body, err = logicalRow(req.Version, body, of); err != nil {
			return err
		}
	}
	return request.Respond(ctx, req, nil, body)
}

// applyBatch sends a batch with further writes, and returns the body of its RESULT.
func (a *Applier) applyBatch(ctx context.Context, req *cqldoor.Request, b *wire.Batch, ms []plan.Mutation, params *wire.Params) ([]byte, error) {
	room := request.ValueMemory{Ctx: ctx}
	defer room.Close()
	if err := a.appendMutations(ctx, req, b, ms, &room); err != nil {
		return nil, err
	}
	if b.Count > plan.MaxMutations {
		return nil, wire.Invalidf("Too many statements in a batch: write_sharding makes %d of it, the protocol allows %d", b.Count, plan.MaxMutations)
	}
	b.Params = wire.Params{Consistency: params.Consistency}
	if params.Has(wire.QuerySerialConsistency) {
		b.Params.SetSerialConsistency(params.SerialConsistency)
	}
	if params.Has(wire.QueryDefaultTimestamp) {
		b.Params.SetDefaultTimestamp(params.DefaultTimestamp)
	}
	if params.Has(wire.QueryKeyspace) { // for statements that the door passes on unchanged
		b.Params.SetKeyspace(params.Keyspace)
	}
	if params.Has(wire.QueryNowInSeconds) {
		b.Params.SetNowInSeconds(params.NowInSeconds)
	}
	return store.Call(ctx, req.Link, req.Version, wire.Message{Op: wire.OpBatch, Body: wire.AppendBatch(nil, req.Version, b)})
}
