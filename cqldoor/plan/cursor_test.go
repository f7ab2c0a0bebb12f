// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
)

var invalidState = &wire.Error{Code: wire.CodeProtocol, Message: "Invalid value for the paging state"}

func TestCursor(t *testing.T) {
	identity := []byte("table and layout")
	for _, c := range []Cursor{
		{},
		{Key: []byte("a key"), Limit: 1000, PerKey: 7},
		{After: [][]byte{[]byte("title"), {}, IntValue(7)}, Limit: 1},
		{After: [][]byte{}},
		{Scan: []byte("a key and a shard"), Done: true, PerKey: 1},
	} {
		b := c.Encode(identity)
		got, err := DecodeCursor(identity, b, len(c.After))
		if err != nil || string(got.Key) != string(c.Key) || got.Limit != c.Limit || got.PerKey != c.PerKey || string(got.Scan) != string(c.Scan) || got.Done != c.Done || (got.After == nil) != (c.After == nil) ||
			!slices.EqualFunc(got.After, c.After, func(a, b []byte) bool { return string(a) == string(b) }) {
			t.Errorf("%+v came back as %+v, %v", c, got, err)
		}
		if _, err := DecodeCursor([]byte("another table"), b, len(c.After)); !errors.Is(err, invalidState) {
			t.Errorf("a foreign state: %v", err)
		}
		for i := range b {
			damaged := slices.Clone(b)
			damaged[i] ^= 0x10
			if _, err := DecodeCursor(identity, damaged, len(c.After)); !errors.Is(err, invalidState) {
				t.Errorf("damaged at %d: %v", i, err)
			}
			if _, err := DecodeCursor(identity, b[:i], len(c.After)); !errors.Is(err, invalidState) {
				t.Errorf("cut at %d: %v", i, err)
			}
		}
	}
}

// FuzzDecodeCursor holds DecodeCursor to refusing what was not encoded here.
func FuzzDecodeCursor(f *testing.F) {
	f.Add([]byte{}, 1)
	f.Add(Cursor{After: [][]byte{{1}}}.Encode([]byte("x")), 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		c, err := DecodeCursor([]byte("x"), b, n)
		if err == nil && string(c.Encode([]byte("x"))) != string(b) {
			// Varints may be longer than they need to be; their sum is checked all the same.
			if again, err := DecodeCursor([]byte("x"), c.Encode([]byte("x")), n); err != nil || string(again.Key) != string(c.Key) {
				t.Fatalf("%x", b)
			}
		}
	})
}

// TestResume reads a list of slices row by row, each time from the position that
// the row before left.
func TestResume(t *testing.T) {
	table, _ := testTable(t, "CREATE TABLE t (p int, a int, b int, PRIMARY KEY (p, a, b)) WITH CLUSTERING ORDER BY (a DESC, b ASC) AND write_sharding = {'shards': '3'}")
	prefix := func(ns ...int) [][]byte {
		var out [][]byte
		for _, n := range ns {
			out = append(out, IntValue(n))
		}
		return out
	}
	all := analysis.SlicesOf([]analysis.Slice{
		{Start: analysis.Bound{Prefix: prefix(4), Inclusive: true}, End: analysis.Bound{Prefix: prefix(4), Inclusive: true}},
		{Start: analysis.Bound{Prefix: prefix(3, 1), Inclusive: true}, End: analysis.Bound{Prefix: prefix(3, 1), Inclusive: true}},
		{Start: analysis.Bound{Prefix: prefix(2, 2)}, End: analysis.Bound{Prefix: prefix(1), Inclusive: true}},
		{Start: analysis.Bound{Prefix: prefix(1)}, End: analysis.Bound{Inclusive: true}},
	}...)
	var rows [][][]byte
	for a := 5; a >= 0; a-- {
		for b := range 4 {
			rows = append(rows, prefix(a, b))
		}
	}
	in := func(slices []analysis.Slice, row [][]byte) bool {
		for _, s := range slices {
			if s.Contains(table.Table, row) {
				return true
			}
		}
		return false
	}
	for _, reversed := range []bool{false, true} {
		if reversed {
			slices.Reverse(rows)
		}
		var want, got [][][]byte
		for _, row := range rows {
			if all.Contains(table.Table, row) {
				want = append(want, row)
			}
		}
		rest := func(after [][]byte) (left []analysis.Slice) {
			for s, behind := range table.resume(&all, after, reversed) {
				left = append(left, Within(s, behind, nil, reversed))
			}
			return left
		}
		left := rest(nil)
		for {
			i := slices.IndexFunc(rows, func(row [][]byte) bool { return in(left, row) })
			if i < 0 {
				break
			}
			got = append(got, rows[i])
			left = rest(rows[i])
			for _, row := range rows[:i+1] {
				if in(left, row) {
					t.Fatalf("reversed %v: %v is left after %v", reversed, row, rows[i])
				}
			}
		}
		if !slices.EqualFunc(got, want, func(a, b [][]byte) bool { return table.Compare(a, b) == 0 }) {
			t.Errorf("reversed %v: got %v, want %v", reversed, got, want)
		}
	}
}
