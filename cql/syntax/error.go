// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A SyntaxError is the reason why a text is not a CQL statement.
type SyntaxError struct {
	// Line counts from 1. Column counts UTF-16 units from 0. Both are as in Cassandra. They are 0
	// and -1 at the end of the text, and for errors to which Cassandra gives no position.
	Line, Column int
	// Message is the whole text, including the position if there is one.
	Message string
	// Invalid is set for errors that Cassandra finds while parsing but reports as an InvalidRequest
	// and not as a SyntaxException, such as a second PRIMARY KEY.
	Invalid bool
}

func (e *SyntaxError) Error() string { return e.Message }

// lineCol returns the position of text[pos:].
func lineCol(text string, pos int) (line, col int) {
	before := text[:pos]
	line = 1 + strings.Count(before, "\n")
	return line, utf16Len(before[strings.LastIndexByte(before, '\n')+1:])
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

var display = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`)

func (e *lexError) syntaxError(text string) *SyntaxError {
	line, col := lineCol(text, e.pos)
	char := "<EOF>"
	if e.pos < len(text) {
		_, n := utf8.DecodeRuneInString(text[e.pos:])
		char = display.Replace(text[e.pos : e.pos+n])
	}
	return &SyntaxError{Line: line, Column: col,
		Message: fmt.Sprintf("line %d:%d "+e.message, line, col, "'"+char+"'")}
}

// recognitionError returns the error of the reference parser at token bad. Its snippet highlights
// token at, the start of the parser's decision. The snippet shows at most ten tokens before it and
// two after it, but no token that the parser had not yet read (far).
func recognitionError(text string, toks []token, bad, at, far int, expecting string) *SyntaxError {
	e := &SyntaxError{Line: 0, Column: -1}
	shown := "<EOF>"
	if t := toks[bad]; t.kind != tEOF {
		e.Line, e.Column = lineCol(text, int(t.pos))
		shown = display.Replace(tokenText(text, t))
	}
	var b strings.Builder
	if expecting == "" {
		fmt.Fprintf(&b, "line %d:%d no viable alternative at input '%s'", e.Line, e.Column, shown)
	} else {
		fmt.Fprintf(&b, "line %d:%d mismatched input '%s' expecting %s", e.Line, e.Column, shown, expecting)
	}
	appendSnippet(&b, text, toks, at, far)
	e.Message = b.String()
	return e
}

// rawToken is the position of a token as the snippet counts it: a line, and UTF-16 units within it.
type rawToken struct {
	line, col, length int
}

func appendSnippet(b *strings.Builder, text string, toks []token, at, far int) {
	offending := toks[at]
	from := max(0, int(offending.raw)-10)
	to := min(int(toks[far].raw), int(offending.raw)+2)
	if offending.kind == tEOF || (toks[far].kind == tEOF && to == int(toks[far].raw)) {
		return // the end has no position in the text
	}
	raws := rawTokens(text, from, to)
	if len(raws) == 0 {
		return
	}
	lines := splitLines(text)
	first, last, off := raws[0], raws[len(raws)-1], raws[int(offending.raw)-from]
	wholeStart := first.line == 1 && first.col == 0
	wholeEnd := last.line == len(lines) && last.col+last.length == len(lines[len(lines)-1])
	b.WriteString(" (")
	if !wholeStart {
		b.WriteString("...")
	}
	for _, t := range [...]rawToken{first, last, off} {
		if t.line > len(lines) {
			return
		}
	}
	cut := func(l []uint16, i, j int) []uint16 { return l[min(i, len(l)):min(j, len(l))] }
	lines[last.line-1] = cut(lines[last.line-1], 0, last.col+last.length)
	l := lines[off.line-1]
	marked := append([]uint16(nil), cut(l, 0, off.col)...)
	marked = append(marked, '[')
	marked = append(marked, cut(l, off.col, off.col+off.length)...)
	marked = append(marked, ']')
	lines[off.line-1] = append(marked, cut(l, off.col+off.length, len(l))...)
	lines[first.line-1] = cut(lines[first.line-1], first.col, len(lines[first.line-1]))
	for i := first.line - 1; i < last.line; i++ {
		b.WriteString(string(utf16.Decode(lines[i])))
	}
	if !wholeEnd {
		b.WriteString("...")
	}
	b.WriteString(")")
}

// rawTokens returns the tokens from..to of text, counting blanks and comments.
func rawTokens(text string, from, to int) []rawToken {
	var out []rawToken
	line, col, done := 1, 0, 0
	place := func(start, end, length int) {
		for _, r := range text[done:start] {
			switch {
			case r == '\n':
				line, col = line+1, 0
			case r > 0xFFFF:
				col += 2
			default:
				col++
			}
		}
		done = start
		if length < 0 {
			length = utf16Len(text[start:end])
		}
		out = append(out, rawToken{line, col, length})
	}
	l := lexer{text: text}
	for int(l.raw) <= to {
		start, raw := l.pos, int(l.raw)
		if !l.blankOnce() {
			t := l.next()
			if t.kind == tEOF {
				break
			}
			if raw >= from {
				place(int(t.pos), int(t.end), utf16Len(tokenText(text, t)))
			}
		} else if raw >= from {
			place(start, l.pos, -1)
		}
	}
	return out
}

// splitLines splits text as Java's split("\n") does: without empty lines at the end.
func splitLines(text string) [][]uint16 {
	parts := strings.Split(text, "\n")
	for len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	lines := make([][]uint16, len(parts))
	for i, p := range parts {
		lines[i] = utf16.Encode([]rune(p))
	}
	return lines
}

// tokenText returns the text of a token as messages show it: without quotes.
func tokenText(text string, t token) string {
	s := text[t.pos:t.end]
	switch t.kind {
	case tString:
		return unquoteString(s)
	case tQuoted:
		return unquoteName(s)
	}
	return s
}

// unquoteString returns the value of a string literal, '…' or $$…$$.
func unquoteString(s string) string {
	if s[0] == '$' {
		return s[2 : len(s)-2]
	}
	s = s[1 : len(s)-1]
	if strings.IndexByte(s, '\'') >= 0 {
		s = strings.ReplaceAll(s, "''", "'")
	}
	return s
}

// unquoteName returns the value of a quoted identifier.
func unquoteName(s string) string {
	s = s[1 : len(s)-1]
	if strings.IndexByte(s, '"') >= 0 {
		s = strings.ReplaceAll(s, `""`, `"`)
	}
	return s
}

func positioned(line, col int, message string) string {
	return fmt.Sprintf("line %d:%d %s", line, col, message)
}
