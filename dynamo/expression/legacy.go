// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// The parameters of the older API: conditions on single attributes by named operators, and updates
// by actions. The code that reads them has checked the number and the types of each operator's
// values.

// LegacyCondition is an element of Expected, QueryFilter, ScanFilter or KeyConditions.
type LegacyCondition struct {
	Attribute string
	Operator  string // EQ, NE, LE, LT, GE, GT, NOT_NULL, NULL, CONTAINS, NOT_CONTAINS, BEGINS_WITH, IN or BETWEEN
	Values    []attribute.Value
}

var legacyComparators = map[string]comparator{"EQ": eq, "NE": ne, "LE": le, "LT": lt, "GE": ge, "GT": gt}

func (c *LegacyCondition) node() node {
	path := operand{path: Top(c.Attribute)}
	literal := func(i int) operand { return operand{kind: literalOperand, literal: c.Values[i]} }
	switch c.Operator {
	case "NOT_NULL", "NULL":
		return &existsNode{path: path.path, absent: c.Operator == "NULL"}
	case "CONTAINS":
		return &containsNode{value: path, element: literal(0)}
	case "NOT_CONTAINS": // does not hold if the attribute does not exist; NE does
		return andNode{&existsNode{path: path.path}, notNode{&containsNode{value: path, element: literal(0)}}}
	case "BEGINS_WITH":
		return &beginsNode{value: path, prefix: literal(0)}
	case "IN":
		n := &inNode{value: path}
		for i := range c.Values {
			n.list = append(n.list, literal(i))
		}
		n.index()
		return n
	case "BETWEEN":
		return &betweenNode{value: path, low: literal(0), high: literal(1)}
	}
	return &compareNode{op: legacyComparators[c.Operator], left: path, right: literal(0)}
}

// FromLegacy returns the condition that all (or, with anyOf, any) of some conditions hold; nil if
// there are none.
func FromLegacy(conditions []LegacyCondition, anyOf bool) *Condition {
	nodes := make([]node, len(conditions))
	for i := range conditions {
		nodes[i] = conditions[i].node()
	}
	switch {
	case len(nodes) == 0:
		return nil
	case len(nodes) == 1:
		return &Condition{root: nodes[0]}
	case anyOf:
		return &Condition{root: orNode(nodes)}
	}
	return &Condition{root: andNode(nodes)}
}

var legacyRanges = map[string]RangeOp{
	"EQ": Equal, "LE": LessOrEqual, "LT": Less, "GE": GreaterOrEqual, "GT": Greater, "BEGINS_WITH": BeginsWith, "BETWEEN": Between,
}

// KeyConditionFromLegacy returns KeyConditions as a key condition. KeyCondition.For refuses
// operators that a key cannot have.
func KeyConditionFromLegacy(conditions []LegacyCondition) *KeyCondition {
	k := new(KeyCondition)
	for _, c := range conditions {
		t := keyTerm{name: c.Attribute, op: unindexable}
		if op, ok := legacyRanges[c.Operator]; ok {
			t.op, t.low = op, c.Values[0]
			if op == Between {
				t.high = c.Values[1]
			}
		}
		k.terms = append(k.terms, t)
	}
	return k
}

// LegacyUpdate is an element of AttributeUpdates.
type LegacyUpdate struct {
	Attribute string
	Action    string          // PUT, ADD or DELETE
	Value     attribute.Value // Invalid: none, which only DELETE allows
}

var errLegacyType = exception.Invalid("Type mismatch for attribute to update")

// UpdateFromLegacy returns AttributeUpdates as an update.
func UpdateFromLegacy(updates []LegacyUpdate) *Update {
	var actions []action
	for _, u := range updates {
		a := action{path: Top(u.Attribute), with: u.Value, mismatch: errLegacyType}
		switch {
		case u.Action == "ADD" && u.Value.Kind() == attribute.L:
			empty := source{literal: attribute.List(nil)}
			a.to = source{kind: listAppend, mismatch: errLegacyType, args: []source{
				{kind: ifNotExists, path: a.path, args: []source{{kind: pathSource, path: a.path}, empty}},
				{literal: u.Value},
			}}
		case u.Action == "ADD":
			a.verb = add
		case u.Action == "DELETE" && u.Value.Kind() == attribute.Invalid:
			a.verb = remove
		case u.Action == "DELETE":
			a.verb = del
		default:
			a.to = source{literal: u.Value}
		}
		actions = append(actions, a)
	}
	return newUpdate(actions)
}
