// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxFields is how many different fields the objects of a file may have. With more, the names are
// probably values.
const maxFields = 4096

// jsonFormat is the JSON Lines format of a file.
type jsonFormat struct {
	s    *Source
	line int // of the first object

	mu    sync.RWMutex
	names []Column
	index map[string]int
	head  int // how many of names were found in the head
}

// newJSONLines takes the columns from the objects of the head.
func newJSONLines(s *Source, st *stream) (*jsonFormat, error) {
	j := &jsonFormat{s: s, index: make(map[string]int)}
	head, all, err := st.head()
	if err != nil {
		return nil, err
	}
	if end := bytes.LastIndexByte(head, '\n') + 1; !all && end > 0 {
		head = head[:end]
	} else if !all {
		return nil, &Unreadable{Name: s.name, Line: 1, Err: fmt.Errorf("the first line has more than %d KB", headSize>>10), hint: "JSON Lines has an object a line: jq -c . makes it of JSON that is laid out otherwise"}
	}
	piece := append(bytes.Clone(head), '\n')
	w := &work{data: piece, line: 1, lines: bytes.Count(piece, newline)}
	f := &jsonFeed{format: j}
	_ = f.parse(w, func(b *Batch) error {
		switch {
		case b.N > 0:
			j.line = b.Line(0)
		case len(b.bad) > 0:
			err = &Unreadable{Name: s.name, Line: b.bad[0].Line, Err: errors.New(b.bad[0].Reason), hint: "JSON Lines has an object a line; --format csv, if it is that"}
		}
		return nil
	})
	j.head = len(j.names)
	if err == nil && len(j.names) == 0 {
		err = &Unreadable{Name: s.name, Line: j.line, Err: errors.New("the objects have no fields"), hint: "JSON Lines has an object a line, its fields the columns"}
	}
	return j, err
}

func (j *jsonFormat) columns() ([]Column, int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return slices.Clip(j.names), j.line
}

// settle sorts the columns that a scan found beyond the head, because the order in which it found
// them depends on timing.
func (j *jsonFormat) settle() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.names = slices.Clone(j.names) // columns has returned the old slice
	slices.SortFunc(j.names[j.head:], func(a, b Column) int { return strings.Compare(a.Name, b.Name) })
	for i, c := range j.names {
		j.index[c.Name] = i
	}
}

func (j *jsonFormat) describe() string { return "JSON Lines" }

