package profile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// Sizes of what is kept of a column by each goroutine, unless there are so many of
// both that memory would be short.
const (
	stateBytes  = 160 << 10 // of one, in these sizes
	statesBytes = 64 << 20  // of all

	columnTop    = 256
	columnSample = 4096
	periodTop    = 128
	periodSample = 1024
	shownBytes   = 256 // of a value that is shown
)

// state is what is known so far of a column.
type state struct {
	name            string
	given, declared *value.Type

	values, nulls, empty int64
	count                [classes]int64
	example              [classes]example // the first of each class
	bytes                int64
	maxBytes             int

	minInt, maxInt     int64 // of isInt, and of times in ms
	minFloat, maxFloat float64
	minText, maxText   []byte // of what is neither
	someInt, someFloat bool

	sample *sketch.Sample[firstSeen]
	top    *sketch.Top[shown]

	finest Granularity // of the times
	hot    *hot

	order order
}

type example struct {
	seq, line int // 0: none
	text      string
}

// firstSeen is the number of the batch, from 1, that a value came in first, and how many
// rows have it.
type firstSeen struct {
	batch uint32
	rows  int64
}

type shown struct{ text []byte }

// newState is one of so many, over all goroutines.
func newState(of int) *state {
	part := func(size int) int { return share(size, statesBytes, stateBytes, of) }
	return &state{sample: sketch.NewSample[firstSeen](part(columnSample)), top: sketch.NewTop[shown](part(columnTop)), finest: Year}
}

// share is a size of something of which there are so many, that take each bytes in
// that size: less where they would take more than all bytes, but not less than an
// eighth.
func share(size, all, each, many int) int {
	if many*each <= all {
		return size
	}
	return max(size/8, size*(all/many)/each)
}

// nullHash stands for null among the hashes of a batch.
const nullHash = 0x5a17e9d1b64c3f20

// mixed is the hash of an integer (splitmix64's last steps).
func mixed(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// add takes the values of a batch, and leaves their hashes in hashes. skip says which
// rows do not count.
func (s *state) add(b *rows.Batch, v *rows.Vector, skip []bool, hashes []uint64) edge {
	s.order.begin()
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
	return s.order.edge()
}

// sketch takes the hashes, equal neighbours at once.
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

// show writes a value for people.
func (s *state) show(dst []byte, v *rows.Vector, i int) []byte {
	if v.Kind == rows.Text {
		return append(dst, cut(v.Bytes(i))...)
	}
	dst = v.AppendText(dst, i, s.declared)
	return cut(dst)
}

// cut is a text of no more than shownBytes, whole characters.
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

// absent says whether row i has no value that counts: it is null, or skipped.
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

// measured is the hash of a value's bytes, which count.
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
		var c class
		var n int64
		switch {
		case span.Nested():
			c = isNested
		case len(text) == 0:
			s.empty++
			continue
		default:
			c, n = classify(text)
			if span.String() && !typed && (c <= isBool && c != isText) {
				c = isText // what was written as a string is one
			}
		}
		s.class(b, i, c, text)
		switch c {
		case isInt:
			s.integer(n)
			s.order.next(c, uint64(n)^1<<63)
		case isDate, isTimestamp, isPeriod, isTimeuuid:
			s.integer(n)
			s.time(n)
			s.order.next(c, uint64(n)^1<<63)
		case isDecimal, isDouble:
			f, err := strconv.ParseFloat(string(text), 64)
			if err == nil {
				s.float(f)
				s.order.next(c, orderOfFloat(f))
			}
		default:
			s.text(text)
		}
	}
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

// text takes what has an order as text only.
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

// time takes a time in ms.
func (s *state) time(ms int64) {
	for s.finest > Second && s.finest.Start(ms) != ms {
		s.finest--
	}
	if s.hot == nil {
		s.hot = newHot()
	}
	s.hot.add(ms)
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
			s.integer(n)
			s.time(n)
			s.order.next(isTimeuuid, uint64(n)^1<<63)
		case uuids:
			s.count[isUUID]++
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
			n *= scale
			s.time(n)
		}
		s.integer(n)
		s.order.next(c, uint64(n)^1<<63)
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
		}
	}
	s.count[isDouble] = s.values
}

// orderOfFloat are bits that are in the order of the floats.
func orderOfFloat(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// check drops the rows whose value is not of the type that was given.
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
		} else if _, err := serialize(buf[:0], s.given, v.Bytes(i)); err != nil {
			b.Drop(i, fmt.Sprintf("column %q: %v", name, err))
		}
	}
}

// merge adds what another goroutine has seen.
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
	s.finest = min(s.finest, o.finest)
	switch {
	case s.hot == nil:
		s.hot = o.hot
	case o.hot != nil:
		s.hot.merge(o.hot)
	}
	s.order.merge(&o.order)
}
