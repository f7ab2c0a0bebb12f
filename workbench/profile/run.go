// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// lanes is in how many parts rows are counted, each by its own sketches, whatever the
// number of goroutines: so the same rows give the same result on any machine. More of
// them would let more processors count at the same time, and leave each less room.
const lanes = 4

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Top <= 0 {
		o.Top = 20
	}
	return o
}

func (o Options) scan(columns []string) rows.ScanOptions {
	return rows.ScanOptions{Workers: o.Workers, Lanes: lanes, Columns: columns, MaxBadRows: o.MaxBadRows, Progress: o.Progress}
}

// repeatedSample is how many rows Of keeps to see which come again.
const repeatedSample = 1 << 16

// profiler is what one lane knows.
type profiler struct {
	columns []*state
	hashes  []uint64
	rows    []uint64 // of each, over all columns
	edges   []edge
	whole   *sketch.Sample[uint32]
	room    *sketch.Room // of the columns' samples
	count   int64
	batches int
}

func newProfiler() *profiler {
	return &profiler{whole: sketch.NewSample[uint32](repeatedSample), room: sketch.NewRoom(valuesBytes / lanes)}
}

// Of reads the rows and says what they are like: once, or twice where dates are written
// with the day first and with the month first, parted by different signs. When ctx
// ends, what was read until then is the result, with Partial set.
func Of(ctx context.Context, in Input, o Options) (*Profile, error) {
	o = o.withDefaults()
	if err := o.checkColumns(in); err != nil {
		return nil, err
	}
	orders := make(map[string]*datetime.Order)
	for name, first := range o.MonthFirst {
		order := datetime.OrderOf(first)
		orders[name] = &order
	}
	p, again, err := o.read(ctx, in, orders)
	if err != nil || len(again) == 0 {
		return p, err
	}
	for name, order := range again {
		orders[name] = order
	}
	whole, _, err := o.read(ctx, in, orders)
	if err == nil && whole.Partial && !p.Partial { // interrupted: what is known of all rows is better
		return p, nil
	}
	return whole, err
}

