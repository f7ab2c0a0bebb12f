// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// workers is the number of requests that may be in flight. A request that is due while all are
// under way waits, and its latency grows.
const workers = 256

// request is a request that was answered.
type request struct {
	due     time.Time
	latency time.Duration
}

// phase is what the clients saw for a while.
type phase struct {
	requests []request
	failed   int
	first    error // of those that failed
	wall     time.Duration
}

// quantile returns a quantile of the latencies.
func (p *phase) quantile(q float64) time.Duration {
	if len(p.requests) == 0 {
		return 0
	}
	slices.SortFunc(p.requests, func(a, b request) int { return cmp.Compare(a.latency, b.latency) })
	return p.requests[int(float64(len(p.requests)-1)*q)].latency
}

// between returns a phase with only the requests that were due from one time on, and before another.
func (p *phase) between(from, to time.Time) *phase {
	out := &phase{wall: to.Sub(from)}
	for _, r := range p.requests {
		if !r.due.Before(from) && r.due.Before(to) {
			out.requests = append(out.requests, r)
		}
	}
	return out
}

// trace prints, for each 100 ms of the phase, the step of the change, the number of requests that
// were due, their longest and their median.
func (p *phase) trace(steps []step) {
	const every = 100 * time.Millisecond
	for i := range steps[:len(steps)-1] {
		for from := steps[i].from; from.Before(steps[i+1].from); from = from.Add(every) {
			of := p.between(from, from.Add(every))
			measure.Progress("  %6.1f s  %-9s  %4d requests, longest %.0f ms, median %.0f ms", from.Sub(steps[0].from).Seconds(), steps[i].Name, len(of.requests), millis(of.quantile(1)), millis(of.quantile(0.5)))
		}
	}
}

func (p *phase) perSecond() float64 { return float64(len(p.requests)) / p.wall.Seconds() }

// steady sends requests at a rate until ctx is done. A rate of 0 sends as fast as the answers come,
// 48 at a time.
func steady(ctx context.Context, rate float64, send func(r *rand.Rand) error) *phase {
	var (
		p      phase
		mu     sync.Mutex
		all    sync.WaitGroup
		begun  atomic.Int64
		start  = time.Now()
		number = workers
	)
	if rate == 0 {
		number = 48
	}
	for w := range number {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 7))
			var own []request
			for ctx.Err() == nil {
				due := time.Now()
				if rate > 0 {
					due = start.Add(time.Duration(float64(begun.Add(1)-1) / rate * float64(time.Second)))
					if wait := time.Until(due); wait > 0 {
						time.Sleep(wait)
					}
				}
				err := send(r)
				if err != nil {
					mu.Lock()
					if p.failed++; p.first == nil {
						p.first = err
					}
					mu.Unlock()
					continue
				}
				own = append(own, request{due, time.Since(due)})
			}
			mu.Lock()
			p.requests = append(p.requests, own...)
			mu.Unlock()
		})
	}
	all.Wait()
	p.wall = time.Since(start)
	return &p
}
