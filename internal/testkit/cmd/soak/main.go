// SPDX-License-Identifier: Apache-2.0

// Command soak runs the property tests of this module with new seeds until its time is over. It
// prints each seed that fails, with the command that repeats it:
//
//	go run ./internal/testkit/cmd/soak -for 1h
//
// It exits with 1 if a seed failed. With -report, it prints the failures and exits with 0. Packages
// whose tests need a Cassandra take part if EVENKEEL_TEST_CASSANDRA names one (see with-cassandra).
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

func main() {
	limit := flag.Duration("for", time.Hour, "how long to look")
	checks := flag.Int("checks", 30, "histories a test draws from one seed")
	report := flag.Bool("report", false, "exit with 0 where a seed fails")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	failed, err := soak(ctx, *limit, *checks)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	case failed > 0 && !*report:
		os.Exit(1)
	}
}

// soak returns the number of failed runs. It runs each package at least once, however short the
// limit is.
func soak(ctx context.Context, limit time.Duration, checks int) (failed int, err error) {
	suites, err := find(os.Getenv(cassandra.AddrVariable) != "")
	if err != nil {
		return 0, err
	}
	bin, err := os.MkdirTemp("", "evenkeel-soak-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(bin)
	for i := range suites {
		if err := suites[i].build(ctx, bin); err != nil {
			return 0, err
		}
	}

	runs := 0
	for end := time.Now().Add(limit); runs == 0 || time.Now().Before(end); {
		for _, s := range suites {
			if ctx.Err() != nil || runs >= len(suites) && time.Now().After(end) {
				break
			}
			seed := 1 + rand.Uint64N(1<<53) // rapid draws its own seed for 0
			runs++
			if out, ok := s.run(ctx, seed, checks); !ok && ctx.Err() == nil {
				failed++
				fmt.Printf("%s\nsoak: seed %d failed; to repeat it:\n  go test %s -run '%s' -rapid.seed=%d -rapid.checks=%d\n\n", out, seed, s.path, s.tests, seed, checks)
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	fmt.Printf("soak: %d runs of %d packages with fresh seeds, %d failed\n", runs, len(suites), failed)
	return failed, nil
}

func (s *suite) build(ctx context.Context, bin string) error {
	s.binary = filepath.Join(bin, filepath.Base(filepath.Dir(s.dir))+"-"+filepath.Base(s.dir)+".test")
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", s.binary, s.path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -c %s: %w\n%s", s.path, err, out)
	}
	return nil
}

// run returns the end of the tests' output, and whether they pass.
func (s *suite) run(ctx context.Context, seed uint64, checks int) (string, bool) {
	cmd := exec.CommandContext(ctx, s.binary, "-test.run", s.tests, "-test.timeout", "20m",
		fmt.Sprintf("-rapid.seed=%d", seed), fmt.Sprintf("-rapid.checks=%d", checks), "-rapid.nofailfile")
	cmd.Dir = s.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(&out, err)
	}
	const most = 16 << 10
	b := out.Bytes()
	return string(b[max(0, len(b)-most):]), err == nil
}
