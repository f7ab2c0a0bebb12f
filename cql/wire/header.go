// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
)

// HeaderSize is the length of a frame's header (native_protocol_v4.spec §2).
const HeaderSize = 9

// Highest is the highest version that this package speaks.
const Highest = V5

// SupportedVersions lists the versions as SUPPORTED and version errors show them.
var SupportedVersions = []string{"4/v4", "5/v5"}

// directionBit marks a response in the first byte of a header.
const directionBit = 0x80

// Supported reports whether this package implements v.
func (v Version) Supported() bool { return v == V4 || v == V5 }

func (v Version) String() string { return fmt.Sprintf("%d/v%d", uint8(v), uint8(v)) }

// Header is a frame's header.
type Header struct {
	Version  Version
	Response bool // the direction bit
	Flags    Flags
	Stream   int16
	Op       Op
	Length   int32 // of the body; Encoder ignores it and writes the body's own length
}

// ParseHeader parses the header at the start of b. It returns false if b is shorter than a header.
// It makes no other checks.
func ParseHeader(b []byte) (Header, bool) {
	if len(b) < HeaderSize {
		return Header{}, false
	}
	return Header{
		Version:  Version(b[0] &^ directionBit),
		Response: b[0]&directionBit != 0,
		Flags:    Flags(b[1]),
		Stream:   int16(binary.BigEndian.Uint16(b[2:])),
		Op:       Op(b[4]),
		Length:   int32(binary.BigEndian.Uint32(b[5:])),
	}, true
}

// Append appends the nine bytes of the header.
func (h Header) Append(dst []byte) []byte {
	first := byte(h.Version)
	if h.Response {
		first |= directionBit
	}
	return append(dst, first, byte(h.Flags), byte(uint16(h.Stream)>>8), byte(h.Stream), byte(h.Op),
		byte(uint32(h.Length)>>24), byte(uint32(h.Length)>>16), byte(uint32(h.Length)>>8), byte(h.Length))
}

// check returns an error if a received header is wrong. It checks in Cassandra's order: version,
// opcode, direction, length.
func (h Header) check(wantResponse bool) *Error {
	switch {
	case !h.Version.Supported():
		return VersionError(uint8(h.Version))
	case !h.Op.Known():
		return Errorf(CodeProtocol, "Unknown opcode %d", uint8(h.Op))
	case h.Response != wantResponse:
		return wrongDirection(h)
	case h.Op.Response() != wantResponse:
		return wrongDirection(h)
	case h.Length < 0:
		return Errorf(CodeProtocol, "Invalid value for envelope header body length field: %d", h.Length)
	}
	return nil
}

// wrongDirection returns the error with Cassandra's text: the direction that the opcode belongs to,
// and the direction in the header.
func wrongDirection(h Header) *Error {
	want, got := "REQUEST", "REQUEST"
	if h.Op.Response() {
		want = "RESPONSE"
	}
	if h.Response {
		got = "RESPONSE"
	}
	if want == got {
		return Errorf(CodeProtocol, "unexpected %s opcode %d (%s)", got, uint8(h.Op), h.Op)
	}
	return Errorf(CodeProtocol, "Wrong protocol direction (expected %s, got %s) for opcode %d (%s)", want, got, uint8(h.Op), h.Op)
}

// VersionError returns a server's error for a version that this package does not implement. Drivers
// recognise its text and then try a lower version.
func VersionError(got uint8) *Error {
	return Errorf(CodeProtocol, "Invalid or unsupported protocol version (%d); supported versions are (%s, %s)",
		got, SupportedVersions[0], SupportedVersions[1])
}

// AppendVersionError appends the whole frame that answers a frame of an unsupported version. The
// answer has the highest supported version and the same stream. Versions 1 and 2 are the exception:
// their header has a stream of one byte, so the answer has that form and stream 0, as in Cassandra.
func AppendVersionError(dst []byte, h Header) []byte {
	e := VersionError(uint8(h.Version))
	if h.Version == 1 || h.Version == 2 {
		body := e.Append(nil, V4)
		dst = append(dst, byte(h.Version)|directionBit, 0, 0, byte(OpError))
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)))
		return append(dst, body...)
	}
	start := len(dst)
	dst = Header{Version: Highest, Response: true, Stream: h.Stream, Op: OpError}.Append(dst)
	dst = e.Append(dst, Highest)
	binary.BigEndian.PutUint32(dst[start+HeaderSize-4:], uint32(len(dst)-start-HeaderSize))
	return dst
}

var opNames = [...]string{
	OpError: "ERROR", OpStartup: "STARTUP", OpReady: "READY", OpAuthenticate: "AUTHENTICATE",
	OpOptions: "OPTIONS", OpSupported: "SUPPORTED", OpQuery: "QUERY", OpResult: "RESULT",
	OpPrepare: "PREPARE", OpExecute: "EXECUTE", OpRegister: "REGISTER", OpEvent: "EVENT", OpBatch: "BATCH",
	OpAuthChallenge: "AUTH_CHALLENGE", OpAuthResponse: "AUTH_RESPONSE", OpAuthSuccess: "AUTH_SUCCESS",
}

// Known reports whether op is an opcode of versions 4 and 5.
func (op Op) Known() bool { return int(op) < len(opNames) && opNames[op] != "" }

// Response reports whether servers send op.
func (op Op) Response() bool {
	switch op {
	case OpError, OpReady, OpAuthenticate, OpSupported, OpResult, OpEvent, OpAuthChallenge, OpAuthSuccess:
		return true
	}
	return false
}

func (op Op) String() string {
	if op.Known() {
		return opNames[op]
	}
	return fmt.Sprintf("opcode %d", uint8(op))
}
