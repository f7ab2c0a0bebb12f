// SPDX-License-Identifier: Apache-2.0

package syntax

// startsSelector reports whether an item of a select list can begin with k.
func startsSelector(k kind) bool {
	switch k {
	case tLParen, tLBracket, tLBrace, tMinus, kNull, kToken:
		return true
	}
	return isConstant(k) || isBind(k) || isIdent[k]
}

// afterSelector are the tokens that can follow a selector, and afterColumn those that can follow a
// column's name. The reference parser looks for them before it accepts the selector or name.
var (
	afterSelector = kinds(tEOF, tSemicolon, tComma, tRParen, tRBracket, tRBrace, tColon, tPlus, tMinus, tStar,
		tSlash, tPercent, kAs, kFrom, kOrder, kPer, kLimit, kAllow)
	afterColumn = func() *kindSet {
		s := *afterSelector
		s[tDot], s[tLBracket] = true, true
		return &s
	}()
)

// selectClause reads [JSON] [DISTINCT] selectors. Both words can also be names of columns, so they
// count only if a select list follows.
func (p *selectorParser) selectClause(s *Select) {
	if p.kind() == kJSON {
		m := p.mark()
		p.advance()
		s.JSON = true
		p.distinctClause(s)
		if !p.canReset() {
			return
		}
		p.reset(m)
		s.JSON = false
		if !afterColumn[p.ahead(1)] {
			p.noViable(1)
			return
		}
	}
	p.distinctClause(s)
}

func (p *selectorParser) distinctClause(s *Select) {
	if p.kind() == kDistinct {
		m := p.mark()
		p.advance()
		s.Distinct = true
		s.Selectors = p.selectors()
		if !p.canReset() {
			return
		}
		p.reset(m)
		s.Distinct = false
		if !afterColumn[p.ahead(1)] {
			p.noViable(1)
			return
		}
	}
	s.Selectors = p.selectors()
}

// selectors reads a select list; nil for *.
func (p *selectorParser) selectors() []Selector {
	if p.accept(tStar) {
		return nil
	}
	if !startsSelector(p.kind()) {
		p.noViable(0)
		return nil
	}
	var list []Selector
	for {
		s := Selector{Expr: p.selector()}
		if p.accept(kAs) {
			s.Alias = p.ident()
		}
		list = append(list, s)
		if !p.accept(tComma) {
			return list
		}
	}
}

// selector reads one selected expression.
func (p *selectorParser) selector() Expr {
	l := p.selectorProduct()
	for k := p.kind(); k == tPlus || k == tMinus; k = p.kind() {
		p.advance()
		l = &Binary{Op: termOps[k], Left: l, Right: p.selectorProduct()}
	}
	return l
}

func (p *selectorParser) selectorProduct() Expr {
	l := p.selectorGroup()
	for k := p.kind(); k == tStar || k == tSlash || k == tPercent; k = p.kind() {
		p.advance()
		l = &Binary{Op: termOps[k], Left: l, Right: p.selectorGroup()}
	}
	return l
}

func (p *selectorParser) selectorGroup() Expr {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	if p.accept(tMinus) {
		return &Negate{Expr: p.selectorGroup()}
	}
	base := p.selectorBase()
	if k := p.kind(); k != tDot && k != tLBracket || p.failed {
		return base
	}
	// The reference parser tries base and modifiers together. If that fails it takes the base
	// alone, so that a bad modifier is an error at its first token.
	m := p.mark()
	e := p.modifiers(base)
	if p.canReset() {
		p.reset(m)
		return base
	}
	return e
}

// modifiers reads the .field, [key] and [from..to] after a selector.
func (p *selectorParser) modifiers(e Expr) Expr {
	for {
		switch {
		case p.accept(tDot):
			e = &Field{Expr: e, Name: p.ident()}
		case p.accept(tLBracket):
			e = p.subscript(e)
			p.expect(tRBracket)
		default:
			// The reference grammar forgets the semicolon here: GROUP BY a.b; is an error.
			if k := p.kind(); !afterSelector[k] || k == tSemicolon {
				p.noViable(0)
			}
			return e
		}
	}
}

func (p *selectorParser) subscript(e Expr) Expr {
	if p.accept(tRange) {
		return &Range{Expr: e, To: p.term()}
	}
	key := p.term()
	if !p.accept(tRange) {
		return &Element{Expr: e, Key: key}
	}
	r := &Range{Expr: e, From: key}
	if startsTerm(p.kind()) {
		r.To = p.term()
	}
	return r
}

