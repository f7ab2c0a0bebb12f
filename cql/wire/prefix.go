// SPDX-License-Identifier: Apache-2.0

package wire

import "fmt"

// Prefix holds the parts of a body that the flags of a header announce and that come before the
// message itself (native_protocol_v5.spec §2.2). In responses they are a tracing id, warnings and a
// custom payload; in requests only the payload. The slices are views and still encoded.
type Prefix struct {
	TracingID []byte // 16 bytes, or nil
	Warnings  []byte // [string list], or nil
	Payload   []byte // [bytes map], or nil
}

// SplitPrefix splits a body into its prefix and the message. op distinguishes requests from
// responses.
func SplitPrefix(op Op, flags Flags, body []byte) (p Prefix, rest []byte, err error) {
	if flags&(FlagTracing|FlagWarning|FlagCustomPayload) == 0 {
		return Prefix{}, body, nil
	}
	c := NewCursor(body)
	if op.Response() {
		if flags&FlagTracing != 0 {
			p.TracingID = c.Raw(16)
		}
		if flags&FlagWarning != 0 {
			start := c.off
			c.skipStrings()
			p.Warnings = body[start:c.off:c.off]
		}
	}
	if flags&FlagCustomPayload != 0 {
		start := c.off
		c.skipBytesMap()
		p.Payload = body[start:c.off:c.off]
	}
	if err := c.Err(); err != nil {
		return Prefix{}, nil, fmt.Errorf("parse prefix of %s: %w", op, err)
	}
	return p, c.Rest(), nil
}

// WarningList decodes the warnings.
func (p *Prefix) WarningList() []string {
	if p.Warnings == nil {
		return nil
	}
	c := NewCursor(p.Warnings)
	return c.StringList()
}

// Flags returns the flags that announce p.
func (p *Prefix) Flags() Flags {
	var f Flags
	if p.TracingID != nil {
		f |= FlagTracing
	}
	if p.Warnings != nil {
		f |= FlagWarning
	}
	if p.Payload != nil {
		f |= FlagCustomPayload
	}
	return f
}

// Append appends the prefix in the encoding of a response.
func (p *Prefix) Append(dst []byte) []byte {
	dst = append(dst, p.TracingID...)
	dst = append(dst, p.Warnings...)
	return append(dst, p.Payload...)
}

// ResultBody returns the body of a response without its prefix, as a view of resp.Body. If resp is an
// ERROR, ResultBody returns it as an *Error, which has no view of resp.Body.
func ResultBody(v Version, resp Message) ([]byte, error) {
	_, body, err := SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.Op == OpError {
		e, err := ParseError(v, body)
		if err != nil {
			return nil, err
		}
		e.ID = append([]byte(nil), e.ID...)
		return nil, e
	}
	return body, nil
}
