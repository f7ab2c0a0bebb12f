// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/reshard"
)

var (
	manyFrom = flag.Int("reshard.from", 0, "the number of shards of the tables of many rows and items; 0: a plain table")
	manyTo   = flag.String("reshard.to", "4,6,0", "the numbers of shards that they change to, one after the other")
	manyRate = flag.Int("reshard.rate", 100, "requests a second of each of their four clients")
)

// inKey is the number of rows or items with one partition key.
const inKey = 500

// many is a table of many rows or items, which are known by their numbers. Each has a version.
type many interface {
	// load writes the rows from 0 to n-1 with version 0.
	load(t *testing.T, n int)
	// get returns the version of a row, which must be there.
	get(i int) (version int, there bool, err error)
	put(i, version int) error
	// scan reads all rows.
	scan(row func(i, version int) error) error
	// at returns what the commands call the table.
	at() *reshardTable
	// ripe reports whether a change has come to a point at which the door may be killed, the only one in
	// its phase.
	ripe(s *reshard.Status) bool
	// waits is the phase in which a change waits for the store. If it is "", the door may end all waits from
	// the beginning.
	waits() string
}

// owner is a client that alone writes some rows, and so knows what they are.
type owner struct {
	of       many
	r        *rand.Rand
	first    int   // it has this row and each fourth one after it
	versions []int // of all rows; it touches only its own
	doubt    map[int][]int
	took     []time.Duration // of requests before the change, and during it
	during   []time.Duration
	changing *atomic.Bool
	unsaid   int // requests without an answer
}

const owners = 4

// settle notes that a row has a version, and returns an error if it cannot have.
func (o *owner) settle(i, version int) error {
	if version != o.versions[i] && !slices.Contains(o.doubt[i], version) {
		return fmt.Errorf("row %d has version %d; it should be %d, or in doubt %v", i, version, o.versions[i], o.doubt[i])
	}
	o.versions[i] = version
	delete(o.doubt, i)
	return nil
}

// work reads and writes rows at a steady rate until the context ends.
func (o *owner) work(ctx context.Context) error {
	tick := time.NewTicker(time.Second / time.Duration(*manyRate))
	defer tick.Stop()
	next := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		i := o.first + owners*o.r.IntN(len(o.versions)/owners)
		changing, began := o.changing.Load(), time.Now()
		var err error
		if o.r.IntN(2) == 0 {
			var version int
			var there bool
			if version, there, err = o.of.get(i); err == nil {
				if !there {
					return fmt.Errorf("a read does not find row %d", i)
				}
				if err := o.settle(i, version); err != nil {
					return err
				}
			}
		} else {
			next++
			version := next*owners + o.first // no client gives a version twice
			if err = o.of.put(i, version); err == nil {
				o.versions[i] = version
				delete(o.doubt, i)
			} else {
				o.doubt[i] = append(o.doubt[i], version)
			}
		}
		switch {
		case err != nil:
			o.unsaid++
			time.Sleep(20 * time.Millisecond) // the door is dead
		case changing:
			o.during = append(o.during, time.Since(began))
		default:
			o.took = append(o.took, time.Since(began))
		}
	}
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))].Round(100 * time.Microsecond)
}

