// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// applyAdds turns additions into cells with the sums. The caller has locked the partitions
// exclusively, so that no other addition comes between the read and the write.
//
// The new cell's timestamp is above the old one's, whatever the clocks say. So the new cell wins.
//
// Deleting a counter is final, as Cassandra's documentation warns. A counter that was deleted
// alone (DELETE c FROM …) stays null, whatever is added, until its tombstone is collected;
// Cassandra does the same. After its row or partition was deleted, it starts again from 0.
// Cassandra 5.0 continues from the earlier value if its counter cache still has it, else from 0.
func (b *Batch) applyAdds() error {
	if len(b.adds) == 0 {
		return nil
	}
	slices.SortStableFunc(b.adds, func(x, y add) int {
		if c := bytes.Compare(x.key, y.key); c != 0 {
			return c
		}
		return cmp.Compare(x.column, y.column)
	})
	var current, update rowData
	for rest := b.adds; len(rest) > 0; {
		first := &rest[0]
		value, floor, err := first.table.storedRow(first.prefix, first.key)
		if err != nil {
			return err
		}
		if value == nil {
			current.reset()
		} else if err := current.decode(value); err != nil {
			return err
		}
		floor = max(floor, current.deletion.Timestamp)
		update.reset()
		update.originals = append(update.originals, first.originals...)
		for len(rest) > 0 && bytes.Equal(rest[0].key, first.key) {
			a := rest[0]
			for rest = rest[1:]; len(rest) > 0 && rest[0].column == a.column && bytes.Equal(rest[0].key, a.key); rest = rest[1:] {
				a.delta += rest[0].delta
				a.timestamp = max(a.timestamp, rest[0].timestamp)
			}
			i, found := slices.BinarySearchFunc(current.cells, a.column, func(c cellData, column uint32) int {
				return cmp.Compare(c.column, column)
			})
			if found && current.cells[i].timestamp > floor {
				c := &current.cells[i]
				if c.kind&cellKind == cellDeleted {
					continue
				}
				if len(c.value) == 8 {
					a.delta += int64(binary.BigEndian.Uint64(c.value))
				}
				a.timestamp = max(a.timestamp, c.timestamp+1)
			}
			update.cells = append(update.cells, cellData{
				column: a.column, kind: cellLive, timestamp: a.timestamp,
				value: binary.BigEndian.AppendUint64(nil, uint64(a.delta)),
			})
		}
		if len(update.cells) == 0 {
			continue
		}
		b.value = update.append(b.value[:0])
		if err := b.out().Merge(first.key, b.value, nil); err != nil {
			return err
		}
	}
	return nil
}

// storedRow reads a row in its stored form (nil: there is none), and the timestamp up to which
// deletions outside the row delete it. The caller has locked the partition.
func (t *Table) storedRow(prefix, key []byte) (value []byte, floor int64, err error) {
	floor = noTimestamp
	if t.state.deletions.Load() {
		v, err := t.db.get(append(slices.Clone(prefix), kindDeletions))
		if err != nil {
			return nil, 0, err
		}
		if v != nil {
			var d deletions
			if err := d.decode(v); err != nil {
				return nil, 0, err
			}
			floor = d.partition.Timestamp
			if key[len(prefix)] == kindRow {
				floor = d.at(key[len(prefix)+1:]).Timestamp
			}
		}
	}
	value, err = t.db.get(key)
	return value, floor, err
}

// get returns a copy of a key's value, or nil if there is none.
func (db *DB) get(key []byte) ([]byte, error) {
	v, closer, err := db.pebble.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return nil, nil
		}
		return nil, err
	}
	v = append([]byte{}, v...)
	return v, closer.Close()
}
