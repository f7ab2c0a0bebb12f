// SPDX-License-Identifier: Apache-2.0

// Command cql measures the CQL door and the embedded engine against their peers, and prints ratios:
// `make bench-cql`. With -ring it measures doors in front of three nodes that it starts: `make
// bench-ring`.
//
// Everything runs on this machine at once, so absolute times mean little. Each comparison consists of
// interleaved rounds in one run, after a warm-up, and divides the medians of the rounds. CPU is the
// time that the operating system charged to the processes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

type options struct {
	measure.Command
	cassandra string
	pid       int
	proxy     string
	rounds    int
	length    time.Duration
	rows      int
	ring      bool
}

func main() {
	var o options
	flag.StringVar(&o.cassandra, "cassandra", os.Getenv("EVENKEEL_TEST_CASSANDRA"), "host:port of a Cassandra that is otherwise idle")
	flag.IntVar(&o.pid, "cassandra-pid", 0, "its process id; found by its port when 0")
	flag.StringVar(&o.proxy, "cql-proxy", "", "the cql-proxy binary; left out when empty")
	o.Flags("parts")
	flag.IntVar(&o.rounds, "rounds", 7, "interleaved rounds of each comparison")
	flag.DurationVar(&o.length, "length", 2*time.Second, "length of one round of point operations")
	flag.IntVar(&o.rows, "rows", 100_000, "rows of the day")
	flag.BoolVar(&o.ring, "ring", false, "measure token-aware requests and hedges in front of three nodes of its own, and nothing else")
	measure.Main(func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	if o.ring && o.Evenkeel != "" {
		b := &bench{options: o, report: &report{}}
		defer b.close()
		if err := b.onRing(ctx); err != nil {
			return err
		}
		return o.Report(b.report, b.report.print)
	}
	if o.cassandra == "" || o.Evenkeel == "" {
		return fmt.Errorf("-cassandra and -evenkeel are needed; `make bench-cql` gives them")
	}
	if o.pid == 0 {
		var err error
		if o.pid, err = measure.Listener(o.cassandra); err != nil {
			return err
		}
	}
	b := &bench{options: o, report: &report{}}
	defer b.close()
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := measure.Run(ctx, o.Only, measure.Part{Name: "point operations", Run: b.points}, measure.Part{Name: "pages and whole days", Run: b.pages}, measure.Part{Name: "embedded engine", Run: b.engine}, measure.Part{Name: "capacity", Run: b.capacity}); err != nil {
		return err
	}
	return o.Report(b.report, b.report.print)
}
