package dynamodiff

import (
	"flag"
	"os"
	"testing"
)

// TestMain draws the same histories in each run, unless -rapid.seed says which: what
// dynalite does otherwise than DynamoDB, and no history has met yet, is not found by a
// change of something else. To look for it, and for what the engine has wrong:
//
//	go test ./internal/dynamodiff -rapid.seed=0 -rapid.checks=2000
//
// draws others each time.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.seed" })
	if !given {
		_ = flag.Set("rapid.seed", "1") // rapid's own flag
	}
	os.Exit(m.Run())
}
