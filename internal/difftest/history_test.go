// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// A history is a script that rapid draws: a table, writes of every kind to few
// keys, and reads of every shape. What is drawn is text, so that a failure can be
// replayed as a script.

type column struct {
	pool
	name string
	desc bool
}

// shape is the drawn table.
type shape struct {
	pk, ck, statics, regs []column
	stamps                string // source of the writes' timestamps: "explicit", "client" or "mixed"
	ttl                   bool
	lwt                   bool
	timed                 bool      // a BATCH deletes only rows: ranges of many buckets are refused there
	encoded               encodings // nil: nothing is bound
}

// deal is what a history contains in any case, besides an UPDATE: a statement of a class that is
// drawn rarely, or only on some tables, and one of a class with a higher floor. Classes are dealt
// in turn, so that a few histories have enough of all (tally.go).
type deal struct{ rare, staple int }

const (
	dealJSON = iota
	dealTimes
	dealGroups
	dealTTL
	dealPartitions
	dealFilter
	dealTuple
	dealCondition // the last one: strategy random has none
	rareDeals
)

const (
	dealOrder = iota // and a limit
	dealIn
	dealAggregates
	dealBatch
	dealDelete
	stapleDeals
)

// strategy is the strategy of a history's sharded targets.
type strategy int

const (
	calculated strategy = iota
	random              // no conditions
	timed               // the first clustering column is the time, and there are no static columns
)

// dealOf returns the deal of the n-th history.
func dealOf(n int, of strategy) deal {
	if of == random {
		return deal{n % dealCondition, n % stapleDeals}
	}
	return deal{n % rareDeals, n % stapleDeals}
}

// drawHistory draws a script on table t. Under strategy random there are no conditions, and it is
// open which of several equal clustering keys' bytes comes back.
func drawHistory(t *rapid.T, encoded encodings, of strategy, dealt deal) *Script {
	s := drawShape(t, dealt)
	s.lwt = s.lwt && of != random
	if of == timed {
		s.timed = true
		s.ck[0].pool, s.statics = rapid.SampledFrom(timePools()).Draw(t, "time"), nil
	}
	for i, c := range s.ck {
		if of == random && c.typ == "decimal" {
			s.ck[i].literals = slices.DeleteFunc(slices.Clone(c.literals), func(l string) bool { return l == "1.00" || l == "10e-1" })
		}
	}
	s.encoded = encoded
	script := &Script{Name: "history", TTL: s.ttl, Pages: []int32{2}}
	add := func(texts ...string) {
		for _, text := range texts {
			script.Steps = append(script.Steps, Step{Text: text, Error: -1})
		}
	}
	add("DROP TABLE IF EXISTS t", s.create())
	op := rapid.Custom(func(t *rapid.T) Step { return s.drawStep(t) })
	steps := rapid.SliceOfN(op, 5, 37).Draw(t, "steps")
	update := Step{Error: -1, Text: s.drawUpdate(t, s.drawUsing(t, true))}
	s.settle(t, &update)
	for _, step := range []Step{update, s.drawRare(t, dealt.rare), s.drawStaple(t, dealt.staple)} {
		steps = slices.Insert(steps, rapid.IntRange(0, len(steps)).Draw(t, "dealt at"), step)
	}
	script.Steps = append(script.Steps, steps...)
	// Whatever happened, the end compares all remaining rows.
	all := Step{Text: "SELECT * FROM t", Error: -1, Unordered: true, Pages: []int32{3, 100}}
	script.Steps = append(script.Steps, all)
	if s.ttl {
		all.Wait = 2100 * time.Millisecond
		script.Steps = append(script.Steps, all)
	}
	script.Steps = append(script.Steps, Step{Error: -1, PlacedTable: "t"})
	for i := range script.Steps {
		script.Steps[i].Line = i + 1
	}
	return script
}

// Print writes a script so that ParseScript reads it back.
func (s *Script) Print() string {
	var b strings.Builder
	if s.TTL {
		b.WriteString("-- @@ttl\n")
	}
	fmt.Fprintf(&b, "-- @@pages%s\n", sizes(s.Pages))
	for _, p := range s.Steps {
		if p.PlacedTable != "" {
			fmt.Fprintf(&b, "-- @placed %s %d\n", p.PlacedTable, p.PlacedMin)
			continue
		}
		if p.Unordered {
			b.WriteString("-- @unordered\n")
		}
		if p.Bind != nil {
			fmt.Fprintf(&b, "-- @bind %s\n", strings.Join(p.Bind, ", "))
		}
		if p.Pages != nil {
			fmt.Fprintf(&b, "-- @pages%s\n", sizes(p.Pages))
		}
		if p.Wait > 0 {
			fmt.Fprintf(&b, "-- @wait %v\n", p.Wait)
		}
		b.WriteString(p.Text + ";\n")
	}
	return b.String()
}

