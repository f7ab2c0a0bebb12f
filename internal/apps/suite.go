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
	"strings"
	"time"
)

// suite is an application's tests, compiled.
type suite struct {
	app     *application
	version string // of the application's module
	root    string // where the go command keeps that module
	folder  string // of the tests' package
	binary  string
}

// compile compiles the tests of an application. home is the folder of this command.
func compile(ctx context.Context, a *application, home, dir string) (*suite, error) {
	module := filepath.Join(home, a.Name)
	out, err := output(ctx, module, "go", "mod", "download", "-json", a.Module)
	if err != nil {
		return nil, err
	}
	var m struct{ Version, Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("go mod download %s: %w", a.Module, err)
	}
	s := &suite{app: a, version: m.Version, root: m.Dir, folder: filepath.Join(m.Dir, filepath.FromSlash(a.Package)), binary: filepath.Join(dir, a.Name+".test")}
	args := []string{"test", "-p", "1", "-c", "-o", s.binary}
	if len(a.Edits) > 0 {
		overlay, err := s.overlay(dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "-overlay", overlay)
	}
	_, err = output(ctx, module, "go", append(args, a.importPath())...)
	return s, err
}

// overlay writes the edited files and the list of them that the go command reads.
func (s *suite) overlay(dir string) (string, error) {
	replace := map[string]string{}
	for i, e := range s.app.Edits {
		file := filepath.Join(s.folder, e.File)
		from := file
		if edited, twice := replace[file]; twice {
			from = edited
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if n := bytes.Count(text, []byte(e.Old)); n != 1 {
			return "", fmt.Errorf("%s has %q %d times, not once: look what the tests of %s look like now", file, e.Old, n, s.version)
		}
		replace[file] = filepath.Join(dir, fmt.Sprintf("%s-%d-%s", s.app.Name, i, e.File))
		if err := os.WriteFile(replace[file], bytes.Replace(text, []byte(e.Old), []byte(e.New), 1), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, s.app.Name+"-overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}

// run runs the tests on a store; what they print goes to log.
func (s *suite) run(ctx context.Context, setting string, e endpoint, log io.Writer) (*result, error) {
	if s.app.Prepare != nil {
		if err := s.app.Prepare(ctx, s, e); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
	}
	args := append([]string{"-test.v=test2json", "-test.timeout=15m", "-test.count=1"}, s.app.Args...)
	if s.app.Run != "" {
		args = append(args, "-test.run="+s.app.Run)
	}
	if skip := s.app.leftOut(setting); skip != "" {
		args = append(args, "-test.skip="+skip)
	}
	var events bytes.Buffer
	tests := exec.CommandContext(ctx, "go", append([]string{"tool", "test2json", "-t", s.binary}, args...)...)
	tests.Dir = s.folder
	tests.Env = append(os.Environ(), s.app.Env(e)...)
	tests.Stdout, tests.Stderr = &events, log
	tests.WaitDelay = 10 * time.Second
	var exit *exec.ExitError
	if err := tests.Run(); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	r, err := read(&events, log)
	if s.app.Clean != nil && err == nil {
		err = s.app.Clean(ctx, s, e)
	}
	return r, err
}

// output runs a command and returns what it prints on its standard output.
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
