// SPDX-License-Identifier: Apache-2.0

// Package watchdog ends a process that a test started when the test's own process ends, in whatever
// way: return, panic, SIGINT or SIGKILL.
//
// It imports nothing of this module.
package watchdog

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// Watchdog is a shell that outlives this process by a moment. It reads the pid to guard from its
// standard input. At the end of input, which comes however this process ends, it kills that pid and
// removes the directory.
type Watchdog struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	mu  sync.Mutex
}

const script = `pid=0
while read -r line; do pid=$line; done
[ "$pid" = 0 ] || kill -9 "$pid" 2>/dev/null
[ "$1" ] || exit 0
for n in 1 2 3 4 5; do rm -rf -- "$1" && exit 0; sleep 1; done`

// Start starts a watchdog that guards nothing yet. It removes dir at the end; "": none.
func Start(dir string) (*Watchdog, error) {
	cmd := exec.Command("/bin/sh", "-c", script, "sh", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	return &Watchdog{cmd: cmd, in: in}, nil
}

// Guard sets the pid that shall end with this process; 0: none.
func (w *Watchdog) Guard(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A watchdog that has ended cannot guard. The tests still end the processes that they started.
	_, _ = fmt.Fprintln(w.in, pid)
}

// Close kills the guarded process, removes the directory, and ends the watchdog.
func (w *Watchdog) Close() {
	_ = w.in.Close()
	_ = w.cmd.Wait()
}
