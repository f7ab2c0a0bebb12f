// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"slices"
	"strings"
)

// pool is a type with a few literals, so that histories use the same keys again. Some literals are
// those on which orders, equalities and encodings differ.
type pool struct {
	typ      string
	literals []string
}

// keyPools are the types that a key can have.
var keyPools = []pool{
	{"int", []string{"0", "1", "-1", "2147483647", "-2147483648"}},
	{"text", []string{"'a'", "'B'", "'ab'", "'é'", "'日本'", "'it''s'"}},
	{"ascii", []string{"'a'", "'Z'", "'~'", "'ab'"}},
	{"bigint", []string{"0", "1", "-1", "9223372036854775807", "-9223372036854775808"}},
	{"blob", []string{"0x00", "0x7f", "0x80", "0xff", "0xff00"}},
	{"boolean", []string{"true", "false"}},
	{"date", []string{"'1969-12-31'", "'1970-01-01'", "'2020-07-09'"}},
	// 1.0 and 1.00 are one row as clustering keys, and two partitions.
	{"decimal", []string{"-1.5", "0", "1.0", "1.00", "10e-1", "1.01"}},
	{"double", []string{"-1.5", "-0.0", "0.0", "1e300", "NaN", "Infinity"}},
	{"float", []string{"-1.5", "-0.0", "0.0", "1.25", "NaN", "-Infinity"}},
	{"inet", []string{"'127.0.0.1'", "'255.255.255.255'", "'::1'", "'0.0.0.0'"}},
	{"smallint", []string{"0", "-1", "32767", "-32768"}},
	{"time", []string{"'00:00:00'", "'08:12:54.123456789'", "'23:59:59.999999999'"}},
	{"timestamp", []string{"0", "-1", "'2020-07-09 12:00:00.001+0000'", "'2020-07-09T12:00:00+0200'"}},
	{"timeuuid", []string{"50554d6e-29bb-11e5-b345-feff819cdc9f", "00000000-0000-1000-8080-808080808080", "ffffffff-ffff-1fff-bf7f-7f7f7f7f7f7f"}},
	{"tinyint", []string{"0", "1", "-1", "127", "-128"}},
	{"uuid", []string{"00000000-0000-0000-0000-000000000000", "123e4567-e89b-42d3-a456-426614174000", "50554d6e-29bb-11e5-b345-feff819cdc9f", "ffffffff-ffff-4fff-bfff-ffffffffffff"}},
	{"varint", []string{"0", "-1", "127", "128", "-129", "340282366920938463463374607431768211456"}},
	{"frozen<list<int>>", []string{"[1]", "[1, 2]", "[2]", "[-1]"}},
	{"frozen<set<text>>", []string{"{'a'}", "{'a', 'b'}", "{'b'}"}},
	{"frozen<map<int, text>>", []string{"{1: 'a'}", "{1: 'b'}", "{2: ''}"}},
	{"tuple<int, text>", []string{"(1, 'a')", "(1, 'b')", "(2, null)", "(-5, '')"}},
	{"frozen<udt>", []string{"{a: 1, b: 'x'}", "{a: 1, b: 'y'}", "{b: 'only'}"}},
	{"vector<float, 2>", []string{"[1, 2]", "[-1, 0]", "[0.5, 0.25]"}},
}

// timePools returns the types of times.
func timePools() []pool {
	return slices.DeleteFunc(slices.Clone(keyPools), func(p pool) bool { return p.typ != "date" && p.typ != "timestamp" && p.typ != "timeuuid" })
}

// valuePools are the types of regular and static columns beyond those of keys.
var valuePools = append([]pool{
	{"list<int>", []string{"[1, 2]", "[3]", "[]", "[2, 2, 1]"}},
	{"set<text>", []string{"{'a', 'b'}", "{'c'}", "{}"}},
	{"map<text, int>", []string{"{'a': 1, 'b': 2}", "{'c': 3}", "{}"}},
	{"udt", []string{"{a: 1, b: 'x'}", "{a: 2}", "{b: 'y'}"}},
	{"duration", []string{"1d", "2mo3h", "-5s"}},
}, keyPools...)

// intPool is the pool of the column that aggregates add up.
var intPool = pool{"int", []string{"1", "2", "-7", "2147483647"}}

// increments are literals for c = c + literal and c = c - literal.
var increments = map[string][]string{
	"list<int>":      {"[2]", "[9, 8]"},
	"set<text>":      {"{'a'}", "{'z', 'b'}"},
	"map<text, int>": {"{'a': 7}", "{'q': 8}"},
}

// encodings holds literals' serialized values, by type.
type encodings map[string]map[string][]byte

// encode lets Cassandra serialize every literal, so that this module does not decide what is bound.
func encode(judge *Session) (encodings, error) {
	pools := append(valuePools[:len(valuePools):len(valuePools)], intPool)
	var defs []string
	for i, p := range pools {
		defs = append(defs, fmt.Sprintf("v%d %s", i, p.typ))
	}
	if err := judge.must("CREATE TABLE literals (k int PRIMARY KEY, " + strings.Join(defs, ", ") + ")"); err != nil {
		return nil, err
	}
	out := encodings{}
	for i, p := range pools {
		if out[p.typ] == nil {
			out[p.typ] = map[string][]byte{}
		}
		for k, l := range p.literals {
			if err := judge.must(fmt.Sprintf("INSERT INTO literals (k, v%d) VALUES (%d, %s)", i, k, l)); err != nil {
				return nil, err
			}
			a, err := judge.Conn.Query(Request{Query: fmt.Sprintf("SELECT v%d FROM literals WHERE k = %d", i, k)})
			if err != nil {
				return nil, err
			}
			if a.Kind != Rows || len(a.Rows) != 1 {
				return nil, fmt.Errorf("%s of a %s: %v", l, p.typ, a)
			}
			b := a.Rows[0][0]
			if b == nil { // an empty collection that is not frozen reads as null
				b = []byte{0, 0, 0, 0}
			}
			out[p.typ][l] = b
		}
	}
	return out, nil
}
