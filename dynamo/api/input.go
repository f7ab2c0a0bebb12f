// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// text is a String member.
type text struct {
	value string
	given bool
}

// integer is a number member.
type integer struct {
	value int64
	given bool
}

// flag is a Boolean member.
type flag struct{ value, given bool }

// parameter is a member that several operations on items have, or a set of such members.
type parameter uint32

const (
	pTableName parameter = 1 << iota
	pIndexName
	pItem
	pKey
	pExclusiveStartKey
	pConditionExpression
	pUpdateExpression
	pKeyConditionExpression
	pFilterExpression
	pProjectionExpression
	pExpressionAttributeNames
	pExpressionAttributeValues
	pReturnValues
	pReturnOnFailure
	pReturnConsumedCapacity
	pReturnItemCollectionMetrics
	pConsistentRead
	pScanIndexForward
	pLimit
	pSelect
	pSegment
	pTotalSegments
	pExpected
	pAttributeUpdates
	pKeyConditions
	pQueryFilter
	pScanFilter
	pConditionalOperator
	pAttributesToGet
)

var parameters = map[string]parameter{
	"TableName":                           pTableName,
	"IndexName":                           pIndexName,
	"Item":                                pItem,
	"Key":                                 pKey,
	"ExclusiveStartKey":                   pExclusiveStartKey,
	"ConditionExpression":                 pConditionExpression,
	"UpdateExpression":                    pUpdateExpression,
	"KeyConditionExpression":              pKeyConditionExpression,
	"FilterExpression":                    pFilterExpression,
	"ProjectionExpression":                pProjectionExpression,
	"ExpressionAttributeNames":            pExpressionAttributeNames,
	"ExpressionAttributeValues":           pExpressionAttributeValues,
	"ReturnValues":                        pReturnValues,
	"ReturnValuesOnConditionCheckFailure": pReturnOnFailure,
	"ReturnConsumedCapacity":              pReturnConsumedCapacity,
	"ReturnItemCollectionMetrics":         pReturnItemCollectionMetrics,
	"ConsistentRead":                      pConsistentRead,
	"ScanIndexForward":                    pScanIndexForward,
	"Limit":                               pLimit,
	"Select":                              pSelect,
	"Segment":                             pSegment,
	"TotalSegments":                       pTotalSegments,
	"Expected":                            pExpected,
	"AttributeUpdates":                    pAttributeUpdates,
	"KeyConditions":                       pKeyConditions,
	"QueryFilter":                         pQueryFilter,
	"ScanFilter":                          pScanFilter,
	"ConditionalOperator":                 pConditionalOperator,
	"AttributesToGet":                     pAttributesToGet,
}

// input holds the members of a request on items as they came. Items and maps are nil if they were
// not given, and not nil if they were given empty.
type input struct {
	table, index                            text
	item, key, start                        attribute.Item
	condition, update, keyCondition, filter text
	projection                              text
	names                                   []expression.Name
	values                                  attribute.Item
	returnValues, returnOnFailure           text
	capacity, metrics                       text
	consistent, forward                     flag
	limit, segment, segments                integer
	selection                               text
	expected                                []expected
	updates                                 []legacyUpdate
	keyConditions, queryFilter, scanFilter  []legacyCondition
	conditionalOperator                     text
	attributesToGet                         []text
}

// read reads the document, which must be an object. It reads the members that the operation has and
// skips all others.
func (d *Decoder) read(body []byte, in *input, has parameter) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	for r.Next() {
		if p := parameters[r.Name()] & has; p == 0 || r.Peek() == jsontext.Null {
			r.Skip()
		} else {
			d.readParameter(in, p)
		}
	}
	return d.end()
}

// begin enters the object of a request. It returns false if the body is not an object.
func (d *Decoder) begin(body []byte) bool {
	d.reader.Reset(body)
	if d.reader.Peek() != jsontext.Object {
		d.reader.Skip()
		d.reader.Fail(errSerialization)
		return false
	}
	d.reader.Object()
	return true
}

// end returns the error of reading as the API reports it.
func (d *Decoder) end() error {
	if err := d.reader.End(); err != nil {
		return attribute.SerializationError(err)
	}
	return nil
}

func (d *Decoder) readParameter(in *input, p parameter) {
	r := &d.reader
	switch p {
	case pTableName:
		in.table = readText(r)
	case pIndexName:
		in.index = readText(r)
	case pItem:
		in.item = d.attribute.ReadItem(r)
	case pKey:
		in.key = d.attribute.ReadItem(r)
	case pExclusiveStartKey:
		in.start = d.attribute.ReadItem(r)
	case pConditionExpression:
		in.condition = readText(r)
	case pUpdateExpression:
		in.update = readText(r)
	case pKeyConditionExpression:
		in.keyCondition = readText(r)
	case pFilterExpression:
		in.filter = readText(r)
	case pProjectionExpression:
		in.projection = readText(r)
	case pExpressionAttributeNames:
		in.names = readNames(r)
	case pExpressionAttributeValues:
		in.values = d.attribute.ReadItem(r)
	case pReturnValues:
		in.returnValues = readText(r)
	case pReturnOnFailure:
		in.returnOnFailure = readText(r)
	case pReturnConsumedCapacity:
		in.capacity = readText(r)
	case pReturnItemCollectionMetrics:
		in.metrics = readText(r)
	case pConsistentRead:
		in.consistent = readFlag(r)
	case pScanIndexForward:
		in.forward = readFlag(r)
	case pLimit:
		in.limit = readInteger(r, "Integer")
	case pSelect:
		in.selection = readText(r)
	case pSegment:
		in.segment = readInteger(r, "Integer")
	case pTotalSegments:
		in.segments = readInteger(r, "Integer")
	case pExpected:
		in.expected = d.readExpected()
	case pAttributeUpdates:
		in.updates = d.readUpdates()
	case pKeyConditions:
		in.keyConditions = d.readConditions()
	case pQueryFilter:
		in.queryFilter = d.readConditions()
	case pScanFilter:
		in.scanFilter = d.readConditions()
	case pConditionalOperator:
		in.conditionalOperator = readText(r)
	case pAttributesToGet:
		in.attributesToGet = readTexts(r)
	}
}
