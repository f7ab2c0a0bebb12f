// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// text formats an expression as Cassandra's messages do.
func (a *typing) text(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Constant:
		switch e.Kind {
		case syntax.ConstString:
			return "'" + e.Text + "'"
		case syntax.ConstHex:
			return "0x" + e.Text
		}
		return e.Text
	case *syntax.Null:
		return "NULL"
	case *syntax.Bind:
		return "?"
	case *syntax.List:
		return "[" + a.texts(e.Elems) + "]"
	case *syntax.Set:
		return "{" + a.texts(e.Elems) + "}"
	case *syntax.Tuple:
		return "(" + a.texts(e.Elems) + ")"
	case *syntax.Map:
		s := make([]string, len(e.Entries))
		for i, m := range e.Entries {
			s[i] = a.text(m.Key) + ": " + a.text(m.Value)
		}
		return "{" + strings.Join(s, ", ") + "}"
	case *syntax.UDT:
		s := make([]string, len(e.Fields))
		for i, f := range e.Fields {
			s[i] = f.Name + ": " + a.text(f.Value)
		}
		return "{" + strings.Join(s, ", ") + "}"
	case *syntax.Hint:
		if a.selecting {
			return "(" + hintText(e.Type, a.ks.Name) + ")" + a.text(e.Expr)
		}
		return "(" + typeText(e.Type) + ")" + a.text(e.Expr)
	case *syntax.Column:
		return e.Name
	case *syntax.Field:
		return a.text(e.Expr) + "." + e.Name
	case *syntax.Element:
		return a.text(e.Expr) + "[" + a.term().text(e.Key) + "]"
	case *syntax.Range:
		s := a.text(e.Expr) + "["
		if e.From != nil {
			s += a.term().text(e.From)
		}
		s += ".."
		if e.To != nil {
			s += a.term().text(e.To)
		}
		return s + "]"
	case *syntax.Call, *syntax.Cast, *syntax.Binary, *syntax.Negate:
		return a.callText(e)
	}
	return "?"
}

func (a *typing) texts(es []syntax.Expr) string {
	s := make([]string, len(es))
	for i, e := range es {
		s[i] = a.text(e)
	}
	return strings.Join(s, ", ")
}

// callText formats a call as messages do: a selector with its column's name, a term with the
// function's name as written.
func (a *typing) callText(e syntax.Expr) string {
	if c, ok := e.(*syntax.Cast); ok && a.selecting {
		return "cast(" + a.text(c.Expr) + " as " + strings.ToLower(typeText(c.Type)) + ")"
	}
	if c, ok := e.(*syntax.Call); ok && a.selecting && timesOf(c) {
		return c.Func.Name + "(" + a.text(c.Args[0]) + ")"
	}
	name, written, args, err := a.callee(e)
	if a.selecting && err == nil {
		if f, args, err := a.resolve(e, nil); err == nil && f != nil {
			s := make([]string, len(args))
			for i, arg := range args {
				s[i] = a.text(arg)
			}
			return f.ColumnName(s)
		}
	}
	if strings.HasPrefix(written, "system.") && name != "" {
		written = "system." + quote(name)
	}
	return written + "(" + a.texts(args) + ")"
}

// timesOf reports whether a call is writetime, maxwritetime or ttl of a column. They are not
// functions.
func timesOf(c *syntax.Call) bool {
	if c.Star || c.Func.Keyspace != "" || len(c.Args) != 1 {
		return false
	}
	_, ok := timesKinds[c.Func.Name]
	return ok
}

var timesKinds = map[string]eval.TimesKind{"writetime": eval.WriteTime, "maxwritetime": eval.MaxWriteTime, "ttl": eval.TTL}

// term returns the typing of terms within selectors.
func (a *typing) term() *typing {
	if !a.selecting {
		return a
	}
	t := *a
	t.selecting = false
	return &t
}

// typeText formats a type as written.
func typeText(r syntax.TypeRef) string {
	if r.Custom {
		return "'" + r.Name.Name + "'"
	}
	s := r.Name.Name
	if r.Name.Keyspace != "" {
		s = r.Name.Keyspace + "." + s
	}
	if len(r.Params) > 0 {
		p := make([]string, len(r.Params))
		for i, t := range r.Params {
			p[i] = typeText(t)
		}
		s += "<" + strings.Join(p, ", ")
		if r.Name.Name == "vector" {
			s += ", " + itoa(r.Dim)
		}
		s += ">"
	}
	if r.Frozen {
		return "frozen<" + s + ">"
	}
	return s
}

// hintText formats a selector's type hint as messages do: a user-defined type with its keyspace.
func hintText(r syntax.TypeRef, keyspace string) string {
	return typeText(qualified(r, keyspace))
}

func qualified(r syntax.TypeRef, keyspace string) syntax.TypeRef {
	_, native := nativeKinds[r.Name.Name]
	if !r.Custom && r.Name.Keyspace == "" && (r.User || len(r.Params) == 0 && !native) {
		r.Name.Keyspace = keyspace
	}
	params := make([]syntax.TypeRef, len(r.Params))
	for i, p := range r.Params {
		params[i] = qualified(p, keyspace)
	}
	r.Params = params
	return r
}

// relationText formats a relation as messages do.
func (a *typing) relationText(r *syntax.Relation) string {
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = quote(c)
	}
	left := strings.Join(names, ", ")
	switch {
	case r.Token:
		left = "token(" + left + ")"
	case r.Tuple:
		left = "(" + left + ")"
	case r.Key != nil:
		left += "[" + a.text(r.Key) + "]"
	}
	switch {
	case r.Op == syntax.OpIsNotNull:
		return left + " IS NOT NULL"
	case r.Op == syntax.OpIn && r.Values != nil:
		return left + " IN (" + a.texts(r.Values) + ")"
	}
	return left + " " + symbol(r.Op) + " " + a.text(r.Value)
}
