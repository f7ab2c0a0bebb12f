// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
)

// vectorNow is when the vectors' mutations are made; their statements are:
//
//	live1   INSERT (v: 'a') USING TIMESTAMP 100        live2   … 'b'
//	live99  INSERT (v: 'zz') USING TIMESTAMP 99        live101 … '0' … 101
//	ttl1    INSERT (v: 'a') … 100 AND TTL 1000         ttl2    … '0' … 2000
//	ttl3    INSERT (v: 'z') … 100 AND TTL 1000
//	ttl0    UPDATE … 100 AND TTL 1500 SET v = 'q'
//	upd     UPDATE … 100 SET w = 'w'
//	del     DELETE v … 100
//	delrow, delslice, delpart   DELETE … 100
const vectorNow = 1_000_000

const (
	columnV = 0
	columnW = 1
)

var vectorOps = map[string]func(b *Batch){
	"live1":   insertV("a", 100, 0),
	"live2":   insertV("b", 100, 0),
	"live99":  insertV("zz", 99, 0),
	"live101": insertV("0", 101, 0),
	"ttl1":    insertV("a", 100, 1000),
	"ttl2":    insertV("0", 100, 2000),
	"ttl3":    insertV("z", 100, 1000),
	"ttl0": func(b *Batch) {
		b.Row([][]byte{i32(0)})
		b.Set(Cell{Column: columnV, Value: []byte("q"), Timestamp: 100, TTL: 1500, Expires: vectorNow + 1500})
	},
	"upd": func(b *Batch) {
		b.Row([][]byte{i32(0)})
		b.Set(Cell{Column: columnW, Value: []byte("w"), Timestamp: 100})
	},
	"del": func(b *Batch) {
		b.Row([][]byte{i32(0)})
		b.Unset(columnV, nil, Deletion{100, vectorNow})
	},
	"delrow": func(b *Batch) {
		b.Row([][]byte{i32(0)})
		b.DeleteRow(Deletion{100, vectorNow})
	},
	"delslice": func(b *Batch) {
		b.DeleteSlice(Slice{Start: Bound{[][]byte{i32(0)}, true}}, Deletion{100, vectorNow})
	},
	"delpart": func(b *Batch) { b.DeletePartition(Deletion{100, vectorNow}) },
}

func insertV(v string, timestamp int64, ttl int32) func(b *Batch) {
	return func(b *Batch) {
		c := Cell{Column: columnV, Value: []byte(v), Timestamp: timestamp, TTL: ttl}
		if ttl != 0 {
			c.Expires = vectorNow + int64(ttl)
		}
		b.Row([][]byte{i32(0)})
		b.Marker(Liveness{timestamp, c.TTL, c.Expires})
		b.Set(c)
	}
}

// TestCassandraVectors replays statements that a real Cassandra was given.
func TestCassandraVectors(t *testing.T) {
	f, err := os.Open("testdata/reconcile.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, flush := range []bool{false, true} {
		t.Run(fmt.Sprint("flush=", flush), func(t *testing.T) {
			if _, err := f.Seek(0, 0); err != nil {
				t.Fatal(err)
			}
			db := openTest(t)
			table := mustTable(t, db, TableSpec{
				ID:         [16]byte{9},
				Clustering: []ClusteringColumn{{Type: value.Native(value.Int)}},
				Columns:    []Column{{ID: columnV}, {ID: columnW}},
			})
			b := db.NewBatch()
			defer b.Release()
			count := 0
			for lines := bufio.NewScanner(f); lines.Scan(); {
				line := lines.Text()
				ops, want, ok := strings.Cut(line, ": ")
				if line == "" || line[0] == '#' || !ok {
					continue
				}
				count++
				for _, op := range strings.Fields(ops) {
					b.Partition(table, int64(count), i32(count))
					vectorOps[op](b)
					if err := b.Commit(); err != nil {
						t.Fatal(err)
					}
					if flush && count%13 == 0 {
						if err := db.pebble.Flush(); err != nil {
							t.Fatal(err)
						}
					}
				}
				if got := vectorRow(t, table, count); got != want {
					t.Errorf("%s: got %s, Cassandra %s", ops, got, want)
				}
			}
			if count != 156 {
				t.Errorf("%d vectors", count)
			}
		})
	}
}

func vectorRow(t *testing.T, table *Table, n int) string {
	var row Row
	q := &Query{Now: vectorNow + 1, All: true}
	found, err := table.Get(int64(n), i32(n), [][]byte{i32(0)}, q, &row)
	if err != nil {
		t.Fatal(err)
	}
	it := table.Read(int64(n), i32(n), q)
	defer it.Close()
	if read := it.NextPartition(); read != found || it.Err() != nil {
		t.Fatalf("Get finds %v, Read %v, %v", found, read, it.Err())
	}
	if !found {
		return "none"
	}
	v, w, writetime, ttl := "null", "null", "null", "null"
	for _, c := range row.Cells {
		switch c.Column {
		case columnV:
			v, writetime = string(c.Value), fmt.Sprint(c.Timestamp)
			if c.TTL > 0 {
				ttl = fmt.Sprint((c.TTLLeft(q.Now) + 99) / 100 * 100)
			}
		case columnW:
			w = string(c.Value)
		}
	}
	return strings.Join([]string{v, w, writetime, ttl}, " ")
}
