// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// restriction turns one relation of a WHERE into a restriction.
func (a *analyzer) restriction(r *syntax.Relation) (*Restriction, error) {
	switch {
	case r.Token:
		return a.tokenRestriction(r)
	case r.Tuple:
		return a.tupleRestriction(r)
	}
	return a.columnRestriction(r)
}

// kindOf returns the kind of restriction that an operator makes.
func kindOf(op syntax.Op) RestrictionKind {
	switch op {
	case syntax.OpEQ:
		return EQ
	case syntax.OpIn:
		return IN
	case syntax.OpLT, syntax.OpLE, syntax.OpGT, syntax.OpGE:
		return Range
	case syntax.OpContains:
		return Contains
	case syntax.OpContainsKey:
		return ContainsKey
	case syntax.OpLike:
		return Like
	}
	return 0
}

// compare sets what an operator compares with: an end of a range, or the single term.
func (r *Restriction) compare(op syntax.Op, term eval.Expr) {
	switch op {
	case syntax.OpGT, syntax.OpGE:
		r.Start, r.StartInclusive, r.StartTuple = term, op == syntax.OpGE, r.Tuple
	case syntax.OpLT, syntax.OpLE:
		r.End, r.EndInclusive, r.EndTuple = term, op == syntax.OpLE, r.Tuple
	default:
		r.Term = term
	}
}

func (a *analyzer) columnRestriction(r *syntax.Relation) (*Restriction, error) {
	c, err := a.column(r.Columns[0])
	if err != nil {
		return nil, err
	}
	out := &Restriction{Kind: kindOf(r.Op), Columns: []*schema.Column{c}}
	switch r.Op {
	case syntax.OpNE:
		return nil, invalid(`Unsupported "!=" relation: %s`, a.relationText(r))
	case syntax.OpLT, syntax.OpLE, syntax.OpGT, syntax.OpGE:
		if err := sliceable(c.Type); err != nil {
			return nil, err
		}
	case syntax.OpLike:
		if r.Key != nil {
			return nil, invalid("LIKE can't be used with collections.")
		}
	}
	if err := a.checkReceiver(r, c); err != nil {
		return nil, err
	}
	s := columnSpec(c)
	switch r.Op {
	case syntax.OpContains, syntax.OpContainsKey:
		s = spec{name: "value(" + c.Name + ")", t: c.Type.Elems[len(c.Type.Elems)-1]}
		if r.Op == syntax.OpContainsKey {
			s = spec{name: "key(" + c.Name + ")", t: c.Type.Elems[0]}
		}
	}
	if r.Key != nil {
		return a.entryRestriction(r, c, out)
	}
	if r.Op == syntax.OpIn {
		return a.inRestriction(r, s, out)
	}
	term, err := a.prepare(r.Value, s)
	if err != nil {
		return nil, err
	}
	out.compare(r.Op, term)
	return out, nil
}

// sliceable refuses inequalities on types that contain durations, because durations have no order.
func sliceable(t *value.Type) error {
	if !t.Contains(value.Duration) {
		return nil
	}
	switch {
	case t.Collection():
		return invalid("Slice restrictions are not supported on collections containing durations")
	case t.Kind == value.Tuple:
		return invalid("Slice restrictions are not supported on tuples containing durations")
	case t.Kind == value.UDT:
		return invalid("Slice restrictions are not supported on UDTs containing durations")
	}
	return invalid("Slice restrictions are not supported on duration columns")
}

// checkReceiver verifies that the column's type allows the relation.
func (a *analyzer) checkReceiver(r *syntax.Relation, c *schema.Column) error {
	t := c.Type
	// Cassandra does not see the type of a descending column as a collection.
	switch {
	case r.Op == syntax.OpContainsKey && (t.Kind != value.Map || c.Desc):
		return invalid("Cannot use CONTAINS KEY on non-map column %s", c.Name)
	case r.Op == syntax.OpContains && (!t.Collection() || c.Desc):
		return invalid("Cannot use CONTAINS on non-collection column %s", c.Name)
	}
	if r.Key != nil {
		switch {
		case t.Kind == value.List:
			return invalid("Indexes on list entries (%s[index] = value) are not currently supported.", c.Name)
		case t.Kind != value.Map:
			return invalid("Column %s cannot be used as a map", c.Name)
		case t.Frozen:
			return invalid("Map-entry equality predicates on frozen map column %s are not supported", c.Name)
		case r.Op != syntax.OpEQ:
			return invalid("Only EQ relations are supported on map entries")
		}
	}
	if t.Kind == value.UDT && t.Multicell() {
		return invalid("Non-frozen UDT column '%s' (%s) cannot be restricted by any relation", c.Name, t)
	}
	if t.Multicell() && r.Key == nil && r.Op != syntax.OpContains && r.Op != syntax.OpContainsKey {
		return invalid("Collection column '%s' (%s) cannot be restricted by a '%s' relation", c.Name, t, symbol(r.Op))
	}
	return nil
}

