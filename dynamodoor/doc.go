// SPDX-License-Identifier: Apache-2.0

// Package dynamodoor implements the DynamoDB front door. It speaks the DynamoDB API (JSON 1.0,
// version 2012-08-10) over HTTP/1.1 and HTTP/2 with clients, and passes their requests to a store.
//
// It promises:
//
//  1. The door answers errors that occur before the operation is known (method, content type,
//     JSON, operation, authorization) as AWS does, in AWS's order.
//  2. Memory is bounded: a budget covers the memory of requests, including bodies that arrive
//     slowly and answers that clients do not read (memory.go).
//  3. What a client sends harms at most its own request. A bug becomes an InternalServerError,
//     which is logged and counted.
//  4. Every answer has an x-amzn-RequestId, and every body an x-amz-crc32 of the bytes sent.
//  5. With access keys, the door carries out a request only if one of them has signed it, and with
//     that key's principal (package principal).
//  6. Bodies of requests may be compressed. No body is longer than MaxBody when it is decompressed,
//     and the door decompresses only bodies of clients that may send requests (encoding.go).
//  7. Shutdown completes the requests in flight, within a deadline.
//
// A request goes through ServeHTTP (request.go) → signature.go → accesskey → Store.Do → answer.go.
//
// It imports dynamo/api, dynamo/exception, dynamo/jsontext, dynamodoor/accesskey,
// dynamodoor/principal and dynamodoor/requestid. A Store on top of another shards tables
// (dynamodoor/run).
package dynamodoor
