// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/shard"
)

// Function is what is computed from columns.
type Function uint8

const (
	Column     Function = iota // the column itself
	Salt                       // the hash of a column modulo N
	Shard                      // write_sharding's hash murmur3: of one column or several
	CodePoints                 // write_sharding's hash code_points: likewise
	Minute                     // the minute of a column that is a time; so are the following
	Hour
	Day
	Month
	Year
	Random   // a number from 1 to N, drawn for each row; of no column
	Rollover // counts up each time that so many rows, N, have the other values of the key; of no column
)

var names = [...]string{
	Column: "", Salt: "salt", Shard: "shard", CodePoints: "code_points",
	Minute: "minute", Hour: "hour", Day: "day", Month: "month", Year: "year", Random: "random", Rollover: "rollover",
}

func (f Function) String() string { return names[f] }

// Computed says that the function hashes columns into a number of values.
func (f Function) Computed() bool { return f == Salt || f == Shard || f == CodePoints }

// Period says that the function is the period that a column's time is in.
func (f Function) Period() bool { return f >= Minute && f <= Year }

// most is the largest N of the function; 0 where it takes none.
func (f Function) most() int {
	switch {
	case f == Column, f.Period():
		return 0
	case f == Rollover:
		return MaxRollover
	}
	return shard.MaxShards
}

// MaxRollover is the most rows of a rollover.
const MaxRollover = 1_000_000_000

// usage is how the function is written.
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

// columns are how many columns the function takes.
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

// Layout is the layout whose shards a Shard or CodePoints part computes.
func (p *Part) Layout() *shard.Layout {
	l := &shard.Layout{By: p.Columns, N: p.N, Column: shard.DefaultColumn}
	if p.Function == CodePoints {
		l.Hash = shard.CodePoints
	}
	return l
}

// String is the part as Parse reads it.
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

// String is the expression as Parse reads it.
func (e *Expr) String() string {
	parts := make([]string, len(e.Parts))
	for i := range e.Parts {
		parts[i] = e.Parts[i].String()
	}
	return strings.Join(parts, ",")
}

// Columns are the columns that the expression needs, each once, as they come.
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

// special are the characters that end a bare name.
const special = `,()"`

// quote writes a name as Parse reads it.
func quote(name string) string {
	if name != "" && name == strings.TrimSpace(name) && !strings.ContainsAny(name, special) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
