// SPDX-License-Identifier: Apache-2.0

// Package roundtripper is the DynamoDB door inside a Go program: an http.RoundTripper below a
// DynamoDB client of aws-sdk-go-v2. No server listens, and the program's code stays unchanged.
//
//	door, err := roundtripper.New(ctx, roundtripper.Options{
//		Endpoint:    "https://dynamodb.eu-west-1.amazonaws.com",
//		Credentials: cfg.Credentials,
//	})
//	…
//	defer door.Close()
//	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.HTTPClient = door })
//
// A table that a client creates with the tag write-sharding is then sharded, and the door forwards
// requests on all others. Options.Store replaces the endpoint: with the embedded engine
// (engine/dynamodb), a test has a DynamoDB without anything else.
//
// It promises:
//
//  1. The door signs requests with Options.Credentials, the caller's own. It ignores the signature
//     that the client's request has, because the door is below the SDK's signer.
//  2. The door sends bodies of requests on plain tables unchanged, and returns the answers
//     unchanged.
//  3. Doors in several programs, and evenkeel serve, may share one endpoint.
//
// Send only DynamoDB requests through it: give it to one client, not to a whole configuration.
//
// It imports dynamodoor, dynamodoor/remote and dynamodoor/run.
package roundtripper
