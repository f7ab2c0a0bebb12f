// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"bytes"
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// TestTuples compares tuples with a sorted list of all combinations.
func TestTuples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns []*schema.Column
		all := [][][]byte{{}}
		tuples := Tuples{n: 1}
		for range rapid.IntRange(0, 4).Draw(t, "restrictions") {
			desc := rapid.Bool().Draw(t, "desc")
			var of []*schema.Column
			for range rapid.IntRange(1, 2).Draw(t, "columns") {
				of = append(of, &schema.Column{Type: value.Native(value.Decimal), Desc: desc})
			}
			var values [][][]byte
			for range rapid.IntRange(0, 9).Draw(t, "values") % 5 {
				var v [][]byte
				for range of {
					// 1 and 1.0 are equal but have different lengths.
					n, scale := rapid.Int64Range(0, 3).Draw(t, "n"), rapid.Int32Range(0, 1).Draw(t, "scale")
					v = append(v, value.AppendDecimal(nil, big.NewInt(n*[]int64{1, 1000}[scale]), 3*scale))
				}
				values = append(values, v)
			}
			columns = append(columns, of...)
			var longer [][][]byte
			for _, a := range all {
				for _, v := range values {
					longer = append(longer, slices.Concat(a, v))
				}
			}
			all = longer
			if tuples.n > 0 {
				var l list
				for _, v := range values {
					l.add(v...)
				}
				tuples.add(l, of)
			}
		}
		cmp := func(a, b [][]byte) int { return compare(columns, a, b) }
		slices.SortStableFunc(all, cmp)
		all = slices.CompactFunc(all, func(a, b [][]byte) bool { return cmp(a, b) == 0 })
		if tuples.Len() != len(all) {
			t.Fatalf("%d tuples, want %d", tuples.Len(), len(all))
		}
		for i, tuple := range tuples.All() {
			if !slices.EqualFunc(tuple, all[i], bytes.Equal) {
				t.Fatalf("tuple %d is %x, want %x", i, tuple, all[i])
			}
			if at := tuples.Index(columns, tuple); at != i {
				t.Fatalf("tuple %d is found at %d", i, at)
			}
		}
		if len(columns) > 0 {
			other := make([][]byte, len(columns))
			for i := range other {
				other[i] = value.AppendDecimal(nil, big.NewInt(rapid.Int64Range(0, 4).Draw(t, "other")), 0)
			}
			want := slices.IndexFunc(all, func(a [][]byte) bool { return compare(columns, a, other) == 0 })
			if at := tuples.Index(columns, other); at != want {
				t.Fatalf("%x is found at %d, want %d", other, at, want)
			}
		}
		most := rapid.IntRange(0, 40).Draw(t, "most")
		n, long := tuples.Longer(most)
		i := slices.IndexFunc(all, func(a [][]byte) bool { return size(a) > most })
		if long != (i >= 0) || long && n != size(all[i]) {
			t.Fatalf("longer than %d: %d, %v; want tuple %d", most, n, long, i)
		}
	})
}

// TestTuplesWithoutEnd checks tuples of which there are more than an int can count.
func TestTuplesWithoutEnd(t *testing.T) {
	tuples := Tuples{n: 1}
	c := []*schema.Column{{Type: value.Native(value.Int)}}
	for range 10 {
		var values list
		for i := range 1000 {
			values.add(i32(i))
		}
		tuples.add(values, c)
	}
	if tuples.Len() != math.MaxInt {
		t.Errorf("%d tuples", tuples.Len())
	}
	if first := tuples.At(1); !bytes.Equal(first[9], i32(1)) || !bytes.Equal(first[8], i32(0)) {
		t.Errorf("the second is %x", first)
	}
}

func i32(n int) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }

// TestBindHoldsLists binds statements with several INs of thousands of values. The allocated memory
// must be in proportion to the values, not to their combinations.
func TestBindHoldsLists(t *testing.T) {
	column := func(name string, k schema.ColumnKind, position int) *schema.Column {
		return &schema.Column{Name: name, Type: value.Native(value.Int), Kind: k, Position: position}
	}
	table := &schema.Table{Keyspace: "ks", Name: "t", Columns: map[string]*schema.Column{},
		PartitionKey: []*schema.Column{column("p", schema.PartitionKey, 0), column("q", schema.PartitionKey, 1)},
		Clustering:   []*schema.Column{column("c", schema.Clustering, 0), column("d", schema.Clustering, 1), column("e", schema.Clustering, 2)},
		Regulars:     []*schema.Column{column("v", schema.Regular, -1)}}
	for _, c := range table.All() {
		table.Columns[c.Name] = c
	}
	s := &schema.Schema{Keyspaces: map[string]*schema.Keyspace{"ks": {Name: "ks", Tables: map[string]*schema.Table{"t": table}}}}
	const many = 10_000
	list := value.AppendCount(nil, many)
	for i := range many {
		list = value.AppendPart(list, i32(i))
	}
	for _, test := range []struct {
		text       string
		keys, rows int
		refused    bool
	}{
		{"SELECT v FROM t WHERE p IN ? AND q IN ?", many * many, 1, false},
		{"SELECT v FROM t WHERE p IN ? AND q IN ? AND token(p, q) > 0", 0, 0, true},
		{"SELECT v FROM t WHERE p IN ? AND q = 1 AND token(p, q) > 0", many / 2, 1, false},
		{"SELECT v FROM t WHERE p IN ? AND q IN ? AND c IN ? AND d IN ? AND e IN ?", many * many, many * many * many, false},
		{"SELECT v FROM t WHERE p = 1 AND q = 1 AND c IN ? AND d IN ? AND e > 4", 1, many * many, false},
		{"UPDATE t SET v = 1 WHERE p IN ? AND q IN ? AND c IN ? AND d IN ? AND e IN ?", many * many, many * many * many, false},
		{"DELETE FROM t WHERE p IN ? AND q IN ? AND c IN ? AND d IN ?", many * many, many * many, false},
	} {
		tree, err := syntax.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Analyze(tree, s, "ks")
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		env := &eval.Env{}
		for range a.Head().Binds {
			env.Values = append(env.Values, eval.Value{Bytes: list})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		keys, rows := 0, 0
		switch a := a.(type) {
		case *Select:
			var b *BoundSelect
			if b, err = a.Bind(env); err == nil {
				keys, rows = b.Keys.Len(), b.Slices.Len()
			}
		case *Write:
			var b *BoundWrite
			if b, err = a.Bind(env); err == nil {
				keys, rows = b.Keys.Len(), b.Rows.Len()+b.Slices.Len()
			}
		}
		runtime.ReadMemStats(&after)
		if n, most := after.TotalAlloc-before.TotalAlloc, uint64(len(env.Values)*many*400); n > most {
			t.Errorf("%s: %d bytes were allocated, not %d", test.text, n, most)
		}
		if test.refused != (err != nil) {
			t.Errorf("%s: %v", test.text, err)
		}
		if d := keys - test.keys; d < -many/20 || d > many/20 || rows != test.rows {
			t.Errorf("%s: %d keys, %d rows; want %d and %d", test.text, keys, rows, test.keys, test.rows)
		}
	}
}
