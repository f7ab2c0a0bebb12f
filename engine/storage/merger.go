// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/budget"
)

// mergerName is stored on disk. Pebble refuses to open the data with another name.
const mergerName = "evenkeel.row.1"

// merger makes Pebble reconcile the operands of a key. Data keys hold rows or a partition's
// deletions. Other keys are never merged.
var merger = &pebble.Merger{
	Name: mergerName,
	Merge: func(key, operand []byte) (pebble.ValueMerger, error) {
		m := mergers.Get().(*valueMerger)
		m.deletions = len(operand) > 0 && operand[0]&rowIsDeletions != 0
		m.older, m.last = false, 0
		m.operands = append(m.operands[:0], len(operand))
		m.buf = append(m.buf[:0], operand...)
		return m, nil
	},
}

var mergers = sync.Pool{New: func() any { return new(valueMerger) }}

// foldAt is the least number of operands that are folded into one, and the largest number of rows that
// are merged at once. Folding also waits until the operands are as large as the last result. So memory
// is bounded by a few times the row, however often the row was written, and a row of n elements that
// were written one by one is folded in n log n steps.
const foldAt = 64

// valueMerger collects operands, usually one, and folds them at the end.
type valueMerger struct {
	deletions bool
	older     bool  // operands come from the newest to the oldest
	operands  []int // lengths
	last      int   // size of the last fold's result
	buf       []byte
	out       []byte
	group     [][]byte // operands that are merged at once, from the oldest to the newest
	rows      rowMerge
	dels      folder
	memory    *budget.Account // nil unless the merge is long
	abandoned runtime.Cleanup
}

func (m *valueMerger) MergeNewer(operand []byte) error { return m.add(operand) }

func (m *valueMerger) MergeOlder(operand []byte) error {
	m.older = true
	return m.add(operand)
}

// merging bounds the memory of all long merges that are under way. A merge only waits for other
// merges, and the oldest merge never waits. So it need not give up.
var merging = budget.New(64<<20, math.MaxInt64).Client()

// longMerge is the size of a merge, in bytes, from which it counts.
const longMerge = 1 << 20

// hold waits until there is room for the operands with one more, and for what they are merged into.
func (m *valueMerger) hold(operand int) error {
	n := int64(2 * (len(m.buf) + operand))
	if n < longMerge || m.memory != nil && n <= m.memory.Bytes() {
		return nil
	}
	ctx := context.Background() // Pebble gives none
	if m.memory == nil {
		a := budget.Open(budget.WithClient(ctx, merging))
		m.memory = &a
		// After an error in a read, Pebble forgets the merge.
		m.abandoned = runtime.AddCleanup(m, (*budget.Account).Close, m.memory)
	}
	return m.memory.Take(ctx, n+n/4-m.memory.Bytes()) // in steps, not for each operand
}

// release returns what hold has taken.
func (m *valueMerger) release() {
	if m.memory != nil {
		m.abandoned.Stop()
		m.memory.Close()
		m.memory = nil
	}
}

func (m *valueMerger) add(operand []byte) error {
	if err := m.hold(len(operand)); err != nil {
		return err
	}
	m.operands = append(m.operands, len(operand))
	m.buf = append(m.buf, operand...)
	if len(m.operands) < foldAt || len(m.buf) < 2*m.last {
		return nil
	}
	return m.fold()
}

// fold merges all operands into one.
func (m *valueMerger) fold() error {
	for len(m.operands) > 1 {
		var err error
		if m.deletions {
			if m.out, err = m.dels.fold(m.out[:0], m.buf, m.operands, m.older); err == nil {
				m.operands = append(m.operands[:0], len(m.out))
			}
		} else {
			err = m.foldRows()
		}
		if err != nil {
			m.release()
			return fmt.Errorf("merge: %w", err)
		}
		m.buf, m.out = m.out, m.buf
		m.last = len(m.buf)
	}
	return nil
}

// foldRows merges the operands in groups of neighbours. Each group becomes one operand in out.
func (m *valueMerger) foldRows() error {
	m.out = slices.Grow(m.out[:0], len(m.buf))
	src, groups := m.buf, 0
	for rest := m.operands; len(rest) > 0; groups++ {
		k := min(len(rest), foldAt)
		m.group = m.group[:0]
		for _, n := range rest[:k] {
			m.group = append(m.group, src[:n])
			src = src[n:]
		}
		if m.older {
			slices.Reverse(m.group)
		}
		before := len(m.out)
		var err error
		if m.out, err = m.rows.merge(m.out, m.group); err != nil {
			return err
		}
		rest = rest[k:]
		m.operands[groups] = len(m.out) - before
	}
	m.operands = m.operands[:groups]
	return nil
}

// Finish returns the only operand. It keeps what may be garbage: an older operand may be in a
// younger level or may still come. Only the sweep knows that none will (sweep.go).
func (m *valueMerger) Finish(bool) ([]byte, io.Closer, error) {
	defer m.release() // whoever asked for the row counts it from here on
	if err := m.fold(); err != nil {
		return nil, nil, err
	}
	if cap(m.out) > keptMemory {
		m.out = nil
	}
	return m.buf, m, nil
}

// Close frees the memory once the result has been used.
func (m *valueMerger) Close() error {
	if cap(m.buf)+cap(m.out) <= keptMemory && len(m.dels.free) <= 2*foldAt {
		mergers.Put(m)
	}
	return nil
}

// keptMemory is how much memory a merger may keep for the next key, in bytes.
const keptMemory = 64 << 10

// folder merges deletions in pairs of similar size, so that each operand is processed at most log n
// times.
type folder struct {
	stack, free []*deletions
}

func (f *folder) fold(dst, src []byte, lengths []int, older bool) ([]byte, error) {
	defer func() {
		f.free = append(f.free, f.stack...)
		f.stack = f.stack[:0]
		for _, d := range f.free {
			d.reset()
		}
	}()
	for _, n := range lengths {
		d := f.take()
		f.stack = append(f.stack, d)
		if err := d.decode(src[:n]); err != nil {
			return dst, err
		}
		src = src[n:]
		for k := len(f.stack); k >= 2 && f.stack[k-2].size() <= 2*f.stack[k-1].size(); k-- {
			f.join(older)
		}
	}
	for len(f.stack) > 1 {
		f.join(older)
	}
	return f.stack[0].append(dst), nil
}

// join merges the two operands on top of the stack.
func (f *folder) join(older bool) {
	k := len(f.stack)
	a, b, d := f.stack[k-2], f.stack[k-1], f.take()
	if older {
		d.merge(b, a)
	} else {
		d.merge(a, b)
	}
	f.stack = append(f.stack[:k-2], d)
	f.free = append(f.free, a, b)
}

func (f *folder) take() *deletions {
	if n := len(f.free); n > 0 {
		d := f.free[n-1]
		f.free = f.free[:n-1]
		return d
	}
	return new(deletions)
}
