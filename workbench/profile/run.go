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

// lanes is the number of parts in which rows are counted, each with its own sketches. It does not
// depend on the number of goroutines, so that the same rows give the same result on any machine.
// With more lanes, more processors could count at the same time, but each lane would have less
// room.
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

func (o Options) lanes() int {
	if o.OneLane {
		return 1
	}
	return lanes
}

func (o Options) scan(columns []string) rows.ScanOptions {
	return rows.ScanOptions{Workers: o.Workers, Lanes: o.lanes(), Columns: columns, MaxBadRows: o.MaxBadRows, Progress: o.Progress}
}

// repeatedSample is how many rows Of keeps to find repeated ones.
const repeatedSample = 1 << 16

// profiler holds what one lane has counted.
type profiler struct {
	columns []*state
	hashes  []uint64
	rows    []uint64 // hashes of each row over all columns
	edges   []edge
	whole   *sketch.Sample[uint32]
	room    *sketch.Room // of the columns' samples
	count   int64
	batches int
}

func newProfiler() *profiler {
	return &profiler{whole: sketch.NewSample[uint32](repeatedSample), room: sketch.NewRoom(valuesBytes / lanes)}
}

// Of reads the rows and describes them. It reads them once, or twice if some dates have the day
// first and others, with another sign, the month first. When ctx ends, the result is about the rows
// read until then, with Partial set.
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
	if err == nil && whole.Partial && !p.Partial { // interrupted: the result for all rows is better
		return p, nil
	}
	return whole, err
}

// read reads the rows once, and dates of columns in the given orders. again holds the columns, with
// their orders, that need another reading.
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
			// JSON Lines have a new column.
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

// checkColumns returns an error if the options name a column that does not exist.
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

// meet makes states for new columns. first is the number of columns known at first.
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

// fold combines two hashes into one.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	return hi ^ lo
}

// profile returns the result of all goroutines.
func (o Options) profile(in Input, workers []*profiler, joints *seams, scanned rows.Scanned, orders map[string]*datetime.Order) (p *Profile, again map[string]*datetime.Order) {
	all := workers[0]
	for k, w := range workers[1:] {
		all.room.Join(w.room)
		workers[k+1] = nil // so that its memory can be freed
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
	states := make(map[string]*state)
	for _, c := range in.Columns() {
		// The scan may have reordered the columns of JSON Lines.
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
		states[c.Name] = all.columns[i]
	}
	p.findNumbers()
	p.findDays(states)
	p.findNumbered(states)
	for i := range p.Columns {
		if c := &p.Columns[i]; c.Made != nil && c.Note == "" {
			c.Note = c.madeNote()
		}
	}
	return p, again
}

// Measure reads the rows once more and says what each candidate would do. p is the result of Of for
// the same rows; Measure takes the types from it. It measures the candidates together: some tens of
// them take about as long as reading the rows. When ctx ends, the result is about the rows read
// until then, partial is true, and p is Partial from then on. But if p is Partial already, Measure
// reads the rows that p describes, even if ctx has ended.
func Measure(ctx context.Context, in Input, p *Profile, candidates []Candidate, o Options) (measured []*Measured, partial bool, err error) {
	o = o.withDefaults()
	l, err := newLayout(p, in, candidates, o.Billing)
	if err != nil {
		return nil, false, err
	}
	workers := make([]*measurer, o.lanes())
	for i := range workers {
		workers[i] = newMeasurer(l, o)
	}
	stop := func() {}
	var left atomic.Int64
	if p.Partial { // the rows that p describes, however ctx ended
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
	if err != nil && !(p.Partial && left.Load() <= 0) { // errors behind these rows do not matter
		return nil, false, err
	}
	partial = scanned.Partial && !p.Partial
	if partial { // later measurements read no more rows than this one
		p.Partial, p.only = true, make([]bool, p.batches)
		for _, w := range workers {
			for _, seq := range w.seen {
				p.only[seq] = true
			}
		}
	}
	all := workers[0]
	for i, w := range workers[1:] {
		workers[i+1] = nil // so that its memory can be freed
		all.merge(w)
	}
	for i := range l.candidates {
		measured = append(measured, all.measured(i, o.Top))
		if all.bill != nil {
			measured[i].ItemSizes = all.bill.all
		}
	}
	return measured, partial, nil
}
