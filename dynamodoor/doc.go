// SPDX-License-Identifier: Apache-2.0

// Package dynamodoor is the DynamoDB front door: it speaks the DynamoDB API (JSON
// 1.0, version 2012-08-10) over HTTP/1.1 and HTTP/2 with clients, and passes
// their requests to a store.
//
// It promises:
//
//  1. What is wrong with a request before its operation is known (method, content
//     type, JSON, operation, authorization) is answered as AWS answers it, in
//     AWS's order.
//  2. Memory is bounded: what requests hold, bodies that come slowly and answers that
//     are not taken among it, is taken from a budget (memory.go).
//  3. What a client sends harms its own request at most: a bug is an
//     InternalServerError, is logged and counted.
//  4. Every answer has its x-amzn-RequestId, and every body its x-amz-crc32, which
//     is of the bytes that are sent.
//  5. With access keys a request is carried out only if one of them has signed it, and
//     as who that is (package principal).
//  6. Bodies of requests may be compressed: none is longer than MaxBody when it is read,
//     and only those that may be sent are (encoding.go).
//  7. Shutdown finishes what is in flight, within a deadline.
//
// The way of a request: ServeHTTP (request.go) → signature.go → accesskey → Store.Do →
// answer.go.
//
// It imports dynamo/api, dynamo/exception, dynamo/jsontext, dynamodoor/accesskey,
// dynamodoor/principal and dynamodoor/requestid; what shards tables is a Store on top
// of another (dynamodoor/run).
package dynamodoor
