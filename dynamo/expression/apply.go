// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

var (
	errPath    = exception.Invalid("The document path provided in the update expression is invalid for update")
	errType    = exception.Invalid("An operand in the update expression has an incorrect data type")
	errMissing = exception.Invalid("The provided expression refers to an attribute that does not exist in the item")
)

// Apply returns the item after the update. It does not change item. For an item that does not
// exist, the caller passes the key. The result may be too large, or have keys of wrong types;
// schema.Table checks that.
func (u *Update) Apply(item attribute.Item) (attribute.Item, error) {
	if u == nil {
		return item, nil
	}
	a := applying{whole: item}
	return a.change(&u.tree, item)
}

// applying is an update while it is applied.
type applying struct {
	whole attribute.Item // the item before the update, from which sources take values
	made  int            // how many elements the new lists and sets have
	size  int            // bytes of the values that actions have left at their paths
	sets  map[*attribute.Value]func(attribute.Value) bool
}

var errLong = exception.Invalid("Item size to update has exceeded the maximum allowed size")

// make counts the elements of a list or set that the update makes. A short expression can name a
// long list hundreds of times. Each element takes a byte of the item at least.
func (a *applying) make(n int) error {
	if a.made += n; a.made > attribute.MaxItemSize {
		return errLong
	}
	return nil
}

// keep counts the size of a value that is part of the updated item. A short expression can put one long
// value at hundreds of paths. keep ends the update before so large an item is built.
func (a *applying) keep(v attribute.Value) error {
	if a.size += v.Size(); a.size > attribute.MaxItemSize {
		return errLong
	}
	return nil
}

// change returns a map after the tree's actions.
func (a *applying) change(t *tree[action], fields attribute.Item) (attribute.Item, error) {
	out := make(attribute.Item, 0, len(fields)+len(t.fields))
	i := 0
	for _, b := range t.fields {
		for i < len(fields) && fields[i].Name < b.field {
			out = append(out, fields[i])
			i++
		}
		var old attribute.Value
		exists := i < len(fields) && fields[i].Name == b.field
		if exists {
			old = fields[i].Value
			i++
		}
		v, keep, err := a.changeValue(b.to, old, exists)
		if err != nil {
			return nil, err
		}
		if keep {
			out = append(out, attribute.Attribute{Name: b.field, Value: v})
		}
	}
	return append(out, fields[i:]...), nil
}

// changeValue returns a value after the tree's actions, and whether there still is one.
func (a *applying) changeValue(t *tree[action], old attribute.Value, exists bool) (v attribute.Value, keep bool, err error) {
	if t.end != nil {
		if v, keep, err = a.do(t.end, old, exists); keep && err == nil {
			err = a.keep(v)
		}
		return v, keep, err
	}
	switch {
	case exists && old.Kind() == attribute.M && t.items == nil:
		fields, err := a.change(t, old.Fields())
		return attribute.Map(fields), true, err
	case exists && old.Kind() == attribute.L && t.fields == nil:
		elems, err := a.changeList(t, old.Elems())
		return attribute.List(elems), true, err
	}
	return attribute.Value{}, false, errPath
}

// changeList returns a list after the tree's actions. Indexes are those of the list before the
// update. Values that are set beyond its end are appended in the order of their indexes.
func (a *applying) changeList(t *tree[action], elems []attribute.Value) ([]attribute.Value, error) {
	out := make([]attribute.Value, 0, len(elems)+len(t.items))
	i := 0
	for _, b := range t.items {
		for i < len(elems) && i < b.index {
			out = append(out, elems[i])
			i++
		}
		var old attribute.Value
		exists := i < len(elems)
		if exists {
			old = elems[i]
			i++
		}
		v, keep, err := a.changeValue(b.to, old, exists)
		if err != nil {
			return nil, err
		}
		if keep {
			out = append(out, v)
		}
	}
	return append(out, elems[i:]...), nil
}

