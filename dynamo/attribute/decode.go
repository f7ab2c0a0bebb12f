// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Decoder reads values from DynamoDB JSON into its own slabs of memory. The zero Decoder is ready.
// It must not be copied after use.
type Decoder struct {
	reader jsontext.Reader

	attributes slab[Attribute]
	values     slab[Value]
	bytes      slab[byte]

	// The elements read so far of the maps and lists that are still open. Those of the innermost
	// map or list are at the end.
	openAttributes []Attribute
	openValues     []Value

	// For a parameter of a statement: the fault that comes first.
	statement bool
	level     int
	wrong     Value
	isWrong   bool
}

// slab hands out pieces of memory. If a piece does not fit, slab allocates a new, larger slab.
type slab[T any] struct {
	free []T // of length 0
	all  []T // of length 0, from the current slab's beginning
}

const (
	firstSlab = 32
	lastSlab  = 4096
)

// take returns a piece of length 0 and capacity n.
func (s *slab[T]) take(n int) []T {
	if cap(s.free) < n {
		s.all = make([]T, 0, max(n, min(lastSlab, 2*cap(s.all)), firstSlab))
		s.free = s.all
	}
	piece := s.free[0:0:n]
	s.free = s.free[n:n:cap(s.free)][:0]
	return piece
}

// Reset lets the decoder use the memory of its values again. The values must not be used any more.
func (d *Decoder) Reset() {
	d.attributes.free = d.attributes.all
	d.values.free = d.values.all
	d.bytes.free = d.bytes.all
}

// keptBytes is the most memory that Release leaves to a decoder: slabs of their usual sizes, and the
// open elements of maps and lists as long.
const keptBytes = 512 << 10

// Release is Reset, and returns the memory of long items.
func (d *Decoder) Release() {
	if d.Reset(); d.Bytes() > keptBytes {
		*d = Decoder{}
	}
}

// Bytes returns how much memory the decoder keeps when it is reset.
func (d *Decoder) Bytes() int {
	const attribute, value = int(unsafe.Sizeof(Attribute{})), int(unsafe.Sizeof(Value{}))
	return attribute*(cap(d.attributes.all)+cap(d.openAttributes)) + value*(cap(d.values.all)+cap(d.openValues)) + cap(d.bytes.all)
}

// Item decodes one document that is an item in DynamoDB JSON. The item shares the memory of src.
// Errors are of kind Serialization. Values that DynamoDB refuses are decoded to invalid values.
func (d *Decoder) Item(src []byte) (Item, error) {
	d.reader.Reset(src)
	item := d.ReadItem(&d.reader)
	if err := d.reader.End(); err != nil {
		return nil, SerializationError(err)
	}
	return item, nil
}

// Some decodes only the attributes with some names, each given once, of an item in which no name
// occurs twice. It does not read what follows the last of them.
func (d *Decoder) Some(src []byte, names ...string) (Item, error) {
	r := &d.reader
	r.Reset(src)
	item := Item(d.attributes.take(len(names)))
	for r.Object(); len(item) < len(names) && r.Next(); {
		name := r.Name()
		if !slices.Contains(names, name) {
			r.Skip()
			continue
		}
		item = append(item, Attribute{name, d.readValue(r, "Unexpected value type in payload")})
	}
	if err := r.Err(); err != nil {
		return nil, SerializationError(err)
	}
	return normalize(item), nil
}

// Value decodes one document that is a value in DynamoDB JSON, in the way of Item.
func (d *Decoder) Value(src []byte) (Value, error) {
	d.reader.Reset(src)
	v := d.ReadValue(&d.reader)
	if err := d.reader.End(); err != nil {
		return Value{}, SerializationError(err)
	}
	return v, nil
}

