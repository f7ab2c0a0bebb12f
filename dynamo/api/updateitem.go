// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// UpdateItem changes the item with a key, or creates it.
type UpdateItem struct {
	Write
	Table     string
	Key       attribute.Item
	Update    *expression.Update // nil: nothing changes, but the item exists afterwards
	Condition *expression.Condition
}

// Operation implements Request.
func (*UpdateItem) Operation() string { return "UpdateItem" }

const updateParameters = pReturnConsumedCapacity | pTableName | pReturnItemCollectionMetrics | pReturnValues | pKey |
	pConditionalOperator | pExpected | pAttributeUpdates | pReturnOnFailure | pConditionExpression | pUpdateExpression |
	pExpressionAttributeValues | pExpressionAttributeNames

// Decode implements Request.
func (q *UpdateItem) Decode(d *Decoder, body []byte) error {
	var in input
	if err := d.read(body, &in, updateParameters); err != nil {
		return err
	}
	var c constraints
	c.capacity(&in)
	c.table(in.table, "tableName")
	c.metrics(&in)
	c.returnValues(&in)
	c.notNull(in.key != nil, "key")
	c.conditionalOperator(&in)
	c.expected(&in)
	c.updates(&in)
	c.returnOnFailure(in.returnOnFailure, "returnValuesOnConditionCheckFailure")
	if err := c.err(); err != nil {
		return err
	}
	err := in.checkMixing(
		[]named{{"UpdateExpression", in.update.given}, {"ConditionExpression", in.condition.given}},
		[]named{{"AttributeUpdates", in.updates != nil}, {"Expected", in.expected != nil}})
	if err != nil {
		return err
	}
	if err := in.key.Validate(); err != nil {
		return err
	}
	older, err := in.legacyUpdate()
	if err != nil {
		return err
	}
	all, err := in.writeCondition()
	if err != nil {
		return err
	}
	if err := in.values.ValidateNesting(); err != nil {
		return err
	}
	if all.update == nil {
		all.update = older
	}
	*q = UpdateItem{Write: in.write(), Table: in.table.value, Key: in.key, Update: all.update, Condition: all.condition}
	return nil
}

// EachTable implements ItemRequest.
func (q *UpdateItem) EachTable(visit func(string)) { visit(q.Table) }

// Instead implements ItemRequest.
func (q *UpdateItem) Instead(key attribute.Item, _ string) Request {
	return &UpdateItem{Table: q.Table, Key: key}
}

// Describe implements ItemRequest.
func (q *UpdateItem) Describe() string {
	return line("UpdateItem", q.Table, "key", q.Key, "update", q.Update, "condition", q.Condition)
}