// changeMany changes the layout of a table of n rows under load, and kills the door on the way.
func changeMany(t *testing.T, m *mortal, of many, n, from, to int, wrong <-chan error) {
	door, err := of.at().open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { door.Close() }()
	began := time.Now()
	if _, err := door.Start(t.Context(), reshard.Target{Shards: to}); err != nil {
		t.Fatal(err)
	}
	finish := func() {
		if _, err := door.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	waits := of.waits()
	if waits == "" {
		finish()
	}
	var moved int64
	killed := map[string]bool{}
	for last := began; ; time.Sleep(time.Duration(min(n/1000, 500)+1) * time.Millisecond) {
		s, err := door.Status(t.Context())
		if err != nil {
			t.Fatalf("%v\n%s", err, m.printed.String())
		}
		select {
		case err := <-wrong:
			t.Fatal(err)
		default:
		}
		if time.Since(last) > time.Minute {
			last = time.Now()
			t.Logf("after %v: %s, %d of %d moved, %d verified, %d a second", time.Since(began).Round(time.Second), s.Phase, s.RowsMoved, s.RowsToMove, s.RowsVerified, s.Rate)
		}
		if moved = s.RowsMoved; s.Phase == reshard.NoPhase {
			break
		}
		if s.Phase == waits && waits != "" {
			finish()
		}
		if len(killed) < 3 && !killed[s.Phase] && of.ripe(&s) {
			killed[s.Phase] = true
			door.Close()
			m.kill()
			m.start()
			if door, err = of.at().open(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Logf("after %v: the door was killed in %s, with %d moved and %d verified", time.Since(began).Round(time.Second), s.Phase, s.RowsMoved, s.RowsVerified)
		}
	}
	t.Logf("%d rows from %d to %d shards in %v: %d moved, %d kills (%v)", n, from, to, time.Since(began).Round(100*time.Millisecond), moved, len(killed), killed)
	if len(killed) == 0 {
		t.Error("the door was not killed")
	}
}

// changeManyWhileKilled changes the layout of a table of n rows under a steady load, several times, kills the
// door in each change, and accounts for each row. scans says that a client reads the whole table meanwhile,
// again and again: each time it must see each row once.
func changeManyWhileKilled(t *testing.T, m *mortal, of many, n int, scans bool) {
	began := time.Now()
	of.load(t, n)
	t.Logf("%d rows loaded in %v", n, time.Since(began).Round(time.Second))
	versions, changing := make([]int, n), new(atomic.Bool)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	all := make([]*owner, owners)
	var working sync.WaitGroup
	wrong := make(chan error, owners+1)
	for k := range all {
		o := &owner{of: of, r: rand.New(rand.NewPCG(*killsSeed, uint64(k))), first: k, versions: versions, doubt: map[int][]int{}, changing: changing}
		all[k] = o
		working.Go(func() {
			if err := o.work(ctx); err != nil {
				wrong <- err
			}
		})
	}
	scanned := 0
	if scans {
		working.Go(func() {
			for ; ctx.Err() == nil; scanned++ {
				began := time.Now()
				if err := eachOnce(of, n, func(int, int) error { return nil }); err != nil {
					wrong <- fmt.Errorf("scan %d during the changes: %w", scanned+1, err)
					return
				}
				if took := time.Since(began); n > 100_000 { // a scan takes minutes, and the mover gives way to it
					t.Logf("scan %d has shown each of %d rows once, in %v", scanned+1, n, took.Round(time.Second))
					_ = deadline.Sleep(ctx, 3*took)
				}
			}
		})
	}
	time.Sleep(min(10*time.Second, time.Duration(n)*time.Millisecond)) // the quiet phase

	changing.Store(true)
	from := *manyFrom
	for _, text := range strings.Split(*manyTo, ",") {
		to, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		changeMany(t, m, of, n, from, to, wrong)
		from = to
	}
	stop()
	working.Wait()
	select {
	case err := <-wrong:
		t.Fatal(err)
	default:
	}
	requests, unsaid := 0, 0
	var before, during []time.Duration
	for _, o := range all {
		requests, unsaid = requests+len(o.took)+len(o.during), unsaid+o.unsaid
		before, during = append(before, o.took...), append(during, o.during...)
	}
	t.Logf("%d requests, %d without an answer, %d scans; before: p50 %v, p99 %v; during: p50 %v, p99 %v", requests, unsaid, scanned,
		quantile(before, 0.5), quantile(before, 0.99), quantile(during, 0.5), quantile(during, 0.99))
	if err := eachOnce(of, n, func(i, version int) error { return all[i%owners].settle(i, version) }); err != nil {
		t.Fatal(err)
	}
}

// eachOnce reads all n rows. It returns an error if a row is missing, or is shown twice.
func eachOnce(of many, n int, row func(i, version int) error) error {
	seen, count := make([]bool, n), 0
	err := of.scan(func(i, version int) error {
		if i < 0 || i >= n || seen[i] {
			return fmt.Errorf("a scan shows row %d, which it has shown, or nobody has written", i)
		}
		seen[i] = true
		count++
		return row(i, version)
	})
	if err == nil && count < n {
		err = fmt.Errorf("a scan shows %d of %d rows; row %d is the first that is missing", count, n, slices.Index(seen, false))
	}
	return err
}
