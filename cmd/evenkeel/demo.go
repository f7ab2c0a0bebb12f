// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/demo"
	"github.com/evenkeel/evenkeel/workbench/report"
)

// demoCmd holds the arguments of `evenkeel demo`.
type demoCmd struct {
	Rate       int     `default:"5000" help:"Writes offered a second, to one partition key (${default})."`
	Seconds    int     `default:"8" help:"How many seconds the demo measures for each table (${default}), after three seconds that do not count."`
	Speed      float64 `default:"1" help:"How much faster than real time the engine's clock goes (${default}); 0: as fast as this machine can."`
	ListenHTTP string  `placeholder:"ADDR" default:"127.0.0.1:8080" help:"Address of the live page; if its port is taken, the demo takes another; 'off' for none (${default})."`
	JSON       bool    `name:"json" help:"Print the result as JSON: tables with offered, accepted, throttled, per second, map, query; queries_agree, speed."`
}

// Validate returns an error if the flags are wrong.
func (c *demoCmd) Validate() error {
	switch {
	case c.Rate < 100 || c.Rate > demo.MaxRate:
		return fmt.Errorf("--rate: %d is not from 100 to %d writes a second", c.Rate, demo.MaxRate)
	case c.Seconds < 1 || c.Seconds > demo.MaxSeconds:
		return fmt.Errorf("--seconds: %d is not from 1 to %d", c.Seconds, demo.MaxSeconds)
	case !(c.Speed >= 0 && c.Speed <= 1000):
		return fmt.Errorf("--speed: %v is not from 0 to 1000", c.Speed)
	}
	return nil
}

// Run runs the demo and prints its result.
func (c *demoCmd) Run(std *stdio) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return c.demo(ctx, std)
}

func (c *demoCmd) demo(ctx context.Context, std *stdio) error {
	o := demo.Options{Rate: c.Rate, Seconds: c.Seconds, Speed: c.Speed}
	if c.Speed == 0 {
		o.Speed = -1
	}
	d, err := demo.New(o)
	if err != nil {
		return err
	}
	ended, err := c.listen(std.err, d.Handler())
	if err != nil {
		return err
	}
	defer ended()
	watched := watchDemo(std.err, d)
	r, err := d.Run(ctx)
	watched()
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(std.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		printDemo(std, &r)
	}
	if err == nil && r.Partial {
		err = &coded{withHint(fmt.Errorf("demo: the result is partial: %s", r.Why), "evenkeel demo starts again; --seconds %d takes less time", max(1, c.Seconds/2)), partialResult}
	}
	return err
}

// lastLook is how long the page gets to fetch the final state.
const lastLook = time.Second

// listen serves the live page. If the default port is taken, for example by evenkeel serve, it
// takes any free port.
func (c *demoCmd) listen(errs io.Writer, h http.Handler) (ended func(), err error) {
	if c.ListenHTTP == "off" || c.ListenHTTP == "" {
		return func() {}, nil
	}
	ln, err := listen(c.ListenHTTP, "--listen-http", 8080)
	if err != nil && c.ListenHTTP == "127.0.0.1:8080" {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(errs, "evenkeel: a live page on http://%s/demo\n", ln.Addr())
	var asked atomic.Bool
	srv := &http.Server{ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/demo/state" {
			asked.Store(true)
		}
		h.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintf(errs, "evenkeel: the live page: %v\n", err)
		}
	}()
	return func() {
		if asked.Load() {
			time.Sleep(lastLook)
		}
		_ = srv.Close() // a page that is still open keeps what it shows
		<-done
	}, nil
}

