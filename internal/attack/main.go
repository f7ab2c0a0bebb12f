// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// classes lists the attacks, in order. Work is the last: it sends a door large requests, which can fill the
// memory of the Cassandra behind it.
var classes = []struct {
	name, what string
	run        func(*field) error
}{
	{"catalogue", "every statement and message with names of the hidden keyspace, and guessed prepared ids", attackCatalogue},
	{"answers", "random statements on sharded and plain tables are answered alike", attackAnswers},
	{"crashes", "kill -9 under writers, and damaged files: nothing is lost in silence", attackCrashes},
	{"doors", "two doors on one store, tables dropped and created meanwhile", attackDoors},
	{"requests", "mutated DynamoDB requests are never the server's error; expressions are answered alike", attackRequests},
	{"signatures", "changed signatures, presigned URLs and rights are refused", attackSignatures},
	{"frames", "mutated frames and segments, slow readers, connections that do nothing", attackFrames},
	{"work", "requests that ask for much, from clients that leave; others are served, memory is bounded", attackWork},
}

// field is a class under attack: its random source, its time, and what was found.
type field struct {
	*rand.Rand // for one goroutine; others use a source from fork
	ctx        context.Context
	limit      time.Duration // the time for one attack; it counts from begin on
	until      time.Time
	binary     string
	dir        string // for data and logs, removed at the end
	cassandra  string // "": none

	sent atomic.Int64

	mu     sync.Mutex
	faults int
	told   map[string]int
}

func main() { os.Exit(run()) }

func run() int {
	limit := flag.Duration("for", 2*time.Minute, "how long each class is attacked")
	seed := flag.Uint64("seed", 0, "seed of the draws; 0 draws one")
	binary := flag.String("evenkeel", "bin/evenkeel", "the binary that is attacked")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "attack: usage: attack [flags] [CLASS…]")
		flag.PrintDefaults()
		for _, c := range classes {
			fmt.Fprintf(flag.CommandLine.Output(), "  %-12s %s\n", c.name, c.what)
		}
	}
	flag.Parse()
	for _, name := range flag.Args() {
		if !slices.ContainsFunc(classes, func(c struct {
			name, what string
			run        func(*field) error
		}) bool {
			return c.name == name
		}) {
			fmt.Fprintf(os.Stderr, "attack: there is no class %q\n", name)
			return 2
		}
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bin, err := filepath.Abs(*binary)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 2
	}
	faults := 0
	for i, c := range classes {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), c.name) || ctx.Err() != nil {
			continue
		}
		dir, err := os.MkdirTemp("", "evenkeel-attack-")
		if err != nil {
			fmt.Fprintln(os.Stderr, "attack:", err)
			return 2
		}
		begun := time.Now()
		f := &field{Rand: rand.New(rand.NewPCG(*seed, uint64(i))), ctx: ctx, limit: *limit, binary: bin, dir: dir,
			cassandra: os.Getenv(cassandra.AddrVariable), told: map[string]int{}}
		fmt.Printf("attack %s: %s (seed %d)\n", c.name, c.what, *seed)
		f.begin()
		err = c.run(f)
		if err == nil && f.sent.Load() == 0 {
			err = errors.New("it sent no request")
		}
		if err != nil && ctx.Err() == nil {
			f.fault("the attack itself failed", "%v", err)
		}
		os.RemoveAll(dir)
		for _, kind := range slices.Sorted(maps.Keys(f.told)) {
			fmt.Printf("  %d × %s\n", f.told[kind], kind)
		}
		fmt.Printf("attack %s: %d requests in %.0f s, %d faults\n", c.name, f.sent.Load(), time.Since(begun).Seconds(), f.faults)
		faults += f.faults
	}
	switch {
	case ctx.Err() != nil:
		return 130
	case faults > 0:
		return 1
	}
	return 0
}

// fork returns a random source for another goroutine.
func (f *field) fork() *rand.Rand { return rand.New(rand.NewPCG(f.Uint64(), f.Uint64())) }

// begin begins the time of an attack. An attack that first fills tables calls it after that.
func (f *field) begin() { f.until = time.Now().Add(f.limit) }

// over reports whether the time of the class is over.
func (f *field) over() bool { return f.ctx.Err() != nil || time.Now().After(f.until) }

// fault records a fault and prints the first few of each kind.
func (f *field) fault(kind, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults++
	if f.told[kind]++; f.told[kind] <= 5 {
		text := fmt.Sprintf(format, args...)
		if len(text) > 4000 {
			text = text[:3000] + " … " + text[len(text)-900:]
		}
		fmt.Printf("FAULT %s: %s\n", kind, strings.ReplaceAll(text, "\n", "\n  "))
	}
}

// pick draws one of several values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// upTo draws a number from 1 to n; small and large ones are about equally likely.
func upTo(r *rand.Rand, n int) int {
	for n > 1 && r.IntN(3) > 0 {
		n = max(1, n/8)
	}
	return 1 + r.IntN(n)
}
