// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// The budget of these tests: a request of at most 10 is short, and 80 are for those.
const size = 640

func clients(t *testing.T, b *budget.Budget, n int) []context.Context {
	all := make([]context.Context, n)
	for i := range all {
		all[i] = budget.WithClient(t.Context(), b.Client())
	}
	return all
}

// nothing fails unless everything has been given back.
func nothing(t *testing.T, b *budget.Budget) {
	t.Helper()
	if s := b.Stats(); s.Held != 0 || s.Requests != 0 || s.Waiting != 0 {
		t.Errorf("%d bytes are held by %d requests, %d takes wait", s.Held, s.Requests, s.Waiting)
	}
}

func TestWithoutABudgetNothingIsCounted(t *testing.T) {
	var b *budget.Budget
	ctx := budget.WithRequest(budget.WithClient(t.Context(), b.Client()))
	a := budget.Open(ctx)
	if err := a.Take(ctx, 1<<60); err != nil || a.On() || b.Crowded() {
		t.Error(err, a.On(), b.Crowded())
	}
	b.Client().Hold(1 << 40)
	a.Add(1)
	a.Shrink(0)
	a.Close()
}

func TestWhoWaitsGetsRoomWhenItIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(size, 0)
		cs := clients(t, b, 2)
		one, two := budget.Open(cs[0]), budget.Open(cs[1])
		if !one.Try(500) || two.Try(100) {
			t.Fatal("500 and 100 of 640, of which 80 are for short requests")
		}
		got := make(chan error, 1)
		go func() { got <- two.Take(cs[1], 100) }()
		synctest.Wait()
		if s := b.Stats(); s.Waiting != 1 || s.Held != 500 {
			t.Errorf("%+v", s)
		}
		one.Shrink(460)
		if err := <-got; err != nil || two.Bytes() != 100 {
			t.Error(err, two.Bytes())
		}
		one.Close()
		two.Close()
		nothing(t, b)
	})
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(size, 10*time.Second)
		cs := clients(t, b, 2)
		one, two := budget.Open(cs[0]), budget.Open(cs[1])
		one.Add(2 * size)
		start := time.Now()
		if err := two.Take(cs[1], 100); !errors.Is(err, budget.ErrNoRoom) || time.Since(start) != 10*time.Second {
			t.Error(err, time.Since(start))
		}
		if err := two.Take(cs[1], 100); !errors.Is(err, budget.ErrNoRoom) || time.Since(start) != 10*time.Second {
			t.Error("a request waits for longer than it may:", err, time.Since(start))
		}
		if s := b.Stats(); s.Refused != 2 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
		two.Close()
		one.Close()
		nothing(t, b)
	})
}

func TestWhoHasGoneWaitsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(size, 0)
		cs := clients(t, b, 2)
		one := budget.Open(cs[0])
		one.Add(2 * size)
		gone, leave := context.WithCancel(cs[1])
		var errs []error
		var mu sync.Mutex
		for range 5 {
			a := budget.Open(gone)
			a.Queue(gone, 100, func(err error) {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			})
		}
		leave()
		synctest.Wait()
		if len(errs) != 5 || !errors.Is(errs[0], context.Canceled) {
			t.Error(errs)
		}
		if s := b.Stats(); s.Waiting != 0 || s.Held != 2*size || s.Refused != 0 {
			t.Errorf("%+v", s)
		}
		one.Close()
		nothing(t, b)
	})
}

// Clients take turns, however many takes one of them has waiting, and one that holds
// something is ahead of all.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(size, 0)
		cs := clients(t, b, 4)
		full, held := budget.Open(cs[3]), budget.Open(cs[2])
		full.Try(440)
		held.Try(100)
		var order []string
		accounts := map[string]*budget.Account{}
		queue := func(ctx context.Context, a budget.Account, bytes int64, name string) {
			accounts[name] = &a
			accounts[name].Queue(ctx, bytes, func(err error) {
				if err != nil {
					name += " " + err.Error()
				}
				order = append(order, name)
			})
		}
		for i := range 3 {
			queue(cs[0], budget.Open(cs[0]), 440, fmt.Sprint("a", i))
		}
		queue(cs[1], budget.Open(cs[1]), 440, "b0")
		queue(cs[2], held, 440, "held")
		full.Close()
		for _, name := range []string{"held", "a0", "b0", "a1"} {
			synctest.Wait()
			accounts[name].Close()
		}
		synctest.Wait()
		accounts["a2"].Close()
		if got := strings.Join(order, ", "); got != "held, a0, b0, a1, a2" {
			t.Error(got)
		}
		nothing(t, b)
	})
}

