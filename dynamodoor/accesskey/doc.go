// SPDX-License-Identifier: Apache-2.0

// Package accesskey is the access keys that a DynamoDB door takes from its clients:
// the file that they are in, and whether a request is signed with one of them
// (Signature Version 4).
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
// A key names a profile of the AWS configuration, a role, or says "door: true" (the
// door's own rights), where there is an endpoint behind the door; where the store is
// the door's own, it names none.
//
// It promises:
//
//  1. A request passes only with a signature of all that matters (the body, the
//     operation, the time, a session token) by the secret of its key; signatures are
//     compared in constant time.
//  2. A signature is good for 15 minutes before and after the door's clock; one in a
//     query until it expires, which X-Amz-Expires says, be that sooner or later.
//  3. What is refused is refused with AWS's errors and texts. Which key ids there
//     are is not secret, as with AWS.
//  4. Errors about the file name the place and show no secret.
//
// It imports dynamo/exception and dynamodoor/principal.
package accesskey
