// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// analyzer analyses one statement of one table. It is built in layers: typing finds the types of
// expressions, terms prepares the terms, selectors types the selectors. The analyzer's own methods
// handle restrictions and order.
type analyzer struct{ selectors }

func analyzerOf(ks *schema.Keyspace, t *schema.Table, b *binds, m *memo) *analyzer {
	return &analyzer{selectors{terms: terms{typing: typing{ks: ks, table: t, memo: m}, binds: b}}}
}

// typing finds the types of expressions, and the functions that they call.
type typing struct {
	ks    *schema.Keyspace
	table *schema.Table

	// selecting is set while expressions are selectors, which may name columns.
	selecting bool

	// fault is an error that occurred while an argument was matched with a type.
	fault error

	// memo caches what is known of expressions. To resolve one call, the analyzer asks its
	// arguments about many types, and they ask their own arguments.
	memo *memo
}

// question identifies one question about an expression: does it fit a type, or which type does it
// have?
type question struct {
	e         syntax.Expr
	t         *value.Type // nil: the type that the expression has by itself
	selecting bool
}

type memo struct {
	matches   map[question]matched
	functions map[question]resolved
	exact     map[question]*value.Type
	fields    map[*string]map[string]int // of types with many fields, by their first field
}

type matched struct {
	m   eval.Match
	err error
}

type resolved struct {
	f    *eval.Function
	args []syntax.Expr
	err  error
}

func newMemo() *memo {
	return &memo{map[question]matched{}, map[question]resolved{}, map[question]*value.Type{}, nil}
}

// mostAnswers is how many answers a memo keeps for further expressions.
const mostAnswers = 1 << 10

// next begins an expression that shares no part with the ones before. It drops their answers if they
// are many: an answer takes more memory than the part of the text that it is about.
func (m *memo) next() {
	if len(m.matches)+len(m.functions)+len(m.exact) > mostAnswers {
		m.matches, m.functions, m.exact = map[question]matched{}, map[question]resolved{}, map[question]*value.Type{}
	}
}

// field returns the index of a UDT's field, or -1.
func (m *memo) field(t *value.Type, name string) int {
	if len(t.Fields) <= 16 {
		return t.Field(name)
	}
	fields := m.fields[&t.Fields[0]]
	if fields == nil {
		fields = make(map[string]int, len(t.Fields))
		for i, f := range t.Fields {
			fields[f] = i
		}
		if m.fields == nil {
			m.fields = map[*string]map[string]int{}
		}
		m.fields[&t.Fields[0]] = fields
	}
	if i, ok := fields[name]; ok {
		return i
	}
	return -1
}

// spec describes what a term is a value for. It corresponds to Cassandra's ColumnSpecification.
type spec struct {
	name   string
	t      *value.Type
	column *schema.Column // set if the term is a value of the column itself
}

func columnSpec(c *schema.Column) spec { return spec{c.Name, c.Type, c} }

// binds collects the statement's bind markers.
type binds struct {
	list    []Bind
	columns []*schema.Column // the column that each marker is a value for; nil for other markers
}

func (b *binds) add(m *syntax.Bind, t *schema.Table, s spec) {
	for len(b.list) <= m.Index {
		b.list = append(b.list, Bind{})
		b.columns = append(b.columns, nil)
	}
	name := s.name
	if m.Name != "" {
		name = m.Name
	}
	b.list[m.Index] = Bind{Keyspace: t.Keyspace, Table: t.Name, Name: name, Type: s.t}
	b.columns[m.Index] = s.column
}

// partitionKey returns the index of the marker of each component of the table's partition key; nil
// unless each component is one marker.
func (b *binds) partitionKey(t *schema.Table) []int {
	at := make([]int, len(t.PartitionKey))
	for i := range at {
		at[i] = -1
	}
	for i, c := range b.columns {
		if c != nil && c.Kind == schema.PartitionKey && t.Columns[c.Name] == c {
			at[c.Position] = i
		}
	}
	for _, i := range at {
		if i < 0 {
			return nil
		}
	}
	return at
}

// newAnalyzer finds the statement's table and returns an analyzer for it.
func newAnalyzer(s *schema.Schema, keyspace string, n syntax.Name, b *binds) (*analyzer, error) {
	if n.Keyspace != "" {
		keyspace = n.Keyspace
	}
	if keyspace == "" {
		return nil, invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
	}
	ks := s.Keyspaces[keyspace]
	if ks == nil {
		return nil, invalid("keyspace %s does not exist", keyspace)
	}
	t := ks.Tables[n.Name]
	if t == nil {
		return nil, invalid("table %s does not exist", n.Name)
	}
	return analyzerOf(ks, t, b, newMemo()), nil
}

// column returns the column of the table with this name.
func (a *typing) column(name string) (*schema.Column, error) {
	if c := a.table.Column(name); c != nil {
		return c, nil
	}
	return nil, invalid("Undefined column name %s in table %s.%s", quote(name), quote(a.table.Keyspace), quote(a.table.Name))
}

