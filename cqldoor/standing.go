// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// The door judges a request when it arrives, and forwards it if the router does not claim it. If the
// process then stands still, another door may shard the request's table before the store has answered.
// So the answer to a forwarded request counts only if the router still stands by that judgement when the
// answer has arrived. The door keeps no more of a forwarded request than the term in which it was judged.

// Standing is a router's judgement of answers to requests that the door has forwarded. The goroutines of
// many connections call it.
type Standing interface {
	// Term returns the number of the present term. A new term begins when the router has read the tables
	// again after a time in which it could not. The door calls Term before it judges a request.
	Term() uint32

	// Stands reports, after the store has answered a request that was judged in a term, whether the
	// answer counts. It is brief and does not allocate. at may be nil. If it is not, Stands
	// checks once for all responses that arrived together.
	Stands(term uint32, at *wire.Arrival) bool

	// Review finds out whether an answer counts for which Stands was false. It may wait. It returns nil,
	// or the error to answer with in place of resp.
	Review(ctx context.Context, term uint32, resp wire.Message) error
}

// forwardedIn is the Premise of a request that was judged in a term.
type forwardedIn struct {
	standing Standing
	term     uint32
}

func (f forwardedIn) Holds(at *wire.Arrival) bool { return f.standing.Stands(f.term, at) }

func (forwardedIn) End(uint32) {}

func (f forwardedIn) Review(ctx context.Context, r *Request, resp wire.Message) {
	if err := f.standing.Review(ctx, f.term, resp); err != nil {
		r.Error(err)
		return
	}
	r.Reply(resp)
}

// A tag with tagForwarded is a stream, with the term in which the request was judged above it.
const (
	tagForwarded = 1 << 29
	tagTerm      = 16
)

// TermMask cuts a term to the bits that a tag has for it. No request is under way for as many terms.
const TermMask = 1<<(29-tagTerm) - 1

// receiveForwarded judges the response to a forwarded request. It reports false if the response is not to
// be sent yet.
func (c *conn) receiveForwarded(tag, era uint32, resp wire.Message) bool {
	s, term := c.d.standing, tag>>tagTerm&TermMask
	if s.Stands(term, resp.Arrival) {
		return true
	}
	r := c.freshRequest(int16(uint16(tag)), era)
	r.watched.heard(resp)
	r.review(forwardedIn{s, term}, 0, resp)
	return false
}
