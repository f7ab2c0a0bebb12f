// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"testing"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/dynalite"
	"github.com/evenkeel/evenkeel/internal/testkit/endpoint"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
)

// engineDoor serves an engine in memory, for the life of the test, with so many
// requests of a fan-out at a time.
func engineDoor(t testing.TB, fanout int) Target {
	t.Helper()
	_, url := endpoint.Start(t, run.Options{Fanout: fanout})
	return Target{Name: "engine", URL: url}
}

// bareDoor serves an engine that shards nothing, as any endpoint, for the life of
// the test.
func bareDoor(t testing.TB) Target {
	t.Helper()
	return Target{Name: "bare engine", URL: endpoint.Serve(t, dynamodoor.Options{Store: itemstore.Open(t, dynamodb.Options{})})}
}

// both asks two stores the same.
func both(t interface{ Fatal(...any) }, want, got Target, operation, body string) (w, g Answer) {
	w, err := want.Do(operation, body)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = got.Do(operation, body); err != nil {
		t.Fatal(err)
	}
	return w, g
}

func judge(t testing.TB) Target {
	return Target{Name: "dynalite", URL: dynalite.Start(t)}
}
