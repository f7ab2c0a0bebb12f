// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	layout "github.com/parquet-go/parquet-go/format"

	"github.com/evenkeel/evenkeel/cql/value"
)

// leaf is a column of Parquet.
type leaf struct {
	path  []string
	index int         // of its chunk
	max   byte        // the definition level of values that are not null
	typ   *value.Type // nil: text, whose type must be guessed
	kind  Kind
	form  form
	scale int64 // factor to CQL's unit; negative: divisor
	point int   // digits after the decimal point
	fixed int   // length of values; 0: lengths differ
}

// form is a physical type with the conversion that it needs.
type form uint8

const (
	fromBool form = iota
	fromInt32
	fromUint32
	fromInt64
	fromInt96
	fromFloat
	fromDouble
	fromBytes
	fromFixed
	decimal32 // to text
	decimal64
	decimalBytes
	decimalFixed
	unsigned64 // to text
)

// newLeaf finds the CQL type; false: there is none.
func newLeaf(c *parquet.Column) (*leaf, bool) {
	l := &leaf{path: c.Path(), index: c.Index(), max: byte(c.MaxDefinitionLevel()), scale: 1}
	t := c.Type()
	var logical layout.LogicalTypeValue
	if lt := t.LogicalType(); lt != nil {
		logical = lt.Value
	}
	ints := func(k value.Kind, f form) bool { l.typ, l.kind, l.form = value.Native(k), Ints, f; return true }
	switch t.Kind() {
	case parquet.Boolean:
		return l, ints(value.Boolean, fromBool)
	case parquet.Int32, parquet.Int64:
		physical, whole, decimal := fromInt32, value.Int, decimal32
		if t.Kind() == parquet.Int64 {
			physical, whole, decimal = fromInt64, value.Bigint, decimal64
		}
		switch lt := logical.(type) {
		case *layout.DecimalType:
			return l, l.decimal(decimal, int(lt.Scale))
		case *layout.DateType:
			return l, ints(value.Date, physical)
		case *layout.TimeType:
			l.scale = nanoseconds(lt.Unit)
			return l, ints(value.Time, physical)
		case *layout.TimestampType:
			switch nanoseconds(lt.Unit) {
			case 1000:
				l.scale = -1000
			case 1:
				l.scale = -1_000_000
			}
			return l, ints(value.Timestamp, physical)
		case *layout.IntType:
			switch {
			case lt.IsSigned && lt.BitWidth == 8:
				return l, ints(value.Tinyint, physical)
			case lt.IsSigned && lt.BitWidth == 16, lt.BitWidth == 8:
				return l, ints(value.Smallint, physical)
			case lt.IsSigned && lt.BitWidth == 32, lt.BitWidth == 16:
				return l, ints(value.Int, physical)
			case !lt.IsSigned && lt.BitWidth == 32:
				return l, ints(value.Bigint, fromUint32)
			case !lt.IsSigned:
				l.typ, l.kind, l.form = value.Native(value.Varint), Text, unsigned64
				return l, true
			}
		}
		return l, ints(whole, physical)
	case parquet.Int96:
		return l, ints(value.Timestamp, fromInt96)
	case parquet.Float:
		l.typ, l.kind, l.form = value.Native(value.Float), Floats, fromFloat
		return l, true
	case parquet.Double:
		l.typ, l.kind, l.form = value.Native(value.Double), Floats, fromDouble
		return l, true
	case parquet.ByteArray, parquet.FixedLenByteArray:
		l.form = fromBytes
		decimal := decimalBytes
		if t.Kind() == parquet.FixedLenByteArray {
			l.form, l.fixed, decimal = fromFixed, t.Length(), decimalFixed
		}
		switch lt := logical.(type) {
		case *layout.StringType, *layout.EnumType, *layout.JsonType:
			l.kind = Text
			return l, true
		case *layout.DecimalType:
			return l, l.decimal(decimal, int(lt.Scale))
		case *layout.UUIDType:
			l.typ, l.kind = value.Native(value.UUID), Binary
			return l, l.fixed == 16
		}
		l.typ, l.kind = value.Native(value.Blob), Binary
		return l, true
	}
	return nil, false
}

func (l *leaf) decimal(f form, scale int) bool {
	l.typ, l.kind, l.form, l.point = value.Native(value.Decimal), Text, f, scale
	return scale >= 0 && scale < 1000
}

