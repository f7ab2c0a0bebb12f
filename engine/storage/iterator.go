// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"
)

// Read reads one partition. An error is reported by Iterator.Err.
func (t *Table) Read(token int64, key []byte, q *Query) *Iterator {
	it := &Iterator{table: t, query: q, single: true}
	it.prefix = appendPartition(make([]byte, 0, 64), &t.spec.ID, token, key)
	if it.prepare(true) {
		it.openPartition()
	}
	return it
}

// ReadNext goes on with another partition, which NextPartition then enters. The Iterator must be
// of Read, and must not be closed. It reads the same state of the DB, and all of the query's
// slices, whatever Query.After says. After an error it does nothing.
func (it *Iterator) ReadNext(token int64, key []byte) {
	if it.err != nil {
		return
	}
	it.prefix = appendPartition(it.prefix[:0], &it.table.spec.ID, token, key)
	it.slices.whole()
	it.state, it.ahead, it.hasStat = fresh, false, false
	it.openPartition()
}

// openPartition moves Pebble's iterator to the bounds of one partition. It makes the iterator if
// there is none.
func (it *Iterator) openPartition() {
	made := it.pebble != nil
	// Without deletions and static rows, only the rows of the slices are visited.
	if made && it.plain || !made && !it.table.state.deletions.Load() && !it.query.Static {
		if it.slices.empty() {
			it.state = done
			return
		}
		lo, hi, err := it.slices.bounds()
		if err != nil {
			it.fail(err)
			return
		}
		it.bounds = append(append(append(it.bounds[:0], it.prefix...), kindRow), lo...)
		n := len(it.bounds)
		it.bounds = append(append(append(it.bounds, it.prefix...), kindRow), hi...)
		lower, upper := it.bounds[:n], it.bounds[n:]
		if bytes.Compare(lower, upper) >= 0 {
			it.state = done
			return
		}
		it.open(lower, upper)
		it.plain = true
		if made || !it.table.state.deletions.Load() || it.err != nil {
			return
		}
		// The first deletion came while the iterator was made, so the iterator may see it.
		it.plain = false
		it.err = errors.Join(it.err, it.pebble.Close())
		it.pebble = nil
	}
	it.bounds = append(append(it.bounds[:0], it.prefix...), after)
	it.open(it.prefix, it.bounds)
}

// Scan reads the partitions of a token range in the order of token, then key. from, if not nil,
// is the position to continue from.
func (t *Table) Scan(r TokenRange, from *Position, q *Query) *Iterator {
	it := &Iterator{table: t, query: q}
	inside := from != nil && from.Inside
	if !it.prepare(inside) {
		return it
	}
	lower := appendPartition(nil, &t.spec.ID, r.First, nil)[:tokenEnd]
	if from != nil && from.Token >= r.First {
		lower = appendPartition(nil, &t.spec.ID, from.Token, from.Key)
		if it.first = lower; !inside {
			lower = append(lower, after)
		}
	}
	var upper []byte
	if r.Last == math.MaxInt64 {
		upper = appendTableEnd(nil, &t.spec.ID)
	} else {
		upper = appendPartition(nil, &t.spec.ID, r.Last+1, nil)[:tokenEnd]
	}
	if r.First > r.Last || bytes.Compare(lower, upper) >= 0 {
		it.state = done
		return it
	}
	it.open(lower, upper)
	return it
}

// Iterator reads partitions and their rows:
//
//	for it.NextPartition() {
//		static := it.Static()
//		for it.Next() {
//			row := it.Row()
//		}
//	}
//	err := it.Err()
//
// It sees one state of the DB, the one at the moment when the Iterator was made. q must not change
// while the Iterator is in use. An Iterator is for one goroutine.
type Iterator struct {
	table  *Table
	query  *Query
	pebble *pebble.Iterator
	err    error
	single bool // reads one partition
	plain  bool // the partition has no deletions, and only its rows are visible

	slices intervals // of the current partition; in the first partition, only those after the position to continue from
	first  []byte    // the prefix of that first partition; nil: the first one that is read
	behind bool      // and the read continues after the static row

	state   state
	prefix  []byte // the current partition's keys
	key     []byte // its partition key, when decoded
	arena   []byte
	dels    deletions
	delsBuf []byte
	static  Row
	row     Row
	hasStat bool
	seek    []byte
	bounds  []byte // of one partition

	staticTakes int // memory of a long static row, in bytes

	// The rows. If moved is false, Pebble's iterator is at a key that was returned already. It must
	// leave that key before it looks at the next one.
	valid bool
	moved bool
	ended bool // no slice is left
	ahead bool // NextPartition has done the next Next already

	passed int // keys visited since the last Query.Check
}

