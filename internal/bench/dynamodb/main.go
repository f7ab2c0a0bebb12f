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
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

type options struct {
	evenkeel string
	dynalite string
	dynoxide string
	rounds   int
	length   time.Duration
	items    int
	json     bool
	only     string
}

func main() {
	var o options
	var forward, to string
	flag.StringVar(&o.evenkeel, "evenkeel", "", "the evenkeel binary")
	flag.StringVar(&o.dynalite, "dynalite", "", "dynalite's cli.js, which node runs; left out when empty")
	flag.StringVar(&o.dynoxide, "dynoxide", "", "the dynoxide binary; left out when empty")
	flag.IntVar(&o.rounds, "rounds", 5, "interleaved rounds of each comparison")
	flag.DurationVar(&o.length, "length", 2*time.Second, "length of one round")
	flag.IntVar(&o.items, "items", 20_000, "items of the invoice")
	flag.StringVar(&o.only, "only", "", "the parts to run, by a word of their names; all when empty")
	flag.BoolVar(&o.json, "json", false, "print the figures as JSON")
	flag.StringVar(&forward, "reverse-proxy", "", "be the peer of forwarding: listen here")
	flag.StringVar(&to, "to", "", "with -reverse-proxy: the URL to forward to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	if forward != "" {
		err = reverseProxy(forward, to)
	} else {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.evenkeel == "" {
		return fmt.Errorf("-evenkeel is needed; `make bench-dynamodb` gives it")
	}
	b := &bench{options: o}
	defer b.close()
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := measure.Run(ctx, o.only, measure.Part{Name: "operations", Run: b.operations}, measure.Part{Name: "queries by hand", Run: b.queries}, measure.Part{Name: "forwarding", Run: b.forwarding}); err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(&b.report)
	}
	b.report.print(os.Stdout)
	return nil
}
