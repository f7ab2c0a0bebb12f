// SPDX-License-Identifier: Apache-2.0

// Package wire is the native protocol's bytes, versions 4 and 5
// (native_protocol_v4.spec, native_protocol_v5.spec): frames, v5 segments, lz4,
// and the bodies of messages as views into the bytes that arrived.
//
// It promises:
//
//  1. The hot messages (QUERY, EXECUTE, BATCH, RESULT Rows) are sliced in place:
//     nothing is copied or allocated. A view is valid as long as the body is,
//     and the body that Decoder.Next returns until its next call.
//  2. Encoders append to a slice that the caller owns; a well-formed body that is
//     parsed and appended again has the same bytes.
//  3. No input makes it panic, recurse without bound, or allocate more than the
//     input's size warrants: lengths are checked before they are believed, and
//     buffers grow as bytes arrive.
//  4. What a client or a server did wrong is an *Error, with Cassandra's code and,
//     where Cassandra has some, its words.
//
// A connection's way, on the side of the server; a client's is its mirror image:
//
//	d := wire.NewRequestDecoder(conn, 128<<10)
//	var e wire.Encoder
//	h, body, err := d.Next()               // OPTIONS, STARTUP: bare frames
//	e.Frame(reply, nil)                    // READY or AUTHENTICATE, the last bare frame
//	e.Established(h.Version, wire.LZ4)     // in v5 both sides go over to segments
//	d.Established(h.Version, wire.LZ4)
//	for {
//		h, body, err := d.Next()
//		e.Frame(answer, head, rows)        // as many frames as there are answers
//		buf = e.Take(buf)                  // one write
//		conn.Write(buf)
//	}
//
// The primitives (Cursor and the Append functions) are in cursor.go and append.go,
// requests in query.go, values.go and batch.go, responses in result.go, rows.go and
// error.go, all else of a session in session.go.
//
// It does no I/O of its own; it imports cql/value.
package wire
