// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyType draws a type. Its user-defined types are in keyspace ks.
func anyType(t *rapid.T, depth int) *Type {
	kind := rapid.SampledFrom([]Kind{Ascii, Bigint, Blob, Boolean, Decimal, Double, Float, Int, Timestamp, UUID, Text, Varint,
		Timeuuid, Inet, Date, Time, Smallint, Tinyint, Duration, List, Map, Set, UDT, Tuple, Vector}).Draw(t, "kind")
	if typ := Native(kind); typ != nil {
		return typ
	}
	if depth == 0 {
		return Native(Int)
	}
	elem := func() *Type { return anyType(t, depth-1).Freeze() }
	frozen := rapid.Bool().Draw(t, "frozen")
	switch kind {
	case List:
		return ListOf(elem(), frozen)
	case Set:
		return SetOf(elem(), frozen)
	case Map:
		return MapOf(elem(), elem(), frozen)
	case UDT:
		name := rapid.SampledFrom([]string{"u", "Upper", "select", "with space", `quo"te`, "ünï"}).Draw(t, "name")
		return UDTOf("ks", name, []string{"a", "B"}, []*Type{elem(), elem()}, frozen)
	case Tuple:
		return TupleOf(elem(), elem())
	}
	return VectorOf(elem(), rapid.IntRange(1, 4).Draw(t, "dim"))
}

func TestClassParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := anyType(t, 3)
		back, reversed, err := ParseClass(typ.Class())
		if err != nil || reversed || !back.Equal(typ) || back.Class() != typ.Class() {
			t.Fatalf("%s: %s, %t, %v", typ.Class(), back, reversed, err)
		}
		back, reversed, err = ParseClass(marshal + "ReversedType(" + typ.Class() + ")")
		if err != nil || !reversed || !back.Equal(typ) {
			t.Fatalf("reversed %s: %s, %t, %v", typ.Class(), back, reversed, err)
		}
	})
}

func TestNameParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := anyType(t, 3)
		// A name does not determine the fields of a user-defined type. The last type with each name
		// replaces all others, so only the text can be compared.
		udts := map[string]*Type{}
		var collect func(*Type)
		collect = func(u *Type) {
			for _, e := range u.Elems {
				collect(e)
			}
			if u.Kind == UDT {
				thawed := *u
				thawed.Frozen = false
				udts[u.Name] = &thawed
			}
		}
		collect(typ)
		back, err := ParseType(typ.String(), func(name string) (*Type, error) { return udts[name], nil })
		if err != nil || back.String() != typ.String() {
			t.Fatalf("%s: %v, %v", typ, back, err)
		}
	})
}

func TestParseType(t *testing.T) {
	udt := UDTOf("ks", "Addr", []string{"a"}, []*Type{ListOf(Native(Int), false)}, false)
	resolve := func(name string) (*Type, error) {
		switch name {
		case "Addr", "addr":
			return udt, nil
		case "gone":
			return nil, errors.New("it is gone")
		}
		return nil, nil
	}
	for in, want := range map[string]string{
		"varchar":                                "text",
		" LIST < Int > ":                         "list<int>",
		"frozen<list<list<int>>>":                "frozen<list<frozen<list<int>>>>",
		`map<text,frozen<"Addr">>`:               `map<text, frozen<"Addr">>`,
		"addr":                                   `"Addr"`,
		"tuple<int,addr>":                        `frozen<tuple<int, frozen<"Addr">>>`,
		"vector<float,3>":                        "vector<float, 3>",
		"'org.apache.cassandra.db.marshal.Nope'": "'org.apache.cassandra.db.marshal.Nope'",
		"'LongType'":                             "bigint",
		"frozen<int>":                            "int",
		"int<":                                   "!no type",
		"":                                       "!no type",
		"list<int":                               `!no ">"`,
		"list<int>>":                             "!more behind",
		"map<int>":                               `!no ","`,
		"vector<int>":                            `!no ","`,
		"vector<int, 0>":                         "!no dimension",
		"nope":                                   "!unknown type nope",
		"gone":                                   "!it is gone",
		"nope<int>":                              "!unknown type nope<",
		`"Addr`:                                  "!no closing quote",
		strings.Repeat("list<", 100) + "int":     "!nest too deeply",
	} {
		got, err := ParseType(in, resolve)
		if fault, wrong := strings.CutPrefix(want, "!"); wrong {
			if err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("%q: %v, want %s", in, err, fault)
			}
			continue
		}
		if err != nil || got.String() != want {
			t.Errorf("%q: %v, %v, want %s", in, got, err, want)
		}
	}
	frozen, err := ParseType("frozen<addr>", resolve)
	if err != nil || !frozen.Elems[0].Frozen || udt.Elems[0].Frozen {
		t.Errorf("frozen<addr> freezes %v of %v, %v", frozen, udt, err)
	}
}

func TestParseClassErrors(t *testing.T) {
	for _, in := range []string{"", "(", "ListType", "ListType(", "ListType()", "ListType(Int32Type", "ListType(Int32Type,Int32Type)", "MapType(Int32Type)",
		"Int32Type)", "Int32Type x", "UserType(ks,zz,61:Int32Type)", "UserType(ks)", "UserType(ks,61,6:Int32Type)", "UserType(ks,61,61Int32Type)",
		"VectorType(FloatType)", "VectorType(FloatType , x)", "VectorType(FloatType , -1)", "FrozenType(Int32Type,Int32Type)", "CompositeType(Int32Type",
		strings.Repeat("ListType(", 100) + "Int32Type" + strings.Repeat(")", 100)} {
		if got, _, err := ParseClass(in); err == nil {
			t.Errorf("%q: %s", in, got)
		}
	}
	custom, _, err := ParseClass("a.b.C(x, y(z))")
	if err != nil || custom.Kind != Custom || custom.Class() != "a.b.C(x, y(z))" {
		t.Errorf("custom: %v, %v", custom, err)
	}
}

func TestFreeze(t *testing.T) {
	list := ListOf(ListOf(Native(Int), false), false)
	if f := list.Freeze(); !f.Frozen || !f.Elems[0].Frozen || list.Frozen || list.Elems[0].Frozen {
		t.Error("freezing is not deep, or changes what it froze")
	}
	if f := list.Freeze(); f.Freeze() != f || Native(Int).Freeze() != Native(Int) {
		t.Error("freezing what is frozen makes a new type")
	}
	if !list.Multicell() || list.Freeze().Multicell() || TupleOf(Native(Int)).Multicell() || Native(Int).Multicell() {
		t.Error("Multicell")
	}
	if list.Equal(list.Freeze()) || !list.Equal(ListOf(ListOf(Native(Int), false), false)) || list.Equal(nil) {
		t.Error("Equal")
	}
	if !list.Contains(Int) || list.Contains(Duration) || !TupleOf(Native(Duration)).Contains(Duration) {
		t.Error("Contains")
	}
}
