// SPDX-License-Identifier: Apache-2.0

package lane_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/lane"
)

func TestMain(m *testing.M) { leak.Main(m) }

// track queues requests and notes which have been given a place, and which none.
type track struct {
	lane   *lane.Lane
	events []string
}

func (t *track) queue(ctx context.Context, f *lane.Flow, name string) {
	t.lane.Queue(ctx, f, func(ok bool) {
		if !ok {
			name = "no " + name
		}
		t.events = append(t.events, name)
	})
}

func (t *track) want(tt *testing.T, events string) {
	tt.Helper()
	if got := strings.Join(t.events, ", "); got != events {
		tt.Errorf("got  %s\nwant %s", got, events)
	}
	t.events = nil
}

func TestFlowsTakeTurns(t *testing.T) {
	tr := &track{lane: lane.New(1, 1)}
	var a, b, c lane.Flow
	for i := range 4 {
		tr.queue(t.Context(), &a, fmt.Sprint("a", i))
	}
	tr.queue(t.Context(), &b, "b0")
	tr.queue(t.Context(), &b, "b1")
	tr.queue(t.Context(), &c, "c0")
	tr.want(t, "a0")
	for _, f := range []*lane.Flow{&a, &b, &c, &a, &b, &a} {
		tr.lane.Leave(f)
	}
	tr.want(t, "b0, c0, a1, b1, a2, a3")
	tr.lane.Leave(&a)
	if taken, waiting := tr.lane.Counts(); taken != 0 || waiting != 0 {
		t.Errorf("%d have places, %d wait", taken, waiting)
	}
}

func TestOneFlowLeavesPlacesToOthers(t *testing.T) {
	tr := &track{lane: lane.New(4, 2)}
	var a, b lane.Flow
	for i := range 5 {
		tr.queue(t.Context(), &a, fmt.Sprint("a", i))
	}
	tr.want(t, "a0, a1")
	tr.queue(t.Context(), &b, "b0")
	tr.want(t, "b0")
	tr.lane.Leave(&a)
	tr.want(t, "a2")
	tr.lane.Leave(&b)
	tr.want(t, "")
}

func TestWhoeverHasGoneGetsNoPlace(t *testing.T) {
	tr := &track{lane: lane.New(1, 1)}
	var a, b lane.Flow
	gone, leave := context.WithCancel(t.Context())
	tr.queue(t.Context(), &a, "a0")
	for i := range 3 {
		tr.queue(gone, &b, fmt.Sprint("b", i))
	}
	tr.queue(t.Context(), &b, "b3")
	tr.queue(gone, &a, "a1")
	tr.queue(t.Context(), &a, "a2")
	leave()
	tr.want(t, "a0")
	tr.lane.Drop(&b)
	tr.want(t, "no b0, no b1, no b2")
	if _, waiting := tr.lane.Counts(); waiting != 3 {
		t.Errorf("%d wait", waiting)
	}
	tr.lane.Leave(&a)
	tr.want(t, "b3")
	tr.lane.Leave(&b)
	tr.want(t, "no a1, a2")
}

func TestHold(t *testing.T) {
	tr := &track{lane: lane.New(1, 1)}
	var a, b lane.Flow
	tr.lane.Hold(&a)
	tr.queue(t.Context(), &a, "a0")
	tr.queue(t.Context(), &b, "b0")
	tr.lane.Leave(&b)
	tr.want(t, "b0")
	tr.lane.Release(&a)
	tr.want(t, "a0")
}

func TestEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lane.New(1, 1)
		var a, b lane.Flow
		if err := l.Enter(t.Context(), &a); err != nil {
			t.Fatal(err)
		}
		var order []string
		enter := func(f *lane.Flow, name string, again bool) {
			go func() {
				wait := l.Enter
				if again {
					wait = l.Again
				}
				if wait(t.Context(), f) == nil {
					order = append(order, name)
					l.Leave(f)
				}
			}()
			synctest.Wait()
		}
		enter(&a, "a1", false)
		enter(&a, "a2", false)
		enter(&b, "b1", false)
		enter(&a, "a0 again", true)
		gone, leave := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() { failed <- l.Enter(gone, &b) }()
		synctest.Wait()
		leave()
		if err := <-failed; err == nil {
			t.Error("who has gone was let in")
		}
		l.Leave(&a)
		synctest.Wait()
		if got := strings.Join(order, ", "); got != "a0 again, b1, a1, a2" {
			t.Error(got)
		}
		if l.Enter(gone, &a) == nil {
			t.Error("who has gone was let in to an empty lane")
		}
		if taken, waiting := l.Counts(); taken != 0 || waiting != 0 {
			t.Errorf("%d have places, %d wait", taken, waiting)
		}
	})
}

// TestManyAtOnce has many goroutines come and go, some of which lose patience: no
// more have places than there are, none is lost, and none is left.
func TestManyAtOnce(t *testing.T) {
	const places, each = 5, 2
	l := lane.New(places, each)
	flows := make([]lane.Flow, 7)
	var mu sync.Mutex
	now := make([]int, len(flows))
	var all sync.WaitGroup
	work := func(f int) {
		mu.Lock()
		now[f]++
		total := 0
		for _, n := range now {
			total += n
		}
		if total > places || now[f] > each {
			t.Errorf("places of each flow: %v", now)
		}
		mu.Unlock()
		mu.Lock()
		now[f]--
		mu.Unlock()
		l.Leave(&flows[f])
	}
	for i := range 200 {
		all.Go(func() {
			draw := rand.New(rand.NewPCG(1, uint64(i)))
			for range 50 {
				f := draw.IntN(len(flows))
				ctx, cancel := context.WithCancel(t.Context())
				switch draw.IntN(6) {
				case 0:
					go cancel()
				case 1:
					l.Hold(&flows[f])
					l.Release(&flows[f])
				case 2:
					l.Drop(&flows[f])
				}
				if draw.IntN(2) == 0 {
					if l.Enter(ctx, &flows[f]) == nil {
						work(f)
					}
				} else {
					done := make(chan struct{})
					l.Queue(ctx, &flows[f], func(ok bool) {
						go func() {
							if ok {
								work(f)
							}
							close(done)
						}()
					})
					<-done
				}
				cancel()
			}
		})
	}
	all.Wait()
	if taken, waiting := l.Counts(); taken != 0 || waiting != 0 || slices.Max(now) != 0 {
		t.Errorf("%d have places, %d wait, %v", taken, waiting, now)
	}
}
