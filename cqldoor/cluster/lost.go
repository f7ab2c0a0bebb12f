// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// This file chooses the answer to a request whose connection was lost, or whose response did not
// come in time. The door then does not know whether the request was executed, and drivers act on
// the error's type:
//
//   - Overloaded: the Python driver's default policy sends any request to the next host. The
//     Java and Node drivers do so for statements marked idempotent. This is right for requests
//     that were never sent, and for reads. It is wrong for a write that may have been applied:
//     an increment or a list append would be doubled.
//   - Write timeout: means exactly "may or may not have been applied". No driver repeats one of
//     type SIMPLE or UNLOGGED_BATCH by itself (they repeat BATCH_LOG), and an application that
//     can repeat it knows to.
//   - Server error: Python repeats it like Overloaded, and it does not say whether the request was
//     executed.
//
// So the door answers Overloaded for a request that was not sent, a SELECT or a PREPARE. It
// answers everything else with a write timeout with nothing received.

// errNotSent returns the answer to a request that certainly was not sent.
func errNotSent(why string) *wire.Error {
	return wire.Errorf(wire.CodeOverloaded, "evenkeel: %s; the request was not sent", why)
}

// errLost returns the answer to a request that was sent but not answered. text is the statement if
// it is known; for an EXECUTE, it is the statement of its id.
func errLost(op wire.Op, text []byte, why string) *wire.Error {
	switch op {
	case wire.OpExecute, wire.OpQuery:
		if isSelect(text) {
			return wire.Errorf(wire.CodeOverloaded, "evenkeel: %s before the response of this read came", why)
		}
		e := wire.Errorf(wire.CodeWriteTimeout, "evenkeel: %s before the response came; the request may or may not have been executed", why)
		e.Consistency, e.Required, e.WriteType = wire.One, 1, wire.WriteSimple
		return e
	case wire.OpBatch:
		e := wire.Errorf(wire.CodeWriteTimeout, "evenkeel: %s before the response came; the batch may or may not have been applied", why)
		e.Consistency, e.Required, e.WriteType = wire.One, 1, wire.WriteUnloggedBatch
		return e
	}
	return wire.Errorf(wire.CodeOverloaded, "evenkeel: %s before the response came", why)
}

// isSelect reports whether a statement begins with SELECT, comments aside.
func isSelect(text []byte) bool {
	for {
		text = bytes.TrimLeft(text, " \t\r\n\f")
		var end []byte
		switch {
		case bytes.HasPrefix(text, []byte("--")), bytes.HasPrefix(text, []byte("//")):
			end = []byte("\n")
		case bytes.HasPrefix(text, []byte("/*")):
			end = []byte("*/")
		default:
			return len(text) >= 6 && bytes.EqualFold(text[:6], []byte("select"))
		}
		i := bytes.Index(text, end)
		if i < 0 {
			return false
		}
		text = text[i+len(end):]
	}
}
