// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// A position is the place of a row in the order of its table: token, partition key, clustering, or
// the beginning of these. Unlike the keys of the data, it contains no kind. So everything in a
// partition begins with the position of the partition.

// AppendPosition appends the position of a row. If clustering is shorter than the table's, it is
// the position at which the rows with that prefix begin. n is the number of bytes that all rows of
// the partition have in common.
func (t *Table) AppendPosition(dst []byte, token int64, key []byte, clustering [][]byte) (position []byte, n int, err error) {
	from := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, uint64(token)^1<<63)
	dst = appendEscaped(dst, key)
	n = len(dst) - from
	for i, v := range clustering {
		if i == len(t.spec.Clustering) {
			return dst, n, fmt.Errorf("position: %d clustering values for %d columns: %w", len(clustering), i, ErrMalformed)
		}
		if dst, err = appendClustering(dst, &t.spec.Clustering[i], v); err != nil {
			return dst, n, fmt.Errorf("position: %w", err)
		}
	}
	return dst, n, nil
}

// SplitPosition splits a position. key is nil if the position ends within the partition key.
// Missing bytes of the token are zeros.
func (t *Table) SplitPosition(position []byte) (token int64, key []byte, clustering [][]byte) {
	var first [8]byte
	n := copy(first[:], position)
	token = int64(binary.BigEndian.Uint64(first[:]) ^ 1<<63)
	_, key, rest, err := decodeEscaped(nil, position[n:])
	if err != nil {
		return token, nil, nil
	}
	key = append([]byte{}, key...)
	for i := range t.spec.Clustering {
		var v []byte
		if _, v, rest, err = decodeClustering(nil, &t.spec.Clustering[i], rest); err != nil {
			break
		}
		clustering = append(clustering, bytes.Clone(v))
	}
	return token, key, clustering
}

// Between reads the partitions, or parts of partitions, from one position up to but not including
// another. nil is the beginning, or the end, of the table. Between does not support q.Slices and
// q.After.
func (t *Table) Between(from, to []byte, q *Query) *Iterator {
	it := &Iterator{table: t, query: q, slices: intervals{table: t, to: 1, at: -1}}
	lower, clustering := t.partitionAt(from)
	if clustering != nil {
		// A partition begins with its deletions and its static row. The deletions apply to the rows
		// after the position. The static row is before the position.
		it.first, it.behind = lower, true
		if err := it.slices.beyond(clustering); err != nil {
			it.fail(err)
			return it
		}
	}
	upper := appendTableEnd(nil, &t.spec.ID)
	if to != nil {
		var rows []byte
		if upper, rows = t.partitionAt(to); rows != nil {
			upper = append(append(upper, kindRow), rows...)
		}
	}
	if bytes.Compare(lower, upper) >= 0 {
		it.state = done
		return it
	}
	it.open(lower, upper)
	return it
}

// partitionAt returns the common beginning of the keys of the position's partition, or all of the
// position if it ends within the partition key. It also returns the position's clustering in the
// form that it has in the keys of rows; nil: the position has none.
func (t *Table) partitionAt(position []byte) (key, clustering []byte) {
	key = append(appendTablePrefix(nil, &t.spec.ID), position...)
	for n := tokenEnd; n < len(key); {
		i := bytes.IndexByte(key[n:], 0)
		if i < 0 || n+i+1 >= len(key) {
			break
		}
		if n += i + 2; key[n-1] == 1 {
			if n == len(key) {
				break
			}
			return key[:n:n], key[n:]
		}
	}
	return key, nil
}
