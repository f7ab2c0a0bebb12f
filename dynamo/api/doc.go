// SPDX-License-Identifier: Apache-2.0

// Package api holds the requests and responses of the DynamoDB API. It reads and checks the bodies
// of requests as AWS does, and writes the bodies of answers.
//
//	q, ok := api.New("PutItem")     // a *api.PutItem
//	err := q.Decode(&decoder, body) // SerializationException, ValidationException
//	dst = out.AppendJSON(dst)
//
// Decode checks all that can be checked without the table. It returns parsed expressions, and
// converts the older parameters (Expected, KeyConditions, …) to the same kind of expressions.
// schema.Table does the checks that need the table.
//
// Operations (operation.go) is the table of all operations: which service has them, what they are
// about, where they name tables, and whether they write. A new operation is an entry there, and a
// file with its request.
//
// It promises:
//
//  1. A body that is refused is refused with AWS's error. The form of all members is checked
//     first (SerializationException), then the limits and enumerations of all members
//     together, then the rest in AWS's order.
//  2. Requests share the memory of the body and of the Decoder: neither may be used again
//     before the request has ended.
//  3. Members that are not known are ignored, as AWS does. Members that are known but not
//     supported are refused by name, never ignored.
//  4. No input makes it panic.
//
// It does no I/O and reads no clock. It imports dynamo/attribute, dynamo/exception,
// dynamo/expression, dynamo/jsontext and dynamo/schema.
package api
