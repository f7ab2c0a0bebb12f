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

// Write returns what an INSERT, UPDATE or DELETE asks for. Where an INSERT's
// condition fails, the error is ErrDuplicate.
func (s *Statement) Write(t *schema.Table, w api.Write) (api.Request, error) {
	w.Return = s.returns
	if s.kind == Insert {
		w.ReturnOnFailure = false // what there is already is not told
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

// ErrDuplicate is the error of an INSERT of what there is already.
var ErrDuplicate = exception.New(exception.DuplicateItem, "Duplicate primary key exists in table")

// absent is the condition that there is no item.
func (s *Statement) absent(t *schema.Table) *expression.Condition {
	var b expression.Builder
	return b.Function("attribute_not_exists", expression.PathOperand(expression.Top(t.HashName())))
}

// effect returns the condition and the update of an UPDATE or DELETE whose WHERE
// has a rest beside the key. An UPDATE is of what there is; a DELETE of what there
// is not does nothing.
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

// update returns what SET and REMOVE do.
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

// bound is the key attributes that a WHERE binds, and what else it says.
type bound struct {
	key  attribute.Item
	rest []condition
	// twice is a key attribute that has to have two values at once; empty: none.
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

// bind binds a key attribute; false says that it is bound to another value.
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

// bind returns what the statement's WHERE binds of a table's key.
func (s *Statement) bind(t *schema.Table, lists bool) *bound {
	b := &bound{lists: lists}
	if s.where != nil {
		b.collect(t, s.where)
	}
	return b
}

// oneKey returns the key of the one item that an UPDATE or DELETE is about.
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

// Get returns the read of the one item that a SELECT in a batch or transaction is
// of; how is the operation, for the message.
func (s *Statement) Get(t *schema.Table, how string, consistent bool) (*api.GetItem, *Selection, error) {
	notKey := exception.Invalid("Select statements within %s must specify the primary key in the where clause.", how)
	if s.where != nil {
		if r := newReader(t, t.Key); s.index == "" && r.keyed(s.where) {
			// What no read could serve is refused as that first.
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

// isKeyType says whether an error is about the type of a key, which reading the
// item tells in its own words.
func isKeyType(err error) bool {
	const about = "Key attribute's data type"
	m := exception.Of(err).Message
	return len(m) > len(about) && m[:len(about)] == about
}

// Action returns what the statement does in a transaction of writes. Where its
// WHERE does not bind the whole key, the key is what it binds, which the transaction
// refuses as it refuses wrong keys.
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

// CheckTransaction says what is wrong with the statement in a transaction, whatever
// its table.
func (s *Statement) CheckTransaction() error {
	switch {
	case s.returned:
		return exception.Invalid("RETURNING clause is not supported in ExecuteTransaction.")
	case s.kind == Select && s.index != "":
		return exception.Invalid("Reads on indices are not supported within transactions.")
	}
	return nil
}
