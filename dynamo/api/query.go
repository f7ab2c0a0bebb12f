// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// Query reads items with one partition key from a table or index, in order.
type Query struct {
	Read
	KeyCondition *expression.KeyCondition
	Backward     bool // ScanIndexForward is false
}

// Operation implements Request.
func (*Query) Operation() string { return "Query" }

const queryParameters = pSelect | pIndexName | pReturnConsumedCapacity | pQueryFilter | pTableName | pConditionalOperator |
	pAttributesToGet | pLimit | pKeyConditions | pExclusiveStartKey | pConsistentRead | pScanIndexForward |
	pKeyConditionExpression | pFilterExpression | pProjectionExpression | pExpressionAttributeValues | pExpressionAttributeNames

// Decode implements Request.
func (q *Query) Decode(d *Decoder, body []byte) error {
	var in input
	if err := d.read(body, &in, queryParameters); err != nil {
		return err
	}
	var c constraints
	c.selection(&in)
	c.name(in.index, minName, "indexName")
	c.capacity(&in)
	c.conditions(in.queryFilter, "queryFilter")
	c.table(in.table, "tableName")
	c.conditionalOperator(&in)
	c.attributesToGet(in.attributesToGet, "attributesToGet")
	c.atLeast(in.limit, 1, "limit")
	c.conditions(in.keyConditions, "keyConditions")
	if err := c.err(); err != nil {
		return err
	}
	older := []named{
		{"AttributesToGet", in.attributesToGet != nil},
		{"QueryFilter", in.queryFilter != nil},
		{"ConditionalOperator", in.conditionalOperator.given},
		{"KeyConditions", in.keyConditions != nil && in.keyCondition.given},
	}
	err := in.checkMixing([]named{
		{"ProjectionExpression", in.projection.given},
		{"FilterExpression", in.filter.given},
		{"KeyConditionExpression", in.keyCondition.given},
	}, older)
	if err != nil {
		return err
	}
	if err := checkConditions(in.queryFilter); err != nil {
		return err
	}
	read, all, err := in.reading(in.queryFilter, "QueryFilter", func() error {
		if in.keyConditions == nil && !in.keyCondition.given {
			return exception.Invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if all.keyCondition == nil {
		if err := checkConditions(in.keyConditions); err != nil {
			return err
		}
		if n := len(in.keyConditions); n != 1 && n != 2 {
			return exception.Invalid("Conditions can be of length 1 or 2 only")
		}
		all.keyCondition = expression.KeyConditionFromLegacy(convertConditions(in.keyConditions))
	}
	*q = Query{Read: read, KeyCondition: all.keyCondition, Backward: in.forward.given && !in.forward.value}
	return nil
}

func (c *constraints) selection(in *input) {
	c.enum(in.selection, "select", "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
}

// reading checks the members that Query and Scan have in common. It calls more before it checks the
// expressions.
func (in *input) reading(older []legacyCondition, olderName string, more func() error) (Read, parsed, error) {
	projection, err := projectAttributes(in.attributesToGet)
	if err != nil {
		return Read{}, parsed{}, err
	}
	if in.conditionalOperator.given && len(older) == 0 {
		return Read{}, parsed{}, exception.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	}
	if err := checkStart(in.start); err != nil {
		return Read{}, parsed{}, err
	}
	if err := more(); err != nil {
		return Read{}, parsed{}, err
	}
	all, err := in.parse()
	if err != nil {
		return Read{}, parsed{}, err
	}
	read := Read{
		Table: in.table.value, Index: in.index.value, Filter: all.filter, FilterName: "Filter Expression", Projection: all.projection,
		Start: in.start, Limit: int(in.limit.value), Consistent: in.consistent.value, Capacity: in.returnConsumedCapacity(),
	}
	if len(older) > expression.MaxOperators { // each condition is checked on each item of a page
		return Read{}, parsed{}, exception.InvalidParameters("%s has too many conditions: %d; use at most %d", olderName, len(older), expression.MaxOperators)
	}
	if read.Filter == nil && len(older) > 0 {
		read.Filter, read.FilterName = in.legacyFilter(older), olderName
	}
	if read.Projection == nil {
		read.Projection = projection
	}
	read.Select, err = in.selected(read.Projection != nil)
	return read, all, err
}

// checkStart returns an error if the values of an ExclusiveStartKey are not valid. Only some of
// AWS's messages mention the start key.
func checkStart(start attribute.Item) error {
	err := start.Validate()
	if err == nil {
		return nil
	}
	message := exception.Of(err).Message
	for _, bare := range []string{"contains duplicates", "number set", "numeric value", "significant digits", "number with magnitude"} {
		if strings.Contains(message, bare) {
			return err
		}
	}
	return exception.Invalid("The provided starting key is invalid: %s", message)
}

// selected returns Select. It returns an error if Select does not agree with the projection and the
// index.
func (in *input) selected(projected bool) (Select, error) {
	switch v := in.selection.value; v {
	case "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT":
		if projected {
			which := "ProjectionExpression"
			if in.attributesToGet != nil {
				which = "AttributesToGet"
			}
			return 0, exception.Invalid("Cannot specify the %s when choosing to get %s", which, v)
		}
		if v == "ALL_PROJECTED_ATTRIBUTES" {
			if !in.index.given {
				return 0, exception.InvalidParameters("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
			}
			return SelectProjected, nil
		}
		if v == "COUNT" {
			return SelectCount, nil
		}
		return SelectAll, nil
	case "SPECIFIC_ATTRIBUTES":
		if !projected {
			return 0, exception.Invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
		}
		return SelectSpecific, nil
	}
	if projected {
		return SelectSpecific, nil
	}
	return SelectDefault, nil
}

// EachTable implements ItemRequest.
func (q *Query) EachTable(visit func(string)) { visit(q.Table) }

// Instead implements ItemRequest.
func (q *Query) Instead(_ attribute.Item, index string) Request {
	return &Query{Read: Read{Table: q.Table, Index: index, Limit: 1}, KeyCondition: q.KeyCondition}
}

// Describe implements ItemRequest.
func (q *Query) Describe() string {
	s := q.describe("Query", "key condition", q.KeyCondition)
	if q.Backward {
		s += " backward"
	}
	return s
}
