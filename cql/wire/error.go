// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"net/netip"
)

// Code is the code of an ERROR (native_protocol_v5.spec §9).
type Code int32

const (
	CodeServer          Code = 0x0000
	CodeProtocol        Code = 0x000A
	CodeBadCredentials  Code = 0x0100
	CodeUnavailable     Code = 0x1000
	CodeOverloaded      Code = 0x1001
	CodeIsBootstrapping Code = 0x1002
	CodeTruncate        Code = 0x1003
	CodeWriteTimeout    Code = 0x1100
	CodeReadTimeout     Code = 0x1200
	CodeReadFailure     Code = 0x1300
	CodeFunctionFailure Code = 0x1400
	CodeWriteFailure    Code = 0x1500
	CodeCDCWriteFailure Code = 0x1600
	CodeCASWriteUnknown Code = 0x1700 // v5; v4 sends CodeWriteTimeout instead
	CodeSyntax          Code = 0x2000
	CodeUnauthorized    Code = 0x2100
	CodeInvalid         Code = 0x2200
	CodeConfig          Code = 0x2300
	CodeAlreadyExists   Code = 0x2400
	CodeUnprepared      Code = 0x2500
)

func (c Code) String() string {
	switch c {
	case CodeServer:
		return "server error"
	case CodeProtocol:
		return "protocol error"
	case CodeBadCredentials:
		return "bad credentials"
	case CodeUnavailable:
		return "unavailable"
	case CodeOverloaded:
		return "overloaded"
	case CodeIsBootstrapping:
		return "is bootstrapping"
	case CodeTruncate:
		return "truncate error"
	case CodeWriteTimeout:
		return "write timeout"
	case CodeReadTimeout:
		return "read timeout"
	case CodeReadFailure:
		return "read failure"
	case CodeFunctionFailure:
		return "function failure"
	case CodeWriteFailure:
		return "write failure"
	case CodeCDCWriteFailure:
		return "cdc write failure"
	case CodeCASWriteUnknown:
		return "cas write unknown"
	case CodeSyntax:
		return "syntax error"
	case CodeUnauthorized:
		return "unauthorized"
	case CodeInvalid:
		return "invalid"
	case CodeConfig:
		return "config error"
	case CodeAlreadyExists:
		return "already exists"
	case CodeUnprepared:
		return "unprepared"
	}
	return fmt.Sprintf("error 0x%04X", int32(c))
}

// The write types of write timeouts and failures.
const (
	WriteSimple        = "SIMPLE"
	WriteBatch         = "BATCH"
	WriteUnloggedBatch = "UNLOGGED_BATCH"
	WriteCounter       = "COUNTER"
	WriteBatchLog      = "BATCH_LOG"
	WriteCAS           = "CAS"
	WriteView          = "VIEW"
	WriteCDC           = "CDC"
)

// Error is both an ERROR message and a Go error. Every error that a client may see is an *Error.
// Each field after Code and Message has a meaning only for the codes that its comment names; other
// codes ignore it.
type Error struct {
	Code    Code
	Message string

	Consistency Consistency // Unavailable, the timeouts and failures, CASWriteUnknown
	Required    int32       // Unavailable, the timeouts and failures, CASWriteUnknown: replicas (or responses) that the level requires
	Alive       int32       // Unavailable: replicas known to be alive
	Received    int32       // the timeouts and failures, CASWriteUnknown: responses received
	Failures    int32       // ReadFailure, WriteFailure; in v5 the number of Reasons
	Reasons     []Reason    // ReadFailure, WriteFailure, v5
	DataPresent bool        // ReadTimeout, ReadFailure: the replica asked for data answered
	WriteType   string      // WriteTimeout, WriteFailure
	Contentions int16       // WriteTimeout in v5, if WriteType is CAS

	Keyspace string   // FunctionFailure, AlreadyExists
	Table    string   // AlreadyExists; "" if the keyspace exists already
	Function string   // FunctionFailure
	Args     []string // FunctionFailure: the argument types

	ID []byte // Unprepared: the unknown id
}

// Reason is one replica's failure, an entry of v5's reason map.
type Reason struct {
	Addr netip.Addr
	Code uint16 // a RequestFailureReason: 0 unknown, 1 too many tombstones, 2 timeout, …
}

func (e *Error) Error() string { return e.Code.String() + ": " + e.Message }

// Is lets errors.Is(err, &Error{Code: c}) compare only the codes. If the target has a message, the
// messages must be equal too.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && (t.Message == "" || t.Message == e.Message)
}

// Errorf returns an error with a code and a message only.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalidf returns an error with CodeInvalid.
func Invalidf(format string, args ...any) *Error { return Errorf(CodeInvalid, format, args...) }

// AsError returns err as an *Error: err itself or the *Error that it wraps, otherwise a server
// error with its text. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeServer, Message: err.Error()}
}

