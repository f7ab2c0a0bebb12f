// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// attackAnswers runs random histories on plain and on sharded tables. The judge is a Cassandra if
// there is one, else a plain table of the same engine.
func attackAnswers(f *field) error {
	s, err := f.newServer("answers")
	if err != nil {
		return err
	}
	defer s.close(f)
	engine := func(name, sharding string, shards int) difftest.Target {
		return difftest.Target{Name: name, Addr: s.cql, Sharding: sharding, Shards: shards, Refuses: []string{"index", "view"}}
	}
	targets := []difftest.Target{engine("engine", "", 0)}
	var door *server
	if f.cassandra != "" {
		if door, err = f.newServer("door", "--cassandra", f.cassandra); err != nil {
			return err
		}
		defer door.close(f)
		targets = slices.Insert(targets, 0, difftest.Target{Name: "cassandra", Addr: f.cassandra})
	}
	refusals, err := difftest.ReadRefusals("internal/difftest/testdata/refusals.txt")
	if err != nil {
		return err
	}
	for n := 0; !f.over(); n++ {
		g := newGrammar(f.Rand)
		all := slices.Clone(targets)
		add := func(name, sharding string, shards int) {
			all = append(all, engine("engine, "+name, sharding, shards))
			if door != nil {
				all = append(all, difftest.Target{Name: "door, " + name, Addr: door.cql, Sharding: sharding, Shards: shards})
			}
		}
		shards := pick(f.Rand, 1, 2, 3, 7, 40)
		switch {
		case g.random:
			add("random", fmt.Sprintf("{'strategy': 'random', 'shards': '%d'}", shards), shards)
		default:
			by := ""
			if f.IntN(3) == 0 {
				by = fmt.Sprintf(", 'by': '%s'", g.ck[f.IntN(len(g.ck))].name)
			}
			add("calculated", fmt.Sprintf("{'shards': '%d'%s}", shards, by), shards)
		}
		if err := f.history(n, g, all, refusals); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) history(n int, g *grammar, targets []difftest.Target, refusals *difftest.Refusals) (err error) {
	version := pick(f.Rand, primitive.ProtocolVersion4, primitive.ProtocolVersion5)
	var sessions []*difftest.Session
	defer func() {
		for _, s := range sessions {
			if e := s.Drop(); err == nil {
				err = e
			}
		}
	}()
	for i, t := range targets {
		s, err := difftest.Open(t, fmt.Sprintf("attack_%d_%05d", i, n), version)
		if err != nil {
			return err
		}
		sessions = append(sessions, s)
	}
	script := &difftest.Script{Name: fmt.Sprintf("history %d", n), Pages: []int32{pick[int32](f.Rand, 1, 2, 3, 5)}}
	add := func(text string, unordered bool) {
		script.Steps = append(script.Steps, difftest.Step{Line: len(script.Steps) + 1, Text: text, Error: -1, Unordered: unordered})
	}
	add("CREATE TYPE u (a int, b text)", false)
	add(g.create(), false)
	steps := 20 + f.IntN(60)
	for range steps {
		if f.IntN(5) < 2 {
			add(g.read())
		} else {
			add(g.write(), false)
		}
	}
	add("SELECT * FROM t", true)
	broken := false
	r := &difftest.Runner{Sessions: sessions, Refusals: refusals, Tally: &difftest.Tally{}, AnyRefusal: true, AnyError: true,
		Report: func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			// Later differences mostly follow from the first. The door may warn of batches that
			// replace one statement, or they may be too large, and the judge may fail. If there are
			// many of these, the runner reports that it leaves out more.
			if strings.Contains(text, "want error 0x1300") || strings.Contains(text, "want error 0x0000") {
				broken = true // if that was a write, the data differ from here on
			}
			broken = broken || strings.Contains(text, "error 0x2200 Batch too large") // so they do then
			if broken || strings.Contains(text, "got [\"Batch for [") || strings.HasSuffix(text, "further differences are not listed") {
				return
			}
			broken = true
			f.fault("answers differ"+class(text), "%s\nThe history is in %s", text, f.keep(script))
		}}
	begun := time.Now()
	r.Run(script)
	f.sent.Add(int64(len(script.Steps) * len(targets)))
	if !broken && time.Since(begun) < time.Minute {
		f.carry(g, sessions)
	}
	return nil
}

// keep writes a history, with CREATE TABLE without write_sharding, to a file that outlives the
// attack.
func (f *field) keep(s *difftest.Script) string {
	out, err := os.CreateTemp("", "evenkeel-attack-*.cql")
	if err != nil {
		return err.Error()
	}
	defer out.Close()
	for _, p := range s.Steps {
		if _, err := fmt.Fprintln(out, p.Text+";"); err != nil {
			return err.Error()
		}
	}
	return out.Name()
}

