// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// dialect describes how CSV is written.
type dialect struct {
	comma  byte
	escape byte // within fields, as cqlsh writes it: \" for "; 0: quotes are doubled
}

// csvFormat is the CSV format of a file.
type csvFormat struct {
	s *Source
	dialect
	names   []Column
	header  int // bytes of the header record; 0: there is none
	lines   int // of the header record
	guessed string
}

func (c *csvFormat) columns() ([]Column, int) { return c.names, 1 }

func (c *csvFormat) describe() string {
	comma := fmt.Sprintf("%q", rune(c.comma))
	switch c.comma {
	case ',':
		comma = "commas"
	case '\t':
		comma = "tabs"
	}
	text := "CSV, fields parted by " + comma
	if c.header > 0 {
		text += ", a header"
	} else {
		text += ", no header"
	}
	if c.escape != 0 {
		text += ", quotes escaped by a backslash"
	}
	return text + c.guessed
}

func (c *csvFormat) scan(columns []string) (feed, error) {
	st, err := c.s.stream()
	if err != nil {
		return nil, err
	}
	if _, err := st.r.Discard(c.header); err != nil {
		st.close()
		return nil, c.s.readError(err, 1)
	}
	f := &csvFeed{format: c, textFeed: textFeed{st: st, line: 1 + c.lines, cut: c.cut}}
	f.pick = make([]int, len(c.names))
	for i, n := range c.names {
		f.pick[i] = i
		if columns != nil {
			f.pick[i] = -1
			for at, want := range columns {
				if want == n.Name {
					f.pick[i] = at
				}
			}
		}
	}
	f.picked = len(columns)
	if columns == nil {
		f.picked = len(c.names)
	}
	return f, nil
}

// csvFeed is one pass over CSV.
type csvFeed struct {
	textFeed
	format *csvFormat
	pick   []int // position in the batch for each field; -1: none
	picked int
}

// cut returns the end of the last complete record in data; 0: there is none. It divides data into
// records exactly as parse does: the data after a faulty record begins a new line.
func (d dialect) cut(data []byte) int {
	last := 0 // end of the last complete record
	for pos := 0; ; {
		q := bytes.IndexByte(data[pos:], '"')
		if q < 0 {
			q = len(data) - pos
		}
		q += pos
		if n := bytes.LastIndexByte(data[pos:q], '\n'); n >= 0 {
			last = pos + n + 1
		}
		if q == len(data) {
			return last
		}
		if d.escaped(data[last:q]) {
			pos = q + 1
			continue
		}
		end := q // search from here for the line end of a faulty record
		if q == last || data[q-1] == d.comma && !d.escaped(data[last:q-1]) {
			whole := false
			if end, whole = d.quoted(data, q); !whole {
				return last
			}
			switch next := data[end:]; {
			case next[0] == d.comma, next[0] == '\n':
				pos = end
				continue
			case next[0] == '\r' && len(next) == 1:
				return last // the following byte decides
			case next[0] == '\r' && next[1] == '\n':
				pos = end
				continue
			}
		}
		n := bytes.IndexByte(data[end:], '\n')
		if n < 0 {
			return last
		}
		pos = end + n + 1
		last = pos
	}
}

// escaped reports whether a backslash at the end of text escapes the next character.
func (d dialect) escaped(text []byte) bool {
	if d.escape == 0 {
		return false
	}
	n := 0
	for len(text) > n && text[len(text)-1-n] == d.escape {
		n++
	}
	return n%2 == 1
}

// quoted returns the end of the closing quote of the field that begins at q. whole reports whether
// there certainly is a closing quote.
func (d dialect) quoted(data []byte, q int) (end int, whole bool) {
	for p := q + 1; p < len(data); {
		n := bytes.IndexByte(data[p:], '"')
		if d.escape != 0 {
			if e := bytes.IndexByte(data[p:], d.escape); e >= 0 && (n < 0 || e < n) {
				p += e + 2
				continue
			}
		}
		if n < 0 {
			return 0, false
		}
		p += n + 1
		if p < len(data) && data[p] == '"' {
			p++
			continue
		}
		return p, p < len(data)
	}
	return 0, false
}

func (f *csvFeed) parse(w *work, each func(*Batch) error) error {
	b := &w.batch
	b.begin(f.format.s.name, w, f.picked)
	data := w.padded()
	p := csvParser{dialect: f.format.dialect, feed: f, b: b, data: data, valid: utf8.Valid(data)}
	b.reserve(w.lines)
	if bytes.IndexByte(data, '"') < 0 && (p.escape == 0 || bytes.IndexByte(data, p.escape) < 0) {
		p.plain()
	} else {
		p.careful()
	}
	b.end(data)
	return each(b)
}

// csvParser makes a batch from a piece.
type csvParser struct {
	dialect
	feed  *csvFeed
	b     *Batch
	data  []byte
	valid bool // data is UTF-8
	line  int  // where the record begins, counted from the piece's beginning

	all *[]Span // if not nil, it takes all fields, and there are no columns

	inner int // line ends in the record so far
	begin int // beginning of the record's current line in data
}

