package cqldoor

import (
	"encoding/hex"
	"strings"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// An EXECUTE that the router passes on has the backend's id in the place of the
// client's. Where the backend has given the statement up, its UNPREPARED names that
// id, which no client knows: drivers that get it prepare nothing, and fail or go
// round for ever. So the client's ids are kept while such requests are under way.

// tagPassed marks, in a tag of a forwarded request, an EXECUTE of the router.
const tagPassed = 1 << 31

const passedChunk = 512

// passed are the clients' ids by stream, in pieces that are made when they are
// first needed. The reader writes an entry before it forwards the request; who
// receives the response reads it after that.
type passed [(1 << 16) / passedChunk]*[passedChunk][16]byte

// passTag is the tag of a request that is passed on for r. Reader only.
func (r *Request) passTag() uint32 {
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
		*chunk = new([passedChunk][16]byte)
	}
	(*chunk)[tag%passedChunk] = [16]byte(id)
	return tag | tagPassed
}

// asKnown is an ERROR to a passed EXECUTE with the id that the client knows.
func (c *conn) asKnown(tag uint32, resp wire.Message) wire.Message {
	prefix, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return resp
	}
	e, err := wire.ParseError(c.version, body)
	if err != nil || e.Code != wire.CodeUnprepared {
		return resp
	}
	stream := tag &^ tagPassed
	id := c.passed[stream/passedChunk][stream%passedChunk]
	known := wire.Error{Code: e.Code, ID: id[:]}
	known.Message = strings.ReplaceAll(e.Message, hex.EncodeToString(e.ID), hex.EncodeToString(id[:]))
	resp.Body = known.Append(prefix.Append(nil), c.version)
	return resp
}