// quote formats a name as CQL does: in quotes, unless it is a lower-case word that is not reserved.
func quote(name string) string {
	plain := name != "" && name[0] >= 'a' && name[0] <= 'z' && !reserved[name]
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`add allow alter and apply asc authorize batch begin by columnfamily create
		default delete desc describe drop entries execute from full grant if in index infinity insert into is
		keyspace limit materialized mbean mbeans modify nan norecursive not null of on or order primary rename
		replace revoke schema select set table to token truncate unlogged unset update use using view where with`) {
		m[w] = true
	}
	return m
}()

// cell returns the position of a column among the fetched columns. It adds the column if it is
// missing.
func (a *selectors) cell(c *schema.Column) int {
	for i, f := range a.fetch {
		if f.Column == c {
			return i
		}
	}
	a.fetch = append(a.fetch, Fetched{Column: c})
	return len(a.fetch) - 1
}

// argument adapts an expression to eval.Arg, so that overloads can be resolved.
type argument struct {
	a *typing
	e syntax.Expr
}

func (g argument) Match(t *value.Type) eval.Match {
	m, err := g.a.match(g.e, t)
	if err != nil && g.a.fault == nil {
		g.a.fault = err
	}
	return m
}
func (g argument) Compatible() *value.Type { return g.a.compatible(g.e) }
func (g argument) String() string          { return g.a.text(g.e) }
func (g argument) Marker() bool            { _, ok := g.e.(*syntax.Bind); return ok }
func (g argument) Elements() int {
	if l, ok := g.e.(*syntax.List); ok && g.a.selecting {
		return len(l.Elems)
	}
	return -1
}

// resolve returns the function that a call, cast or operation means, and its arguments. The
// function is nil if it belongs to another keyspace. resolve caches the answer.
func (a *typing) resolve(e syntax.Expr, receiver *value.Type) (f *eval.Function, args []syntax.Expr, err error) {
	q := question{e, receiver, a.selecting}
	r, known := a.memo.functions[q]
	if !known {
		r.f, r.args, r.err = a.find(e, receiver)
		a.memo.functions[q] = r
	}
	return r.f, r.args, r.err
}

func (a *typing) find(e syntax.Expr, receiver *value.Type) (f *eval.Function, args []syntax.Expr, err error) {
	name, written, args, err := a.callee(e)
	if err != nil {
		return nil, nil, err
	}
	if name == "" {
		return nil, args, nil
	}
	list := make([]eval.Arg, len(args))
	for i, e := range args {
		list[i] = argument{a, e}
	}
	outer := a.fault
	a.fault = nil
	f, err = eval.Resolve(name, written, list, receiver, a.table)
	if a.fault != nil {
		err = a.fault
	}
	a.fault = outer
	return f, args, err
}

// callee returns the name of the function that an expression calls, the name as messages write it,
// and the arguments. The name is empty if the function belongs to another keyspace.
func (a *typing) callee(e syntax.Expr) (name, written string, args []syntax.Expr, err error) {
	switch e := e.(type) {
	case *syntax.Call:
		if e.Star {
			return "count_rows", "count_rows", nil, nil
		}
		written = e.Func.Name
		if e.Func.Keyspace != "" {
			written = e.Func.Keyspace + "." + written
			if e.Func.Keyspace != "system" {
				return "", written, e.Args, nil
			}
		}
		if a.selecting && e.Func.Name == "count" && len(e.Args) == 1 {
			if _, ok := e.Args[0].(*syntax.Constant); ok {
				return "count_rows", "count_rows", nil, nil
			}
		}
		return e.Func.Name, written, e.Args, nil
	case *syntax.Cast:
		t, err := ResolveType(e.Type, a.ks)
		if err != nil {
			return "", "", nil, err
		}
		name = eval.CastName(t)
		return name, "system." + name, []syntax.Expr{e.Expr}, nil
	case *syntax.Binary:
		name = eval.Operator(symbol(e.Op))
		return name, "system." + name, []syntax.Expr{e.Left, e.Right}, nil
	case *syntax.Negate:
		return eval.Negation, "system." + eval.Negation, []syntax.Expr{e.Expr}, nil
	}
	return "", "", nil, nil
}

func symbol(op syntax.Op) string {
	switch op {
	case syntax.OpAdd:
		return "+"
	case syntax.OpSub:
		return "-"
	case syntax.OpMul:
		return "*"
	case syntax.OpDiv:
		return "/"
	case syntax.OpMod:
		return "%"
	case syntax.OpEQ:
		return "="
	case syntax.OpLT:
		return "<"
	case syntax.OpLE:
		return "<="
	case syntax.OpGT:
		return ">"
	case syntax.OpGE:
		return ">="
	case syntax.OpNE:
		return "!="
	case syntax.OpIn:
		return "IN"
	case syntax.OpContains:
		return "CONTAINS"
	case syntax.OpContainsKey:
		return "CONTAINS KEY"
	case syntax.OpLike:
		return "LIKE"
	case syntax.OpIsNotNull:
		return "IS NOT"
	}
	return "?"
}
