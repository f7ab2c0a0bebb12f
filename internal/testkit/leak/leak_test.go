// SPDX-License-Identifier: Apache-2.0

package leak

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestFind checks that a goroutine that stays is found, and that Find waits for one that ends late.
func TestFind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	stays := make(chan struct{})
	go func() { <-stays }()
	if err := find(0, before); err == nil || !strings.Contains(err.Error(), "TestFind") {
		t.Errorf("a goroutine that stays: %v", err)
	}
	close(stays)
	Check(t, before)
}
