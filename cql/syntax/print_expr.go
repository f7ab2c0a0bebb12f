// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
)

// AppendExpr appends an expression as CQL.
func AppendExpr(dst []byte, e Expr) []byte { return appendExpr(dst, e, 0) }

// strength is the binding strength of the arithmetic operators.
var strength = map[Op]int{OpAdd: 1, OpSub: 1, OpMul: 2, OpDiv: 2, OpMod: 2}

var opText = [...]string{
	OpEQ: "=", OpLT: "<", OpLE: "<=", OpGT: ">", OpGE: ">=", OpNE: "!=", OpIn: "IN",
	OpContains: "CONTAINS", OpContainsKey: "CONTAINS KEY", OpLike: "LIKE", OpIsNotNull: "IS NOT NULL",
	OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpMod: "%",
}

// String formats the operator as CQL does.
func (o Op) String() string {
	if int(o) < len(opText) {
		return opText[o]
	}
	return ""
}

// appendExpr appends e as an operand of an operator of strength min. It puts a weaker operator in
// parentheses; Parse returns those as a Tuple.
func appendExpr(dst []byte, e Expr, min int) []byte {
	switch e := e.(type) {
	case *Constant:
		return appendConstant(dst, e)
	case *Null:
		return append(dst, "NULL"...)
	case *Bind:
		if e.Name == "" {
			return append(dst, '?')
		}
		return AppendIdent(append(dst, ':'), e.Name)
	case *List:
		return append(appendExprs(append(dst, '['), e.Elems), ']')
	case *Set:
		return append(appendExprs(append(dst, '{'), e.Elems), '}')
	case *Tuple:
		return append(appendExprs(append(dst, '('), e.Elems), ')')
	case *Map:
		dst = append(dst, '{')
		for i, entry := range e.Entries {
			dst = comma(dst, i)
			dst = append(appendExpr(dst, entry.Key, 0), ": "...)
			dst = appendExpr(dst, entry.Value, 0)
		}
		return append(dst, '}')
	case *UDT:
		dst = append(dst, '{')
		for i, f := range e.Fields {
			dst = comma(dst, i)
			dst = append(AppendIdent(dst, f.Name), ": "...)
			dst = appendExpr(dst, f.Value, 0)
		}
		return append(dst, '}')
	case *Hint:
		dst = append(AppendType(append(dst, '('), e.Type), ") "...)
		return appendExpr(dst, e.Expr, 4)
	case *Call:
		return appendCall(dst, e)
	case *Cast:
		dst = append(appendExpr(append(dst, "CAST("...), e.Expr, 0), " AS "...)
		return append(AppendType(dst, e.Type), ')')
	case *Binary:
		s := strength[e.Op]
		if s < min {
			return append(appendExpr(append(dst, '('), e, 0), ')')
		}
		dst = append(appendExpr(dst, e.Left, s), ' ')
		dst = append(append(dst, e.Op.String()...), ' ')
		return appendExpr(dst, e.Right, s+1)
	case *Negate:
		if min > 3 {
			return append(appendExpr(append(dst, '('), e, 0), ')')
		}
		return appendExpr(append(dst, "- "...), e.Expr, 3)
	case *Column:
		return AppendIdent(dst, e.Name)
	case *Field:
		dst = appendExpr(dst, e.Expr, 4)
		switch e.Expr.(type) {
		case *Constant, *Hint:
			dst = append(dst, ' ') // 1.a would begin a float
		}
		return AppendIdent(append(dst, '.'), e.Name)
	case *Element:
		dst = append(appendExpr(dst, e.Expr, 4), '[')
		return append(appendExpr(dst, e.Key, 0), ']')
	case *Range:
		dst = append(appendExpr(dst, e.Expr, 4), '[')
		if e.From != nil {
			dst = appendExpr(dst, e.From, 0)
		}
		dst = append(dst, " .. "...)
		if e.To != nil {
			dst = appendExpr(dst, e.To, 0)
		}
		return append(dst, ']')
	}
	return dst
}

func appendExprs(dst []byte, list []Expr) []byte {
	for i, e := range list {
		dst = comma(dst, i)
		dst = appendExpr(dst, e, 0)
	}
	return dst
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ", "...)
	}
	return dst
}

func appendConstant(dst []byte, c *Constant) []byte {
	switch c.Kind {
	case ConstString:
		return AppendString(dst, c.Text)
	case ConstHex:
		dst = append(dst, "0x"...)
	}
	return append(dst, c.Text...)
}