func sizes(ns []int32) string {
	var b strings.Builder
	for _, n := range ns {
		fmt.Fprintf(&b, " %d", n)
	}
	return b.String()
}

func drawShape(t *rapid.T, dealt deal) *shape {
	s := &shape{
		stamps: rapid.SampledFrom([]string{"explicit", "client", "mixed"}).Draw(t, "stamps"),
		ttl:    rapid.IntRange(0, 7).Draw(t, "with ttl") == 7 || dealt.rare == dealTTL,
		lwt:    rapid.IntRange(0, 3).Draw(t, "with lwt") == 3 || dealt.rare == dealCondition,
	}
	clustering := 1
	if dealt.rare == dealTuple {
		clustering = 2
	}
	draw := func(prefix string, pools []pool, n int) []column {
		cols := make([]column, n)
		for i := range cols {
			cols[i] = column{pool: rapid.SampledFrom(pools).Draw(t, prefix+" type"), name: fmt.Sprintf("%s%d", prefix, i)}
		}
		return cols
	}
	s.pk = draw("p", keyPools, rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "partition key columns"))
	s.ck = draw("c", keyPools, rapid.IntRange(clustering, 3).Draw(t, "clustering columns"))
	for i := range s.ck {
		s.ck[i].desc = rapid.Bool().Draw(t, "desc")
	}
	s.regs = draw("v", valuePools, rapid.IntRange(1, 3).Draw(t, "regular columns"))
	// There is always one int to be added up.
	s.regs = append(s.regs, column{pool: intPool, name: "n"})
	s.statics = draw("s", valuePools, rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "static columns"))
	return s
}

func (s *shape) create() string {
	var defs, pk, order []string
	for _, c := range slices.Concat(s.pk, s.ck, s.regs) {
		defs = append(defs, c.name+" "+c.typ)
	}
	for _, c := range s.statics {
		defs = append(defs, c.name+" "+c.typ+" static")
	}
	for _, c := range s.pk {
		pk = append(pk, c.name)
	}
	ck := ""
	for _, c := range s.ck {
		ck += ", " + c.name
		dir := " ASC"
		if c.desc {
			dir = " DESC"
		}
		order = append(order, c.name+dir)
	}
	return fmt.Sprintf("CREATE TABLE t (%s, PRIMARY KEY ((%s)%s)) WITH CLUSTERING ORDER BY (%s)",
		strings.Join(defs, ", "), strings.Join(pk, ", "), ck, strings.Join(order, ", "))
}

func (s *shape) drawStep(t *rapid.T) Step {
	kinds := []string{"insert", "insert", "insert", "insert", "update", "update", "delete", "batch", "read", "read", "read", "read"}
	if s.lwt {
		kinds = append(kinds, "lwt")
	}
	step := Step{Error: -1}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "insert":
		step.Text = s.drawInsert(t, s.drawUsing(t, true))
	case "update":
		step.Text = s.drawUpdate(t, s.drawUsing(t, true))
	case "delete":
		step.Text = s.drawDelete(t, s.drawUsing(t, false))
	case "batch":
		step.Text = s.drawBatch(t)
	case "lwt":
		step.Text = s.drawLWT(t, rapid.IntRange(lwtInsert, lwtCompare).Draw(t, "condition"))
	case "read":
		s.drawRead(t, &step)
	}
	s.settle(t, &step)
	return step
}

