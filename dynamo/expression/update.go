// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Update is an UpdateExpression. A nil *Update changes nothing. All its actions read the item as it
// was before the update. Two paths of an update never overlap.
type Update struct {
	actions []action
	tree    tree[action]
	changes *Projection
}

// verb is the kind of an action. Each section of an UpdateExpression has one.
type verb uint8

const (
	set verb = iota
	remove
	add
	del
)

var verbs = [...]string{set: "SET", remove: "REMOVE", add: "ADD", del: "DELETE"}

// action changes the value at one path.
type action struct {
	verb verb
	path Path
	to   source          // set
	with attribute.Value // add, del

	mismatch *exception.Error // the error about wrong types; nil: errType
}

// source is an expression whose value SET assigns.
type source struct {
	kind    sourceKind
	literal attribute.Value
	path    Path
	args    []source // of the operators and functions

	mismatch *exception.Error // the error about wrong types; nil: errType
}

type sourceKind uint8

const (
	literalSource sourceKind = iota
	pathSource
	plus
	minus
	ifNotExists // of a path and a source
	listAppend
)

// newUpdate returns the update of actions whose paths do not overlap.
func newUpdate(actions []action) *Update {
	u := &Update{actions: actions}
	paths := make([]Path, len(actions))
	for i, a := range actions {
		paths[i] = a.path
	}
	eachInOrder(paths, func(i int) { u.tree.add(paths[i], actions[i]) })
	u.changes = Project(paths...)
	return u
}

// SetAttributes returns an update that sets top-level attributes and also does what another update
// does. then may be nil and must not name these attributes.
func SetAttributes(values attribute.Item, then *Update) *Update {
	var actions []action
	for _, v := range values {
		actions = append(actions, action{verb: set, path: Top(v.Name), to: source{literal: v.Value}})
	}
	if then != nil {
		actions = append(actions, then.actions...)
	}
	return newUpdate(actions)
}

// Changes returns the projection to the paths that the update names. Applied to the item before and
// after the update, it gives UPDATED_OLD and UPDATED_NEW.
func (u *Update) Changes() *Projection {
	if u == nil {
		return Project()
	}
	return u.changes
}

// OnlyRemoves reports whether the update only removes attributes, values at paths, or elements of
// sets. Such an update does not create an item that does not exist. An update without actions does.
func (u *Update) OnlyRemoves() bool {
	if u == nil {
		return false
	}
	for i := range u.actions {
		if v := u.actions[i].verb; v != remove && v != del {
			return false
		}
	}
	return len(u.actions) > 0
}

// Assigned returns the value that the update gives to a top-level attribute, as far as that is
// known without the item: the value of a SET or ADD or, for an operator or function, some value of
// its type. It returns an invalid value if nothing is known.
func (u *Update) Assigned(name string) attribute.Value {
	if u == nil {
		return attribute.Value{}
	}
	for i := range u.actions {
		a := &u.actions[i]
		if a.path.Name != name || len(a.path.Steps) > 0 {
			continue
		}
		switch a.verb {
		case set:
			return a.to.told()
		case add:
			return a.with
		}
	}
	return attribute.Value{}
}

func (s *source) told() attribute.Value {
	switch s.kind {
	case literalSource:
		return s.literal
	case plus, minus:
		return attribute.Int(0)
	case listAppend:
		return attribute.List(nil)
	}
	return attribute.Value{}
}

// Update parses an UpdateExpression.
func (p *Placeholders) Update(text string) (*Update, error) {
	begun, err := p.begin(UpdateExpression, text)
	if err != nil {
		return nil, err
	}
	q := updateParser{begun}
	var actions []action
	var paths []Path
	var seen [len(verbs)]bool
	for first := true; q.err == nil && (first || q.tok.kind != eof); first = false {
		v, ok := q.section()
		if !ok {
			q.syntax()
			break
		}
		if seen[v] {
			q.found.note(section, "The \"%s\" section can only be used once in an update expression;", verbs[v])
		}
		seen[v] = true
		for q.err == nil {
			a := q.action(v)
			q.checkPath(paths, a.path)
			paths = append(paths, a.path)
			actions = append(actions, a)
			if !q.take(",") {
				break
			}
		}
	}
	if err := q.end(updateOrder); err != nil {
		return nil, err
	}
	return newUpdate(actions), nil
}

// updateParser reads the sections of an update.
type updateParser struct{ *parser }

