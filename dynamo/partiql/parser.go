// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// The parsers descend the grammar, each on top of the one before it. A rule calls those of its own
// parser and of the parsers below.
type (
	operandParser   struct{ cursor } // paths and literals
	conditionParser struct {
		operandParser
		depth int // of nested conditions
	}
	parser struct{ conditionParser } // statements
)

func newParser(text string) *parser {
	p := new(parser)
	p.lexer.src = text
	return p
}

// Parse parses a statement. Errors are AWS's.
func Parse(text string, parameters []attribute.Value) (*Statement, error) {
	p := newParser(text)
	p.parameters = parameters
	p.advance()
	s := p.statement()
	p.take(";")
	if p.err == nil && p.tok.kind != eof {
		p.malformed("Unexpected token after expression")
	}
	if p.err == nil && p.used != len(parameters) {
		p.fail(errParameters)
	}
	if p.err == nil && s.where != nil {
		// Errors of the condition itself come before errors about the table.
		_, p.err = express([]condition{s.where})
	}
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

var errParameters = exception.Invalid("Number of parameters in request and statement don't match.")

func (p *parser) statement() *Statement {
	s := new(Statement)
	switch {
	case p.takeWord("SELECT"):
		p.selectStatement(s)
	case p.takeWord("INSERT"):
		p.insert(s)
	case p.takeWord("UPDATE"):
		s.kind = Update
		p.from(s)
		p.changes(s)
		p.whereOf(s)
		p.returning(s)
	case p.takeWord("FROM"): // UPDATE with its parts in another order
		s.kind = Update
		p.from(s)
		p.whereOf(s)
		p.changes(s)
		p.returning(s)
	case p.takeWord("DELETE"):
		s.kind = Delete
		if !p.takeWord("FROM") {
			p.malformed("Expected FROM")
		}
		p.from(s)
		p.whereOf(s)
		p.returning(s)
	case p.tok.isWord("EXISTS"):
		p.advance()
		p.expect("(", "Expected left parenthesis")
		if !p.takeWord("SELECT") {
			p.malformed("Unexpected term")
		}
		p.selectStatement(s)
		s.kind = Exists
		p.expect(")", "Expected right parenthesis")
	case p.err == nil && p.tok.kind == eof:
		p.malformed("Unexpected term")
	default:
		p.malformed("Expected data manipulation")
	}
	return s
}

func (p *parser) selectStatement(s *Statement) {
	s.kind = Select
	for _, w := range []string{"DISTINCT", "VALUE", "ALL"} {
		if at := p.tok; !p.namedByKeyword() && p.takeWord(w) {
			p.invalid("Unsupported clause: %s%s", w, p.lexer.at(at))
		}
	}
	if p.take("*") {
		if p.is(",") {
			p.invalid("Other attributes should not be present in the projection when '*' is used.")
		}
	} else {
		p.columns(s)
	}
	if !p.takeWord("FROM") {
		p.malformed("Expected FROM")
	}
	if p.err == nil && p.tok.kind == eof || p.is(";") {
		p.malformed("Unexpected term")
	}
	p.from(s)
	p.whereOf(s)
	p.orderBy(s)
	for _, w := range []string{"GROUP", "HAVING", "LIMIT", "OFFSET", "JOIN", "UNION"} {
		if p.tok.isWord(w) {
			p.invalid("Unsupported clause: %s%s", w, p.lexer.at(p.tok))
		}
	}
}

func (p *parser) columns(s *Statement) {
	for p.err == nil {
		start := p.tok
		if p.is("*") {
			p.invalid("Other attributes should not be present in the projection when '*' is used.")
			return
		}
		if p.tok.kind != quoted && p.tok.kind != word || p.tok.kind == word && p.peek().text == "(" {
			p.invalid("Unexpected path component%s", p.lexer.at(start))
			return
		}
		path := p.path("Unexpected keyword")
		s.columns = append(s.columns, column{path: path, name: columnName(path)})
		if p.tok.isWord("AS") {
			p.invalid("Aliasing is not supported")
		}
		if !p.take(",") {
			return
		}
	}
}

// columnName returns the name of a path in an answer: the path from its last name on.
func columnName(path expression.Path) string {
	name, from := path.Name, 0
	for i, s := range path.Steps {
		if s.Index < 0 {
			name, from = s.Field, i+1
		}
	}
	for _, s := range path.Steps[from:] {
		name += "[" + attribute.Int(int64(s.Index)).Text() + "]"
	}
	return name
}

// from reads the name of the table and, if there is one, of its index.
func (p *parser) from(s *Statement) {
	names := p.simplePath()
	if p.err != nil {
		return
	}
	for _, n := range names {
		if n == "" {
			p.invalid("Path component cannot be an empty string")
			return
		}
	}
	s.table = names[0]
	switch {
	case len(names) > 2:
		p.invalid("A path may contain at most 2 components in the FROM clause")
	case len(names) == 2 && s.kind == Insert:
		p.invalid("FROM clause may only contain a single table name")
	case len(names) == 2 && s.kind != Select:
		p.invalid("This operation is not supported on an index")
	case len(names) == 2:
		s.index = names[1]
	}
	if s.kind != Insert && (p.tok.kind == quoted || p.tok.isWord("AS") || p.tok.kind == word && !isKeyword(p.tok.text)) {
		p.invalid("Aliasing is not supported")
	}
	if p.is(",") {
		p.invalid("Only select from a single table or index is supported.")
	}
}

func (p *parser) whereOf(s *Statement) {
	if p.takeWord("WHERE") {
		s.where = p.where()
	}
}

func (p *parser) orderBy(s *Statement) {
	if !p.takeWord("ORDER") {
		return
	}
	if !p.takeWord("BY") {
		p.malformed("Expected BY")
	}
	for p.err == nil {
		path := p.path("Unexpected keyword")
		if len(path.Steps) > 0 {
			p.invalid("Attribute %s in ORDER BY clause must be part of the primary key", columnName(path))
		}
		term := orderTerm{name: path.Name}
		if p.takeWord("DESC") {
			term.desc = true
		} else {
			p.takeWord("ASC")
		}
		s.order = append(s.order, term)
		if !p.take(",") {
			return
		}
	}
}

// returning reads the RETURNING clause of a write.
func (p *parser) returning(s *Statement) {
	if !p.takeWord("RETURNING") {
		return
	}
	s.returned = true
	which, age := "", ""
	for _, w := range []string{"ALL", "MODIFIED"} {
		if p.takeWord(w) {
			which = w
		}
	}
	for _, w := range []string{"OLD", "NEW"} {
		if p.takeWord(w) {
			age = w
		}
	}
	if which == "" || age == "" {
		p.malformed("Expected returning clause")
		return
	}
	p.expect("*", "Expected returning clause")
	switch {
	case s.kind == Delete && which+age != "ALLOLD":
		p.invalid("Invalid returning clause: RETURNING %s %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.", which, age)
	case which+age == "ALLOLD":
		s.returns = api.ReturnAllOld
	case which+age == "ALLNEW":
		s.returns = api.ReturnAllNew
	case age == "OLD":
		s.returns = api.ReturnUpdatedOld
	default:
		s.returns = api.ReturnUpdatedNew
	}
}

func (p *parser) insert(s *Statement) {
	s.kind = Insert
	if !p.takeWord("INTO") {
		p.malformed("Expected INTO")
	}
	p.from(s)
	if !p.takeWord("VALUE") {
		if p.err == nil && (p.tok.kind == word && !isKeyword(p.tok.text) || p.tok.kind == quoted) {
			p.malformed("Unexpected token after expression")
		}
		p.malformed("Expected VALUE")
	}
	start := p.tok
	if p.is("?") {
		p.invalid("Unsupported data type: Parameter under key root%s", p.lexer.at(start))
		return
	}
	if !p.is("{") {
		p.malformed("Expected a tuple in VALUE")
		return
	}
	var attributes []attribute.Attribute
	p.members(func(name string) {
		v := p.value()
		attributes = append(attributes, attribute.Attribute{Name: name, Value: v})
	})
	s.item = attribute.NewItem(attributes...)
	if p.tok.isWord("RETURNING") {
		p.malformed("Unexpected token after expression")
	}
}
