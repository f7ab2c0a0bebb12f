// SPDX-License-Identifier: Apache-2.0

// Command reshard measures what clients notice while the layout of their table changes:
// `make bench-reshard`.
//
// Each scene loads a table, finds how many requests a second the door can carry, and sends 70% of
// that at a steady rate. A quiet phase without a change comes first; the latencies during the change are
// compared with its latencies. A latency begins when the request was due, so a pause of the server
// counts for all requests that were due in it. Afterwards the bench reads every row back. Last, it
// copies the table by hand, as a script does, under the same load.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

type options struct {
	evenkeel  string
	cassandra string
	rows      int
	hot       int
	quiet     time.Duration
	share     float64
	only      string
	json      bool
}

func main() {
	var o options
	flag.StringVar(&o.evenkeel, "evenkeel", "", "the evenkeel binary")
	flag.StringVar(&o.cassandra, "cassandra", "", "host:port of a Cassandra behind the door; the embedded engine when empty")
	flag.IntVar(&o.rows, "rows", 1_000_000, "rows of a table")
	flag.IntVar(&o.hot, "hot", 100_000, "rows of the one hot key, in the scene of it")
	flag.DurationVar(&o.quiet, "quiet", 15*time.Second, "length of the phase before the change")
	flag.Float64Var(&o.share, "share", 0.7, "part of the door's capacity that the clients ask for")
	flag.StringVar(&o.only, "only", "", "the scenes to run, by a word of their names; all when empty")
	flag.BoolVar(&o.json, "json", false, "print the figures as JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.evenkeel == "" {
		return fmt.Errorf("-evenkeel is needed; `make bench-reshard` gives it")
	}
	b := &bench{options: o}
	defer b.close()
	if err := b.start(ctx); err != nil {
		return err
	}
	var parts []measure.Part
	for _, s := range scenes {
		parts = append(parts, measure.Part{Name: s.name, Run: func(ctx context.Context) error { return b.play(ctx, s) }})
	}
	if err := measure.Run(ctx, o.only, parts...); err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(b.results)
	}
	print(os.Stdout, b.results)
	return nil
}
