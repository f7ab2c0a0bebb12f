// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// lane holds what candidates need of a column, for each row of a batch.
type lane struct {
	name     string
	typ      *value.Type
	given    bool
	declared *value.Type // by the file
	reader   reader      // of times
	parser   datetime.Parser
	needs    needs

	vector *rows.Vector
	hash   []uint64 // nullHash for null
	time   []int64  // ms since 1970
	fixed  int      // stored length of all values, with the cell's flags; 0: they differ, and size has them
	size   []uint32 // stored length of each value with the cell's flags; 0 for null
	buf    []byte
}

// needs says which of hash, time and size candidates need.
type needs struct{ hash, time, size bool }

func newLane(c *Column, declared *value.Type) *lane {
	l := &lane{name: c.Name, typ: c.Type, given: c.Given && declared == nil, declared: declared}
	if t := c.Moments(); t != nil {
		l.reader = t.reader
	}
	if n := fixedLen(c.Type); n > 0 && c.Nulls == 0 && c.Empty == 0 {
		l.fixed = cellFlags + stored(c.Type, n)
	}
	return l
}

// identity reports whether equal values always have equal texts. Then the text distinguishes values
// as well as the value does.
func (l *lane) identity() bool {
	switch l.typ.Kind {
	case value.Text, value.Ascii:
		return true
	case value.Int, value.Bigint, value.Varint, value.Date, value.UUID, value.Timeuuid, value.Time, value.Decimal:
		return !l.given
	}
	return false
}

// read takes a batch, which must have passed check.
func (l *lane) read(v *rows.Vector, n int, skip []bool) {
	l.vector = v
	if l.needs.hash {
		l.hash = sized(l.hash, n)
	}
	if l.needs.time {
		l.time = sized(l.time, n)
	}
	if l.fixed == 0 && l.needs.size {
		l.size = sized(l.size, n)
	}
	if v == nil { // JSON Lines that have not had the column so far
		for i := range n {
			l.null(i)
		}
		return
	}
	switch v.Kind {
	case rows.Ints:
		l.readInts(v, n)
	case rows.Floats:
		for i := range n {
			if v.Null(i) {
				l.null(i)
				continue
			}
			l.put(i, mixed(math.Float64bits(v.Floats[i])), 8)
			if l.needs.time {
				l.time[i] = l.reader.float(v.Floats[i])
			}
		}
	case rows.Binary:
		l.readBinary(v, n)
	default:
		l.readText(v, n, skip)
	}
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// noTime marks a value without a time.
const noTime = math.MinInt64

func (l *lane) null(i int) {
	if l.needs.hash {
		l.hash[i] = nullHash
	}
	if l.needs.time {
		l.time[i] = noTime
	}
	if l.fixed == 0 && l.needs.size {
		l.size[i] = 0
	}
}

// put sets the hash and the serialized length of a value.
func (l *lane) put(i int, hash uint64, length int) {
	if l.needs.hash {
		l.hash[i] = hash
	}
	if l.fixed == 0 && l.needs.size {
		l.size[i] = uint32(cellFlags + stored(l.typ, length))
	}
}

func (l *lane) readInts(v *rows.Vector, n int) {
	length := fixedLen(l.typ)
	for i, k := range v.Ints[:n] {
		if v.Nulls != nil && v.Nulls[i] {
			l.null(i)
			continue
		}
		l.put(i, mixed(uint64(k)), length)
		if l.needs.time {
			l.time[i] = l.intTime(k)
		}
	}
}

func (l *lane) intTime(n int64) int64 {
	if l.declared != nil {
		switch l.declared.Kind {
		case value.Date:
			return n * day
		case value.Timestamp:
			return n
		}
	}
	return l.reader.integer(n)
}

func (l *lane) readBinary(v *rows.Vector, n int) {
	for i := range n {
		if v.Spans[i].Null() {
			l.null(i)
			continue
		}
		b := v.Bytes(i)
		l.put(i, xxhash.Sum64(b), len(b))
		if l.needs.time {
			l.time[i] = noTime
			if ms, ok := l.reader.id.TimeOfUUID(b); ok {
				l.time[i] = ms
			} else if len(b) == 16 && b[6]>>4 == 1 {
				l.time[i] = timeOfUUID(be(b[:4]), be(b[4:6]), be(b[6:8])&0xfff)
			}
		}
	}
}

func be(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

func (l *lane) readText(v *rows.Vector, n int, skip []bool) {
	identity := l.identity()
	typed := l.typ.Kind != value.Text && l.typ.Kind != value.Ascii
	length := fixedLen(l.typ)
	// Equal timestamps may be written in several ways. If the type is given, so may dates.
	timestamp := l.typ.Kind == value.Timestamp || l.typ.Kind == value.Date && l.given
	for i := range n {
		s := v.Spans[i]
		if s.Null() || typed && s.Len() == 0 || s.Nested() || skip != nil && skip[i] {
			l.null(i)
			if s.Nested() && l.fixed == 0 && l.needs.size { // no key, but it is stored, as a text
				l.size[i] = uint32(cellFlags + stored(l.typ, s.Len()))
			}
			continue
		}
		text := v.Bytes(i)
		at := int64(noTime)
		if l.needs.time || timestamp && l.needs.hash {
			at = l.reader.text(&l.parser, text)
		}
		size := length
		if size == 0 {
			size = textLen(l.typ, text)
		}
		hash := uint64(0)
		switch {
		case !l.needs.hash:
		case identity:
			hash = xxhash.Sum64(text)
		case timestamp && at != noTime:
			hash = mixed(uint64(at))
		default:
			b, err := serialize(l.buf[:0], l.typ, text)
			if err != nil { // the data have changed since they were profiled
				l.null(i)
				continue
			}
			l.buf = b
			hash, size = xxhash.Sum64(b), len(b)
		}
		l.put(i, hash, size)
		if l.needs.time {
			l.time[i] = at
		}
	}
}

// stored returns the length of value i in a cell; 0 for null.
func (l *lane) stored(i int) int {
	if l.fixed > 0 {
		return l.fixed
	}
	return int(l.size[i])
}

// length returns the length of value i as CQL serializes it.
func (l *lane) length(i int) int {
	n := l.stored(i) - cellFlags
	if _, ok := l.typ.FixedLen(); ok || n <= 0 {
		return max(n, 0)
	}
	for size := 1; size < 9; size++ {
		if vint(n-size) == size {
			return n - size
		}
	}
	return n
}

// serialized appends value i as CQL serializes it.
func (l *lane) serialized(dst []byte, i int) []byte {
	if l.vector == nil || l.vector.Null(i) {
		return dst
	}
	if l.vector.Kind == rows.Text && (l.typ.Kind == value.Timestamp || l.typ.Kind == value.Date && l.given) {
		if at := l.reader.text(&l.parser, l.vector.Bytes(i)); at != noTime {
			if l.typ.Kind == value.Date {
				return binary.BigEndian.AppendUint32(dst, uint32((at-floorMod(at, day))/day+1<<31))
			}
			return binary.BigEndian.AppendUint64(dst, uint64(at))
		}
	}
	b, err := appendValue(dst, l.vector, i, l.typ)
	if err != nil {
		return dst
	}
	return b
}

// text appends value i for people.
func (l *lane) text(dst []byte, i int) []byte {
	if l.vector.Kind == rows.Text {
		return append(dst, cut(l.vector.Bytes(i))...)
	}
	from := len(dst)
	dst = l.vector.AppendText(dst, i, l.declared)
	return append(dst[:from], cut(dst[from:])...)
}
