// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/value"
)

var orderedTypes = func() map[string]*value.Type {
	types := map[string]*value.Type{}
	for name, k := range map[string]value.Kind{
		"ascii": value.Ascii, "bigint": value.Bigint, "blob": value.Blob, "boolean": value.Boolean, "date": value.Date,
		"decimal": value.Decimal, "double": value.Double, "float": value.Float, "inet": value.Inet, "int": value.Int,
		"smallint": value.Smallint, "text": value.Text, "time": value.Time, "timestamp": value.Timestamp,
		"timeuuid": value.Timeuuid, "tinyint": value.Tinyint, "uuid": value.UUID, "varint": value.Varint,
	} {
		types[name] = value.Native(k)
	}
	n := value.Native
	types["list<text>"] = value.ListOf(n(value.Text), true)
	types["set<decimal>"] = value.SetOf(n(value.Decimal), true)
	types["map<varint,text>"] = value.MapOf(n(value.Varint), n(value.Text), true)
	types["tuple<int,text,double>"] = value.TupleOf(n(value.Int), n(value.Text), n(value.Double))
	types["list<tuple<boolean,blob>>"] = value.ListOf(value.TupleOf(n(value.Boolean), n(value.Blob)), true)
	types["udt"] = value.UDTOf("k", "u", []string{"a", "b"}, []*value.Type{n(value.Varint), n(value.UUID)}, true)
	types["list<udt>"] = value.ListOf(types["udt"], true)
	types["udt of udt"] = value.UDTOf("k", "o", []string{"a", "b", "c"}, []*value.Type{types["udt"], n(value.Text), types["list<udt>"]}, true)
	types["vector<float,3>"] = value.VectorOf(n(value.Float), 3)
	types["vector<text,2>"] = value.VectorOf(n(value.Text), 2)
	return types
}()

// genSerialized draws serialized values, many of them near each other, in canonical form or not.
func genSerialized(t *rapid.T, typ *value.Type) []byte {
	pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
	small := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}).Draw(t, "byte")
		}
		return b
	}
	switch typ.Kind {
	case value.Boolean:
		return small(1)
	case value.Tinyint, value.Smallint, value.Int, value.Bigint, value.Date, value.Time, value.Timestamp:
		if pick(8) == 0 && typ.Kind != value.Date && typ.Kind != value.Time && typ.Kind != value.Smallint && typ.Kind != value.Tinyint {
			return []byte{}
		}
		return small(fixedLen(typ.Kind))
	case value.Float, value.Double:
		special := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32, -math.SmallestNonzeroFloat32}
		f := special[pick(len(special))]
		if pick(4) == 0 {
			return small(fixedLen(typ.Kind))
		}
		if typ.Kind == value.Float {
			return be32(math.Float32bits(float32(f)))
		}
		return be64(math.Float64bits(f))
	case value.Varint:
		return small(1 + pick(3) + 70*(pick(20)/19))
	case value.Decimal:
		scale := rapid.SampledFrom([]int32{0, 1, 2, -1, -2, 5, -40, math.MaxInt32, math.MinInt32 + 5}).Draw(t, "scale")
		unscaled := big.NewInt(rapid.SampledFrom([]int64{0, 1, -1, 10, 100, -100, 12, 123, 1200, -12, math.MaxInt64}).Draw(t, "unscaled"))
		if pick(4) == 0 {
			unscaled.Mul(unscaled, unscaled)
		}
		return value.AppendDecimal(nil, unscaled, scale)
	case value.UUID, value.Timeuuid:
		b := small(16)
		version := byte(1)
		if typ.Kind == value.UUID {
			version = rapid.SampledFrom([]byte{0, 1, 4, 0xf}).Draw(t, "version")
		}
		b[6] = b[6]&0x0f | version<<4
		return b
	case value.Inet:
		return small([]int{4, 16}[pick(2)])
	case value.Ascii:
		b := small(pick(4))
		for i := range b {
			b[i] &= 0x7f
		}
		return b
	case value.Text:
		return []byte(rapid.SampledFrom([]string{"", "a", "a\x00", "a\x00\x00", "\x00", "\x01", "b", "ü", "\x00\x01"}).Draw(t, "text"))
	case value.List, value.Set, value.Map:
		var parts [][]byte
		for range pick(3) {
			parts = append(parts, genSerialized(t, typ.Elems[0]))
			if typ.Kind == value.Map {
				parts = append(parts, genSerialized(t, typ.Elems[1]))
			}
		}
		if typ.Kind != value.List {
			parts = typ.Sort(parts)
		}
		return typ.Build(nil, parts)
	case value.Tuple, value.UDT:
		parts := make([][]byte, 0, len(typ.Elems))
		for i, e := range typ.Elems {
			if i > 0 && pick(6) == 0 {
				break // trailing parts may be left out
			}
			if pick(6) == 0 {
				parts = append(parts, nil)
				continue
			}
			parts = append(parts, genSerialized(t, e))
		}
		var b []byte
		for _, p := range parts {
			b = value.AppendPart(b, p)
		}
		return b
	case value.Vector:
		var parts [][]byte
		for range typ.Dim {
			p := genSerialized(t, typ.Elems[0])
			parts = append(parts, p)
		}
		return typ.Build(nil, parts)
	}
	return small(pick(4))
}