// watchDemo reports the demo's progress on stderr until stop is called: one line that is
// rewritten on a terminal, one line for each table elsewhere.
func watchDemo(errs io.Writer, d *demo.Demo) (stop func()) {
	terminal := false
	if f, ok := errs.(*os.File); ok {
		st, err := f.Stat()
		terminal = err == nil && st.Mode()&os.ModeCharDevice != 0
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(progressEvery)
		defer t.Stop()
		told := map[string]bool{}
		for {
			select {
			case <-done:
				if terminal {
					fmt.Fprint(errs, "\r\x1b[K")
				}
				return
			case <-t.C:
			}
			for _, tb := range d.Snapshot().Tables {
				if tb.State != demo.Writing {
					continue
				}
				if !terminal {
					if !told[tb.Name] {
						told[tb.Name] = true
						fmt.Fprintf(errs, "evenkeel: writing: %s\n", tb.Title)
					}
					continue
				}
				fmt.Fprintf(errs, "\r\x1b[K%-24s %2d s  %6s accepted a second, %d of %d partitions", tb.Title, len(tb.Course), capacity.Number(math.Round(tb.PerSecond)), tb.Occupied, tb.Partitions)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// printDemo prints the result as text.
func printDemo(std *stdio, r *demo.Result) {
	number := func(n float64) string { return capacity.Number(math.Round(n)) }
	out := func(format string, args ...any) { fmt.Fprintf(std.out, format, args...) }
	if r.Partial {
		out("PARTIAL (%s): what follows is about the writes up to there\n", r.Why)
	}
	out("%s writes a second of %s bytes, all for InvoiceNumber %s, %d seconds to each table; on the embedded engine\n", number(float64(r.Rate)), number(float64(r.ItemBytes)), r.Invoice, r.Seconds)
	out("with DynamoDB's limits, in memory. Nothing that is throttled is tried again.\n")
	if text := demoClock(r); text != "" {
		out("%s\n", text)
	}
	out("\n  %-24s %10s %10s %10s %12s %10s   %s\n", "", "offered/s", "accepted/s", "throttled", "partitions", "expected/s", "p50 / p99")
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Offered == 0 {
			out("  %-24s %10s\n", t.Title, "not begun")
			continue
		}
		share := float64(t.Throttled) / float64(t.Offered)
		out("  %-24s %10s %10s %10s %12s %10s   %.2f / %.2f ms\n", t.Title, number(float64(r.Rate)), number(t.PerSecond), shareText(share), fmt.Sprintf("%d of %d", t.Occupied, t.Partitions), number(t.Expected), t.P50, t.P99)
		out("  %-24s %s\n", "", gauge(t.PerSecond/float64(r.Rate), 40))
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Offered == 0 {
			continue
		}
		out("\n%s\n", t.Title)
		for _, p := range t.Map {
			keys := strings.Join(p.Keys, ", ")
			shared := ""
			if len(p.Keys) > 1 {
				shared = "  ← together"
			}
			out("  partition %2d  %6s writes/s offered, takes 1,000   %s%s\n", p.Partition, number(p.Offered), keys, shared)
		}
		for _, words := range t.Words {
			report.Entry(std.out, "", words)
		}
	}
	var q *demo.Query
	for i := range r.Tables {
		if r.Tables[i].Query != nil {
			q = r.Tables[i].Query
		}
	}
	if q == nil {
		return
	}
	out("\nthe query\n")
	report.Entry(std.out, "", q.Expression)
	if r.Same {
		report.Entry(std.out, "same", fmt.Sprintf("%d transactions, the same list in the same order from each of the %d tables.", len(q.Items), r.Queried))
	} else {
		report.Entry(std.out, "DIFFERENT", "the tables gave different lists.")
	}
	report.Entry(std.out, "Client10", fmt.Sprintf("%d of them are of Client1, and %d of Client10, which begins with Client1, too: put a separator behind the number. begins_with(ClientTransactionid, \"Client1-\") finds the %d.", q.Client1, q.Client10, q.Exact))
	var units []string
	for i := range r.Tables {
		if t := &r.Tables[i]; t.Query != nil {
			units = append(units, fmt.Sprintf("%s %.1f", t.Title, t.Query.Units))
		}
	}
	report.Entry(std.out, "read units", strings.Join(units, ", ")+": each shard that is asked costs at least 0.5.")
}

// demoClock describes the engine's clock if it did not follow the wall clock, else returns "".
func demoClock(r *demo.Result) string {
	switch {
	case math.Abs(r.Speed-1) <= 0.03 && r.Speed >= 0.97*r.Asked:
		return ""
	case r.Asked > 0 && r.Speed < 0.97*r.Asked:
		return fmt.Sprintf("This machine cannot offer that many at that speed: the engine's clock went at %.2f × the wall's, and all rates are per second of the engine's.", r.Speed)
	}
	return fmt.Sprintf("Time is scaled: the engine's clock went at %.2f × the wall's, and all rates are per second of the engine's.", r.Speed)
}
