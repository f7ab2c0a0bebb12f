// SPDX-License-Identifier: Apache-2.0

// Package system is the tables that Cassandra keeps about itself: their
// definitions, and their contents as far as a single node has any. Drivers and
// cqlsh read them to learn the cluster and the schema.
//
// The tables are virtual: their rows are made of a schema and an Info when they
// are read. Those that tell of what a single embedded node does not do (repair,
// hints, streaming, metrics, roles) are there with Cassandra's columns and empty.
//
// Engines that keep the limits of Amazon Keyspaces have more (Limited): Keyspaces' own
// system_schema_mcs, and evenkeel's PartitionsTable.
//
// It does no I/O; it imports cql/ddl, cql/schema and cql/value.
package system
