// SPDX-License-Identifier: Apache-2.0

// Package mover changes the layout of a sharded table while the table is in use, by the steps of
// package dynamodoor/reshard.
//
// A request (change.go) begins a change: it writes the step "looking" into the table's entry.
// From then on the mover of some door carries the change on (mover.go): it waits for the barrier
// of the step, does the work of the step, and publishes the next step. Any door can do each part
// of the work again at any time. When a door is killed, it goes on after its restart, or another
// door sees that nobody works on the change and goes on.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/schema,
// dynamodoor/backend, dynamodoor/catalog, dynamodoor/items, dynamodoor/plan,
// dynamodoor/reshard, dynamodoor/shift, dynamodoor/tables, reshard and shard.
package mover
