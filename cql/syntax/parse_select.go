// SPDX-License-Identifier: Apache-2.0

package syntax

func (p *queryParser) selectStatement() *Select {
	p.advance()
	s := &Select{}
	p.selectClause(s)
	p.expect(kFrom)
	s.From = p.tableName()
	if p.accept(kWhere) {
		s.Where = p.where()
	}
	if p.accept(kGroup) {
		p.expect(kBy)
		s.GroupBy = p.selectorList()
	}
	if p.accept(kOrder) {
		p.expect(kBy)
		s.OrderBy = append(s.OrderBy, p.ordering())
		for p.accept(tComma) {
			s.OrderBy = append(s.OrderBy, p.ordering())
		}
	}
	if p.accept(kPer) {
		p.expectAll(kPartition, kLimit)
		s.PerPartitionLimit = p.intValue()
	}
	if p.accept(kLimit) {
		s.Limit = p.intValue()
	}
	if p.accept(kAllow) {
		p.expect(kFiltering)
		s.AllowFiltering = true
	}
	return s
}

func (p *queryParser) ordering() Ordering {
	o := Ordering{Column: p.columnIdent()}
	if p.accept(kAnn) {
		p.expect(kOf)
		o.ANNOf = p.term()
	}
	if !p.accept(kAsc) {
		o.Desc = p.accept(kDesc)
	}
	return o
}

// where reads the relations after WHERE.
func (p *queryParser) where() []Relation {
	var list []Relation
	for {
		if p.kind() == tExpr {
			list = append(list, p.indexExpression())
		} else {
			list = append(list, p.relation())
		}
		if !p.accept(kAnd) {
			return list
		}
	}
}

func (p *queryParser) indexExpression() Relation {
	p.advance()
	r := Relation{Index: p.objectIdent("index")}
	p.expect(tComma)
	r.Value = p.term()
	p.expect(tRParen)
	return r
}

var comparisons = [kindCount]Op{tEQ: OpEQ, tLT: OpLT, tLE: OpLE, tGT: OpGT, tGE: OpGE, tNE: OpNE}

func (p *queryParser) comparison() Op {
	op := comparisons[p.kind()]
	if op == 0 {
		p.noViable(0)
		return 0
	}
	p.advance()
	return op
}

func (p *queryParser) relation() Relation {
	switch k := p.kind(); {
	case isColumnIdent(k):
		return p.columnRelation()
	case k == kToken:
		p.advance()
		r := Relation{Token: true, Columns: p.tupleOfColumns()}
		r.Op = p.comparison()
		r.Value = p.term()
		return r
	case k == tLParen:
		return p.parenRelation()
	}
	p.noViable(0)
	return Relation{}
}

func (p *queryParser) columnRelation() Relation {
	switch next := p.ahead(1); {
	case comparisons[next] != 0, next == kLike, next == kIs, next == kContains, next == tLBracket:
	case next == kIn:
		if k := p.ahead(2); k != tLParen && !isBind(k) {
			p.noViable(2)
			return Relation{}
		}
	default:
		p.noViable(1)
		return Relation{}
	}
	r := Relation{Columns: []string{p.columnIdent()}}
	switch p.kind() {
	case kLike:
		p.advance()
		r.Op, r.Value = OpLike, p.term()
	case kIs:
		p.advance()
		p.expectAll(kNot, kNull)
		r.Op = OpIsNotNull
	case kContains:
		r.Op = p.contains()
		r.Value = p.term()
	case kIn:
		p.advance()
		r.Op = OpIn
		r.Value, r.Values = p.inValues()
	case tLBracket:
		p.advance()
		r.Key = p.term()
		p.expect(tRBracket)
		r.Op = p.comparison()
		r.Value = p.term()
	default:
		r.Op = p.comparison()
		r.Value = p.term()
	}
	return r
}

func (p *queryParser) contains() Op {
	p.advance()
	if p.accept(kKey) {
		return OpContainsKey
	}
	return OpContains
}

// inValues reads the right side of IN: a marker, or a list, which may be empty.
func (p *queryParser) inValues() (marker Expr, list []Expr) {
	switch k := p.kind(); {
	case isBind(k):
		return p.bind(), nil
	case k != tLParen:
		p.noViable(0)
		return nil, nil
	}
	p.advance()
	list = []Expr{}
	if startsTerm(p.kind()) {
		list = p.terms()
	}
	p.expect(tRParen)
	return nil, list
}

func (p *queryParser) tupleOfColumns() []string {
	p.expect(tLParen)
	list := []string{p.columnIdent()}
	for p.accept(tComma) {
		list = append(list, p.columnIdent())
	}
	p.expect(tRParen)
	return list
}

// parenRelation reads (a, b) op … or a relation in parentheses.
func (p *queryParser) parenRelation() Relation {
	if isColumnIdent(p.ahead(1)) {
		switch next := p.ahead(2); {
		case next == tComma || next == tRParen:
			return p.tupleRelation()
		case comparisons[next] != 0, next == kLike, next == kIs, next == kContains, next == tLBracket, next == kIn:
		default:
			p.noViable(2)
			return Relation{}
		}
	} else if k := p.ahead(1); k != tLParen && k != kToken {
		p.noViable(1)
		return Relation{}
	}
	if !p.enter() {
		return Relation{}
	}
	defer p.leave()
	p.advance()
	r := p.relation()
	p.expect(tRParen)
	return r
}

func (p *queryParser) tupleRelation() Relation {
	r := Relation{Tuple: true, Columns: p.tupleOfColumns()}
	if p.accept(kIn) {
		r.Op = OpIn
		r.Value, r.Values = p.tupleInValues()
		return r
	}
	if comparisons[p.kind()] == 0 {
		p.noViable(0)
	} else if k := p.ahead(1); k != tLParen && !isBind(k) {
		p.noViable(1)
	}
	r.Op = p.comparison()
	r.Value = p.tupleOrBind()
	return r
}

func (p *queryParser) tupleOrBind() Expr {
	if isBind(p.kind()) {
		return p.bind()
	}
	return p.tuple()
}

// tupleInValues reads the right side of (a, b) IN: a marker, or a list of either tuples or markers.
func (p *queryParser) tupleInValues() (marker Expr, list []Expr) {
	k := p.kind()
	if isBind(k) {
		return p.bind(), nil
	}
	if k != tLParen {
		p.noViable(0)
		return nil, nil
	}
	first := p.ahead(1)
	if first == tRParen {
		p.advance()
		p.advance()
		return nil, []Expr{}
	}
	if first != tLParen && !isBind(first) {
		p.noViable(1)
		return nil, nil
	}
	p.advance()
	for {
		switch {
		case first == tLParen:
			list = append(list, p.tuple())
		case isBind(p.kind()):
			list = append(list, p.bind())
		default:
			p.noViable(0)
		}
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return nil, list
}
