// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"encoding/binary"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestRolloverLog writes a log of two partitions. A door reads each entry once, notices a missing
// one, and appends only after the last one.
func TestRolloverLog(t *testing.T) {
	b := embedded(t)
	c := b.door(nil)
	if err := c.tables.ensureLayouts(t.Context(), b.keyspaceOf(c)); err != nil {
		t.Fatal(err)
	}
	if err := c.tables.ensureRollovers(t.Context()); err != nil {
		t.Fatal(err)
	}
	const part = 50
	d, table, from := NewRollovers(b.session, uuid()), uuid(), int64(7)
	d.part = part
	insert := func(entry int) {
		t.Helper()
		_, err := b.session.Query(t.Context(), wire.Quorum, "INSERT INTO evenkeel.rollovers (table_id, part, entry, partition_key, shard, opening) VALUES (?, ?, ?, ?, 2, ?)",
			table[:], integer(entry/part), integer(entry), binary.BigEndian.AppendUint32(nil, uint32(entry)), bigint(from))
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(next, want int) {
		t.Helper()
		entries, err := d.Read(t.Context(), table, next)
		if err != nil || len(entries) != want {
			t.Fatalf("from entry %d on there are %d, want %d; %v", next, len(entries), want, err)
		}
		for i, e := range entries {
			if binary.BigEndian.Uint32(e.Key) != uint32(next+i) || e.Shard != 2 || e.From == nil || *e.From != from {
				t.Fatalf("entry %d is %+v", next+i, e)
			}
		}
	}
	for entry := range part {
		insert(entry)
	}
	read(0, part)
	read(part, 0)
	key := binary.BigEndian.AppendUint32(nil, part)
	for _, want := range []bool{true, false} {
		if did, err := d.Append(t.Context(), table, part, Rollover{Key: key, Shard: 2, From: &from}); did != want || err != nil {
			t.Fatalf("appended: %v, %v", did, err)
		}
	}
	read(part-1, 1)
	read(part, 1)
	read(part+1, 0)
	insert(part + 2)
	if entries, err := d.Read(t.Context(), table, part); err == nil {
		t.Errorf("with an entry missing, %d are read", len(entries))
	}
	if err := d.Forget(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	read(0, 0)
	read(part, 0)
}
