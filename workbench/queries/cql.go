// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// parseCQL reads one CQL statement. For a batch it returns the statements in it.
func parseCQL(text string) ([]Query, *SyntaxError) {
	s, err := syntax.Parse(text)
	if err != nil {
		return nil, cqlError(text, err)
	}
	if b, ok := s.(*syntax.Batch); ok {
		return ofBatch(text, b)
	}
	q, bad := ofStatement(s)
	if bad != nil {
		return nil, bad
	}
	return []Query{q}, nil
}

// cqlError adds the place in the statement to Cassandra's error. Its columns count UTF-16 units
// from 0, and its message begins with them.
func cqlError(text string, err error) *SyntaxError {
	out := &SyntaxError{Reason: err.Error(), Hint: statementHint}
	var bad *syntax.SyntaxError
	if !errors.As(err, &bad) {
		return out
	}
	if bad.Line > 0 {
		out.offset = bytesOf(text, bad.Column)
	} else {
		out.offset = len(text)
	}
	if m := regexp.MustCompile(`^line \d+:-?\d+ `).FindString(bad.Message); m != "" {
		out.Reason = strings.TrimPrefix(bad.Message, m)
	}
	return out
}

// bytesOf returns how many bytes that many UTF-16 units take.
func bytesOf(text string, units int) int {
	for i, r := range text {
		if units <= 0 {
			return i
		}
		units--
		if r > 0xFFFF {
			units--
		}
	}
	return len(text)
}

func ofStatement(s syntax.Statement) (Query, *SyntaxError) {
	switch s := s.(type) {
	case *syntax.Select:
		return ofSelect(s)
	case *syntax.Insert:
		q := Query{Verb: Insert, Keyspace: s.Into.Keyspace, Table: qualified(s.Into), Columns: s.Columns, TTL: whole(s.Using.TTL), Conditional: s.IfNotExists, Values: values(s)}
		return q, nil
	case *syntax.Update:
		q := Query{Verb: Update, Keyspace: s.Table.Keyspace, Table: qualified(s.Table), TTL: whole(s.Using.TTL), Conditional: s.IfExists || len(s.If) > 0}
		for _, a := range s.Set {
			q.Columns = append(q.Columns, a.Column)
		}
		return q, q.where(s.Where)
	case *syntax.Delete:
		q := Query{Verb: Delete, Keyspace: s.From.Keyspace, Table: qualified(s.From), Conditional: s.IfExists || len(s.If) > 0}
		for _, i := range s.Items {
			q.Columns = append(q.Columns, i.Column)
		}
		return q, q.where(s.Where)
	}
	return Query{}, &SyntaxError{Reason: "is no SELECT, INSERT, UPDATE, DELETE or batch of these", Hint: "leave it out: only what reads and writes rows says which key is right"}
}

// qualified returns a table's name, with its keyspace if the statement has one.
func qualified(n syntax.Name) string {
	if n.Keyspace != "" {
		return n.Keyspace + "." + n.Name
	}
	return n.Name
}

func ofSelect(s *syntax.Select) (Query, *SyntaxError) {
	q := Query{Verb: Read, Keyspace: s.From.Keyspace, Table: qualified(s.From), Limit: whole(s.Limit)}
	if err := q.where(s.Where); err != nil {
		return q, err
	}
	for _, o := range s.OrderBy {
		if o.ANNOf != nil {
			return q, &SyntaxError{Reason: "ORDER BY … ANN OF is answered by a vector index, whatever the key is", Hint: "leave it out"}
		}
		q.Order = append(q.Order, Order{Column: o.Column, Desc: o.Desc})
	}
	for _, g := range s.GroupBy {
		for _, c := range columnsOf(g) {
			q.Group = append(q.Group, Bound{Column: c, Values: 1})
		}
	}
	for _, sel := range s.Selectors {
		cs := columnsOf(sel.Expr)
		if s.Distinct {
			for _, c := range cs {
				q.Group = append(q.Group, Bound{Column: c, Values: 1})
			}
		}
		q.Columns = append(q.Columns, cs...)
	}
	return q, nil
}

// where reads the restrictions.
func (q *Query) where(list []syntax.Relation) *SyntaxError {
	for _, r := range list {
		switch {
		case r.Token:
			q.Tokens = true
			continue
		case r.Index != "":
			continue
		case r.Key != nil, r.Op == syntax.OpContains, r.Op == syntax.OpContainsKey, r.Op == syntax.OpNE, r.Op == syntax.OpIsNotNull:
			for _, c := range r.Columns {
				q.Filter = append(q.Filter, Bound{Column: c, Values: 1})
			}
			continue
		}
		for i, c := range r.Columns {
			v := r.Value
			if r.Tuple {
				v = element(r.Value, i)
			}
			switch r.Op {
			case syntax.OpEQ:
				q.Equal = append(q.Equal, Bound{Column: c, Values: 1, Text: literal(v), Marker: markerName(v)})
			case syntax.OpIn:
				n := 0
				if r.Values != nil {
					n = len(r.Values)
				}
				q.Equal = append(q.Equal, Bound{Column: c, Values: n})
			case syntax.OpLike:
				q.bound(Range{Column: c, Below: true, Above: true, Prefix: true})
			case syntax.OpLT, syntax.OpLE:
				q.bound(Range{Column: c, Below: true, To: literal(v)})
			case syntax.OpGT, syntax.OpGE:
				q.bound(Range{Column: c, Above: true, From: literal(v)})
			default:
				return &SyntaxError{Reason: fmt.Sprintf("a restriction of %q that is not known here", c), Hint: "use =, IN, <, <=, >, >="}
			}
		}
	}
	return nil
}

// bound adds a bound to the bounds that the column already has.
func (q *Query) bound(r Range) {
	if have := q.Range(r.Column); have != nil {
		have.Below, have.Above, have.Prefix = have.Below || r.Below, have.Above || r.Above, have.Prefix || r.Prefix
		if r.From != "" {
			have.From = r.From
		}
		if r.To != "" {
			have.To = r.To
		}
		return
	}
	q.Ranges = append(q.Ranges, r)
}

func element(e syntax.Expr, i int) syntax.Expr {
	if t, ok := e.(*syntax.Tuple); ok && i < len(t.Elems) {
		return t.Elems[i]
	}
	return nil
}

// literal returns a constant's text, or "" for anything else.
func literal(e syntax.Expr) string {
	if c, ok := e.(*syntax.Constant); ok {
		return c.Text
	}
	return ""
}

// whole returns a positive integer constant, or 0 for anything else.
func whole(e syntax.Expr) int64 {
	n, err := strconv.ParseInt(literal(e), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return n
}

// columnsOf returns the columns that an expression names.
func columnsOf(e syntax.Expr) []string {
	switch e := e.(type) {
	case *syntax.Column:
		return []string{e.Name}
	case *syntax.Call:
		var out []string
		for _, a := range e.Args {
			out = append(out, columnsOf(a)...)
		}
		return out
	case *syntax.Cast:
		return columnsOf(e.Expr)
	case *syntax.Binary:
		return append(columnsOf(e.Left), columnsOf(e.Right)...)
	case *syntax.Negate:
		return columnsOf(e.Expr)
	case *syntax.Field:
		return columnsOf(e.Expr)
	case *syntax.Element:
		return columnsOf(e.Expr)
	case *syntax.Range:
		return columnsOf(e.Expr)
	case *syntax.Hint:
		return columnsOf(e.Expr)
	case *syntax.Tuple:
		var out []string
		for _, x := range e.Elems {
			out = append(out, columnsOf(x)...)
		}
		return out
	}
	return nil
}
