// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// KeyCondition is a KeyConditionExpression: conditions on single attributes, each with one or two
// values.
type KeyCondition struct {
	terms []keyTerm
}

type keyTerm struct {
	name      string
	op        RangeOp
	low, high attribute.Value
}

// RangeOp is the kind of condition on the last attribute of the sort key that a key condition
// names.
type RangeOp uint8

const (
	NoRange RangeOp = iota // no condition: all
	Equal
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	BeginsWith
	Between

	unindexable // operators of KeyConditions that a key cannot have: NE, IN, CONTAINS and the like
)

// KeyRange is the range that a key condition selects in one key schema: one partition key, and a
// range of its sort keys.
type KeyRange struct {
	Hash []attribute.Value // one for each attribute of the partition key

	// Prefix holds the values of the first attributes of the sort key, which an equality binds, up
	// to the attribute that Op is about. Prefix is empty unless the sort key has several
	// attributes.
	Prefix []attribute.Value

	Op        RangeOp
	Low, High attribute.Value // High: Between only
}

// KeyAttribute is an attribute of a key schema.
type KeyAttribute struct {
	Name string
	Type attribute.Kind
}

// KeyCondition parses a KeyConditionExpression.
func (p *Placeholders) KeyCondition(text string) (*KeyCondition, error) {
	root, err := p.condition(KeyConditionExpression, text)
	if err != nil {
		return nil, err
	}
	k := new(KeyCondition)
	if err := k.collect(root); err != nil {
		return nil, err
	}
	return k, nil
}

// collect adds the conditions of a tree to the key condition.
func (k *KeyCondition) collect(n node) error {
	const wrongOperator = "Invalid operator used in KeyConditionExpression: "
	switch n := n.(type) {
	case andNode:
		for _, c := range n {
			if err := k.collect(c); err != nil {
				return err
			}
		}
		return nil
	case orNode:
		return exception.Invalid(wrongOperator + "OR")
	case notNode:
		return exception.Invalid(wrongOperator + "NOT")
	case *inNode:
		return exception.Invalid(wrongOperator + "IN")
	case *existsNode:
		if n.absent {
			return exception.Invalid(wrongOperator + "attribute_not_exists")
		}
		return exception.Invalid(wrongOperator + "attribute_exists")
	case *typeNode:
		return exception.Invalid(wrongOperator + "attribute_type")
	case *containsNode:
		return exception.Invalid(wrongOperator + "contains")
	case *beginsNode:
		return k.add("begins_with", BeginsWith, n.value, n.prefix)
	case *betweenNode:
		return k.add("BETWEEN", Between, n.value, n.low, n.high)
	case *compareNode:
		if n.op == ne {
			return exception.Invalid(wrongOperator + "<>")
		}
		ops := [...]RangeOp{eq: Equal, lt: Less, le: LessOrEqual, gt: Greater, ge: GreaterOrEqual}
		mirrored := [...]RangeOp{eq: Equal, lt: Greater, le: GreaterOrEqual, gt: Less, ge: LessOrEqual}
		if n.left.kind == literalOperand && n.right.kind != literalOperand {
			return k.add("", mirrored[n.op], n.right, n.left)
		}
		return k.add("", ops[n.op], n.left, n.right)
	}
	panic(fmt.Sprintf("expression: unknown condition %T", n))
}

// add adds a condition whose first operand must be an attribute and whose other operands must be
// values. operator is the operator's name if its operands cannot change places, else "".
func (k *KeyCondition) add(operator string, op RangeOp, operands ...operand) error {
	const invalid = "Invalid condition in KeyConditionExpression: "
	paths := 0
	for _, o := range operands {
		if o.kind == sizeOperand || o.kind == sizeOfLiteral {
			return exception.Invalid("KeyConditionExpressions cannot contain nested operations")
		}
	}
	if operator != "" && operands[0].kind != pathOperand {
		return exception.Invalid(invalid+"%s operator must have the key attribute as its first operand", operator)
	}
	for _, o := range operands {
		if o.kind != pathOperand {
			continue
		}
		if paths++; paths > 1 {
			return exception.Invalid(invalid + "Multiple attribute names used in one condition")
		}
		if len(o.path.Steps) > 0 {
			return exception.Invalid("KeyConditionExpressions cannot have conditions on nested attributes")
		}
	}
	if paths == 0 {
		return exception.Invalid(invalid + "No key attribute specified")
	}
	t := keyTerm{name: operands[0].path.Name, op: op, low: operands[1].literal}
	if op == Between {
		t.high = operands[2].literal
	}
	if k.find(t.name) != nil {
		return exception.Invalid("KeyConditionExpressions must only contain one condition per key")
	}
	k.terms = append(k.terms, t)
	return nil
}

func (k *KeyCondition) find(name string) *keyTerm {
	for i := range k.terms {
		if k.terms[i].name == name {
			return &k.terms[i]
		}
	}
	return nil
}

// EqualTo returns the value that the condition requires an attribute to be equal to, if there is
// such a value.
func (k *KeyCondition) EqualTo(name string) (attribute.Value, bool) {
	if k == nil {
		return attribute.Value{}, false
	}
	if t := k.find(name); t != nil && t.op == Equal {
		return t.low, true
	}
	return attribute.Value{}, false
}

// Names returns the attributes that the condition names, in their order.
func (k *KeyCondition) Names() []string {
	names := make([]string, len(k.terms))
	for i, t := range k.terms {
		names[i] = t.name
	}
	return names
}

