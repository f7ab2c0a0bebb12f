// SPDX-License-Identifier: Apache-2.0

// Package dynamodblocal starts DynamoDB Local, AWS's own, for comparisons that
// people run who accept its licence: `make diff-dynamodb-local` brings it.
//
// It imports internal/testkit/deps and internal/testkit/server.
package dynamodblocal

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/deps"
	"github.com/evenkeel/evenkeel/internal/testkit/server"
)

// Start starts a DynamoDB Local, in memory and empty, for the life of the test, and
// returns its URL.
func Start(t testing.TB) string {
	t.Helper()
	dir, err := deps.Path("dynamodb-local")
	if err != nil {
		t.Fatalf("`make diff-dynamodb-local` brings it: %v", err)
	}
	java, err := deps.Java()
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + server.Start(t, "DynamoDB Local", func(port string) *exec.Cmd {
		cmd := exec.Command(java, "-Xmx1g", "-XX:+UseSerialGC", "-Djava.library.path="+dir, "-cp", filepath.Join(dir, "*"),
			"com.amazonaws.services.dynamodbv2.local.main.ServerRunner", "-inMemory", "-port", port)
		cmd.Dir = dir // it writes a file where it is started
		return cmd
	})
}
