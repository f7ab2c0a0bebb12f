// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// values turns an INSERT JSON into an INSERT of values, with one Set slot for each column. The store checks these
// values as it checks bound values. So it refuses an empty string for a number.
func (p *Write) values(s *syntax.Insert) {
	s.JSON, s.JSONUnset = nil, false
	p.columns = slices.Concat(p.Table.Statics, p.Table.Regulars)
	for i, c := range p.columns {
		s.Columns = append(s.Columns, c.Name)
		s.Values = append(s.Values, marker(Set, i))
	}
}

// set returns the values of the Set slots.
func (p *Write) set(b *analysis.BoundWrite) ([]eval.Value, error) {
	if p.columns == nil {
		return nil, nil
	}
	out := make([]eval.Value, len(p.columns))
	for i := range out {
		out[i].Unset = true
	}
	for _, o := range b.Operations {
		v, err := eval.Term(o.Term, b.Env)
		if err != nil {
			return nil, err
		}
		out[slices.Index(p.columns, o.Column)] = v
	}
	return out, nil
}
