// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// commas are the separators to try, the likelier first.
var commas = []byte{',', '\t', ';', '|'}

// newCSV finds out how CSV is written.
func newCSV(s *Source, st *stream, o Options, tabs bool) (*csvFormat, error) {
	c := &csvFormat{s: s}
	if o.Delimiter != 0 {
		if o.Delimiter >= utf8.RuneSelf || strings.ContainsRune("\"\r\n\\\x00", o.Delimiter) {
			return nil, &Unreadable{Name: s.name, Err: fmt.Errorf("%q cannot part fields", o.Delimiter), hint: "--delimiter ';' or tab: one ASCII character"}
		}
		c.comma = byte(o.Delimiter)
	}
	head, err := csvHead(st)
	if err != nil {
		return nil, err
	}
	c.sniff(head, tabs)
	first, length, lines, err := c.firstRecord(head)
	if err != nil {
		return nil, err
	}
	if o.Names != nil && len(o.Names) != len(first) {
		return nil, &Unreadable{Name: s.name, Line: 1, Err: fmt.Errorf("%s in the first row for %s", plural(len(first), "field"), plural(len(o.Names), "column name")), hint: "name each column once, in the order of the file"}
	}
	header := o.Header == HasHeader
	if o.Header == GuessHeader {
		header = !slices.ContainsFunc(first, isData)
		if header && o.Names != nil && !slices.Equal(first, o.Names) {
			// A record of texts can be a header or a row. It is a header if the next record has a number or the like.
			second, _, _, err := c.firstRecord(head[length:])
			header = err == nil && slices.ContainsFunc(second, isData)
		}
	}
	switch {
	case header:
		c.header, c.lines = length, lines
		if o.Names != nil && !slices.Equal(first, o.Names) {
			c.guessed = " (whose names the given ones replace)"
		}
	case o.Names == nil:
		for i := range first {
			first[i] = fmt.Sprintf("c%d", i+1)
		}
		if o.Header == GuessHeader {
			c.guessed = " (its first record has values: columns are c1, c2, …)"
		}
	}
	if o.Names != nil {
		first = o.Names
	}
	seen := make(map[string]int, len(first))
	for i, name := range first {
		if !utf8.ValidString(name) {
			return nil, &Unreadable{Name: s.name, Line: 1, Err: fmt.Errorf("name %d of the header is not UTF-8", i+1), hint: "iconv -f ISO-8859-1 -t UTF-8, if that is what it is"}
		}
		if name == "" { // named by its position
			name = fmt.Sprintf("c%d", i+1)
			for slices.Contains(first, name) {
				name += "_"
			}
		}
		if j, twice := seen[name]; twice {
			return nil, &Unreadable{Name: s.name, Line: 1, Err: fmt.Errorf("the header names column %q twice, as field %d and %d", name, j, i+1), hint: "rename one of them; or is it no header (--header no)?"}
		}
		seen[name] = i + 1
		c.names = append(c.names, Column{Name: name})
	}
	return c, nil
}

// csvHead returns the head of the data. It has at least the first record that is not a blank line.
func csvHead(st *stream) ([]byte, error) {
	head, all, err := st.head()
	if err != nil {
		return nil, err
	}
	if all {
		return append(bytes.Clone(head), '\n'), nil
	}
	if n := bytes.LastIndexByte(head, '\n'); n >= 0 {
		return bytes.Clone(head[:n+1]), nil
	}
	// The line is longer than the head.
	return nil, &Unreadable{Name: st.s.name, Line: 1, Err: fmt.Errorf("the first line has more than %d KB", headSize>>10), hint: "is it CSV, and are its line ends \\n or \\r\\n?"}
}

