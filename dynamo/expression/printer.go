// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Printer writes expressions with placeholders for their names and values, and collects these. All
// expressions of one request are written with one Printer. The zero Printer is ready. The text has
// the same meaning as the parsed one. It is short, because the text of an expression has a limit
// (MaxSize): there are no unnecessary spaces, equal values share one placeholder, and a name that
// is no longer than its placeholder is written as it is.
type Printer struct {
	names  []Name
	values attribute.Item
	plain  bool // write names and values as they are, for people

	canonical bool // write the elements of sets in a fixed order
	exact     *hashes
}

// CanonicalPrinter returns a Printer that writes equal values in the same way.
func CanonicalPrinter() *Printer { return &Printer{canonical: true} }

// Names returns the placeholders of the names that were written; nil if there are none.
func (p *Printer) Names() []Name { return p.names }

// Values returns the placeholders of the values that were written; nil if there are none.
func (p *Printer) Values() attribute.Item {
	if p.values == nil {
		return nil
	}
	values := attribute.NewItem(slices.Clone(p.values)...)
	if p.canonical {
		values = values.Canonical()
	}
	return values
}

func (p *Printer) name(n string) string {
	switch {
	case p.exact != nil:
		return strconv.Quote(n)
	case p.plain:
		return n
	}
	for _, known := range p.names {
		if known.Attribute == n {
			return known.Placeholder
		}
	}
	placeholder := "#" + strconv.FormatInt(int64(len(p.names)), 36)
	if len(n) <= len(placeholder) && isPlain(n) {
		return n
	}
	p.names = append(p.names, Name{placeholder, n})
	return placeholder
}

func (p *Printer) value(v attribute.Value) string {
	switch {
	case p.exact != nil:
		return p.exact.of(v)
	case p.plain:
		return v.String()
	}
	for i := range p.values {
		if p.values[i].Value.Is(v) {
			return p.values[i].Name
		}
	}
	placeholder := ":" + strconv.FormatInt(int64(len(p.values)), 36)
	p.values = append(p.values, attribute.Attribute{Name: placeholder, Value: v})
	return placeholder
}

// isPlain reports whether a name can be written without a placeholder.
func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && !isReserved(name)
}

// symbol returns a symbol between operands. Only texts for people have spaces around it.
func (p *Printer) symbol(s string) string {
	if p.plain {
		return s
	}
	return strings.TrimSpace(s)
}

func (p *Printer) path(path Path) string {
	s := p.name(path.Name)
	for _, step := range path.Steps {
		if step.Index < 0 {
			s += "." + p.name(step.Field)
		} else {
			s += "[" + strconv.Itoa(step.Index) + "]"
		}
	}
	return s
}

// Condition writes a condition, which is not nil.
func (p *Printer) Condition(c *Condition) string { return p.node(c.root, false) }

func (p *Printer) node(n node, nested bool) string {
	var s string
	switch n := n.(type) {
	case andNode:
		s = p.join([]node(n), " AND ")
	case orNode:
		s = p.join([]node(n), " OR ")
	case notNode:
		return "NOT " + p.node(n.node, true)
	case *compareNode:
		return p.operand(&n.left) + p.symbol(" "+comparators[n.op]+" ") + p.operand(&n.right)
	case *betweenNode:
		return p.operand(&n.value) + " BETWEEN " + p.operand(&n.low) + " AND " + p.operand(&n.high)
	case *inNode:
		list := make([]string, len(n.list))
		s = p.operand(&n.value)
		for i := range n.list {
			list[i] = p.operand(&n.list[i])
		}
		p.inAnyOrder(list)
		return s + " IN (" + strings.Join(list, p.symbol(", ")) + ")"
	case *existsNode:
		if n.absent {
			return "attribute_not_exists(" + p.path(n.path) + ")"
		}
		return "attribute_exists(" + p.path(n.path) + ")"
	case *typeNode:
		return "attribute_type(" + p.operand(&n.path) + p.symbol(", ") + p.operand(&n.kind) + ")"
	case *beginsNode:
		return "begins_with(" + p.operand(&n.value) + p.symbol(", ") + p.operand(&n.prefix) + ")"
	case *containsNode:
		return "contains(" + p.operand(&n.value) + p.symbol(", ") + p.operand(&n.element) + ")"
	default:
		panic(fmt.Sprintf("expression: unknown condition %T", n))
	}
	if nested {
		return "(" + s + ")"
	}
	return s
}

