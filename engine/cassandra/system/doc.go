// SPDX-License-Identifier: Apache-2.0

// Package system holds the tables that Cassandra keeps about itself: their definitions, and their
// contents as far as a single node has any. Drivers and cqlsh read them to learn the cluster and
// the schema.
//
// The tables are virtual: their rows are made from a schema and an Info when they are read. Tables
// about things that a single embedded node does not do (repair, hints, streaming, metrics, roles)
// have Cassandra's columns and are empty.
//
// Engines that enforce the limits of Amazon Keyspaces have more tables (Limited): Keyspaces' own
// system_schema_mcs, and evenkeel's PartitionsTable.
//
// It does no I/O; it imports cql/ddl, cql/schema and cql/value.
package system
