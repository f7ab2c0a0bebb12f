// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

// pairwise sets the receiver to the row that older and newer make together. It is the plain form of
// rowMerge: it holds all cells.
func (into *rowData) pairwise(older, newer *rowData) {
	into.reset()
	into.deletion = older.deletion
	if newer.deletion.supersedes(into.deletion) {
		into.deletion = newer.deletion
	}
	floor := into.deletion.Timestamp

	into.hasMarker, into.marker = older.hasMarker, older.marker
	if newer.hasMarker && (!into.hasMarker || newer.marker.supersedes(&into.marker)) {
		into.hasMarker, into.marker = true, newer.marker
	}
	if into.hasMarker && into.marker.Timestamp <= floor {
		into.hasMarker, into.marker = false, Liveness{}
	}
	into.originals = append(into.originals, older.originals...)

	a, b := older.cells, newer.cells
	for len(a) > 0 || len(b) > 0 {
		c := 0
		switch {
		case len(a) == 0:
			c = 1
		case len(b) == 0:
			c = -1
		default:
			c = compareCells(&a[0], &b[0])
		}
		var win *cellData
		switch {
		case c < 0:
			win, a = &a[0], a[1:]
		case c > 0:
			win, b = &b[0], b[1:]
		default:
			win = &a[0]
			if b[0].supersedes(win) {
				win = &b[0]
			}
			a, b = a[1:], b[1:]
		}
		if win.timestamp > floor {
			into.cells = append(into.cells, *win)
		}
	}
	into.cells = dropComplex(into.cells)
}

// TestRowMerge merges random rows, at once and in pairs of decoded rows.
func TestRowMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(name string, n int) int { return rapid.IntRange(0, n).Draw(t, name) }
		var rows [][]byte
		var want rowData
		for i := range small("rows", 5) + 1 {
			r := rowData{deletion: Deletion{Timestamp: noTimestamp}}
			if small("marker", 3) == 0 {
				r.hasMarker, r.marker = true, Liveness{Timestamp: int64(small("ts", 5))}
				if small("expires", 2) == 0 {
					r.marker.TTL, r.marker.Expires = int32(small("ttl", 2)+1), int64(small("at", 3))
				}
			}
			if small("deletion", 4) == 0 {
				r.deletion = Deletion{int64(small("ts", 5)), int64(small("time", 3))}
			}
			if small("originals", 4) == 0 {
				r.originals = []original{{small("index", 1), fmt.Append(nil, "clustering", i)}}
			}
			for range small("cells", 6) {
				c := cellData{column: uint32(small("column", 2)), timestamp: int64(small("ts", 5)), kind: uint8(small("kind", 2))}
				switch {
				case c.column > 0 && small("complex", 4) == 0:
					c.kind = cellComplex
				case c.column > 0:
					c.kind |= cellPath
					c.path = []byte{byte(small("path", 3))}
					if small("original", 4) == 0 {
						c.original = fmt.Append(nil, "path", i)
					}
				}
				if c.kind&cellKind != cellLive {
					c.time = int64(small("time", 3))
				}
				if c.kind&cellKind == cellExpiring {
					c.ttl = int32(small("ttl", 2) + 1)
				}
				if c.kind&cellKind <= cellExpiring {
					c.value = []byte{byte(small("value", 2))}
				}
				r.cells = append(r.cells, c)
			}
			r.normalize(len(r.cells) == 0)
			rows = append(rows, r.append(nil))
			var decoded, sum rowData
			if err := decoded.decode(rows[i]); err != nil {
				t.Fatal(err)
			}
			if sum.pairwise(&want, &decoded); i == 0 {
				sum = decoded
			}
			want = sum
		}
		var m rowMerge
		got, err := m.merge([]byte("before"), rows)
		if err != nil || !bytes.Equal(got, want.append([]byte("before"))) {
			t.Fatalf("%x: %v; want %x", got, err, want.append([]byte("before")))
		}
		for i := range rows {
			cut := rows[i][:len(rows[i])-small("cut", min(3, len(rows[i])))]
			damaged := append(append(append([][]byte{}, rows[:i]...), cut), rows[i+1:]...)
			if _, err := m.merge(nil, damaged); (err != nil) != (new(rowData).decode(cut) != nil) {
				t.Fatalf("%x: %v", cut, err)
			}
		}
	})
}

// TestMergeMemory merges long rows. The memory is a few times what is stored, and does not depend on
// the number of cells.
func TestMergeMemory(t *testing.T) {
	for _, test := range []struct{ operands, cells int }{{20, 10_000}, {20_000, 10}, {2, 100_000}} {
		operands := make([][]byte, test.operands)
		stored := 0
		for i := range operands {
			r := rowData{deletion: Deletion{Timestamp: noTimestamp}}
			for j := range test.cells {
				r.cells = append(r.cells, cellData{column: 1, kind: cellPath, path: fmt.Appendf(nil, "%08d", j*test.operands+i), timestamp: 1, value: []byte("v")})
			}
			operands[i] = r.append(nil)
			stored += len(operands[i])
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := merger.Merge(nil, operands[0])
		for _, operand := range operands[1:] {
			if err == nil {
				err = m.MergeOlder(operand)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		v, closer, err := m.Finish(true)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		// What append leaves behind when it moves what it has so far counts, too.
		if took := int(after.TotalAlloc - before.TotalAlloc); took > 10*stored {
			t.Errorf("%d operands of %d cells, %d bytes, took %d", test.operands, test.cells, stored, took)
		}
		if err := new(rowData).decode(v); err != nil {
			t.Error(err)
		}
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
}
