// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// These are the sizes of what each goroutine keeps of a column. They are smaller if there are so
// many columns and goroutines that memory would be short.
const (
	stateBytes  = 160 << 10 // of one state with these sizes
	statesBytes = 40 << 20  // of all states
	valuesBytes = 20 << 20  // of the samples of all columns together, in addition

	columnTop    = 256
	columnSample = 4096
	periodTop    = 128
	periodSample = 1024
	shownBytes   = 256 // of a value that is shown
)

// state is what is known so far about a column.
type state struct {
	name            string
	given, declared *value.Type

	values, nulls, empty int64
	count                [classes]int64
	example              [classes]example // the first of each class
	bytes                int64
	maxBytes             int

	minInt, maxInt     int64 // of isInt
	minFloat, maxFloat float64
	minText, maxText   []byte // of values that are neither integers nor floats
	someInt, someFloat bool

	sample *sketch.Sample[firstSeen]
	top    *sketch.Top[shown]

	moments *moments // the values as times
	made    made     // the values as ids that begin with a time
	codes   int64    // of isDouble, those such as 12E4, which are codes rather than numbers

	order      order
	otherOrder order // with the month of dates first; used if moments.other is not nil
}

type example struct {
	seq, line int // 0: none
	text      string
}

// before reports whether e comes before f in the data.
func (e *example) before(f *example) bool { return e.seq < f.seq || e.seq == f.seq && e.line < f.line }

// firstSeen holds the number of the batch, from 1, in which a value first came, and how many rows
// have the value.
type firstSeen struct {
	batch uint32
	rows  int64
}

type shown struct{ text []byte }

// newState returns one of that many states over all goroutines.
func newState(of int, room *sketch.Room) *state {
	part := func(size int) int { return share(size, statesBytes, stateBytes, of) }
	return &state{sample: sketch.NewSampleIn[firstSeen](room, part(columnSample)), top: sketch.NewTop[shown](part(columnTop)), moments: newMoments(nil)}
}

// share returns the size of one of many things. Each takes each bytes at the full size. If all
// together would take more than all bytes, the size is less, but at least an eighth.
func share(size, all, each, many int) int {
	if many*each <= all {
		return size
	}
	return max(size/8, size*(all/many)/each)
}

// nullHash stands for null among the hashes of a batch.
const nullHash = 0x5a17e9d1b64c3f20

