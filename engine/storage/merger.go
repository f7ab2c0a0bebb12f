// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"
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

// foldAt is the least number of operands that are folded into one. Folding also waits until the
// operands are as large as the last result. So memory is bounded by twice the row, however often
// the row was written, and a row of n elements that were written one by one is folded in n log n
// steps.
const foldAt = 64

// valueMerger collects operands, usually one, and folds them at the end.
type valueMerger struct {
	deletions bool
	older     bool  // operands come from the newest to the oldest
	operands  []int // lengths
	last      int   // size of the last fold's result
	buf       []byte
	out       []byte
	rows      folder[rowData, *rowData]
	dels      folder[deletions, *deletions]
}

func (m *valueMerger) MergeNewer(operand []byte) error { return m.add(operand) }

func (m *valueMerger) MergeOlder(operand []byte) error {
	m.older = true
	return m.add(operand)
}

func (m *valueMerger) add(operand []byte) error {
	m.operands = append(m.operands, len(operand))
	m.buf = append(m.buf, operand...)
	if len(m.operands) < foldAt || len(m.buf) < 2*m.last {
		return nil
	}
	return m.fold()
}

// fold merges all operands into one.
func (m *valueMerger) fold() error {
	if len(m.operands) < 2 {
		return nil
	}
	var err error
	if m.deletions {
		m.out, err = m.dels.fold(m.out[:0], m.buf, m.operands, m.older)
	} else {
		m.out, err = m.rows.fold(m.out[:0], m.buf, m.operands, m.older)
	}
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	m.buf, m.out = m.out, m.buf
	m.last = len(m.buf)
	m.operands = append(m.operands[:0], len(m.buf))
	return nil
}

// Finish returns the only operand. It keeps what may be garbage: an older operand may be in a
// younger level or may still come. Only the sweep knows that none will (sweep.go).
func (m *valueMerger) Finish(bool) ([]byte, io.Closer, error) {
	if err := m.fold(); err != nil {
		return nil, nil, err
	}
	return m.buf, m, nil
}

// Close frees the memory once the result has been used.
func (m *valueMerger) Close() error {
	const keep = 64 << 10
	if cap(m.buf)+cap(m.out) <= keep && len(m.rows.free)+len(m.dels.free) <= 2*foldAt {
		mergers.Put(m)
	}
	return nil
}

// operand is the decoded form of a key's values.
type operand[T any] interface {
	*T
	decode(src []byte) error
	merge(older, newer *T) // sets the receiver, which is neither, to both
	append(dst []byte) []byte
	reset()
	size() int
}

// folder merges operands in pairs of similar size, so that each operand is processed at most log
// n times.
type folder[T any, P operand[T]] struct {
	stack, free []P
}

func (f *folder[T, P]) fold(dst, src []byte, lengths []int, older bool) ([]byte, error) {
	defer func() {
		f.free = append(f.free, f.stack...)
		f.stack = f.stack[:0]
		for _, x := range f.free {
			x.reset()
		}
	}()
	for _, n := range lengths {
		x := f.take()
		f.stack = append(f.stack, x)
		if err := x.decode(src[:n]); err != nil {
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
func (f *folder[T, P]) join(older bool) {
	k := len(f.stack)
	a, b, x := f.stack[k-2], f.stack[k-1], f.take()
	if older {
		x.merge(b, a)
	} else {
		x.merge(a, b)
	}
	f.stack = append(f.stack[:k-2], x)
	f.free = append(f.free, a, b)
}

func (f *folder[T, P]) take() P {
	if n := len(f.free); n > 0 {
		x := f.free[n-1]
		f.free = f.free[:n-1]
		return x
	}
	return new(T)
}
