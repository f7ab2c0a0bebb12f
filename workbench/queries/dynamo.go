// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// operations holds the DynamoDB operations with which a line may begin.
var operations = map[string]Verb{
	"query": Read, "getitem": Read, "scan": Read, "putitem": Insert, "updateitem": Update, "deleteitem": Delete,
}

const dynamoHint = "an operation and its expression, such as Query InvoiceNumber = :n AND begins_with(TransactionId, :c) LIMIT 20 -- 50/s; or a statement of CQL or PartiQL"

// dynamo reads one operation.
type dynamo struct {
	text   string
	tokens []token
	at     int
	q      Query
}

// token is a word, a sign or a literal of an expression.
type token struct {
	kind tokenKind
	text string // of a quoted name, without its quotes
	at   int    // in bytes
}

type tokenKind uint8

const (
	endOfText tokenKind = iota
	word                // a name or keyword
	name                // in double quotes or backticks: always a name
	marker              // :v, ?, a number, a 'text'
	sign                // = < <= > >= <> ( ) , { }
)

// parseDynamo reads one line with a DynamoDB operation.
func parseDynamo(text string) ([]Query, *SyntaxError) {
	p := &dynamo{text: text}
	if err := p.lex(); err != nil {
		return nil, err
	}
	operation := "query"
	if t := p.peek(); t.kind == word {
		if v, known := operations[strings.ToLower(t.text)]; known && p.tokens[1].text != "=" {
			operation, p.q.Verb = strings.ToLower(t.text), v
			p.at++
		}
	}
	var err *SyntaxError
	switch operation {
	case "putitem":
		err = p.attributes()
	case "scan":
		if p.peek().kind != endOfText && !p.keyword("LIMIT") && !p.keyword("FILTER") {
			err = p.expression(true)
		}
	case "query":
		if p.peek().kind == endOfText {
			return nil, p.fail("a key condition is missing")
		}
		err = p.expression(false)
	default:
		if p.peek().kind == endOfText {
			return nil, p.fail("the key is missing")
		}
		err = p.expression(false)
		if operation == "updateitem" && err == nil && p.keyword("SET") {
			p.at++
			err = p.attributes()
		}
	}
	if err == nil {
		err = p.options()
	}
	if err != nil {
		return nil, err
	}
	if operation == "getitem" {
		p.q.Limit = 1
	}
	return []Query{p.q}, nil
}

func (p *dynamo) fail(format string, args ...any) *SyntaxError {
	at := len(p.text)
	if p.at < len(p.tokens) {
		at = p.tokens[p.at].at
	}
	return &SyntaxError{offset: at, Reason: fmt.Sprintf(format, args...), Hint: dynamoHint}
}

func (p *dynamo) peek() token { return p.tokens[p.at] }

func (p *dynamo) keyword(k string) bool {
	t := p.peek()
	return t.kind == word && strings.EqualFold(t.text, k)
}

func (p *dynamo) sign(s string) bool {
	t := p.peek()
	return t.kind == sign && t.text == s
}

// lex splits the text into tokens. The last one marks the end.
func (p *dynamo) lex() *SyntaxError {
	for i := 0; i < len(p.text); {
		c := p.text[i]
		start := i
		switch {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '\'' || c == '"' || c == '`':
			end := strings.IndexByte(p.text[i+1:], c)
			if end < 0 {
				return p.at0(i, "the quote is not closed")
			}
			if end == 0 && c != '\'' {
				return p.at0(i, "a name is empty")
			}
			i += end + 2
			kind := name
			if c == '\'' {
				kind = marker
			}
			p.tokens = append(p.tokens, token{kind, p.text[start+1 : i-1], start})
			continue
		case c == '#':
			return p.at0(i, "a placeholder of a name: here the attribute's own name is wanted")
		case c == '?':
			i++
			p.tokens = append(p.tokens, token{marker, "", start})
			continue
		case c == ':' || c >= '0' && c <= '9' || c == '-':
			for i++; i < len(p.text) && (partOfName(p.text[i]) || p.text[i] == '.'); i++ {
			}
			v := p.text[start:i]
			if c == ':' {
				if v == ":" {
					return p.at0(start, "a value's name is missing behind the colon")
				}
				v = ""
			}
			p.tokens = append(p.tokens, token{marker, v, start})
			continue
		case partOfName(c):
			for ; i < len(p.text) && (partOfName(p.text[i]) || p.text[i] == '.' || p.text[i] == '[' || p.text[i] == ']' || p.text[i] == '-'); i++ {
			}
			p.tokens = append(p.tokens, token{word, p.text[start:i], start})
			continue
		case strings.HasPrefix(p.text[i:], "<=") || strings.HasPrefix(p.text[i:], ">=") || strings.HasPrefix(p.text[i:], "<>"):
			i += 2
		case strings.IndexByte("=<>(),{}", c) >= 0:
			i++
		default:
			r, _ := utf8.DecodeRuneInString(p.text[i:])
			return p.at0(i, fmt.Sprintf("%q has no place in an expression", r))
		}
		p.tokens = append(p.tokens, token{sign, p.text[start:i], start})
	}
	p.tokens = append(p.tokens, token{endOfText, "", len(p.text)}, token{endOfText, "", len(p.text)})
	return nil
}

