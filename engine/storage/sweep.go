// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// The sweep removes data from disk that no read can see any more: expired cells, tombstones older
// than gc_grace_seconds, and the data that these shadow. It rewrites rows, and does not use
// compactions. A compaction does not see all operands of a key: it could drop a tombstone while a
// write with an older timestamp waits in a younger level. That write would then become visible.
//
// The sweep reads a table from end to end if the table ever had a deletion or an expiry. It does so
// at most once in the time until something may be due, and for no more than a twentieth of the
// time. It does not read other tables.
//
// The sweep reads and rewrites a row that may have garbage under the exclusive lock of its
// partition. It removes a deletion of a partition or slice last, after no row holds data that it
// shadows. Before that, it rewrites the rows a few at a time, so that writers do not wait for long.
// So a write with an old timestamp may come to a row that the sweep has passed. Such a write marks
// the partition (stripes.markSwept), and the deletion stays for the next sweep.
//
// As in Cassandra, garbage collection makes one thing visible: a write with a timestamp older than
// a collected tombstone, made after the collection.

const (
	// sweepRows is the number of rows that are rewritten under one lock and in one batch.
	sweepRows = 256

	// sweepRest is the pause after a sweep of a table, as a multiple of the time that the sweep
	// took.
	sweepRest = 20
)

// earliest returns the time of the earliest deletion in a stored value, or of the earliest write of
// expiring data in it; MaxInt64 if there is neither.
func earliest(value []byte) int64 {
	if len(value) == 0 || value[0]&rowPurgeable == 0 {
		return math.MaxInt64
	}
	if value[0]&rowIsDeletions != 0 {
		var d deletions
		if d.decode(value) != nil {
			return 0
		}
		return d.earliest()
	}
	due := int64(math.MaxInt64)
	var in rowReader
	marker, deletion, _ := in.head(value, nil)
	if in.flags&rowMarkerTTL != 0 {
		due = marker.Expires - int64(marker.TTL)
	}
	if in.flags&rowDeletion != 0 {
		due = min(due, deletion.Time)
	}
	var c cellData
	for in.next(&c) {
		switch c.kind & cellKind {
		case cellLive:
		case cellExpiring:
			due = min(due, c.time-int64(c.ttl))
		default:
			due = min(due, c.time)
		}
	}
	if in.bad {
		return 0 // the sweep will report the error
	}
	return due
}

func (d *deletions) earliest() int64 {
	due := int64(math.MaxInt64)
	if d.partition.Timestamp != noTimestamp {
		due = d.partition.Time
	}
	for i := range d.spans {
		due = min(due, d.spans[i].Time)
	}
	return due
}

// Sweep removes all data that may be removed at the Clock's present time, in all tables that have a
// handle. Tests and operators call it. It also runs every SweepInterval, but then only for tables
// that are due.
func (db *DB) Sweep() error { return db.sweep(true) }

func (db *DB) sweep(all bool) error {
	db.sweeping.Lock()
	defer db.sweeping.Unlock()
	if err := db.disk.Admit(0, false); err != nil {
		return err
	}
	db.mu.Lock()
	var tables []*tableState
	for _, s := range db.tables {
		if s.garbage.Load() {
			tables = append(tables, s)
		}
	}
	db.mu.Unlock()
	var errs []error
	for _, state := range tables {
		t := state.latest.Load()
		began := db.options.Clock()
		now := began.Unix()
		// Data that came since the last sweep began are due gc_grace_seconds later.
		due := state.due
		if state.fresh.Load() {
			due = min(due, state.began+t.spec.GCGrace+1)
		}
		narrowed := state.narrowed.Load()
		if !all && (now < due && narrowed == 0 || now < state.rest) {
			continue
		}
		state.began = now
		state.fresh.Store(false)
		s := sweep{table: t, now: now, before: now - t.spec.GCGrace, narrowed: narrowed > 0, remains: math.MaxInt64 - t.spec.GCGrace - 1}
		if err := s.run(); err != nil {
			errs = append(errs, fmt.Errorf("sweep table %x: %w", t.spec.ID, err))
			s.remains = 0
		} else {
			state.narrowed.CompareAndSwap(narrowed, 0)
		}
		state.due = s.remains + t.spec.GCGrace + 1
		state.rest = now + int64(db.options.Clock().Sub(began).Seconds()*sweepRest)
		if db.closing() {
			break
		}
	}
	return errors.Join(errs...)
}

