// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// longRows writes a long static row and three long rows to one partition.
func longRows(t *testing.T, elements int) *Table {
	db := openWith(t, Options{Periodic: true})
	table := mustTable(t, db, modelSpec)
	b := db.NewBatch()
	defer b.Release()
	b.Partition(table, 7, []byte("p"))
	write := func(column uint32) {
		for i := range elements {
			b.Set(Cell{Column: column, Path: fmt.Appendf(nil, "%08d", i), Value: []byte("v"), Timestamp: int64(i)})
		}
	}
	b.Static()
	write(4)
	for c := range 3 {
		b.Row([][]byte{i32(c), []byte("b")})
		b.Set(Cell{Column: 0, Value: []byte("short"), Timestamp: 5})
		write(3)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	return table
}

// TestRoom reads long rows while there is no room at first: the read must let go of each row and then
// read the same.
func TestRoom(t *testing.T) {
	table := longRows(t, 6_000)
	read := func(q *Query) (rows []string, err error) {
		var it *Iterator
		if q.Slices == nil && !q.Reverse {
			it = table.Scan(AllTokens, nil, q)
		} else {
			it = table.Read(7, []byte("p"), q)
		}
		for it.NextPartition() {
			if s := it.Static(); s != nil {
				rows = append(rows, printRow(s))
			}
			for it.Next() {
				rows = append(rows, printRow(it.Row()))
			}
		}
		return rows, errors.Join(it.Err(), it.Close())
	}
	for _, q := range []Query{
		{All: true}, {All: true, Static: true}, {All: true, Static: true, Packed: true}, {All: true, Static: true, Reverse: true}, {Columns: NewColumnSet(0), Reverse: true},
		{All: true, Packed: true, Slices: Listed{{}}},
	} {
		want, err := read(&q)
		if err != nil || len(want) < 3 {
			t.Fatal(len(want), err)
		}
		waits, granted := 0, 0
		q.Room = func(bytes int, wait bool) (bool, error) {
			if bytes < 6_000*len("12345678v") {
				t.Errorf("room for %d bytes", bytes)
			}
			if wait {
				waits++
				granted = bytes
				return true, nil
			}
			ok := bytes <= granted
			granted = 0
			return ok, nil
		}
		got, err := read(&q)
		if err != nil || !slices.Equal(got, want) || waits < 2 {
			t.Errorf("%+v: %d rows of %d, waited %d times, %v", q, len(got), len(want), waits, err)
		}
		var row Row
		granted = 0
		if ok, err := table.Get(7, []byte("p"), [][]byte{i32(1), []byte("b")}, &q, &row); !ok || err != nil || !slices.Contains(want, printRow(&row)) {
			t.Errorf("get: %v, %v", ok, err)
		}
		full := errors.New("no room")
		for _, waits := range []bool{false, true} {
			q.Room = func(_ int, wait bool) (bool, error) {
				if wait == waits {
					return false, full
				}
				return false, nil
			}
			if _, err := read(&q); !errors.Is(err, full) {
				t.Errorf("without room: %v", err)
			}
			if _, err := table.Get(7, []byte("p"), [][]byte{i32(1), []byte("b")}, &q, &row); !errors.Is(err, full) {
				t.Errorf("get without room: %v", err)
			}
		}
	}
}

// TestPackedMemory checks that packed elements take no memory of their own, and that Room is told of
// those that are not packed.
func TestPackedMemory(t *testing.T) {
	table := longRows(t, 50_000)
	for _, packed := range []bool{true, false} {
		told := 0
		q := &Query{All: true, Packed: packed, Room: func(bytes int, _ bool) (bool, error) { told = bytes; return true, nil }}
		it := table.Read(7, []byte("p"), q)
		if !it.NextPartition() || !it.Next() {
			t.Fatal(it.Err())
		}
		row := it.Row()
		cells := len(row.Cells) * int(unsafe.Sizeof(Cell{}))
		if took := cap(row.Cells)*int(unsafe.Sizeof(Cell{})) + cap(row.arena); packed && took > 1000 {
			t.Errorf("packed cells took %d bytes", took)
		}
		if told < len(row.value)+cells || packed && told > 2*len(row.value) {
			t.Errorf("packed %v: Room was told of %d bytes, for %d and %d of cells", packed, told, len(row.value), cells)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
