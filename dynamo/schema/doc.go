// SPDX-License-Identifier: Apache-2.0

// Package schema is a DynamoDB table's description as a value: its keys, indexes,
// projections, billing, tags; what CreateTable and UpdateTable may ask for; and
// what a table asks of the items and keys that come to it.
//
// It promises:
//
//  1. Errors are AWS's, text and kind, wherever AWS's text is known.
//  2. A *Table is not changed by what is here: Create and Apply return another.
//  3. Checks of items and keys do not allocate.
//
// It does no I/O and reads no clock; it imports dynamo/attribute,
// dynamo/exception and dynamo/expression.
package schema
