// SPDX-License-Identifier: Apache-2.0

package value

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// TestBind compares Bind with the values that a real Cassandra stored, or with its errors.
func TestBind(t *testing.T) {
	const (
		set      = "00000003" + "0000000400000003" + "0000000400000001" + "0000000400000003"
		sorted   = "00000002" + "0000000400000001" + "0000000400000003"
		intMap   = "00000003" + "00000004000000030000000400000030" + "00000004000000010000000400000010" + "00000004000000030000000400000031"
		inOrder  = "00000002" + "00000004000000010000000400000010" + "00000004000000030000000400000031"
		overlong = "00000002" + "00000003000001" + "0000000101"
	)
	for _, c := range []struct{ typ, in, want string }{
		{"frozen<set<int>>", set, sorted},
		{"set<int>", set, sorted},
		{"frozen<map<int, int>>", intMap, inOrder},
		{"frozen<list<frozen<set<int>>>>", "000000010000001c" + set, "0000000100000014" + sorted},
		{"list<frozen<set<int>>>", "000000010000001c" + set, "0000000100000014" + sorted},
		{"frozen<map<int, frozen<set<int>>>>", "0000000100000004000000010000001c" + set, "00000001000000040000000100000014" + sorted},
		{"tuple<frozen<set<int>>, int>", "0000001c" + set + "0000000400000001", "0000001c" + set + "0000000400000001"},
		{"vector<frozen<set<int>>, 1>", "1c" + set, "1c" + set},
		{"frozen<list<frozen<tuple<frozen<set<int>>>>>>", "00000001000000200000001c" + set, "00000001000000200000001c" + set},
		{"tuple<int, int>", "0000000400000001", "0000000400000001"},
		{"tuple<int, int>", "", ""},
		{"frozen<list<boolean>>", "000000010000000102", "000000010000000101"},
		{"frozen<list<double>>", "0000000100000008fff8000000000001", "0000000100000008fff8000000000001"},
		{"frozen<list<text>>", "0000000100000000", "0000000100000000"},
		{"frozen<list<text>>", "0000000100000002c080", "!Invalid UTF-8 bytes c080"},
		{"frozen<list<text>>", "0000000100000003eda080", "!Invalid UTF-8 bytes eda080"},
		{"text", "c080", "c080"},
		{"frozen<list<inet>>", "000000010000001000000000000000000000ffff01020304", "000000010000000401020304"},
		{"inet", "00000000000000000000ffff01020304", "00000000000000000000ffff01020304"},
		{"frozen<list<duration>>", "0000000100000006800100000000", "0000000100000003010000"},
		{"frozen<list<varint>>", "0000000100000003000001", "000000010000000101"},
		{"varint", "000001", "000001"},
		{"frozen<list<decimal>>", "000000010000000700000001000064", "00000001000000050000000164"},
		{"frozen<list<vector<varint, 1>>>", "0000000100000003020001", "00000001000000020101"},
		{"set<varint>", overlong, "000000010000000101"},
		{"frozen<set<decimal>>", "00000002" + "00000005000000010a" + "000000050000000001", "00000001" + "00000005000000010a"},
		{"frozen<map<decimal, varint>>", "00000002" + "00000005000000010a0000000101" + "0000000500000000010000000102", "00000001" + "00000005000000010a0000000102"},
		{"frozen<list<int>>", "ffffffff", "!The data cannot be deserialized as a list"},
		{"frozen<set<int>>", "ffffffff", "!The data cannot be deserialized as a set"},
		{"frozen<map<int, int>>", "ffffffff", "!The data cannot be deserialized as a map"},
		{"frozen<list<int>>", "", "!Not enough bytes to read a list"},
		{"frozen<list<int>>", "0000000100000003616263", "!Expected 4 or 0 byte int (3)"},
		{"list<int>", "0000000100000000", "00000001ffffffff"},
		{"list<int>", "00000001ffffffff", "00000001ffffffff"},
		{"set<int>", "00000001ffffffff", "!Null value read when not allowed"},
		{"map<int, int>", "0000000100000000ffffffff", "!Null value read when not allowed"},
		{"frozen<list<frozen<list<int>>>>", "000000010000000800000001ffffffff", "!Null value read when not allowed"},
		{"frozen<list<frozen<list<int>>>>", "00000001000000080000000100000000", "000000010000000800000001ffffffff"},
		{"frozen<list<frozen<list<int>>>>", "0000000100000004ffffffff", "!The data cannot be deserialized as a list"},
		{"frozen<list<frozen<map<int, int>>>>", "0000000100000002ffff", "!Not enough bytes to read a map"},
		{"tuple<frozen<list<int>>>", "00000004ffffffff", "00000004ffffffff"},
		{"vector<text, 1>", "800161", "!Unexpected 1 extraneous bytes after vector<text, 1> value"},
	} {
		typ, err := ParseType(c.typ, nil)
		if err != nil {
			t.Fatal(err)
		}
		in := unhex(t, c.in)
		if got := answer(typ.Bind(in)); got != c.want {
			t.Errorf("%s 0x%s: %s, want %s", c.typ, c.in, got, c.want)
		}
		if hex.EncodeToString(in) != c.in {
			t.Errorf("%s 0x%s was changed", c.typ, c.in)
		}
		if want, err := hex.DecodeString(c.want); err == nil && !bytes.Equal(typ.Canonical(nil, in), typ.Canonical(nil, want)) {
			t.Errorf("%s 0x%s and what is stored of it differ canonically", c.typ, c.in)
		}
	}
	for in, want := range map[string]bool{"00000001ffffffff": true, "000000010000000400000001": false, "00000000": false} {
		if got := ListOf(Native(Int), true).HasNull(unhex(t, in)); got != want {
			t.Errorf("list<int> 0x%s has a null: %v", in, got)
		}
		if got := ListOf(ListOf(Native(Int), true), true).HasNull(AppendPart(AppendCount(nil, 1), unhex(t, in))); got != want {
			t.Errorf("a list of list<int> 0x%s has a null: %v", in, got)
		}
	}
	if v, err := Native(Int).Bind(nil); v != nil || err != nil {
		t.Errorf("null: %x, %v", v, err)
	}
}