// drawRare draws a statement of the dealt rare class, of a kind that no target refuses.
func (s *shape) drawRare(t *rapid.T, class int) Step {
	step := Step{Error: -1}
	switch class {
	case dealJSON:
		s.drawReadOf(t, &step, rapid.IntRange(readRow, readInPartitions).Draw(t, "read"), selectJSON)
	case dealTimes:
		s.drawReadOf(t, &step, rapid.IntRange(readRow, readInPartitions).Draw(t, "read"), selectTimes)
	case dealGroups:
		s.drawReadOf(t, &step, readGroups, selectAny)
	case dealTTL:
		step.Text = s.drawInsert(t, " USING "+s.drawTTL(t))
	case dealPartitions:
		s.drawReadOf(t, &step, readPartitions, selectAny)
	case dealFilter:
		s.drawReadOf(t, &step, readFiltered, selectAny)
	case dealTuple:
		n := rapid.IntRange(0, len(s.ck)-2).Draw(t, "equal prefix")
		where := append(equals(t, s.pk), s.drawBounds(t, n, s.ck[n:])...)
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s%s", s.selection(t, selectAny), strings.Join(where, " AND "), s.order(t), limit(t))
		step.Pages = []int32{drawPage(t)}
	case dealCondition:
		step.Text = s.drawLWT(t, rapid.IntRange(lwtUpdate, lwtCompare).Draw(t, "condition"))
	}
	s.settle(t, &step)
	return step
}

// drawStaple draws a statement of the dealt staple class, of a kind that no target refuses.
func (s *shape) drawStaple(t *rapid.T, class int) Step {
	step := Step{Error: -1}
	switch class {
	case dealOrder:
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s LIMIT %d", s.selection(t, selectAny), strings.Join(equals(t, s.pk), " AND "),
			s.orderBy(t, rapid.Bool().Draw(t, "reversed")), rapid.IntRange(1, 4).Draw(t, "limit"))
		step.Pages = []int32{drawPage(t)}
	case dealIn:
		s.drawReadOf(t, &step, rapid.IntRange(readIn, readInPartitions).Draw(t, "read"), selectAny)
	case dealAggregates:
		s.drawReadOf(t, &step, readAggregates, selectAny)
	case dealBatch:
		step.Text = s.drawBatch(t)
	case dealDelete:
		step.Text = s.drawDelete(t, s.drawUsing(t, false))
	}
	s.settle(t, &step)
	return step
}

// ---- writes -----------------------------------------------------------------

// literal draws a literal of c, marked so that settle can replace it by a bind marker.
func literal(t *rapid.T, c column) string {
	return "\x01" + c.typ + "\x02" + rapid.SampledFrom(c.literals).Draw(t, c.name) + "\x03"
}

var marked = regexp.MustCompile("\x01([^\x02]*)\x02([^\x03]*)\x03")

// settle makes a step's text final: with its literals, or with bind markers for them and the values
// as Cassandra serialized them.
func (s *shape) settle(t *rapid.T, step *Step) {
	bind := s.encoded != nil && rapid.Bool().Draw(t, "bound")
	step.Text = marked.ReplaceAllStringFunc(step.Text, func(m string) string {
		f := marked.FindStringSubmatch(m)
		if !bind {
			return f[2]
		}
		step.Bind = append(step.Bind, fmt.Sprintf("0x%x", s.encoded[f[1]][f[2]]))
		return "?"
	})
}

// value draws a literal or null.
func value(t *rapid.T, c column) string {
	if rapid.IntRange(0, 5).Draw(t, c.name+" null") == 5 {
		return "null"
	}
	return literal(t, c)
}

// drawUsing draws a USING clause with its leading space, or nothing.
func (s *shape) drawUsing(t *rapid.T, ttl bool) string {
	var parts []string
	stamp := s.stamps == "explicit" || s.stamps == "mixed" && rapid.Bool().Draw(t, "stamped")
	if stamp {
		// There are few, so that equal and past ones occur often.
		parts = append(parts, fmt.Sprintf("TIMESTAMP %d", rapid.IntRange(1, 6).Draw(t, "timestamp")))
	}
	if ttl && s.ttl && rapid.IntRange(0, 2).Draw(t, "ttl") == 2 {
		parts = append(parts, s.drawTTL(t))
	}
	if parts == nil {
		return ""
	}
	return " USING " + strings.Join(parts, " AND ")
}

func (s *shape) drawTTL(t *rapid.T) string {
	return fmt.Sprintf("TTL %d", rapid.SampledFrom([]int{1, 2, 1000}).Draw(t, "seconds"))
}

func equals(t *rapid.T, cols []column) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.name + " = " + literal(t, c)
	}
	return out
}

func (s *shape) drawInsert(t *rapid.T, using string) string {
	return s.drawInsertOf(t, slices.Concat(s.regs, s.statics), using)
}

