// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"math"
	"strconv"
)

// constKinds maps the kind of a token to the kind of its constant.
var constKinds = [kindCount]ConstKind{
	tString: ConstString, tInteger: ConstInteger, tFloat: ConstFloat, tBoolean: ConstBool,
	tDuration: ConstDuration, tUUID: ConstUUID, tHex: ConstHex,
	kNaN: ConstFloat, tNegNaN: ConstFloat, kInfinity: ConstFloat, tNegInfinity: ConstFloat,
}

func isConstant(k kind) bool { return constKinds[k] != 0 }

// constant reads a literal. The caller knows that the current token is one.
func (p *termParser) constant() *Constant {
	t := p.advance()
	c := &Constant{Kind: constKinds[t.kind], Text: p.textOf(t)}
	switch t.kind {
	case tFloat:
		// The reference parser converts a float to the nearest double at once and fails here if it
		// is infinite.
		if d, err := strconv.ParseFloat(c.Text, 64); err != nil && math.IsInf(d, 0) {
			p.unparsable("NumberFormatException",
				`Character I is neither a decimal digit number, decimal point, nor "e" notation exponential mark.`)
		}
	case tString:
		c.Text = unquoteString(c.Text)
	case tHex:
		c.Text = c.Text[2:]
	case kNaN, tNegNaN:
		c.Text = "NaN"
	case kInfinity:
		c.Text = "Infinity"
	case tNegInfinity:
		c.Text = "-Infinity"
	}
	return c
}

// bind reads ? or :name. The caller knows that the current token begins one.
func (p *termParser) bind() *Bind {
	b := &Bind{Index: p.binds}
	if p.advance().kind == tColon {
		b.Name = p.ident()
	}
	p.binds++
	return b
}

func isBind(k kind) bool { return k == tQMark || k == tColon }

// intValue reads an integer or a bind marker.
func (p *termParser) intValue() Expr {
	switch k := p.kind(); {
	case k == tInteger:
		return p.constant()
	case isBind(k):
		return p.bind()
	}
	p.noViable(0)
	return nil
}

var termOps = [kindCount]Op{tPlus: OpAdd, tMinus: OpSub, tStar: OpMul, tSlash: OpDiv, tPercent: OpMod}

// term reads a value: arithmetic, calls and literals, but no columns.
func (p *termParser) term() Expr {
	l := p.product()
	for k := p.kind(); k == tPlus || k == tMinus; k = p.kind() {
		if k == tPlus && isColumnIdent(p.ahead(1)) && !isCall(p.ahead(1), p.ahead(2)) {
			// c = term + c
			if next := p.ahead(2); next != tComma && next != kWhere {
				p.noViable(2)
			}
			break
		}
		p.advance()
		l = &Binary{Op: termOps[k], Left: l, Right: p.product()}
	}
	if !afterTerm[p.kind()] {
		p.noViable(0)
	}
	return l
}

// afterTerm are the tokens that can follow a term.
var afterTerm = kinds(tEOF, tSemicolon, tComma, tRParen, tRBracket, tRBrace, tColon, tRange, tPlus, kAnd, kIf,
	kWhere, kOrder, kGroup, kPer, kLimit, kAllow, kAsc, kDesc, kPrimary, kApply, kInsert, kUpdate, kDelete)

var afterSimpleTerm = func() *kindSet {
	s := *afterTerm
	s[tMinus], s[tStar], s[tSlash], s[tPercent], s[kAs] = true, true, true, true, true
	return &s
}()

// isCall reports whether a name and the token after it begin a function call.
func isCall(name, next kind) bool {
	return next == tDot && isIdent[name] || next == tLParen && (isFunction[name] || name == kCast)
}

func (p *termParser) product() Expr {
	l := p.signed()
	for k := p.kind(); k == tStar || k == tSlash || k == tPercent; k = p.kind() {
		p.advance()
		l = &Binary{Op: termOps[k], Left: l, Right: p.signed()}
	}
	return l
}

func (p *termParser) signed() Expr {
	if p.accept(tMinus) {
		return &Negate{Expr: p.simpleTerm()}
	}
	return p.simpleTerm()
}

// startsTerm reports whether a term can begin with a token of kind k.
func startsTerm(k kind) bool {
	switch k {
	case tLParen, tLBracket, tLBrace, tMinus, kNull, kCast:
		return true
	}
	return isConstant(k) || isBind(k) || isFunction[k] || isIdent[k]
}

