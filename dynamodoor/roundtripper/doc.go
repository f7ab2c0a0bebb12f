// SPDX-License-Identifier: Apache-2.0

// Package roundtripper is the DynamoDB door inside a Go program: an
// http.RoundTripper below a DynamoDB client of aws-sdk-go-v2. No server listens, and
// the program's code stays as it is.
//
//	door, err := roundtripper.New(ctx, roundtripper.Options{
//		Endpoint:    "https://dynamodb.eu-west-1.amazonaws.com",
//		Credentials: cfg.Credentials,
//	})
//	…
//	defer door.Close()
//	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.HTTPClient = door })
//
// A table that is made with the tag write-sharding is then sharded, and all others
// are forwarded. Options.Store takes the place of an endpoint: with the embedded
// engine (engine/items) a test has a DynamoDB without anything else.
//
// It promises:
//
//  1. Requests go out signed with Options.Credentials, the caller's own, whoever has
//     signed what the client sent: it is below the SDK's signer.
//  2. Bodies of requests on plain tables are sent unchanged, and answers are given
//     as they came.
//  3. Doors in several programs, and evenkeel serve, may be on one endpoint.
//
// What is not DynamoDB's must not be sent through it: give it to one client, not to
// a whole configuration.
//
// It imports dynamodoor, dynamodoor/remote and dynamodoor/run.
package roundtripper
