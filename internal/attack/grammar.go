// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// grammar draws statements on a table that it has drawn.
type grammar struct {
	*rand.Rand
	pk, ck, statics, regs []attribute
	counters, random      bool
	fields                []string // further fields that type u was given
	added                 int      // how many columns were added
	drops                 bool     // columns are dropped, and no write has a timestamp ahead of the clock
	writing               bool     // the statement that is drawn is a write
}

type attribute struct {
	name, typ string
	desc      bool
	literals  []string
	draw      func() string
	old       int // how many of the literals are from before type u got its last field
}

// widens says whether type u can get a field. Cassandra refuses that for a type in a partition key, and
// does not notice it within a vector.
func (g *grammar) widens() bool {
	used := false
	for _, c := range slices.Concat(g.pk, g.ck, g.statics, g.regs) {
		if !c.ofU() {
			continue
		}
		used = true
		if strings.Contains(c.typ, "vector<") || slices.ContainsFunc(g.pk, func(k attribute) bool { return k.name == c.name }) {
			return false
		}
	}
	return used
}

// ofU says whether a column's values contain values of type u.
func (c *attribute) ofU() bool {
	return c.typ == "u" || strings.Contains(c.typ, "u>") || strings.Contains(c.typ, "u,")
}

// widen adds a field to type u, and values that have it to the columns whose types contain u. From then on only reads use
// the other values. If a write did, the same key would be there in two forms, without the field and
// with null, and Cassandra does not define which of them a read shows.
func (g *grammar) widen() string {
	name := fmt.Sprintf("x%d", len(g.fields))
	g.fields = append(g.fields, name)
	for _, cs := range [][]attribute{g.ck, g.statics, g.regs} {
		for i := range cs {
			if c := &cs[i]; c.ofU() {
				c.old = len(c.literals)
				c.literals = append(c.literals, c.draw(), c.draw(), c.draw())
			}
		}
	}
	return "ALTER TYPE u ADD " + name + " int"
}

// ofU draws a value of type u.
func (g *grammar) ofU() string {
	v := pick(g.Rand, "{a: 1, b: 'x'}", "{a: 1}", "{b: ''}", "{a: null, b: 'x'}", "{a: -1, b: 'y'}")
	for i, name := range g.fields {
		if i+1 == len(g.fields) || g.IntN(2) == 0 {
			v = strings.TrimSuffix(v, "}") + fmt.Sprintf(", %s: %d}", name, g.IntN(2))
		}
	}
	return v
}

func newGrammar(r *rand.Rand) *grammar {
	// A column is dropped while the table has a cell of it that is newer than the DROP. Then Cassandra answers
	// reads that name columns with an error. So a history has either drops or such cells.
	g := &grammar{Rand: r, random: r.IntN(4) == 0, drops: r.IntN(2) == 0}
	g.counters = r.IntN(6) == 0
	column := func(name string, kind int) attribute {
		a := attribute{name: name}
		var draw func() string
		a.typ, draw = g.drawType(kind, 2)
		// Under random, either form of an equal key (1.0 and 1.00) can come back. That includes the keys of a
		// map. Cassandra keeps a counter in its cache under the bytes of its key, so it loses the increments
		// of another form.
		for (kind == keyType || strings.Contains(a.typ, "set<") || strings.Contains(a.typ, "map<")) && (g.random || g.counters) && strings.Contains(a.typ, "decimal") {
			a.typ, draw = g.drawType(kind, 2)
		}
		a.draw = draw
		for range 2 + r.IntN(4) {
			a.literals = append(a.literals, draw())
		}
		a.desc = r.IntN(2) == 0
		return a
	}
	for i := range pick(r, 1, 1, 1, 2, 3) {
		g.pk = append(g.pk, column(fmt.Sprintf("p%d", i), keyType))
	}
	for i := range 1 + r.IntN(3) {
		g.ck = append(g.ck, column(fmt.Sprintf("c%d", i), keyType))
	}
	if g.counters {
		for i := range 1 + r.IntN(2) {
			g.regs = append(g.regs, attribute{name: fmt.Sprintf("v%d", i), typ: "counter", literals: []string{"1", "2", "-1"}})
		}
		if r.IntN(3) == 0 {
			g.statics = append(g.statics, attribute{name: "s0", typ: "counter", literals: []string{"1"}})
		}
		return g
	}
	for i := range 1 + r.IntN(4) {
		g.regs = append(g.regs, column(fmt.Sprintf("v%d", i), valueType))
	}
	g.regs = append(g.regs, attribute{name: "n", typ: "int", literals: []string{"0", "1", "2", "-5", "2147483647"}})
	for i := range pick(r, 0, 0, 1, 2) {
		g.statics = append(g.statics, column(fmt.Sprintf("s%d", i), valueType))
	}
	return g
}

