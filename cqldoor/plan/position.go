// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
)

// positions is the order in which a scan meets a table's physical partitions.
type positions struct{ placement }

// Position is a physical partition in the order of a scan.
type Position struct {
	Token int64
	Key   []byte // serialized, including the shard
}

// Compare orders positions as Cassandra orders partitions.
func (p Position) Compare(q Position) int {
	switch {
	case p.Token < q.Token:
		return -1
	case p.Token > q.Token:
		return 1
	}
	return bytes.Compare(p.Key, q.Key)
}

// Position returns the position of one shard of a logical partition.
func (t *positions) Position(key [][]byte, n int) Position {
	if t.Plain() {
		k := AppendKey(nil, key)
		return Position{partitioner.Murmur3(k), k}
	}
	k := partitioner.AppendComposite(nil, append(slices.Clone(key), IntValue(n))...)
	return Position{partitioner.Murmur3(k), k}
}

// AppendPhysicalKey appends the serialized partition key of a shard of a logical partition.
func AppendPhysicalKey(dst []byte, key [][]byte, shard int) []byte {
	var room [8][]byte
	return partitioner.AppendComposite(dst, append(append(room[:0], key...), IntValue(shard))...)
}

// At decodes the key of a position.
func (t *positions) At(k []byte) (p Position, key [][]byte, shard int, err error) {
	n := len(t.PartitionKey)
	if t.Plain() {
		if key, err = SplitKey(k, n); err != nil {
			return p, nil, 0, errState
		}
		return Position{partitioner.Murmur3(k), k}, key, plainPlace, nil
	}
	parts, err := partitioner.SplitComposite(nil, k, n+1)
	if err != nil || len(parts[n]) != 4 {
		return p, nil, 0, errState
	}
	return Position{partitioner.Murmur3(k), k}, parts[:n], int(int32(binary.BigEndian.Uint32(parts[n]))), nil
}

// Met takes apart a row of Walk's result: the key of a logical partition, and one of its shards.
func (t *positions) Met(row [][]byte) (key [][]byte, shard int, ok bool) {
	n := len(t.PartitionKey)
	switch {
	case t.Plain():
		return row, plainPlace, len(row) == n
	case len(row) != n+1 || len(row[n]) != 4:
		return nil, 0, false
	}
	return row[:n:n], int(int32(binary.BigEndian.Uint32(row[n]))), true
}

// Precedes says whether a scan shows a logical partition at the first of two of its shards if both
// have rows. It shows it at the one with the lower token. Under strategy rollover it is the one
// with the lower number. So a shard that is added during the scan does not take over a partition
// that the scan has passed or has yet to meet.
func (t *positions) Precedes(a, b Position) bool {
	if t.Layout.Strategy == shard.Rollover {
		_, _, m, _ := t.At(a.Key)
		_, _, n, _ := t.At(b.Key)
		return m < n
	}
	return a.Compare(b) < 0
}

// Ranked is a shard of a logical partition, with its position.
type Ranked struct {
	Position
	Shard int
}

// Rank returns shards of a logical partition in the order in which a scan looks for one to show the
// partition at: each precedes the next.
func (t *positions) Rank(key [][]byte, shards []int) []Ranked {
	out := make([]Ranked, len(shards))
	for i, n := range shards {
		out[i] = Ranked{t.Position(key, n), n}
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		switch {
		case t.Precedes(a.Position, b.Position):
			return -1
		case t.Precedes(b.Position, a.Position):
			return 1
		}
		return 0
	})
	return out
}

// Walks says whether a scan by this layout visits a shard of a logical partition.
func (t *positions) Walks(key [][]byte, n int) bool {
	if t.Timed() {
		return true
	}
	s := t.Layout.Spread(AppendKey(nil, key))
	return s.Contains(n) || slices.ContainsFunc(s.Rows, func(e shard.RowEpoch) bool { return e.Contains(n) })
}