// entryRestriction builds the restriction of c[key] = value.
func (a *analyzer) entryRestriction(r *syntax.Relation, c *schema.Column, out *Restriction) (*Restriction, error) {
	out.Kind = Entry
	var err error
	if out.Key, err = a.prepare(r.Key, spec{name: "key(" + c.Name + ")", t: c.Type.Elems[0]}); err != nil {
		return nil, err
	}
	out.Term, err = a.prepare(r.Value, spec{name: "value(" + c.Name + ")", t: c.Type.Elems[1]})
	return out, err
}

func (a *analyzer) inRestriction(r *syntax.Relation, s spec, out *Restriction) (*Restriction, error) {
	if r.Values == nil {
		list, err := a.prepare(r.Value, spec{name: "in(" + s.name + ")", t: value.ListOf(s.t, false)})
		out.List = list
		return out, err
	}
	return out, out.anyOf(r.Values, func(e syntax.Expr) (eval.Expr, error) { return a.prepare(e, s) })
}

// anyOf turns the restriction into one on the values of a written IN. An IN of one value becomes an
// EQ.
func (r *Restriction) anyOf(values []syntax.Expr, prepare func(syntax.Expr) (eval.Expr, error)) error {
	for _, v := range values {
		term, err := prepare(v)
		if err != nil {
			return err
		}
		r.Terms = append(r.Terms, term)
	}
	if len(r.Terms) == 1 {
		r.Kind, r.Term, r.Terms = EQ, r.Terms[0], nil
	}
	return nil
}

func (a *analyzer) tupleRestriction(r *syntax.Relation) (*Restriction, error) {
	out := &Restriction{Kind: kindOf(r.Op), Tuple: true}
	switch r.Op {
	case syntax.OpContains, syntax.OpContainsKey, syntax.OpLike:
		return nil, invalid("%s cannot be used for multi-column relations", symbol(r.Op))
	case syntax.OpNE:
		return nil, invalid(`Unsupported "!=" relation: %s`, a.relationText(r))
	}
	var specs []spec
	last := -1
	for _, name := range r.Columns {
		c, err := a.column(name)
		if err != nil {
			return nil, err
		}
		if c.Kind != schema.Clustering {
			return nil, invalid("Multi-column relations can only be applied to clustering columns but was applied to: %s", c.Name)
		}
		for _, seen := range out.Columns {
			if seen == c {
				return nil, invalid(`Column "%s" appeared twice in a relation: %s`, c.Name, a.relationText(r))
			}
		}
		if last >= 0 && c.Position != last+1 {
			return nil, invalid("Clustering columns must appear in the PRIMARY KEY order in multi-column relations: %s", a.relationText(r))
		}
		last = c.Position
		out.Columns = append(out.Columns, c)
		specs = append(specs, columnSpec(c))
	}
	if r.Op == syntax.OpIn {
		return a.tupleIn(r, specs, out)
	}
	term, err := a.components(r.Value, specs)
	if err != nil {
		return nil, err
	}
	out.compare(r.Op, term)
	return out, nil
}

func (a *analyzer) tupleIn(r *syntax.Relation, specs []spec, out *Restriction) (*Restriction, error) {
	if r.Values == nil {
		names := make([]string, len(specs))
		types := make([]*value.Type, len(specs))
		for i, s := range specs {
			names[i], types[i] = s.name, s.t
		}
		list, err := a.prepare(r.Value, spec{name: "in(" + strings.Join(names, ",") + ")", t: value.ListOf(value.TupleOf(types...), false)})
		out.List = list
		return out, err
	}
	return out, out.anyOf(r.Values, func(e syntax.Expr) (eval.Expr, error) { return a.components(e, specs) })
}
