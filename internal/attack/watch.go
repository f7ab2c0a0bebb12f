// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// watch compares two servers, one of them under attack. It times short reads on both, and observes
// the memory of the attacked one.
type watch struct {
	f           *field
	target, odd *server
	inFront     bool    // odd is the Cassandra that target is in front of
	memory      float64 // bytes before the attack
	goroutines  float64
	stopped     chan struct{}
	wg          sync.WaitGroup

	mu   sync.Mutex
	slow map[string]map[*server]time.Duration // the slowest read of each kind
	lost []string                             // reads that failed in front of Cassandra
	most float64
	// held and live are the server's figures at the peak: the bytes that requests use of the
	// budget, and those in the heap.
	held, live float64
}

// slower is the factor by which a read during an attack may be slower than one on a server without
// an attack at the same time. A read may take atAnyRate in any case.
const (
	slower    = 20
	atAnyRate = 3 * time.Second
	// memoryAllowed is the memory that the process may take in addition to its initial memory: its
	// budget, and the same amount for garbage and uncounted memory.
	memoryBudget  = "400MB"
	memoryAllowed = 2 * 400_000_000
)

// In front of Cassandra: silence is the time for which a host must say nothing before the door gives its
// connections up, and unanswered the time after which it gives up a request. Reads that fail are no
// faults of the door if Cassandra itself was silent as long: the attack may take all of its memory.
const (
	silence    = 10 * time.Second
	unanswered = 75 * time.Second
)

// newWatch measures until finish.
func newWatch(f *field, target, odd *server, inFront bool) (*watch, error) {
	w := &watch{f: f, target: target, odd: odd, inFront: inFront, stopped: make(chan struct{}), slow: map[string]map[*server]time.Duration{}}
	var err error
	if w.memory, err = target.metric("process_resident_memory_bytes"); err != nil {
		return nil, err
	}
	if w.goroutines, err = target.metric("go_goroutines"); err != nil {
		return nil, err
	}
	for _, s := range []*server{target, odd} {
		w.probe(cqlRead, s, w.cqlProbe(s))
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

// probeItems times reads of the DynamoDB doors, too.
func (w *watch) probeItems() {
	for _, s := range []*server{w.target, w.odd} {
		w.probe("GetItem", s, func() error {
			_, err := s.items().Do("GetItem", `{"TableName":"probe","Key":{"h":{"S":"a"}}}`)
			return err
		})
	}
}

const cqlRead = "SELECT key FROM system.local"

// cqlProbe reads on one connection, and connects again after an error.
func (w *watch) cqlProbe(s *server) func() error {
	var c *difftest.Conn
	return func() (err error) {
		if c == nil {
			if c, err = difftest.Dial(s.cql, primitive.ProtocolVersion5, "", ""); err != nil {
				return err
			}
		}
		a, err := c.Query(difftest.Request{Query: cqlRead})
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
			if err != nil && w.inFront {
				w.lost = append(w.lost, fmt.Sprintf("%s at %s: %v after %v", kind, s.cql, err, took))
			}
			w.mu.Unlock()
			if err != nil {
				if !w.inFront {
					w.f.fault("a read beside the attack fails", "%s: %v after %v", kind, err, took)
				}
				if !w.wait(time.Second) || !s.alive() {
					return
				}
			}
		}
	})
}

// finish waits until nothing is under way, and reports what exceeded its limits.
func (w *watch) finish() {
	f := w.f
	var last string
	patience := time.Minute
	if w.inFront {
		patience += unanswered
	}
	for deadline := time.Now().Add(patience); w.target.alive(); time.Sleep(200 * time.Millisecond) {
		running, err := w.target.metric("evenkeel_cql_requests_in_flight")
		goroutines, err2 := w.target.metric("go_goroutines")
		if err == nil && err2 == nil && running <= 1 && goroutines <= w.goroutines+50 {
			break
		}
		last = fmt.Sprintf("%v requests in flight, %v goroutines, %v before", running, goroutines, w.goroutines)
		if time.Now().After(deadline) {
			f.fault("work goes on when nobody waits", "%v after the attack: %s", patience, last)
			break
		}
	}
	close(w.stopped)
	w.wg.Wait()
	stood := w.slow[cqlRead][w.odd]
	if stood >= silence && len(w.lost) > 0 {
		fmt.Printf("  Cassandra itself stood still for %v; %d reads failed, the first of them %s\n", stood.Round(time.Millisecond), len(w.lost), w.lost[0])
		w.lost = nil
	}
	for _, text := range w.lost {
		f.fault("a read beside the attack fails", "%s; Cassandra itself answered within %v", text, stood)
	}
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
