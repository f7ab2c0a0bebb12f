// SPDX-License-Identifier: Apache-2.0

// Package dynamodblocal starts DynamoDB Local, AWS's own implementation, for comparisons. Only
// people who accept its licence run them: `make diff-dynamodb-local` downloads it.
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

// Start starts an empty DynamoDB Local in memory for the duration of the test and returns its URL.
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
		cmd.Dir = dir // it writes a file into its working directory
		return cmd
	})
}