// SerializationError returns the API's error for a document that a Reader refused. It is the
// exception that the Reader failed with. For a syntax error it is one without a message, as in AWS.
func SerializationError(err error) error {
	var e *exception.Error
	if errors.As(err, &e) {
		return e
	}
	return &exception.Error{Kind: exception.Serialization}
}

// ReadItem reads a map of values at r's position. null is a nil item.
func (d *Decoder) ReadItem(r *jsontext.Reader) Item {
	switch r.Peek() {
	case jsontext.Object:
	case jsontext.Null:
		r.Null()
		return nil
	case jsontext.Array:
		mismatch(r, "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>")
		return nil
	case jsontext.Invalid:
		r.Skip()
		return nil
	default:
		mismatch(r, "Unexpected field type")
		return nil
	}
	start := len(d.openAttributes)
	for r.Object(); r.Next(); {
		name := r.Name()
		v := d.readValue(r, "Unexpected value type in payload")
		d.openAttributes = append(d.openAttributes, Attribute{name, v})
	}
	open := d.openAttributes[start:]
	if len(open) == 0 {
		return Item{}
	}
	item := Item(append(d.attributes.take(len(open)), open...))
	clear(open)
	d.openAttributes = d.openAttributes[:start]
	return normalize(item)
}

// ReadValue reads a value that is a member of a structure, at r's position. null is an invalid
// value.
func (d *Decoder) ReadValue(r *jsontext.Reader) Value {
	return d.readValue(r, "Unexpected field type")
}

// AWS's messages about values with no type or with several.
const (
	msgNoType   = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgManyType = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
)

// ReadParameter reads a parameter of a statement at r's position. null is an invalid value. So is a
// value with more than MaxDepth levels. The message is about the first fault in the document.
func (d *Decoder) ReadParameter(r *jsontext.Reader) Value {
	d.statement, d.level, d.wrong, d.isWrong = true, 0, Value{}, false
	v := d.ReadElement(r)
	d.statement = false
	if d.isWrong {
		return d.wrong
	}
	return v
}

// note keeps the first fault.
func (d *Decoder) note(v Value) {
	if v.kind == Invalid && !d.isWrong {
		d.wrong, d.isWrong = v, true
	}
}

func (d *Decoder) readValue(r *jsontext.Reader, scalar string) Value {
	if !d.statement {
		return d.readAny(r, scalar)
	}
	if d.level++; d.level > MaxDepth {
		d.note(invalid(msgNesting))
	}
	v := d.readAny(r, scalar)
	d.note(v)
	d.level--
	return v
}

func (d *Decoder) number(text string) Value {
	if d.statement {
		return statementNumber(text)
	}
	return number(text)
}

func (d *Decoder) readAny(r *jsontext.Reader, scalar string) Value {
	switch r.Peek() {
	case jsontext.Object:
	case jsontext.Null:
		r.Null()
		return invalid(msgNoType)
	case jsontext.Array:
		mismatch(r, "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue")
		return Value{}
	case jsontext.Invalid:
		r.Skip()
		return Value{}
	default:
		mismatch(r, scalar)
		return Value{}
	}
	var v Value
	given := uint16(0)
	for r.Object(); r.Next(); {
		k, known := KindOf(r.Name())
		if !known || r.Peek() == jsontext.Null {
			r.Skip()
			continue
		}
		w := d.readKind(r, k)
		if v.kind != Invalid || given == 0 || given == 1<<k {
			v = w // of several faults, the message names the first one
		}
		given |= 1 << k
	}
	switch bits.OnesCount16(given) {
	case 0:
		return invalid(msgNoType)
	case 1:
		return v
	}
	if v.kind == Invalid {
		return v
	}
	return invalid(msgManyType)
}