const (
	keyType = iota
	elementType
	valueType
)

// drawType draws a type and returns a function that draws its literals.
func (g *grammar) drawType(kind, depth int) (string, func() string) {
	r := g.Rand
	of := func(ls ...string) func() string { return func() string { return pick(r, ls...) } }
	number := func(bits int) func() string {
		return func() string {
			return pick(r, fmt.Sprint(r.Int64()>>(64-bits)), "0", "1", "-1", fmt.Sprint(-1<<(bits-1)), fmt.Sprint(1<<(bits-1)-1))
		}
	}
	text := func() string {
		return "'" + pick(r, "", "a", "b", "aa", "A", "é", "''", "日本", "a b", strings.Repeat("z", r.IntN(20)), "ab\x00", "-1", "\U0001F600") + "'"
	}
	simple := func() (string, func() string) {
		switch r.IntN(17) {
		case 0:
			return "int", number(32)
		case 1:
			return "text", text
		case 2:
			return "bigint", number(63)
		case 3:
			return "blob", func() string {
				return fmt.Sprintf("0x%x", make([]byte, r.IntN(4))) + pick(r, "", "ff", "00", "80", "7f01")
			}
		case 4:
			return "boolean", of("true", "false")
		case 5:
			return "date", of("'1970-01-01'", "'2020-02-29'", "'-5877641-06-23'", "'1582-10-15'", "0", "4294967295")
		case 6:
			return "decimal", func() string {
				return pick(r, "0", "1", "1.0", "1.00", "-0.0", "10", "1e1", "0.1", "-1.5e-7", "1e20", fmt.Sprintf("%d.%de%d", r.IntN(100), r.IntN(100), r.IntN(20)-10))
			}
		case 7:
			return "double", of("0.5", "-0.5", "0.0", "-0.0", "1.25", "NaN", "Infinity", "-Infinity", "2")
		case 8:
			return "float", of("0.5", "-0.5", "0.0", "-0.0", "1.25", "NaN", "Infinity", "2")
		case 9:
			return "inet", of("'10.0.0.1'", "'::1'", "'255.0.0.1'", "'::ffff:1.2.3.4'")
		case 10:
			return "smallint", number(16)
		case 11:
			return "time", of("'00:00:00'", "'23:59:59.999999999'", "'01:02:03.5'")
		case 12:
			return "timestamp", of("0", "-1", "'2020-02-29 10:11:12.345+0100'", "1e0", "'1969-12-31'", "9223372036854775807")
		case 13:
			return "timeuuid", of("50554d6e-29bb-11e5-b345-feff819cdc9f", "00000000-0000-1000-8080-808080808080", "50554d6f-29bb-11e5-b345-feff819cdc9f")
		case 14:
			return "uuid", of("123e4567-e89b-42d3-a456-426614174000", "50554d6e-29bb-11e5-b345-feff819cdc9f", "00000000-0000-0000-0000-000000000000")
		case 15:
			return "varint", of("0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "99999999999999999999999999", "-99999999999999999999999999")
		default:
			return "ascii", of("''", "'a'", "'b'", "'~'", "'a b'")
		}
	}
	if depth == 0 || r.IntN(10) < 7 {
		return simple()
	}
	several := func(most int, open, end string, draw func() string) func() string {
		return func() string {
			var parts []string
			for range r.IntN(most + 1) {
				parts = append(parts, draw())
			}
			return open + strings.Join(parts, ", ") + end
		}
	}
	frozen := func(t string) string {
		if kind == valueType && r.IntN(3) > 0 {
			return t
		}
		return "frozen<" + t + ">"
	}
	typ, draw := g.drawType(elementType, depth-1)
	switch r.IntN(6) {
	case 0:
		return frozen("list<" + typ + ">"), several(3, "[", "]", draw)
	case 1:
		most := 3
		if strings.Contains(typ, "decimal") {
			most = 1 // as for the keys of a map, below
		}
		return frozen("set<" + typ + ">"), several(most, "{", "}", draw)
	case 2:
		typ2, draw2 := g.drawType(elementType, depth-1)
		// Cassandra does not define which of two equal keys in a literal stays. So there is only
		// one entry if equal keys may have different texts.
		most := 1
		if slices.Contains([]string{"int", "text", "bigint", "smallint", "boolean", "uuid", "varint", "ascii"}, typ) {
			most = 4
		}
		least := 0
		if kind == keyType {
			least = 1 // Cassandra takes {} in a key for a set, and fails
		}
		return frozen("map<" + typ + ", " + typ2 + ">"), func() string {
			var parts, keys []string
			for range least + r.IntN(most+1-least) {
				if k := draw(); !slices.Contains(keys, k) {
					keys, parts = append(keys, k), append(parts, k+": "+draw2())
				}
			}
			return "{" + strings.Join(parts, ", ") + "}"
		}
	case 3:
		typ2, draw2 := g.drawType(elementType, depth-1)
		return "tuple<" + typ + ", " + typ2 + ">", func() string {
			return "(" + pick(r, draw(), "null", draw()) + ", " + pick(r, draw2(), draw2(), "null") + ")"
		}
	case 4:
		return frozen("u"), g.ofU
	default:
		return fmt.Sprintf("vector<%s, 2>", typ), func() string { return "[" + draw() + ", " + draw() + "]" }
	}
}

func (g *grammar) create() string {
	var parts, order []string
	for _, c := range slices.Concat(g.pk, g.ck, g.regs) {
		parts = append(parts, c.name+" "+c.typ)
	}
	for _, c := range g.statics {
		parts = append(parts, c.name+" "+c.typ+" static")
	}
	for _, c := range g.ck {
		direction := " ASC"
		if c.desc {
			direction = " DESC"
		}
		order = append(order, c.name+direction)
	}
	return fmt.Sprintf("CREATE TABLE t (%s, PRIMARY KEY ((%s), %s)) WITH CLUSTERING ORDER BY (%s)", strings.Join(parts, ", "), names(g.pk), names(g.ck), strings.Join(order, ", "))
}

// alter adds a column, or drops one that was added.
func (g *grammar) alter() string {
	last := len(g.regs) - 1
	if g.drops && strings.HasPrefix(g.regs[last].name, "y") && g.IntN(2) == 0 {
		name := g.regs[last].name
		g.regs = g.regs[:last]
		return "ALTER TABLE t DROP " + name
	}
	c := attribute{name: fmt.Sprintf("y%d", g.added)}
	c.typ, c.draw = g.drawType(valueType, 2)
	for c.ofU() { // widens looks at the columns that the table has now
		c.typ, c.draw = g.drawType(valueType, 2)
	}
	for range 3 {
		c.literals = append(c.literals, c.draw())
	}
	g.added++
	g.regs = append(g.regs, c)
	return "ALTER TABLE t ADD " + c.name + " " + c.typ
}

func names(cs ...[]attribute) string {
	var out []string
	for _, c := range slices.Concat(cs...) {
		out = append(out, c.name)
	}
	return strings.Join(out, ", ")
}

func (g *grammar) literal(c attribute) string {
	if g.writing {
		return pick(g.Rand, c.literals[c.old:]...)
	}
	return pick(g.Rand, c.literals...)
}

func (g *grammar) value(c attribute) string {
	if g.IntN(6) == 0 {
		return "null"
	}
	return g.literal(c)
}

func (g *grammar) list(c attribute) string {
	var out []string
	for range g.IntN(5) {
		out = append(out, g.literal(c))
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// keys restricts columns by = and IN.
func (g *grammar) keys(cs []attribute, in int) []string {
	var out []string
	for _, c := range cs {
		if g.IntN(in) == 0 {
			out = append(out, c.name+" IN "+g.list(c))
		} else {
			out = append(out, c.name+" = "+g.literal(c))
		}
	}
	return out
}

// slice restricts some clustering columns in one of the possible ways.
func (g *grammar) slice() []string {
	n := g.IntN(len(g.ck) + 1)
	out := g.keys(g.ck[:n], 4)
	rest := g.ck[n:]
	if len(rest) == 0 || g.IntN(4) == 0 {
		return out
	}
	several := rest[:1+g.IntN(len(rest))]
	tuple := func() string {
		var vs []string
		for _, c := range several {
			vs = append(vs, g.literal(c))
		}
		return "(" + strings.Join(vs, ", ") + ")"
	}
	if g.IntN(3) == 0 {
		if g.IntN(3) == 0 {
			return append(out, "("+names(several)+") IN ("+tuple()+", "+tuple()+")")
		}
		out = append(out, "("+names(several)+") "+pick(g.Rand, ">", ">=", "<", "<=", "=")+" "+tuple())
		if g.IntN(2) == 0 {
			out = append(out, "("+names(several[:1])+") "+pick(g.Rand, ">", "<=")+" ("+g.literal(several[0])+")")
		}
		return out
	}
	out = append(out, rest[0].name+" "+pick(g.Rand, ">", ">=", "<", "<=")+" "+g.literal(rest[0]))
	if g.IntN(2) == 0 {
		out = append(out, rest[0].name+" "+pick(g.Rand, ">", "<", "<=")+" "+g.literal(rest[0]))
	}
	return out
}

func (g *grammar) using(ttl bool) string {
	ahead, last := 4_000_000_000_000_000+int64(g.IntN(3)), int64(math.MaxInt64)
	if g.drops {
		ahead, last = 1, 2
	}
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf(" USING TIMESTAMP %d", pick(g.Rand, int64(1+g.IntN(9)), int64(1+g.IntN(9)), 0, -1, math.MinInt64+1, last))
	case 1:
		if ttl {
			return " USING TTL " + pick(g.Rand, "100000", "100000", "0", "630720000", "630720001", "-1")
		}
	case 2:
		return fmt.Sprintf(" USING TIMESTAMP %d", ahead)
	}
	return ""
}

func (g *grammar) write() string {
	g.writing = true
	defer func() { g.writing = false }()
	switch g.IntN(10) {
	case 0, 1, 2, 3:
		return g.insert(true)
	case 4, 5:
		return g.update(true)
	case 6, 7:
		// The value of a counter after a deletion is not defined: Cassandra goes on from its cache.
		if g.counters {
			return g.update(true)
		}
		return g.remove()
	case 8:
		return g.batch()
	default:
		if g.random || g.counters {
			return g.update(true)
		}
		return g.condition()
	}
}

func (g *grammar) insert(using bool) string {
	if g.counters {
		return g.update(using)
	}
	var cs, vs []string
	for _, c := range slices.Concat(g.pk, g.ck) {
		cs, vs = append(cs, c.name), append(vs, g.literal(c))
	}
	for _, c := range slices.Concat(g.regs, g.statics) {
		if g.IntN(3) > 0 {
			cs, vs = append(cs, c.name), append(vs, g.value(c))
		}
	}
	text := fmt.Sprintf("INSERT INTO t (%s) VALUES (%s)", strings.Join(cs, ", "), strings.Join(vs, ", "))
	if using {
		text += g.using(true)
	}
	return text
}

func (g *grammar) assignment(c attribute) string {
	v := g.literal(c)
	switch {
	case c.typ == "counter":
		return c.name + " = " + c.name + pick(g.Rand, " + ", " - ") + strings.TrimPrefix(v, "-")
	case strings.HasPrefix(c.typ, "list<") && g.IntN(3) > 0:
		return pick(g.Rand, c.name+" = "+c.name+" + "+v, c.name+" = "+v+" + "+c.name, c.name+" = "+c.name+" - "+v, fmt.Sprintf("%s[%d] = null", c.name, g.IntN(3)))
	case strings.HasPrefix(c.typ, "set<") && g.IntN(3) > 0:
		return pick(g.Rand, c.name+" = "+c.name+" + "+v, c.name+" = "+c.name+" - "+v, c.name+" += "+v)
	case strings.HasPrefix(c.typ, "map<") && g.IntN(3) > 0:
		return c.name + " = " + c.name + " + " + v
	case c.typ == "u" && g.IntN(2) == 0:
		return c.name + "." + pick(g.Rand, "a = 4", "b = 'w'", "a = null")
	}
	return c.name + " = " + g.value(c)
}

func (g *grammar) update(using bool) string {
	cols := g.regs
	where := append(g.keys(g.pk, 8), g.keys(g.ck, 6)...)
	if len(g.statics) > 0 && g.IntN(4) == 0 {
		cols, where = g.statics, g.keys(g.pk, 8)
	}
	var set []string
	for _, i := range g.Perm(len(cols))[:1+g.IntN(len(cols))] {
		set = append(set, g.assignment(cols[i]))
	}
	with := ""
	if using && !g.counters {
		with = g.using(true)
	}
	return fmt.Sprintf("UPDATE t%s SET %s WHERE %s", with, strings.Join(set, ", "), strings.Join(where, " AND "))
}

func (g *grammar) remove() string {
	where, what := g.keys(g.pk, 6), ""
	using := ""
	if !g.counters {
		using = g.using(false)
	}
	switch g.IntN(5) {
	case 0:
	case 1:
		c := g.regs[g.IntN(len(g.regs))]
		what = c.name + " "
		if strings.HasPrefix(c.typ, "list<") {
			what = fmt.Sprintf("%s[%d] ", c.name, g.IntN(3))
		}
		where = append(where, g.keys(g.ck, 5)...)
	case 2:
		if len(g.statics) > 0 {
			what = g.statics[0].name + " "
		}
	default:
		where = append(where, g.slice()...)
	}
	return fmt.Sprintf("DELETE %sFROM t%s WHERE %s", what, using, strings.Join(where, " AND "))
}

func (g *grammar) batch() string {
	if g.counters {
		return "BEGIN COUNTER BATCH " + g.update(false) + "; " + g.update(false) + "; APPLY BATCH"
	}
	text := "BEGIN " + pick(g.Rand, "", "UNLOGGED ") + "BATCH"
	for range 1 + g.IntN(5) {
		text += " " + pick(g.Rand, g.insert(true), g.update(true), g.remove()) + ";"
	}
	return text + " APPLY BATCH"
}

func (g *grammar) condition() string {
	c := g.regs[g.IntN(len(g.regs))]
	among := func(values ...string) string {
		return pick(g.Rand, append(values, c.name+" IN "+g.list(c), "n = null", "n > 0", "n IN (1, null)")...)
	}
	compare := func(v string) string { return c.name + pick(g.Rand, " = ", " != ", " < ", " >= ") + v }
	// A comparison with null or with an empty collection may be an error, unless another condition is
	// tested first and does not hold. Cassandra tests the conditions of a statement in an order that is
	// not defined.
	alone := []string{"null", "[]", "{}"}
	test := func() string {
		v, other := g.value(c), g.literal(c)
		if g.IntN(3) > 0 || slices.Contains(alone, v) || slices.Contains(alone, other) {
			return among(compare(v))
		}
		return among(compare(v)) + " AND " + among(compare(other))
	}
	where := strings.Join(append(g.keys(g.pk, 100), g.keys(g.ck, 100)...), " AND ")
	switch g.IntN(5) {
	case 0:
		return g.insert(false) + " IF NOT EXISTS"
	case 1:
		return "DELETE FROM t WHERE " + where + " IF " + pick(g.Rand, "EXISTS", test(), test())
	case 2:
		if len(g.statics) > 0 {
			s := g.statics[0]
			return fmt.Sprintf("UPDATE t SET %s WHERE %s IF %s", g.assignment(s), strings.Join(g.keys(g.pk, 100), " AND "), s.name+" = "+g.value(s))
		}
	}
	return fmt.Sprintf("UPDATE t SET %s WHERE %s IF %s", g.assignment(g.regs[g.IntN(len(g.regs))]), where, pick(g.Rand, "EXISTS", test(), test()))
}

// rowsOf returns a read of rows of partitions.
func (g *grammar) rowsOf(keys []string) string {
	where := slices.Concat(keys, g.slice(), g.filter())
	return "SELECT " + pick(g.Rand, "*", names(g.ck, g.regs), names(g.pk), "JSON "+names(g.pk, g.ck)) + " FROM t WHERE " + strings.Join(where, " AND ") + g.order()
}

// where returns restrictions. whole reports that they name the partitions, so that the rows have an
// order.
func (g *grammar) where() (text string, whole bool) {
	var parts []string
	if whole = g.IntN(6) > 0; whole {
		parts = append(g.keys(g.pk, 4), g.slice()...)
	}
	parts = append(parts, g.filter()...)
	if len(parts) > 0 {
		text = " WHERE " + strings.Join(parts, " AND ")
	}
	return text, whole
}

// filter restricts a regular column, or nothing.
func (g *grammar) filter() (parts []string) {
	if g.IntN(4) == 0 && len(g.regs) > 0 {
		c := g.regs[g.IntN(len(g.regs))]
		switch {
		case strings.Contains(c.typ, "list<"), strings.Contains(c.typ, "set<"):
			parts = append(parts, c.name+" CONTAINS 1")
		case strings.Contains(c.typ, "map<"):
			parts = append(parts, c.name+pick(g.Rand, " CONTAINS ", " CONTAINS KEY ")+"1")
		default:
			parts = append(parts, c.name+pick(g.Rand, " = ", " > ", " <= ")+g.literal(c))
		}
	}
	return parts
}

func (g *grammar) order() string {
	if g.IntN(3) > 0 {
		return ""
	}
	reversed := g.IntN(2) == 0
	var parts []string
	for _, c := range g.ck[:1+g.IntN(len(g.ck))] {
		if c.desc != reversed {
			parts = append(parts, c.name+" DESC")
		} else {
			parts = append(parts, c.name+pick(g.Rand, "", " ASC"))
		}
	}
	return " ORDER BY " + strings.Join(parts, ", ")
}

func (g *grammar) read() (text string, unordered bool) {
	where, whole := g.where()
	what, group := "*", ""
	numeric := "n"
	if g.counters {
		numeric = g.regs[0].name
	}
	aggregate := func() string {
		return pick(g.Rand, "count(*)", "max("+numeric+")", "min("+numeric+")", "sum("+numeric+")", "avg("+numeric+")", "count("+numeric+")", "max("+g.ck[0].name+")", "min("+g.ck[len(g.ck)-1].name+")", "count("+g.regs[0].name+")")
	}
	switch g.IntN(8) {
	case 0:
		what = aggregate() + ", " + aggregate() + ", " + aggregate()
	case 1, 2:
		n := g.IntN(len(g.ck) + 1)
		columns := names(g.pk, g.ck[:n])
		group = " GROUP BY " + columns
		what = pick(g.Rand, columns+", ", "", numeric+", ") + aggregate() + ", " + aggregate()
		if g.IntN(6) == 0 {
			what = columns
		}
	case 3:
		what = "DISTINCT " + names(g.pk, g.statics)
		if !whole {
			where = ""
		} else {
			where = " WHERE " + strings.Join(g.keys(g.pk, 3), " AND ")
		}
	case 4:
		what = "JSON " + names(g.pk, g.ck)
	case 5:
		what = names(g.ck, g.regs, g.statics)
	case 6:
		what = numeric + " + " + numeric + ", " + names(g.pk) + ", writetime(" + numeric + "), cast(" + numeric + " as text)"
		if g.counters || !g.random {
			what = numeric + " + 1, " + names(g.pk) + ", cast(" + numeric + " as text)"
		}
	}
	text = "SELECT " + what + " FROM t" + where + group
	if whole {
		text += g.order()
		text += pick(g.Rand, "", "", "", fmt.Sprintf(" PER PARTITION LIMIT %d", 1+g.IntN(3)))
		text += pick(g.Rand, "", "", "", fmt.Sprintf(" LIMIT %d", 1+g.IntN(6)))
	}
	if strings.Contains(text, "WHERE") && g.IntN(2) == 0 {
		text += " ALLOW FILTERING"
	}
	return text, !whole
}
