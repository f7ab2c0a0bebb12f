// SPDX-License-Identifier: Apache-2.0

// Package remote implements a store on a DynamoDB behind HTTP or HTTPS: AWS's, or one with the same
// API.
//
// It promises:
//
//  1. Do sends the body of a request unchanged and returns the body of the answer unchanged. Errors
//     keep the endpoint's status and bytes, and the package passes on its x-amzn-RequestId
//     (package requestid). Host, Authorization, X-Amz-Date and X-Amz-Security-Token belong to the
//     package's own request, which it signs itself (Signature Version 4). It marks errors about
//     that signature, because the signature is not the client's.
//  2. A request is signed with the credentials of the principal in its context, and never with
//     another's. The door's credentials are for the door's own requests.
//  3. A request is sent again only if it certainly was not carried out: nothing listened, or the
//     endpoint has refused the time of its signature and sent its own time. If the answer to a
//     write is lost, the outcome is unknown, and the client gets an error that SDKs retry.
//  4. Memory is bounded: an answer has at most MaxAnswer bytes. Its x-amz-crc32, if it has one,
//     must match its bytes.
//
// A request goes through Do or Answer (store.go) → send.go → refused.go, if the endpoint refused
// its signature.
//
// It imports dynamo/api, dynamo/exception, dynamodoor/principal and
// dynamodoor/requestid.
package remote
