// SPDX-License-Identifier: Apache-2.0

// Package rollover gives partition keys of strategy rollover their next shards. It counts what the
// door writes to the current shards, and announces and opens further ones (rollover.go).
//
// It imports catalog, cql/analysis, cql/wire, cqldoor/internal/rule, cqldoor/mover, cqldoor/plan,
// cqldoor/request, cqldoor/tables, registry and shard.
package rollover
