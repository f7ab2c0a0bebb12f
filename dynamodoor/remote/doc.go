// SPDX-License-Identifier: Apache-2.0

// Package remote is a DynamoDB behind HTTP or HTTPS as a store: AWS's, or what
// speaks its API.
//
// It promises:
//
//  1. The body of a request that is passed on (Do) is sent as it is, and the body of
//     the answer is given as it came; errors go out with the endpoint's status and
//     bytes, and its x-amzn-RequestId is told (package requestid). Host,
//     Authorization, X-Amz-Date and X-Amz-Security-Token are the request's own,
//     signed anew (Signature Version 4). Errors about that signature are told as
//     such: it is not the client's.
//  2. A request is signed with the credentials of the principal that its context
//     names, and never with another's; those of the door are for what the door
//     itself asks.
//  3. A request is sent again only where it certainly has not been carried out:
//     nothing listened, or the endpoint has refused the time of its signature and
//     told its own. What became of a write whose answer is lost is not known, and
//     the client is told so, as an error that SDKs retry.
//  4. Memory is bounded: an answer has at most MaxAnswer bytes, and its x-amz-crc32,
//     if it has one, is that of its bytes.
//
// The way of a request: Do or Answer (store.go) → send.go → refused.go, where its
// signature was.
//
// It imports dynamo/api, dynamo/exception, dynamodoor/principal and
// dynamodoor/requestid.
package remote