// Append appends the body of the ERROR message. v4 has no CodeCASWriteUnknown; Append writes it as
// a write timeout, as Cassandra does.
func (e *Error) Append(dst []byte, v Version) []byte {
	code := e.Code
	if v < V5 && code == CodeCASWriteUnknown {
		code = CodeWriteTimeout
	}
	dst = AppendInt(dst, int32(code))
	dst = AppendString(dst, e.Message)
	switch code {
	case CodeUnavailable:
		dst = AppendConsistency(dst, e.Consistency)
		dst = AppendInt(dst, e.Required)
		dst = AppendInt(dst, e.Alive)
	case CodeWriteTimeout:
		dst = e.appendCounts(dst)
		writeType := e.WriteType
		if e.Code == CodeCASWriteUnknown {
			writeType = WriteCAS
		}
		dst = AppendString(dst, writeType)
		if v >= V5 && writeType == WriteCAS {
			dst = AppendShort(dst, uint16(e.Contentions))
		}
	case CodeReadTimeout:
		dst = e.appendCounts(dst)
		dst = appendBool(dst, e.DataPresent)
	case CodeReadFailure:
		dst = e.appendCounts(dst)
		dst = e.appendReasons(dst, v)
		dst = appendBool(dst, e.DataPresent)
	case CodeWriteFailure:
		dst = e.appendCounts(dst)
		dst = e.appendReasons(dst, v)
		dst = AppendString(dst, e.WriteType)
	case CodeCASWriteUnknown:
		dst = e.appendCounts(dst)
	case CodeFunctionFailure:
		dst = AppendString(dst, e.Keyspace)
		dst = AppendString(dst, e.Function)
		dst = AppendStringList(dst, e.Args)
	case CodeAlreadyExists:
		dst = AppendString(dst, e.Keyspace)
		dst = AppendString(dst, e.Table)
	case CodeUnprepared:
		dst = AppendShortBytes(dst, e.ID)
	}
	return dst
}

func (e *Error) appendCounts(dst []byte) []byte {
	dst = AppendConsistency(dst, e.Consistency)
	dst = AppendInt(dst, e.Received)
	return AppendInt(dst, e.Required)
}

// appendReasons appends the number of failures and, in v5, which replicas failed and why. In v5 the
// number must be that of the reasons that follow.
func (e *Error) appendReasons(dst []byte, v Version) []byte {
	if v < V5 {
		return AppendInt(dst, max(e.Failures, int32(len(e.Reasons))))
	}
	dst = AppendInt(dst, int32(len(e.Reasons)))
	for _, r := range e.Reasons {
		dst = AppendShort(AppendInetAddr(dst, r.Addr), r.Code)
	}
	return dst
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// ParseError parses the body of an ERROR message. It keeps an unknown code and its message.
func ParseError(v Version, body []byte) (*Error, error) {
	c := NewCursor(body)
	e := &Error{Code: Code(c.Int()), Message: string(c.Str())}
	switch e.Code {
	case CodeUnavailable:
		e.Consistency = c.Consistency()
		e.Required = c.Int()
		e.Alive = c.Int()
	case CodeWriteTimeout:
		e.parseCounts(&c)
		e.WriteType = string(c.Str())
		if v >= V5 && e.WriteType == WriteCAS {
			e.Contentions = int16(c.Short())
		}
	case CodeReadTimeout:
		e.parseCounts(&c)
		e.DataPresent = c.Byte() != 0
	case CodeReadFailure:
		e.parseCounts(&c)
		e.parseReasons(&c, v)
		e.DataPresent = c.Byte() != 0
	case CodeWriteFailure:
		e.parseCounts(&c)
		e.parseReasons(&c, v)
		e.WriteType = string(c.Str())
	case CodeCASWriteUnknown:
		e.parseCounts(&c)
	case CodeFunctionFailure:
		e.Keyspace = string(c.Str())
		e.Function = string(c.Str())
		e.Args = c.StringList()
	case CodeAlreadyExists:
		e.Keyspace = string(c.Str())
		e.Table = string(c.Str())
	case CodeUnprepared:
		e.ID = append([]byte{}, c.ShortBytes()...)
	}
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("parse ERROR: %w", err)
	}
	return e, nil
}

func (e *Error) parseCounts(c *Cursor) {
	e.Consistency = c.Consistency()
	e.Received = c.Int()
	e.Required = c.Int()
}

func (e *Error) parseReasons(c *Cursor, v Version) {
	e.Failures = c.Int()
	if v < V5 {
		return
	}
	for n := e.Failures; n > 0 && c.err == nil; n-- {
		e.Reasons = append(e.Reasons, Reason{Addr: c.InetAddr(), Code: c.Short()})
	}
}