func nanoseconds(u layout.TimeUnit) int64 {
	switch u.Value.(type) {
	case *layout.NanoSeconds:
		return 1
	case *layout.MicroSeconds:
		return 1000
	}
	return 1_000_000
}

// values holds the values of a page or dictionary that are not null, in CQL's units.
type values struct {
	ints    []int64
	floats  []float64
	data    []byte
	offsets []uint32 // one more than values; nil: all values have the same length
	valid   bool     // text is UTF-8
}

// take converts a page's values. It refers to the page's memory if it can.
func (v *values) take(l *leaf, raw encoding.Values) error {
	v.ints, v.floats = v.ints[:0], v.floats[:0]
	v.valid = true
	switch l.form {
	case fromBool:
		for _, bits := range raw.Boolean() {
			for i := range 8 {
				v.ints = append(v.ints, int64(bits>>i&1))
			}
		}
	case fromInt32:
		for _, n := range raw.Int32() {
			v.ints = append(v.ints, int64(n))
		}
	case fromUint32:
		for _, n := range raw.Int32() {
			v.ints = append(v.ints, int64(uint32(n)))
		}
	case fromInt64:
		v.ints = append(v.ints, raw.Int64()...)
	case fromInt96:
		for _, n := range raw.Int96() { // nanoseconds of the day, and the Julian day
			days := int64(int32(n[2])) - 2440588
			v.ints = append(v.ints, days*86_400_000+int64(uint64(n[1])<<32|uint64(n[0]))/1_000_000)
		}
	case fromFloat:
		for _, f := range raw.Float() {
			v.floats = append(v.floats, float64(f))
		}
	case fromDouble:
		v.floats = append(v.floats, raw.Double()...)
	case fromBytes:
		v.data, v.offsets = raw.ByteArray()
	case fromFixed:
		v.data, _ = raw.FixedLenByteArray()
		v.offsets = nil
	default:
		v.texts(l, raw)
	}
	switch {
	case l.scale > 1:
		for i := range v.ints {
			v.ints[i] *= l.scale
		}
	case l.scale < 0:
		for i, n := range v.ints {
			q := n / -l.scale
			if n%l.scale < 0 {
				q--
			}
			v.ints[i] = q
		}
	}
	if l.kind == Text && l.form == fromBytes {
		v.valid = utf8.Valid(v.data)
		for i := 1; i < len(v.offsets); i++ {
			if n := v.offsets[i] - v.offsets[i-1]; n > MaxRecord {
				return fmt.Errorf("a value of %d bytes", n)
			}
		}
	}
	return nil
}

// texts writes decimals, and integers that are too large, as text.
func (v *values) texts(l *leaf, raw encoding.Values) {
	v.data, v.offsets = nil, []uint32{0} // a batch may still refer to the old data
	put := func(n *big.Int) {
		v.data = appendDecimal(v.data, n, l.point)
		v.offsets = append(v.offsets, uint32(len(v.data)))
	}
	switch l.form {
	case decimal32:
		for _, n := range raw.Int32() {
			put(big.NewInt(int64(n)))
		}
	case decimal64:
		for _, n := range raw.Int64() {
			put(big.NewInt(n))
		}
	case unsigned64:
		for _, n := range raw.Int64() {
			put(new(big.Int).SetUint64(uint64(n)))
		}
	case decimalBytes:
		data, offsets := raw.ByteArray()
		for i := 1; i < len(offsets); i++ {
			put(signed(data[offsets[i-1]:offsets[i]]))
		}
	case decimalFixed:
		data, size := raw.FixedLenByteArray()
		for ; size > 0 && len(data) >= size; data = data[size:] {
			put(signed(data[:size]))
		}
	}
}

