// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// A position is where a row is in its table's order: token, partition key, clustering,
// or as much of that as there is. Unlike the keys of the data it names no kind, so that
// whatever a partition has begins with the partition's position.

// AppendPosition appends where a row is, or, with less than a whole clustering, where
// the rows begin that have it. n is how many bytes of that all rows of the partition
// begin with.
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

// SplitPosition takes a position apart as far as it goes: key is nil where it ends
// before that of a partition does, and bytes of the token that are missing are zeros.
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

// Between reads the partitions, or what of them is there, from one position to before
// another; nil is the table's beginning, or its end. q.Slices and q.After are not for
// it.
func (t *Table) Between(from, to []byte, q *Query) *Iterator {
	it := &Iterator{table: t, query: q, slices: intervals{table: t, to: 1, at: -1}}
	lower, clustering := t.partitionAt(from)
	if clustering != nil {
		// Deletions and the static row come first in a partition. The former count for the
		// rows behind; the latter is before the position.
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

// partitionAt is the key that all of a position's partition begins with, or where the
// position ends before that does, and the clustering as it stands in the keys of rows;
// nil where the position has none.
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
