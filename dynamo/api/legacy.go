// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// The parameters of the older API: Expected, AttributeUpdates, KeyConditions, QueryFilter and
// ScanFilter.

// legacyCondition is a Condition on an attribute.
type legacyCondition struct {
	attribute string
	operator  text
	values    []attribute.Value // nil: not given
}

// expected is an ExpectedAttributeValue of an attribute.
type expected struct {
	legacyCondition
	value      attribute.Value
	valueGiven bool
	exists     flag
}

// legacyUpdate is an AttributeValueUpdate of an attribute.
type legacyUpdate struct {
	attribute  string
	action     text
	value      attribute.Value
	valueGiven bool
}

func (d *Decoder) readValues(read func(*jsontext.Reader) attribute.Value) []attribute.Value {
	r := &d.reader
	if !attribute.EnterList(r) {
		return nil
	}
	out := []attribute.Value{}
	for r.Next() {
		out = append(out, read(r))
	}
	return out
}

func (d *Decoder) readConditions() []legacyCondition {
	r := &d.reader
	if !enterMap(r, "Condition") {
		return nil
	}
	out := []legacyCondition{}
	for r.Next() {
		c := legacyCondition{attribute: r.Name()}
		if enterElement(r, "Condition") {
			for r.Next() {
				d.readCondition(&c)
			}
		}
		out = append(out, c)
	}
	return out
}

// readCondition reads a member of a Condition. It skips members that a Condition does not have.
func (d *Decoder) readCondition(c *legacyCondition) {
	r := &d.reader
	switch {
	case r.Peek() == jsontext.Null:
		r.Null()
	case r.Name() == "AttributeValueList":
		c.values = d.readValues(d.attribute.ReadElement)
	case r.Name() == "ComparisonOperator":
		c.operator = readText(r)
	default:
		r.Skip()
	}
}

func (d *Decoder) readExpected() []expected {
	r := &d.reader
	if !enterMap(r, "ExpectedAttributeValue") {
		return nil
	}
	out := []expected{}
	for r.Next() {
		e := expected{legacyCondition: legacyCondition{attribute: r.Name()}}
		if enterElement(r, "ExpectedAttributeValue") {
			for r.Next() {
				switch {
				case r.Name() == "Value" && r.Peek() != jsontext.Null:
					e.value, e.valueGiven = d.attribute.ReadValue(r), true
				case r.Name() == "Exists":
					e.exists = readFlag(r)
				default:
					d.readCondition(&e.legacyCondition)
				}
			}
		}
		out = append(out, e)
	}
	return out
}

func (d *Decoder) readUpdates() []legacyUpdate {
	r := &d.reader
	if !enterMap(r, "AttributeValueUpdate") {
		return nil
	}
	out := []legacyUpdate{}
	for r.Next() {
		u := legacyUpdate{attribute: r.Name()}
		if enterElement(r, "AttributeValueUpdate") {
			for r.Next() {
				switch {
				case r.Name() == "Value" && r.Peek() != jsontext.Null:
					u.value, u.valueGiven = d.attribute.ReadValue(r), true
				case r.Name() == "Action":
					u.action = readText(r)
				default:
					r.Skip()
				}
			}
		}
		out = append(out, u)
	}
	return out
}

var comparisonOperators = []string{
	"IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH", "GE", "CONTAINS",
}

// conditions checks the names of attributes and the operators of a parameter.
func (c *constraints) conditions(conditions []legacyCondition, at string) {
	for _, cond := range conditions {
		c.attributeKey(cond.attribute, at)
		where := at + "." + cond.attribute + ".member.comparisonOperator"
		c.notNull(cond.operator.given, where)
		c.enum(cond.operator, where, comparisonOperators...)
	}
}

func (c *constraints) expected(in *input) {
	for _, e := range in.expected {
		c.attributeKey(e.attribute, "expected")
		c.enum(e.operator, "expected."+e.attribute+".member.comparisonOperator", comparisonOperators...)
	}
}

func (c *constraints) updates(in *input) {
	for _, u := range in.updates {
		c.attributeKey(u.attribute, "attributeUpdates")
		c.enum(u.action, "attributeUpdates."+u.attribute+".member.action", "ADD", "PUT", "DELETE")
	}
}

// checkCount returns an error if the operator does not take n values.
func (c *legacyCondition) checkCount(n int) error {
	ok := n == 1
	switch c.operator.value {
	case "NULL", "NOT_NULL":
		ok = n == 0
	case "BETWEEN":
		ok = n == 2
	case "IN":
		ok = n > 0
	}
	if !ok {
		return exception.InvalidParameters("Invalid number of argument(s) for the %s ComparisonOperator", c.operator.value)
	}
	return nil
}

// checkTypes returns an error if the values have different types.
func (c *legacyCondition) checkTypes() error {
	for _, v := range c.values {
		if v.Kind() != c.values[0].Kind() {
			return exception.InvalidParameters("AttributeValues inside AttributeValueList must be of same type")
		}
	}
	return nil
}

func (c *legacyCondition) checkBounds() error {
	if c.operator.value != "BETWEEN" {
		return nil
	}
	if order, ok := attribute.Compare(c.values[0], c.values[1]); ok && order > 0 {
		return exception.Invalid("The BETWEEN condition was provided a range where the lower bound is greater than the upper bound")
	}
	return nil
}

// takes reports whether the operator takes values of a type.
func (c *legacyCondition) takes(k attribute.Kind) bool {
	scalar := k == attribute.S || k == attribute.N || k == attribute.B
	switch c.operator.value {
	case "EQ", "NE":
		return true
	case "BEGINS_WITH":
		return k == attribute.S || k == attribute.B
	}
	return scalar
}

