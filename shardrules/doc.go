// SPDX-License-Identifier: Apache-2.0

// Package shardrules reads rules that shard tables whose applications say nothing of
// sharding, and finds the rule that names a table.
//
// A file of rules is YAML:
//
//	tracker.blogs: {shards: 200}             # a CQL table
//	jaeger.*: {shards: 20}                   # all other tables of the keyspace jaeger
//	jaeger.service_names: plain              # but not this one
//	dynamodb:
//	  Invoices:
//	    shards: 5
//	    indexes:
//	      by_customer: {shards: 4}
//
// A name of a CQL table is KEYSPACE.TABLE. Each part is a CQL identifier: it is folded to
// lower case unless it is in double quotes. A name of a DynamoDB table is the table's. In
// both, * stands for any characters and ? for any one. The options of a CQL table are those
// of write_sharding, and those of a DynamoDB table or index are those of its tag.
//
// A key shard-rules at the top holds the rules where the file has other things, too: it may be
// a configuration file of the front door.
//
// It promises:
//
//  1. Parse reports all faults of a file, each with the file and the line. It accepts only
//     rules that can apply to some table, as far as that can be told without the table.
//  2. At most one rule holds for a table. A name without wildcards goes before patterns, and a
//     pattern with more literal characters before one with fewer. Two that are equal in this
//     are an error that names both.
//  3. Decode(Encode(s)) has the rules of s, and Difference finds none between them.
//  4. Matching takes time in proportion to the lengths of pattern and name, and no more.
//
// It does no I/O. It imports shard.
package shardrules
