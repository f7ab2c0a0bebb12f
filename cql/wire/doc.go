// SPDX-License-Identifier: Apache-2.0

// Package wire implements the encoding of the native protocol, versions 4 and 5
// (native_protocol_v4.spec, native_protocol_v5.spec): frames, v5 segments, lz4, and the bodies of
// messages as views into the received bytes.
//
// It promises:
//
//  1. The frequent messages (QUERY, EXECUTE, BATCH, RESULT Rows) are sliced in place: nothing is
//     copied or allocated. A view is valid as long as its body. The body that Decoder.Next
//     returns is valid until the next call of Next.
//  2. Encoders append to a slice that the caller owns. A well-formed body that is parsed and
//     appended again has the same bytes.
//  3. No input makes it panic, recurse without bound, or allocate more than the input's size
//     justifies: it checks lengths before it uses them, and buffers grow as bytes arrive.
//  4. An error of a client or a server is an *Error, with Cassandra's code and, if Cassandra has
//     one, its text.
//
// This is a connection on the server's side; the client's side is the mirror image:
//
//	d := wire.NewRequestDecoder(conn, 128<<10)
//	var e wire.Encoder
//	h, body, err := d.Next()               // OPTIONS, STARTUP: bare frames
//	e.Frame(reply, nil)                    // READY or AUTHENTICATE, the last bare frame
//	e.Established(h.Version, wire.LZ4)     // in v5 both sides change to segments
//	d.Established(h.Version, wire.LZ4)
//	for {
//		h, body, err := d.Next()
//		e.Frame(answer, head, rows)        // as many frames as there are answers
//		buf = e.Take(buf)                  // one write
//		conn.Write(buf)
//	}
//
// The primitives (Cursor and the Append functions) are in cursor.go and append.go. Requests are in
// query.go, values.go and batch.go, responses in result.go, rows.go and error.go. The other messages
// of a session are in session.go.
//
// It does no I/O of its own; it imports cql/value.
package wire