func (p *selectorParser) selectorBase() Expr {
	k := p.kind()
	switch {
	case k == tQMark && p.ahead(1) == tDot && isFunction[p.ahead(2)] && p.ahead(3) == tLParen:
		return p.selectorCall()
	case k == tQMark && !afterColumn[p.ahead(1)]:
		p.noViable(1)
		return nil
	case isConstant(k):
		return p.constant()
	case isBind(k):
		return p.bind()
	case k == kNull:
		p.advance()
		return &Null{}
	case k == tLParen:
		return p.selectorParen()
	case k == tLBracket:
		p.advance()
		l := &List{}
		if startsSelector(p.kind()) {
			l.Elems = p.selectorList()
		}
		p.expect(tRBracket)
		return l
	case k == tLBrace:
		return p.selectorBraced()
	case k == kToken || isIdent[k]:
		return p.namedSelector()
	}
	p.noViable(0)
	return nil
}

func (p *selectorParser) selectorList() []Expr {
	list := []Expr{p.selector()}
	for p.accept(tComma) {
		list = append(list, p.selector())
	}
	return list
}

// namedSelector reads a selector that begins with a name: a column or a call.
func (p *selectorParser) namedSelector() Expr {
	k := p.kind()
	next := p.ahead(1)
	if next == tLParen {
		switch k {
		case kCount:
			if p.ahead(2) == tStar {
				c := &Call{Func: p.functionName(), Star: true}
				p.advance()
				p.advance()
				p.expect(tRParen)
				return c
			}
		case kWritetime, kMaxwritetime, kTTL:
			c := &Call{Func: Name{Name: p.nameOf(p.advance())}}
			p.advance()
			column := &Column{Name: p.ident()}
			c.Args = []Expr{p.modifiers(column)}
			p.expect(tRParen)
			return c
		case kCast:
			p.advance()
			p.advance()
			c := &Cast{Expr: p.selector()}
			p.expect(kAs)
			c.Type = p.nativeType()
			p.expect(tRParen)
			return c
		}
		if isFunction[k] {
			return p.selectorCall()
		}
	}
	if next == tDot {
		if f := p.ahead(2); !isFunction[f] && !isIdent[f] {
			p.noViable(2)
			return nil
		} else if n := p.ahead(3); isFunction[f] && n == tLParen {
			return p.selectorCall()
		} else if !afterColumn[n] {
			p.noViable(3)
			return nil
		}
	}
	if k == kToken || !afterColumn[next] {
		p.noViable(1)
		return nil
	}
	return &Column{Name: p.ident()}
}

func (p *selectorParser) selectorCall() Expr {
	c := &Call{Func: p.functionName()}
	p.expect(tLParen)
	if startsSelector(p.kind()) {
		c.Args = p.selectorList()
	}
	p.expect(tRParen)
	return c
}

// selectorParen reads (type)selector, a tuple, or a selector in parentheses, which is a tuple of
// one.
func (p *selectorParser) selectorParen() Expr {
	if startsType(p.ahead(1)) {
		m := p.mark()
		p.advance()
		h := &Hint{Type: p.typeRef()}
		p.expect(tRParen)
		if !p.failed && p.enter() {
			h.Expr = p.selectorBase()
			p.leave()
		}
		if !p.canReset() {
			return h
		}
		p.reset(m)
	}
	p.advance()
	t := &Tuple{Elems: p.selectorList()}
	p.expect(tRParen)
	return t
}

// selectorBraced reads a set or a map. A literal of a user-defined type looks like a map whose keys
// are columns.
func (p *selectorParser) selectorBraced() Expr {
	if k := p.ahead(1); k != tRBrace && !startsSelector(k) {
		p.noViable(1)
		return nil
	}
	p.advance()
	if p.accept(tRBrace) {
		return &Set{}
	}
	first := p.selector()
	if p.accept(tColon) {
		m := &Map{Entries: []MapEntry{{first, p.selector()}}}
		for p.accept(tComma) {
			k := p.selector()
			p.expect(tColon)
			m.Entries = append(m.Entries, MapEntry{k, p.selector()})
		}
		p.expect(tRBrace)
		return m
	}
	s := &Set{Elems: []Expr{first}}
	for p.accept(tComma) {
		s.Elems = append(s.Elems, p.selector())
	}
	p.expect(tRBrace)
	return s
}
