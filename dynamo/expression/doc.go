// SPDX-License-Identifier: Apache-2.0

// Package expression implements DynamoDB's expressions: KeyConditionExpression, FilterExpression,
// ConditionExpression, ProjectionExpression and UpdateExpression. It parses a text, resolves its
// placeholders, and evaluates the result for items:
//
//	p, err := expression.NewPlaceholders(names, values)
//	c, err := p.Condition(expression.FilterExpression, "#a = :v AND size(b) > :n")
//	err = p.CheckUnused()
//	c.Match(item)
//
// The parameters of the older API (Expected, KeyConditions, AttributeUpdates, …) become the same
// conditions, projections and updates.
//
// It promises:
//
//  1. What AWS refuses is refused with AWS's message, as far as it is known.
//  2. Conditions, projections and updates are immutable and may be used by many
//     goroutines.
//  3. Match does not allocate, except for the comparison of large sets.
//  4. If an expression is printed by a Printer and parsed again, the result is equal.
//  5. Work and memory are in proportion to the text; nesting is bounded.
//
// It does no I/O and imports dynamo/attribute and dynamo/exception.
package expression
