// SPDX-License-Identifier: Apache-2.0

// Command with-cassandra starts the Cassandra that tests share and runs a command with its address
// in EVENKEEL_TEST_CASSANDRA. Then it ends Cassandra and exits with the command's code:
//
//	go run ./internal/testkit/cmd/with-cassandra go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "with-cassandra: usage: with-cassandra COMMAND [ARGUMENT…]")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	begun := time.Now()
	i, err := cassandra.Launch(ctx, cassandra.SharedOptions)
	if err != nil {
		fmt.Fprintln(os.Stderr, "with-cassandra:", err)
		return 1
	}
	defer i.Close()
	fmt.Fprintf(os.Stderr, "Cassandra serves at %s after %.1f s\n", i.Addr(), time.Since(begun).Seconds())

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), cassandra.AddrVariable+"="+i.Addr(), cassandra.LogVariable+"="+i.Log())
	// Interrupt it first, as a terminal would: `go test` then ends its test binaries itself.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	default:
		fmt.Fprintln(os.Stderr, "with-cassandra:", err)
		return 1
	}
}
