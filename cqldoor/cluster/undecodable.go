// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// From protocol v5 on, Cassandra closes a connection on which more than one message in a row cannot be
// decoded (consecutive_message_errors_threshold). Clients share the connections to a host, so the
// messages of one client could end the requests of others. Two rules keep connections open:
//
//   - A message that Cassandra cannot decode is not sent. The door answers it (undecodable).
//   - Only Cassandra can tell whether it can decode a paging state. A message with one is followed by
//     OPTIONS, which can be decoded, so no two in a row fail (pages).

// undecodable returns the error to a request that no host of the cluster could decode, or nil.
func undecodable(v wire.Version, req wire.Message) *wire.Error {
	if v < wire.V5 {
		return nil
	}
	prefix, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return wire.AsError(err)
	}
	if !namesAreText(prefix.Payload) {
		return errUTF8
	}
	texts := true
	switch req.Op {
	case wire.OpQuery:
		var q wire.Query
		q, err = wire.ParseQuery(v, body)
		texts = utf8.Valid(q.Text) && decodable(&q.Params)
	case wire.OpPrepare:
		var p wire.Prepare
		p, err = wire.ParsePrepare(v, body)
		texts = utf8.Valid(p.Text) && utf8.Valid(p.Keyspace)
	case wire.OpExecute:
		var e wire.Execute
		e, err = wire.ParseExecute(v, body)
		texts = decodable(&e.Params)
	case wire.OpBatch:
		var b wire.Batch
		if b, err = wire.ParseBatch(v, body); b.Params.PagingState != nil {
			return errPagingState
		}
		texts = decodable(&b.Params)
		for it := b.Iter(); it.Next(); {
			texts = texts && utf8.Valid(it.Text)
		}
	}
	switch {
	case err != nil:
		return wire.AsError(err)
	case !texts:
		return errUTF8
	}
	return nil
}

// errPagingState answers a BATCH with a paging state. The protocol has none there, but Cassandra decodes
// one that comes.
var errPagingState = wire.Errorf(wire.CodeProtocol, "Invalid value for the paging state")

var errUTF8 = wire.Errorf(wire.CodeProtocol, "Cannot decode string as UTF8")

// decodable reports whether the texts in a request's parameters are UTF-8.
func decodable(p *wire.Params) bool {
	if p.Values.Named {
		for it := p.Values.Iter(); it.Next(); {
			if !utf8.Valid(it.Name) {
				return false
			}
		}
	}
	return utf8.Valid(p.Keyspace)
}

// namesAreText reports whether the names in a custom payload are UTF-8.
func namesAreText(payload []byte) bool {
	if payload == nil {
		return true
	}
	c := wire.NewCursor(payload)
	for n := c.Short(); n > 0; n-- {
		if !utf8.Valid(c.Str()) {
			return false
		}
		c.Bytes()
	}
	return true
}

// pages reports whether a request has a paging state. The flags of the request say so. pages reads nothing after them.
func pages(v wire.Version, req wire.Message) bool {
	if v < wire.V5 || req.Op != wire.OpQuery && req.Op != wire.OpExecute {
		return false
	}
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return false
	}
	c := wire.NewCursor(body)
	if req.Op == wire.OpQuery {
		c.LongStr()
	} else {
		c.ShortBytes()
		c.ShortBytes()
	}
	c.Short()
	return wire.QueryFlags(c.Int())&wire.QueryPagingState != 0 && c.Err() == nil
}
