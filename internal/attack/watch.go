// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// watch holds two servers beside each other, of which one is attacked: short reads of
// both are timed, and the attacked one's memory is looked at.
type watch struct {
	f           *field
	target, odd *server
	memory      float64 // before the attack, in bytes
	goroutines  float64
	stopped     chan struct{}
	wg          sync.WaitGroup

	mu   sync.Mutex
	slow map[string]map[*server]time.Duration // the slowest read of each kind
	most float64
	// What the server said when it was the most: held of the budget, and in the heap.
	held, live float64
}

// A read beside an attack may take so many times what it takes on a server that is not
// attacked, at the same time, and so much at any rate.
const (
	slower    = 20
	atAnyRate = 3 * time.Second
	// memoryAllowed is what the process may take beside what it took before: its budget,
	// and as much of garbage and of what is not counted.
	memoryBudget  = "400MB"
	memoryAllowed = 2 * 400_000_000
)

// newWatch measures, DynamoDB's door where items is set, and goes on until finish.
func newWatch(f *field, target, odd *server, items bool) (*watch, error) {
	w := &watch{f: f, target: target, odd: odd, stopped: make(chan struct{}), slow: map[string]map[*server]time.Duration{}}
	var err error
	if w.memory, err = target.metric("process_resident_memory_bytes"); err != nil {
		return nil, err
	}
	if w.goroutines, err = target.metric("go_goroutines"); err != nil {
		return nil, err
	}
	for _, s := range []*server{target, odd} {
		w.probe("SELECT key FROM system.local", s, w.cqlProbe(s))
		if !items {
			continue
		}
		w.probe("GetItem", s, func() error {
			_, err := s.items().Do("GetItem", `{"TableName":"probe","Key":{"h":{"S":"a"}}}`)
			return err
		})
	}
	w.wg.Go(func() {
		for w.wait(100 * time.Millisecond) {
			if n, err := target.metric("process_resident_memory_bytes"); err == nil {
				w.mu.Lock()
				if n > w.most {
					w.most = n
					w.held, _ = target.metric("evenkeel_memory_held_bytes")
					w.live, _ = target.metric("go_memstats_heap_alloc_bytes")
				}
				w.mu.Unlock()
			}
		}
	})
	return w, nil
}

// cqlProbe reads on one connection, and connects anew after an error.
func (w *watch) cqlProbe(s *server) func() error {
	var c *difftest.Conn
	return func() (err error) {
		if c == nil {
			if c, err = difftest.Dial(s.cql, primitive.ProtocolVersion5, "", ""); err != nil {
				return err
			}
		}
		a, err := c.Query(difftest.Request{Query: "SELECT key FROM system.local"})
		switch {
		case err != nil:
			c.Close()
			c = nil
		case a.Kind != difftest.Rows:
			err = fmt.Errorf("answer %v", a)
		}
		return err
	}
}

func (w *watch) wait(d time.Duration) bool {
	select {
	case <-w.stopped:
		return false
	case <-time.After(d):
		return true
	}
}

func (w *watch) probe(kind string, s *server, ask func() error) {
	w.mu.Lock()
	if w.slow[kind] == nil {
		w.slow[kind] = map[*server]time.Duration{}
	}
	w.mu.Unlock()
	w.wg.Go(func() {
		for w.wait(20 * time.Millisecond) {
			begun := time.Now()
			err := ask()
			took := time.Since(begun)
			w.mu.Lock()
			w.slow[kind][s] = max(w.slow[kind][s], took)
			w.mu.Unlock()
			if err != nil {
				w.f.fault("a read beside the attack fails", "%s: %v after %v", kind, err, took)
				if !w.wait(time.Second) || !s.alive() {
					return
				}
			}
		}
	})
}

// finish waits until nothing is under way, and says what was too much.
func (w *watch) finish() {
	f := w.f
	var last string
	for deadline := time.Now().Add(time.Minute); w.target.alive(); time.Sleep(200 * time.Millisecond) {
		running, err := w.target.metric("evenkeel_cql_requests_in_flight")
		goroutines, err2 := w.target.metric("go_goroutines")
		if err == nil && err2 == nil && running <= 1 && goroutines <= w.goroutines+50 {
			break
		}
		last = fmt.Sprintf("%v requests in flight, %v goroutines, %v before", running, goroutines, w.goroutines)
		if time.Now().After(deadline) {
			f.fault("work goes on when nobody waits", "a minute after the attack: %s", last)
			break
		}
	}
	close(w.stopped)
	w.wg.Wait()
	for kind, by := range w.slow {
		fmt.Printf("  %s: slowest %v; on the server that is not attacked %v\n", kind, by[w.target].Round(time.Millisecond), by[w.odd].Round(time.Millisecond))
		if by[w.target] > max(atAnyRate, slower*by[w.odd]) {
			f.fault("others wait", "%s took %v, and %v on the server that is not attacked", kind, by[w.target], by[w.odd])
		}
	}
	fmt.Printf("  memory: %.0f MiB before, %.0f MiB at most; then %.0f MiB were held of the budget, and %.0f MiB in the heap\n", w.memory/(1<<20), w.most/(1<<20), w.held/(1<<20), w.live/(1<<20))
	if w.most > w.memory+memoryAllowed {
		f.fault("memory", "%.0f MiB, before the attack %.0f MiB", w.most/(1<<20), w.memory/(1<<20))
	}
}
