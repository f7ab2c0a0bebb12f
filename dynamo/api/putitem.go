// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// PutItem puts an item. The item replaces the one with the same key, if there is one.
type PutItem struct {
	Write
	Table     string
	Item      attribute.Item
	Condition *expression.Condition
}

// Operation implements Request.
func (*PutItem) Operation() string { return "PutItem" }

const putParameters = pReturnConsumedCapacity | pTableName | pItem | pConditionalOperator | pExpected | pReturnValues |
	pReturnItemCollectionMetrics | pReturnOnFailure | pConditionExpression | pExpressionAttributeValues | pExpressionAttributeNames

// Decode implements Request.
func (q *PutItem) Decode(d *Decoder, body []byte) error {
	var in input
	if err := d.read(body, &in, putParameters); err != nil {
		return err
	}
	var c constraints
	c.capacity(&in)
	c.table(in.table, "tableName")
	c.notNull(in.item != nil, "item")
	c.conditionalOperator(&in)
	c.expected(&in)
	c.returnValues(&in)
	c.metrics(&in)
	c.returnOnFailure(in.returnOnFailure, "returnValuesOnConditionCheckFailure")
	if err := c.err(); err != nil {
		return err
	}
	if err := in.checkMixing([]named{{"ConditionExpression", in.condition.given}}, []named{{"Expected", in.expected != nil}}); err != nil {
		return err
	}
	if err := in.item.Validate(); err != nil {
		return err
	}
	if v := in.returnValues; v.given && v.value != "ALL_OLD" && v.value != "NONE" {
		return exception.Invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	if err := checkSize(in.item); err != nil {
		return err
	}
	condition, err := in.writeCondition()
	if err != nil {
		return err
	}
	*q = PutItem{Write: in.write(), Table: in.table.value, Item: in.item, Condition: condition.condition}
	return nil
}

func (c *constraints) returnValues(in *input) {
	c.enum(in.returnValues, "returnValues", "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
}

// writeCondition returns the expressions of a write. If the write has no ConditionExpression, the
// condition is that of the older parameters.
func (in *input) writeCondition() (parsed, error) {
	older, err := in.legacyCondition()
	if err != nil {
		return parsed{}, err
	}
	out, err := in.parse()
	if err != nil {
		return out, err
	}
	if out.condition == nil {
		out.condition = older
	}
	return out, nil
}

// EachTable implements ItemRequest.
func (q *PutItem) EachTable(visit func(string)) { visit(q.Table) }

// Instead implements ItemRequest.
func (q *PutItem) Instead(key attribute.Item, _ string) Request {
	return &PutItem{Table: q.Table, Item: key}
}

// Describe implements ItemRequest.
func (q *PutItem) Describe() string {
	return line("PutItem", q.Table, "item", q.Item, "condition", q.Condition)
}
