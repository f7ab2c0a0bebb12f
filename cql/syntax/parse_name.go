// SPDX-License-Identifier: Apache-2.0

package syntax

// kindSet is a set of token kinds.
type kindSet [kindCount]bool

func kinds(ks ...kind) *kindSet {
	var s kindSet
	for _, k := range ks {
		s[k] = true
	}
	return &s
}

// ident reads an identifier: the name of a column, an alias, a field or a property.
func (p *typeParser) ident() string {
	if !isIdent[p.kind()] {
		p.noViable(0)
		return ""
	}
	return p.nameOf(p.advance())
}

// columnIdent reads a column's name. The name may be empty, for old super columns.
func (p *typeParser) columnIdent() string {
	if p.kind() == tEmptyQuoted {
		p.advance()
		return ""
	}
	return p.ident()
}

func isColumnIdent(k kind) bool { return isIdent[k] || k == tEmptyQuoted }

// nameOf returns the identifier that a token spells. It folds unquoted ones to lower case.
func (p *typeParser) nameOf(t token) string {
	if t.kind == tQuoted {
		return unquoteName(p.textOf(t))
	}
	return lower(p.textOf(t))
}

// objectIdent reads an identifier. The grammar also accepts a bind marker here, only to refuse it
// with a better message.
func (p *typeParser) objectIdent(what string) string {
	if p.kind() == tQMark {
		p.wrong("Bind variables cannot be used for " + what + " names")
		p.advance()
		return ""
	}
	return p.ident()
}

func (p *typeParser) keyspaceName() string { return p.objectIdent("keyspace") }

// afterTable are the tokens that can follow a table's name in some statement. The reference parser
// looks one token past a name before it accepts the name.
var afterTable = kinds(tEOF, tSemicolon, tLParen, kJSON, kUsing, kSet, kWhere, kGroup, kOrder, kPer,
	kLimit, kAllow, kWith, kAlter, kAdd, kDrop, kRename, kAs, kPrimary, kTo, kFrom, kOf, kNorecursive)

var (
	afterIndex    = kinds(tEOF, tSemicolon)
	afterFunction = kinds(tEOF, tSemicolon, tLParen, tDot, kWith)
	afterUserType = kinds(tEOF, tSemicolon, tComma, tRParen, tGT, kStatic, kMasked, kPrimary, kLanguage, kFinalfunc,
		kInitcond, kWith, tLParen, kAlter, kAdd, kRename)
	afterType = kinds(tEOF, tSemicolon, tComma, tRParen, tGT, kStatic, kMasked, kPrimary, kLanguage, kFinalfunc, kInitcond)
)

func (p *typeParser) tableName() Name { return p.qualifiedName("table", afterTable) }

func (p *typeParser) qualifiedName(what string, after *kindSet) Name {
	if k := p.kind(); !isIdent[k] && k != tQMark {
		p.noViable(0)
		return Name{}
	}
	switch next := p.ahead(1); {
	case next == tDot:
		ks := p.keyspaceName()
		p.advance()
		return Name{Keyspace: ks, Name: p.objectIdent(what)}
	case !after[next]:
		p.noViable(1)
		return Name{}
	}
	return Name{Name: p.objectIdent(what)}
}

// reservedTypes are names that a user-defined type may have only in quotes.
var reservedTypes = map[string]bool{
	"byte": true, "complex": true, "enum": true, "date": true, "interval": true, "macaddr": true, "bitstring": true,
}

// userTypeName reads [keyspace.]type.
func (p *typeParser) userTypeName() Name {
	var n Name
	if k := p.kind(); isIdent[k] && (p.ahead(1) == tDot || !isUserType[k]) {
		n.Keyspace = p.ident()
		p.expect(tDot)
	}
	t := p.toks[p.pos]
	if !isUserType[t.kind] {
		p.noViable(0)
		return Name{}
	}
	if t.kind == tIdent && reservedTypes[p.textOf(t)] {
		p.wrong("Invalid (reserved) user type name " + p.textOf(t))
	}
	p.advance()
	n.Name = p.nameOf(t)
	return n
}

// functionName reads [keyspace.]function.
func (p *typeParser) functionName() Name {
	var n Name
	if k := p.kind(); (isIdent[k] || k == tQMark) && (p.ahead(1) == tDot || !isFunction[k]) {
		n.Keyspace = p.keyspaceName()
		p.expect(tDot)
	}
	k := p.kind()
	if n.Keyspace == "" && isIdent[k] && !afterFunction[p.ahead(1)] {
		p.noViable(1)
		return Name{}
	}
	if !isFunction[k] {
		p.noViable(0)
		return Name{}
	}
	n.Name = p.nameOf(p.advance())
	return n
}

// roleName reads a role's name: an identifier or a string.
func (p *typeParser) roleName() string {
	if p.kind() == tString {
		return unquoteString(p.textOf(p.advance()))
	}
	return p.objectIdent("role")
}

// ifExists and ifNotExists parse the optional clauses of these names.
func (p *typeParser) ifExists() bool {
	if !p.accept(kIf) {
		return false
	}
	p.expect(kExists)
	return true
}

func (p *typeParser) ifNotExists() bool {
	if !p.accept(kIf) {
		return false
	}
	p.expectAll(kNot, kExists)
	return true
}
