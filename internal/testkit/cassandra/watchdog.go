package cassandra

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// watchdog is a shell that outlives this process by a moment: it reads the pid
// to guard from its standard input, and at the end of input, which comes however
// this process ends (return, panic, SIGKILL), it kills that pid and removes the
// directory.
type watchdog struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	mu  sync.Mutex
}

const watchdogScript = `pid=0
while read -r line; do pid=$line; done
[ "$pid" = 0 ] || kill -9 "$pid" 2>/dev/null
for n in 1 2 3 4 5; do rm -rf -- "$1" && exit 0; sleep 1; done`

func newWatchdog(dir string) (*watchdog, error) {
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "sh", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	return &watchdog{cmd: cmd, in: in}, nil
}

// guard says which pid is to end with this process; 0 for none.
func (w *watchdog) guard(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A watchdog that is gone cannot guard; the tests still end what they started.
	_, _ = fmt.Fprintln(w.in, pid)
}

func (w *watchdog) close() {
	_ = w.in.Close()
	_ = w.cmd.Wait()
}