func (d *Decoder) readKind(r *jsontext.Reader, k Kind) Value {
	switch k {
	case S:
		return String(ReadString(r))
	case N:
		return d.number(ReadString(r))
	case B:
		return Binary(d.readBinary(r))
	case BOOL:
		return Bool(ReadBool(r))
	case NULL:
		if !ReadBool(r) {
			return invalid("One or more parameter values were invalid: Null attribute value types must have the value of true")
		}
		return Null()
	case M:
		return Map(d.ReadItem(r))
	}
	if !EnterList(r) {
		return Value{}
	}
	start := len(d.openValues)
	null := false
	for r.Next() {
		if k.IsSet() && r.Peek() == jsontext.Null {
			r.Null()
			null = true
			continue
		}
		var e Value
		switch k {
		case SS:
			e = String(ReadString(r))
		case NS:
			e = d.number(ReadString(r))
		case BS:
			e = Binary(d.readBinary(r))
		default:
			e = d.readValue(r, "Unexpected value type in payload")
		}
		d.openValues = append(d.openValues, e)
	}
	open := d.openValues[start:]
	elems := append(d.values.take(len(open)), open...)
	clear(open)
	d.openValues = d.openValues[:start]
	if k == L {
		return List(elems)
	}
	if null {
		return invalid("One or more parameter values were invalid: An " + setNames[k-SS] + " set may not have a null string as a member")
	}
	return set(k, elems)
}

var setNames = [...]string{"string", "number", "binary"}

// set returns a set of the elements in their order, or an invalid value.
func set(k Kind, elems []Value) Value {
	const invalidParameters = "One or more parameter values were invalid: "
	if len(elems) == 0 {
		switch k {
		case SS:
			return invalid(invalidParameters + "An string set  may not be empty")
		case NS:
			return invalid(invalidParameters + "An number set  may not be empty")
		}
		return invalid(invalidParameters + "Binary sets should not be empty")
	}
	for _, e := range elems {
		if e.kind == Invalid {
			return e
		}
	}
	if duplicate(elems) >= 0 {
		switch k {
		case SS:
			return invalid(invalidParameters + "Input collection " + listing(elems) + " contains duplicates.")
		case NS:
			return invalid("Input collection contains duplicates")
		}
		return invalid(invalidParameters + "Input collection " + listing(elems) + "of type BS contains duplicates.")
	}
	return Set(k, elems)
}

// listing returns elements as AWS's messages have them: [a, b].
func listing(elems []Value) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, e := range elems {
		if i > 0 {
			b.WriteString(", ")
		}
		if e.kind == B {
			b.Write(appendBase64(nil, e.Text()))
		} else {
			b.WriteString(e.Text())
		}
	}
	b.WriteByte(']')
	return b.String()
}

// readBinary reads base64.
func (d *Decoder) readBinary(r *jsontext.Reader) string {
	switch r.Peek() {
	case jsontext.String:
	case jsontext.Object:
		mismatch(r, msgStructure)
		return ""
	case jsontext.Array:
		mismatch(r, "Unrecognized collection type class java.nio.ByteBuffer")
		return ""
	case jsontext.Invalid:
		r.Skip()
		return ""
	default:
		mismatch(r, "only base-64-encoded strings are convertible to bytes")
		return ""
	}
	text := r.Text()
	if len(text)%4 != 0 {
		fail(r, fmt.Sprintf("Base64 encoded length is expected a multiple of 4 bytes but found: %d", utf8.RuneCountInString(text)))
		return ""
	}
	out := d.bytes.take(base64.StdEncoding.DecodedLen(len(text)))
	out, err := base64.StdEncoding.Strict().AppendDecode(out, unsafe.Slice(unsafe.StringData(text), len(text)))
	if err != nil || strings.ContainsAny(text, "\r\n") {
		fail(r, "Invalid last non-pad Base64 character dectected")
		return ""
	}
	return unsafe.String(unsafe.SliceData(out), len(out))
}

// ReadElement reads a value that is an element of a list, at r's position. null is an invalid
// value.
func (d *Decoder) ReadElement(r *jsontext.Reader) Value {
	return d.readValue(r, "Unexpected value type in payload")
}
