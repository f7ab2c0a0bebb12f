// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// An EXECUTE that the router passes on has the backend's id in the place of the
// client's. Where the backend has given the statement up, its UNPREPARED names that
// id, which no client knows: drivers that get it prepare nothing, and fail or go
// round for ever. So the client's ids are kept while such requests are under way.

// A request that was planned on what the router knew is answered only if that still holds
// when the store has answered: the answer counts, not the sending. Its Premise is kept,
// too.

// A Premise is what a request was planned under. A connection's goroutines call it, for
// many requests at the same time.
type Premise interface {
	// Holds says, after the store has answered, whether what the request was planned
	// under still holds. It is brief, and does not allocate.
	// at may be nil; where it is not, what was looked at for one of its responses need not
	// be looked at for the others.
	Holds(at *wire.Arrival) bool

	// End is called once for each request, when its answer is settled. of is any number
	// that the router gave to PassUnder.
	End(of uint32)

	// Review ends a request for which Holds was false, with resp or otherwise. It may wait.
	// r has the body of the client's request only if PassUnder was told to keep it.
	Review(ctx context.Context, r *Request, resp wire.Message)
}

// tagPassed marks, in a tag of a forwarded request, an EXECUTE of the router.
const tagPassed = 1 << 31

const passedChunk = 256

// slot is what is kept of an EXECUTE that is passed on.
type slot struct {
	id      [16]byte // the client's
	premise Premise  // nil: none
	of      uint32
}

// passed are the slots by stream, in pieces that are made when they are first needed. The
// reader writes a slot before it forwards the request; who receives the response reads it
// after that.
type passed [(1 << 16) / passedChunk]*[passedChunk]slot

// passTag is the tag of a request that is passed on for r. Reader only.
func (r *Request) passTag(p Premise, of uint32) uint32 {
	tag := uint32(uint16(r.stream))
	if r.Op != wire.OpExecute {
		return tag
	}
	_, body, err := wire.SplitPrefix(r.Op, r.Flags, r.Body)
	if err != nil {
		return tag
	}
	id, err := wire.ExecuteID(body)
	if err != nil || len(id) != 16 {
		return tag
	}
	c := r.c
	if c.passed == nil {
		c.passed = new(passed)
	}
	chunk := &c.passed[tag/passedChunk]
	if *chunk == nil {
		*chunk = new([passedChunk]slot)
	}
	(*chunk)[tag%passedChunk] = slot{[16]byte(id), p, of}
	return tag | tagPassed
}

// receivePassed takes the response to a passed EXECUTE. It says whether that is the answer,
// as it is then to be sent.
func (c *conn) receivePassed(tag uint32, resp wire.Message) (wire.Message, bool) {
	stream := tag &^ tagPassed
	s := &c.passed[stream/passedChunk][stream%passedChunk]
	if resp.Op == wire.OpError {
		resp = c.asKnown(s.id[:], resp)
	}
	p, of := s.premise, s.of
	if p == nil {
		return resp, true
	}
	s.premise = nil
	if resp.Op == wire.OpError || p.Holds(resp.Arrival) {
		p.End(of)
		return resp, true
	}
	r := c.freshRequest(int16(uint16(stream)))
	r.Op = wire.OpExecute
	r.watched.heard(resp)
	r.review(p, of, resp)
	return resp, false
}

// review has a premise judge a response, in a goroutine of its own.
func (r *Request) review(p Premise, of uint32, resp wire.Message) {
	c := r.c
	if c.ctx.Err() != nil {
		p.End(of)
		r.Error(errGone) // nobody reads it
		return
	}
	d, use := c.d, r.uses.Load()
	resp.Body, resp.Arrival = slices.Clone(resp.Body), nil
	d.wg.Add(1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				d.panicked(p)
				r.fail(use)
			}
			p.End(of)
			d.wg.Done()
		}()
		p.Review(c.ctx, r, resp)
	}()
}

// asKnown is an ERROR to a passed EXECUTE with the id that the client knows.
func (c *conn) asKnown(id []byte, resp wire.Message) wire.Message {
	prefix, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return resp
	}
	e, err := wire.ParseError(c.version, body)
	if err != nil || e.Code != wire.CodeUnprepared {
		return resp
	}
	known := wire.Error{Code: e.Code, ID: id}
	known.Message = strings.ReplaceAll(e.Message, hex.EncodeToString(e.ID), hex.EncodeToString(id))
	resp.Body = known.Append(prefix.Append(nil), c.version)
	return resp
}
