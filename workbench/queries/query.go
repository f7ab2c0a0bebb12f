// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"fmt"
	"strings"
)

// Verb is what a statement does.
type Verb uint8

const (
	Read   Verb = iota // SELECT, Query, GetItem, Scan
	Insert             // INSERT, PutItem
	Update
	Delete
)

func (v Verb) String() string { return [...]string{"read", "insert", "update", "delete"}[v] }

// Query is one statement.
type Query struct {
	Line  int    // in the file, from 1; where it begins
	Text  string // as it is written, on one line, without the rate
	Verb  Verb
	Table string  // keyspace.name, or name; "" where it is not said
	Index string  // of DynamoDB, where PartiQL says one; "" for the table itself
	Rate  float64 // a second; 0 where it is not said

	Equal  []Bound // columns that are bound to one value, or to some of a list
	Ranges []Range // columns that are bound from below or above, or by their beginning
	Filter []Bound // columns that are restricted in another way, such as CONTAINS, !=, or FILTER
	Order  []Order // what it asks to be ordered by
	Limit  int64   // rows at most; 0: all
	Group  []Bound // GROUP BY and DISTINCT

	// Columns are those that are read or written; nil: all, or not said.
	Columns []string
	// TTL is the seconds after which what is written is gone; 0: never, or not said.
	TTL int64
	// Tokens says that it reads by ranges of tokens: the whole table, in parts.
	Tokens bool
	// Conditional says that the write has a condition (IF): it reads first.
	Conditional bool

	source *statement // as it is in the file
}

// Bound is a column that is bound by equality.
type Bound struct {
	Column string
	Values int    // 1; of an IN, how many it lists, 0 where it is a marker
	Text   string // the literal, "" for a marker or a list
}

// Range is a column that is bound from below, above or both. From and To are the
// literals, "" where there is a marker or nothing.
type Range struct {
	Column   string
	Below    bool // has an upper bound
	Above    bool // has a lower bound
	From, To string
	Prefix   bool // begins_with
}

// Order is a column of ORDER BY. Column is "" for a DynamoDB query that goes
// backward over its sort key, whichever that is.
type Order struct {
	Column string
	Desc   bool
}

// Writes says whether it is a write.
func (q *Query) Writes() bool { return q.Verb != Read }

// Bound returns the column's equality, nil where it has none.
func (q *Query) Bound(column string) *Bound {
	for i := range q.Equal {
		if q.Equal[i].Column == column {
			return &q.Equal[i]
		}
	}
	return nil
}

// Range returns the column's bounds, nil where it has none.
func (q *Query) Range(column string) *Range {
	for i := range q.Ranges {
		if q.Ranges[i].Column == column {
			return &q.Ranges[i]
		}
	}
	return nil
}

// names are all places where the query names a column.
func (q *Query) names(visit func(name *string)) {
	for _, list := range [][]Bound{q.Equal, q.Filter, q.Group} {
		for i := range list {
			visit(&list[i].Column)
		}
	}
	for i := range q.Ranges {
		visit(&q.Ranges[i].Column)
	}
	for i := range q.Order {
		if q.Order[i].Column != "" {
			visit(&q.Order[i].Column)
		}
	}
	for i := range q.Columns {
		visit(&q.Columns[i])
	}
}

// Resolve puts the data's names in place of those that the query has, which it may
// write in another case. The error is an *UnknownColumn.
func (q *Query) Resolve(columns []string) error {
	var failed error
	q.names(func(name *string) {
		folded, alike := "", 0
		for _, c := range columns {
			if c == *name {
				return
			}
			if strings.EqualFold(c, *name) {
				folded = c
				alike++
			}
		}
		switch {
		case alike == 1:
			*name = folded
		case failed == nil:
			unknown := &UnknownColumn{Line: q.Line, At: 1, Column: *name, Columns: columns}
			if q.source != nil {
				unknown.Line, unknown.At = q.source.at(place(q.source.text, *name))
			}
			failed = unknown
		}
	})
	return failed
}

// An UnknownColumn is a column that the data do not have.
type UnknownColumn struct {
	File    string // "" until the caller says it
	Line    int
	At      int // characters from the line's beginning, from 1
	Column  string
	Columns []string // what there is
}

func (e *UnknownColumn) Error() string {
	return fmt.Sprintf("%s: the data have no column %q", position(e.File, e.Line, e.At), e.Column)
}

// A SyntaxError is what is wrong with a line.
type SyntaxError struct {
	File   string // "" until the caller says it
	Line   int
	At     int // characters from the line's beginning, from 1
	Reason string
	Hint   string

	offset int // in the statement, in bytes, until Line and At are known
}

func (e *SyntaxError) Error() string { return position(e.File, e.Line, e.At) + ": " + e.Reason }

func position(file string, line, at int) string {
	if file == "" {
		return fmt.Sprintf("line %d, column %d", line, at)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, at)
}

// place is where a name first stands in a text, by itself; in bytes, 0 where it does not.
func place(text, name string) int {
	lower, want := strings.ToLower(text), strings.ToLower(name)
	if len(lower) != len(text) { // a character whose lower case has another length
		lower, want = text, name
	}
	for from := 0; want != ""; {
		i := strings.Index(lower[from:], want)
		if i < 0 {
			break
		}
		i += from
		end := i + len(want)
		if (i == 0 || !partOfName(lower[i-1])) && (end == len(lower) || !partOfName(lower[end])) {
			return i
		}
		from = i + 1
	}
	return 0
}

func partOfName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
