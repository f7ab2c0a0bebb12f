// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"net/netip"
)

// Cursor reads the protocol's primitives (native_protocol_v5.spec §3) from a body. Its error is
// sticky: after the first failure every read returns a zero value, so a parser needs only one check
// at its end. The []byte that it returns are views into the body.
type Cursor struct {
	b   []byte
	off int
	err *Error
}

// NewCursor returns a cursor at the start of body.
func NewCursor(body []byte) Cursor { return Cursor{b: body} }

var errShort = &Error{Code: CodeProtocol, Message: "message body is shorter than its contents announce"}

// Err returns the first failure, or nil.
func (c *Cursor) Err() error {
	if c.err != nil {
		return c.err
	}
	return nil
}

// Fail makes the cursor fail with e, unless it has already failed.
func (c *Cursor) Fail(e *Error) {
	if c.err == nil {
		c.err = e
	}
	c.off = len(c.b)
}

// Offset returns the number of bytes that have been read.
func (c *Cursor) Offset() int { return c.off }

// Remaining returns the number of bytes that are left.
func (c *Cursor) Remaining() int { return len(c.b) - c.off }

// Rest reads all remaining bytes.
func (c *Cursor) Rest() []byte {
	b := c.b[c.off:]
	c.off = len(c.b)
	return b
}

// Skip skips n bytes.
func (c *Cursor) Skip(n int) { c.Raw(n) }

// Raw reads n bytes.
func (c *Cursor) Raw(n int) []byte {
	if n < 0 || n > len(c.b)-c.off {
		c.Fail(errShort)
		return nil
	}
	b := c.b[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

// Byte reads a [byte].
func (c *Cursor) Byte() uint8 {
	if c.off >= len(c.b) {
		c.Fail(errShort)
		return 0
	}
	v := c.b[c.off]
	c.off++
	return v
}

// Short reads a [short].
func (c *Cursor) Short() uint16 {
	if len(c.b)-c.off < 2 {
		c.Fail(errShort)
		return 0
	}
	v := binary.BigEndian.Uint16(c.b[c.off:])
	c.off += 2
	return v
}

// Int reads an [int].
func (c *Cursor) Int() int32 {
	if len(c.b)-c.off < 4 {
		c.Fail(errShort)
		return 0
	}
	v := int32(binary.BigEndian.Uint32(c.b[c.off:]))
	c.off += 4
	return v
}

// Long reads a [long].
func (c *Cursor) Long() int64 {
	if len(c.b)-c.off < 8 {
		c.Fail(errShort)
		return 0
	}
	v := int64(binary.BigEndian.Uint64(c.b[c.off:]))
	c.off += 8
	return v
}

// Str reads a [string].
func (c *Cursor) Str() []byte { return c.text(int(c.Short()), errShortString) }

// LongStr reads a [long string].
func (c *Cursor) LongStr() []byte { return c.text(int(c.Int()), errShortLongString) }

func (c *Cursor) text(n int, short *Error) []byte {
	if n < 0 || n > len(c.b)-c.off {
		c.Fail(short)
		return nil
	}
	return c.Raw(n)
}

// The messages are Cassandra's, which has different ones for strings and bytes.
var (
	errShortString     = &Error{Code: CodeProtocol, Message: "Not enough bytes to read an UTF8 serialized string preceded by its 2 bytes length"}
	errShortBytes      = &Error{Code: CodeProtocol, Message: "Not enough bytes to read a byte array preceded by its 2 bytes length"}
	errShortLongString = &Error{Code: CodeProtocol, Message: "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length"}
)

// ShortBytes reads [short bytes].
func (c *Cursor) ShortBytes() []byte { return c.text(int(c.Short()), errShortBytes) }

// Bytes reads [bytes]; it returns nil for null.
func (c *Cursor) Bytes() []byte {
	n := c.Int()
	if n < 0 {
		return nil
	}
	return c.Raw(int(n))
}

// Value reads a [value]. It returns nil for null (length -1) and for unset (-2). Other negative
// lengths are errors.
func (c *Cursor) Value() (b []byte, unset bool) {
	n := c.Int()
	if n < 0 {
		switch n {
		case -1:
		case -2:
			unset = true
		default:
			c.Fail(Errorf(CodeProtocol, "Invalid ByteBuf length %d", n))
		}
		return nil, unset
	}
	if int(n) > len(c.b)-c.off {
		c.Fail(Errorf(CodeProtocol, "Cannot read value of length %d, only %d bytes remaining in the message", n, len(c.b)-c.off))
		return nil, false
	}
	return c.Raw(int(n)), false
}

// UUID reads a [uuid].
func (c *Cursor) UUID() (u [16]byte) {
	copy(u[:], c.Raw(16))
	return u
}

// Consistency reads a [consistency].
func (c *Cursor) Consistency() Consistency {
	v := Consistency(c.Short())
	if c.err == nil && !v.Known() {
		c.Fail(Errorf(CodeProtocol, "Unknown code %d for a consistency level", uint16(v)))
	}
	return v
}

// InetAddr reads an [inetaddr].
func (c *Cursor) InetAddr() netip.Addr {
	a, ok := netip.AddrFromSlice(c.Raw(int(c.Byte())))
	if c.err == nil && !ok {
		c.Fail(errInet)
	}
	return a
}

var errInet = &Error{Code: CodeProtocol, Message: "address is neither 4 nor 16 bytes long"}

// Inet reads an [inet].
func (c *Cursor) Inet() netip.AddrPort {
	a := c.InetAddr()
	port := c.Int()
	if c.err == nil && (port < 0 || port > 65535) {
		c.Fail(errInet)
	}
	return netip.AddrPortFrom(a, uint16(port))
}

// StringList reads a [string list] and copies it.
func (c *Cursor) StringList() []string {
	n := int(c.Short())
	var list []string
	for i := 0; i < n && c.err == nil; i++ {
		list = append(list, string(c.Str()))
	}
	if c.err != nil {
		return nil
	}
	return list
}

// StringMap reads a [string map] and copies it. If a key repeats, its last value counts.
func (c *Cursor) StringMap() map[string]string {
	n := int(c.Short())
	m := map[string]string{}
	for i := 0; i < n && c.err == nil; i++ {
		k := string(c.Str())
		m[k] = string(c.Str())
	}
	return m
}

// StringMultimap reads a [string multimap] and copies it.
func (c *Cursor) StringMultimap() map[string][]string {
	n := int(c.Short())
	m := map[string][]string{}
	for i := 0; i < n && c.err == nil; i++ {
		k := string(c.Str())
		m[k] = c.StringList()
	}
	return m
}

// BytesMap reads a [bytes map]. It copies the keys; the values are views.
func (c *Cursor) BytesMap() map[string][]byte {
	n := int(c.Short())
	m := map[string][]byte{}
	for i := 0; i < n && c.err == nil; i++ {
		k := string(c.Str())
		m[k] = c.Bytes()
	}
	return m
}

// skipStrings skips a [string list].
func (c *Cursor) skipStrings() {
	for n := int(c.Short()); n > 0 && c.err == nil; n-- {
		c.Str()
	}
}

// skipBytesMap skips a [bytes map].
func (c *Cursor) skipBytesMap() {
	for n := int(c.Short()); n > 0 && c.err == nil; n-- {
		c.Str()
		c.Bytes()
	}
}
