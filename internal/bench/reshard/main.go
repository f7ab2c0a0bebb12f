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
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

type options struct {
	measure.Command
	cassandra string
	rows      int
	hot       int
	quiet     time.Duration
	share     float64
	single    bool
	trace     bool
}

func main() {
	var o options
	o.Flags("scenes")
	flag.StringVar(&o.cassandra, "cassandra", "", "host:port of a Cassandra behind the door; the embedded engine when empty")
	flag.IntVar(&o.rows, "rows", 1_000_000, "rows of a table")
	flag.IntVar(&o.hot, "hot", 100_000, "rows of the one hot key, in the scene of it")
	flag.DurationVar(&o.quiet, "quiet", 15*time.Second, "length of the phase before the change")
	flag.Float64Var(&o.share, "share", 0.7, "part of the door's capacity that the clients ask for")
	flag.BoolVar(&o.single, "single", false, "read single rows; without it, ten rows of a key, from all its shards")
	flag.BoolVar(&o.trace, "trace", false, "print the longest request of each 100 ms of a change, on stderr")
	measure.Main(func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	if o.Evenkeel == "" {
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
	if err := measure.Run(ctx, o.Only, parts...); err != nil {
		return err
	}
	return o.Report(b.results, func(w io.Writer) { print(w, b.results) })
}
