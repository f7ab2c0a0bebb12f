// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// named is the name of a request's parameter and whether the parameter was given.
type named struct {
	name  string
	given bool
}

func given(parameters []named) []string {
	var names []string
	for _, p := range parameters {
		if p.given {
			names = append(names, p.name)
		}
	}
	return names
}

// checkMixing refuses a request with both expressions and older parameters, and a request with
// placeholders but without expressions.
func (in *input) checkMixing(expressions, older []named) error {
	used := given(expressions)
	if len(used) > 0 {
		if mixed := given(older); len(mixed) > 0 {
			return exception.Invalid("Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {%s} Expression parameters: {%s}",
				strings.Join(mixed, ", "), strings.Join(used, ", "))
		}
	}
	if in.names != nil && len(used) == 0 {
		return exception.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if in.values == nil {
		return nil
	}
	var taking []string
	for _, e := range expressions {
		if e.name == string(expression.ProjectionExpression) {
			continue
		}
		if e.given {
			return nil
		}
		taking = append(taking, e.name)
	}
	verb := "is"
	if len(taking) > 1 {
		verb = "are"
	}
	if len(taking) > 0 {
		return exception.Invalid("ExpressionAttributeValues can only be specified when using expressions: %s %s null", strings.Join(taking, " and "), verb)
	}
	return nil
}

// parsed holds the expressions of a request.
type parsed struct {
	update       *expression.Update
	condition    *expression.Condition
	keyCondition *expression.KeyCondition
	filter       *expression.Condition
	projection   *expression.Projection
}

// parse parses the expressions of a request, in AWS's order.
func (in *input) parse() (parsed, error) {
	var out parsed
	if in.names == nil && in.values == nil && !in.update.given && !in.condition.given && !in.keyCondition.given &&
		!in.filter.given && !in.projection.given {
		return out, nil
	}
	p, err := expression.NewPlaceholders(in.names, in.values)
	if err != nil {
		return out, err
	}
	if in.update.given {
		if out.update, err = p.Update(in.update.value); err != nil {
			return out, err
		}
	}
	if in.condition.given {
		if out.condition, err = p.Condition(expression.ConditionExpression, in.condition.value); err != nil {
			return out, err
		}
	}
	if in.keyCondition.given {
		if out.keyCondition, err = p.KeyCondition(in.keyCondition.value); err != nil {
			return out, err
		}
	}
	if in.filter.given {
		if out.filter, err = p.Condition(expression.FilterExpression, in.filter.value); err != nil {
			return out, err
		}
	}
	if in.projection.given {
		if out.projection, err = p.Projection(in.projection.value); err != nil {
			return out, err
		}
	}
	return out, p.CheckUnused()
}

// projectAttributes returns AttributesToGet as a projection.
func projectAttributes(list []text) (*expression.Projection, error) {
	if list == nil {
		return nil, nil
	}
	paths := make([]expression.Path, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, t := range list {
		if t.value == "" {
			return nil, errNoName
		}
		if seen[t.value] {
			return nil, exception.InvalidParameters("Duplicate value in attribute name: %s", t.value)
		}
		seen[t.value] = true
		paths = append(paths, expression.Top(t.value))
	}
	return expression.Project(paths...), nil
}

// The values of enumerations. A check has refused all other texts before.

func (in *input) returnConsumedCapacity() ReturnConsumedCapacity {
	switch in.capacity.value {
	case "TOTAL":
		return CapacityTotal
	case "INDEXES":
		return CapacityIndexes
	}
	return CapacityNone
}

func (in *input) write() Write {
	w := Write{
		ReturnOnFailure: in.returnOnFailure.value == "ALL_OLD",
		Capacity:        in.returnConsumedCapacity(),
		Metrics:         in.metrics.value == "SIZE",
	}
	switch in.returnValues.value {
	case "ALL_OLD":
		w.Return = ReturnAllOld
	case "UPDATED_OLD":
		w.Return = ReturnUpdatedOld
	case "ALL_NEW":
		w.Return = ReturnAllNew
	case "UPDATED_NEW":
		w.Return = ReturnUpdatedNew
	}
	return w
}

// checkSize refuses an item that is too large. It does not need the table.
func checkSize(item attribute.Item) error {
	if item.Size() > attribute.MaxItemSize {
		return exception.Invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}
