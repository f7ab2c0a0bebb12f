// SPDX-License-Identifier: Apache-2.0

// Package accesskey holds the access keys that a DynamoDB door accepts from its clients: it reads
// their file and verifies that a request is signed with one of them (Signature Version 4).
//
// The file is YAML, a list of keys:
//
//   - access-key: AKIDBILLING
//     secret-key: wJalrXUtnFEMI…
//     profile: billing            # whose rights it has at the endpoint behind
//   - access-key: AKIDREPORTS
//     secret-key: …
//     role: arn:aws:iam::123456789012:role/reports
//
// If there is an endpoint behind the door, a key names a profile of the AWS configuration or a role,
// or has "door: true" (the door's own rights). If the store is the door's own, a key names none of
// these.
//
// It promises:
//
//  1. A request passes only if the secret of its key has signed everything that matters: the body,
//     the operation, the time and a session token. Signatures are compared in constant time.
//  2. A signature is valid for 15 minutes before and after the door's clock. One in a query is
//     valid until it expires, sooner or later than that, as X-Amz-Expires says.
//  3. Refusals have AWS's errors and texts. As with AWS, it is not secret which key ids exist.
//  4. Errors about the file name the position and show no secret.
//
// It imports dynamo/exception and dynamodoor/principal.
package accesskey
