// SPDX-License-Identifier: Apache-2.0

// Command dynamodb measures the DynamoDB door and the embedded engine against their peers, and
// prints ratios: `make bench-dynamodb`.
//
// Everything runs on this machine at once, so absolute times mean little. Each comparison consists of
// interleaved rounds in one run, after a warm-up, and divides the medians of the rounds. CPU is the
// time that the operating system charged to the processes.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

type options struct {
	measure.Command
	dynalite string
	dynoxide string
	rounds   int
	length   time.Duration
	items    int
}

func main() {
	var o options
	var forward, to string
	o.Flags("parts")
	flag.StringVar(&o.dynalite, "dynalite", "", "dynalite's cli.js, which node runs; left out when empty")
	flag.StringVar(&o.dynoxide, "dynoxide", "", "the dynoxide binary; left out when empty")
	flag.IntVar(&o.rounds, "rounds", 5, "interleaved rounds of each comparison")
	flag.DurationVar(&o.length, "length", 2*time.Second, "length of one round")
	flag.IntVar(&o.items, "items", 20_000, "items of the invoice")
	flag.StringVar(&forward, "reverse-proxy", "", "be the peer of forwarding: listen here")
	flag.StringVar(&to, "to", "", "with -reverse-proxy: the URL to forward to")
	measure.Main(func(ctx context.Context) error {
		if forward != "" {
			return reverseProxy(forward, to)
		}
		return run(ctx, o)
	})
}

func run(ctx context.Context, o options) error {
	if o.Evenkeel == "" {
		return fmt.Errorf("-evenkeel is needed; `make bench-dynamodb` gives it")
	}
	b := &bench{options: o}
	defer b.close()
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := measure.Run(ctx, o.Only, measure.Part{Name: "operations", Run: b.operations}, measure.Part{Name: "queries by hand", Run: b.queries}, measure.Part{Name: "forwarding", Run: b.forwarding}); err != nil {
		return err
	}
	return o.Report(&b.report, b.report.print)
}