// sniff guesses the dialect: the one in which the first records are most alike.
func (c *csvFormat) sniff(head []byte, tabs bool) {
	tries := commas
	switch {
	case c.comma != 0:
		tries = []byte{c.comma}
	case tabs:
		tries = []byte{'\t'}
	}
	escapes := []byte{0}
	if bytes.Contains(head, []byte(`\"`)) {
		escapes = []byte{0, '\\'}
	}
	best, found := -1.0, dialect{comma: tries[0]}
	for _, comma := range tries {
		for _, escape := range escapes {
			d := dialect{comma: comma, escape: escape}
			alike, fields := d.alike(head)
			if fields < 2 && len(tries) > 1 {
				alike = 0
			}
			if alike > best {
				best, found = alike, d
			}
		}
	}
	c.dialect = found
}

// alike returns the number of fields of the first record, and the share of the first records that
// have as many.
func (d dialect) alike(head []byte) (share float64, fields int) {
	const most = 500
	records, same := 0, 0
	for pos := 0; pos < len(head) && records < most; {
		record, next, n := d.record(head, pos)
		pos = next
		if n == 0 {
			continue
		}
		if records++; records == 1 {
			fields = len(record)
		}
		if n > 0 && len(record) == fields {
			same++
		}
	}
	if records == 0 {
		return 0, 0
	}
	return float64(same) / float64(records), fields
}

// record reads the record at pos. n is 1; 0 for a blank line and -1 for an invalid record.
func (d dialect) record(data []byte, pos int) (fields []string, next, n int) {
	line := bytes.IndexByte(data[pos:], '\n')
	if line < 0 {
		return nil, len(data), 0
	}
	if len(bytes.TrimRight(data[pos:pos+line], "\r")) == 0 {
		return nil, pos + line + 1, 0
	}
	end := d.first(data[pos:])
	if end == 0 {
		return nil, len(data), -1
	}
	piece := append(bytes.Clone(data[pos:pos+end]), make([]byte, padding)...)[:end]
	all := make([]Span, 0, 16)
	p := csvParser{dialect: d, feed: &csvFeed{}, b: &Batch{}, data: piece, valid: true, all: &all}
	p.careful()
	if p.b.bads > 0 {
		return nil, pos + end, -1
	}
	for _, s := range all {
		fields = append(fields, string(piece[s.At:int(s.At)+s.Len()]))
	}
	return fields, pos + end, 1
}

// first returns the end of the first record; 0: it is not complete.
func (d dialect) first(data []byte) int {
	for to := 0; ; {
		n := bytes.IndexByte(data[to:], '\n')
		if n < 0 {
			return 0
		}
		to += n + 1
		if end := d.cut(data[:to]); end > 0 {
			return end
		}
	}
}

// firstRecord returns the first record, and its length with the blank lines before it.
func (c *csvFormat) firstRecord(head []byte) (fields []string, length, lines int, err error) {
	for pos := 0; pos < len(head); {
		record, next, n := c.record(head, pos)
		if n == 0 {
			pos = next
			continue
		}
		if n < 0 {
			return nil, 0, 0, &Unreadable{Name: c.s.name, Line: 1 + bytes.Count(head[:pos], newline), Err: errors.New("the first record: a quote where none may be, or never closed"), hint: "a field with a quote in it is written in quotes, the quote doubled"}
		}
		return record, next, bytes.Count(head[:next], newline), nil
	}
	return nil, 0, 0, &Unreadable{Name: c.s.name, Err: errors.New("is empty"), hint: "CSV has a record a line"}
}

// isData reports whether a text is a value rather than a column's name: a number, a date, a UUID, a
// truth value, a blob.
func isData(f string) bool {
	f = strings.TrimSpace(f)
	if f == "" {
		return false
	}
	switch strings.ToLower(f) {
	case "true", "false":
		return true
	}
	digits, letters := 0, 0
	for _, r := range f {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' || strings.ContainsRune("-:.+ TZxe", r):
		default:
			letters++
		}
	}
	switch {
	case digits == 0:
		return false
	case letters == 0 && (f[0] >= '0' && f[0] <= '9' || f[0] == '-' || f[0] == '+' || f[0] == '.'):
		return true
	case letters == 0 && len(f) == 36 && f[8] == '-' && f[13] == '-': // a UUID
		return true
	}
	return false
}