// Long requests do not keep short ones out, nor short ones a long one.
func TestShortAndLong(t *testing.T) {
	b := budget.New(size, 0)
	cs := clients(t, b, 3)
	long := budget.Open(cs[0])
	if !long.Try(560) {
		t.Fatal("a long request has all but what is for short ones")
	}
	var shorts []budget.Account
	for i := range 9 {
		a := budget.Open(cs[1])
		if got := a.Try(10); got != (i < 8) {
			t.Fatalf("short request %d: %v", i, got)
		} else if got {
			shorts = append(shorts, a)
		}
	}
	long.Close()
	for range 20 { // there is room
		a := budget.Open(cs[1])
		if !a.Try(10) {
			t.Fatal("nothing else is held")
		}
		shorts = append(shorts, a)
	}
	var first, second budget.Account // of long requests
	first = budget.Open(cs[0])
	if !first.Try(100) {
		t.Fatal("there is room")
	}
	second = budget.Open(cs[2])
	got := make(chan error, 1)
	second.Queue(cs[2], 400, func(err error) { got <- err })
	another := budget.Open(cs[1])
	if another.Try(10) {
		t.Error("short requests go on taking what a long one waits for")
	}
	for i := range shorts {
		shorts[i].Close()
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	first.Close()
	second.Close()
	nothing(t, b)
}

// What clients leave unread is not pushed out by a long request; short ones go on.
func TestUnread(t *testing.T) {
	b := budget.New(size, 0)
	cs := clients(t, b, 2)
	c := b.Client()
	c.Hold(size)
	if !b.Crowded() {
		t.Error("unread answers take everything")
	}
	long, short := budget.Open(cs[0]), budget.Open(cs[1])
	got := make(chan error, 1)
	long.Queue(cs[0], 100, func(err error) { got <- err })
	if !short.Try(10) || b.Stats().Waiting != 1 {
		t.Errorf("%+v", b.Stats())
	}
	c.Hold(-size)
	if err := <-got; err != nil || b.Crowded() {
		t.Error(err)
	}
	long.Close()
	short.Close()
	nothing(t, b)
}

// Requests that each hold what the others wait for end all the same, one after the
// other, and no more than one is beyond the budget.
func TestNoDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(size, time.Hour)
		var most int64
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, ctx := range clients(t, b, 20) {
			all.Go(func() {
				a := budget.Open(ctx)
				defer a.Close()
				for range 10 {
					if err := a.Take(ctx, 50); err != nil {
						t.Error(err)
					}
					mu.Lock()
					most = max(most, b.Stats().Held)
					mu.Unlock()
					time.Sleep(time.Millisecond)
				}
			})
		}
		all.Wait()
		if most > size+500 {
			t.Errorf("%d bytes were held", most)
		}
		nothing(t, b)
	})
}

// TestHistories draws what many requests do, in several places each. All that end have
// given back everything, none waits for longer than its patience, and all that stay get
// what they ask for or are refused.
func TestHistories(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) { history(t, seed) })
	}
}