type state uint8

const (
	fresh  state = iota // before the first partition
	inside              // in a partition
	done
)

// prepare makes the intervals. first says whether Query.After applies to the first partition.
func (it *Iterator) prepare(first bool) bool {
	err := it.slices.begin(it.table, it.query)
	if err == nil && first && it.query.After != nil {
		err = it.slices.after(it.query.After)
	}
	return err == nil || it.fail(err)
}

// open moves Pebble's iterator to other bounds, or makes it. Pebble copies the bounds.
func (it *Iterator) open(lower, upper []byte) {
	if it.pebble != nil {
		it.pebble.SetBounds(lower, upper)
		return
	}
	p, err := it.table.reader(it.query).NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		it.fail(err)
		return
	}
	it.pebble = p
}

func (it *Iterator) fail(err error) bool {
	it.err = fmt.Errorf("read table %x: %w", it.table.spec.ID, classify(err))
	it.state = done
	return false
}

// stopped ends the iteration at the end of the data, or with Pebble's error.
func (it *Iterator) stopped() bool {
	it.state = done
	if err := it.pebble.Error(); err != nil {
		return it.fail(err)
	}
	return false
}

// NextPartition goes to the next partition that has live data in the wanted slices, or a live
// static row. It skips the rest of the current one. Partitions with only a static row are found
// only with Query.Static.
func (it *Iterator) NextPartition() bool {
	for {
		switch {
		case it.state == done:
			return false
		case it.state == fresh:
			if !it.single {
				it.valid = it.pebble.First()
			}
		case it.single:
			it.state = done
			return false
		default:
			it.slices.whole()
			it.leave()
		}
		if !it.single {
			if !it.valid {
				return it.stopped()
			}
			k := it.pebble.Key()
			n, ok := splitKey(k)
			if !ok {
				return it.fail(errTruncated)
			}
			it.prefix = append(it.prefix[:0], k[:n]...)
		}
		if it.first != nil && !bytes.Equal(it.first, it.prefix) {
			it.slices.whole() // the partition to continue in no longer exists
		}
		it.state, it.key = inside, nil
		if !it.enter() {
			if it.err != nil {
				return false
			}
			return it.stopped()
		}
		if it.err != nil {
			return false
		}
		it.ahead = false
		it.ahead = it.Next()
		if it.err != nil {
			return false
		}
		if it.ahead || it.hasStat {
			return true
		}
		if it.passed++; it.passed >= checkEvery && !it.goOn() {
			return false
		}
	}
}

// checkEvery is the number of hidden keys after which Query.Check is called.
const checkEvery = 256

// goOn reports whether the caller still wants the read.
func (it *Iterator) goOn() bool {
	it.passed = 0
	if it.query.Check == nil {
		return true
	}
	if err := it.query.Check(); err != nil {
		it.state, it.err = done, err
		return false
	}
	return true
}

// leave goes to the first key after the current partition.
func (it *Iterator) leave() {
	if it.valid && !bytes.HasPrefix(it.pebble.Key(), it.prefix) && bytes.Compare(it.pebble.Key(), it.prefix) > 0 {
		return
	}
	it.seek = append(append(it.seek[:0], it.prefix...), after)
	it.valid = it.pebble.SeekGE(it.seek)
}

// enter reads what comes before the partition's rows, and goes to the first row. In a scan,
// Pebble's iterator is at the partition's first key. enter returns false if there is nothing in the
// partition and nothing after it.
func (it *Iterator) enter() bool {
	it.dels.reset()
	it.hasStat, it.staticTakes = false, 0
	if it.plain {
		return it.startRows(true)
	}
	if it.single {
		if it.valid = it.pebble.First(); !it.valid {
			return false
		}
	}
	n := len(it.prefix)
	if it.pebble.Key()[n] == kindDeletions {
		it.delsBuf = append(it.delsBuf[:0], it.pebble.Value()...)
		if err := it.dels.decode(it.delsBuf); err != nil {
			return it.fail(err)
		}
		it.valid = it.pebble.Next()
	}
	if it.valid && bytes.HasPrefix(it.pebble.Key(), it.prefix) && it.pebble.Key()[n] == kindStatic {
		if it.query.Static && !(it.behind && bytes.Equal(it.first, it.prefix)) {
			if !it.makeRoom(2) {
				return false
			}
			if v := it.pebble.Value(); len(v) >= longRow && it.query.Room != nil {
				it.staticTakes = it.query.takes(v, 2)
			}
			it.static.value = append(it.static.value[:0], it.pebble.Value()...)
			var err error
			if it.hasStat, err = it.static.load(it.table, it.query, it.dels.partition.Timestamp); err != nil {
				return it.fail(err)
			}
		}
		it.valid = it.pebble.Next()
	}
	return it.startRows(false)
}

