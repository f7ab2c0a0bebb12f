// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/workbench/inspection"
)

// TestInterrupted sends a real Ctrl-C to commands while they read. Each must print a result for the
// rows that it has read, say that the result is partial, and end with exit code 3.
func TestInterrupted(t *testing.T) {
	queries := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(queries, []byte("SELECT * FROM t WHERE k = ? -- 5/s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	engine, signals, ended := start(t)
	t.Cleanup(func() { signals <- syscall.SIGTERM; _ = wait(t, ended) }) // its end is tested elsewhere
	p := plant(t, engine, "")
	p.do("CREATE TABLE KS.t (k int, i int, v text, PRIMARY KEY (k, i))")
	p.fill("INSERT INTO KS.t (k, i, v) VALUES (?, ?, ?)", 4000, func(i int) []any { return []any{i / 10, i, "v"} })
	address := "cql://" + engine + "/" + p.keyspace + ".t"
	state := filepath.Join(t.TempDir(), "state.json")

	for _, c := range []struct {
		name  string
		args  []string
		stdin bool // rows are given for as long as it reads
		rows  func(report map[string]any) (rows any, partial bool)
	}{
		{"advise", []string{"advise", "-", "--queries", queries, "--json"}, true, ofRows},
		{"advise without queries", []string{"advise", "-", "--json"}, true, ofRows},
		{"simulate", []string{"simulate", "-", "--key", "k", "--json"}, true, ofRows},
		{"inspect", []string{"inspect", address, "--state", state, "--rate", "200", "--whole", "--json"}, false, func(r map[string]any) (any, bool) {
			of, _ := r["coverage"].(map[string]any)
			return of["rows"], of["partial"] == true
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("evenkeel", c.args...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			given := make(chan struct{}) // some rows
			done := make(chan struct{})
			if c.stdin {
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					defer in.Close()
					_, _ = io.WriteString(in, "k,i\n")
					for i := 0; ; i++ {
						if _, err := fmt.Fprintf(in, "%d,%d\n", i%1000, i); err != nil {
							return
						}
						switch {
						case i == 300_000:
							close(given)
						case i > 300_000:
							select {
							case <-done:
								return
							case <-time.After(50 * time.Microsecond):
							}
						}
					}
				}()
			} else {
				// Of what takes twenty seconds, the state is written every two.
				go func() {
					defer close(given)
					for {
						var s inspection.State
						if text, err := os.ReadFile(state); err == nil && json.Unmarshal(text, &s) == nil && s.Run != nil && len(s.Run.Done) > 0 {
							return
						}
						select {
						case <-done:
							return
						case <-time.After(10 * time.Millisecond):
						}
					}
				}()
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait(); close(done) }()
			select {
			case <-given:
			case err := <-ended:
				t.Fatalf("it ended by itself: %v %s", err, &errs)
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != partialResult {
					t.Fatalf("%v\n%s", err, &errs)
				}
			case <-time.After(patience):
				_ = cmd.Process.Kill()
				t.Fatalf("it goes on: %s", &errs)
			}
			report := make(map[string]any)
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
			if rows, partial := c.rows(report); !partial || rows == nil || rows == 0.0 {
				t.Errorf("partial %v, %v rows", partial, rows)
			}
			if !bytes.Contains(errs.Bytes(), []byte("the result is partial")) || !bytes.Contains(errs.Bytes(), []byte("interrupted")) {
				t.Errorf("it says %s", &errs)
			}
		})
	}
}

func ofRows(report map[string]any) (any, bool) { return report["rows"], report["partial"] == true }
