// SPDX-License-Identifier: Apache-2.0

// Package partiql implements DynamoDB's PartiQL. It parses statements and turns them into the
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
//  2. If each alternative of a SELECT's WHERE binds the partition key, the SELECT becomes
//     Queries, one for each alternative, at most 50. Any other SELECT becomes a Scan.
//  3. Work and memory are in proportion to the text, which is at most 8,192
//     characters; no input makes it panic.
//
// A statement passes through lexer.go, parser.go (with condition.go, literal.go, update.go), and
// then reads.go or write.go. token.go holds the position between two pages. outline.go returns what
// a statement would ask for, without making requests.
//
// It does no I/O and imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/expression and
// dynamo/schema.
package partiql
