// SPDX-License-Identifier: Apache-2.0

// Package write carries out writes and batches that are not passed on unchanged.
//
// The Placer draws shards and gives timestamps (place.go, draw.go, timestamp.go). A Gathering collects
// the physical writes of a batch (batch.go). The Applier sends physical writes (send.go). A write
// during a change of layout goes to both places (moving.go).
//
// It imports cql/analysis, cql/eval, cql/store, cql/wire, cqldoor, cqldoor/buckets,
// cqldoor/internal/rule, cqldoor/plan, cqldoor/read, cqldoor/request, cqldoor/rollover and
// shard.
package write
