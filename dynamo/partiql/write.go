// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// Write returns the request of an INSERT, UPDATE or DELETE. If the condition of an INSERT's request
// fails, the statement's error is ErrDuplicate.
func (s *Statement) Write(t *schema.Table, w api.Write) (api.Request, error) {
	w.Return = s.returns
	if s.kind == Insert {
		w.ReturnOnFailure = false // the answer does not show the existing item
		return &api.PutItem{Write: w, Table: s.table, Item: s.item, Condition: s.absent(t)}, nil
	}
	k, err := s.oneKey(t)
	if err != nil {
		return nil, err
	}
	condition, update, err := s.effect(t, k.rest)
	if err != nil {
		return nil, err
	}
	if s.kind == Delete {
		return &api.DeleteItem{Write: w, Table: s.table, Key: k.key, Condition: condition}, nil
	}
	return &api.UpdateItem{Write: w, Table: s.table, Key: k.key, Update: update, Condition: condition}, nil
}

// ErrDuplicate is the error of an INSERT of an item that exists.
var ErrDuplicate = exception.New(exception.DuplicateItem, "Duplicate primary key exists in table")

// absent returns the condition that there is no item with this key.
func (s *Statement) absent(t *schema.Table) *expression.Condition {
	var b expression.Builder
	return b.Function("attribute_not_exists", expression.PathOperand(expression.Top(t.HashName())))
}

// effect returns the condition and the update of an UPDATE or DELETE. rest holds the conditions of
// WHERE beside the key. An UPDATE needs an existing item. A DELETE of an item that does not exist
// does nothing.
func (s *Statement) effect(t *schema.Table, rest []condition) (*expression.Condition, *expression.Update, error) {
	hash := operand{path: expression.Top(t.HashName())}
	if s.kind == Delete {
		if len(rest) == 0 {
			return nil, nil, nil
		}
		c, err := express([]condition{or{call{"attribute_not_exists", []operand{hash}}, and(rest)}})
		return c, nil, err
	}
	update, err := s.update()
	if err != nil {
		return nil, nil, err
	}
	c, err := express(append([]condition{call{"attribute_exists", []operand{hash}}}, rest...))
	return c, update, err
}

// update returns the update of the SET and REMOVE clauses.
func (s *Statement) update() (*expression.Update, error) {
	var b expression.Builder
	source := func(o operand) expression.Source { return expression.From(buildOperand(&b, o)) }
	for i := range s.changes {
		c := &s.changes[i]
		switch {
		case c.remove:
			b.Remove(c.path)
		case c.function == "set_add":
			b.AddToSet(c.path, c.args[1].literal)
		case c.function == "set_delete":
			b.RemoveFromSet(c.path, c.args[1].literal)
		case c.function == "list_append":
			b.Set(c.path, b.Append(source(c.args[0]), source(c.args[1])))
		case c.operator != "":
			b.Set(c.path, b.Sum(c.operator, source(c.args[0]), source(c.args[1])))
		default:
			b.Set(c.path, source(c.args[0]))
		}
	}
	return b.Update()
}

// bound holds the key attributes that a WHERE binds and its other conditions.
type bound struct {
	key  attribute.Item
	rest []condition
	// twice is a key attribute that would need two values at once; empty: none.
	twice string
	// lists says that a list of one value counts as that value.
	lists bool
}

func (b *bound) collect(t *schema.Table, c condition) {
	switch c := c.(type) {
	case and:
		for _, part := range c {
			b.collect(t, part)
		}
		return
	case compare:
		if name, v, op := c.sides(); op == "=" && t.Key.Has(name) && b.bind(name, v) {
			return
		}
	case in:
		if b.lists && len(c.list) == 1 && c.value.isAttribute() && c.literals() && t.Key.Has(c.value.path.Name) && b.bind(c.value.path.Name, c.list[0].literal) {
			return
		}
	}
	b.rest = append(b.rest, c)
}

