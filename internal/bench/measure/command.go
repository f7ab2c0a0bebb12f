// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Command has the flags that the benchmarks share.
type Command struct {
	Evenkeel string // the binary
	Only     string // see Run
	JSON     bool   // print the figures as JSON
}

// Flags declares the flags. parts is the benchmark's word for its parts.
func (c *Command) Flags(parts string) {
	flag.StringVar(&c.Evenkeel, "evenkeel", "", "the evenkeel binary")
	flag.StringVar(&c.Only, "only", "", "the "+parts+" to run, by a word of their names; all when empty")
	flag.BoolVar(&c.JSON, "json", false, "print the figures as JSON")
}

// Report prints figures on stdout, as JSON or by the function.
func (c *Command) Report(figures any, print func(io.Writer)) error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(figures)
	}
	print(os.Stdout)
	return nil
}

// Main parses the flags, calls run, and ends the process if run fails. An interrupt ends run's
// context.
func Main(run func(context.Context) error) {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
