// SPDX-License-Identifier: Apache-2.0

// Package dynalite starts dynalite, an implementation of the DynamoDB API on Node, for tests that
// compare answers with it. `make deps` installs it with npm.
//
// It imports internal/testkit/deps and internal/testkit/server.
package dynalite

import (
	"os/exec"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/deps"
	"github.com/evenkeel/evenkeel/internal/testkit/server"
)

// Start starts an empty dynalite in memory for the duration of the test and returns its URL. It
// creates and deletes tables at once.
func Start(t testing.TB) string {
	t.Helper()
	cli, err := deps.Path("dynalite/node_modules/dynalite/cli.js")
	if err != nil {
		t.Fatalf("this test compares with dynalite: %v", err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("dynalite needs Node 18 or later: %v; `make deps` installs it or says how", err)
	}
	return "http://" + server.Start(t, "dynalite", func(port string) *exec.Cmd {
		return exec.Command(node, cli, "--host", "127.0.0.1", "--port", port, "--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0")
	})
}