// columnPath reports whether e is a column, with or without modifiers.
func columnPath(e Expr) bool {
	for {
		switch x := e.(type) {
		case *Column:
			return x.Name != ""
		case *Field:
			e = x.Expr
		case *Element:
			e = x.Expr
		case *Range:
			e = x.Expr
		default:
			return false
		}
	}
}

func appendCall(dst []byte, c *Call) []byte {
	special := false
	switch k := lookup(c.Func.Name); k {
	case kWritetime, kMaxwritetime, kTTL:
		special = c.Func.Keyspace == "" && len(c.Args) == 1 && columnPath(c.Args[0])
	}
	if special {
		dst = append(dst, c.Func.Name...)
	} else {
		dst = appendFunction(dst, c.Func)
	}
	dst = append(dst, '(')
	if c.Star {
		dst = append(dst, '*')
	}
	return append(appendExprs(dst, c.Args), ')')
}

// AppendString appends s as a string literal.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	for i := strings.IndexByte(s, '\''); i >= 0; i = strings.IndexByte(s, '\'') {
		dst = append(append(dst, s[:i]...), "''"...)
		s = s[i+1:]
	}
	return append(append(dst, s...), '\'')
}

// AppendIdent appends a name as an identifier. It quotes a name that would be folded, is a reserved
// word, or is a word that can begin a select list.
func AppendIdent(dst []byte, name string) []byte {
	if plain(name) {
		if k := lookup(name); isIdent[k] && k != kJSON && k != kDistinct {
			return append(dst, name...)
		}
	}
	return appendQuoted(dst, name)
}

func appendQuoted(dst []byte, name string) []byte {
	dst = append(dst, '"')
	for i := strings.IndexByte(name, '"'); i >= 0; i = strings.IndexByte(name, '"') {
		dst = append(append(dst, name[:i]...), `""`...)
		name = name[i+1:]
	}
	return append(append(dst, name...), '"')
}

// plain reports whether s is an identifier that needs no quotes. Eight hexadecimal digits need
// quotes, because before a minus sign they would begin a UUID. So does expr, because with an
// opening parenthesis it is another token.
func plain(s string) bool {
	if s == "" || s[0]-'a' >= 26 || s == "expr" {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; c-'a' >= 26 && c-'0' >= 10 && c != '_' {
			return false
		}
	}
	return len(s) != 8 || hexRun(s, 0, 8) < 8
}

// AppendName appends a name, with its keyspace if it has one.
func AppendName(dst []byte, n Name) []byte {
	if n.Keyspace != "" {
		dst = append(AppendIdent(dst, n.Keyspace), '.')
	}
	return AppendIdent(dst, n.Name)
}

// appendFunction appends a function's name. Not every identifier may be one without quotes.
func appendFunction(dst []byte, n Name) []byte {
	if n.Keyspace != "" {
		dst = append(AppendIdent(dst, n.Keyspace), '.')
	}
	if plain(n.Name) && isFunction[lookup(n.Name)] {
		return append(dst, n.Name...)
	}
	return appendQuoted(dst, n.Name)
}

// appendUserType appends the name of a user-defined type. Not every identifier may be one without
// quotes.
func appendUserType(dst []byte, n Name) []byte {
	if n.Keyspace != "" {
		dst = append(AppendIdent(dst, n.Keyspace), '.')
	}
	if plain(n.Name) && isUserType[lookup(n.Name)] && !reservedTypes[n.Name] {
		return append(dst, n.Name...)
	}
	return appendQuoted(dst, n.Name)
}

// AppendType appends a type as CQL.
func AppendType(dst []byte, t TypeRef) []byte {
	if t.Frozen {
		t.Frozen = false
		return append(AppendType(append(dst, "frozen<"...), t), '>')
	}
	switch {
	case t.Custom:
		return AppendString(dst, t.Name.Name)
	case t.User:
		return appendUserType(dst, t.Name)
	}
	dst = append(dst, t.Name.Name...)
	if len(t.Params) == 0 {
		return dst
	}
	dst = append(dst, '<')
	for i, param := range t.Params {
		dst = comma(dst, i)
		dst = AppendType(dst, param)
	}
	if t.Dim != 0 || t.Name.Name == "vector" {
		dst = appendInt(append(dst, ", "...), t.Dim)
	}
	return append(dst, '>')
}
