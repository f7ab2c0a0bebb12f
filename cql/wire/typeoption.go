// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Type options (native_protocol_v5.spec §4.2.5.2). The protocol has no id for vectors and the empty
// type, and v4 has none for duration. Those are custom types, named by their Java class.
const (
	optionCustom = 0x0000
	optionList   = 0x0020
	optionMap    = 0x0021
	optionSet    = 0x0022
	optionUDT    = 0x0030
	optionTuple  = 0x0031
)

// optionIDs are the ids of the kinds without parameters.
var optionIDs = [...]uint16{
	value.Ascii: 0x01, value.Bigint: 0x02, value.Blob: 0x03, value.Boolean: 0x04, value.Counter: 0x05,
	value.Decimal: 0x06, value.Double: 0x07, value.Float: 0x08, value.Int: 0x09, value.Timestamp: 0x0B,
	value.UUID: 0x0C, value.Text: 0x0D, value.Varint: 0x0E, value.Timeuuid: 0x0F, value.Inet: 0x10,
	value.Date: 0x11, value.Time: 0x12, value.Smallint: 0x13, value.Tinyint: 0x14, value.Duration: 0x15,
}

// nativeKinds maps the ids of optionIDs back to kinds.
var nativeKinds = func() (kinds [0x16]value.Kind) {
	for k, id := range optionIDs {
		if id != 0 {
			kinds[id] = value.Kind(k)
		}
	}
	return kinds
}()

// maxTypeDepth is how deep types may be nested, so that the parser's recursion is bounded. Every
// level takes at least two bytes.
const maxTypeDepth = 64

var (
	errTypeDepth  = &Error{Code: CodeProtocol, Message: "type is nested too deep"}
	errTypeOption = &Error{Code: CodeProtocol, Message: "unknown type option"}
)

// AppendType appends a type's option.
func AppendType(dst []byte, v Version, t *value.Type) []byte {
	switch t.Kind {
	case value.List:
		return AppendType(AppendShort(dst, optionList), v, t.Elems[0])
	case value.Set:
		return AppendType(AppendShort(dst, optionSet), v, t.Elems[0])
	case value.Map:
		return AppendType(AppendType(AppendShort(dst, optionMap), v, t.Elems[0]), v, t.Elems[1])
	case value.Tuple:
		dst = AppendShort(AppendShort(dst, optionTuple), uint16(len(t.Elems)))
		for _, e := range t.Elems {
			dst = AppendType(dst, v, e)
		}
		return dst
	case value.UDT:
		dst = AppendString(AppendString(AppendShort(dst, optionUDT), t.Keyspace), t.Name)
		dst = AppendShort(dst, uint16(len(t.Elems)))
		for i, e := range t.Elems {
			dst = AppendType(AppendString(dst, t.Fields[i]), v, e)
		}
		return dst
	case value.Custom:
		return AppendString(AppendShort(dst, optionCustom), t.Name)
	case value.Vector, value.Empty:
		return AppendString(AppendShort(dst, optionCustom), t.Class())
	case value.Duration:
		if v < V5 {
			return AppendString(AppendShort(dst, optionCustom), t.Class())
		}
	}
	return AppendShort(dst, optionIDs[t.Kind])
}

// ParseType parses a type's option at the start of b and returns the bytes after it. The protocol
// does not tell which types are frozen. ParseType returns nested types as frozen, as they must be
// in a table, and the type itself as not frozen.
func ParseType(b []byte) (t *value.Type, rest []byte, err error) {
	c := NewCursor(b)
	t = c.Type()
	if err := c.Err(); err != nil {
		return nil, nil, fmt.Errorf("parse type: %w", err)
	}
	return t, c.Rest(), nil
}

// Type reads an [option] that is a type, as ParseType does. It returns nil if the cursor has
// failed.
func (c *Cursor) Type() *value.Type {
	t := c.typeOption(0)
	if c.err != nil {
		return nil
	}
	return t
}

func (c *Cursor) typeOption(depth int) *value.Type {
	if depth > maxTypeDepth {
		c.Fail(errTypeDepth)
	}
	id := c.Short()
	if c.err != nil {
		return nil
	}
	if int(id) < len(nativeKinds) && nativeKinds[id] != 0 {
		return value.Native(nativeKinds[id])
	}
	frozen := depth > 0
	switch id {
	case optionCustom:
		return c.customType()
	case optionList, optionSet:
		e := c.typeOption(depth + 1)
		if c.err != nil {
			return nil
		}
		if id == optionSet {
			return value.SetOf(e, frozen)
		}
		return value.ListOf(e, frozen)
	case optionMap:
		k := c.typeOption(depth + 1)
		e := c.typeOption(depth + 1)
		if c.err != nil {
			return nil
		}
		return value.MapOf(k, e, frozen)
	case optionTuple:
		n := int(c.Short())
		var elems []*value.Type
		for i := 0; i < n && c.err == nil; i++ {
			elems = append(elems, c.typeOption(depth+1))
		}
		if c.err != nil {
			return nil
		}
		return value.TupleOf(elems...)
	case optionUDT:
		keyspace, name := string(c.Str()), string(c.Str())
		n := int(c.Short())
		var fields []string
		var elems []*value.Type
		for i := 0; i < n && c.err == nil; i++ {
			fields = append(fields, string(c.Str()))
			elems = append(elems, c.typeOption(depth+1))
		}
		if c.err != nil {
			return nil
		}
		return value.UDTOf(keyspace, name, fields, elems, frozen)
	}
	c.Fail(errTypeOption)
	return nil
}

// customType reads a Java class. It returns a CQL type that has no id, or else a custom type.
func (c *Cursor) customType() *value.Type {
	class := string(c.Str())
	if c.err != nil {
		return nil
	}
	t, reversed, err := value.ParseClass(class)
	if err == nil && !reversed {
		switch t.Kind {
		case value.Vector, value.Empty, value.Duration:
			return t
		}
	}
	return value.CustomOf(class)
}

// skipType skips a type's option.
func (c *Cursor) skipType(depth int) {
	if depth > maxTypeDepth {
		c.Fail(errTypeDepth)
	}
	id := c.Short()
	if c.err != nil || int(id) < len(nativeKinds) && nativeKinds[id] != 0 {
		return
	}
	switch id {
	case optionCustom:
		c.Str()
	case optionList, optionSet:
		c.skipType(depth + 1)
	case optionMap:
		c.skipType(depth + 1)
		c.skipType(depth + 1)
	case optionTuple:
		for n := int(c.Short()); n > 0 && c.err == nil; n-- {
			c.skipType(depth + 1)
		}
	case optionUDT:
		c.Str()
		c.Str()
		for n := int(c.Short()); n > 0 && c.err == nil; n-- {
			c.Str()
			c.skipType(depth + 1)
		}
	default:
		c.Fail(errTypeOption)
	}
}
