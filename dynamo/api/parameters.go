// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// ReturnConsumedCapacity is the amount of detail about consumed capacity in a response.
type ReturnConsumedCapacity uint8

const (
	CapacityNone    ReturnConsumedCapacity = iota
	CapacityTotal                          // by table
	CapacityIndexes                        // by table and index
)

// ReturnValues is the set of attributes in the response to a write.
type ReturnValues uint8

const (
	ReturnNone ReturnValues = iota
	ReturnAllOld
	ReturnUpdatedOld // UpdateItem only
	ReturnAllNew     // UpdateItem only
	ReturnUpdatedNew // UpdateItem only
)

// Write holds the members that the requests of single writes have in common.
type Write struct {
	Return          ReturnValues
	ReturnOnFailure bool // ReturnValuesOnConditionCheckFailure is ALL_OLD
	Capacity        ReturnConsumedCapacity
	Metrics         bool // ReturnItemCollectionMetrics is SIZE
}

// Select is the set of attributes that Query and Scan return.
type Select uint8

const (
	SelectDefault Select = iota // all of a table, those that an index projects, or those of the projection
	SelectAll
	SelectProjected
	SelectSpecific
	SelectCount
)

// Read holds the members that Query and Scan have in common.
type Read struct {
	Table      string
	Index      string // empty: the table itself
	Filter     *expression.Condition
	FilterName string // the name of the filter's parameter in AWS's messages
	Projection *expression.Projection
	Select     Select
	Start      attribute.Item // ExclusiveStartKey; nil: none
	Limit      int            // 0: none
	Consistent bool
	Capacity   ReturnConsumedCapacity
}
