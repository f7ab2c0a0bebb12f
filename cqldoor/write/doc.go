// SPDX-License-Identifier: Apache-2.0

// Package write executes writes and batches that the door does not pass on unchanged.
//
// The Placer draws shards and gives timestamps (place.go, draw.go, timestamp.go). A Gathering collects
// the physical writes of a batch (batch.go). The Applier sends physical writes (send.go). While the
// layout of a table is being changed, the Writer writes to the old and the new places (moving.go).
//
// It imports cql/analysis, cql/eval, cql/store, cql/wire, cqldoor, cqldoor/buckets,
// cqldoor/internal/rule, cqldoor/plan, cqldoor/read, cqldoor/request, cqldoor/rollover and
// shard.
package write
