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
)

var names = []string{Column: "", Salt: "salt", Shard: "shard", CodePoints: "code_points"}

func (f Function) String() string { return names[f] }

// Part is one component of a key.
type Part struct {
	Function Function
	Columns  []string // one for Column and Salt
	N        int      // 1..shard.MaxShards; 0 for Column
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
	for _, c := range p.Columns {
		b.WriteString(quote(c) + ",")
	}
	fmt.Fprintf(&b, "%d)", p.N)
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
