// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Outline is the part of a statement that does not depend on its parameters. It holds names of
// attributes; of a path, it holds the name of the attribute that the path begins in.
type Outline struct {
	Kind  Kind
	Table string
	Index string // empty: the table itself
	// Names are the attributes that a SELECT returns (none: all), or that a write sets or removes.
	Names  []string
	Order  []Order
	Bounds []Bound
	// Others are attributes that WHERE restricts in a way that is not a Bound: by OR, NOT, <>,
	// contains, attribute_exists and the like.
	Others []string
}

// Order is a term of ORDER BY.
type Order struct {
	Name string
	Desc bool
}

// Bound is a restriction of an attribute that all alternatives of WHERE have.
type Bound struct {
	Name   string
	Equal  int  // how many values the attribute may have; 0: a range restricts it, not an equality
	Low    bool // has a lower bound
	High   bool // has an upper bound
	Prefix bool // begins_with
	// The texts of literals: of the one value (if Equal is 1) and of the bounds. A parameter has no
	// text.
	Text, LowText, HighText string
}

// Malformed is an error and its place in the statement.
type Malformed struct {
	Offset int // in bytes
	Err    error
}

func (e *Malformed) Error() string { return exception.Of(e.Err).Message }

func (e *Malformed) Unwrap() error { return e.Err }

// Outlined parses a statement whose parameters are not known. A name that is a keyword needs no
// quotes if it cannot be anything else, because an outline is never executed. The error is a
// *Malformed.
func Outlined(text string) (*Outline, error) {
	p := newParser(text)
	p.open = true
	p.advance()
	s := p.statement()
	p.take(";")
	if p.err == nil && p.tok.kind != eof {
		p.malformed("Unexpected token after expression")
	}
	if p.err != nil {
		return nil, &Malformed{p.failed, p.err}
	}
	o := &Outline{Kind: s.kind, Table: s.table, Index: s.index}
	for _, c := range s.columns {
		o.name(c.path.Name)
	}
	for i := range s.item {
		o.name(s.item[i].Name)
	}
	for _, c := range s.changes {
		o.name(c.path.Name)
	}
	for _, t := range s.order {
		o.Order = append(o.Order, Order{t.name, t.desc})
	}
	if s.where != nil {
		o.Bounds, o.Others = bounds(s.where)
	}
	return o, nil
}

func (o *Outline) name(name string) {
	if !slices.Contains(o.Names, name) {
		o.Names = append(o.Names, name)
	}
}

// bounds splits a condition into bounds and other restricted attributes.
func bounds(c condition) (list []Bound, others []string) {
	switch c := c.(type) {
	case and:
		for _, part := range c {
			l, o := bounds(part)
			for _, b := range l {
				list = meet(list, b)
			}
			others = append(others, o...)
		}
		return list, others
	case or:
		return alternatives(c)
	case compare:
		name, v, operator := c.sides()
		switch operator {
		case "":
		case "=":
			return []Bound{{Name: name, Equal: 1, Text: textOf(v)}}, nil
		case "<", "<=":
			return []Bound{{Name: name, High: true, HighText: textOf(v)}}, nil
		case ">", ">=":
			return []Bound{{Name: name, Low: true, LowText: textOf(v)}}, nil
		}
	case between:
		if c.value.isAttribute() && c.low.isLiteral() && c.high.isLiteral() {
			return []Bound{{Name: c.value.path.Name, Low: true, High: true, LowText: textOf(c.low.literal), HighText: textOf(c.high.literal)}}, nil
		}
	case in:
		if c.value.isAttribute() && c.literals() {
			b := Bound{Name: c.value.path.Name, Equal: len(c.list)}
			if len(c.list) == 1 {
				b.Text = textOf(c.list[0].literal)
			}
			return []Bound{b}, nil
		}
	case call:
		if c.function == "begins_with" && len(c.args) == 2 && c.args[0].isAttribute() && c.args[1].isLiteral() {
			return []Bound{{Name: c.args[0].path.Name, Low: true, High: true, Prefix: true}}, nil
		}
	}
	names(c, func(name string) bool {
		others = append(others, name)
		return true
	})
	return nil, others
}

// alternatives returns the bounds that all parts of an OR have: an attribute that equals one of
// several values. All other attributes of the parts are returned as others.
func alternatives(parts or) (list []Bound, others []string) {
	counts, seen := make(map[string]int), make(map[string]int)
	var order []string
	for _, part := range parts {
		l, o := bounds(part)
		for _, b := range l {
			if !slices.Contains(order, b.Name) {
				order = append(order, b.Name)
			}
			if b.Equal > 0 {
				counts[b.Name] += b.Equal
				seen[b.Name]++
			}
		}
		others = append(others, o...)
	}
	for _, name := range order {
		if seen[name] == len(parts) {
			list = append(list, Bound{Name: name, Equal: counts[name]})
		} else {
			others = append(others, name)
		}
	}
	return list, others
}

// meet adds a bound to a list of bounds that must all hold.
func meet(list []Bound, b Bound) []Bound {
	i := slices.IndexFunc(list, func(have Bound) bool { return have.Name == b.Name && (have.Equal > 0) == (b.Equal > 0) })
	if i < 0 {
		return append(list, b)
	}
	have := &list[i]
	if b.Equal > 0 {
		if b.Equal < have.Equal {
			*have = b
		}
		return list
	}
	have.Low, have.High, have.Prefix = have.Low || b.Low, have.High || b.High, have.Prefix || b.Prefix
	if b.LowText != "" {
		have.LowText = b.LowText
	}
	if b.HighText != "" {
		have.HighText = b.HighText
	}
	return list
}

// textOf returns the text of a string or number. It returns "" for other values and for a
// parameter.
func textOf(v attribute.Value) string {
	switch v.Kind() {
	case attribute.S, attribute.N:
		return v.Text()
	}
	return ""
}
