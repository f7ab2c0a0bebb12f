// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// statement is one statement in the text, on one line or several.
type statement struct {
	lines  []line
	text   string // the lines' text, without comments, with a space between the lines; set when the statement is complete
	starts []int  // where each line begins in text
	rate   float64
	rated  *comment     // the comment with the rate; nil: there is none
	unread *SyntaxError // the error of a comment after the last line that is no rate

	batch, ended bool // batch: it begins a batch; ended: the batch has ended
	depth        int  // open brackets
	length       int  // of text
}

// line is a line of the text without its comments.
type line struct {
	number   int // from 1
	code     string
	lead     int // characters before code
	comments []comment
}

// comment is a comment's text, without its marks.
type comment struct {
	text string
	at   int // the character at which it begins, from 1
	// block says that it is in /* */. Such a comment may hold a rate, but need not.
	block bool
}

// lines splits a text into lines, and each line into code and comments. Outside quotes, a comment
// begins with --, //, or a # that does not begin a DynamoDB placeholder (#name).
func lines(text string) []line {
	var out []line
	open := false // in a block comment
	for i, raw := range strings.Split(text, "\n") {
		l := line{number: i + 1}
		raw = strings.TrimRight(raw, "\r")
		code := []byte(raw)
		note := func(from, begin, end, to int, block bool) {
			if begin < end && strings.TrimSpace(raw[begin:end]) != "" {
				lead := len(raw[begin:end]) - len(strings.TrimLeft(raw[begin:end], " \t"))
				l.comments = append(l.comments, comment{strings.TrimSpace(raw[begin:end]), utf8.RuneCountInString(raw[:begin+lead]) + 1, block})
			}
			for k := from; k < to; k++ {
				code[k] = ' '
			}
		}
		quote := byte(0)
		for k := 0; k < len(raw); {
			c := raw[k]
			switch {
			case open:
				end := strings.Index(raw[k:], "*/")
				if end < 0 {
					note(k, k, len(raw), len(raw), true)
					k = len(raw)
					continue
				}
				note(k, k, k+end, k+end+2, true)
				k, open = k+end+2, false
				continue
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '\'' || c == '"' || c == '`':
				quote = c
			case strings.HasPrefix(raw[k:], "/*"):
				end := strings.Index(raw[k+2:], "*/")
				if end < 0 {
					note(k, k+2, len(raw), len(raw), true)
					k, open = len(raw), true
					continue
				}
				note(k, k+2, k+2+end, k+end+4, true)
				k += end + 4
				continue
			case strings.HasPrefix(raw[k:], "--"), strings.HasPrefix(raw[k:], "//"):
				note(k, k+2, len(raw), len(raw), false)
				k = len(raw)
				continue
			case c == '#' && !placeholder(raw[k+1:]):
				note(k, k+1, len(raw), len(raw), false)
				k = len(raw)
				continue
			}
			k++
		}
		whole := strings.TrimRight(string(code), " \t")
		l.code = strings.TrimLeft(whole, " \t")
		l.lead = utf8.RuneCountInString(raw[:len(whole)-len(l.code)])
		out = append(out, l)
	}
	return out
}

// placeholder reports whether the text after a # is a name, as in #n = :n.
func placeholder(rest string) bool {
	return rest != "" && partOfName(rest[0]) && (rest[0] < '0' || rest[0] > '9')
}

// statements joins the lines of each statement. The error is about a comment that looks like a rate
// and belongs to no statement.
func statements(text string) ([]*statement, *SyntaxError) {
	var out []*statement
	var now *statement
	for _, l := range lines(text) {
		if l.code == "" {
			if len(l.comments) == 0 && now != nil && !now.unfinished() {
				now = nil
			}
			if err := l.stray(); err != nil {
				return nil, err
			}
			continue
		}
		if now == nil || !now.goesOn(l.code) {
			now = &statement{}
			out = append(out, now)
		}
		if err := now.add(l); err != nil {
			return nil, err
		}
	}
	for _, s := range out {
		if s.unread != nil {
			return nil, s.unread
		}
		var text strings.Builder
		for i, l := range s.lines {
			if i > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(l.code)
		}
		s.text = text.String()
	}
	return out, nil
}

// stray returns the error of a comment line that has a rate but belongs to no statement. A
// statement that is commented out keeps its own rate.
func (l *line) stray() *SyntaxError {
	for _, c := range l.comments {
		if strings.HasPrefix(c.text, "#") { // ## is always ignored
			continue
		}
		text := c.text
		if i := innerComment(text); i >= 0 {
			text = text[:i]
		}
		for _, r := range findRates(text) {
			found := text[r.from:r.to]
			if r.reason != "" && !strings.Contains(found, "/") && found != strings.TrimSpace(text) {
				continue
			}
			return &SyntaxError{Line: l.number, At: c.at + utf8.RuneCountInString(text[:r.from]), Reason: fmt.Sprintf("%.40q looks like a rate, but is no statement's", found),
				Hint: "a rate stands behind its statement, on the same line: SELECT * FROM t WHERE code = ? -- 500/s; a comment that begins with ## may say what it likes"}
		}
	}
	return nil
}