// read reads the rows once, dates of columns in the orders that are given. again are the
// columns, and the orders, for which that was not right.
func (o Options) read(ctx context.Context, in Input, orders map[string]*datetime.Order) (p *Profile, again map[string]*datetime.Order, err error) {
	workers := make([]*profiler, lanes)
	for i := range workers {
		workers[i] = newProfiler()
	}
	known := in.Columns()
	var joints seams
	scanned, err := in.Scan(ctx, o.scan(nil), func(lane int, b *rows.Batch) error {
		p := workers[lane]
		if len(b.Columns) > len(known) && len(b.Columns) > len(p.columns) {
			// JSON Lines have got another column.
			p.meet(in.Columns(), len(known), o, orders)
		} else {
			p.meet(known, len(known), o, orders)
		}
		p.add(b)
		joints.put(b.Seq, b.N, p.edges)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	p, again = o.profile(in, workers, &joints, scanned, orders)
	return p, again, nil
}

// checkColumns says which columns the options are about that do not exist.
func (o Options) checkColumns(in Input) error {
	if len(o.Types) == 0 && len(o.MonthFirst) == 0 {
		return nil
	}
	var names []string
	has := make(map[string]bool)
	for _, c := range in.Columns() {
		names = append(names, c.Name)
		has[c.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(o.Types)) {
		if !has[name] {
			return fmt.Errorf("the type of %q: %w", name, &rows.UnknownColumn{Name: in.Name(), Column: name, Columns: names})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.MonthFirst)) {
		if !has[name] {
			return fmt.Errorf("the order of %q's dates: %w", name, &rows.UnknownColumn{Name: in.Name(), Column: name, Columns: names})
		}
	}
	return nil
}

// meet makes states for the columns that are known, of which there were so many at first.
func (p *profiler) meet(columns []rows.Column, first int, o Options, orders map[string]*datetime.Order) {
	for _, c := range columns[min(len(p.columns), len(columns)):] {
		s := newState(lanes*first, p.room)
		s.name, s.given, s.declared, s.moments.order = c.Name, o.Types[c.Name], c.Type, orders[c.Name]
		p.columns = append(p.columns, s)
	}
}

func (p *profiler) add(b *rows.Batch) {
	for i := range b.Columns {
		if p.columns[i].given != nil {
			p.columns[i].check(b, &b.Columns[i], p.columns[i].name)
		}
	}
	skip := b.Dropped()
	if cap(p.hashes) < b.N {
		p.hashes, p.rows = make([]uint64, b.N+b.N/8), make([]uint64, b.N+b.N/8)
	}
	p.hashes, p.rows = p.hashes[:b.N], p.rows[:b.N]
	clear(p.rows)
	p.edges = p.edges[:0]
	for i := range b.Columns {
		p.edges = append(p.edges, p.columns[i].add(b, &b.Columns[i], skip, p.hashes))
		seed := xxhash.Sum64String(p.columns[i].name)
		for r, h := range p.hashes {
			if h != nullHash {
				p.rows[r] += fold(h, seed)
			}
		}
	}
	for r, h := range p.rows {
		if skip != nil && skip[r] {
			continue
		}
		p.count++
		if n := p.whole.Add(mixed(h)); n != nil {
			*n++
		}
	}
	p.batches = max(p.batches, b.Seq+1)
}

// fold makes one hash of two.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	return hi ^ lo
}

// profile is the result of all goroutines.
func (o Options) profile(in Input, workers []*profiler, joints *seams, scanned rows.Scanned, orders map[string]*datetime.Order) (p *Profile, again map[string]*datetime.Order) {
	all := workers[0]
	for k, w := range workers[1:] {
		all.room.Join(w.room)
		workers[k+1] = nil // what it has kept can go
		for i, s := range w.columns {
			if i == len(all.columns) {
				all.columns = append(all.columns, s)
				continue
			}
			all.columns[i].merge(s)
		}
		all.whole.Merge(w.whole, func(into, from *uint32) { *into += *from })
		all.count += w.count
		all.batches = max(all.batches, w.batches)
	}
	p = &Profile{Data: in.Name(), Rows: all.count, Bad: scanned.Bad, Bads: scanned.First, Partial: scanned.Partial, batches: all.batches, starts: joints.starts()}
	if p.Partial {
		p.only = make([]bool, len(joints.rows))
		for seq, n := range joints.rows {
			p.only[seq] = n > 0
		}
	}
	p.Repeated = estimate(all.whole.Sum(func(n *uint32) float64 { return float64(*n - 1) })).capped(float64(p.Rows))
	for _, c := range in.Columns() {
		// Columns of JSON Lines that the scan has found are in another order now.
		i := slices.IndexFunc(all.columns, func(s *state) bool { return s.name == c.Name })
		if i < 0 {
			i = len(all.columns)
			s := newState(len(in.Columns()), all.room)
			s.name, s.given, s.declared = c.Name, o.Types[c.Name], c.Type
			all.columns = append(all.columns, s)
		}
		var seams [2]order
		if i < len(joints.orders) {
			seams = [2]order{joints.orders[i], joints.others[i]}
		}
		column, order := all.columns[i].column(p.Rows, all.batches, seams, o)
		if order != nil {
			if again == nil {
				again = make(map[string]*datetime.Order)
			}
			again[c.Name] = order
		}
		p.Columns = append(p.Columns, column)
	}
	return p, again
}

// Measure reads the rows once more and says what each candidate would do. p is what
// Of said of the same rows: types are taken from it. Candidates are measured
// together, some tens of them in about the time that it takes to read the rows. When
// ctx ends, what was read until then is the result, partial is true, and p is Partial
// from then on; but where p is Partial, the rows that p is of are read whatever ctx says.
func Measure(ctx context.Context, in Input, p *Profile, candidates []Candidate, o Options) (measured []*Measured, partial bool, err error) {
	o = o.withDefaults()
	l, err := newLayout(p, in, candidates)
	if err != nil {
		return nil, false, err
	}
	workers := make([]*measurer, lanes)
	for i := range workers {
		workers[i] = newMeasurer(l, o)
	}
	stop := func() {}
	var left atomic.Int64
	if p.Partial { // the rows that p is of, however ctx ended
		ctx, stop = context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		for _, read := range p.only {
			if read {
				left.Add(1)
			}
		}
	}
	scanned, err := in.Scan(ctx, o.scan(l.columns), func(lane int, b *rows.Batch) error {
		if p.Partial && (b.Seq >= len(p.only) || !p.only[b.Seq]) {
			return nil
		}
		workers[lane].add(b)
		if p.Partial && left.Add(-1) == 0 {
			stop()
		}
		return nil
	})
	if err != nil && !(p.Partial && left.Load() <= 0) { // of what is behind these rows nothing matters
		return nil, false, err
	}
	partial = scanned.Partial && !p.Partial
	if partial { // who measures more reads no more than that
		p.Partial, p.only = true, make([]bool, p.batches)
		for _, w := range workers {
			for _, seq := range w.seen {
				p.only[seq] = true
			}
		}
	}
	all := workers[0]
	for i, w := range workers[1:] {
		workers[i+1] = nil // what it has kept can go
		all.merge(w)
	}
	for i := range l.candidates {
		measured = append(measured, all.measured(i, o.Top))
	}
	return measured, partial, nil
}