func (p *dynamo) at0(i int, reason string) *SyntaxError {
	return &SyntaxError{offset: i, Reason: reason, Hint: dynamoHint}
}

// attributes reads the names of the written attributes: a, b, c, in braces or not.
func (p *dynamo) attributes() *SyntaxError {
	braces := p.sign("{")
	if braces {
		p.at++
	}
	for p.peek().kind == word || p.peek().kind == name {
		p.q.Columns = append(p.q.Columns, top(p.peek()))
		p.at++
		if p.sign("=") { // SET a = :v
			if p.at++; p.peek().kind != marker {
				return p.fail("a value is wanted here")
			}
			p.at++
		}
		if !p.sign(",") {
			break
		}
		if p.at++; p.peek().kind != word && p.peek().kind != name {
			return p.fail("an attribute's name is wanted here")
		}
	}
	if braces {
		if !p.sign("}") {
			return p.fail("a comma or a closing brace is wanted here")
		}
		p.at++
	}
	return nil
}

// top returns the attribute with which a path begins. Only a bare word is a path.
func top(t token) string {
	if t.kind == word {
		if i := strings.IndexAny(t.text, ".["); i > 0 {
			return t.text[:i]
		}
	}
	return t.text
}

// options reads FILTER, LIMIT, BACKWARD and TTL.
func (p *dynamo) options() *SyntaxError {
	for {
		switch {
		case p.peek().kind == endOfText:
			return nil
		case p.keyword("FILTER"):
			p.at++
			if err := p.expression(true); err != nil {
				return err
			}
		case p.keyword("BACKWARD"):
			p.at++
			p.q.Order = append(p.q.Order, Order{Desc: true})
		case p.keyword("LIMIT"), p.keyword("TTL"):
			limit := p.keyword("LIMIT")
			p.at++
			n, err := strconv.ParseInt(p.peek().text, 10, 64)
			if p.peek().kind != marker || p.peek().text != "" && (err != nil || n < 1) {
				return p.fail("a positive number is wanted here")
			}
			p.at++
			if limit {
				p.q.Limit = n
			} else {
				p.q.TTL = n
			}
		default:
			return p.fail("AND, FILTER, LIMIT, BACKWARD, TTL or the end is wanted here, not %q", p.peek().text)
		}
	}
}

// expression reads conditions that are joined by AND. Conditions with OR or NOT, and all conditions
// of a filter, restrict the rows but are not part of a key.
func (p *dynamo) expression(filter bool) *SyntaxError { return p.or(filter, 0) }

const maxDepth = 100

func (p *dynamo) or(filter bool, depth int) *SyntaxError {
	if depth > maxDepth {
		return p.fail("the parentheses are nested too deep")
	}
	first := len(p.q.Equal)
	firstRange := len(p.q.Ranges)
	for {
		if err := p.and(filter, depth); err != nil {
			return err
		}
		if !p.keyword("OR") {
			return nil
		}
		p.at++
		if !filter { // the condition before OR is no key either
			for _, b := range p.q.Equal[first:] {
				p.q.Filter = append(p.q.Filter, Bound{Column: b.Column, Values: 1})
			}
			for _, r := range p.q.Ranges[firstRange:] {
				p.q.Filter = append(p.q.Filter, Bound{Column: r.Column, Values: 1})
			}
			p.q.Equal, p.q.Ranges = p.q.Equal[:first], p.q.Ranges[:firstRange]
			filter = true
		}
	}
}

func (p *dynamo) and(filter bool, depth int) *SyntaxError {
	for {
		if err := p.condition(filter, depth); err != nil {
			return err
		}
		if !p.keyword("AND") {
			return nil
		}
		p.at++
	}
}

