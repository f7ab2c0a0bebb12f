// SPDX-License-Identifier: Apache-2.0

// Package leak looks for goroutines that tests have left behind.
//
// A goroutine that was told to end ends when the scheduler comes to it, which on a
// loaded machine may take longer than goleak's own half second; one that was leaked
// never does. So these wait for as long as anybody could.
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

// patience is far more than any goroutine takes that ends at all.
const patience = 30 * time.Second

// Main runs a package's tests, and fails where they leave goroutines.
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

// Check fails a test that leaves goroutines, but for those of goleak.IgnoreCurrent.
func Check(t testing.TB, options ...goleak.Option) {
	t.Helper()
	if err := find(patience, options...); err != nil {
		t.Error(err)
	}
}

func find(patience time.Duration, options ...goleak.Option) error {
	for deadline := time.Now().Add(patience); ; {
		err := goleak.Find(options...) // waits between looks
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