// mixed returns the hash of an integer (splitmix64's last steps).
func mixed(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// add takes the values of a batch, and stores their hashes in hashes. skip marks the rows that do
// not count.
func (s *state) add(b *rows.Batch, v *rows.Vector, skip []bool, hashes []uint64) edge {
	s.order.begin()
	s.otherOrder.begin()
	s.moments.probe(v, len(hashes))
	s.made.begin(v, len(hashes))
	s.moments.numbers = s.moments.numbers || s.timestamps()
	switch v.Kind {
	case rows.Text:
		s.addText(b, v, skip, hashes)
	case rows.Binary:
		s.addBinary(v, skip, hashes)
	case rows.Ints:
		s.addInts(b, v, skip, hashes)
	case rows.Floats:
		s.addFloats(v, skip, hashes)
	}
	s.sketch(b, v, hashes)
	e := s.order.edge()
	if s.moments.other != nil {
		e.others, e.otherFirst, e.otherLast = true, s.otherOrder.first, s.otherOrder.last
	}
	return e
}

// timestamps reports whether the column was given as timestamps. Then its integers are times,
// however large they are.
func (s *state) timestamps() bool { return s.given != nil && s.given.Kind == value.Timestamp }

// sketch takes the hashes. It adds equal neighbours in one step.
func (s *state) sketch(b *rows.Batch, v *rows.Vector, hashes []uint64) {
	for i := 0; i < len(hashes); {
		h, from := hashes[i], i
		for i++; i < len(hashes) && hashes[i] == h; i++ {
		}
		if h == nullHash {
			continue
		}
		if f := s.sample.Add(h); f != nil {
			if f.batch == 0 {
				f.batch = uint32(b.Seq + 1)
			}
			f.rows += int64(i - from)
		}
		if of, fresh := s.top.Add(h, i-from); fresh {
			of.text = s.show(of.text[:0], v, from)
		}
	}
}

// show appends a value for people.
func (s *state) show(dst []byte, v *rows.Vector, i int) []byte {
	if v.Kind == rows.Text {
		return append(dst, cut(v.Bytes(i))...)
	}
	dst = v.AppendText(dst, i, s.declared)
	return cut(dst)
}

// cut shortens a text to at most shownBytes, without cutting a character.
func cut(b []byte) []byte {
	if len(b) <= shownBytes {
		return b
	}
	n := shownBytes
	for n > 0 && b[n]&0xc0 == 0x80 {
		n--
	}
	return b[:n]
}

// absent reports whether row i has no value that counts: the value is null, or the row is skipped.
func (s *state) absent(null bool, skip []bool, i int, hashes []uint64) bool {
	switch {
	case skip != nil && skip[i]:
	case null:
		s.nulls++
	default:
		return false
	}
	hashes[i] = nullHash
	return true
}

// measured counts a value and returns the hash of its bytes.
func (s *state) measured(v []byte) uint64 {
	s.values++
	s.bytes += int64(len(v))
	s.maxBytes = max(s.maxBytes, len(v))
	return xxhash.Sum64(v)
}

func (s *state) addText(b *rows.Batch, v *rows.Vector, skip []bool, hashes []uint64) {
	typed := s.declared != nil // by the file: numbers that are written out
	for i := range hashes {
		span := v.Spans[i]
		if s.absent(span.Null(), skip, i, hashes) {
			continue
		}
		text := v.Bytes(i)
		hashes[i] = s.measured(text)
		var c, written class
		var n int64
		switch {
		case span.Nested():
			c = isNested
		case len(text) == 0:
			s.empty++
			continue
		default:
			c, n = classify(text)
			written = c
			if span.String() && !typed && (c <= isBool && c != isText) {
				c = isText // a value that was written as a string is text
			}
		}
		if c == isText && s.moments.texts && !span.Nested() {
			c = s.written(b, i, text)
		}
		s.class(b, i, c, text)
		s.made.text(text)
		switch c {
		case isInt:
			s.integer(n)
			s.order.next(c, uint64(n)^1<<63)
			s.number(n)
		case isDate, isTimestamp, isPeriod:
			beyond := int32(0)
			if c == isTimestamp && len(text) > len("2020-07-09T10:11:12.123") {
				_, _, beyond = datetime.ISO(text)
			}
			s.at(n, beyond)
			if c != isPeriod { // equal times get equal hashes, however they are written
				hashes[i] = mixed(uint64(n))
			}
		case isTimeuuid:
			s.moments.add(n, 0)
			s.order.next(c, uint64(n)^1<<63)
		case isWritten:
		case isDecimal, isDouble:
			if f, ok := decimal(text); ok {
				s.float(f)
				s.order.next(c, orderOfFloat(f))
				if s.moments.numbers {
					s.moments.float(f)
				}
			}
			if c == isDouble && !bytes.ContainsAny(text, ".+-N") {
				s.codes++
			}
		default:
			s.text(text)
			s.otherOrder.class = isText
			if written == isInt { // a string of digits
				s.made.number(n)
				if s.moments.numbers {
					s.moments.number(n)
				}
			}
		}
	}
}

// decimal reads a number that is written out.
func decimal(text []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil
}

// number takes an integer that may be a time.
func (s *state) number(n int64) {
	s.made.number(n)
	if !s.moments.numbers {
		return
	}
	s.moments.number(n)
	if s.timestamps() {
		s.moments.literal.add(n, 0)
	}
}

// at takes a value that is certainly a time.
func (s *state) at(ms int64, beyond int32) {
	s.moments.add(ms, beyond)
	key := uint64(ms) ^ 1<<63
	s.order.next(isTimestamp, key)
	if s.moments.other != nil {
		s.otherOrder.next(isTimestamp, key)
	}
}

// written takes a text that may be a time as people write it.
func (s *state) written(b *rows.Batch, i int, text []byte) class {
	one := s.moments.other == nil
	ms, other, ok := s.moments.written(text, func() example { return example{b.Seq + 1, b.Line(i), string(text)} })
	if !ok {
		return isText
	}
	if one && s.moments.other != nil {
		s.otherOrder = s.order.clone()
	}
	s.order.next(isTimestamp, uint64(ms)^1<<63)
	if s.moments.other != nil {
		s.otherOrder.next(isTimestamp, uint64(other)^1<<63)
	}
	return isWritten
}

// class counts a value's class.
func (s *state) class(b *rows.Batch, i int, c class, text []byte) {
	s.count[c]++
	if s.count[c] == 1 {
		s.example[c] = example{b.Seq + 1, b.Line(i), string(cut(text))}
	}
}

func (s *state) integer(n int64) {
	if !s.someInt {
		s.someInt, s.minInt, s.maxInt = true, n, n
		return
	}
	s.minInt, s.maxInt = min(s.minInt, n), max(s.maxInt, n)
}

func (s *state) float(f float64) {
	if !s.someFloat {
		s.someFloat, s.minFloat, s.maxFloat = true, f, f
		return
	}
	s.minFloat, s.maxFloat = min(s.minFloat, f), max(s.maxFloat, f)
}

// text takes a value whose only order is that of text.
func (s *state) text(text []byte) {
	s.order.nextText(text)
	switch {
	case s.minText == nil:
		s.minText = append(make([]byte, 0, 32), text[:min(len(text), shownBytes)]...)
		s.maxText = bytes.Clone(s.minText)
	case bytes.Compare(text, s.minText) < 0:
		s.minText = append(s.minText[:0], text[:min(len(text), shownBytes)]...)
	case bytes.Compare(text, s.maxText) > 0:
		s.maxText = append(s.maxText[:0], text[:min(len(text), shownBytes)]...)
	}
}

func (s *state) addBinary(v *rows.Vector, skip []bool, hashes []uint64) {
	uuids := s.declared != nil && s.declared.Kind == value.UUID
	for i := range hashes {
		if s.absent(v.Spans[i].Null(), skip, i, hashes) {
			continue
		}
		data := v.Bytes(i)
		hashes[i] = s.measured(data)
		switch {
		case uuids && len(data) == 16 && data[6]>>4 == 1:
			s.count[isTimeuuid]++
			n := timeOfUUID(uint64(binary.BigEndian.Uint32(data)), uint64(binary.BigEndian.Uint16(data[4:])), uint64(binary.BigEndian.Uint16(data[6:])&0xfff))
			s.moments.add(n, 0)
			s.order.next(isTimeuuid, uint64(n)^1<<63)
		case uuids:
			s.count[isUUID]++
			s.made.uuid(data)
			s.text(data)
		default:
			s.count[isBlob]++
			s.text(data)
		}
	}
}

func (s *state) addInts(b *rows.Batch, v *rows.Vector, skip []bool, hashes []uint64) {
	c, scale := isInt, int64(0)
	switch s.declared.Kind {
	case value.Boolean:
		c = isBool
	case value.Date:
		c, scale = isDate, day
	case value.Timestamp:
		c, scale = isTimestamp, 1
	case value.Time:
		c = isTime
	}
	for i, n := range v.Ints[:len(hashes)] {
		if s.absent(v.Nulls != nil && v.Nulls[i], skip, i, hashes) {
			continue
		}
		hashes[i] = mixed(uint64(n))
		s.values++
		if scale > 0 {
			s.at(n*scale, 0)
			continue
		}
		s.integer(n)
		s.order.next(c, uint64(n)^1<<63)
		if c == isInt {
			s.number(n)
		}
	}
	s.count[c] = s.values
}

func (s *state) addFloats(v *rows.Vector, skip []bool, hashes []uint64) {
	for i, f := range v.Floats[:len(hashes)] {
		if s.absent(v.Nulls != nil && v.Nulls[i], skip, i, hashes) {
			continue
		}
		hashes[i] = mixed(math.Float64bits(f))
		s.values++
		if f == f {
			s.float(f)
			s.order.next(isDouble, orderOfFloat(f))
			if s.moments.numbers {
				s.moments.float(f)
			}
		}
	}
	s.count[isDouble] = s.values
}

// orderOfFloat returns bits that sort as the floats do.
func orderOfFloat(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// check drops the rows whose value is not of the given type.
func (s *state) check(b *rows.Batch, v *rows.Vector, name string) {
	if s.given == nil || v.Kind != rows.Text || s.given.Kind == value.Text {
		return
	}
	var buf [64]byte
	for i := range b.N {
		span := v.Spans[i]
		if span.Null() {
			continue
		}
		if span.Nested() {
			b.Drop(i, fmt.Sprintf("column %q: a JSON object or array is no %s", name, s.given))
		} else if _, err := serialize(buf[:0], s.given, v.Bytes(i)); err != nil && !s.moments.reads(s.given, v.Bytes(i)) {
			b.Drop(i, fmt.Sprintf("column %q: %v", name, err))
		}
	}
}

// merge adds what another goroutine counted.
func (s *state) merge(o *state) {
	s.values += o.values
	s.nulls += o.nulls
	s.empty += o.empty
	s.bytes += o.bytes
	s.maxBytes = max(s.maxBytes, o.maxBytes)
	for c := range s.count {
		s.count[c] += o.count[c]
		if e := o.example[c]; e.seq > 0 && (s.example[c].seq == 0 || e.seq < s.example[c].seq) {
			s.example[c] = e
		}
	}
	if o.someInt {
		s.integer(o.minInt)
		s.integer(o.maxInt)
	}
	if o.someFloat {
		s.float(o.minFloat)
		s.float(o.maxFloat)
	}
	if o.minText != nil {
		if s.minText == nil || bytes.Compare(o.minText, s.minText) < 0 {
			s.minText = o.minText
		}
		if s.maxText == nil || bytes.Compare(o.maxText, s.maxText) > 0 {
			s.maxText = o.maxText
		}
	}
	s.sample.Merge(o.sample, func(into, from *firstSeen) {
		if into.batch == 0 || from.batch < into.batch {
			into.batch = from.batch
		}
		into.rows += from.rows
	})
	s.top.Merge(o.top, func(into, from *shown) {})
	s.codes += o.codes
	switch {
	case s.moments.other == nil && o.moments.other != nil:
		s.otherOrder = s.order.clone()
		s.otherOrder.merge(&o.otherOrder)
	case o.moments.other == nil:
		s.otherOrder.merge(&o.order)
	default:
		s.otherOrder.merge(&o.otherOrder)
	}
	s.order.merge(&o.order)
	s.moments.merge(o.moments)
	s.made.merge(&o.made)
}
