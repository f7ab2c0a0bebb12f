// SPDX-License-Identifier: Apache-2.0

// Package partiql is DynamoDB's PartiQL: statements are parsed, and become the
// requests of the DynamoDB API that do the same.
//
//	s, err := partiql.Parse(text, parameters)
//	table := describe(s.Table())
//	switch s.Kind() {
//	case partiql.Select:
//		sel, err := s.Select(table, consistent)   // Query and Scan requests, in their order
//	default:
//		q, err := s.Write(table)                  // *api.PutItem, *api.UpdateItem or *api.DeleteItem
//	}
//
// It promises:
//
//  1. What AWS refuses is refused with AWS's message, as far as it is known.
//  2. A SELECT whose WHERE binds the partition key in each of its alternatives
//     becomes Queries, one for each, at most 50; any other a Scan.
//  3. Work and memory are in proportion to the text, which is at most 8,192
//     characters; no input makes it panic.
//
// The way of a statement: lexer.go → parser.go (condition.go, literal.go, update.go)
// → reads.go, write.go; pages go on by token.go. Where nobody is to be asked for
// anything, but what a statement would ask for is of interest: outline.go.
//
// It does no I/O and imports dynamo/api, dynamo/attribute, dynamo/exception,
// dynamo/expression and dynamo/schema.
package partiql