// signed returns a big-endian two's complement integer.
func signed(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// appendDecimal appends n with that many digits after the point.
func appendDecimal(dst []byte, n *big.Int, point int) []byte {
	if n.Sign() < 0 {
		dst = append(dst, '-')
		n = new(big.Int).Neg(n)
	}
	text := n.Append(nil, 10)
	for len(text) <= point {
		text = append([]byte{'0'}, text...)
	}
	dst = append(dst, text[:len(text)-point]...)
	if point > 0 {
		dst = append(append(dst, '.'), text[len(text)-point:]...)
	}
	return dst
}

// cursor walks over the pages of a column in a row group.
type cursor struct {
	*leaf
	pages  parquet.Pages
	page   parquet.Page
	spent  []parquet.Page // pages to which the current batch may still refer
	levels []byte         // of the page's rows; nil: no row can be null
	index  []int32        // into dict; nil: the page has the values
	plain  values
	dict   values
	known  parquet.Dictionary // the dictionary from which dict was taken
	rows   int                // of the page
	row    int                // the next row
	value  int                // the next value

	// All spans of a batch are in one buffer: a page's, as long as one page is enough, or own.
	own     []byte
	copying bool
	invalid bool // text of this batch may not be UTF-8
}

func (c *cursor) close() {
	c.release()
	if c.page != nil {
		parquet.Release(c.page)
	}
	_ = c.pages.Close()
}

// release frees the pages to which no batch refers any longer.
func (c *cursor) release() {
	for _, p := range c.spent {
		parquet.Release(p)
	}
	c.spent = c.spent[:0]
}

// seek begins at the page that contains a row, if the file has an index of its pages. left is the
// number of rows still to skip.
func (c *cursor) seek(chunk parquet.ColumnChunk, row int) (left int, err error) {
	index, err := chunk.OffsetIndex()
	c.pages = chunk.Pages()
	if err != nil || index == nil || index.NumPages() == 0 {
		return row, nil // there is no index
	}
	page := index.NumPages() - 1
	for page > 0 && index.FirstRowIndex(page) > int64(row) {
		page--
	}
	first := index.FirstRowIndex(page)
	if first < 0 || first > int64(row) {
		return row, nil
	}
	return row - int(first), c.pages.SeekToRow(first)
}

// skip skips rows.
func (c *cursor) skip(n int) error {
	for n > 0 {
		if c.row == c.rows {
			if err := c.turn(); err != nil {
				return err
			}
			c.release()
		}
		m := min(n, c.rows-c.row)
		for i := range m {
			if c.levels == nil || c.levels[c.row+i] == c.max {
				c.value++
			}
		}
		c.row, n = c.row+m, n-m
	}
	return nil
}

// turn goes to the next page that has rows.
func (c *cursor) turn() error {
	for {
		p, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return errors.New("it has fewer rows than it says")
		}
		if err != nil {
			return err
		}
		if c.page != nil {
			c.spent = append(c.spent, c.page)
		}
		c.page, c.levels, c.index = p, nil, nil
		c.rows, c.row, c.value = int(p.NumRows()), 0, 0
		if c.rows == 0 {
			continue
		}
		raw, some := p.Data(), c.rows
		if c.max > 0 {
			some = 0
			c.levels = p.DefinitionLevels()
			for _, l := range c.levels {
				if l == c.max {
					some++
				}
			}
			if len(c.levels) != c.rows {
				return fmt.Errorf("%d levels of %d rows", len(c.levels), c.rows)
			}
			if some == c.rows {
				c.levels = nil
			}
		}
		d := p.Dictionary()
		if d == nil {
			if err := c.plain.take(c.leaf, raw); err != nil {
				return err
			}
			return c.enough(some, c.plain.len(c.leaf))
		}
		if d != c.known {
			if err := c.dict.take(c.leaf, d.Page().Data()); err != nil {
				return err
			}
			c.known = d
		}
		c.index = raw.Int32()
		size := int32(c.dict.len(c.leaf))
		for _, i := range c.index {
			if i < 0 || i >= size {
				return fmt.Errorf("entry %d of a dictionary of %d", i, size)
			}
		}
		return c.enough(some, len(c.index))
	}
}

func (c *cursor) enough(want, has int) error {
	if has < want {
		return fmt.Errorf("%d values where there are %d", has, want)
	}
	return nil
}

func (v *values) len(l *leaf) int {
	switch {
	case l.kind == Ints:
		return len(v.ints)
	case l.kind == Floats:
		return len(v.floats)
	case v.offsets == nil && l.fixed > 0:
		return len(v.data) / l.fixed
	}
	return max(len(v.offsets)-1, 0)
}

// fill gives a vector the next n rows.
func (c *cursor) fill(v *Vector, n int) error {
	c.release()
	v.Kind = c.kind
	v.Spans, v.Ints, v.Floats, v.Nulls = v.Spans[:0], v.Ints[:0], v.Floats[:0], v.Nulls[:0]
	v.Data, c.own, c.copying, c.invalid = nil, c.own[:0], false, false
	nulls := false
	for n > 0 {
		if c.row == c.rows {
			if err := c.turn(); err != nil {
				return err
			}
		}
		m := min(n, c.rows-c.row)
		if c.kind <= Binary {
			c.spans(v, m)
		} else {
			nulls = c.numbers(v, m, nulls)
		}
		c.row += m
		n -= m
	}
	if c.copying {
		v.Data = c.own
	}
	if !nulls {
		v.Nulls = nil
	}
	return nil
}

