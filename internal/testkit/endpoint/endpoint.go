// SPDX-License-Identifier: Apache-2.0

// Package endpoint serves DynamoDB's protocol on a port of this machine while a test runs.
//
// It imports dynamodoor, dynamodoor/run, engine/dynamodb and internal/testkit/itemstore.
package endpoint

import (
	"net/http/httptest"
	"testing"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
)

// Start serves a router, which shards tables with tags, on an engine in memory. The caller must not
// set o.Backend.
func Start(t testing.TB, o run.Options) (router *run.Router, url string) {
	t.Helper()
	o.Backend = itemstore.Open(t, dynamodb.Options{})
	router = run.New(o)
	if err := router.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return router, Serve(t, dynamodoor.Options{Store: router})
}

// Serve serves a door with options o.
func Serve(t testing.TB, o dynamodoor.Options) (url string) {
	t.Helper()
	door, err := dynamodoor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(door)
	t.Cleanup(server.Close)
	return server.URL
}