// do carries out the action on the value at its path.
func (p *applying) do(a *action, old attribute.Value, exists bool) (v attribute.Value, keep bool, err error) {
	switch a.verb {
	case set:
		v, err = p.value(&a.to)
		return v, true, err
	case remove:
		return attribute.Value{}, false, nil
	}
	if exists && old.Kind() != a.with.Kind() {
		return attribute.Value{}, false, wrongType(a.mismatch)
	}
	if a.verb == del {
		if !exists {
			return attribute.Value{}, false, nil
		}
		left := p.subtract(old.Elems(), a.with)
		return attribute.Set(old.Kind(), left), len(left) > 0, nil
	}
	switch {
	case !exists:
		return a.with, true, nil
	case old.Kind() == attribute.N:
		v, err = attribute.Add(old, a.with)
		return v, true, err
	}
	if err := p.make(max(old.Len(), a.with.Len())); err != nil {
		return attribute.Value{}, false, err
	}
	return attribute.Set(old.Kind(), unite(old, a.with)), true, nil
}

func wrongType(instead *exception.Error) error {
	if instead != nil {
		return instead
	}
	return errType
}

// unite returns the elements of set v and those elements of w that v does not have.
func unite(v, w attribute.Value) []attribute.Value {
	out := append(make([]attribute.Value, 0, v.Len()+w.Len()), v.Elems()...)
	has := finder(v)
	for _, e := range w.Elems() {
		if !has(e) {
			out = append(out, e)
		}
	}
	return out
}

// subtract returns those elements that set w does not have.
func (a *applying) subtract(elems []attribute.Value, w attribute.Value) []attribute.Value {
	out := make([]attribute.Value, 0, len(elems))
	has := a.finder(w)
	for _, e := range elems {
		if !has(e) {
			out = append(out, e)
		}
	}
	return out
}

// finder calls the function finder once for each set, which many actions may name.
func (a *applying) finder(v attribute.Value) func(attribute.Value) bool {
	elems := v.Elems()
	if len(elems) == 0 {
		return finder(v)
	}
	has := a.sets[&elems[0]]
	if has == nil {
		if a.sets == nil {
			a.sets = map[*attribute.Value]func(attribute.Value) bool{}
		}
		has = finder(v)
		a.sets[&elems[0]] = has
	}
	return has
}

// finder returns a function that reports whether a set has an element.
func finder(v attribute.Value) func(attribute.Value) bool {
	const few = 16
	if v.Len() <= few {
		return v.Contains
	}
	all := make(map[string]bool, v.Len())
	for _, e := range v.Elems() {
		all[e.Text()] = true
	}
	return func(e attribute.Value) bool { return all[e.Text()] }
}

// value returns the source's value.
func (a *applying) value(s *source) (attribute.Value, error) {
	switch s.kind {
	case literalSource:
		return s.literal, nil
	case ifNotExists:
		if v, ok := s.path.Get(a.whole); ok {
			return v, nil
		}
		return a.value(&s.args[1])
	case pathSource:
		if v, ok := s.path.Get(a.whole); ok {
			return v, nil
		}
		return attribute.Value{}, errMissing
	}
	v, err := a.value(&s.args[0])
	if err != nil {
		return v, err
	}
	w, err := a.value(&s.args[1])
	if err != nil {
		return w, err
	}
	want := attribute.N
	if s.kind == listAppend {
		want = attribute.L
	}
	if v.Kind() != want || w.Kind() != want {
		return attribute.Value{}, wrongType(s.mismatch)
	}
	switch s.kind {
	case plus:
		return attribute.Add(v, w)
	case minus:
		return attribute.Subtract(v, w)
	}
	if err := a.make(v.Len() + w.Len()); err != nil {
		return attribute.Value{}, err
	}
	out := append(make([]attribute.Value, 0, v.Len()+w.Len()), v.Elems()...)
	return attribute.List(append(out, w.Elems()...)), nil
}