func (db *DB) closing() bool {
	select {
	case <-db.stop:
		return true
	default:
		return false
	}
}

// sweep is the sweep of one table.
type sweep struct {
	table  *Table
	now    int64
	before int64 // data deleted before this second may be removed

	remains int64 // the earliest time of data that may not be removed yet

	narrowed bool // a column was dropped

	prefix []byte   // the partition of the collected keys
	dels   bool     // the partition's deletions may be removed
	rows   [][]byte // keys of rows that may have garbage
}

// run looks for garbage.
func (s *sweep) run() error {
	id := &s.table.spec.ID
	it, err := s.table.db.pebble.NewIter(&pebble.IterOptions{
		LowerBound: appendTablePrefix(nil, id),
		UpperBound: appendTableEnd(nil, id),
	})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil && !s.table.db.closing(); ok = it.Next() {
		if at := earliest(it.Value()); at >= s.before && !s.dropped(it.Value()) {
			s.remains = min(s.remains, at)
			continue
		}
		n, ok := splitKey(it.Key())
		if !ok {
			err = errTruncated
			break
		}
		if !bytes.Equal(it.Key()[:n], s.prefix) {
			err = s.flush()
			s.prefix = bytes.Clone(it.Key()[:n])
		}
		if it.Key()[n] == kindDeletions {
			s.dels = true
			continue
		}
		s.rows = append(s.rows, bytes.Clone(it.Key()))
		if len(s.rows) >= sweepRows {
			err = errors.Join(err, s.flushRows())
		}
	}
	if err == nil {
		err = s.flush()
	}
	return errors.Join(err, it.Error(), it.Close())
}

// dropped reports whether a row has cells that were dropped with their column. (It looks only in a
// table that lost a column since it was opened.)
func (s *sweep) dropped(value []byte) bool {
	if !s.narrowed || len(value) == 0 || value[0]&rowIsDeletions != 0 {
		return false
	}
	var in rowReader
	in.head(value, nil)
	var c cellData
	for in.next(&c) {
		if s.table.purgeable(c.column, c.timestamp) {
			return true
		}
	}
	return false
}

// flush processes the collected keys of a partition.
func (s *sweep) flush() error {
	if s.prefix == nil {
		return nil
	}
	err := s.flushRows()
	if s.dels && err == nil {
		err = s.partition()
	}
	s.dels = false
	return err
}

func (s *sweep) flushRows() error {
	if len(s.rows) == 0 {
		return nil
	}
	l := s.stripe()
	l.Lock()
	defer l.Unlock()
	err := s.rewrite(s.rows)
	s.rows = s.rows[:0]
	return err
}

// stripe returns the partition's lock.
func (s *sweep) stripe() *stripe {
	return &s.table.db.stripes[stripeOf(&s.table.spec.ID, decodeToken(s.prefix))]
}

// partition purges the partition's deletions: first it removes the data that they shadow from all
// rows, then the deletions.
func (s *sweep) partition() error {
	swept, err := s.begin()
	if err != nil {
		return err
	}
	done, err := s.clean()
	return errors.Join(err, s.end(swept, done && err == nil))
}

// begin tells writers that the partition's deletions are about to be removed.
func (s *sweep) begin() (*sweptPartition, error) {
	l := s.stripe()
	l.Lock()
	defer l.Unlock()
	dels, err := s.deletions()
	if err != nil {
		return nil, err
	}
	swept := &sweptPartition{table: s.table.state, token: decodeToken(s.prefix), timestamp: dels.partition.Timestamp}
	for _, sp := range dels.spans {
		swept.timestamp = max(swept.timestamp, sp.Timestamp)
	}
	l.swept = swept
	return swept, nil
}

// clean rewrites all rows that existed when begin returned. It returns false if it was interrupted.
func (s *sweep) clean() (done bool, err error) {
	db := s.table.db
	it, err := db.pebble.NewIter(&pebble.IterOptions{
		LowerBound: append(bytes.Clone(s.prefix), kindStatic),
		UpperBound: append(bytes.Clone(s.prefix), after),
	})
	if err != nil {
		return false, err
	}
	for ok := it.First(); ok && err == nil && !db.closing(); ok = it.Next() {
		s.rows = append(s.rows, bytes.Clone(it.Key()))
		if len(s.rows) >= sweepRows {
			err = s.flushRows()
		}
	}
	if err == nil {
		err = s.flushRows()
	}
	return !db.closing(), errors.Join(err, it.Error(), it.Close())
}

