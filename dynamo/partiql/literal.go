// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// maxLiteralDepth is the largest depth of nested maps and lists in a literal.
const maxLiteralDepth = 31

// startsValue reports whether the token begins a literal or is a parameter.
func (p *operandParser) startsValue() bool {
	switch p.tok.kind {
	case str, number:
		return true
	case symbol:
		switch p.tok.text {
		case "?", "[", "{", "<<", "+", "-":
			return true
		}
	case word:
		return p.tok.isWord("TRUE") || p.tok.isWord("FALSE") || p.tok.isWord("NULL")
	}
	return false
}

// value reads a literal or a parameter.
func (p *operandParser) value() attribute.Value {
	if p.take("?") {
		if p.open {
			return attribute.Null()
		}
		if p.used >= len(p.parameters) {
			p.fail(errParameters)
			return attribute.Null()
		}
		p.used++
		return p.parameters[p.used-1]
	}
	return p.literal("root", 0)
}

// literal reads a literal. path is the place of the literal in the attribute, for messages.
func (p *operandParser) literal(path string, depth int) attribute.Value {
	t := p.tok
	switch {
	case p.err != nil:
	case depth > maxLiteralDepth:
		p.invalid("Nesting Levels have exceeded supported limits under %s", path)
	case t.kind == str:
		p.advance()
		return attribute.String(t.text)
	case t.kind == number || p.is("+") || p.is("-"):
		v, _ := p.number(path)
		return v
	case p.takeWord("TRUE"):
		return attribute.Bool(true)
	case p.takeWord("FALSE"):
		return attribute.Bool(false)
	case p.takeWord("NULL"):
		return attribute.Null()
	case p.take("<<"):
		return p.bag(path)
	case p.take("["):
		var elems []attribute.Value
		for p.err == nil && !p.take("]") {
			elems = append(elems, p.literal(path+"["+strconv.Itoa(len(elems))+"]", depth+1))
			if !p.take(",") {
				p.expect("]", "Expected right bracket")
				break
			}
		}
		return attribute.List(elems)
	case p.is("{"):
		var fields []attribute.Attribute
		p.members(func(name string) {
			fields = append(fields, attribute.Attribute{Name: name, Value: p.literal(path+"."+name, depth+1)})
		})
		return attribute.Map(attribute.NewItem(fields...))
	case p.is("?"):
		p.invalid("Unsupported data type: Parameter under key %s%s", path, p.lexer.at(t))
	case t.kind == word && isKeyword(t.text):
		p.malformed("Unexpected keyword")
	default:
		p.malformed("Unexpected term")
	}
	return attribute.Null()
}

// members reads a map. It calls read at each value.
func (p *operandParser) members(read func(name string)) {
	p.take("{")
	for p.err == nil && !p.take("}") {
		if p.tok.kind != str {
			p.malformed("Expected string literal")
			return
		}
		name := p.tok.text
		p.advance()
		p.expect(":", "Expected colon")
		read(name)
		if !p.take(",") {
			p.expect("}", "Expected right brace")
			return
		}
	}
}

// number reads a number with its signs. It returns the value and the text as written.
func (p *operandParser) number(path string) (attribute.Value, string) {
	negative := false
	for p.err == nil {
		if p.take("-") {
			negative = !negative
		} else if !p.take("+") {
			break
		}
	}
	t := p.tok
	if p.err != nil || t.kind != number {
		p.malformed("Unexpected term")
		return attribute.Null(), ""
	}
	p.advance()
	if _, ok := attribute.Scale(t.text); !ok {
		p.malformed("")
		return attribute.Null(), ""
	}
	text := t.text
	if negative {
		text = "-" + text
	}
	v, err := attribute.Number(decimal(text))
	if err != nil {
		p.invalid("%s under %s", exception.Of(err).Message, path)
		return attribute.Null(), ""
	}
	return v, text
}

// decimal returns the text of a number in the form that attributes use: with digits on both sides
// of the decimal point.
func decimal(text string) string {
	digits, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		digits, exponent = text[:i], text[i:]
	}
	if strings.HasSuffix(digits, ".") {
		digits += "0"
	}
	digits = strings.Replace(strings.Replace(digits, "-.", "-0.", 1), "+.", "0.", 1)
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	return digits + exponent
}

// int32Of parses a whole number of 32 bits.
func int32Of(text string) (int, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err == nil
}

// bag reads a set of strings or numbers, after its <<.
func (p *operandParser) bag(path string) attribute.Value {
	const unsupported = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
	var elems []attribute.Value
	var shown []string
	for p.err == nil && !p.take(">>") {
		switch {
		case p.tok.kind == str:
			elems, shown = append(elems, attribute.String(p.tok.text)), append(shown, p.tok.text)
			p.advance()
		case p.tok.kind == number || p.is("-") || p.is("+"):
			v, text := p.number(path)
			elems, shown = append(elems, v), append(shown, text)
		default:
			p.invalid(unsupported)
			return attribute.Null()
		}
		if p.err == nil && elems[len(elems)-1].Kind() != elems[0].Kind() {
			p.invalid(unsupported)
		}
		if !p.take(",") {
			p.expect(">>", "Expected end of bag")
			break
		}
	}
	if p.err != nil {
		return attribute.Null()
	}
	if len(elems) == 0 {
		p.invalid("Empty bags are not supported")
		return attribute.Null()
	}
	seen := make(map[string]bool, len(elems))
	for _, e := range elems {
		if seen[e.Text()] {
			ending := "."
			if e.Kind() == attribute.N {
				ending = "! under " + path
			}
			p.fail(exception.InvalidParameters("Input collection [%s] contains duplicates%s", strings.Join(shown, ", "), ending))
			return attribute.Null()
		}
		seen[e.Text()] = true
	}
	return attribute.Set(elems[0].Kind().Set(), elems)
}
