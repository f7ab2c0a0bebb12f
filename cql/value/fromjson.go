// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Members parses the object of INSERT JSON, for so many columns. index returns a column's position,
// or -1. Members folds names to lower case unless they are quoted inside the string. If a name
// repeats, the last one counts. Members returns the JSON text of each column's value, a slice of
// json; nil if the object does not name the column. other is the first name that is no column's;
// nil if there is none. The error has Cassandra's text.
func Members(json []byte, columns int, index func(name []byte) int) (values [][]byte, other *string, err error) {
	p, err := scanJSON(json)
	if err != nil {
		return nil, nil, fmt.Errorf("Could not decode JSON string as a map: %s. (String was: %s)", strings.TrimPrefix(err.Error(), "Error decoding JSON string: "), json)
	}
	switch p.kind() {
	case jsonObject:
	case jsonNull:
		return nil, nil, errors.New("Got null for INSERT JSON values")
	default:
		return nil, nil, fmt.Errorf("Could not decode JSON string as a map: not an object. (String was: %s)", json)
	}
	at := make([]uint32, columns)
	_, other = p.named(at, nil, index)
	values = make([][]byte, columns)
	for i, from := range at {
		if from > 0 {
			p.at = int(from)
			p.skip()
			values[i] = json[from:p.at]
		}
	}
	return values, other, nil
}

// named finds the values of the object that begins here by their names, which it folds as CQL folds
// identifiers, and moves to the object's end. For each name that index knows, named sets the value's
// position in at, and appends the name's index to order. other is the first name that index does not
// know. order ends before it.
func (p *jsonReader) named(at, order []uint32, index func(name []byte) int) (_ []uint32, other *string) {
	_ = p.object(func(_, key int) error {
		name := foldKey(p.key(key, &p.keys[0]))
		switch i := index(name); {
		case i >= 0:
			if at[i] == 0 && other == nil {
				order = append(order, uint32(i))
			}
			at[i] = uint32(p.at)
		case other == nil:
			s := string(name)
			other = &s
		}
		p.skip()
		return nil
	})
	return order, other
}

func foldKey(k []byte) []byte {
	if len(k) > 1 && k[0] == '"' && k[len(k)-1] == '"' {
		return k[1 : len(k)-1]
	}
	if slices.ContainsFunc(k, func(c byte) bool { return c >= 0x80 || c >= 'A' && c <= 'Z' }) {
		return []byte(strings.ToLower(string(k)))
	}
	return k
}

