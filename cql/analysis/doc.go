// SPDX-License-Identifier: Apache-2.0

// Package analysis implements the meaning of CQL. It turns a syntax tree and a schema into a typed,
// validated statement. It turns a statement with bound values into explicit data: partition keys,
// slices of clustering keys, filters, mutations.
//
// Package engine uses it to execute CQL. Package cqldoor/plan uses it to plan CQL on a logical
// schema. Its results are therefore data that callers can inspect, not behaviour to run.
//
// It promises:
//
//  1. Analysis refuses what Apache Cassandra 5.0 refuses, with the same error code and text, and
//     accepts what Cassandra accepts. Errors are *wire.Error.
//  2. Binds and Columns are those of Cassandra's PREPARED and RESULT metadata.
//  3. The slices of a bound statement select exactly the rows that its WHERE describes, each once.
//  4. Analysed statements are immutable and may be used concurrently. So may bound statements, but
//     they keep references to their bound values.
//  5. No input makes it panic.
//
// It does no I/O and reads no clock; it imports cql/eval, cql/schema, cql/syntax, cql/value,
// cql/wire and partitioner.
package analysis
