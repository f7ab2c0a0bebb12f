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
	Line     int    // in the file, from 1; the line on which it begins
	Text     string // as written, on one line, without the rate
	Verb     Verb
	Table    string  // with its keyspace and a dot, if CQL gives one; "": not given
	Keyspace string  // of the table, in CQL; "": not given, or not CQL, where a name may have dots
	Index    string  // only of DynamoDB: the index that PartiQL names; "": the table itself
	Rate     float64 // per second; 0: not given

	Equal  []Bound // columns bound to one value, or to one of a list
	Ranges []Range // columns bound from below or above, or by their beginning
	Filter []Bound // columns restricted in another way, such as CONTAINS, !=, or FILTER
	Order  []Order // the requested order
	Limit  int64   // the most rows; 0: all
	Group  []Bound // GROUP BY and DISTINCT

	// Columns holds the columns that are read or written; nil: all, or not given.
	Columns []string
	// TTL is the number of seconds after which the written row expires; 0: never, or not given.
	TTL int64
	// Tokens says that it reads by ranges of tokens: the whole table, in parts.
	Tokens bool
	// Conditional says that the write has a condition (IF), so that it reads first.
	Conditional bool
	// Values holds the values of a CQL INSERT, in the order of Columns. It is nil for other statements.
	Values []Bound
	// Batch is the batch to which the statement belongs; nil: it stands alone.
	Batch *Batch

	source *statement // as in the file
}

// Bound is a column that is bound by equality.
type Bound struct {
	Column string
	Values int    // 1; of an IN, the length of its list, 0 for a marker
	Text   string // the literal; "" for a marker or a list
	Marker string // the name of a named marker of CQL; "" for anything else
}

// Range is a column that is bound from below, above or both. From and To are the literals; "":
// there is a marker or nothing.
type Range struct {
	Column   string
	Below    bool // has an upper bound
	Above    bool // has a lower bound
	From, To string
	Prefix   bool // begins_with
}

// Order is a column of ORDER BY. Column is "" for a DynamoDB query that reads its sort key
// backward, because it does not name the sort key.
type Order struct {
	Column string
	Desc   bool
}

// Writes reports whether the query is a write.
func (q *Query) Writes() bool { return q.Verb != Read }

// Bound returns the column's equality; nil: there is none.
func (q *Query) Bound(column string) *Bound {
	for i := range q.Equal {
		if q.Equal[i].Column == column {
			return &q.Equal[i]
		}
	}
	return nil
}

// Range returns the column's bounds; nil: there are none.
func (q *Query) Range(column string) *Range {
	for i := range q.Ranges {
		if q.Ranges[i].Column == column {
			return &q.Ranges[i]
		}
	}
	return nil
}

// names visits every place in which the query names a column.
func (q *Query) names(visit func(name *string)) {
	for _, list := range [][]Bound{q.Equal, q.Filter, q.Group, q.Values} {
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

// Resolve replaces the names in the query by the data's names, which may differ in case. The error
// is an *UnknownColumn.
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

// UnknownColumn is the error for a column that the data do not have.
type UnknownColumn struct {
	File    string // "" until the caller sets it
	Line    int
	At      int // characters from the line's beginning, from 1
	Column  string
	Columns []string // the columns of the data
}

func (e *UnknownColumn) Error() string {
	return fmt.Sprintf("%s: the data have no column %q", position(e.File, e.Line, e.At), e.Column)
}

// SyntaxError describes an error in a line.
type SyntaxError struct {
	File   string // "" until the caller sets it
	Line   int
	At     int // characters from the line's beginning, from 1
	Reason string
	Hint   string

	offset int // in the statement, in bytes; used until Line and At are known
}

func (e *SyntaxError) Error() string { return position(e.File, e.Line, e.At) + ": " + e.Reason }

func position(file string, line, at int) string {
	if file == "" {
		return fmt.Sprintf("line %d, column %d", line, at)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, at)
}

// place returns the byte at which a name first stands in a text as a whole word, or 0 if it does
// not.
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