func (s *shape) drawInsertOf(t *rapid.T, cols []column, using string) string {
	names, values := []string{}, []string{}
	add := func(c column, v string) { names, values = append(names, c.name), append(values, v) }
	for _, c := range slices.Concat(s.pk, s.ck) {
		add(c, literal(t, c))
	}
	for _, c := range cols {
		if rapid.IntRange(0, 2).Draw(t, "with "+c.name) > 0 {
			add(c, value(t, c))
		}
	}
	return fmt.Sprintf("INSERT INTO t (%s) VALUES (%s)%s", strings.Join(names, ", "), strings.Join(values, ", "), using)
}

func (s *shape) drawUpdate(t *rapid.T, using string) string {
	cols, key := s.regs, slices.Concat(s.pk, s.ck)
	if len(s.statics) > 0 && rapid.IntRange(0, 3).Draw(t, "static") == 3 {
		cols, key = s.statics, s.pk
	}
	chosen := cols[:1]
	if len(cols) > 1 && rapid.Bool().Draw(t, "two columns") {
		chosen = cols[len(cols)-2:]
	}
	var set []string
	for _, c := range chosen {
		more := increments[c.typ]
		switch how := rapid.IntRange(0, 3).Draw(t, "how"); {
		case more != nil && how == 1:
			set = append(set, fmt.Sprintf("%s = %s + %s", c.name, c.name, rapid.SampledFrom(more).Draw(t, "more")))
		case strings.HasPrefix(c.typ, "map<") && how == 2:
			set = append(set, fmt.Sprintf("%s['%s'] = %s", c.name, rapid.SampledFrom([]string{"a", "k"}).Draw(t, "key"),
				rapid.SampledFrom([]string{"5", "null"}).Draw(t, "element")))
		case strings.HasPrefix(c.typ, "set<") && how == 2:
			set = append(set, fmt.Sprintf("%s = %s - {'a'}", c.name, c.name))
		case c.typ == "udt" && how == 2:
			set = append(set, c.name+".a = 9")
		default:
			set = append(set, c.name+" = "+value(t, c))
		}
	}
	return fmt.Sprintf("UPDATE t%s SET %s WHERE %s", using, strings.Join(set, ", "), strings.Join(equals(t, key), " AND "))
}

func (s *shape) drawDelete(t *rapid.T, using string) string {
	return s.drawDeleteOf(t, using, rapid.IntRange(0, 5).Draw(t, "scope"))
}

// drawDeleteOf draws a DELETE of a partition, 0, of a cell, of a row, of a prefix, or of a range.
func (s *shape) drawDeleteOf(t *rapid.T, using string, scope int) string {
	where := equals(t, s.pk)
	what := ""
	switch scope {
	case 0: // a partition
	case 1: // a cell
		what = rapid.SampledFrom(s.regs).Draw(t, "column").name + " "
		where = append(where, equals(t, s.ck)...)
	case 2: // a row
		where = append(where, equals(t, s.ck)...)
	case 3: // a prefix
		where = append(where, equals(t, s.ck[:rapid.IntRange(1, len(s.ck)).Draw(t, "prefix")])...)
	default: // a range
		where = append(where, s.drawSlice(t)...)
	}
	if what == "" && len(s.statics) > 0 && rapid.IntRange(0, 9).Draw(t, "of a static") == 9 {
		what, where = s.statics[0].name+" ", equals(t, s.pk)
	}
	return fmt.Sprintf("DELETE %sFROM t%s WHERE %s", what, using, strings.Join(where, " AND "))
}

func (s *shape) drawBatch(t *rapid.T) string {
	kind := rapid.SampledFrom([]string{"BEGIN BATCH", "BEGIN UNLOGGED BATCH"}).Draw(t, "batch")
	// Cassandra accepts the timestamp on the batch or on its statements, not on both.
	using, inner := s.drawUsing(t, false), func() string { return "" }
	if using == "" {
		inner = func() string { return s.drawUsing(t, true) }
	}
	lines := []string{kind + using}
	for range rapid.IntRange(1, 4).Draw(t, "statements") {
		var text string
		switch rapid.IntRange(0, 3).Draw(t, "batched") {
		case 0:
			scope := rapid.IntRange(0, 5).Draw(t, "scope")
			if s.timed {
				scope = 1 + scope%2
			}
			text = s.drawDeleteOf(t, strings.ReplaceAll(inner(), " AND TTL", "\x00"), scope)
			text, _, _ = strings.Cut(text, "\x00")
			if strings.Contains(text, "TTL") || !strings.Contains(text, "WHERE") {
				text = s.drawDeleteOf(t, "", scope)
			}
		case 1:
			text = s.drawUpdate(t, inner())
		default:
			text = s.drawInsert(t, inner())
		}
		lines = append(lines, "  "+text+";")
	}
	return strings.Join(append(lines, "APPLY BATCH"), "\n")
}

