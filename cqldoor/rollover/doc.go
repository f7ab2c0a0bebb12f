// SPDX-License-Identifier: Apache-2.0

// Package rollover adds shards to the partition keys of tables of strategy rollover. It counts the rows and
// bytes that the door writes to the current shards (count.go), and announces and opens further shards (open.go).
// The file rollover.go describes the steps.
//
// It imports catalog, cql/analysis, cql/wire, cqldoor/internal/rule, cqldoor/mover, cqldoor/plan,
// cqldoor/request, cqldoor/tables, registry and shard.
package rollover
