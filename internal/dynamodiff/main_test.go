// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"os"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/draws"
)

// TestMain draws the same histories in each run: dynalite is not DynamoDB.
func TestMain(m *testing.M) {
	draws.Defaults(map[string]string{"rapid.seed": "1"})
	os.Exit(m.Run())
}
