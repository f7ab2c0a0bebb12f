// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/shard"
)

// Function is the function that computes a component from columns.
type Function uint8

const (
	Column     Function = iota // the column itself
	Salt                       // the hash of a column modulo N
	Shard                      // write_sharding's hash murmur3 of one or several columns
	CodePoints                 // write_sharding's hash code_points of one or several columns
	Minute                     // the minute of a column that is a time; the following are longer periods
	Hour
	Day
	Month
	Year
	Random   // a number from 1 to N, drawn for each row; takes no column
	Rollover // counts up each time that N rows have the other values of the key; takes no column
)

var names = [...]string{
	Column: "", Salt: "salt", Shard: "shard", CodePoints: "code_points",
	Minute: "minute", Hour: "hour", Day: "day", Month: "month", Year: "year", Random: "random", Rollover: "rollover",
}

func (f Function) String() string { return names[f] }

// Computed reports whether the function hashes columns into a number of values.
func (f Function) Computed() bool { return f == Salt || f == Shard || f == CodePoints }

// Period reports whether the function takes the period of a column's time.
func (f Function) Period() bool { return f >= Minute && f <= Year }

// most returns the greatest N of the function; 0: it takes none.
func (f Function) most() int {
	switch {
	case f == Column, f.Period():
		return 0
	case f == Rollover:
		return MaxRollover
	}
	return shard.MaxShards
}

// MaxRollover is the greatest number of rows of a rollover.
const MaxRollover = 1_000_000_000

// usage returns the form in which the function is written.
func (f Function) usage() string {
	switch {
	case f.Period():
		return fmt.Sprintf("%s takes a column: %s(created_at)", f, f)
	case f == Random:
		return "random takes a number: random(200)"
	case f == Rollover:
		return "rollover takes a number of rows: rollover(100000)"
	}
	return fmt.Sprintf("%s takes a column and a number: %s(column, 200)", f, f)
}

// columns returns how many columns the function takes.
func (f Function) columns() (least, most int) {
	switch {
	case f == Random, f == Rollover:
		return 0, 0
	case f == Salt, f.Period():
		return 1, 1
	}
	return 1, maxParts
}

// Part is one component of a key.
type Part struct {
	Function Function
	Columns  []string // one for Column, Salt and periods; none for Random and Rollover
	N        int      // from 1; 0 for Column and periods
}

// Layout returns the layout whose shards a Shard or CodePoints part computes.
func (p *Part) Layout() *shard.Layout {
	l := &shard.Layout{By: p.Columns, N: p.N, Column: shard.DefaultColumn}
	if p.Function == CodePoints {
		l.Hash = shard.CodePoints
	}
	return l
}

// String formats the part as Parse reads it.
func (p *Part) String() string {
	if p.Function == Column {
		return quote(p.Columns[0])
	}
	var b strings.Builder
	b.WriteString(p.Function.String() + "(")
	for i, c := range p.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(c))
	}
	if p.Function.most() > 0 {
		if len(p.Columns) > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", p.N)
	}
	b.WriteByte(')')
	return b.String()
}

// Expr is a key expression.
type Expr struct{ Parts []Part }

// String formats the expression as Parse reads it.
func (e *Expr) String() string {
	parts := make([]string, len(e.Parts))
	for i := range e.Parts {
		parts[i] = e.Parts[i].String()
	}
	return strings.Join(parts, ",")
}

// Columns returns the columns that the expression needs, each once, in the order of their first
// use.
func (e *Expr) Columns() []string {
	var cols []string
	for _, p := range e.Parts {
		for _, c := range p.Columns {
			if !slices.Contains(cols, c) {
				cols = append(cols, c)
			}
		}
	}
	return cols
}

// special holds the characters that end a bare name.
const special = `,()"`

// quote formats a name as Parse reads it.
func quote(name string) string {
	if name != "" && name == strings.TrimSpace(name) && !strings.ContainsAny(name, special) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
