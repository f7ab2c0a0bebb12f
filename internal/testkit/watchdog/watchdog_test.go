// SPDX-License-Identifier: Apache-2.0

package watchdog

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestWatchdog checks that the guarded process ends when the pipe to the watchdog closes, as when
// this process dies.
func TestWatchdog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	guarded := exec.Command("sleep", "600")
	if err := guarded.Start(); err != nil {
		t.Fatal(err)
	}
	w.Guard(guarded.Process.Pid)
	w.Close() // otherwise it ends by itself after ten minutes, and in another way
	if err := guarded.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the guarded process ended with %v, not killed", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}