func be32(u uint32) []byte { return i32(int(u)) }
func be64(u uint64) []byte { return append(i32(int(u>>32)), i32(int(uint32(u)))...) }

// TestOrderedIsCompare checks that the byte order of the ordered form is value.Compare's, also with
// other components after it. The decoded value must be equal to the encoded one. If the type is
// injective, it must have the same bytes.
func TestOrderedIsCompare(t *testing.T) {
	for name, typ := range orderedTypes {
		for _, desc := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " desc=", desc), func(t *testing.T) {
				c := &ClusteringColumn{Type: typ, Desc: desc}
				rapid.Check(t, func(t *rapid.T) {
					a, b := genSerialized(t, typ), genSerialized(t, typ)
					ea, err := appendClustering(nil, c, a)
					if err != nil {
						t.Fatalf("%x: %v", a, err)
					}
					eb, err := appendClustering(nil, c, b)
					if err != nil {
						t.Fatalf("%x: %v", b, err)
					}
					want := cmp.Compare(typ.Compare(a, b), 0)
					if desc {
						want = -want
					}
					if got := bytes.Compare(ea, eb); got != want {
						t.Fatalf("%x and %x: ordered %x and %x compare %d, want %d", a, b, ea, eb, got, want)
					}
					// If the values differ, the bytes after them do not matter, and a bound after a
					// comes after all that begin with a.
					if want != 0 {
						if got := bytes.Compare(append(bytes.Clone(ea), 0xfe), append(bytes.Clone(eb), 0x02)); got != want {
							t.Fatalf("%x and %x with more behind compare %d, want %d", ea, eb, got, want)
						}
						if got := bytes.Compare(append(bytes.Clone(ea), after), eb); got != want {
							t.Fatalf("after %x and %x compare %d, want %d", ea, eb, got, want)
						}
					}
					_, v, rest, err := decodeClustering(nil, c, append(bytes.Clone(ea), 2))
					if err != nil || len(rest) != 1 {
						t.Fatalf("%x: decode: %v, %d bytes left", ea, err, len(rest))
					}
					if typ.Compare(v, a) != 0 {
						t.Fatalf("%x decoded as %x", a, v)
					}
					if injective(typ) && !bytes.Equal(v, a) {
						t.Fatalf("%x decoded as %x", a, v)
					}
					again, err := appendClustering(nil, c, v)
					if err != nil || !bytes.Equal(again, ea) {
						t.Fatalf("%x: canonical form %x is %x", ea, v, again)
					}
				})
			})
		}
	}
}

