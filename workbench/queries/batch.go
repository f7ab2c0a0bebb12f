// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// Batch is a BEGIN BATCH … APPLY BATCH of CQL. Its statements are queries of their own, one behind
// the other, and share this value.
type Batch struct {
	Text string // as written, on one line, without the rate
	Kind syntax.BatchKind
	// Conditional says that a statement in it has a condition (IF), which then holds for all of them.
	Conditional bool
}

// ofBatch reads the statements of a batch.
func ofBatch(text string, b *syntax.Batch) ([]Query, *SyntaxError) {
	of := &Batch{Text: text, Kind: b.Kind}
	var out []Query
	for _, part := range b.Statements {
		q, err := ofStatement(part)
		if err != nil {
			return nil, err
		}
		q.Text, q.Batch = syntax.Print(part), of
		of.Conditional = of.Conditional || q.Conditional
		out = append(out, q)
	}
	for i := range out {
		if of.Conditional && out[i].Table != out[0].Table {
			return nil, &SyntaxError{
				Reason: fmt.Sprintf("a batch with a condition (IF) that writes two tables, %s and %s: Cassandra refuses it", out[0].Table, out[i].Table),
				Hint:   "write one table in it, in one partition, and the other table in a statement of its own", offset: place(text, out[i].Table),
			}
		}
	}
	return out, nil
}

// Given returns the one value that a statement gives for a column. It returns nil if the statement
// gives no value, or several.
func (q *Query) Given(column string) *Bound {
	if q.Verb != Insert {
		if b := q.Bound(column); b != nil && b.Values == 1 {
			return b
		}
		return nil
	}
	for i := range q.Values {
		if q.Values[i].Column == column {
			return &q.Values[i]
		}
	}
	if len(q.Columns) == 0 { // it gives all columns, and does not say which
		return &Bound{Column: column, Values: 1}
	}
	return nil
}

// values returns what an INSERT gives for each column.
func values(s *syntax.Insert) (out []Bound) {
	for i, c := range s.Columns {
		b := Bound{Column: c, Values: 1}
		if i < len(s.Values) {
			b.Text, b.Marker = literal(s.Values[i]), markerName(s.Values[i])
		}
		out = append(out, b)
	}
	return out
}

// markerName returns the name of a named marker, or "" for anything else.
func markerName(e syntax.Expr) string {
	if b, ok := e.(*syntax.Bind); ok {
		return b.Name
	}
	return ""
}
