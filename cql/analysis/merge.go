// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// merged holds all that a WHERE says about the same columns: one restriction, or several CONTAINS,
// CONTAINS KEY and entries of one collection.
type merged struct {
	*Restriction
	more []*Restriction
}

func (m *merged) all() []*Restriction {
	return append([]*Restriction{m.Restriction}, m.more...)
}

// contains reports whether the restriction looks into a collection.
func (r *Restriction) contains() bool {
	return r.Kind == Contains || r.Kind == ContainsKey || r.Kind == Entry
}

func (r *Restriction) firstColumn() *schema.Column { return r.Columns[0] }
func (r *Restriction) lastColumn() *schema.Column  { return r.Columns[len(r.Columns)-1] }

// restrictions are the restrictions of one kind of column, by column.
type restrictions struct {
	by      map[*schema.Column]*merged
	columns []*schema.Column // the restricted columns, by position and name
	in      bool             // at least one is an IN
	slice   bool             // at least one is a Range
	inside  bool             // at least one looks into a collection
	other   bool             // at least one is neither EQ nor IN
}

func (s *restrictions) empty() bool { return len(s.columns) == 0 }

// groups returns the restrictions in the order of their first columns, each once.
func (s *restrictions) groups() []*merged {
	var out []*merged
	for _, c := range s.columns {
		if g := s.by[c]; len(out) == 0 || out[len(out)-1] != g {
			out = append(out, g)
		}
	}
	return out
}

// last returns the restriction of the last restricted column.
func (s *restrictions) last() *merged {
	if s.empty() {
		return nil
	}
	return s.by[s.columns[len(s.columns)-1]]
}

// add merges a restriction with those of the same columns.
func (s *restrictions) add(r *Restriction) error {
	if s.by == nil {
		s.by = map[*schema.Column]*merged{}
	}
	next := &merged{Restriction: r}
	var seen []*merged
	for _, c := range r.Columns {
		if g := s.by[c]; g != nil && !slices.Contains(seen, g) {
			seen = append(seen, g)
			m, err := g.merge(r)
			if err != nil {
				return err
			}
			next = m
		}
	}
	cols := r.Columns
	if len(next.Columns) > len(cols) {
		cols = next.Columns
	}
	for _, c := range cols {
		if s.by[c] == nil {
			at, _ := slices.BinarySearchFunc(s.columns, c, inOrder)
			s.columns = slices.Insert(s.columns, at, c)
		}
		s.by[c] = next
	}
	s.in = s.in || r.Kind == IN
	s.slice = s.slice || r.Kind == Range
	s.inside = s.inside || r.contains()
	s.other = s.other || r.Kind != EQ && r.Kind != IN
	return nil
}

func inOrder(x, y *schema.Column) int {
	if x.Position != y.Position {
		return x.Position - y.Position
	}
	return strings.Compare(x.Name, y.Name)
}

// merge adds a restriction of the same columns, if Cassandra allows that.
func (m *merged) merge(r *Restriction) (*merged, error) {
	tuple := m.Tuple || r.Tuple && !m.contains()
	names := inCommon(m.Restriction, r)
	switch {
	case m.Kind == EQ:
		return nil, invalid("%s cannot be restricted by more than one relation if it includes an Equal", names)
	case m.Kind == IN:
		return nil, invalid("%s cannot be restricted by more than one relation if it includes a IN", names)
	case m.Kind == Like:
		return nil, invalid("%s cannot be restricted by more than one relation if it includes a LIKE", names)
	case m.contains():
		if !r.contains() {
			return nil, invalid("Collection column %s can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality", m.firstColumn().Name)
		}
		return &merged{m.Restriction, append(m.more, r)}, nil
	}
	if r.Kind != Range {
		return nil, invalid(`Column "%s" cannot be restricted by both an equality and an inequality relation`, names)
	}
	if tuple && m.firstColumn() != r.firstColumn() {
		c := m.firstColumn()
		if r.firstColumn().Position > c.Position {
			c = r.firstColumn()
		}
		return nil, invalid(`Column "%s" cannot be restricted by two inequalities not starting with the same column`, c.Name)
	}
	if m.Start != nil && r.Start != nil {
		return nil, invalid("More than one restriction was found for the start bound on %s", names)
	}
	if m.End != nil && r.End != nil {
		return nil, invalid("More than one restriction was found for the end bound on %s", names)
	}
	both := *m.Restriction
	both.Tuple = tuple
	if len(r.Columns) > len(both.Columns) {
		both.Columns = r.Columns
	}
	if r.Start != nil {
		both.Start, both.StartInclusive, both.StartTuple = r.Start, r.StartInclusive, r.StartTuple
	} else {
		both.End, both.EndInclusive, both.EndTuple = r.End, r.EndInclusive, r.EndTuple
	}
	return &merged{Restriction: &both}, nil
}

// inCommon joins the names of the columns that both restrict.
func inCommon(m, r *Restriction) string {
	var names []string
	for _, c := range m.Columns {
		if slices.Contains(r.Columns, c) {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ,")
}

// mergeToken adds another restriction of the token.
func mergeToken(m, r *Restriction) (*Restriction, error) {
	var names []string
	for _, c := range m.Columns {
		names = append(names, c.Name)
	}
	list := strings.Join(names, ", ")
	switch {
	case m.Kind == EQ:
		return nil, invalid("%s cannot be restricted by more than one relation if it includes an Equal", list)
	case r.Kind != Range:
		return nil, invalid(`Columns "%s" cannot be restricted by both an equality and an inequality relation`, list)
	case m.Start != nil && r.Start != nil:
		return nil, invalid("More than one restriction was found for the start bound on %s", list)
	case m.End != nil && r.End != nil:
		return nil, invalid("More than one restriction was found for the end bound on %s", list)
	}
	both := *m
	if r.Start != nil {
		both.Start, both.StartInclusive = r.Start, r.StartInclusive
	} else {
		both.End, both.EndInclusive = r.End, r.EndInclusive
	}
	return &both, nil
}
