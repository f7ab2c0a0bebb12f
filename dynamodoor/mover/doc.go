// SPDX-License-Identifier: Apache-2.0

// Package mover changes the layout of a sharded table while the table is in use, by the steps of
// package dynamodoor/reshard. It also makes a plain table a sharded one (second_table.go), and chooses the shards
// of a table that gets strategy rollover (choose.go).
//
// A request (change.go) begins a change: it writes the first step into the table's entry. From
// then on, the mover of some door carries the change out (mover.go). The mover waits for the
// barrier of a step, does the work of the step, and publishes the next step. Any door can repeat
// each part of the work at any time. If a door is killed, its mover continues after the door
// restarts, or another door notices that no mover works on the change and continues it.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/expression, dynamo/schema,
// dynamodoor/backend, dynamodoor/catalog, dynamodoor/items, dynamodoor/plan, dynamodoor/principal,
// dynamodoor/reshard, dynamodoor/shift, dynamodoor/tables, reshard and shard.
package mover
