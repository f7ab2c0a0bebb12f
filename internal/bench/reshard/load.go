// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workers is the number of requests that may be in flight. A request that is due while all are
// under way waits, and its latency grows.
const workers = 256

// phase is what the clients saw for a while.
type phase struct {
	latencies []time.Duration
	failed    int
	first     error // of those that failed
	wall      time.Duration
}

func (p *phase) quantile(q float64) time.Duration {
	if len(p.latencies) == 0 {
		return 0
	}
	slices.Sort(p.latencies)
	return p.latencies[int(float64(len(p.latencies)-1)*q)]
}

func (p *phase) perSecond() float64 { return float64(len(p.latencies)) / p.wall.Seconds() }

// steady sends requests at a rate until ctx is done. A rate of 0 sends as fast as the answers come,
// 48 at a time.
func steady(ctx context.Context, rate float64, request func(r *rand.Rand) error) *phase {
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
			var own []time.Duration
			for ctx.Err() == nil {
				due := time.Now()
				if rate > 0 {
					due = start.Add(time.Duration(float64(begun.Add(1)-1) / rate * float64(time.Second)))
					if wait := time.Until(due); wait > 0 {
						time.Sleep(wait)
					}
				}
				err := request(r)
				if err != nil {
					mu.Lock()
					if p.failed++; p.first == nil {
						p.first = err
					}
					mu.Unlock()
					continue
				}
				own = append(own, time.Since(due))
			}
			mu.Lock()
			p.latencies = append(p.latencies, own...)
			mu.Unlock()
		})
	}
	all.Wait()
	p.wall = time.Since(start)
	return &p
}
