// SPDX-License-Identifier: Apache-2.0

// Package api is the requests and responses of the DynamoDB API: what each
// operation's body says, read and checked as AWS does, and the bodies of answers.
//
//	q, ok := api.New("PutItem")     // a *api.PutItem
//	err := q.Decode(&decoder, body) // SerializationException, ValidationException
//	dst = out.AppendJSON(dst)
//
// Decode checks all that can be known without the table; expressions come out
// parsed, the older parameters (Expected, KeyConditions, …) as the same
// expressions. What needs the table is asked of schema.Table.
//
// Operations (operation.go) is the table of all operations: which service has them, what they are
// about, where they name tables, and whether they write. A new operation is an entry there, and a
// file with its request.
//
// It promises:
//
//  1. A body that is refused is refused with AWS's error: the form of all members
//     first (SerializationException), then limits and enumerations of all members
//     together, then the rest in AWS's order.
//  2. Requests share the body's memory and the Decoder's: neither may be used
//     again before the request is done with.
//  3. Members that are not known are ignored, as AWS does; members that are known
//     and not supported are refused by name, never ignored.
//  4. No input makes it panic.
//
// It does no I/O and reads no clock; it imports dynamo/attribute,
// dynamo/exception, dynamo/expression, dynamo/jsontext and dynamo/schema.
package api
