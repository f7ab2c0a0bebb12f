// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Scan reads all items of a table or index, or of one of its segments.
type Scan struct {
	Read
	Segment, Segments int // Segments is 0 if the request has none
}

// Operation implements Request.
func (*Scan) Operation() string { return "Scan" }

const scanParameters = pSelect | pIndexName | pTotalSegments | pReturnConsumedCapacity | pTableName | pConditionalOperator |
	pScanFilter | pSegment | pLimit | pAttributesToGet | pExclusiveStartKey | pConsistentRead |
	pFilterExpression | pProjectionExpression | pExpressionAttributeValues | pExpressionAttributeNames

// MaxSegments is the largest number of segments of a scan.
const MaxSegments = 1_000_000

// Decode implements Request.
func (q *Scan) Decode(d *Decoder, body []byte) error {
	var in input
	if err := d.read(body, &in, scanParameters); err != nil {
		return err
	}
	var c constraints
	c.selection(&in)
	c.name(in.index, minName, "indexName")
	c.atLeast(in.segments, 1, "totalSegments")
	c.atMost(in.segments, MaxSegments, "totalSegments")
	c.capacity(&in)
	c.table(in.table, "tableName")
	c.conditionalOperator(&in)
	c.conditions(in.scanFilter, "scanFilter")
	c.atLeast(in.segment, 0, "segment")
	c.atMost(in.segment, MaxSegments-1, "segment")
	c.atLeast(in.limit, 1, "limit")
	c.attributesToGet(in.attributesToGet, "attributesToGet")
	if err := c.err(); err != nil {
		return err
	}
	err := in.checkMixing([]named{
		{"ProjectionExpression", in.projection.given},
		{"FilterExpression", in.filter.given},
	}, []named{
		{"AttributesToGet", in.attributesToGet != nil},
		{"ScanFilter", in.scanFilter != nil},
		{"ConditionalOperator", in.conditionalOperator.given},
	})
	if err != nil {
		return err
	}
	if _, err := projectAttributes(in.attributesToGet); err != nil {
		return err
	}
	if err := checkConditions(in.scanFilter); err != nil {
		return err
	}
	read, _, err := in.reading(in.scanFilter, "ScanFilter", in.checkSegments)
	if err != nil {
		return err
	}
	*q = Scan{Read: read, Segment: int(in.segment.value), Segments: int(in.segments.value)}
	return nil
}

func (in *input) checkSegments() error {
	switch {
	case in.segment.given && !in.segments.given:
		return exception.Invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case in.segments.given && !in.segment.given:
		return exception.Invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case in.segments.given && in.segment.value >= in.segments.value:
		return exception.Invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d",
			in.segment.value, in.segments.value)
	}
	return nil
}

// EachTable implements ItemRequest.
func (q *Scan) EachTable(visit func(string)) { visit(q.Table) }

// Instead implements ItemRequest.
func (q *Scan) Instead(_ attribute.Item, index string) Request {
	return &Scan{Read: Read{Table: q.Table, Index: index, Limit: 1}}
}

// Describe implements ItemRequest.
func (q *Scan) Describe() string {
	s := q.describe("Scan")
	if q.Segments > 0 {
		s += fmt.Sprintf(" segment %d of %d", q.Segment, q.Segments)
	}
	return s
}
