// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// DeleteItem deletes the item with a key, if it exists.
type DeleteItem struct {
	Write
	Table     string
	Key       attribute.Item
	Condition *expression.Condition
}

// Operation implements Request.
func (*DeleteItem) Operation() string { return "DeleteItem" }

const deleteParameters = pReturnConsumedCapacity | pTableName | pKey | pConditionalOperator | pExpected | pReturnValues |
	pReturnItemCollectionMetrics | pReturnOnFailure | pConditionExpression | pExpressionAttributeValues | pExpressionAttributeNames

// Decode implements Request.
func (q *DeleteItem) Decode(d *Decoder, body []byte) error {
	var in input
	if err := d.read(body, &in, deleteParameters); err != nil {
		return err
	}
	var c constraints
	c.capacity(&in)
	c.table(in.table, "tableName")
	c.notNull(in.key != nil, "key")
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
	if err := in.key.Validate(); err != nil {
		return err
	}
	if v := in.returnValues; v.given && v.value != "ALL_OLD" && v.value != "NONE" {
		return exception.Invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	condition, err := in.writeCondition()
	if err != nil {
		return err
	}
	*q = DeleteItem{Write: in.write(), Table: in.table.value, Key: in.key, Condition: condition.condition}
	return nil
}

// EachTable implements ItemRequest.
func (q *DeleteItem) EachTable(visit func(string)) { visit(q.Table) }

// Instead implements ItemRequest.
func (q *DeleteItem) Instead(key attribute.Item, _ string) Request {
	return &DeleteItem{Table: q.Table, Key: key}
}

// Describe implements ItemRequest.
func (q *DeleteItem) Describe() string {
	return line("DeleteItem", q.Table, "key", q.Key, "condition", q.Condition)
}
