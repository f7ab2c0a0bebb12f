// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// genPosition returns a position in the table of the model: that of a row, that of a partition, or
// the beginning of one of these.
func genPosition(t *rapid.T, table *Table) []byte {
	p := rapid.IntRange(-1, len(modelTokens)-1).Draw(t, "partition")
	if p < 0 {
		return nil
	}
	var clustering [][]byte
	for i, n := 0, rapid.IntRange(0, 2).Draw(t, "clustering"); i < n; i++ {
		clustering = append(clustering, []byte([]*rapid.Generator[string]{genFirst, genSecond}[i].Draw(t, "value")))
	}
	position, n, err := table.AppendPosition(nil, modelTokens[p], []byte(modelKeys[p]), clustering)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		return position[:rapid.IntRange(1, min(8, n)).Draw(t, "bytes")] // hashes are cut in this way
	}
	return position
}

// compareBetween reads the data between two positions.
func compareBetween(t *rapid.T, m *model, table *Table, now int64) {
	from, to := genPosition(t, table), genPosition(t, table)
	var want, got []string
	for p, token := range modelTokens {
		rows := m.rows(p, now, func(uint32) bool { return true }, func(row [2]string) bool {
			at, _, err := table.AppendPosition(nil, token, []byte(modelKeys[p]), [][]byte{[]byte(row[0]), []byte(row[1])})
			if err != nil {
				t.Fatal(err)
			}
			return bytes.Compare(at, from) >= 0 && (to == nil || bytes.Compare(at, to) < 0)
		})
		if len(rows) > 0 {
			want = append(append(want, fmt.Sprintf("partition %d %q", token, modelKeys[p])), rows...)
		}
	}
	it := table.Between(from, to, &Query{Now: now, All: true})
	for it.NextPartition() {
		token, key := it.Partition()
		got = append(got, fmt.Sprintf("partition %d %q", token, key))
		for it.Next() {
			got = append(got, printRow(it.Row()))
		}
	}
	if err := cmp.Or(it.Err(), it.Close()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("from %x to %x:\ngot  %q\nwant %q\nfacts %v", from, to, got, want, m.facts)
	}
}

// A position is split into the parts from which it was made. The beginning of a position is split
// into as many parts as it has.
func TestSplitPosition(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, modelSpec)
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.Int64().Draw(t, "token")
		key := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0xff}), 0, 6).Draw(t, "key")
		whole := [][]byte{[]byte(genFirst.Draw(t, "first")), []byte(genSecond.Draw(t, "second"))}
		clustering := whole[:rapid.IntRange(0, 2).Draw(t, "clustering")]
		at, n, err := table.AppendPosition(nil, token, key, clustering)
		if err != nil {
			t.Fatal(err)
		}
		gotToken, gotKey, gotClustering := table.SplitPosition(at)
		if gotToken != token || gotKey == nil || !bytes.Equal(gotKey, key) || !slices.EqualFunc(gotClustering, clustering, bytes.Equal) {
			t.Fatalf("%d %q %q is %d %q %q", token, key, clustering, gotToken, gotKey, gotClustering)
		}
		cut := rapid.IntRange(0, len(at)).Draw(t, "cut")
		gotToken, gotKey, gotClustering = table.SplitPosition(at[:cut])
		if (gotKey != nil) != (cut >= n) || cut >= 8 && gotToken != token || len(gotClustering) > len(clustering) {
			t.Fatalf("%d of %d bytes are %d %q %q", cut, len(at), gotToken, gotKey, gotClustering)
		}
		for i, v := range gotClustering {
			if cut == len(at) && !bytes.Equal(v, clustering[i]) {
				t.Fatalf("%q of %q", gotClustering, clustering)
			}
		}
	})
}

// A scan continues in a partition that has no more rows. It must read the partitions after it
// whole.
func TestScanGoesOnWithoutItsPartition(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, modelSpec)
	b := db.NewBatch()
	defer b.Release()
	row := [2]string{string(i32(-1)), "a"}
	f := fact{kind: isMarker, partition: 2, row: row, timestamp: 1}
	f.write(b, table)
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	q := &Query{Now: 1000, After: [][]byte{i32(0), []byte("b")}}
	it := table.Scan(AllTokens, &Position{modelTokens[1], []byte(modelKeys[1]), true}, q)
	defer it.Close()
	if !it.NextPartition() {
		t.Fatalf("the row of the next partition is not read: %v", it.Err())
	}
}

// A static row is at the beginning of its partition. It is not between two positions if the first
// one is within the partition.
func TestStaticBetween(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, modelSpec)
	b := db.NewBatch()
	defer b.Release()
	for _, p := range []int{1, 2} {
		f := fact{kind: isCell, partition: p, static: true, column: 2, value: "s", timestamp: 1}
		f.write(b, table)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		clustering [][]byte
		want       int
	}{{nil, 2}, {[][]byte{i32(0)}, 1}} {
		from, _, err := table.AppendPosition(nil, modelTokens[1], []byte(modelKeys[1]), c.clustering)
		if err != nil {
			t.Fatal(err)
		}
		q := &Query{Now: 1000, Static: true, All: true}
		it, n := table.Between(from, nil, q), 0
		for it.NextPartition() {
			n++
		}
		if err := cmp.Or(it.Err(), it.Close()); err != nil || n != c.want {
			t.Errorf("from %x: %d partitions, not %d: %v", from, n, c.want, err)
		}
	}
}
