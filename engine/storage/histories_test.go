// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
)

// historyOp is one statement: INSERT with a column (ins) or without (mark), UPDATE of a column
// (upd), of an element (put), of the whole map (setm) or of the static column (sets), or a deletion
// of one of these.
type historyOp struct {
	Op         string
	Timestamp  int64 `json:"ts"`
	TTL        int32
	C1         int
	C2         string
	V          string
	K          string
	Col        string
	M          map[string]string
	Start, End [2]any // prefix, inclusive
}

const (
	historyV = iota
	historyW
	historyM
	historyS
)

var historySpec = TableSpec{
	ID:         [16]byte{10},
	Clustering: []ClusteringColumn{{Type: value.Native(value.Int)}, {Type: value.Native(value.Text), Desc: true}},
	Columns:    []Column{{ID: historyV}, {ID: historyW}, {ID: historyM, Path: value.Native(value.Text)}, {ID: historyS, Static: true}},
	GCGrace:    864000,
}

func (o *historyOp) apply(b *Batch) {
	set := func(column uint32, path []byte, v string) {
		c := Cell{Column: column, Path: path, Value: []byte(v), Timestamp: o.Timestamp, TTL: o.TTL}
		if o.TTL > 0 {
			c.Expires = vectorNow + int64(o.TTL)
		}
		b.Set(c)
	}
	bound := func(v [2]any) Bound {
		out := Bound{Inclusive: v[1].(bool)}
		for i, x := range v[0].([]any) {
			if i == 0 {
				out.Prefix = append(out.Prefix, i32(int(x.(float64))))
			} else {
				out.Prefix = append(out.Prefix, []byte(x.(string)))
			}
		}
		return out
	}
	d := Deletion{o.Timestamp, vectorNow}
	column := uint32(historyV)
	if o.Col == "w" {
		column = historyW
	}
	switch o.Op {
	case "slice":
		b.DeleteSlice(Slice{bound(o.Start), bound(o.End)}, d)
		return
	case "delpart":
		b.DeletePartition(d)
		return
	case "sets":
		b.Static()
		set(historyS, nil, o.V)
		return
	case "dels":
		b.Static()
		b.Unset(historyS, nil, d)
		return
	}
	b.Row(clustering(o.C1, o.C2))
	switch o.Op {
	case "ins", "mark":
		l := Liveness{Timestamp: o.Timestamp, TTL: o.TTL}
		if o.TTL > 0 {
			l.Expires = vectorNow + int64(o.TTL)
		}
		b.Marker(l)
		if o.Op == "ins" {
			set(column, nil, o.V)
		}
	case "upd":
		set(column, nil, o.V)
	case "put":
		set(historyM, []byte(o.K), o.V)
	case "delk":
		b.Unset(historyM, []byte(o.K), d)
	case "setm":
		b.DeleteComplex(historyM, Deletion{o.Timestamp - 1, vectorNow})
		for k, v := range o.M {
			set(historyM, []byte(k), v)
		}
	case "delm":
		b.DeleteComplex(historyM, d)
	case "delv":
		b.Unset(column, nil, d)
	case "delrow":
		b.DeleteRow(d)
	default:
		panic(o.Op)
	}
}

// historyRow formats a row as the driver does: c1, c2, v and w each with write time and TTL, m with
// write times, s with write time and TTL.
func historyRow(row, static *Row) string {
	f := make([]any, 13)
	if len(row.Clustering) > 0 {
		f[0], f[1] = binary.BigEndian.Uint32(row.Clustering[0]), string(row.Clustering[1])
	}
	ttl := func(c *Cell) any {
		if c.TTL == 0 {
			return nil
		}
		return (c.TTLLeft(vectorNow+1) + 9999) / 10000 * 10000
	}
	put := func(at int, c *Cell) { f[at], f[at+1], f[at+2] = string(c.Value), c.Timestamp, ttl(c) }
	var m [][2]string
	var times []int64
	for i := range row.Cells {
		switch c := &row.Cells[i]; c.Column {
		case historyV:
			put(2, c)
		case historyW:
			put(5, c)
		case historyM:
			m = append(m, [2]string{string(c.Path), string(c.Value)})
			times = append(times, c.Timestamp)
		}
	}
	if m != nil {
		f[8], f[9] = m, times
	}
	if static != nil {
		put(10, &static.Cells[0])
	}
	b, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestCassandraHistories replays random histories, one statement in each batch. The rows must be
// those that a real Cassandra returned for the same history.
func TestCassandraHistories(t *testing.T) {
	file, err := os.Open("testdata/histories.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	db := openTest(t)
	table := mustTable(t, db, historySpec)
	b := db.NewBatch()
	defer b.Release()
	count := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		count++
		var h struct {
			Ops  []historyOp
			Rows []json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			t.Fatal(err)
		}
		for i := range h.Ops {
			b.Partition(table, int64(count), i32(count))
			h.Ops[i].apply(b)
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			if count%50 == 0 {
				if err := db.pebble.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		var want []string
		for _, r := range h.Rows {
			want = append(want, string(r))
		}
		for _, reverse := range []bool{false, true} {
			var got []string
			it := table.Read(int64(count), i32(count), &Query{Now: vectorNow + 1, All: true, Static: true, Reverse: reverse})
			for it.NextPartition() {
				for it.Next() {
					got = append(got, historyRow(it.Row(), it.Static()))
				}
				if len(got) == 0 {
					got = append(got, historyRow(&Row{}, it.Static()))
				}
			}
			if err := it.Err(); err != nil {
				t.Fatal(err)
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
			if reverse {
				slices.Reverse(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("history %d, reverse %v, %s:\ngot       %s\nCassandra %s", count, reverse, fmt.Sprintf("%+v", h.Ops), strings.Join(got, "\n          "), strings.Join(want, "\n          "))
			}
		}
	}
	if err := lines.Err(); err != nil || count < 200 {
		t.Errorf("%d histories, %v", count, err)
	}
}
