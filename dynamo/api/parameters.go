// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// ReturnConsumedCapacity is how much a response tells of the capacity it took.
type ReturnConsumedCapacity uint8

const (
	CapacityNone    ReturnConsumedCapacity = iota
	CapacityTotal                          // by table
	CapacityIndexes                        // by table and index
)

// ReturnValues is which attributes the response to a write has.
type ReturnValues uint8

const (
	ReturnNone ReturnValues = iota
	ReturnAllOld
	ReturnUpdatedOld // UpdateItem only
	ReturnAllNew     // UpdateItem only
	ReturnUpdatedNew // UpdateItem only
)

// Write is what the requests of single writes have in common.
type Write struct {
	Return          ReturnValues
	ReturnOnFailure bool // ReturnValuesOnConditionCheckFailure is ALL_OLD
	Capacity        ReturnConsumedCapacity
	Metrics         bool // ReturnItemCollectionMetrics is SIZE
}

// Select is which attributes Query and Scan return.
type Select uint8

const (
	SelectDefault Select = iota // all of a table, what an index projects, or what is asked for
	SelectAll
	SelectProjected
	SelectSpecific
	SelectCount
)

// Read is what Query and Scan have in common.
type Read struct {
	Table      string
	Index      string // empty: the table itself
	Filter     *expression.Condition
	FilterName string // how AWS's messages call the filter's parameter
	Projection *expression.Projection
	Select     Select
	Start      attribute.Item // ExclusiveStartKey; nil where there is none
	Limit      int            // 0 where there is none
	Consistent bool
	Capacity   ReturnConsumedCapacity
}