func (p *Printer) join(nodes []node, operator string) string {
	parts := make([]string, len(nodes))
	for i, n := range nodes {
		parts[i] = p.node(n, true)
	}
	p.inAnyOrder(parts)
	return strings.Join(parts, operator)
}

func (p *Printer) operand(o *operand) string {
	switch o.kind {
	case literalOperand:
		return p.value(o.literal)
	case sizeOperand:
		return "size(" + p.path(o.path) + ")"
	case sizeOfLiteral:
		return "size(" + p.value(o.literal) + ")"
	}
	return p.path(o.path)
}

// KeyCondition writes a key condition.
func (p *Printer) KeyCondition(k *KeyCondition) string {
	parts := make([]string, len(k.terms))
	for i, t := range k.terms {
		n := p.name(t.name)
		switch t.op {
		case BeginsWith:
			parts[i] = "begins_with(" + n + p.symbol(", ") + p.value(t.low) + ")"
		case Between:
			parts[i] = n + " BETWEEN " + p.value(t.low) + " AND " + p.value(t.high)
		default:
			op := map[RangeOp]comparator{Equal: eq, Less: lt, LessOrEqual: le, Greater: gt, GreaterOrEqual: ge}[t.op]
			parts[i] = n + p.symbol(" "+comparators[op]+" ") + p.value(t.low)
		}
	}
	return strings.Join(parts, " AND ")
}

// Projection writes a projection, which is not nil.
func (p *Printer) Projection(projection *Projection) string {
	parts := make([]string, len(projection.paths))
	for i, path := range projection.paths {
		parts[i] = p.path(path)
	}
	return strings.Join(parts, p.symbol(", "))
}

// Update writes an update, which is not nil.
func (p *Printer) Update(u *Update) string {
	var sections []string
	for v, text := range verbs {
		var parts []string
		for i := range u.actions {
			a := &u.actions[i]
			if a.verb != verb(v) {
				continue
			}
			s := p.path(a.path)
			switch a.verb {
			case set:
				s += p.symbol(" = ") + p.source(&a.to)
			case add, del:
				s += " " + p.value(a.with)
			}
			parts = append(parts, s)
		}
		if parts != nil {
			p.inAnyOrder(parts)
			sections = append(sections, text+" "+strings.Join(parts, p.symbol(", ")))
		}
	}
	return strings.Join(sections, " ")
}

func (p *Printer) source(s *source) string {
	switch s.kind {
	case literalSource:
		return p.value(s.literal)
	case pathSource:
		return p.path(s.path)
	case plus:
		return p.source(&s.args[0]) + p.symbol(" + ") + p.source(&s.args[1])
	case minus:
		return p.source(&s.args[0]) + p.symbol(" - ") + p.source(&s.args[1])
	case ifNotExists:
		return "if_not_exists(" + p.path(s.path) + p.symbol(", ") + p.source(&s.args[1]) + ")"
	}
	return "list_append(" + p.source(&s.args[0]) + p.symbol(", ") + p.source(&s.args[1]) + ")"
}

// The String methods show names and values as they are, for people.

func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	return (&Printer{plain: true}).Condition(c)
}

func (k *KeyCondition) String() string { return (&Printer{plain: true}).KeyCondition(k) }

func (p *Projection) String() string {
	if p == nil {
		return ""
	}
	return (&Printer{plain: true}).Projection(p)
}

func (u *Update) String() string {
	if u == nil {
		return ""
	}
	return (&Printer{plain: true}).Update(u)
}