// bind binds a key attribute. It returns false if the attribute is bound to another value.
func (b *bound) bind(name string, v attribute.Value) bool {
	was, ok := b.key.Get(name)
	if !ok {
		b.key = b.key.With(name, v)
		return true
	}
	if !was.Equal(v) {
		b.twice = name
		return false
	}
	return true
}

func (b *bound) whole(t *schema.Table) bool { return len(b.key) == len(t.Key.Hash)+len(t.Key.Range) }

// bind returns the key attributes that the statement's WHERE binds.
func (s *Statement) bind(t *schema.Table, lists bool) *bound {
	b := &bound{lists: lists}
	if s.where != nil {
		b.collect(t, s.where)
	}
	return b
}

// oneKey returns the key of the item that an UPDATE or DELETE changes.
func (s *Statement) oneKey(t *schema.Table) (*bound, error) {
	b := s.bind(t, false)
	switch {
	case !b.whole(t):
		return nil, exception.Invalid("Where clause does not contain a mandatory equality on all key attributes")
	case b.twice != "":
		return nil, exception.Invalid("Multiple conditions on same key %s. Only single item Update/Insert/Delete are supported", b.twice)
	}
	return b, nil
}

// Get returns the read of a SELECT in a batch or transaction, which must be of one item. how is the
// name of the operation, for the error message.
func (s *Statement) Get(t *schema.Table, how string, consistent bool) (*api.GetItem, *Selection, error) {
	notKey := exception.Invalid("Select statements within %s must specify the primary key in the where clause.", how)
	if s.where != nil {
		if r := newReader(t, t.Key); s.index == "" && r.keyed(s.where) {
			// A statement that no read could serve has that error first.
			if _, err := r.branches(s.where); err != nil && !isKeyType(err) {
				return nil, nil, err
			}
		}
	}
	b := s.bind(t, true)
	if s.index != "" || !b.whole(t) || b.twice != "" || len(b.rest) > 0 {
		return nil, nil, notKey
	}
	out := &Selection{columns: s.columns, filters: []*expression.Condition{nil}}
	out.paths = slices.ContainsFunc(s.columns, func(c column) bool { return len(c.path.Steps) > 0 })
	var read api.Read
	out.project(&read)
	return &api.GetItem{Table: s.table, Key: b.key, Projection: read.Projection, Consistent: consistent}, out, nil
}

// isKeyType reports whether an error is about the type of a key. The read of the item reports this
// error in its own words.
func isKeyType(err error) bool {
	const about = "Key attribute's data type"
	m := exception.Of(err).Message
	return len(m) > len(about) && m[:len(about)] == about
}

// Action returns the statement's action in a transaction of writes. If the statement's WHERE does
// not bind the whole key, the action has only a part of the key. The transaction then refuses it
// like any wrong key.
func (s *Statement) Action(t *schema.Table, onFailure bool) (api.TransactAction, error) {
	a := api.TransactAction{Table: s.table, ReturnOnFailure: onFailure}
	if s.kind == Insert {
		a.Kind, a.Item, a.Condition = api.TransactPut, s.item, s.absent(t)
		return a, nil
	}
	b := s.bind(t, false)
	a.Key = b.key
	if a.Key == nil {
		a.Key = attribute.Item{}
	}
	var err error
	switch s.kind {
	case Exists:
		a.Kind = api.TransactCheck
		if !b.whole(t) || len(b.rest) == 0 {
			return a, exception.Invalid("EXISTS() must contain a single item read with additional condition")
		}
		a.Condition, err = express(b.rest)
		return a, err
	case Delete:
		a.Kind = api.TransactDelete
	default:
		a.Kind = api.TransactUpdate
	}
	if b.twice != "" {
		a.Key = a.Key.Without(b.twice)
	}
	a.Condition, a.Update, err = s.effect(t, b.rest)
	return a, err
}

// CheckTransaction returns an error if the statement is not allowed in a transaction of any table.
func (s *Statement) CheckTransaction() error {
	switch {
	case s.returned:
		return exception.Invalid("RETURNING clause is not supported in ExecuteTransaction.")
	case s.kind == Select && s.index != "":
		return exception.Invalid("Reads on indices are not supported within transactions.")
	}
	return nil
}
