// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// What a request is answered when its connection was lost, or when no response
// came in time. Whether it was executed is then not known, and drivers act on
// the error's type:
//
//   - Overloaded: the Python driver's default policy sends the request to the next
//     host whatever it is; the Java and Node drivers do so for statements marked
//     idempotent. Right for what was never sent, and for reads. Wrong for a write
//     that may have been applied: an increment or a list append would be doubled.
//   - Write timeout: means exactly "may or may not have been applied". No driver
//     repeats one of type SIMPLE or UNLOGGED_BATCH of its own accord (they repeat
//     BATCH_LOG), and an application that can repeat it knows to.
//   - Server error: repeated like Overloaded by Python, and says nothing.
//
// So: what was not sent, Overloaded; a SELECT or a PREPARE, Overloaded; all else,
// a write timeout with nothing received.

// errNotSent answers what certainly was not sent.
func errNotSent(why string) *wire.Error {
	return wire.Errorf(wire.CodeOverloaded, "evenkeel: %s; the request was not sent", why)
}

// errLost answers what was sent and not answered. text is the statement where it
// is known, of an EXECUTE that of its id.
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
