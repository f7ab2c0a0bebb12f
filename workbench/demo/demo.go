// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
	plans "github.com/evenkeel/evenkeel/workbench/capacity"
)

// Options says how long and how fast the demo runs. The zero value is the example's load, in real
// time.
type Options struct {
	Rate    int     // writes offered per second; default 5,000
	Seconds int     // measured for each table; default 8
	Speed   float64 // speed of the engine's clock over the wall clock; default 1, negative: as fast as possible
}

// These are limits of Options.
const (
	MaxRate    = 20_000
	MaxSeconds = 60
)

const (
	invoice   = "121212"
	itemBytes = 1000   // so that the hidden key lifts no item above 1,024
	warmUnits = 40_000 // the most that a table takes by default
)

// These are seconds before the measured ones. Each partition has saved up a second's units. Writes
// at twice the rate use them up. Then, in a second at the rate, partitions with headroom recover.
const (
	draining = 2
	settling = 1
	warmUp   = draining + settling
)

// Demo runs once.
type Demo struct {
	o     Options
	clock *clock
	pace  pace
	halt  func() // called at each tick, so that tests can stop the writing there; nil: none

	mu     sync.Mutex
	result Result
	wall   time.Duration // of writing to the tables before this one
	passed time.Duration // on the demo's clock in that time
}

// New makes a demo.
func New(o Options) (*Demo, error) {
	if o.Rate == 0 {
		o.Rate = 5000
	}
	if o.Seconds == 0 {
		o.Seconds = 8
	}
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.Rate < 100 || o.Rate > MaxRate || o.Seconds < 1 || o.Seconds > MaxSeconds || math.IsNaN(o.Speed) || o.Speed > 1000 {
		return nil, fmt.Errorf("%d writes a second for %d seconds at speed %v: the rate is from 100 to %d, the seconds are up to %d", o.Rate, o.Seconds, o.Speed, MaxRate, MaxSeconds)
	}
	p, err := plans.For(plans.Request{Store: plans.DynamoDB, WritesPerSecond: float64(o.Rate), ItemBytes: itemBytes, KeyBytes: len(invoice)})
	if err != nil {
		return nil, err
	}
	d := &Demo{o: o, clock: newClock()}
	d.result = Result{Invoice: invoice, Rate: o.Rate, ItemBytes: itemBytes, Seconds: o.Seconds, WarmUp: warmUp, Recommended: p.Recommended, Asked: math.Max(0, o.Speed)}
	for _, t := range []Table{
		{Name: "Invoices", Title: "unsharded", Shards: 1},
		{Name: fmt.Sprintf("Invoices%dcold", p.Minimum), Title: fmt.Sprintf("%d shards, cold", p.Minimum), Shards: p.Minimum},
		{Name: fmt.Sprintf("Invoices%dwarm", p.Minimum), Title: fmt.Sprintf("%d shards, pre-warmed", p.Minimum), Shards: p.Minimum, WarmWrites: warmUnits},
		{Name: fmt.Sprintf("Invoices%dwarm", p.Recommended), Title: fmt.Sprintf("%d shards, pre-warmed", p.Recommended), Shards: p.Recommended, WarmWrites: warmUnits},
	} {
		t.State, t.Course, t.Map, t.Words = Waiting, []Second{}, []Together{}, []string{}
		if len(d.result.Tables) < 3 || p.Recommended != p.Minimum {
			d.result.Tables = append(d.result.Tables, t)
		}
	}
	return d, nil
}

// Snapshot returns the result so far.
func (d *Demo) Snapshot() Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.result
	r.Tables = slices.Clone(r.Tables)
	for i := range r.Tables {
		t := &r.Tables[i]
		t.Course, t.Map, t.Words = slices.Clone(t.Course), slices.Clone(t.Map), slices.Clone(t.Words)
		reasons := t.Reasons
		t.Reasons = make(map[string]int, len(reasons))
		for k, v := range reasons {
			t.Reasons[k] = v
		}
	}
	return r
}

// change changes the result.
func (d *Demo) change(f func(r *Result)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.result)
}

// Run runs the demo. If the context ends it, the result is partial, and the error is nil.
func (d *Demo) Run(ctx context.Context) (Result, error) {
	s, err := open(ctx, d.clock)
	if err != nil {
		return d.Snapshot(), fmt.Errorf("demo: %w", err)
	}
	defer s.close()
	for i := range d.result.Tables {
		if err = d.table(ctx, s, i); err != nil {
			break
		}
	}
	d.change(func(r *Result) {
		r.Done = true
		if err != nil && ctx.Err() != nil {
			r.Partial, r.Why = true, "interrupted"
		}
		r.compare()
	})
	if err != nil && ctx.Err() == nil {
		return d.Snapshot(), fmt.Errorf("demo: %w", err)
	}
	return d.Snapshot(), nil
}

// compare sets whether the query gave the same list from all tables.
func (r *Result) compare() {
	var first *Query
	r.Same, r.Queried = true, 0
	for i := range r.Tables {
		q := r.Tables[i].Query
		if q == nil {
			continue
		}
		r.Queried++
		if first == nil {
			first = q
		}
		r.Same = r.Same && slices.Equal(q.Items, first.Items)
	}
	r.Same = r.Same && r.Queried > 0
}

// store is the engine with the door's router in front of it.
type store struct {
	db     *storage.DB
	items  *dynamodb.Store
	router *run.Router
	body   []byte
	answer []byte
}

func open(ctx context.Context, c *clock) (*store, error) {
	s := new(store)
	var err error
	if s.db, err = storage.Open("demo", storage.Options{FS: vfs.NewMem(), SweepInterval: -1, Clock: c.now}); err != nil {
		return nil, err
	}
	limits := throughput.Limits{}.WithDefaults()
	if s.items, err = dynamodb.Open(s.db, dynamodb.Options{Capacity: &limits, Clock: c.now, SweepInterval: -1}); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	s.router = run.New(run.Options{Backend: s.items, Now: c.now, Fanout: 1})
	if err := s.router.Start(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *store) close() {
	_ = s.items.Close() // all data are in memory
	_ = s.db.Close()
}

// do sends a request, and stores the answer's body in s.answer.
func (s *store) do(ctx context.Context, operation string, body []byte) (err error) {
	s.answer, err = s.router.Do(ctx, operation, body, s.answer[:0])
	return err
}