// These are the kinds of conditional writes.
const (
	lwtInsert = iota
	lwtUpdate
	lwtDelete
	lwtDeleteCell
	lwtCompare
)

func (s *shape) drawLWT(t *rapid.T, kind int) string {
	where := strings.Join(append(equals(t, s.pk), equals(t, s.ck)...), " AND ")
	switch kind {
	case lwtInsert:
		// With a static column, the shard of the row decides whether it is refused.
		return s.drawInsertOf(t, s.regs, "") + " IF NOT EXISTS"
	case lwtUpdate:
		return fmt.Sprintf("UPDATE t SET n = %d WHERE %s IF EXISTS", rapid.IntRange(0, 9).Draw(t, "n"), where)
	case lwtDelete:
		return fmt.Sprintf("DELETE FROM t WHERE %s IF EXISTS", where)
	case lwtDeleteCell:
		return fmt.Sprintf("DELETE n FROM t WHERE %s IF n = %s", where, literal(t, s.regs[len(s.regs)-1]))
	default:
		op := rapid.SampledFrom([]string{"=", "!=", "<", ">="}).Draw(t, "op")
		return fmt.Sprintf("UPDATE t SET n = %d WHERE %s IF n %s %s", rapid.IntRange(0, 9).Draw(t, "n"), where, op,
			literal(t, s.regs[len(s.regs)-1]))
	}
}

// ---- reads ------------------------------------------------------------------

// drawSlice draws restrictions of the clustering columns: equalities of a prefix, then one or two
// bounds of the next column or of a tuple.
func (s *shape) drawSlice(t *rapid.T) []string {
	n := rapid.IntRange(0, len(s.ck)-1).Draw(t, "equal prefix")
	if n+1 < len(s.ck) && rapid.Bool().Draw(t, "tuple") {
		return s.drawBounds(t, n, s.ck[n:])
	}
	return s.drawBounds(t, n, s.ck[n:n+1])
}

// drawBounds draws equalities of the first n clustering columns, then one or two bounds of the
// named columns.
func (s *shape) drawBounds(t *rapid.T, n int, names []column) []string {
	where := equals(t, s.ck[:n])
	side := func(ops ...string) string {
		vs := make([]string, len(names))
		ns := make([]string, len(names))
		for i, c := range names {
			ns[i], vs[i] = c.name, literal(t, c)
		}
		op := rapid.SampledFrom(ops).Draw(t, "op")
		if len(names) == 1 {
			return ns[0] + " " + op + " " + vs[0]
		}
		return "(" + strings.Join(ns, ", ") + ") " + op + " (" + strings.Join(vs, ", ") + ")"
	}
	switch rapid.IntRange(0, 2).Draw(t, "bounds") {
	case 0:
		where = append(where, side(">", ">="))
	case 1:
		where = append(where, side("<", "<="))
	default:
		where = append(where, side(">", ">="), side("<", "<="))
	}
	return where
}

func (s *shape) names(cols ...[]column) string {
	var out []string
	for _, c := range slices.Concat(cols...) {
		out = append(out, c.name)
	}
	return strings.Join(out, ", ")
}

func in(t *rapid.T, c column) string {
	n := rapid.IntRange(1, 3).Draw(t, "in")
	vs := make([]string, n)
	for i := range vs {
		vs[i] = literal(t, c)
	}
	return c.name + " IN (" + strings.Join(vs, ", ") + ")"
}

// These are the selections of a read of rows.
const (
	selectColumns = iota
	selectJSON
	selectTimes
	selectAll // the two values after it mean this, too, so that it is drawn most
	selectAny = 6
)

// selection draws the selection of a read of rows.
func (s *shape) selection(t *rapid.T, what int) string {
	if what == selectAny {
		what = rapid.IntRange(selectColumns, selectAny-1).Draw(t, "selection")
	}
	switch what {
	case selectColumns:
		return s.names(s.ck, s.regs)
	case selectJSON:
		return "JSON *"
	case selectTimes:
		// Each store stamps conditional writes with its own clock.
		if s.lwt || s.regs[0].typ == "udt" || increments[s.regs[0].typ] != nil {
			return "n, ttl(n)"
		}
		return fmt.Sprintf("%s, writetime(%s), ttl(%s)", s.regs[0].name, s.regs[0].name, s.regs[0].name)
	default:
		return "*"
	}
}

