// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"
)

// Stats is an estimate of a table's content, exact for small tables. Rows counts stored rows,
// including dead ones.
type Stats struct {
	Bytes      int64
	Partitions int64
	Rows       int64
}

const (
	// samplePartitions and sampleKeys bound what Stats reads.
	samplePartitions = 256
	sampleKeys       = 4096
)

// Stats estimates from the table's first partitions and rows. Tokens are spread evenly, so the part
// of the token range that the first partitions take gives the number of all partitions.
func (t *Table) Stats() (s Stats, err error) {
	lower, upper := appendTablePrefix(nil, &t.spec.ID), appendTableEnd(nil, &t.spec.ID)
	it, err := t.db.pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return s, fmt.Errorf("stats of table %x: %w", t.spec.ID, err)
	}
	defer func() {
		if err = errors.Join(err, it.Error(), it.Close()); err != nil {
			err = fmt.Errorf("stats of table %x: %w", t.spec.ID, err)
		}
	}()
	disk, err := t.db.pebble.EstimateDiskUsage(lower, upper)
	if err != nil {
		return s, err
	}

	// Rows: all of them, or as many for each partition, or for each byte, as in the sample.
	var keys, rows, partitions, size int64
	var prefix []byte
	ok := it.First()
	for ; ok && keys < sampleKeys; ok = it.Next() {
		k := it.Key()
		n, good := splitKey(k)
		if !good {
			return s, errTruncated
		}
		keys++
		size += int64(len(k) + len(it.Value()))
		if k[n] == kindRow {
			rows++
		}
		if !bytes.Equal(prefix, k[:n]) {
			partitions++
			prefix = append(prefix[:0], k[:n]...)
		}
	}
	if !ok {
		return Stats{Bytes: max(int64(disk), size), Partitions: partitions, Rows: rows}, nil
	}

	inRows := partitions // the number of partitions that the counted rows belong to

	// Partitions: continue from there, with one seek for each.
	for ok && partitions < samplePartitions {
		if ok = it.SeekGE(append(prefix, after)); !ok {
			break
		}
		n, good := splitKey(it.Key())
		if !good {
			return s, errTruncated
		}
		partitions++
		prefix = append(prefix[:0], it.Key()[:n]...)
	}
	total := float64(partitions)
	if ok {
		covered := float64(uint64(decodeToken(prefix)) ^ 1<<63) // tokens below the last seen
		total *= math.MaxUint64 / max(covered, 1)
	}
	s.Partitions = int64(min(total, math.MaxInt64/2))
	s.Rows = int64(disk) / max(size/keys, 1)
	if inRows >= 16 {
		s.Rows = int64(min(total*float64(rows)/float64(inRows), math.MaxInt64/2))
	}
	s.Rows = max(s.Rows, rows)
	s.Bytes = max(int64(disk), size)
	return s, nil
}