// class returns the subject of a difference, by which faults are distinguished: an error's text, or
// nothing.
func class(difference string) string {
	if _, text, ok := strings.Cut(difference, "error 0x"); ok {
		line, _, _ := strings.Cut(text, "\n")
		return ", error " + line[:min(len(line), 50)]
	}
	return ""
}

// carry uses the paging states of one read in another.
func (f *field) carry(g *grammar, sessions []*difftest.Session) {
	for range 6 {
		// Both reads name the same partitions. If a page ends with a partition, Cassandra's state
		// names the next one or this one, by the way in which it was read; a read without the named
		// one is at its end.
		keys := g.keys(g.pk, 4)
		first := g.rowsOf(keys)
		then := first
		if f.IntN(3) > 0 {
			then = g.rowsOf(keys)
		}
		var want *difftest.Answer
		for i, s := range sessions {
			a, err := s.Query(difftest.Request{Query: first, PageSize: 2})
			if err != nil {
				f.fault("a connection is lost", "%s: %s: %v", s.Name, first, err)
				return
			}
			if a.Kind != difftest.Rows || a.State == nil {
				if i > 0 && want != nil {
					break // a sharded table may know earlier that this was the last page
				}
				break
			}
			var got *difftest.Answer
			for state := a.State; state != nil; {
				a, err := s.Query(difftest.Request{Query: then, PageSize: 3, State: state})
				f.sent.Add(1)
				if err != nil {
					f.fault("a connection is lost", "%s: %s, with a paging state of %s: %v", s.Name, then, first, err)
					return
				}
				if got == nil || a.Kind != difftest.Rows {
					got = a
				} else {
					got.Rows = append(got.Rows, a.Rows...)
				}
				state = a.State
			}
			if i == 0 {
				want = got
				continue
			}
			// The reasons to refuse the other statement's state may differ.
			if want.Kind == difftest.Error || got.Kind == difftest.Error && got.Code == primitive.ErrorCodeProtocolError {
				continue
			}
			if len(want.Rows) != len(got.Rows) || want.Kind != got.Kind {
				f.fault("a carried paging state", "%s\n%s\nthen %s\n%s: %v\n%s: %v", g.create(), first, then, sessions[0].Name, want, s.Name, got)
			}
		}
	}
}

// grammar draws statements on a table that it has drawn.
type grammar struct {
	*rand.Rand
	pk, ck, statics, regs []attribute
	counters, random      bool
}

type attribute struct {
	name, typ string
	desc      bool
	literals  []string
}

func newGrammar(r *rand.Rand) *grammar {
	g := &grammar{Rand: r, random: r.IntN(4) == 0}
	g.counters = r.IntN(6) == 0
	column := func(name string, kind int) attribute {
		a := attribute{name: name}
		var draw func() string
		a.typ, draw = g.drawType(kind, 2)
		// Under random, either form of an equal key (1.0 and 1.00) can come back.
		for kind == keyType && g.random && strings.Contains(a.typ, "decimal") {
			a.typ, draw = g.drawType(kind, 2)
		}
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
	several := func(open, end string, draw func() string) func() string {
		return func() string {
			var parts []string
			for range r.IntN(4) {
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
		return frozen("list<" + typ + ">"), several("[", "]", draw)
	case 1:
		return frozen("set<" + typ + ">"), several("{", "}", draw)
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
		return frozen("u"), of("{a: 1, b: 'x'}", "{a: 1}", "{b: ''}", "{a: null, b: 'x'}", "{a: -1, b: 'y'}")
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

func names(cs ...[]attribute) string {
	var out []string
	for _, c := range slices.Concat(cs...) {
		out = append(out, c.name)
	}
	return strings.Join(out, ", ")
}

func (g *grammar) literal(c attribute) string { return pick(g.Rand, c.literals...) }

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
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf(" USING TIMESTAMP %d", 1+g.IntN(9))
	case 1:
		if ttl {
			return " USING TTL 100000"
		}
	case 2:
		return fmt.Sprintf(" USING TIMESTAMP %d", 4_000_000_000_000_000+g.IntN(3))
	}
	return ""
}

func (g *grammar) write() string {
	switch g.IntN(10) {
	case 0, 1, 2, 3:
		return g.insert(true)
	case 4, 5:
		return g.update(true)
	case 6, 7:
		// What a counter is after a deletion is not defined: Cassandra goes on from its cache.
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
	// A comparison with null is an error, unless another condition is tested first and does not
	// hold. Cassandra tests the conditions of a statement in an order that is not defined.
	test := func() string {
		if g.IntN(3) > 0 {
			return among(compare(g.value(c)))
		}
		return among(compare(g.literal(c))) + " AND " + among(compare(g.literal(c)))
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
