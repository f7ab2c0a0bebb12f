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
	stamps                string // how writes are stamped: "explicit", "client" or "mixed"
	ttl                   bool
	lwt                   bool
	encoded               encodings // nil: nothing is bound
}

// drawHistory draws a script on table t. Under strategy random there are no
// conditions, and which of several equal clustering keys' bytes comes back is open.
func drawHistory(t *rapid.T, encoded encodings, random bool) *Script {
	s := drawShape(t)
	s.lwt = s.lwt && !random
	for i, c := range s.ck {
		if random && c.typ == "decimal" {
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
	script.Steps = append(script.Steps, rapid.SliceOfN(op, 8, 40).Draw(t, "steps")...)
	// Whatever happened, all that is left is compared at the end.
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

func drawShape(t *rapid.T) *shape {
	s := &shape{
		stamps: rapid.SampledFrom([]string{"explicit", "client", "mixed"}).Draw(t, "stamps"),
		ttl:    rapid.IntRange(0, 3).Draw(t, "with ttl") == 3,
		lwt:    rapid.IntRange(0, 2).Draw(t, "with lwt") == 2,
	}
	draw := func(prefix string, pools []pool, n int) []column {
		cols := make([]column, n)
		for i := range cols {
			cols[i] = column{pool: rapid.SampledFrom(pools).Draw(t, prefix+" type"), name: fmt.Sprintf("%s%d", prefix, i)}
		}
		return cols
	}
	s.pk = draw("p", keyPools, rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "partition key columns"))
	s.ck = draw("c", keyPools, rapid.IntRange(1, 3).Draw(t, "clustering columns"))
	for i := range s.ck {
		s.ck[i].desc = rapid.Bool().Draw(t, "desc")
	}
	s.regs = draw("v", valuePools, rapid.IntRange(1, 3).Draw(t, "regular columns"))
	// One int is always there to be added up.
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
		step.Text = s.drawLWT(t)
	case "read":
		s.drawRead(t, &step)
	}
	s.settle(t, &step)
	return step
}

// ---- writes -----------------------------------------------------------------

// literal draws a literal of c, marked so that settle can put a bind marker in its
// place.
func literal(t *rapid.T, c column) string {
	return "\x01" + c.typ + "\x02" + rapid.SampledFrom(c.literals).Draw(t, c.name) + "\x03"
}

var marked = regexp.MustCompile("\x01([^\x02]*)\x02([^\x03]*)\x03")

// settle makes a step's text final: with its literals, or with bind markers for
// them and the values as Cassandra serialized them.
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

// value is a literal or null.
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
		// Few, so that equal and past ones are met often.
		parts = append(parts, fmt.Sprintf("TIMESTAMP %d", rapid.IntRange(1, 6).Draw(t, "timestamp")))
	}
	if ttl && s.ttl && rapid.IntRange(0, 2).Draw(t, "ttl") == 2 {
		parts = append(parts, fmt.Sprintf("TTL %d", rapid.SampledFrom([]int{1, 2, 1000}).Draw(t, "seconds")))
	}
	if parts == nil {
		return ""
	}
	return " USING " + strings.Join(parts, " AND ")
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
	where := equals(t, s.pk)
	what := ""
	switch rapid.IntRange(0, 5).Draw(t, "scope") {
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
	// Cassandra wants the timestamp on the batch or on its statements, not on both.
	using, inner := s.drawUsing(t, false), func() string { return "" }
	if using == "" {
		inner = func() string { return s.drawUsing(t, true) }
	}
	lines := []string{kind + using}
	for range rapid.IntRange(1, 4).Draw(t, "statements") {
		var text string
		switch rapid.IntRange(0, 3).Draw(t, "batched") {
		case 0:
			text = s.drawDelete(t, strings.ReplaceAll(inner(), " AND TTL", "\x00"))
			text, _, _ = strings.Cut(text, "\x00")
			if strings.Contains(text, "TTL") || !strings.Contains(text, "WHERE") {
				text = s.drawDelete(t, "")
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

func (s *shape) drawLWT(t *rapid.T) string {
	where := strings.Join(append(equals(t, s.pk), equals(t, s.ck)...), " AND ")
	switch rapid.IntRange(0, 4).Draw(t, "condition") {
	case 0:
		// With a static column it is refused or not by where the row's shard is.
		return s.drawInsertOf(t, s.regs, "") + " IF NOT EXISTS"
	case 1:
		return fmt.Sprintf("UPDATE t SET n = %d WHERE %s IF EXISTS", rapid.IntRange(0, 9).Draw(t, "n"), where)
	case 2:
		return fmt.Sprintf("DELETE FROM t WHERE %s IF EXISTS", where)
	case 3:
		return fmt.Sprintf("DELETE n FROM t WHERE %s IF n = %s", where, literal(t, s.regs[len(s.regs)-1]))
	default:
		op := rapid.SampledFrom([]string{"=", "!=", "<", ">="}).Draw(t, "op")
		return fmt.Sprintf("UPDATE t SET n = %d WHERE %s IF n %s %s", rapid.IntRange(0, 9).Draw(t, "n"), where, op,
			literal(t, s.regs[len(s.regs)-1]))
	}
}

// ---- reads ------------------------------------------------------------------

// drawSlice draws restrictions of the clustering columns: equalities of a prefix,
// then a bound or two of the next column or of a tuple.
func (s *shape) drawSlice(t *rapid.T) []string {
	n := rapid.IntRange(0, len(s.ck)-1).Draw(t, "equal prefix")
	where := equals(t, s.ck[:n])
	names := s.ck[n : n+1]
	if n+1 < len(s.ck) && rapid.Bool().Draw(t, "tuple") {
		names = s.ck[n:]
	}
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

// selection draws what is selected by a read of rows.
func (s *shape) selection(t *rapid.T) string {
	switch rapid.IntRange(0, 5).Draw(t, "selection") {
	case 0:
		return s.names(s.ck, s.regs)
	case 1:
		return "JSON *"
	case 2:
		// Conditional writes are stamped by the store, each by its own clock.
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
	var parts []string
	for _, c := range s.ck[:rapid.IntRange(1, len(s.ck)).Draw(t, "ordered columns")] {
		dir := " ASC"
		if c.desc != (how == 3) {
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

func (s *shape) drawRead(t *rapid.T, step *Step) {
	step.Pages = []int32{rapid.SampledFrom([]int32{1, 2, 3, 5, 100}).Draw(t, "page size")}
	where := func(parts ...[]string) string { return strings.Join(slices.Concat(parts...), " AND ") }
	pk := func() []string { return equals(t, s.pk) }
	switch rapid.IntRange(0, 11).Draw(t, "read") {
	case 0: // a row
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s", s.selection(t), where(pk(), equals(t, s.ck)))
	case 1, 2: // a partition
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s%s", s.selection(t), where(pk()), s.order(t), limit(t))
	case 3, 4: // a slice
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s%s", s.selection(t), where(pk(), s.drawSlice(t)), s.order(t), limit(t))
	case 5: // IN on a clustering column
		n := rapid.IntRange(0, len(s.ck)-1).Draw(t, "column")
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s", s.selection(t), where(pk(), equals(t, s.ck[:n]), []string{in(t, s.ck[n])}), limit(t))
	case 6: // IN on the partition key
		last := len(s.pk) - 1
		step.Text = fmt.Sprintf("SELECT %s FROM t WHERE %s%s", s.selection(t), where(equals(t, s.pk[:last]), []string{in(t, s.pk[last])}), limit(t))
	case 7: // aggregates
		var rest []string
		if rapid.Bool().Draw(t, "of a slice") {
			rest = s.drawSlice(t)
		}
		step.Text = fmt.Sprintf("SELECT count(*), count(n), min(n), max(n), sum(n), avg(n), max(%s) FROM t WHERE %s", s.ck[0].name, where(pk(), rest))
	case 8: // groups
		step.Text = fmt.Sprintf("SELECT %s, count(*), sum(n) FROM t WHERE %s GROUP BY %s%s", s.names(s.pk, s.ck[:1]), where(pk()), s.names(s.pk, s.ck[:1]), limit(t))
	case 9: // partitions
		step.Text, step.Unordered = fmt.Sprintf("SELECT DISTINCT %s FROM t", s.names(s.pk, s.statics)), true
	case 10: // everything
		step.Text, step.Unordered = "SELECT * FROM t", true
		if rapid.Bool().Draw(t, "filtered") {
			step.Text += " WHERE n > 0 ALLOW FILTERING"
		}
	case 11: // per partition
		step.Text = fmt.Sprintf("SELECT * FROM t WHERE %s PER PARTITION LIMIT %d", where(pk()), rapid.IntRange(1, 3).Draw(t, "per partition"))
	}
}