func (p *termParser) simpleTerm() Expr {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	k := p.kind()
	switch {
	case isConstant(k):
		return p.constant()
	case k == tQMark && p.ahead(1) == tDot:
		return p.termCall()
	case isBind(k):
		return p.bind()
	case k == kNull:
		p.advance()
		return &Null{}
	case k == tLBracket:
		p.advance()
		l := &List{}
		if startsTerm(p.kind()) {
			l.Elems = p.terms()
		}
		p.expect(tRBracket)
		return l
	case k == tLBrace:
		return p.braced()
	case k == tLParen:
		return p.hintOrTuple()
	case k == kCast && p.ahead(1) == tLParen:
		p.advance()
		p.advance()
		c := &Cast{Expr: p.simpleTerm()}
		p.expect(kAs)
		c.Type = p.nativeType()
		p.expect(tRParen)
		return c
	case isFunction[k] || isIdent[k]:
		return p.termCall()
	}
	p.noViable(0)
	return nil
}

// terms reads one or more terms, separated by commas.
func (p *termParser) terms() []Expr {
	list := []Expr{p.term()}
	for p.accept(tComma) {
		list = append(list, p.term())
	}
	return list
}

// termCall reads a function call. The reference parser decides on its whole head at once. An error
// in the head is therefore reported with the name as its start.
func (p *termParser) termCall() Expr {
	n := 1
	if p.ahead(1) == tDot {
		if !isFunction[p.ahead(2)] {
			p.noViable(2)
			return nil
		}
		n = 3
	} else if !isFunction[p.kind()] {
		p.noViable(1)
		return nil
	}
	if p.ahead(n) != tLParen {
		p.noViable(n)
		return nil
	}
	if k := p.ahead(n + 1); k != tRParen && !startsTerm(k) {
		p.noViable(n + 1)
		return nil
	}
	c := &Call{Func: p.functionName()}
	p.advance()
	if !p.accept(tRParen) {
		c.Args = p.terms()
		p.expect(tRParen)
	}
	return c
}

// braced parses a literal in braces: a set, a map, or a value of a user-defined type.
func (p *termParser) braced() Expr {
	if isIdent[p.ahead(1)] && p.ahead(2) == tColon {
		p.advance()
		return p.udtLiteral()
	}
	p.advance()
	if p.accept(tRBrace) {
		return &Set{}
	}
	first := p.term()
	if p.accept(tColon) {
		m := &Map{Entries: []MapEntry{{first, p.term()}}}
		for p.accept(tComma) {
			m.Entries = append(m.Entries, p.mapEntry())
		}
		p.expect(tRBrace)
		return m
	}
	s := &Set{Elems: []Expr{first}}
	for p.accept(tComma) {
		s.Elems = append(s.Elems, p.term())
	}
	p.expect(tRBrace)
	return s
}

func (p *termParser) mapEntry() MapEntry {
	k := p.term()
	p.expect(tColon)
	return MapEntry{k, p.term()}
}

func (p *termParser) udtLiteral() Expr {
	u := &UDT{}
	for {
		f := UDTField{Name: p.ident()}
		p.expect(tColon)
		f.Value = p.term()
		u.Fields = append(u.Fields, f)
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRBrace)
	return u
}

// hintOrTuple reads (type)term or (term, …).
func (p *termParser) hintOrTuple() Expr {
	if p.ahead(1) == tString {
		return p.customHintOrTuple()
	}
	if startsType(p.ahead(1)) {
		m := p.mark()
		p.advance()
		t := p.typeRef()
		p.expect(tRParen)
		if !p.failed {
			return &Hint{Type: t, Expr: p.simpleTerm()}
		}
		if p.canReset() {
			p.reset(m)
		}
	}
	return p.tuple()
}

// customHintOrTuple distinguishes ('class')term from the tuple ('x') by the tokens after it. The
// tuple may be the key of a map, or the end of a clause.
func (p *termParser) customHintOrTuple() Expr {
	if p.ahead(2) != tRParen {
		return p.tuple()
	}
	hint := false
	switch k := p.ahead(3); {
	case k == tColon && isIdent[p.ahead(4)]:
		next := p.ahead(5)
		hint = !isCall(p.ahead(4), next)
		if hint && !afterSimpleTerm[next] {
			p.noViable(5)
		}
	case k == tColon:
		if !startsTerm(p.ahead(4)) {
			p.noViable(4)
		}
	case isIdent[k] || isFunction[k]:
		hint = !afterSimpleTerm[k] || isCall(k, p.ahead(4))
	default:
		hint = startsTerm(k) && k != tMinus
	}
	switch {
	case p.failed:
		return nil
	case !hint:
		return p.tuple()
	}
	p.advance()
	t := p.customType()
	p.expect(tRParen)
	return &Hint{Type: t, Expr: p.simpleTerm()}
}

func (p *termParser) tuple() *Tuple {
	p.expect(tLParen)
	t := &Tuple{Elems: p.terms()}
	p.expect(tRParen)
	return t
}