// section reads the keyword that begins a section.
func (q updateParser) section() (verb, bool) {
	for v, text := range verbs {
		if q.takeKeyword(text) {
			return verb(v), true
		}
	}
	return 0, false
}

func (q updateParser) action(v verb) action {
	a := action{verb: v, path: q.updatePath()}
	switch v {
	case set:
		q.expect("=")
		a.to = q.source()
	case add, del:
		if q.tok.kind != value {
			q.syntax()
			break
		}
		a.with = q.literal(valuePlaceholder)
		q.checkAmount(v, a.with.Kind())
	}
	return a
}

// updatePath reads a path. The path must not begin with the keyword of a section.
func (q updateParser) updatePath() Path {
	for _, text := range verbs {
		if q.isKeyword(text) {
			q.syntax()
			return Path{}
		}
	}
	return q.path()
}

// amountNames holds the names of types in AWS's messages about ADD and DELETE.
var amountNames = map[attribute.Kind]string{
	attribute.S: "STRING", attribute.N: "NUMBER", attribute.B: "BINARY", attribute.NULL: "NULL",
	attribute.BOOL: "BOOL", attribute.L: "LIST", attribute.M: "MAP",
}

func (q updateParser) checkAmount(v verb, k attribute.Kind) {
	if n := amountNames[k]; n != "" && !(v == add && k == attribute.N) {
		q.found.note(operandCount, "Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_ADD_OPERAND", verbs[v], n)
	}
}

// source reads the value of a SET.
func (q updateParser) source() source {
	if q.is("(") {
		// The parentheses are around the whole value or around its first operand.
		q.advance()
		s := q.source()
		q.expect(")")
		if s.kind == plus || s.kind == minus {
			return s
		}
		return q.sum(s)
	}
	return q.sum(q.sourceOperand(false))
}

func (q updateParser) sum(s source) source {
	kind, text := plus, "+"
	if q.is("-") {
		kind, text = minus, "-"
	}
	if !q.take(text) {
		return s
	}
	q.operator()
	if s.kind == listAppend {
		q.misused("list_append")
	}
	args := []source{s, q.sourceOperand(true)}
	for _, a := range args {
		if k := a.literal.Kind(); a.kind == literalSource && k != attribute.Invalid && k != attribute.N {
			q.wrongType(text, k)
		}
	}
	return source{kind: kind, args: args}
}

// sourceOperand reads a path, a value or a function, perhaps in parentheses. nested says that it is
// an operand of an operator or a function.
func (q updateParser) sourceOperand(nested bool) source {
	if q.take("(") {
		s := q.sourceOperand(nested)
		q.expect(")")
		return s
	}
	if q.tok.kind == value {
		return source{literal: q.literal(valuePlaceholder)}
	}
	if q.tok.kind == word {
		function := q.tok.text
		ahead := q.lexer
		if next := ahead.next(); next.kind == symbol && next.text == "(" {
			q.advance()
			q.advance()
			return q.sourceFunction(function, nested)
		}
	}
	return source{kind: pathSource, path: q.updatePath()}
}

func (q updateParser) sourceFunction(function string, nested bool) source {
	kind := ifNotExists
	switch operands := conditionFunctions[function]; {
	case function == "list_append":
		if kind = listAppend; nested {
			q.misused(function)
		}
	case function == "if_not_exists":
	case operands > 0:
		q.found.note(unknownFunction, "The function is not allowed in an update expression; function: %s", function)
	default:
		q.found.note(unknownFunction, "Invalid function name; function: %s", function)
	}
	var args []source
	for q.err == nil {
		args = append(args, q.sourceOperand(true))
		if !q.take(",") {
			break
		}
	}
	q.expect(")")
	s := source{kind: kind, args: args}
	switch {
	case len(args) != 2:
		q.found.note(operandType, "Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", function, len(args))
	case s.kind == ifNotExists:
		if args[0].kind != pathSource {
			q.found.note(operandType, "Operator or function requires a document path; operator or function: %s", function)
		}
		s.path = args[0].path
		if args[1].kind == pathSource && args[1].path.equal(s.path) {
			q.found.note(operandType, notDistinct, function, s.path)
		}
	default:
		for _, a := range args {
			if k := a.literal.Kind(); a.kind == literalSource && k != attribute.Invalid && k != attribute.L {
				q.wrongType(function, k)
			}
		}
	}
	return s
}

// misused notes that a function of updates is used as an operand but cannot be one.
func (q updateParser) misused(function string) {
	q.found.note(unknownFunction, "The function is not allowed to be used this way in an expression; function: %s", function)
}