// errNoName is the error about an attribute without a name if AWS's own error is not known.
var errNoName = exception.Invalid("Empty attribute name")

// checkConditions checks KeyConditions, QueryFilter or ScanFilter.
func checkConditions(conditions []legacyCondition) error {
	for i := range conditions {
		c := &conditions[i]
		if c.attribute == "" {
			return errNoName
		}
		for _, v := range c.values {
			if err := v.Validate(); err != nil {
				return err
			}
		}
		if err := c.checkCount(len(c.values)); err != nil {
			return err
		}
		if err := c.checkTypes(); err != nil {
			return err
		}
		for _, v := range c.values {
			if !c.takes(v.Kind()) {
				return exception.InvalidParameters("ComparisonOperator %s is not valid for %s AttributeValue type", c.operator.value, v.Kind())
			}
		}
		if err := c.checkBounds(); err != nil {
			return err
		}
	}
	return nil
}

func convertConditions(conditions []legacyCondition) []expression.LegacyCondition {
	out := make([]expression.LegacyCondition, len(conditions))
	for i, c := range conditions {
		out[i] = expression.LegacyCondition{Attribute: c.attribute, Operator: c.operator.value, Values: c.values}
	}
	return out
}

// legacyFilter returns QueryFilter or ScanFilter as a condition.
func (in *input) legacyFilter(conditions []legacyCondition) *expression.Condition {
	return expression.FromLegacy(convertConditions(conditions), in.conditionalOperator.value == "OR")
}

// legacyCondition checks Expected and returns it as a condition.
func (in *input) legacyCondition() (*expression.Condition, error) {
	if in.conditionalOperator.given && len(in.expected) == 0 {
		return nil, exception.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	}
	conditions := make([]expression.LegacyCondition, 0, len(in.expected))
	for i := range in.expected {
		e := &in.expected[i]
		c, err := e.convert()
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	return expression.FromLegacy(conditions, in.conditionalOperator.value == "OR"), nil
}

func (e *expected) convert() (expression.LegacyCondition, error) {
	out := expression.LegacyCondition{Attribute: e.attribute}
	if e.attribute == "" {
		return out, errNoName
	}
	if e.values != nil && e.valueGiven {
		return out, exception.InvalidParameters("Value and AttributeValueList cannot be used together for Attribute: %s", e.attribute)
	}
	if e.operator.given {
		return out, e.convertOperator(&out)
	}
	if e.values != nil {
		return out, exception.InvalidParameters("AttributeValueList can only be used with a ComparisonOperator for Attribute: %s", e.attribute)
	}
	exists := !e.exists.given || e.exists.value
	switch {
	case exists && !e.valueGiven:
		shown := "null"
		if e.exists.given {
			shown = strconv.FormatBool(e.exists.value)
		}
		return out, exception.InvalidParameters("Value must be provided when Exists is %s for Attribute: %s", shown, e.attribute)
	case !exists && e.valueGiven:
		return out, exception.InvalidParameters("Value cannot be used when Exists is false for Attribute: %s", e.attribute)
	case !exists:
		out.Operator = "NULL"
		return out, nil
	}
	out.Operator, out.Values = "EQ", []attribute.Value{e.value}
	return out, e.value.Validate()
}

func (e *expected) convertOperator(out *expression.LegacyCondition) error {
	if e.exists.given {
		return exception.InvalidParameters("Exists and ComparisonOperator cannot be used together for Attribute: %s", e.attribute)
	}
	op := e.operator.value
	if op != "NULL" && op != "NOT_NULL" && e.values == nil && !e.valueGiven {
		return exception.InvalidParameters("Value or AttributeValueList must be used with ComparisonOperator: %s for Attribute: %s", op, e.attribute)
	}
	if e.valueGiven {
		e.values = []attribute.Value{e.value}
	}
	if err := e.checkCount(len(e.values)); err != nil {
		return err
	}
	for _, v := range e.values {
		if err := v.Validate(); err != nil {
			return err
		}
	}
	if err := e.checkTypes(); err != nil {
		return err
	}
	for _, v := range e.values {
		if !e.takes(v.Kind()) {
			return exception.InvalidParameters("ComparisonOperator %s is not valid for %s AttributeValue type", op, v.Kind())
		}
	}
	out.Operator, out.Values = op, e.values
	return e.checkBounds()
}

// legacyUpdate checks AttributeUpdates and returns it as an update.
func (in *input) legacyUpdate() (*expression.Update, error) {
	updates := make([]expression.LegacyUpdate, 0, len(in.updates))
	for _, u := range in.updates {
		if u.attribute == "" {
			return nil, errNoName
		}
		if u.valueGiven {
			if err := u.value.Validate(); err != nil {
				return nil, err
			}
		}
		k, action := u.value.Kind(), u.action.value
		switch {
		case !u.valueGiven && action != "DELETE":
			return nil, exception.InvalidParameters("Only DELETE action is allowed when no attribute value is specified")
		case u.valueGiven && action == "DELETE" && !k.IsSet():
			return nil, exception.InvalidParameters("DELETE action with value is not supported for the type %s", k)
		case u.valueGiven && action == "ADD" && k != attribute.L && k != attribute.N && !k.IsSet():
			return nil, exception.InvalidParameters("ADD action is not supported for the type %s", k)
		}
		updates = append(updates, expression.LegacyUpdate{Attribute: u.attribute, Action: action, Value: u.value})
	}
	if len(updates) == 0 {
		return nil, nil
	}
	return expression.UpdateFromLegacy(updates), nil
}
