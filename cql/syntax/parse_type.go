// SPDX-License-Identifier: Apache-2.0

package syntax

import "strconv"

// startsType reports whether a type can begin with a token of kind k.
func startsType(k kind) bool { return isIdent[k] || k == kSet || k == tString }

// typeRef reads a type.
func (p *typeParser) typeRef() TypeRef {
	if !p.enter() {
		return TypeRef{}
	}
	defer p.leave()
	k := p.kind()
	if k == tString {
		return p.customType()
	}
	if !startsType(k) {
		p.noViable(0)
		return TypeRef{}
	}
	next := p.ahead(1)
	switch {
	case isIdent[k] && !isNative[k] && !isUserType[k]:
		return TypeRef{Name: p.userTypeName(), User: true}
	case k == kSet:
		return p.collectionType("set", 1)
	case k != tIdent && k != tQuoted && next != tDot && next != tLT && (isNative[k] && !afterType[next] || !afterUserType[next]):
		p.noViable(1)
		return TypeRef{}
	case next == tDot:
		return TypeRef{Name: p.userTypeName(), User: true}
	case isNative[k]:
		return p.nativeType()
	case next == tLT:
		switch k {
		case kMap:
			return p.collectionType("map", 2)
		case kList:
			return p.collectionType("list", 1)
		case kTuple:
			return p.tupleType()
		case kVector:
			return p.vectorType()
		case kFrozen:
			return p.frozenType()
		}
	}
	return TypeRef{Name: p.userTypeName(), User: true}
}

func (p *typeParser) nativeType() TypeRef {
	if !isNative[p.kind()] {
		p.noViable(0)
		return TypeRef{}
	}
	return TypeRef{Name: Name{Name: p.nameOf(p.advance())}}
}

func (p *typeParser) collectionType(name string, params int) TypeRef {
	p.advance()
	p.expect(tLT)
	t := TypeRef{Name: Name{Name: name}, Params: []TypeRef{p.typeRef()}}
	if params == 2 {
		p.expect(tComma)
		t.Params = append(t.Params, p.typeRef())
	}
	p.expect(tGT)
	return t
}

func (p *typeParser) tupleType() TypeRef {
	p.advance()
	p.expect(tLT)
	t := TypeRef{Name: Name{Name: "tuple"}, Params: []TypeRef{p.typeRef()}}
	for p.accept(tComma) {
		t.Params = append(t.Params, p.typeRef())
	}
	p.expect(tGT)
	return t
}

func (p *typeParser) vectorType() TypeRef {
	p.advance()
	p.expect(tLT)
	t := TypeRef{Name: Name{Name: "vector"}, Params: []TypeRef{p.typeRef()}}
	p.expect(tComma)
	dim := p.expect(tInteger)
	p.expect(tGT)
	if !p.failed {
		n, err := strconv.ParseInt(p.textOf(dim), 10, 32)
		if err != nil {
			p.unparsable("NumberFormatException", `For input string: "`+p.textOf(dim)+`"`)
		}
		t.Dim = int(n)
	}
	return t
}

func (p *typeParser) frozenType() TypeRef {
	p.advance()
	p.expect(tLT)
	t := p.typeRef()
	p.expect(tGT)
	if !p.failed {
		if t.Custom || !t.User && len(t.Params) == 0 {
			shown := t
			if t.Custom {
				shown.Name.Name = qualifyMarshal(t.Name.Name)
			}
			p.wrong("frozen<> is only allowed on collections, tuples, and user-defined types (got " + string(AppendType(nil, shown)) + ")")
		}
		t.Frozen = true
	}
	return t
}

func (p *typeParser) customType() TypeRef {
	name := unquoteString(p.textOf(p.advance()))
	if e := customTypeError(name); e != "" {
		p.wrong("Error setting type " + name + ": " + e)
	}
	return TypeRef{Name: Name{Name: name}, Custom: true}
}

// unparsable ends the parse with the error of an exception inside the reference parser.
func (p *typeParser) unparsable(exception, reason string) {
	p.fail(failure{err: &SyntaxError{Column: -1,
		Message: "Failed parsing statement: [" + p.text + "] reason: " + exception + " " + reason}})
}