// order draws an ORDER BY, as declared or reversed, or nothing.
func (s *shape) order(t *rapid.T) string {
	how := rapid.IntRange(0, 3).Draw(t, "order")
	if how < 2 {
		return ""
	}
	return s.orderBy(t, how == 3)
}

func (s *shape) orderBy(t *rapid.T, reversed bool) string {
	var parts []string
	for _, c := range s.ck[:rapid.IntRange(1, len(s.ck)).Draw(t, "ordered columns")] {
		dir := " ASC"
		if c.desc != reversed {
			dir = " DESC"
		}
		parts = append(parts, c.name+dir)
	}
	return " ORDER BY " + strings.Join(parts, ", ")
}

func limit(t *rapid.T) string {
	if n := rapid.IntRange(0, 9).Draw(t, "limit"); n > 5 {
		return fmt.Sprintf(" LIMIT %d", n-5)
	}
	return ""
}

// These are the kinds of reads.
const (
	readRow = iota
	readPartition
	readSlice
	readIn
	readInPartitions
	readAggregates
	readGroups
	readPartitions
	readEverything
	readFiltered
	readFew
)

// reads are the kinds from which drawRead draws. Partitions and slices occur twice.
var reads = []int{readRow, readPartition, readPartition, readSlice, readSlice, readIn, readInPartitions, readAggregates, readGroups,
	readPartitions, readEverything, readFew}

func (s *shape) drawRead(t *rapid.T, step *Step) {
	kind := rapid.SampledFrom(reads).Draw(t, "read")
	if kind == readEverything && rapid.Bool().Draw(t, "filtered") {
		kind = readFiltered
	}
	s.drawReadOf(t, step, kind, selectAny)
}

func drawPage(t *rapid.T) int32 {
	return rapid.SampledFrom([]int32{1, 2, 3, 5, 100}).Draw(t, "page size")
}

// drawReadOf draws a read of a kind, with a selection.
func (s *shape) drawReadOf(t *rapid.T, step *Step, kind, what int) {
	step.Pages = []int32{drawPage(t)}
	where := func(parts ...[]string) string { return strings.Join(slices.Concat(parts...), " AND ") }
	pk := func() []string { return equals(t, s.pk) }
	switch kind {
	case readRow:
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s", s.selection(t, what), where(pk(), equals(t, s.ck)))
	case readPartition:
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s%s", s.selection(t, what), where(pk()), s.order(t), limit(t))
	case readSlice:
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s%s", s.selection(t, what), where(pk(), s.drawSlice(t)), s.order(t), limit(t))
	case readIn:
		n := rapid.IntRange(0, len(s.ck)-1).Draw(t, "column")
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s", s.selection(t, what), where(pk(), equals(t, s.ck[:n]), []string{in(t, s.ck[n])}), limit(t))
	case readInPartitions:
		last := len(s.pk) - 1
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s", s.selection(t, what), where(equals(t, s.pk[:last]), []string{in(t, s.pk[last])}), limit(t))
	case readAggregates:
		var rest []string
		if rapid.Bool().Draw(t, "of a slice") {
			rest = s.drawSlice(t)
		}
		step.Text = fmt.Sprintf("SELECT count(*), count(n), min(n), max(n), sum(n), avg(n), max(%s) FROM t WHERE %s", s.ck[0].name, where(pk(), rest))
	case readGroups:
		step.Text = fmt.Sprintf("SELECT %s, count(*), sum(n) FROM t WHERE %s GROUP BY %s%s", s.names(s.pk, s.ck[:1]), where(pk()), s.names(s.pk, s.ck[:1]), limit(t))
	case readPartitions:
		step.Text, step.Unordered = fmt.Sprintf("SELECT DISTINCT %s FROM t", s.names(s.pk, s.statics)), true
	case readEverything:
		step.Text, step.Unordered = "SELECT * FROM t", true
	case readFiltered:
		step.Text, step.Unordered = "SELECT * FROM t WHERE n > 0 ALLOW FILTERING", true
	case readFew:
		step.Text = fmt.Sprintf("SELECT * FROM t WHERE %s PER PARTITION LIMIT %d", where(pk()), rapid.IntRange(1, 3).Draw(t, "per partition"))
	}
}