// column returns the index of a field, which it adds if it is new; -1: there are too many fields.
func (j *jsonFormat) column(name []byte) int {
	j.mu.RLock()
	i, ok := j.index[string(name)]
	j.mu.RUnlock()
	if ok {
		return i
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if i, ok := j.index[string(name)]; ok {
		return i
	}
	if len(j.names) >= maxFields {
		return -1
	}
	i = len(j.names)
	j.names = append(j.names, Column{Name: string(name)})
	j.index[string(name)] = i
	return i
}

func (j *jsonFormat) scan(columns []string) (feed, error) {
	st, err := j.s.stream()
	if err != nil {
		return nil, err
	}
	f := &jsonFeed{format: j, textFeed: textFeed{st: st, line: 1, cut: func(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }}}
	if columns != nil {
		f.pick = make(map[string]int, len(columns))
		for i, c := range columns {
			f.pick[c] = i
		}
	}
	return f, nil
}

// jsonFeed is one pass over JSON Lines.
type jsonFeed struct {
	textFeed
	format *jsonFormat
	pick   map[string]int // position in the batch for each field; nil: its position in the columns
}

// place returns a field's position in the batch; -1: none.
func (f *jsonFeed) place(name []byte) int {
	if f.pick == nil {
		return f.format.column(name)
	}
	if i, ok := f.pick[string(name)]; ok {
		return i
	}
	return -1
}

// expected is a field in its position in the last object.
type expected struct {
	name []byte // as written
	at   int
}

type jsonParser struct {
	jsonScanner
	feed   *jsonFeed
	b      *Batch
	expect []expected
}

func (f *jsonFeed) parse(w *work, each func(*Batch) error) error {
	p, _ := w.parser.(*jsonParser)
	if p == nil {
		p = &jsonParser{feed: f}
		w.parser = p
	}
	b := &w.batch
	columns := len(f.pick)
	if f.pick == nil {
		known, _ := f.format.columns()
		columns = len(known)
	}
	b.begin(f.format.s.name, w, columns)
	b.reserve(w.lines)
	p.b, p.data = b, w.padded()
	valid := utf8.Valid(p.data)
	line := 0
	for pos := 0; pos < len(p.data); line++ {
		end := pos + bytes.IndexByte(p.data[pos:], '\n')
		if text := p.data[pos:end]; len(bytes.TrimSpace(text)) > 0 {
			switch {
			case !valid && !utf8.Valid(text):
				b.wrong(b.line+line, "is not UTF-8")
			default:
				p.row(pos, end, line)
			}
		}
		pos = end + 1
	}
	b.end(p.data)
	return each(b)
}

// row takes the object in data[pos:end].
func (p *jsonParser) row(pos, end, line int) {
	b := p.b
	for i := range b.Columns {
		b.Columns[i].Spans[b.N] = Span{len: markNull}
	}
	// Strings are unescaped in place. The message needs the original line.
	p.at, p.end = pos, end
	p.spoiled = false
	if ok := p.object(); ok {
		b.lines[b.N] = uint32(line)
		b.N++
		return
	}
	b.wrong(b.line+line, "%s", p.reason(pos, end))
}

// object reads the object, and puts its values into the batch.
func (p *jsonParser) object() bool {
	p.space()
	if p.next() != '{' {
		return false
	}
	p.at++
	p.space()
	if p.next() == '}' {
		p.at++
		p.space()
		return p.at == p.end
	}
	for field := 0; ; field++ {
		p.space()
		if p.next() != '"' {
			return false
		}
		at, ok := p.key(field)
		if !ok {
			return false
		}
		p.space()
		if p.next() != ':' {
			return false
		}
		p.at++
		p.space()
		s, ok := p.value()
		if !ok {
			return false
		}
		if at >= 0 {
			p.put(at, s)
		}
		p.space()
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			p.space()
			return p.at == p.end
		default:
			return false
		}
	}
}

// key reads a field's name, and returns the position for its value.
func (p *jsonParser) key(field int) (int, bool) {
	if field < len(p.expect) {
		e := &p.expect[field]
		if n := len(e.name); p.end-p.at > n && string(p.data[p.at:p.at+n]) == string(e.name) {
			p.at += n
			return e.at, true
		}
	}
	from := p.at
	s, ok := p.value()
	if !ok {
		return 0, false
	}
	name := p.data[s.At : int(s.At)+s.Len()]
	at := p.feed.place(name)
	if plain := p.at-from == s.Len()+2; plain && field < 256 { // a name with escapes is not expected: unescaping has changed it
		for len(p.expect) <= field {
			p.expect = append(p.expect, expected{name: []byte{0}})
		}
		p.expect[field] = expected{name: bytes.Clone(p.data[from:p.at]), at: at}
	}
	return at, true
}

// put sets a value of the row. Earlier rows have no value in a new column.
func (p *jsonParser) put(at int, s Span) {
	b := p.b
	for len(b.Columns) <= at {
		spans := make([]Span, len(b.lines))
		for i := range b.N + 1 {
			spans[i] = Span{len: markNull}
		}
		b.Columns = append(b.Columns, Vector{Spans: spans})
	}
	b.Columns[at].Spans[b.N] = s
}

// reason says what is wrong with the line data[pos:end].
func (p *jsonParser) reason(pos, end int) string {
	text := p.data[pos:end]
	if bytes.TrimLeft(text, " \t\r")[0] != '{' {
		return "is no JSON object"
	}
	if !p.spoiled {
		var v map[string]json.RawMessage
		if err := json.Unmarshal(text, &v); err != nil {
			return strings.TrimPrefix(err.Error(), "json: ")
		}
	}
	return fmt.Sprintf("is no JSON: at character %d", utf8.RuneCount(p.data[pos:min(p.at, end)])+1)
}
