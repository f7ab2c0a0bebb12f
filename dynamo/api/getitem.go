// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// GetItem gets the item with a key.
type GetItem struct {
	Table      string
	Key        attribute.Item
	Projection *expression.Projection
	Consistent bool
	Capacity   ReturnConsumedCapacity
}

// Operation implements Request.
func (*GetItem) Operation() string { return "GetItem" }

const getParameters = pReturnConsumedCapacity | pAttributesToGet | pTableName | pKey | pConsistentRead | pProjectionExpression | pExpressionAttributeNames

// Decode implements Request.
func (q *GetItem) Decode(d *Decoder, body []byte) error {
	var in input
	if err := d.read(body, &in, getParameters); err != nil {
		return err
	}
	var c constraints
	c.capacity(&in)
	c.attributesToGet(in.attributesToGet, "attributesToGet")
	c.table(in.table, "tableName")
	c.notNull(in.key != nil, "key")
	if err := c.err(); err != nil {
		return err
	}
	if err := in.checkMixing([]named{{"ProjectionExpression", in.projection.given}}, []named{{"AttributesToGet", in.attributesToGet != nil}}); err != nil {
		return err
	}
	if err := in.key.Validate(); err != nil {
		return err
	}
	projection, err := in.project()
	if err != nil {
		return err
	}
	*q = GetItem{
		Table: in.table.value, Key: in.key, Projection: projection,
		Consistent: in.consistent.value, Capacity: in.returnConsumedCapacity(),
	}
	return nil
}

// project returns the projection of a request that has no other expression.
func (in *input) project() (*expression.Projection, error) {
	older, err := projectAttributes(in.attributesToGet)
	if err != nil {
		return nil, err
	}
	all, err := in.parse()
	if err != nil || all.projection != nil {
		return all.projection, err
	}
	return older, nil
}

// EachTable implements ItemRequest.
func (q *GetItem) EachTable(visit func(string)) { visit(q.Table) }

// Instead implements ItemRequest.
func (q *GetItem) Instead(key attribute.Item, _ string) Request {
	return &GetItem{Table: q.Table, Key: key}
}

// Describe implements ItemRequest.
func (q *GetItem) Describe() string {
	return line("GetItem", q.Table, "key", q.Key, "projection", q.Projection)
}
