// SPDX-License-Identifier: Apache-2.0

// Package buckets keeps the directory of the buckets of tables of strategy time. It adds a bucket
// before the first row goes there (announce.go), guesses what the directory lists (guess.go, pace.go),
// and drops buckets that are older than a table keeps rows (keep.go).
//
// It imports catalog, cql/analysis, cql/schema, cql/syntax, cql/wire, cqldoor,
// cqldoor/internal/rule, cqldoor/plan, cqldoor/request, cqldoor/tables, partitioner, registry, shard
// and shard/timebucket.
package buckets
