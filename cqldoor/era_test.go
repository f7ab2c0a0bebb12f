// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestFlights counts requests of two eras in one number.
func TestFlights(t *testing.T) {
	var f flights
	if f.begin(0) != 1 || f.begin(1) != 2 || f.begin(1) != 3 || f.of(0) != 1 || f.of(1) != 2 || f.Load() != 3 {
		t.Errorf("%d and %d of %d", f.of(0), f.of(1), f.Load())
	}
	f.end(0)
	f.end(1)
	if f.of(0) != 0 || f.of(1) != 1 || f.Load() != 1 {
		t.Errorf("%d and %d of %d", f.of(0), f.of(1), f.Load())
	}
}

// TestEras checks that Passed waits for the requests that were under way when it began, including
// those on connections that have ended, and for no others.
func TestEras(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eras := new(Eras)
		d := &Door{opts: Options{Eras: eras}, conns: map[*conn]struct{}{}, gone: map[*conn]struct{}{}}
		eras.join(d)
		c, gone := connOf(d), connOf(d)
		d.conns[c], d.gone[gone] = struct{}{}, struct{}{}
		if err := eras.Passed(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.inFlight.begin()
		first := c.inFlight.era
		gone.inFlight.begin()
		passed := make(chan error, 1)
		go func() { passed <- eras.Passed(t.Context()) }()
		synctest.Wait()
		time.Sleep(time.Second)
		c.inFlight.begin() // Passed does not wait for this one in the end
		if c.inFlight.era == first {
			t.Fatal("no era has ended")
		}
		c.inFlight.end(first)
		time.Sleep(time.Second)
		select {
		case <-passed:
			t.Fatal("it did not wait for a client that has gone")
		default:
		}
		gone.inFlight.end(gone.inFlight.era)
		time.Sleep(time.Second)
		c.inFlight.end(c.inFlight.era)
		if err := <-passed; err != nil {
			t.Fatal(err)
		}

		// A wait that gives up leaves its era to the next wait.
		c.inFlight.begin()
		before := c.inFlight.era
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if err := eras.Passed(ctx); err == nil {
			t.Fatal("it did not wait")
		}
		cancel()
		go func() { passed <- eras.Passed(t.Context()) }()
		time.Sleep(time.Second)
		select {
		case <-passed:
			t.Fatal("a request of an era that was given up was not waited for")
		default:
		}
		c.inFlight.end(before)
		if err := <-passed; err != nil {
			t.Fatal(err)
		}
		eras.leave(d)
		c.inFlight.begin()
		if err := eras.Passed(t.Context()); err != nil {
			t.Fatal("it waits for a door that has ended")
		}
	})
}

// TestErasForSeveralCallers lets several callers wait at the same time. One that gives up returns
// at once, and those that come while another waits share one more wait.
func TestErasForSeveralCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eras, c := erasOfOne()
		c.inFlight.begin()
		first := c.inFlight.era
		passed := make(chan error, 4)
		wait := func(ctx context.Context) {
			go func() { passed <- eras.Passed(ctx) }()
			synctest.Wait()
		}
		wait(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		wait(ctx)
		cancel()
		if err := <-passed; err != context.Canceled {
			t.Fatalf("a call that gave up while another waits has the result %v", err)
		}
		c.inFlight.begin() // judged before the next three calls
		second := c.inFlight.era
		for range 3 {
			wait(t.Context())
		}
		c.inFlight.end(first)
		if err := <-passed; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(passed) > 0 {
			t.Fatal("a call did not wait for a request that was judged before it")
		}
		c.inFlight.end(second)
		for range 3 {
			if err := <-passed; err != nil {
				t.Fatal(err)
			}
		}
		if n := eras.now.Load(); n != 2 {
			t.Errorf("four calls that had a result have ended %d eras", n)
		}
	})
}

// TestErasDoNotPoll checks that a call returns at the moment when the last request ends, or the
// last door.
func TestErasDoNotPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eras, c := erasOfOne()
		begun := time.Now()
		for _, end := range []func(){func() { c.inFlight.end(c.inFlight.era) }, func() { eras.leave(c.d) }} {
			c.inFlight.begin()
			passed := make(chan error, 1)
			go func() { passed <- eras.Passed(t.Context()) }()
			synctest.Wait()
			end()
			if err := <-passed; err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begun); d > 0 {
			t.Errorf("the calls took %v longer than the requests", d)
		}
	})
}

// erasOfOne returns the Eras of a door with one connection.
func erasOfOne() (*Eras, *conn) {
	eras := new(Eras)
	d := &Door{opts: Options{Eras: eras}, conns: map[*conn]struct{}{}, gone: map[*conn]struct{}{}}
	eras.join(d)
	c := connOf(d)
	d.conns[c] = struct{}{}
	return eras, c
}

// TestErasMeet begins requests while eras end and checks that Passed misses none that began before.
func TestErasMeet(t *testing.T) {
	eras := new(Eras)
	d := &Door{opts: Options{Eras: eras}, conns: map[*conn]struct{}{}, gone: map[*conn]struct{}{}}
	eras.join(d)
	var state, broken int64 // guarded by mu
	var mu sync.Mutex
	stop := make(chan struct{})
	var all sync.WaitGroup
	old := map[int64]int{}
	for range 4 {
		c := connOf(d)
		d.conns[c] = struct{}{}
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				c.inFlight.begin()
				mu.Lock()
				judged := state
				old[judged]++
				mu.Unlock()
				mu.Lock()
				old[judged]--
				mu.Unlock()
				c.inFlight.end(c.inFlight.era)
			}
		})
	}
	for range 50 {
		mu.Lock()
		state++
		now := state
		mu.Unlock()
		if err := eras.Passed(t.Context()); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		for of, n := range old {
			if of < now && n > 0 {
				broken++
			}
		}
		mu.Unlock()
	}
	close(stop)
	all.Wait()
	if broken > 0 {
		t.Errorf("%d times a request was under way that was judged before", broken)
	}
}

// connOf returns a connection of a door that only counts requests.
func connOf(d *Door) *conn { return &conn{d: d, inFlight: inFlight{eras: d.opts.Eras}} }