// maxStatement is the greatest length of a statement.
const maxStatement = 1 << 20

// add adds a line.
func (s *statement) add(l line) *SyntaxError {
	switch {
	case s.length+len(l.code) > maxStatement:
		return &SyntaxError{Line: l.number, At: 1, Reason: fmt.Sprintf("a statement of more than %d MB", maxStatement>>20), Hint: "is a semicolon or a closing bracket missing?"}
	case s.length == 0:
		s.batch = batchBegins.MatchString(l.code)
	default:
		s.length++
	}
	s.ended = s.ended || batchEnds.MatchString(l.code)
	s.depth += depth(l.code)
	s.starts = append(s.starts, s.length)
	s.length += len(l.code)
	s.lines = append(s.lines, l)
	s.unread = nil // a comment on a line that is not the last may be a remark
	for i := range l.comments {
		c := &l.comments[i]
		fail := func(reason string) *SyntaxError {
			return &SyntaxError{Line: l.number, At: c.at, Reason: reason, Hint: rateHint + "; comments stand on lines of their own"}
		}
		r, reason := commentRate(c.text)
		switch {
		case reason != "" && c.silent():
			if !c.block {
				s.unread = fail(reason)
			}
		case reason != "":
			return fail(reason)
		case s.rated != nil:
			return fail(fmt.Sprintf("the statement has two rates, %.40q and %.40q", s.rated.text, c.text))
		default:
			s.rate, s.rated = r, c
		}
	}
	return nil
}

// silent reports whether nothing in a comment looks like a rate.
func (c *comment) silent() bool {
	text := c.text
	if i := innerComment(text); i >= 0 {
		text = text[:i]
	}
	return len(findRates(text)) == 0
}

// at returns the line and the column of a byte of the statement's text.
func (s *statement) at(offset int) (number, column int) {
	i := len(s.starts) - 1
	for i > 0 && s.starts[i] > offset {
		i--
	}
	l := &s.lines[i]
	within := min(max(offset-s.starts[i], 0), len(l.code))
	return l.number, l.lead + utf8.RuneCountInString(l.code[:within]) + 1
}

var (
	batchBegins = regexp.MustCompile(`(?i)^BEGIN\s+((UN)?LOGGED\s+|COUNTER\s+)?BATCH\b`)
	batchEnds   = regexp.MustCompile(`(?i)\bAPPLY\s+BATCH\b`)
	// openEnd matches the end of a line that the next line must continue: a comma, an operator, or
	// a word that needs another after it.
	openEnd = regexp.MustCompile(`(?i)([,=<>+({\[]|(^|[\s)"'])(SELECT|INSERT|INTO|UPDATE|DELETE|FROM|WHERE|AND|OR|NOT|SET|REMOVE|VALUES?|USING|BY|BETWEEN|IN|IF|LIMIT|ORDER|GROUP|DISTINCT|EXISTS|FILTER|BEGIN|BATCH))$`)
	// goesOnWith matches the beginning of a line that continues the statement before it.
	goesOnWith = regexp.MustCompile(`(?i)^([)\]},=<>]|(FROM|WHERE|AND|OR|NOT|ORDER|GROUP|PER|LIMIT|ALLOW|VALUES?|SET|REMOVE|USING|IF|INTO|RETURNING|APPLY|ASC|DESC|BY|BETWEEN|FILTER|BACKWARD)\b)`)
	// compared matches a line whose first word is a column after all.
	compared = regexp.MustCompile(`(?i)^\w+\s*([=<>]|BETWEEN\b|IN\s*[(\[])`)
)

// unfinished reports whether a statement needs more text.
func (s *statement) unfinished() bool {
	if s.batch {
		return !s.ended
	}
	return s.depth > 0 || openEnd.MatchString(s.lines[len(s.lines)-1].code)
}

// goesOn reports whether a line belongs to the statement before it.
func (s *statement) goesOn(code string) bool {
	last := s.lines[len(s.lines)-1].code
	switch {
	case s.batch:
		return !s.ended
	case strings.HasSuffix(last, ";"):
		return false
	case s.unfinished():
		_, operation := operations[strings.ToLower(firstWord(code))]
		return !operation && !isStatement(code) || strings.EqualFold(firstWord(code), "FROM")
	}
	return goesOnWith.MatchString(code) && !compared.MatchString(code)
}

// depth returns the number of open brackets.
func depth(text string) (n int) {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			n++
		case c == ')' || c == ']' || c == '}':
			n--
		}
	}
	return n
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
