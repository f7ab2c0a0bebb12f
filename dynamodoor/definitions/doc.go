// SPDX-License-Identifier: Apache-2.0

// Package definitions carries out requests on tables themselves: it creates, describes, changes
// and deletes tables (table.go), and applies the tags that declare sharding (tag.go). A tag can
// adopt a table that was sharded by hand (adopt.go), declare a sharded index that is yet to be
// created (index.go), or change the number of shards (package mover). Shard rules declare
// sharding for applications that set no tag (rules.go).
//
// A door writes the entry of a table before it creates the physical table, and removes the entry
// after it has deleted the physical table. So after a crash, the entry says what a door must
// settle.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/schema,
// dynamodoor/backend, dynamodoor/catalog, dynamodoor/items, dynamodoor/mover,
// dynamodoor/plan, dynamodoor/streams, dynamodoor/tables, registry, shard and shardrules.
package definitions
