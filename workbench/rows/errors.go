// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// BadRow is a row that cannot be used. A reader may skip it and continue.
type BadRow struct {
	Name   string // of the file
	Line   int    // where the row begins
	Reason string
}

func (e *BadRow) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Reason) }

// Unreadable is an error after which nothing can be read.
type Unreadable struct {
	Name string
	Line int // 0: the error is not about a line
	Err  error
	hint string
}

func (e *Unreadable) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Name, e.Err)
}

func (e *Unreadable) Unwrap() error { return e.Err }

// UnknownColumn is the error for a column that the data do not have.
type UnknownColumn struct {
	Name    string // of the file
	Line    int    // where the columns are named; 0: not on a line
	Column  string
	Columns []string // the columns of the data
}

func (e *UnknownColumn) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: there is no column %q", e.Name, e.Column)
	}
	return fmt.Sprintf("%s:%d: there is no column %q", e.Name, e.Line, e.Column)
}

// Hint returns the way out of an error of this package, or "".
func Hint(err error) string {
	var (
		unreadable *Unreadable
		unknown    *UnknownColumn
		bad        *BadRow
	)
	switch {
	case errors.As(err, &unreadable):
		return unreadable.hint
	case errors.As(err, &unknown):
		return unknown.hint()
	case errors.As(err, &bad) && strings.Contains(bad.Reason, "not UTF-8"):
		return "iconv -f ISO-8859-1 -t UTF-8, if that is what it is; --max-bad-rows N passes over up to N such rows"
	case errors.As(err, &bad):
		return "--max-bad-rows N passes over up to N such rows"
	}
	return ""
}

func (e *UnknownColumn) hint() string {
	if len(e.Columns) == 1 {
		for _, d := range []struct{ sign, flag string }{{";", "';'"}, {"\t", "tab"}, {"|", "'|'"}} {
			if strings.Contains(e.Columns[0], d.sign) {
				return fmt.Sprintf("the header is one field, %q: is the separator another? --delimiter %s", e.Columns[0], d.flag)
			}
		}
	}
	names := e.Columns
	const most = 20
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%.60q", n)
	}
	list := "the columns are " + strings.Join(quoted, ", ") + more
	if near := Nearest(e.Column, e.Columns); near != "" {
		return fmt.Sprintf("did you mean %q? %s", near, list)
	}
	return list
}

// Nearest returns the name among names that is most similar to name; "": none is similar.
func Nearest(name string, names []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, n := range names {
		if len(n) > 200 || len(name) > 200 {
			continue
		}
		d := distance([]rune(strings.ToLower(name)), []rune(strings.ToLower(strings.TrimSpace(n))))
		if d < least && d < max(len([]rune(n)), 1) {
			best, least = n, d
		}
	}
	return best
}

// distance returns how many characters must be inserted, removed, changed or swapped with their
// neighbour (optimal string alignment).
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = slices.Min([]int{last[j+1] + 1, row[j] + 1, last[j] + cost})
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