func history(t *testing.T, seed uint64) {
	draw := rand.New(rand.NewPCG(seed, 1))
	b := budget.New(size, time.Duration(1+draw.IntN(20))*time.Second)
	most := int64(1 + draw.IntN(300)) // of one take
	added := int64(0)
	var mu sync.Mutex
	var highest, over int64
	var all sync.WaitGroup
	cs := clients(t, b, 1+draw.IntN(6))
	handles := make([]*budget.Client, 3)
	for i := range handles {
		handles[i] = b.Client()
	}
	for i := range 1 + draw.IntN(60) {
		r := rand.New(rand.NewPCG(seed, uint64(i+2)))
		all.Go(func() {
			time.Sleep(time.Duration(r.IntN(5000)) * time.Millisecond)
			ctx, cancel := context.WithCancel(cs[r.IntN(len(cs))])
			defer cancel()
			if r.IntN(4) == 0 {
				time.AfterFunc(time.Duration(r.IntN(8000))*time.Millisecond, cancel)
			}
			ctx = budget.WithRequest(ctx)
			var places sync.WaitGroup
			for p := range 1 + r.IntN(4) {
				r := rand.New(rand.NewPCG(seed, uint64(1000*i+p)))
				places.Go(func() {
					a := budget.Open(ctx)
					defer a.Close()
					for range r.IntN(6) {
						switch r.IntN(10) {
						case 0:
							n := 1 + r.Int64N(20)
							mu.Lock()
							added += n
							mu.Unlock()
							a.Add(n)
						case 1:
							a.Shrink(a.Bytes() / 2)
						case 2:
							n := 1 + r.IntN(50)
							mu.Lock()
							added += int64(n)
							mu.Unlock()
							h := handles[r.IntN(len(handles))]
							h.Hold(n)
							time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
							h.Hold(-n)
						case 3:
							a.Try(1 + r.Int64N(most))
						default:
							before, start := a.Bytes(), time.Now()
							n := r.Int64N(most)
							err := a.Take(ctx, n)
							if err != nil && a.Bytes() != before || err == nil && a.Bytes() != before+n {
								t.Errorf("seed %d: %d held after a take of %d with %d: %v", seed, a.Bytes(), n, before, err)
							}
							if time.Since(start) > 21*time.Second {
								t.Errorf("seed %d: a take waited %v", seed, time.Since(start))
							}
							if err != nil && ctx.Err() == nil && !errors.Is(err, budget.ErrNoRoom) {
								t.Errorf("seed %d: %v", seed, err)
							}
							if err != nil {
								return
							}
						}
						mu.Lock()
						if held := b.Stats().Held; held > highest {
							highest, over = held, added
						}
						mu.Unlock()
						time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
					}
				})
			}
			places.Wait()
		})
	}
	all.Wait()
	// Beyond the budget are what did not wait, one long request, and one short one.
	if one := 4 * 6 * most; highest > size+over+one+10 {
		t.Errorf("seed %d: %d bytes were held", seed, highest)
	}
	nothing(t, b)
}

// A short request that waits does not hinder the other short ones when it has become a
// long one in another place.
func TestAShortTakeOfALongRequest(t *testing.T) {
	b := budget.New(size, 0)
	cs := clients(t, b, 3)
	full := budget.Open(cs[0])
	full.Try(560)
	var shorts []budget.Account
	for range 8 {
		a := budget.Open(cs[0])
		a.Try(10)
		shorts = append(shorts, a)
	}
	ctx := budget.WithRequest(cs[1])
	one, two := budget.Open(ctx), budget.Open(ctx)
	waits := make(chan error, 1)
	one.Queue(ctx, 5, func(err error) { waits <- err })
	two.Add(100)
	other := budget.Open(cs[2])
	got := make(chan error, 1)
	other.Queue(cs[2], 5, func(err error) { got <- err })
	shorts[0].Close()
	if err := <-got; err != nil {
		t.Error(err)
	}
	full.Close()
	if err := <-waits; err != nil {
		t.Error(err)
	}
	for _, a := range append(slices.Clone(shorts), one, two, other) {
		a.Close()
	}
	nothing(t, b)
}

func TestTryAllocatesNothing(t *testing.T) {
	b := budget.New(size, 0)
	ctx := budget.WithRequest(budget.WithClient(t.Context(), b.Client()))
	a := budget.Open(ctx)
	a.Try(1)
	if n := testing.AllocsPerRun(100, func() {
		inner := budget.Open(ctx)
		inner.Try(5)
		inner.Close()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	a.Close()
}