// FromJSON returns the value of type t that a JSON value denotes in INSERT JSON and from_json; nil
// for null. It returns false if the value is longer than most bytes. Beside the value, it takes at
// most BesideJSON bytes for a byte of the text, and once more the length of the value. The error has
// Cassandra's text, unless the input is not JSON.
func (t *Type) FromJSON(json []byte, most int) (v []byte, ok bool, err error) {
	p, err := scanJSON(json)
	if err != nil {
		return nil, false, err
	}
	if p.kind() == jsonNull {
		return nil, true, nil
	}
	d := jsonDecoder{jsonReader: p, most: most}
	length := len(json) + 16
	if len(t.Elems) > 0 {
		length *= 4
	}
	v, err = d.value(t, make([]byte, 0, min(most, length)))
	switch {
	case err == errLong:
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return v, true, nil
}

// BesideJSON is how much FromJSON takes beside the value, in lengths of the text.
const BesideJSON = 4

// ErrNullInVector is the error for an empty string among the elements of a vector: the empty value
// of most types counts as null.
var ErrNullInVector = errors.New("null is not supported inside vectors")

var errLong = errors.New("the value is too long")

// jsonDecoder makes a value from a JSON text.
type jsonDecoder struct {
	jsonReader
	most    int
	offsets []uint32 // of the parts of the values that are being made
	sorted  []byte   // a value whose parts are being put in order
	fields  map[*Type]map[string]int
}

func unexpected(what string, n *jsonValue) error {
	return fmt.Errorf("Expected %s, but got a %s: %s", what, n.kind, n.text)
}

// expected names the JSON form of each type, for the message about another form.
var expected = [kinds]string{
	Ascii: "an ascii string", Text: "a UTF-8 string", Bigint: "a bigint value", Counter: "a bigint value", Int: "an int value",
	Smallint: "a short value", Tinyint: "a byte value", Double: "a double value", Float: "a float value", Boolean: "a boolean value",
	Timestamp: "a long or a datestring representation of a timestamp value", UUID: "a string representation of a uuid",
	Timeuuid: "a string representation of a timeuuid", Inet: "a string representation of an inet value",
	Date: "a string representation of a date value", Time: "a string representation of a time value",
	Duration: "a string representation of a duration", List: "a list", Set: "a list (representing a set)", Map: "a map",
	Tuple: "a list representation of a tuple", UDT: "a map", Vector: "a list", Custom: "a string",
}

// value appends the value that begins here, which is not null.
func (d *jsonDecoder) value(t *Type, dst []byte) ([]byte, error) {
	c := d.text[d.at]
	switch t.Kind {
	case List, Set, Map, Tuple, UDT, Vector:
		if c != '"' {
			return d.parts(t, dst)
		}
		s, err := d.string(nil)
		if err != nil {
			return dst, err
		}
		return d.within(t, s, dst)
	case Text:
		if c == '"' {
			return d.string(dst)
		}
	case Int, Bigint, Counter:
		if c == '-' || c >= '0' && c <= '9' {
			q := d.jsonReader
			bits := 64
			if t.Kind == Int {
				bits = 32
			}
			if n, err := strconv.ParseInt(string(q.skipWord()), 10, bits); err == nil {
				d.at = q.at
				if bits == 32 {
					return binary.BigEndian.AppendUint32(dst, uint32(n)), nil
				}
				return binary.BigEndian.AppendUint64(dst, uint64(n)), nil
			}
		}
	}
	n := d.read()
	v, err := t.fromScalar(&n)
	return append(dst, v...), err
}

// within appends the value that a JSON text within a string denotes.
func (d *jsonDecoder) within(t *Type, text, dst []byte) ([]byte, error) {
	p, err := scanJSON(text)
	if err != nil {
		return dst, err
	}
	outer := d.jsonReader
	d.jsonReader = p
	dst, err = d.parts(t, dst)
	d.jsonReader = outer
	return dst, err
}

// fromScalar returns the value of a type without parts.
func (t *Type) fromScalar(n *jsonValue) ([]byte, error) {
	switch t.Kind {
	case Blob:
		return blobFromJSON(n)
	case Varint:
		i, ok := bigInteger(n.text)
		if !ok {
			return nil, fmt.Errorf("Value '%s' is not a valid representation of a varint value", n.text)
		}
		return AppendVarint(nil, i), nil
	case Decimal:
		v, err := t.FromString(n.text)
		if err != nil {
			return nil, fmt.Errorf("Value '%s' is not a valid representation of a decimal value", n.text)
		}
		return v, nil
	case Empty:
		if n.kind != jsonString || n.text != "" {
			return nil, fmt.Errorf("Expected an empty string, but got: %s", n.text)
		}
		return []byte{}, nil
	}
	if n.kind == jsonString {
		return t.FromString(n.text)
	}
	switch t.Kind {
	case Int:
		if n.kind == jsonInt {
			return t.FromString(n.text)
		}
	case Bigint, Counter:
		if n.kind == jsonInt || n.kind == jsonLong {
			return t.FromString(n.text)
		}
	case Smallint, Tinyint:
		if n.number() {
			return t.FromString(n.text)
		}
	case Timestamp:
		if n.kind == jsonLong {
			return t.FromString(n.text)
		}
	case Boolean:
		if n.kind == jsonBool {
			return t.FromString(n.text)
		}
	case Double, Float:
		if !n.number() {
			break
		}
		f, _ := strconv.ParseFloat(n.text, 64)
		if t.Kind == Float {
			if n.kind == jsonBig {
				i, _ := bigInteger(n.text)
				f32, _ := new(big.Float).SetInt(i).Float32()
				return floatValue(f32), nil
			}
			if n.kind != jsonDouble {
				i, _ := strconv.ParseInt(n.text, 10, 64)
				return floatValue(float32(i)), nil
			}
			return floatValue(float32(f)), nil
		}
		return doubleValue(f), nil
	}
	return nil, unexpected(expected[t.Kind], n)
}

func blobFromJSON(n *jsonValue) ([]byte, error) {
	invalid := func(why string) error {
		return fmt.Errorf("Value '%s' is not a valid blob representation: %s", n.text, why)
	}
	if n.kind != jsonString {
		return nil, invalid("it is not a string")
	}
	digits, ok := strings.CutPrefix(n.text, "0x")
	if !ok {
		return nil, invalid("String representation of blob is missing 0x prefix: " + n.text)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, invalid("cannot parse '" + digits + "' as hex bytes")
	}
	return b, nil
}

// parts appends a value that has parts, of the array or object that begins here.
func (d *jsonDecoder) parts(t *Type, dst []byte) ([]byte, error) {
	want := jsonArray
	if t.Kind == Map || t.Kind == UDT {
		want = jsonObject
	}
	if d.kind() != want {
		n := d.read()
		return dst, unexpected(expected[t.Kind], &n)
	}
	switch t.Kind {
	case UDT:
		return d.udt(t, dst)
	case Map:
		return d.mapping(t, dst)
	case Tuple, Vector:
		return d.tuple(t, dst)
	}
	return d.elements(t, dst)
}

// part appends a part after its length. null is allowed in tuples and user-defined types only.
func (d *jsonDecoder) part(t *Type, dst []byte) ([]byte, error) {
	if d.text[d.at] == 'n' {
		d.skip()
		return d.room(AppendPart(dst, nil))
	}
	return d.measured(dst, func(dst []byte) ([]byte, error) { return d.value(t, dst) })
}

// measured calls f, which appends to dst, and puts the length of the new bytes before them.
func (d *jsonDecoder) measured(dst []byte, f func(dst []byte) ([]byte, error)) ([]byte, error) {
	at := len(dst)
	dst, err := f(append(dst, 0, 0, 0, 0))
	if err != nil {
		return dst, err
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return d.room(dst)
}

// doubled makes room for one more element. It copies less in total than append does.
func doubled[E any](s []E) []E {
	if len(s) < cap(s) {
		return s
	}
	return slices.Grow(s, max(len(s), 8))
}

func (d *jsonDecoder) room(dst []byte) ([]byte, error) {
	if len(dst) > d.most {
		return dst, errLong
	}
	return dst, nil
}

// partAt returns the part that begins with its length at a position.
func partAt(v []byte, at int) []byte {
	n := int(int32(binary.BigEndian.Uint32(v[at:])))
	return v[at+4 : at+4+max(n, 0)]
}

// elements appends a list or set.
func (d *jsonDecoder) elements(t *Type, dst []byte) ([]byte, error) {
	start, base, ascending := len(dst), len(d.offsets), true
	dst = append(dst, 0, 0, 0, 0)
	count := 0
	last := 0
	err := d.array(func(i int) (err error) {
		if d.text[d.at] == 'n' {
			if t.Kind == Set {
				return errors.New("Invalid null element in set")
			}
			return errors.New("Invalid null element in list")
		}
		at := len(dst)
		if dst, err = d.part(t.Elems[0], dst); err != nil || t.Kind == List {
			count = i + 1
			return err
		}
		ascending = ascending && (i == 0 || t.Elems[0].Compare(partAt(dst, last), partAt(dst, at)) < 0)
		last, count = at, i+1
		d.offsets = append(doubled(d.offsets), uint32(at-start))
		return nil
	})
	if err != nil {
		return dst, err
	}
	return d.counted(t, dst, start, base, count, ascending), nil
}

// mapping appends a map.
func (d *jsonDecoder) mapping(t *Type, dst []byte) ([]byte, error) {
	start, base, ascending := len(dst), len(d.offsets), true
	dst = append(dst, 0, 0, 0, 0)
	count, last := 0, 0
	err := d.object(func(i, key int) (err error) {
		at := len(dst)
		if dst, err = d.measured(dst, func(dst []byte) ([]byte, error) { return d.mapKey(t.Elems[0], key, dst) }); err != nil {
			return err
		}
		if d.text[d.at] == 'n' {
			return errors.New("Invalid null value in map")
		}
		ascending = ascending && (i == 0 || t.Elems[0].Compare(partAt(dst, last), partAt(dst, at)) < 0)
		last, count = at, i+1
		d.offsets = append(doubled(d.offsets), uint32(at-start))
		dst, err = d.part(t.Elems[1], dst)
		return err
	})
	if err != nil {
		return dst, err
	}
	return d.counted(t, dst, start, base, count, ascending), nil
}

// counted ends a collection of count elements that begins at start: it sorts them unless they are
// ascending, and writes their number. Their offsets begin at base.
func (d *jsonDecoder) counted(t *Type, dst []byte, start, base, count int, ascending bool) []byte {
	if !ascending {
		dst, count = d.sort(t, dst, start, base)
	}
	d.offsets = d.offsets[:base]
	binary.BigEndian.PutUint32(dst[start:], uint32(count))
	return dst
}

// mapKey appends a map's key.
func (d *jsonDecoder) mapKey(t *Type, at int, dst []byte) ([]byte, error) {
	s := d.key(at, &d.keys[0])
	switch t.Kind {
	case Text:
		return append(dst, s...), nil
	case List, Set, Map, Tuple, UDT, Vector:
		return d.within(t, slices.Clone(s), dst)
	}
	v, err := t.fromScalar(&jsonValue{jsonString, string(s)})
	return append(dst, v...), err
}

// sort sorts the elements of a set or the pairs of a map and removes duplicates, as Type.Sort does.
// The value begins at start, and the offsets of its parts at base. sort returns the count.
func (d *jsonDecoder) sort(t *Type, dst []byte, start, base int) ([]byte, int) {
	v, offsets := dst[start:], d.offsets[base:]
	compare := func(a, b uint32) int { return t.Elems[0].Compare(partAt(v, int(a)), partAt(v, int(b))) }
	slices.SortStableFunc(offsets, compare)
	d.sorted = append(d.sorted[:0], 0, 0, 0, 0)
	count := 0
	for i := 0; i < len(offsets); count++ {
		first := partAt(v, int(offsets[i]))
		d.sorted = AppendPart(d.sorted, first)
		for i++; i < len(offsets) && compare(offsets[i-1], offsets[i]) == 0; i++ {
		}
		if t.Kind == Map {
			last := int(offsets[i-1])
			d.sorted = AppendPart(d.sorted, partAt(v, last+4+len(partAt(v, last))))
		}
	}
	return append(dst[:start], d.sorted...), count
}

// tuple appends a tuple or vector.
func (d *jsonDecoder) tuple(t *Type, dst []byte) ([]byte, error) {
	start, want, fixed := d.at, len(t.Elems), true
	if t.Kind == Vector {
		want = t.Dim
		_, fixed = t.Elems[0].FixedLen()
	}
	count := 0
	var fault error
	_ = d.array(func(i int) error {
		count++
		from := d.at
		switch {
		case fault != nil || i >= want:
			d.skip() // to count the elements
			return nil
		case t.Kind == Tuple:
			dst, fault = d.part(t.Elems[i], dst)
		case d.text[d.at] == 'n':
			fault = errors.New("Invalid null element in list")
		default:
			at := len(dst)
			dst, fault = d.value(t.Elems[0], dst)
			if k := t.Elems[0].Kind; fault == nil && len(dst) == at && k != Ascii && k != Text && k != Blob {
				fault = ErrNullInVector
			}
			if fault == nil && !fixed {
				dst = insertLength(dst, at)
			}
			if fault == nil {
				dst, fault = d.room(dst)
			}
		}
		if fault != nil {
			d.at = from
			d.skip()
		}
		return nil
	})
	if count == want || fault == errLong {
		return dst, fault
	}
	d.at = start
	n := d.read()
	switch {
	case t.Kind == Vector:
		return dst, fmt.Errorf("List had incorrect size: expected %d but given %d; %s", want, count, n.text)
	case count > want:
		return dst, fmt.Errorf("Tuple contains extra items (expected %d): %s", want, n.text)
	}
	return dst, fmt.Errorf("Tuple is missing items (expected %d): %s", want, n.text)
}

// insertLength inserts the length of the bytes from a position on, as a vint.
func insertLength(dst []byte, at int) []byte {
	n := len(dst) - at
	dst = appendVint(dst, uint64(n))
	var length [9]byte
	size := copy(length[:], dst[at+n:])
	copy(dst[at+size:], dst[at:at+n])
	copy(dst[at:], length[:size])
	return dst
}

// udt appends a user-defined type.
func (d *jsonDecoder) udt(t *Type, dst []byte) ([]byte, error) {
	n, start, base := len(t.Elems), len(dst), len(d.offsets)
	if n*4 > d.most-start {
		return dst, errLong
	}
	index := d.index(t)
	d.offsets = append(d.offsets, make([]uint32, n)...)
	at := d.offsets[base:]
	order, other := d.named(at, d.offsets[base+n:], func(name []byte) int {
		if i, ok := index[string(name)]; ok {
			return i
		}
		return -1
	})
	end := d.at
	d.offsets = append(d.offsets, order...)
	ascending := len(order) == n
	for k := range order {
		f := d.offsets[base+n+k]
		ascending = ascending && int(f) == k
		d.at = int(d.offsets[base+int(f)])
		d.offsets[base+int(f)] = uint32(len(dst)-start) + 1
		var err error
		if dst, err = d.part(t.Elems[f], dst); err != nil {
			return dst, err
		}
	}
	d.at = end
	if other != nil {
		return dst, fmt.Errorf("Unknown field '%s' in value of user defined type %s", *other, t.Name)
	}
	if !ascending {
		if len(dst)+4*(n-len(order)) > d.most {
			return dst, errLong
		}
		d.sorted = d.sorted[:0]
		for _, from := range d.offsets[base : base+n] {
			if from == 0 {
				d.sorted = AppendPart(d.sorted, nil)
				continue
			}
			part := dst[start+int(from)-1:]
			d.sorted = append(d.sorted, part[:4+len(partAt(part, 0))]...)
		}
		dst = append(dst[:start], d.sorted...)
	}
	d.offsets = d.offsets[:base]
	return dst, nil
}

// index returns the fields of a user-defined type by name.
func (d *jsonDecoder) index(t *Type) map[string]int {
	m := d.fields[t]
	if m == nil {
		m = make(map[string]int, len(t.Fields))
		for i, name := range slices.Backward(t.Fields) {
			m[name] = i
		}
		if d.fields == nil {
			d.fields = map[*Type]map[string]int{}
		}
		d.fields[t] = m
	}
	return m
}
