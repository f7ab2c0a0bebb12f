// SPDX-License-Identifier: Apache-2.0

package syntax

import "fmt"

func (p *termParser) properties() Properties {
	var list Properties
	for {
		list = p.property(list)
		if !p.accept(kAnd) {
			return list
		}
	}
}

// property reads name = value and appends it to list.
func (p *termParser) property(list Properties) Properties {
	if !isIdent[p.kind()] {
		p.noViable(0)
		return list
	}
	if p.ahead(1) != tEQ {
		p.noViable(1)
		return list
	}
	v := p.ahead(2)
	if !isConstant(v) && v != tLBrace && (!isIdent[v] || v == tIdent || v == tQuoted) {
		p.noViable(2)
		return list
	}
	prop := Property{Name: p.ident()}
	p.advance()
	switch {
	case v == tLBrace:
		prop.Value = p.propertyMap(prop.Name)
	case isConstant(v):
		prop.Value = p.constant()
	default:
		prop.Value = &Column{Name: p.ident()}
	}
	if p.failed {
		return list
	}
	if p.given.again(prop.Name) {
		p.wrong(fmt.Sprintf("Multiple definitions for property '%s'", prop.Name))
	}
	return append(list, prop)
}

// propertyMap reads the map of a property. Its values must be constants. The exceptions are the
// properties that only Amazon Keyspaces has, which are maps of maps.
func (p *termParser) propertyMap(property string) *Map {
	m := p.fullMap()
	if !p.failed {
		p.checkPairs(m, property == "custom_properties" || property == "autoscaling_settings")
	}
	return m
}

func (p *termParser) checkPairs(m *Map, deep bool) {
	seen := make(map[string]bool, len(m.Entries))
	for _, e := range m.Entries {
		key, ok := e.Key.(*Constant)
		if !ok {
			p.wrong("Invalid property name: " + string(AppendExpr(nil, e.Key)) + noBinds(e.Key))
			return
		}
		inner, isMap := e.Value.(*Map)
		if _, ok := e.Value.(*Constant); !ok && !(deep && (isMap || isEmpty(e.Value))) {
			p.wrong("Invalid property value: " + string(AppendExpr(nil, e.Value)) +
				" for property: " + string(AppendExpr(nil, key)) + noBinds(e.Value))
			return
		}
		if isMap {
			p.checkPairs(inner, deep)
		}
		if seen[rawText(key)] {
			p.wrong("Multiple definition for property " + rawText(key))
		}
		seen[rawText(key)] = true
	}
}

// isEmpty reports whether an expression is {}, which the parser reads as a set.
func isEmpty(e Expr) bool {
	s, ok := e.(*Set)
	return ok && len(s.Elems) == 0
}

func noBinds(e Expr) string {
	if _, ok := e.(*Bind); ok {
		return " (bind variables are not supported in DDL queries)"
	}
	return ""
}

func rawText(c *Constant) string {
	if c.Kind == ConstHex {
		return "0x" + c.Text
	}
	return c.Text
}

// fullMap reads a literal that can only be a map, including {}.
func (p *termParser) fullMap() *Map {
	p.expect(tLBrace)
	m := &Map{}
	if startsTerm(p.kind()) {
		m.Entries = append(m.Entries, p.mapEntry())
		for p.accept(tComma) {
			m.Entries = append(m.Entries, p.mapEntry())
		}
	}
	p.expect(tRBrace)
	return m
}