func (p *dynamo) condition(filter bool, depth int) *SyntaxError {
	switch {
	case p.keyword("NOT"):
		p.at++
		if depth >= maxDepth {
			return p.fail("NOT is nested too deep")
		}
		return p.condition(true, depth+1)
	case p.sign("("):
		p.at++
		if err := p.or(filter, depth+1); err != nil {
			return err
		}
		if !p.sign(")") {
			return p.fail("a closing parenthesis is wanted here")
		}
		p.at++
		return nil
	case p.peek().kind == word && p.tokens[p.at+1].kind == sign && p.tokens[p.at+1].text == "(" && !strings.EqualFold(p.peek().text, "IN"):
		return p.function(filter)
	case p.peek().kind != word && p.peek().kind != name:
		return p.fail("an attribute's name is wanted here")
	}
	column := top(p.peek())
	p.at++
	return p.comparison(column, filter)
}

// comparison reads what follows an attribute's name.
func (p *dynamo) comparison(column string, filter bool) *SyntaxError {
	t := p.peek()
	switch {
	case p.keyword("BETWEEN"):
		p.at++
		from, err := p.value()
		if err != nil {
			return err
		}
		if !p.keyword("AND") {
			return p.fail("AND is wanted here: BETWEEN :from AND :to")
		}
		p.at++
		to, err := p.value()
		if err != nil {
			return err
		}
		p.restrict(filter, Range{Column: column, Above: true, Below: true, From: from, To: to})
		return nil
	case p.keyword("IN"):
		p.at++
		if !p.sign("(") {
			return p.fail("a list in parentheses is wanted here")
		}
		n := 0
		for p.at++; ; p.at++ {
			if _, err := p.value(); err != nil {
				return err
			}
			n++
			if !p.sign(",") {
				break
			}
		}
		if !p.sign(")") {
			return p.fail("a comma or a closing parenthesis is wanted here")
		}
		p.at++
		p.equal(filter, Bound{Column: column, Values: n})
		return nil
	case t.kind == sign && strings.Contains("= < <= > >= <>", t.text) && t.text != ",":
		p.at++
		v, err := p.value()
		if err != nil {
			return err
		}
		switch t.text[0] {
		case '=':
			p.equal(filter, Bound{Column: column, Values: 1, Text: v})
		case '<':
			if t.text == "<>" {
				p.q.Filter = append(p.q.Filter, Bound{Column: column, Values: 1})
				return nil
			}
			p.restrict(filter, Range{Column: column, Below: true, To: v})
		case '>':
			p.restrict(filter, Range{Column: column, Above: true, From: v})
		}
		return nil
	}
	return p.fail("=, <, <=, >, >=, <>, BETWEEN or IN is wanted here")
}

// function reads begins_with(a, :v) and the functions of filters.
func (p *dynamo) function(filter bool) *SyntaxError {
	f := strings.ToLower(p.peek().text)
	prefix := f == "begins_with"
	switch f {
	case "begins_with", "contains", "attribute_exists", "attribute_not_exists", "attribute_type", "size":
	default:
		return p.fail("there is no function %s; in keys there is begins_with(attribute, :v)", p.peek().text)
	}
	p.at += 2
	if p.peek().kind != word && p.peek().kind != name {
		return p.fail("an attribute's name is wanted here")
	}
	column := top(p.peek())
	p.at++
	if f != "attribute_exists" && f != "attribute_not_exists" && f != "size" {
		if !p.sign(",") {
			return p.fail("a comma and a value are wanted here")
		}
		p.at++
		if _, err := p.value(); err != nil {
			return err
		}
	}
	if !p.sign(")") {
		return p.fail("a closing parenthesis is wanted here")
	}
	p.at++
	if f == "size" {
		return p.comparison(column, true)
	}
	if prefix {
		p.restrict(filter, Range{Column: column, Above: true, Below: true, Prefix: true})
		return nil
	}
	p.q.Filter = append(p.q.Filter, Bound{Column: column, Values: 1})
	return nil
}

func (p *dynamo) value() (string, *SyntaxError) {
	if p.peek().kind != marker {
		return "", p.fail("a value is wanted here: :name, a number or 'text'")
	}
	v := p.peek().text
	p.at++
	return v, nil
}

func (p *dynamo) equal(filter bool, b Bound) {
	if filter {
		p.q.Filter = append(p.q.Filter, Bound{Column: b.Column, Values: 1})
		return
	}
	p.q.Equal = append(p.q.Equal, b)
}

func (p *dynamo) restrict(filter bool, r Range) {
	if filter {
		p.q.Filter = append(p.q.Filter, Bound{Column: r.Column, Values: 1})
		return
	}
	p.q.bound(r)
}