// end removes the deletions that existed at begin and may be removed. If rows may still hold data
// that they shadow, the deletions stay until the next sweep.
func (s *sweep) end(swept *sweptPartition, clean bool) error {
	l := s.stripe()
	l.Lock()
	defer l.Unlock()
	l.swept = nil
	if !clean || swept.touched.Load() {
		s.remains = 0
		return nil
	}
	dels, err := s.deletions()
	if err != nil {
		return err
	}
	if dels.partition.Time < s.before && dels.partition.Timestamp <= swept.timestamp {
		dels.partition = Deletion{Timestamp: noTimestamp}
	}
	dels.spans = slices.DeleteFunc(dels.spans, func(sp span) bool {
		return sp.Time < s.before && sp.Timestamp <= swept.timestamp
	})
	if at := dels.earliest(); at != math.MaxInt64 {
		s.remains = min(s.remains, at)
	}
	key := append(bytes.Clone(s.prefix), kindDeletions)
	if dels.empty() {
		return s.table.db.pebble.Delete(key, pebble.NoSync)
	}
	return s.table.db.pebble.Set(key, dels.append(nil), pebble.NoSync)
}

// deletions reads the partition's deletions.
func (s *sweep) deletions() (*deletions, error) {
	d := new(deletions)
	d.reset()
	v, err := s.table.db.get(append(bytes.Clone(s.prefix), kindDeletions))
	if v != nil && err == nil {
		err = d.decode(v)
	}
	return d, err
}

// rewrite rewrites rows without their garbage. The caller has locked their partition.
//
// The new value is a SET, which hides all earlier operands. No other operand can come between the
// read and the write. The write need not be synced: a crash leaves the old value.
func (s *sweep) rewrite(keys [][]byte) error {
	db := s.table.db
	// Under the lock, so that the handle knows every column that was written to.
	table := s.table.state.latest.Load()
	dels, err := s.deletions()
	if err != nil {
		return err
	}
	b := db.pebble.NewBatch()
	defer b.Close()
	var r rowData
	var out []byte
	for _, key := range keys {
		v, err := db.get(key)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		if err := r.decode(v); err != nil {
			return err
		}
		n := len(s.prefix)
		shadow := dels.partition
		if key[n] == kindRow {
			shadow = dels.at(key[n+1:])
		}
		if !s.purge(table, &r, shadow.Timestamp) {
			continue
		}
		if r.empty() {
			err = b.Delete(key, nil)
		} else {
			out = r.append(out[:0])
			err = b.Set(key, out, nil)
		}
		if err != nil {
			return err
		}
	}
	if b.Empty() {
		return nil
	}
	return db.pebble.Apply(b, pebble.NoSync)
}

// purge removes a row's garbage: data deleted or expired since before, data that floor shadows, and
// cells that were dropped with their column. It reports whether there was any.
func (s *sweep) purge(table *Table, r *rowData, floor int64) bool {
	changed := false
	if d := r.deletion; d.Timestamp != noTimestamp && (d.Time < s.before || d.Timestamp <= floor) {
		r.deletion, changed = Deletion{Timestamp: noTimestamp}, true
	}
	if m := r.marker; r.hasMarker && (m.Timestamp <= floor || m.TTL != 0 && m.Expires <= s.now && m.Expires-int64(m.TTL) < s.before) {
		r.hasMarker, r.marker, changed = false, Liveness{}, true
	}
	n := len(r.cells)
	r.cells = slices.DeleteFunc(r.cells, func(c cellData) bool {
		if c.timestamp <= floor || table.purgeable(c.column, c.timestamp) {
			return true
		}
		switch c.kind & cellKind {
		case cellLive:
			return false
		case cellExpiring:
			return c.time <= s.now && c.time-int64(c.ttl) < s.before
		default:
			return c.time < s.before
		}
	})
	return changed || len(r.cells) != n
}
