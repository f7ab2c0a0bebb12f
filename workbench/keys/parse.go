// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError describes an error in an expression, with its place.
type SyntaxError struct {
	Text   string
	Offset int // in bytes
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("key %q: at character %d: %s", e.Text, utf8.RuneCountInString(e.Text[:e.Offset])+1, e.Reason)
}

// These are limits of an expression. A longer one is a mistake.
const (
	maxText  = 64 << 10
	maxParts = 64
)

// Parse reads an expression.
func Parse(text string) (*Expr, error) {
	p := parser{text: text}
	if len(text) > maxText {
		p.text = text[:60] + "…"
		return nil, p.fail("the expression has more than 64 KB")
	}
	e := &Expr{}
	for {
		part, err := p.part()
		if err != nil {
			return nil, err
		}
		e.Parts = append(e.Parts, part)
		if len(e.Parts) > maxParts {
			return nil, p.fail(fmt.Sprintf("more than %d components", maxParts))
		}
		switch p.peek() {
		case end:
			return e, nil
		case ',':
			p.at++
		default:
			return nil, p.fail("a comma, or the end, is wanted here")
		}
	}
}

type parser struct {
	text string
	at   int
}

func (p *parser) fail(reason string) error {
	return &SyntaxError{Text: p.text, Offset: min(p.at, len(p.text)), Reason: reason}
}

// end is peek's result at the end.
const end = -1

// peek returns the next byte that is not space, or end.
func (p *parser) peek() int {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n"))
	if p.at == len(p.text) {
		return end
	}
	return int(p.text[p.at])
}

func (p *parser) part() (Part, error) {
	start := p.at
	name, quoted, err := p.name()
	if err != nil {
		return Part{}, err
	}
	if quoted || p.peek() != '(' {
		return Part{Columns: []string{name}}, nil
	}
	part := Part{}
	for f := Salt; int(f) < len(names); f++ {
		if strings.EqualFold(name, names[f]) {
			part.Function = f
		}
	}
	if part.Function == Column {
		p.at = start
		p.peek()
		return Part{}, p.fail(fmt.Sprintf("there is no function %s; the functions are salt(column, n), shard(column, …, n), code_points(column, …, n), minute, hour, day, month and year(column), random(n) and rollover(rows)", name))
	}
	p.at++
	return p.arguments(part)
}

// arguments reads the columns of a function and, after them, its number.
func (p *parser) arguments(part Part) (Part, error) {
	f := part.Function
	least, most := f.columns()
	for {
		if p.peek() == ')' && most == 0 {
			return Part{}, p.fail(f.usage())
		}
		start := p.at
		wrong := func(reason string) (Part, error) {
			p.at = start
			return Part{}, p.fail(reason)
		}
		arg, quoted, err := p.name()
		if err != nil {
			return Part{}, err
		}
		switch p.peek() {
		case ',':
			p.at++
			part.Columns = append(part.Columns, arg)
			switch {
			case len(part.Columns) > most && most < maxParts:
				return wrong(f.usage())
			case len(part.Columns) > most:
				return Part{}, p.fail(fmt.Sprintf("more than %d columns", maxParts))
			}
		case ')':
			p.at++
			if f.most() == 0 {
				if part.Columns = append(part.Columns, arg); len(part.Columns) > most {
					return wrong(f.usage())
				}
				return part, nil
			}
			n, err := strconv.Atoi(arg)
			switch {
			case quoted || err != nil || len(part.Columns) < least:
				return wrong(f.usage())
			case n < 1 || n > f.most():
				return wrong(fmt.Sprintf("%s is not from 1 to %d", arg, f.most()))
			}
			part.N = n
			return part, nil
		default:
			return Part{}, p.fail("a comma or a closing parenthesis is wanted here")
		}
	}
}

// name reads a name, bare or in quotes.
func (p *parser) name() (name string, quoted bool, err error) {
	switch c := p.peek(); c {
	case end:
		return "", false, p.fail("a column name is missing")
	case '"':
		return p.quoted()
	}
	rest := p.text[p.at:]
	stop := strings.IndexAny(rest, special)
	if stop < 0 {
		stop = len(rest)
	}
	if name = strings.TrimSpace(rest[:stop]); name == "" {
		return "", false, p.fail("a column name is missing")
	}
	p.at += stop
	return name, false, nil
}

func (p *parser) quoted() (string, bool, error) {
	start := p.at
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		if c != '"' {
			b.WriteByte(c)
			continue
		}
		if p.at++; p.at == len(p.text) || p.text[p.at] != '"' {
			return b.String(), true, nil
		}
		b.WriteByte('"')
	}
	p.at = start
	return "", false, p.fail("the quote is not closed")
}
