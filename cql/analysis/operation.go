// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// set adds the operation of c = expr.
func (w *writeBuilder) set(c *schema.Column, e syntax.Expr) error {
	x, err := w.prepare(e, columnSpec(c))
	if err != nil {
		return err
	}
	if c.Type.Kind == value.Counter {
		return invalid("Cannot set the value of counter column %s (counters can only be incremented/decremented, not set)", c.Name)
	}
	w.Operations = append(w.Operations, Operation{Kind: Set, Column: c, Term: x})
	return nil
}

// assign adds the operation of one assignment in UPDATE … SET.
func (w *writeBuilder) assign(c *schema.Column, as *syntax.Assignment) error {
	switch {
	case as.Key != nil:
		return w.setElement(c, as)
	case as.Field != "":
		return w.setField(c, as)
	}
	if b, ok := as.Value.(*syntax.Binary); ok {
		if _, ok := b.Left.(*syntax.Column); ok {
			if b.Op == syntax.OpSub {
				return w.subtract(c, b.Right)
			}
			return w.addTo(c, b.Right)
		}
		if _, ok := b.Right.(*syntax.Column); ok {
			return w.prepend(c, b.Left)
		}
	}
	return w.set(c, as.Value)
}

// refuse returns the error for an operation that does not fit its column's type.
func refuse(operation, kind, column string) error {
	return invalid("Invalid operation (%s) for %s column %s", operation, kind, column)
}

func indexSpec(c *schema.Column) spec {
	return spec{name: "idx(" + c.Name + ")", t: value.Native(value.Int)}
}
func keySpec(c *schema.Column) spec {
	return spec{name: "key(" + c.Name + ")", t: c.Type.Elems[0]}
}
func valueSpec(c *schema.Column) spec {
	return spec{name: "value(" + c.Name + ")", t: c.Type.Elems[len(c.Type.Elems)-1]}
}

func (w *writeBuilder) setElement(c *schema.Column, as *syntax.Assignment) error {
	text := c.Name + "[" + w.text(as.Key) + "] = " + w.text(as.Value)
	switch {
	case !c.Type.Collection():
		return refuse(text, "non collection", c.Name)
	case c.Type.Frozen:
		return refuse(text, "frozen collection", c.Name)
	case c.Type.Kind == value.Set:
		return refuse(text, "set", c.Name)
	}
	key := keySpec(c)
	if c.Type.Kind == value.List {
		key = indexSpec(c)
	}
	o := Operation{Kind: SetElement, Column: c}
	var err error
	if o.Key, err = w.prepare(as.Key, key); err != nil {
		return err
	}
	if o.Term, err = w.prepare(as.Value, valueSpec(c)); err != nil {
		return err
	}
	w.Operations = append(w.Operations, o)
	return nil
}

func (w *writeBuilder) setField(c *schema.Column, as *syntax.Assignment) error {
	text := c.Name + "." + as.Field + " = " + w.text(as.Value)
	switch {
	case c.Type.Kind != value.UDT:
		return refuse(text, "non-UDT", c.Name)
	case c.Type.Frozen:
		return refuse(text, "frozen UDT", c.Name)
	}
	i := c.Type.Field(as.Field)
	if i < 0 {
		return invalid("UDT column %s does not have a field named %s", c.Name, as.Field)
	}
	x, err := w.prepare(as.Value, fieldSpec(columnSpec(c), i))
	if err != nil {
		return err
	}
	w.Operations = append(w.Operations, Operation{Kind: SetField, Column: c, Field: i, Term: x})
	return nil
}

