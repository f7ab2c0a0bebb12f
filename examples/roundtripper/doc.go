// SPDX-License-Identifier: Apache-2.0

// Package roundtripper shows a Go program with write-sharded DynamoDB tables and no
// server: the door is an http.RoundTripper below the client of aws-sdk-go-v2.
package roundtripper
