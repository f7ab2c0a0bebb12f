// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// drawn draws statements and their spelling. What they mean is known.
type drawn struct{ *rand.Rand }

func (d drawn) pick(list ...string) string { return list[d.IntN(len(list))] }

// word writes a keyword in upper, lower or mixed case.
func (d drawn) word(w string) string {
	return d.pick(w, strings.ToLower(w), w[:1]+strings.ToLower(w[1:]))
}

// gap returns the space between two words. A line may end there.
func (d drawn) gap() string { return d.pick(" ", " ", " ", "  ", "\n", "\n  ", "\t", "\n\t\t") }

func (d drawn) name() (plain, written string) {
	plain = d.pick("pk", "sk", "Artist", "SongTitle", "código", "Straße", "user_id", "日付", "x1", "größe", "order", "my column", "a-b", "year")
	switch {
	case strings.ContainsAny(plain, " -") || plain == "order" || plain == "year" || d.IntN(2) == 0:
		return plain, `"` + plain + `"`
	}
	return plain, plain
}

func (d drawn) value() string {
	return d.pick("?", "'x'", "'it''s -- 5/s'", "42", "-1.5", "'# not a comment'", "true")
}

// statement draws a PartiQL statement, and what show prints for it.
func (d drawn) statement(line int) (text, want string) {
	g := d.gap
	table, quotedTable := d.pick("Music", "orders", "Größen"), ""
	quotedTable = d.pick(table, `"`+table+`"`)
	used := make(map[string]bool)
	fresh := func() (plain, written string) {
		for {
			if plain, written = d.name(); !used[plain] {
				used[plain] = true
				return plain, written
			}
		}
	}
	text = "INSERT"
	var equal, ranges, filters []string
	var conditions []string
	where := func(kinds int) string {
		for range 1 + d.IntN(3) {
			plain, written := fresh()
			switch d.IntN(kinds) {
			case 0:
				v := d.value()
				conditions = append(conditions, written+g()+"="+g()+v)
				switch v {
				case "?", "true":
					v = ""
				case "'it''s -- 5/s'":
					v = " it's -- 5/s"
				default:
					v = " " + strings.Trim(v, "'")
				}
				equal = append(equal, ", "+plain+" ="+v)
			case 1:
				conditions = append(conditions, written+" "+d.word("IN")+" [?,"+g()+"?, 'z']")
				equal = append(equal, ", "+plain+" = one of 3")
			case 2:
				conditions = append(conditions, written+" "+d.word("BETWEEN")+" ? "+d.word("AND")+g()+"?")
				ranges = append(ranges, ", "+plain+" in true()..true()")
			case 3:
				conditions = append(conditions, "begins_with("+written+", ?)")
				ranges = append(ranges, ", "+plain+" in true()..true() prefix")
			case 4:
				conditions = append(conditions, d.word("NOT")+" "+written+" = 3")
				filters = append(filters, ", filter "+plain)
			}
		}
		return d.word("WHERE") + g() + strings.Join(conditions, g()+d.word("AND")+g())
	}
	rest := ""
	switch d.IntN(4) {
	case 0:
		text = d.word("SELECT") + " *" + g() + d.word("FROM") + " " + quotedTable + g() + where(5)
		if !strings.Contains(text, "[") {
			// It may be CQL, too, whose names are folded: add something that only PartiQL has.
			plain, written := fresh()
			text += " " + d.word("AND") + " contains(" + written + ", ?)"
			filters = append(filters, ", filter "+plain)
		}
		want = fmt.Sprintf("%d: read of %s", line, table)
	case 1:
		var members, names []string
		for range 1 + d.IntN(4) {
			plain, _ := fresh()
			members = append(members, "'"+plain+"':"+g()+d.value())
			names = append(names, plain)
		}
		text = d.word("INSERT") + " " + d.word("INTO") + " " + quotedTable + g() + d.word("VALUE") + " {" + strings.Join(members, ","+g()) + "}"
		want = fmt.Sprintf("%d: insert of %s", line, table)
		rest = ", columns " // in the order of their bytes
		for _, n := range sorted(names) {
			rest += n + " "
		}
		rest = strings.TrimSuffix(rest, " ")
	case 2:
		plain, written := fresh()
		plain2, written2 := fresh()
		text = d.word("UPDATE") + " " + quotedTable + g() + d.word("SET") + " " + written + " = ?" + g() + d.word("REMOVE") + " " + written2 + g() + where(1)
		want = fmt.Sprintf("%d: update of %s", line, table)
		rest = ", columns " + plain + " " + plain2
	case 3:
		text = d.word("DELETE") + " " + d.word("FROM") + " " + quotedTable + g() + where(2) + " " + d.word("AND") + " attribute_exists(pk)"
		want = fmt.Sprintf("%d: delete of %s", line, table)
		filters = append(filters, ", filter pk")
		rest = ", conditional"
	}
	return text, want + strings.Join(equal, "") + strings.Join(ranges, "") + strings.Join(filters, "") + rest
}

func sorted(names []string) []string {
	out := append([]string(nil), names...)
	for i := range out {
		for j := range i {
			if out[i] < out[j] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

// TestDrawnPartiQL checks that a drawn statement is read as it was meant, however it is written: on
// one line or several, with rates and remarks between.
func TestDrawnPartiQL(t *testing.T) {
	for seed := range uint64(3000) {
		d := drawn{rand.New(rand.NewPCG(seed, 9))}
		var file strings.Builder
		var want []string
		for range 1 + d.IntN(5) {
			file.WriteString(d.pick("", "\n", "# a remark\n", "-- SELECT a FROM t -- 5/s\n", "/* DELETE FROM t\n -- 3/s */\n"))
			line := 1 + strings.Count(file.String(), "\n")
			text, w := d.statement(line)
			if d.IntN(2) == 0 {
				text += ";"
			}
			switch d.IntN(4) {
			case 0:
				text += d.pick(" -- 5 per sec", " -- 5/s", " // 5/s", " /* 300/min */", " # 18,000/h at the peak")
				w += ", 5/s"
			}
			file.WriteString(text + d.pick("\n", "\r\n", "\n\n"))
			want = append(want, w)
		}
		qs, err := Parse(file.String())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, file.String())
		}
		var got []string
		for i := range qs {
			got = append(got, show(&qs[i]))
		}
		if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
			t.Fatalf("seed %d:\n%s\ngot\n%s\nwant\n%s", seed, file.String(), a, b)
		}
	}
}
