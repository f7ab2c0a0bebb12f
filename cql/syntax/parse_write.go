// SPDX-License-Identifier: Apache-2.0

package syntax

func (p *queryParser) insertStatement() *Insert {
	p.advance()
	p.expect(kInto)
	s := &Insert{Into: p.tableName()}
	switch p.kind() {
	case tLParen:
		p.insertValues(s)
	case kJSON:
		p.insertJSON(s)
	default:
		p.noViable(0)
	}
	s.IfNotExists = p.ifNotExists()
	s.Using = p.using()
	return s
}

func (p *queryParser) insertValues(s *Insert) {
	s.Columns = p.tupleOfColumns()
	p.expect(kValues)
	p.expect(tLParen)
	s.Values = p.terms()
	p.expect(tRParen)
}

func (p *queryParser) insertJSON(s *Insert) {
	p.advance()
	switch k := p.kind(); {
	case k == tString:
		s.JSON = p.constant()
	case isBind(k):
		s.JSON = p.bind()
	default:
		p.noViable(0)
	}
	if p.accept(kDefault) {
		switch {
		case p.accept(kUnset):
			s.JSONUnset = true
		case !p.accept(kNull):
			p.noViable(0)
		}
	}
}

// using reads USING TIMESTAMP … AND TTL …. If an option is given twice, the last value counts.
func (p *queryParser) using() Using {
	var u Using
	if !p.accept(kUsing) {
		return u
	}
	for {
		switch {
		case p.accept(kTimestamp):
			u.Timestamp = p.intValue()
		case p.accept(kTTL):
			u.TTL = p.intValue()
		default:
			p.noViable(0)
		}
		if !p.accept(kAnd) {
			return u
		}
	}
}

