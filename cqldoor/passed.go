// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// The router passes an EXECUTE on with the backend's id in place of the client's. If the backend
// has forgotten the statement, its UNPREPARED names the backend's id, which no client knows. A
// driver that gets such an answer prepares nothing, and fails or repeats the request for ever. So
// the door keeps the client's id while the request is under way.

// A request is planned on what the router knows. Its answer is used only if that knowledge still
// holds when the store has answered: the moment of the answer counts, not the moment of sending.
// So the door keeps the request's Premise too.

// A Premise is the knowledge on which a request was planned. The goroutines of a connection call
// it for many requests at the same time.
type Premise interface {
	// Holds says, after the store has answered, whether the door's knowledge is still valid. It is
	// brief and does not allocate. at may be nil. If it is not, one check serves all responses that
	// came at that moment.
	Holds(at *wire.Arrival) bool

	// End is called once for each request, when its answer is settled. of is the number that the
	// router gave to PassUnder.
	End(of uint32)

	// Review ends a request for which Holds was false, with resp or with another answer. It may
	// wait. r has the body of the client's request only if the caller of PassUnder asked to keep
	// it.
	Review(ctx context.Context, r *Request, resp wire.Message)
}

// tagPassed, in the tag of a forwarded request, marks an EXECUTE of the router.
const tagPassed = 1 << 31

const passedChunk = 256

// slot is what the door keeps of an EXECUTE that was passed on.
type slot struct {
	id      [16]byte // the id that the client knows
	premise Premise  // nil: none
	of      uint32
}

// passed holds the slots by stream, in pieces that are made when they are first needed. The
// reader writes a slot before it forwards the request. The goroutine that receives the response
// reads the slot after that.
type passed [(1 << 16) / passedChunk]*[passedChunk]slot

// passTag returns the tag for a request that is passed on for r. Only the reader calls it.
func (r *Request) passTag(p Premise, of uint32) uint32 {
	tag := uint32(uint16(r.stream)) // without the era
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

// receivePassed takes the response to a passed EXECUTE. It returns the response to send. It
// reports false if that is not to be sent yet.
func (c *conn) receivePassed(tag, era uint32, resp wire.Message) (wire.Message, bool) {
	stream := tag &^ tagPassed
	s := &c.passed[stream/passedChunk][stream%passedChunk]
	if resp.Op == wire.OpError {
		resp = asKnown(c.version, s.id[:], resp)
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
	r := c.freshRequest(int16(uint16(stream)), era)
	r.Op = wire.OpExecute
	r.watched.heard(resp)
	r.review(p, of, resp)
	return resp, false
}

// review lets a premise judge a response, in a goroutine of its own.
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

// asKnown replaces the id in an ERROR to a passed EXECUTE by the id that the client knows.
func asKnown(v wire.Version, id []byte, resp wire.Message) wire.Message {
	prefix, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return resp
	}
	e, err := wire.ParseError(v, body)
	if err != nil || e.Code != wire.CodeUnprepared {
		return resp
	}
	known := wire.Error{Code: e.Code, ID: id}
	known.Message = strings.ReplaceAll(e.Message, hex.EncodeToString(e.ID), hex.EncodeToString(id))
	resp.Body = known.Append(prefix.Append(nil), v)
	return resp
}
