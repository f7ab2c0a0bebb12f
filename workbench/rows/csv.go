package rows

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// csvRows reads CSV.
type csvRows struct {
	s      *Source
	r      *csv.Reader
	limit  *recordLimit
	header []string
	first  int   // the header's line
	pick   []int // which fields
	values []string
	at     int // where the last record began
	end    int // and ended
	failed error
}

func newCSV(s *Source, in io.Reader, comma rune) (*csvRows, error) {
	c := &csvRows{s: s, limit: &recordLimit{r: in, left: MaxRecord}}
	c.r = csv.NewReader(c.limit)
	c.r.Comma = comma
	c.r.FieldsPerRecord = -1 // counted here
	c.r.ReuseRecord = true
	if comma == '"' || comma == '\r' || comma == '\n' || !utf8.ValidRune(comma) || comma == utf8.RuneError {
		return nil, &Unreadable{Name: s.name, Err: fmt.Errorf("%q cannot part fields", comma), hint: "--delimiter ';' or tab"}
	}
	header, err := c.r.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Unreadable{Name: s.name, Err: errors.New("is empty"), hint: "CSV begins with a line that names the columns"}
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return nil, &Unreadable{Name: s.name, Line: bad.Line, Err: fmt.Errorf("the header: %w", bad.Err), hint: "a field with a quote in it is written in quotes, the quote doubled"}
		}
		return nil, c.s.readError(err, 1)
	}
	c.first, _ = c.r.FieldPos(0)
	c.ended(header)
	seen := make(map[string]int, len(header))
	for i, name := range header {
		if !utf8.ValidString(name) {
			return nil, &Unreadable{Name: s.name, Line: c.first, Err: fmt.Errorf("name %d of the header is not UTF-8", i+1), hint: "iconv -f ISO-8859-1 -t UTF-8, if that is what it is"}
		}
		if j, twice := seen[name]; twice && name != "" {
			return nil, &Unreadable{Name: s.name, Line: c.first, Err: fmt.Errorf("the header names column %q twice, as field %d and %d", name, j, i+1), hint: "rename one of them"}
		}
		seen[name] = i + 1
		c.header = append(c.header, strings.Clone(name))
	}
	return c, nil
}

func (c *csvRows) columns() ([]string, int, error) { return c.header, c.first, nil }
func (c *csvRows) line() int                       { return c.at }

func (c *csvRows) choose(names []string) error {
	c.pick = c.pick[:0]
	for _, n := range names {
		for i, h := range c.header {
			if h == n {
				c.pick = append(c.pick, i)
				break
			}
		}
	}
	c.values = make([]string, len(c.pick))
	return nil
}

func (c *csvRows) next() ([]string, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	c.limit.left = MaxRecord
	record, err := c.r.Read()
	if err != nil {
		return nil, c.fail(err)
	}
	c.at, _ = c.r.FieldPos(0)
	c.ended(record)
	if len(record) != len(c.header) {
		return nil, c.s.bad(c.at, "%s where the header has %d", plural(len(record), "field"), len(c.header))
	}
	for i, field := range c.pick {
		v := record[field]
		if !utf8.ValidString(v) {
			return nil, c.s.bad(c.at, "column %q is not UTF-8", c.header[field])
		}
		c.values[i] = v
	}
	return c.values, nil
}

// ended notes the line in which a record ends.
func (c *csvRows) ended(record []string) {
	last := len(record) - 1
	c.end, _ = c.r.FieldPos(last)
	c.end += strings.Count(record[last], "\n")
}

// fail says what an error means: a record that is no CSV is a bad row, all else
// the end.
func (c *csvRows) fail(err error) error {
	var bad *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		c.failed = io.EOF
	case errors.As(err, &bad):
		c.at, c.end = bad.StartLine, bad.Line
		switch {
		case errors.Is(bad.Err, csv.ErrBareQuote):
			return c.s.bad(bad.Line, "a quote at column %d, in a field that does not begin with one", bad.Column)
		case errors.Is(bad.Err, csv.ErrQuote) && bad.StartLine != bad.Line:
			return c.s.bad(bad.StartLine, "a field in quotes ends wrongly, or never (noticed in line %d, column %d)", bad.Line, bad.Column)
		case errors.Is(bad.Err, csv.ErrQuote):
			return c.s.bad(bad.Line, "a field in quotes ends wrongly, or never, at column %d", bad.Column)
		}
		return c.s.bad(bad.Line, "%v", bad.Err)
	default:
		c.failed = c.s.readError(err, c.end+1)
	}
	return c.failed
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// recordLimit reads until more was read than a record may have since left was last
// set.
type recordLimit struct {
	r    io.Reader
	left int
}

func (l *recordLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}