// addTo adds the operation of c = c + expr.
func (w *writeBuilder) addTo(c *schema.Column, e syntax.Expr) error {
	text := c.Name + " = " + c.Name + " + " + w.text(e)
	t := c.Type
	if t.Collection() {
		if t.Frozen {
			return refuse(text, "frozen collection", c.Name)
		}
		kind := Put
		if t.Kind == value.List {
			kind = Append
		}
		x, err := w.prepare(e, columnSpec(c))
		if err != nil && t.Kind == value.Map {
			return invalid("Value for a map addition has to be a map, but was: '%s'", w.text(e))
		}
		if err != nil {
			return err
		}
		w.Operations = append(w.Operations, Operation{Kind: kind, Column: c, Term: x})
		return nil
	}
	kind := CounterAdd
	switch {
	case tupleLike(t):
		return refuse(text, "tuple", c.Name)
	case w.Conditional():
		if !summable(t) {
			return invalid("Invalid operation (%s) for non-numeric and non-text type %s", text, c.Name)
		}
		kind = AddToValue
	case t.Kind != value.Counter:
		return refuse(text, "non counter", c.Name)
	}
	x, err := w.prepare(e, columnSpec(c))
	if err != nil {
		return err
	}
	w.Operations = append(w.Operations, Operation{Kind: kind, Column: c, Term: x})
	return nil
}

// summable reports whether c = c + x may read c, in a conditional update.
func summable(t *value.Type) bool {
	switch t.Kind {
	case value.Tinyint, value.Smallint, value.Int, value.Bigint, value.Varint, value.Float, value.Double,
		value.Decimal, value.Counter, value.Ascii, value.Text:
		return true
	}
	return false
}

// subtract adds the operation of c = c - expr.
func (w *writeBuilder) subtract(c *schema.Column, e syntax.Expr) error {
	text := c.Name + " = " + c.Name + " - " + w.text(e)
	t := c.Type
	if !t.Collection() {
		if t.Kind != value.Counter {
			return refuse(text, "non counter", c.Name)
		}
		x, err := w.prepare(e, columnSpec(c))
		if err != nil {
			return err
		}
		w.Operations = append(w.Operations, Operation{Kind: CounterSubtract, Column: c, Term: x})
		return nil
	}
	if t.Frozen {
		return refuse(text, "frozen collection", c.Name)
	}
	s := columnSpec(c)
	if t.Kind == value.Map {
		s = spec{name: c.Name, t: value.SetOf(t.Elems[0], false)}
	}
	x, err := w.prepare(e, s)
	if err != nil && t.Kind == value.Map {
		return invalid("Value for a map substraction has to be a set, but was: '%s'", w.text(e))
	}
	if err != nil {
		return err
	}
	w.Operations = append(w.Operations, Operation{Kind: Discard, Column: c, Term: x})
	return nil
}

// prepend adds the operation of c = expr + c.
func (w *writeBuilder) prepend(c *schema.Column, e syntax.Expr) error {
	text := c.Name + " = " + w.text(e) + " - " + c.Name // Cassandra's message has this minus sign
	x, err := w.prepare(e, columnSpec(c))
	switch {
	case err != nil:
		return err
	case c.Type.Kind != value.List:
		return refuse(text, "non list", c.Name)
	case c.Type.Frozen:
		return refuse(text, "frozen list", c.Name)
	}
	w.Operations = append(w.Operations, Operation{Kind: Prepend, Column: c, Term: x})
	return nil
}

// deletion adds the operation of one item of DELETE.
func (w *writeBuilder) deletion(c *schema.Column, item syntax.DeleteItem) error {
	o := Operation{Kind: DeleteColumn, Column: c}
	t := c.Type
	switch {
	case item.Key != nil:
		if !t.Collection() {
			return invalid("Invalid deletion operation for non collection column %s", c.Name)
		}
		if t.Frozen {
			return invalid("Invalid deletion operation for frozen collection column %s", c.Name)
		}
		s := keySpec(c)
		switch t.Kind {
		case value.List:
			s = indexSpec(c)
		case value.Set:
			s = valueSpec(c)
		}
		o.Kind = DeleteElement
		var err error
		if o.Key, err = w.prepare(item.Key, s); err != nil {
			return err
		}
	case item.Field != "":
		if t.Kind != value.UDT {
			return invalid("Invalid field deletion operation for non-UDT column %s", c.Name)
		}
		if t.Frozen {
			return invalid("Frozen UDT column %s does not support field deletions", c.Name)
		}
		o.Kind, o.Field = DeleteField, t.Field(item.Field)
		if o.Field < 0 {
			return invalid("UDT column %s does not have a field named %s", c.Name, item.Field)
		}
	}
	w.Operations = append(w.Operations, o)
	return nil
}