// For returns the range that the condition selects in a key schema. It returns AWS's error if the
// condition does not fit the schema: an equality must bind each attribute of the partition key, and
// each attribute of the sort key before the last one that the condition names.
func (k *KeyCondition) For(hash, sort []KeyAttribute) (KeyRange, error) {
	single := len(hash) == 1 && len(sort) <= 1
	if single && len(k.terms) > 2 {
		return KeyRange{}, exception.Invalid("Conditions can be of length 1 or 2 only")
	}
	if single && len(sort) == 0 && len(k.terms) > 1 {
		return KeyRange{}, exception.Invalid("Query key condition not supported")
	}
	r := KeyRange{Hash: make([]attribute.Value, 0, len(hash))}
	left := len(k.terms)
	for _, a := range hash {
		t := k.find(a.Name)
		if t == nil {
			return KeyRange{}, missed(a.Name)
		}
		if err := t.check(a); err != nil {
			return KeyRange{}, err
		}
		if t.op != Equal {
			return KeyRange{}, exception.Invalid("Query key condition not supported")
		}
		r.Hash = append(r.Hash, t.low)
		left--
	}
	for _, a := range sort {
		t := k.find(a.Name)
		if t == nil {
			if left > 0 {
				return KeyRange{}, missed(a.Name)
			}
			break
		}
		if err := t.check(a); err != nil {
			return KeyRange{}, err
		}
		if r.Op == Equal {
			r.Prefix = append(r.Prefix, r.Low)
		} else if r.Op != NoRange {
			// A Query could only filter by an attribute after the range.
			return KeyRange{}, exception.Invalid("Query key condition not supported")
		}
		r.Op, r.Low, r.High = t.op, t.low, t.high
		left--
	}
	if left > 0 {
		return KeyRange{}, exception.Invalid("Query key condition not supported")
	}
	return r, nil
}

func missed(name string) error {
	return exception.Invalid("Query condition missed key schema element: %s", name)
}

// check returns an error if the types of the condition's values differ from the schema's.
func (t *keyTerm) check(a KeyAttribute) error {
	if t.op == unindexable {
		return exception.Invalid("Attempted conditional constraint is not an indexable operation")
	}
	if t.low.Kind() != a.Type || t.op == Between && t.high.Kind() != a.Type {
		return exception.InvalidParameters("Condition parameter type does not match schema type")
	}
	if t.op == BeginsWith && a.Type == attribute.N {
		return exception.InvalidParameters("ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type")
	}
	if t.low.Text() == "" || t.op == Between && t.high.Text() == "" {
		return EmptyKey(a.Name, a.Type)
	}
	return nil
}

// EmptyKey returns AWS's error about a key attribute with an empty value.
func EmptyKey(name string, k attribute.Kind) error {
	return exception.Invalid("%s%s%s value. Key: %s", notValid, emptyKey, emptyName(k), name)
}

// EmptyIndexKey returns AWS's error about an item with an empty value in an index's key.
func EmptyIndexKey(index, name string, k attribute.Kind) error {
	return exception.Invalid("%sA value specified for a secondary index key is not supported. %s%s value. IndexName: %s, IndexKey: %s",
		notValid, emptyKey, emptyName(k), index, name)
}

// EmptyUpdatedKey returns AWS's error about an update that sets an index's key to an empty value.
func EmptyUpdatedKey(k attribute.Kind) error {
	return exception.Invalid("%sThe update expression attempted to update a secondary index key to a value that is not supported. %s%s value.",
		notValid, emptyKey, emptyName(k))
}

const (
	notValid = "One or more parameter values are not valid. "
	emptyKey = "The AttributeValue for a key attribute cannot contain an empty "
)

func emptyName(k attribute.Kind) string {
	if k == attribute.B {
		return "binary"
	}
	return "string"
}

// IsEmptyKey reports whether an error is about an empty key. A transaction with an empty key is
// refused as a whole. Other faults of a key are cancellation reasons of the transaction.
func IsEmptyKey(err error) bool {
	var e *exception.Error
	return errors.As(err, &e) && e.Kind == exception.Validation &&
		strings.HasPrefix(e.Message, notValid) && strings.Contains(e.Message, emptyKey)
}

// Match reports whether the values of a sort key, in their order, are in the range.
func (r *KeyRange) Match(sort []attribute.Value) bool {
	if len(sort) < len(r.Prefix) || !slices.EqualFunc(r.Prefix, sort[:len(r.Prefix)], attribute.Value.Equal) {
		return false
	}
	if r.Op == NoRange {
		return true
	}
	if len(sort) == len(r.Prefix) {
		return false
	}
	v := sort[len(r.Prefix)]
	switch r.Op {
	case Equal:
		return v.Equal(r.Low)
	case Less:
		return inOrder(lt, v, r.Low)
	case LessOrEqual:
		return inOrder(le, v, r.Low)
	case Greater:
		return inOrder(gt, v, r.Low)
	case GreaterOrEqual:
		return inOrder(ge, v, r.Low)
	case Between:
		return inOrder(ge, v, r.Low) && inOrder(le, v, r.High)
	}
	return v.Kind() == r.Low.Kind() && strings.HasPrefix(v.Text(), r.Low.Text())
}

// Condition returns the key condition that selects the range in a key schema. hash and sort are the
// names of the schema's attributes.
func (r *KeyRange) Condition(hash, sort []string) *KeyCondition {
	k := new(KeyCondition)
	for i, v := range r.Hash {
		k.terms = append(k.terms, keyTerm{name: hash[i], op: Equal, low: v})
	}
	for i, v := range r.Prefix {
		k.terms = append(k.terms, keyTerm{name: sort[i], op: Equal, low: v})
	}
	if r.Op != NoRange {
		k.terms = append(k.terms, keyTerm{name: sort[len(r.Prefix)], op: r.Op, low: r.Low, high: r.High})
	}
	return k
}
