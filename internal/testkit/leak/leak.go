// SPDX-License-Identifier: Apache-2.0

// Package leak finds goroutines that tests have left behind.
//
// A goroutine that shall end does so when the scheduler runs it. On a loaded machine, that may take
// longer than goleak's own half second. A leaked goroutine never ends. So the functions here wait
// for a long time.
//
// It imports nothing of this module.
package leak

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is much longer than any goroutine takes to end.
const patience = 2 * time.Minute

// Main runs a package's tests, and fails if they leave goroutines.
func Main(m *testing.M, options ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		if err := find(patience, options...); err != nil {
			fmt.Fprintf(os.Stderr, "the tests pass, and leave goroutines: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Check fails a test that leaves goroutines, except those of goleak.IgnoreCurrent.
func Check(t testing.TB, options ...goleak.Option) {
	t.Helper()
	if err := find(patience, options...); err != nil {
		t.Error(err)
	}
}

func find(patience time.Duration, options ...goleak.Option) error {
	for deadline := time.Now().Add(patience); ; {
		err := goleak.Find(options...) // pauses between checks
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