// plain parses data without quotes and escapes. It searches for commas and line ends eight bytes at
// a time.
func (p *csvParser) plain() {
	data, pick, b := p.data, p.feed.pick, p.b
	columns := b.Columns
	commas, newlines := uint64(p.comma)*ones, uint64('\n')*ones
	row, start, field := 0, 0, 0
	words := data[:len(data)+padding]
	for i := 0; i < len(data); i += 8 {
		v := binary.LittleEndian.Uint64(words[i:])
		for m := zeros(v^commas) | zeros(v^newlines); m != 0; m &= m - 1 {
			at := i + bits.TrailingZeros64(m)>>3
			length := at - start
			if data[at] != '\n' {
				if field < len(pick) {
					if c := pick[field]; c >= 0 {
						columns[c].Spans[b.N] = span(start, length)
					}
				}
				field++
				start = at + 1
				continue
			}
			if length > 0 && data[at-1] == '\r' {
				length--
			}
			if length > 0 || field > 0 { // not a blank line
				if field < len(pick) {
					if c := pick[field]; c >= 0 {
						columns[c].Spans[b.N] = span(start, length)
					}
				}
				p.row(field+1, row, at)
			}
			p.line++
			row, start, field = at+1, at+1, 0
		}
	}
}

// row takes the row that begins at start, unless it is faulty.
func (p *csvParser) row(fields, start, end int) {
	b := p.b
	if p.all != nil {
		return
	}
	if fields != len(p.feed.pick) {
		p.wrong(p.line, "%s where the %s has %d", plural(fields, "field"), p.feed.format.head(), len(p.feed.pick))
		return
	}
	if !p.valid && !utf8.Valid(p.data[start:end]) {
		for i, c := range p.feed.pick {
			if c < 0 {
				continue
			}
			if s := b.Columns[c].Spans[b.N]; !utf8.Valid(p.data[s.At : int(s.At)+s.Len()]) {
				p.wrong(p.line, "column %q is not UTF-8", p.feed.format.names[i].Name)
				return
			}
		}
	}
	b.lines[b.N] = uint32(p.line)
	b.N++
}

func (c *csvFormat) head() string {
	if c.header > 0 {
		return "header"
	}
	return "first row"
}

func (p *csvParser) wrong(line int, format string, args ...any) {
	p.b.wrong(p.b.line+line, format, args...)
}

// span returns the span of a field without quotes: an empty field is null.
func span(start, length int) Span {
	s := Span{At: uint32(start), len: uint32(length)}
	if length == 0 {
		s.len = markNull | markEmpty
	}
	return s
}

// careful parses data with quotes or escapes.
func (p *csvParser) careful() {
	data, pick, b := p.data, p.feed.pick, p.b
	for pos := 0; pos < len(data); p.line++ {
		if data[pos] == '\n' {
			pos++ // a blank line
			continue
		}
		if data[pos] == '\r' && data[pos+1] == '\n' {
			pos += 2
			continue
		}
		start := pos
		p.inner, p.begin = 0, pos
		for field := 0; ; field++ {
			var s Span
			var ok bool
			if data[pos] == '"' {
				s, pos, ok = p.quotedField(pos)
			} else {
				s, pos, ok = p.bareField(pos)
			}
			if !ok {
				break
			}
			if p.all != nil {
				*p.all = append(*p.all, s)
			}
			if field < len(pick) {
				if c := pick[field]; c >= 0 {
					b.Columns[c].Spans[b.N] = s
				}
			}
			if data[pos] == '\r' {
				pos++
			}
			pos++
			if data[pos-1] == '\n' {
				p.row(field+1, start, pos)
				break
			}
		}
		p.line += p.inner
	}
}

// bareField reads a field that does not begin with a quote. end is the position of the comma or
// line end after it. If there is no valid field, end is the end of its line.
func (p *csvParser) bareField(at int) (s Span, end int, ok bool) {
	data := p.data
	to := at // position of the next byte to write
	for i := at; ; i++ {
		switch c := data[i]; {
		case c == '\n':
			if i > at && data[i-1] == '\r' {
				return span(at, to-at-1), i - 1, true
			}
			return span(at, to-at), i, true
		case c == p.comma:
			return span(at, to-at), i, true
		case c == '"':
			return p.fault(i, "a quote at column %d, in a field that does not begin with one")
		case c == p.escape && c != 0 && data[i+1] != '\n' && data[i+1] != '\r':
			i++
			c = data[i]
			fallthrough
		default:
			data[to] = c
			to++
		}
	}
}

// quotedField reads a field that begins with a quote. Its results are those of bareField. It
// removes escapes in place.
func (p *csvParser) quotedField(at int) (s Span, end int, ok bool) {
	data, from := p.data, at+1
	to := from
	for i := from; ; {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			p.wrong(p.line+p.inner, "the quote at column %d is never closed", at-p.begin+1)
			return Span{}, len(data), false
		}
		escaped := false
		if p.escape != 0 {
			if e := bytes.IndexByte(data[i:i+n], p.escape); e >= 0 {
				n, escaped = e, true
			}
		}
		if nl := bytes.LastIndexByte(data[i:i+n], '\n'); nl >= 0 {
			p.inner += bytes.Count(data[i:i+n], newline)
			p.begin = i + nl + 1
		}
		if to != i {
			copy(data[to:], data[i:i+n])
		}
		to += n
		i += n
		if escaped || data[i+1] == '"' {
			if data[i+1] == '\n' {
				p.inner++
				p.begin = i + 2
			}
			data[to] = data[i+1]
			to++
			i += 2
			continue
		}
		end = i + 1
		next := data[end]
		if next == p.comma || next == '\n' || next == '\r' && data[end+1] == '\n' {
			return Span{At: uint32(from), len: uint32(to - from)}, end, true
		}
		return p.fault(i, "a field in quotes ends wrongly at column %d")
	}
}

var newline = []byte{'\n'}

// fault records a faulty record, noticed at data[at]. Parsing continues in the next line.
func (p *csvParser) fault(at int, format string) (Span, int, bool) {
	p.wrong(p.line+p.inner, format, at-p.begin+1)
	n := bytes.IndexByte(p.data[at:], '\n')
	return Span{}, at + n + 1, false
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
