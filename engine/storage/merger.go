package storage

import (
	"fmt"
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// mergerName is on disk: Pebble refuses to open with another.
const mergerName = "evenkeel.row.1"

// merger makes Pebble reconcile the operands of a key. Data keys hold either
// rows or a partition's deletions; other keys are never merged.
var merger = &pebble.Merger{
	Name: mergerName,
	Merge: func(key, operand []byte) (pebble.ValueMerger, error) {
		m := mergers.Get().(*valueMerger)
		m.deletions = len(operand) > 0 && operand[0]&rowIsDeletions != 0
		m.older = false
		m.operands = append(m.operands[:0], len(operand))
		m.buf = append(m.buf[:0], operand...)
		return m, nil
	},
}

var mergers = sync.Pool{New: func() any { return new(valueMerger) }}

// foldAt is how many operands are kept before they are folded into one, so that
// memory is bounded by the row and not by how often it was written.
const foldAt = 64

// valueMerger collects operands, most often one, and folds them at the end.
type valueMerger struct {
	deletions bool
	older     bool  // operands come from newer to older
	folded    bool  // rows or dels are in use
	operands  []int // lengths
	buf       []byte
	out       []byte
	rows      [3]rowData
	dels      [3]deletions
}

func (m *valueMerger) MergeNewer(operand []byte) error { return m.add(operand) }

func (m *valueMerger) MergeOlder(operand []byte) error {
	m.older = true
	return m.add(operand)
}

func (m *valueMerger) add(operand []byte) error {
	m.operands = append(m.operands, len(operand))
	m.buf = append(m.buf, operand...)
	if len(m.operands) < foldAt {
		return nil
	}
	return m.fold()
}

// fold makes one operand of all.
func (m *valueMerger) fold() error {
	if len(m.operands) < 2 {
		return nil
	}
	m.folded = true
	var err error
	if m.deletions {
		err = m.foldDeletions()
	} else {
		err = m.foldRows()
	}
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	m.buf, m.out = m.out, m.buf
	m.operands = append(m.operands[:0], len(m.buf))
	return nil
}

func (m *valueMerger) foldRows() error {
	acc, operand, next := &m.rows[0], &m.rows[1], &m.rows[2]
	src := m.buf
	for i, n := range m.operands {
		if i == 0 {
			if err := acc.decode(src[:n]); err != nil {
				return err
			}
		} else {
			if err := operand.decode(src[:n]); err != nil {
				return err
			}
			if m.older {
				mergeRows(next, operand, acc)
			} else {
				mergeRows(next, acc, operand)
			}
			acc, next = next, acc
		}
		src = src[n:]
	}
	m.out = acc.append(m.out[:0])
	return nil
}

func (m *valueMerger) foldDeletions() error {
	acc, operand, next := &m.dels[0], &m.dels[1], &m.dels[2]
	src := m.buf
	for i, n := range m.operands {
		if i == 0 {
			if err := acc.decode(src[:n]); err != nil {
				return err
			}
		} else {
			if err := operand.decode(src[:n]); err != nil {
				return err
			}
			next.merge(acc, operand)
			acc, next = next, acc
		}
		src = src[n:]
	}
	m.out = acc.append(m.out[:0])
	return nil
}

// Finish returns the one operand. What may be garbage is kept: an operand of an
// older timestamp may be in a younger level or still come, and only the sweep
// knows that it is not (sweep.go).
func (m *valueMerger) Finish(bool) ([]byte, io.Closer, error) {
	if err := m.fold(); err != nil {
		return nil, nil, err
	}
	return m.buf, m, nil
}

// Close gives the memory back once the result is used.
func (m *valueMerger) Close() error {
	const keep = 64 << 10
	if cap(m.buf) > keep || cap(m.out) > keep || cap(m.rows[0].cells) > keep/64 {
		return nil
	}
	if m.folded {
		for i := range m.rows {
			m.rows[i].reset()
			m.dels[i].reset()
		}
		m.folded = false
	}
	mergers.Put(m)
	return nil
}