// TestOrderedGrows checks that a value has the same ordered form, and is decoded to the same value,
// after ALTER TYPE gave a type in it another field.
func TestOrderedGrows(t *testing.T) {
	grown := value.UDTOf("k", "u", []string{"a", "b", "c"}, append(slices.Clone(orderedTypes["udt"].Elems), value.Native(value.Int)), true)
	for _, name := range []string{"udt", "list<udt>", "udt of udt"} {
		before := orderedTypes[name]
		now := (&value.Replacer{With: grown}).Replace(before)
		rapid.Check(t, func(t *rapid.T) {
			v, desc := genSerialized(t, before), rapid.Bool().Draw(t, "desc")
			was, err := appendClustering(nil, &ClusteringColumn{Type: before, Desc: desc}, v)
			if err != nil {
				t.Fatal(err)
			}
			is, err := appendClustering(nil, &ClusteringColumn{Type: now, Desc: desc}, v)
			if err != nil || !bytes.Equal(was, is) {
				t.Fatalf("%s %x: was %x, is %x, %v", name, v, was, is, err)
			}
			_, again, _, err := decodeClustering(nil, &ClusteringColumn{Type: now, Desc: desc}, was)
			if err != nil || now.Compare(v, again) != 0 {
				t.Fatalf("%s %x: decoded as %x, %v", name, v, again, err)
			}
		})
	}
}

// TestOrderedRefuses checks that values that do not fit their type are errors.
func TestOrderedRefuses(t *testing.T) {
	for name, v := range map[string][]byte{
		"int": {1}, "bigint": {1, 2, 3, 4}, "uuid": {1}, "decimal": {1, 2}, "list<text>": {0, 0, 0, 1},
		"tuple<int,text,double>": {0, 0, 0, 4, 1}, "vector<float,3>": {1, 2, 3, 4},
	} {
		if _, err := appendClustering(nil, &ClusteringColumn{Type: orderedTypes[name]}, v); err == nil && name != "vector<float,3>" {
			t.Errorf("%s %x: no error", name, v)
		}
	}
	if _, err := appendClustering(nil, &ClusteringColumn{Type: orderedTypes["int"]}, nil); err == nil {
		t.Error("null: no error")
	}
}

// FuzzDecodeOrdered checks that no bytes on disk make decoding panic.
func FuzzDecodeOrdered(f *testing.F) {
	names := []string{"text", "decimal", "varint", "uuid", "map<varint,text>", "list<tuple<boolean,blob>>", "vector<text,2>", "udt of udt"}
	f.Add(0, []byte{3, 'a', 0, 1})
	f.Add(1, []byte{3, 0x30, 0x81, 2, 0})
	f.Add(2, []byte{3, 0xbf, 0, 0, 0, 0, 0, 0, 0, 1, 5})
	f.Add(4, []byte{3, 3, 0x80, 1, 3, 'x', 0, 1, 0})
	f.Add(7, []byte{3, 3, 3, 0x80, 1, 0, 1, 3, 3, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, i int, src []byte) {
		typ := orderedTypes[names[uint(i)%uint(len(names))]]
		for _, desc := range []bool{false, true} {
			c := &ClusteringColumn{Type: typ, Desc: desc}
			if _, v, _, err := decodeClustering(nil, c, src); err == nil && v != nil {
				_, _ = appendClustering(nil, c, v)
			}
		}
	})
}

// FuzzDecodeRow checks the same for rows and deletions. Decoded data must be equal after encoding
// and decoding again.
func FuzzDecodeRow(f *testing.F) {
	r := rowData{hasMarker: true, marker: Liveness{5, 6, 7}, deletion: Deletion{3, 4}, originals: []original{{1, []byte("x")}}}
	r.cells = []cellData{{column: 1, kind: cellLive, timestamp: 9, value: []byte("v")}, {column: 3, kind: cellExpiring | cellPath, path: []byte("p"), original: []byte("o"), timestamp: -9, ttl: 8, time: 7}}
	f.Add(r.append(nil))
	d := deletions{partition: Deletion{1, 2}, spans: []span{{[]byte("a"), []byte("b"), Deletion{3, 4}}}}
	f.Add(d.append(nil))
	f.Fuzz(func(t *testing.T, src []byte) {
		var r, again rowData
		if r.decode(src) == nil {
			e := r.append(nil)
			if err := again.decode(e); err != nil || !bytes.Equal(again.append(nil), e) {
				t.Fatalf("%x becomes %x: %v", src, e, err)
			}
		}
		var d, d2 deletions
		if d.decode(src) == nil {
			e := d.append(nil)
			if err := d2.decode(e); err != nil || !bytes.Equal(d2.append(nil), e) {
				t.Fatalf("%x becomes %x: %v", src, e, err)
			}
		}
		earliest(src)
	})
}