func (p *queryParser) updateStatement() *Update {
	p.advance()
	s := &Update{Table: p.tableName()}
	s.Using = p.using()
	p.expect(kSet)
	var assigned, replaced names
	for {
		a := p.assignment()
		if !p.failed {
			again, replaces := assigned.again(a.Column), a.replaces()
			if again && (replaces || replaced[a.Column]) {
				p.wrong("Multiple incompatible setting of column " + a.Column)
			}
			if replaces {
				replaced.again(a.Column)
			}
			s.Set = append(s.Set, a)
		}
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(kWhere)
	s.Where = p.where()
	s.IfExists, s.If = p.ifClause()
	return s
}

// replaces reports whether an assignment gives the whole column a new value.
func (a *Assignment) replaces() bool {
	if a.Key != nil || a.Field != "" {
		return false
	}
	b, ok := a.Value.(*Binary)
	if !ok {
		return true
	}
	_, left := b.Left.(*Column)
	_, right := b.Right.(*Column)
	return !left && !right
}

func (p *queryParser) assignment() Assignment {
	a := Assignment{Column: p.columnIdent()}
	switch k := p.kind(); k {
	case tEQ:
		p.advance()
		p.assignedValue(&a)
	case tPlusEQ, tMinusEQ:
		p.advance()
		op := OpAdd
		if k == tMinusEQ {
			op = OpSub
		}
		a.Value = &Binary{Op: op, Left: &Column{Name: a.Column}, Right: p.term()}
	case tLBracket:
		p.advance()
		a.Key = p.term()
		p.expect(tRBracket)
		p.expect(tEQ)
		a.Value = p.term()
	case tDot:
		p.advance()
		a.Field = p.ident()
		p.expect(tEQ)
		a.Value = p.term()
	default:
		p.noViable(0)
	}
	return a
}

// assignedValue reads the right side of c =: a term, term + c, c + term, c - term, or c -3, whose
// sign belongs to the number.
func (p *queryParser) assignedValue(a *Assignment) {
	k := p.kind()
	if !isColumnIdent(k) || isCall(k, p.ahead(1)) {
		a.Value = p.term()
		if p.accept(tPlus) {
			c := p.columnIdent()
			if c != a.Column {
				p.wrong("Only expressions of the form X = <value> + X are supported.")
			}
			a.Value = &Binary{Op: OpAdd, Left: a.Value, Right: &Column{Name: c}}
		}
		return
	}
	next := p.ahead(1)
	switch next {
	case tPlus, tMinus, tInteger:
	default:
		p.noViable(1)
		return
	}
	c := p.columnIdent()
	left := &Column{Name: c}
	if next == tInteger {
		n := p.constant()
		sign := "+"
		if n.Text[0] == '-' {
			sign = "-"
		}
		if c != a.Column {
			p.wrong("Only expressions of the form X = X " + sign + " <value> are supported.")
		}
		a.Value = &Binary{Op: OpAdd, Left: left, Right: n}
		return
	}
	sign := p.textOf(p.advance())
	op := OpAdd
	if sign == "-" {
		op = OpSub
	}
	right := p.term()
	if c != a.Column {
		p.wrong("Only expressions of the form X = X " + sign + "<value> are supported.")
	}
	a.Value = &Binary{Op: op, Left: left, Right: right}
}

// ifClause reads IF EXISTS or IF conditions.
func (p *queryParser) ifClause() (exists bool, conds []Condition) {
	if !p.accept(kIf) {
		return false, nil
	}
	if p.kind() == kExists && !startsCondition(p.ahead(1)) {
		p.advance()
		return true, nil
	}
	if !isColumnIdent(p.kind()) {
		p.noViable(0)
		return false, nil
	}
	for {
		conds = append(conds, p.condition())
		if !p.accept(kAnd) {
			return false, conds
		}
	}
}

// startsCondition reports whether k can follow the column of a condition.
func startsCondition(k kind) bool {
	return comparisons[k] != 0 || k == kContains || k == kIn || k == tLBracket || k == tDot
}

func (p *queryParser) condition() Condition {
	c := Condition{Column: p.columnIdent()}
	switch k := p.kind(); {
	case !startsCondition(k):
		p.noViable(0)
		return c
	case k == kContains:
		c.Op = p.contains()
		c.Value = p.term()
		return c
	case k == tLBracket:
		p.advance()
		c.Key = p.term()
		p.expect(tRBracket)
	case k == tDot:
		p.advance()
		c.Field = p.ident()
	}
	if p.accept(kIn) {
		c.Op = OpIn
		c.Value, c.Values = p.inValues()
		return c
	}
	c.Op = p.comparison()
	c.Value = p.term()
	return c
}

func (p *queryParser) deleteStatement() *Delete {
	p.advance()
	s := &Delete{}
	if isColumnIdent(p.kind()) {
		for {
			s.Items = append(s.Items, p.deleteItem())
			if !p.accept(tComma) {
				break
			}
		}
	}
	p.expect(kFrom)
	s.From = p.tableName()
	if p.accept(kUsing) {
		p.expect(kTimestamp)
		s.Using.Timestamp = p.intValue()
	}
	p.expect(kWhere)
	s.Where = p.where()
	s.IfExists, s.If = p.ifClause()
	return s
}

func (p *queryParser) deleteItem() DeleteItem {
	if !isColumnIdent(p.kind()) {
		p.noViable(0)
		return DeleteItem{}
	}
	switch p.ahead(1) {
	case tLBracket, tDot, tComma, kFrom:
	default:
		p.noViable(1)
		return DeleteItem{}
	}
	d := DeleteItem{Column: p.columnIdent()}
	switch {
	case p.accept(tLBracket):
		d.Key = p.term()
		p.expect(tRBracket)
	case p.accept(tDot):
		d.Field = p.ident()
	}
	return d
}

func (p *queryParser) batchStatement() *Batch {
	p.advance()
	b := &Batch{}
	switch {
	case p.accept(kUnlogged):
		b.Kind = BatchUnlogged
	case p.accept(kCounter):
		b.Kind = BatchCounter
	}
	p.expect(kBatch)
	b.Using = p.using()
	for {
		switch p.kind() {
		case kInsert:
			b.Statements = append(b.Statements, p.insertStatement())
		case kUpdate:
			b.Statements = append(b.Statements, p.updateStatement())
		case kDelete:
			b.Statements = append(b.Statements, p.deleteStatement())
		default:
			p.expectAll(kApply, kBatch)
			return b
		}
		p.accept(tSemicolon)
	}
}
