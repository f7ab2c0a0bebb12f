// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// suite is an application's compiled tests.
type suite struct {
	app     *application
	version string // of the application's module
	root    string // the folder of that module in the go command's cache
	folder  string // of the tests' package
	command func(ctx context.Context, setting string) *exec.Cmd
}

// compile compiles the tests of an application. home is the folder of this command.
func compile(ctx context.Context, a *application, home, dir string) (*suite, error) {
	if a.Java != "" {
		return compileJava(ctx, a, home, dir)
	}
	module := filepath.Join(home, a.folder())
	out, err := output(ctx, module, "go", "mod", "download", "-json", a.Module)
	if err != nil {
		return nil, err
	}
	var m struct{ Version, Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("go mod download %s: %w", a.Module, err)
	}
	binary := filepath.Join(dir, a.Name+".test")
	s := &suite{app: a, version: m.Version, root: m.Dir, folder: filepath.Join(m.Dir, filepath.FromSlash(a.Package)), command: func(ctx context.Context, setting string) *exec.Cmd {
		args := append([]string{"tool", "test2json", "-t", binary, "-test.v=test2json", "-test.timeout=15m", "-test.count=1"}, a.Args...)
		if a.Run != "" {
			args = append(args, "-test.run="+a.Run)
		}
		if skip := a.leftOut(setting); skip != "" {
			args = append(args, "-test.skip="+skip)
		}
		return exec.CommandContext(ctx, "go", args...)
	}}
	args := slices.Concat([]string{"test", "-p", "1", "-c", "-o", binary}, a.Build, []string{a.importPath()})
	_, err = output(ctx, module, "go", args...)
	return s, err
}

// run runs the tests on a store. Their output goes to log.
func (s *suite) run(ctx context.Context, setting string, e endpoint, log *os.File) (*result, error) {
	if s.app.At != "" {
		stop, err := forward(s.app.At, e.addr)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	if s.app.Prepare != nil {
		if err := s.app.Prepare(ctx, s, e); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
	}
	tests := s.command(ctx, setting)
	tests.Dir = s.folder
	tests.Env = append(os.Environ(), s.app.Env(e)...)
	tests.Stderr = log
	r, err := stream(tests, log)
	if s.app.Clean != nil && err == nil {
		err = s.app.Clean(ctx, s, e)
	}
	return r, err
}

// stream runs tests and reads their events while they run. A run in which tests fail is no error.
// Whatever the tests print, stream holds only their names and outcomes.
func stream(tests *exec.Cmd, log io.Writer) (*result, error) {
	events, printed := io.Pipe()
	tests.Stdout = printed
	tests.WaitDelay = 10 * time.Second // a process that a test has left behind may hold the pipe
	type outcome struct {
		r   *result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := read(events, log)
		events.CloseWithError(err) // nobody reads on, so the tests end, too
		done <- outcome{r, err}
	}()
	err := tests.Run()
	printed.Close()
	o := <-done
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, errors.Join(err, o.err)
	}
	return o.r, o.err
}

// output runs a command and returns its standard output.
func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
