// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// parser reads one statement. It keeps its first error and then behaves as if at the end.
type parser struct {
	lexer      lexer
	tok        token
	parameters []attribute.Value
	used       int // the number of parameters used so far
	depth      int // the depth of nested conditions
	err        error
	failed     int  // the place of the error, in bytes
	open       bool // the parameters are not known
}

// Parse parses a statement. Errors are AWS's.
func Parse(text string, parameters []attribute.Value) (*Statement, error) {
	p := &parser{lexer: lexer{src: text}, parameters: parameters}
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

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err, p.failed = err, p.tok.start
	}
	p.tok = token{kind: eof, start: len(p.lexer.src), end: len(p.lexer.src)}
	p.lexer.pos = len(p.lexer.src)
}

// malformed fails because the text is not a statement.
func (p *parser) malformed(detail string) {
	p.fail(exception.Invalid("Statement wasn't well formed, can't be processed: %s", detail))
}

func (p *parser) invalid(format string, args ...any) { p.fail(exception.Invalid(format, args...)) }

func (p *parser) advance() {
	if p.err != nil {
		return
	}
	if p.tok = p.lexer.next(); p.tok.kind == wrong {
		p.malformed("")
	}
}

// peek returns the token after the current one.
func (p *parser) peek() token {
	ahead := p.lexer
	return ahead.next()
}

func (p *parser) is(text string) bool { return p.tok.kind == symbol && p.tok.text == text }

func (p *parser) take(text string) bool {
	if p.err != nil || !p.is(text) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(text, detail string) {
	if !p.take(text) && p.err == nil {
		p.malformed(detail)
	}
}

func (t token) isWord(w string) bool { return t.kind == word && strings.EqualFold(t.text, w) }

func (p *parser) takeWord(w string) bool {
	if p.err != nil || !p.tok.isWord(w) {
		return false
	}
	p.advance()
	return true
}

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

// simplePath reads names with dots between them.
func (p *parser) simplePath() []string {
	var names []string
	for {
		if p.err != nil || p.tok.kind != quoted && (p.tok.kind != word || isKeyword(p.tok.text)) {
			p.malformed("Expected identifier for simple path")
			return []string{""}
		}
		names = append(names, p.tok.text)
		p.advance()
		if !p.take(".") {
			return names
		}
	}
}

// path reads a document path. detail is the message if the path begins with a keyword.
func (p *parser) path(detail string) expression.Path {
	path := expression.Path{Name: p.name(detail)}
	for p.err == nil {
		switch {
		case p.take("."):
			path.Steps = append(path.Steps, expression.Step{Field: p.name("Invalid path dot component"), Index: -1})
		case p.take("["):
			if p.tok.kind == str {
				path.Steps = append(path.Steps, expression.Step{Field: p.tok.text, Index: -1})
				p.advance()
			} else {
				path.Steps = append(path.Steps, expression.Step{Index: p.listIndex()})
			}
			p.expect("]", "Expected right bracket")
		default:
			if len(path.Steps) >= expression.MaxLevels {
				p.invalid("The document path has too many nesting levels; nesting levels: %d", len(path.Steps)+1)
			}
			return path
		}
	}
	return path
}

func (p *parser) name(detail string) string {
	t := p.tok
	switch {
	case t.kind == quoted && t.text == "":
		p.invalid("Path component cannot be an empty string")
	case t.kind == quoted, t.kind == word && !isKeyword(t.text), p.namedByKeyword():
		p.advance()
		return t.text
	case t.kind == word:
		p.malformed(detail)
	default:
		p.malformed("Unexpected term")
	}
	return ""
}

func (p *parser) listIndex() int {
	sign := ""
	if p.take("-") {
		sign = "-"
	}
	t := p.tok
	if t.kind != number || strings.ContainsAny(t.text, ".eE") {
		p.malformed("Expected list index")
		return 0
	}
	p.advance()
	n, ok := int32Of(t.text)
	if !ok || sign != "" && n != 0 {
		p.invalid("List index is not within the allowable range; index: [%s%s]%s", sign, t.text, p.lexer.at(t))
		return 0
	}
	return n
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