// numbers gives a vector the next m rows of a page. nulls says whether there were nulls before;
// then Nulls is as long as the vector. It returns whether there are nulls now.
func (c *cursor) numbers(v *Vector, m int, nulls bool) bool {
	if c.levels != nil && !nulls {
		nulls = true
		for range max(len(v.Ints), len(v.Floats)) {
			v.Nulls = append(v.Nulls, false)
		}
	}
	for i := range m {
		if c.levels != nil && c.levels[c.row+i] != c.max {
			v.Nulls = append(v.Nulls, true)
			if c.kind == Ints {
				v.Ints = append(v.Ints, 0)
			} else {
				v.Floats = append(v.Floats, 0)
			}
			continue
		}
		switch {
		case c.kind == Ints && c.index != nil:
			v.Ints = append(v.Ints, c.dict.ints[c.index[c.value]])
		case c.kind == Ints:
			v.Ints = append(v.Ints, c.plain.ints[c.value])
		case c.index != nil:
			v.Floats = append(v.Floats, c.dict.floats[c.index[c.value]])
		default:
			v.Floats = append(v.Floats, c.plain.floats[c.value])
		}
		if nulls {
			v.Nulls = append(v.Nulls, false)
		}
		c.value++
	}
	return nulls
}

// spans gives a vector with spans the next m rows of a page.
func (c *cursor) spans(v *Vector, m int) {
	from := &c.plain
	if c.index != nil {
		from = &c.dict
	}
	c.invalid = c.invalid || !from.valid
	mark := uint32(0)
	if c.form == fromBytes || c.form == fromFixed {
		mark = markString
	}
	switch {
	case c.copying:
	case v.Data == nil:
		v.Data = from.data
	case len(v.Data) != len(from.data) || len(v.Data) > 0 && &v.Data[0] != &from.data[0]:
		c.copying = true
		for i, s := range v.Spans {
			at := len(c.own)
			c.own = append(c.own, v.Data[s.At:int(s.At)+s.Len()]...)
			v.Spans[i].At = uint32(at)
		}
	}
	for i := range m {
		if c.levels != nil && c.levels[c.row+i] != c.max {
			v.Spans = append(v.Spans, Span{len: markNull})
			continue
		}
		k := c.value
		if c.index != nil {
			k = int(c.index[k])
		}
		c.value++
		at, end := uint32(k*c.fixed), uint32((k+1)*c.fixed)
		if from.offsets != nil {
			at, end = from.offsets[k], from.offsets[k+1]
		}
		if c.copying {
			v.Spans = append(v.Spans, Span{At: uint32(len(c.own)), len: (end - at) | mark})
			c.own = append(c.own, from.data[at:end]...)
			continue
		}
		v.Spans = append(v.Spans, Span{At: at, len: (end - at) | mark})
	}
}

// dropBad drops the rows whose text in column i is not UTF-8.
func (c *cursor) dropBad(b *Batch, i int) {
	if !c.invalid {
		return
	}
	v := &b.Columns[i]
	for row := range b.N {
		if !v.Null(row) && !utf8.Valid(v.Bytes(row)) {
			b.Drop(row, fmt.Sprintf("column %q is not UTF-8", c.path))
		}
	}
}

// appendInt appends a value of Ints as CQL serializes it.
func appendInt(dst []byte, n int64, t *value.Type) []byte {
	var v []byte
	switch {
	case t == nil:
		return strconv.AppendInt(dst, n, 10)
	case t.Kind == value.Boolean:
		v = []byte{byte(n)}
	case t.Kind == value.Date:
		v = binary.BigEndian.AppendUint32(v, uint32(n+1<<31))
	case t.Kind == value.Timestamp, t.Kind == value.Time:
		v = binary.BigEndian.AppendUint64(v, uint64(n))
	default:
		return strconv.AppendInt(dst, n, 10)
	}
	if text, ok := t.Text(v); ok {
		return append(dst, text...)
	}
	return t.Format(dst, v)
}
