// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// at is a time whose monotonic and wall clocks are moved apart from each other.
func at(base time.Time, monotonic, wall time.Duration) time.Time {
	t := base.Add(monotonic) // moves both
	w := base.Add(wall)
	// A time.Time is its wall clock and its monotonic reading, in this order.
	type parts struct {
		wall uint64
		ext  int64
		loc  *time.Location
	}
	m, x := (*parts)(unsafe.Pointer(&t)), (*parts)(unsafe.Pointer(&w))
	m.wall = x.wall
	return t
}

// TestLeaseIsOverByEitherClock moves the clocks apart: a suspended machine stops the
// monotonic one, and the wall clock may be set.
func TestLeaseIsOverByEitherClock(t *testing.T) {
	base := time.Now()
	for _, c := range []struct {
		name            string
		monotonic, wall time.Duration
		holds           bool
	}{
		{"at once", 0, 0, true},
		{"at its end", 2 * time.Second, 2 * time.Second, true},
		{"after it", 2*time.Second + 1, 2*time.Second + 1, false},
		{"the machine was suspended", time.Millisecond, time.Hour, false},
		{"the wall clock was set back", 3 * time.Second, -time.Hour, false},
		{"the wall clock was set back within it", time.Second, -time.Hour, true},
	} {
		now := base
		l := NewLease(2*time.Second, func() time.Time { return now })
		if l.Holds() {
			t.Errorf("%s: a lease that never began holds", c.name)
		}
		l.Renew(base)
		now = at(base, c.monotonic, c.wall)
		if d := now.Sub(base); d != c.monotonic {
			t.Fatalf("%s: the monotonic clock is %v on", c.name, d)
		}
		if got := l.Holds(); got != c.holds {
			t.Errorf("%s: holds is %v", c.name, got)
		}
	}
}

// TestRenewKeepsTheLater renews by answers that come in another order than they were
// asked for.
func TestRenewKeepsTheLater(t *testing.T) {
	base := time.Now()
	now := base
	l := NewLease(2*time.Second, func() time.Time { return now })
	l.Renew(base.Add(time.Second))
	l.Renew(base)
	now = base.Add(3 * time.Second)
	if !l.Holds() {
		t.Error("an answer that was asked for before has shortened the lease")
	}
	if NewLease(0, nil).Holds() != true {
		t.Error("the only door's lease is over")
	}
}

// BenchmarkLeaseHolds is what every request on a sharded table pays.
func BenchmarkLeaseHolds(b *testing.B) {
	l := NewLease(time.Hour, time.Now)
	l.Renew(time.Now())
	for b.Loop() {
		if !l.Holds() {
			b.Fatal("over")
		}
	}
}

// TestOver has the lease end without anybody asking.
func TestOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLease(2*time.Second, time.Now)
		l.Watch()
		l.Renew(time.Now())
		time.Sleep(time.Second)
		l.Renew(time.Now())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if l.Over() {
			t.Error("over at its end")
		}
		time.Sleep(time.Second)
		l.Renew(time.Now())
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if !l.Over() {
			t.Error("not over after its end")
		}
		l.Renew(time.Now())
		if l.Over() {
			t.Error("over when it was renewed")
		}
		l.Stop()
	})
}