// startRows goes to the first row of the first slice in the direction read.
func (it *Iterator) startRows(bounded bool) bool {
	it.valid, it.moved = it.valid || bounded, true
	if it.ended = it.slices.empty(); it.ended {
		return true
	}
	if err := it.slices.first(); err != nil {
		return it.fail(err)
	}
	switch {
	case bounded && it.query.Reverse:
		it.valid = it.pebble.Last()
	case bounded:
		it.valid = it.pebble.First()
	default:
		it.seekSlice()
	}
	return true
}

// seekSlice goes to the current slice's first key in the direction read, unless
// the iterator is there or further.
func (it *Iterator) seekSlice() {
	it.seek = append(append(it.seek[:0], it.prefix...), kindRow)
	if it.query.Reverse {
		it.seek = append(it.seek, it.slices.hi...)
		it.valid = it.pebble.SeekLT(it.seek)
		return
	}
	it.seek = append(it.seek, it.slices.lo...)
	if !it.valid || bytes.Compare(it.pebble.Key(), it.seek) < 0 {
		it.valid = it.pebble.SeekGE(it.seek)
	}
}

// nextSlice goes to the next slice that can have the iterator's row or a later one.
func (it *Iterator) nextSlice(clustering []byte) bool {
	more, err := it.slices.next(clustering)
	if err != nil {
		return it.fail(err)
	}
	if it.ended = !more; !more {
		return false
	}
	if it.query.Reverse && bytes.Compare(clustering, it.slices.hi) >= 0 || !it.query.Reverse && bytes.Compare(clustering, it.slices.lo) < 0 {
		it.seekSlice()
	}
	return true
}

// Partition returns the current partition. key is valid until NextPartition or Close.
func (it *Iterator) Partition() (token int64, key []byte) {
	if it.key == nil {
		var err error
		if it.arena, it.key, _, err = decodeEscaped(it.arena[:0], it.prefix[tokenEnd:]); err != nil {
			it.fail(err)
		}
	}
	return decodeToken(it.prefix), it.key
}

// Static returns the live static row, or nil if there is none or Query.Static is not set. It is
// valid until NextPartition or Close.
func (it *Iterator) Static() *Row {
	if !it.hasStat {
		return nil
	}
	return &it.static
}

// Next goes to the next live row of the current partition.
func (it *Iterator) Next() bool {
	if it.ahead {
		it.ahead = false
		return true
	}
	if it.state != inside || it.ended {
		return false
	}
	reverse := it.query.Reverse
	n := len(it.prefix) + 1
	for {
		if !it.moved {
			it.moved = true
			if reverse {
				it.valid = it.pebble.Prev()
			} else {
				it.valid = it.pebble.Next()
			}
		}
		if !it.valid {
			if err := it.pebble.Error(); err != nil {
				return it.fail(err)
			}
			return false
		}
		k := it.pebble.Key()
		if len(k) < n || !bytes.Equal(k[:n-1], it.prefix) || k[n-1] != kindRow {
			return false
		}
		c := k[n:]
		if reverse && bytes.Compare(c, it.slices.lo) < 0 || !reverse && bytes.Compare(c, it.slices.hi) >= 0 {
			if !it.nextSlice(c) {
				return false
			}
			continue
		}
		it.moved = false
		floor := it.dels.partition.Timestamp
		if len(it.dels.spans) > 0 {
			floor = it.dels.at(c).Timestamp
		}
		if it.row.value = it.pebble.Value(); len(it.row.value) >= longRow {
			if !it.makeRoom(1) {
				return false
			}
			it.row.value, c = it.pebble.Value(), it.pebble.Key()[n:]
		}
		live, err := it.row.load(it.table, it.query, floor)
		if err != nil {
			return it.fail(err)
		}
		if !live {
			if it.passed++; it.passed >= checkEvery && !it.goOn() {
				return false
			}
			continue
		}
		if err := it.row.decodeClustering(it.table, c, false); err != nil {
			return it.fail(err)
		}
		return true
	}
}

// Row returns the current row. It is valid until Next, NextPartition or Close.
func (it *Iterator) Row() *Row { return &it.row }

// Err returns the error that ended the iteration early, or nil.
func (it *Iterator) Err() error { return it.err }

// Close ends the iteration. It may be called twice.
func (it *Iterator) Close() error {
	it.state, it.ahead = done, false
	if it.pebble == nil {
		return nil
	}
	err := it.pebble.Close()
	it.pebble = nil
	if err != nil {
		return fmt.Errorf("read table %x: %w", it.table.spec.ID, classify(err))
	}
	return nil
}
