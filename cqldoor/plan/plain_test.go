// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

const plainSchema = "CREATE TABLE t (p int, q text, c int, v text, n int, s int static, PRIMARY KEY ((p, q), c)) WITH write_sharding = {'shards': '3'}"

// betweenTables returns the table of plainSchema during a change from a plain table to a sharded
// one, or back.
func betweenTables(t testing.TB, step reshard.Step, back bool) (*Table, *schema.Schema) {
	t.Helper()
	sharded, s := testTable(t, plainSchema)
	from, to := Kept{Layout: shard.Plain(), Physical: ""}, Kept{Layout: sharded.Layout, Physical: "t_2"}
	if back {
		from, to = Kept{Layout: sharded.Layout, Physical: ""}, Kept{Layout: shard.Plain(), Physical: "t_3"}
	}
	table, err := NewChanging(sharded.Table, from, to, reshard.Change{Step: step, Started: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return table, s
}

func analysed(t testing.TB, s *schema.Schema, text string) (syntax.Statement, analysis.Statement) {
	t.Helper()
	tree, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Analyze(tree, s, "ks")
	if err != nil {
		t.Fatal(err)
	}
	return tree, a
}

// sent returns the texts of physical writes.
func sent(ms []Mutation) string {
	var out []string
	for _, m := range ms {
		out = append(out, fmt.Sprintf("%s @%d", m.Statement.Text, m.Shard))
		shards := 0
		for _, s := range m.Statement.Slots {
			if s.Kind == Shard {
				shards++
			}
		}
		if shards > 0 != (m.Shard != shard.PlainPlace) || len(m.Values) != len(m.Statement.Slots) {
			out = append(out, fmt.Sprintf("with %d values, of %d slots, %d of shards", len(m.Values), len(m.Statement.Slots), shards))
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "; ")
}

// TestWritesBetweenTables checks that writes go to the plain table and to the sharded one: first to
// the new one, and to both until settled.
func TestWritesBetweenTables(t *testing.T) {
	const where, in = "WHERE p = ? AND q = ?", " AND shard = ?"
	for _, c := range []struct {
		text           string
		plain, sharded string // the statement for each, with T for the table's name
	}{
		{"INSERT INTO t (p, q, c, v) VALUES (1, 'a', 2, 'x')", "INSERT INTO ks.T (p, q, c, v) VALUES (?, ?, ?, 'x')", "INSERT INTO ks.T (p, q, c, v, shard) VALUES (?, ?, ?, 'x', ?)"},
		{"UPDATE t SET n = 5 WHERE p = 1 AND q = 'a' AND c = 2", "UPDATE ks.T SET n = 5 " + where + " AND c = ?", "UPDATE ks.T SET n = 5 " + where + in + " AND c = ?"},
		{"DELETE v FROM t WHERE p = 1 AND q = 'a' AND c = 2", "DELETE v FROM ks.T " + where + " AND c = ?", "DELETE v FROM ks.T " + where + in + " AND c = ?"},
		{"DELETE FROM t WHERE p = 1 AND q = 'a' AND c > 2", "DELETE FROM ks.T " + where + " AND c > ?", "DELETE FROM ks.T " + where + in + " AND c > ?"},
		{"DELETE FROM t WHERE p = 1 AND q = 'a'", "DELETE FROM ks.T " + where, "DELETE FROM ks.T " + where + in},
	} {
		for _, back := range []bool{false, true} {
			for _, step := range []reshard.Step{reshard.Announced, reshard.Switching, reshard.Switched, reshard.Settled, reshard.Withdrawn} {
				table, s := betweenTables(t, step, back)
				tree, a := analysed(t, s, c.text)
				p, err := NewWrite(table, tree, a.(*analysis.Write))
				if err != nil {
					t.Fatal(c.text, err)
				}
				b, err := p.Logical.Bind(&eval.Env{})
				if err != nil {
					t.Fatal(err)
				}
				m, err := p.Moving(b, 2000, nil, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				oldName, newName, oldText, newText := "t", "t_2", c.plain, c.sharded
				if back {
					newName, oldText, newText = "t_3", c.sharded, c.plain
				}
				var want []string
				if step != reshard.Withdrawn {
					want = append(want, strings.Replace(newText, "ks.T", "ks."+newName, 1))
				}
				if step != reshard.Settled {
					want = append(want, strings.Replace(oldText, "ks.T", "ks."+oldName, 1))
				}
				var got []string
				for _, round := range m.Rounds {
					text := sent(round.Sent)
					if strings.Contains(text, " of shards") {
						t.Errorf("%s: %s", c.text, text)
					}
					first, _, _ := strings.Cut(text, " @")
					got = append(got, first)
				}
				if !slices.Equal(got, want) || len(m.Lives) > 0 {
					t.Errorf("%s in %s, back %v:\n%s\nwant\n%s", c.text, step, back, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
}

// TestPastWritesBetweenTables checks that a write with a timestamp from before the change goes only
// to the old table. The mover carries the live rows to the new table later.
func TestPastWritesBetweenTables(t *testing.T) {
	table, s := betweenTables(t, reshard.Announced, false)
	tree, a := analysed(t, s, "INSERT INTO t (p, q, c, v) VALUES (1, 'a', 2, 'x')")
	p, err := NewWrite(table, tree, a.(*analysis.Write))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Logical.Bind(&eval.Env{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Moving(b, 500, nil, nil, nil)
	if err != nil || len(m.Rounds) != 1 || sent(m.Rounds[0].Sent) != "INSERT INTO ks.t (p, q, c, v) VALUES (?, ?, ?, 'x') @0" {
		t.Fatalf("%v %v", m.Rounds, err)
	}
	if len(m.Lives) != 1 || m.Lives[0].Old != (Place{Shard: shard.PlainPlace}) || !m.Lives[0].New.Second || m.Lives[0].New.Shard < 1 || m.Lives[0].New.Shard > 3 {
		t.Errorf("what may live: %+v", m.Lives)
	}
}

// TestCarriesBetweenTables checks that a row's looks, copies and deletions go to the physical table
// of their place.
func TestCarriesBetweenTables(t *testing.T) {
	for _, back := range []bool{false, true} {
		table, _ := betweenTables(t, reshard.Switching, back)
		names := map[bool]string{true: "ks.t", false: "ks.t_2"} // plain
		if back {
			names = map[bool]string{true: "ks.t_3", false: "ks.t"}
		}
		key, clustering := [][]byte{IntValue(1), []byte("a")}, [][]byte{IntValue(2)}
		for _, of := range [][][]byte{clustering, nil} {
			m := table.Change.Moved(key, of)
			if m.Old == m.New {
				t.Fatalf("a row does not move: %+v", m)
			}
			c := table.Change.Carrier(of == nil)
			cells := Picture{There: true, Cells: make([]Cell, len(table.Regulars))}
			if of == nil {
				cells.Cells = make([]Cell, len(table.Statics))
			}
			cells.Cells[0] = Cell{Value: []byte("x"), Time: 7}
			for _, at := range []Place{m.Old, m.New} {
				plain := at.Shard == shard.PlainPlace
				all := slices.Concat([]Mutation{c.Look(&m, at)}, c.Put(&m, at, cells, true, 1000, 0), c.Drop(&m, at, cells))
				if of != nil {
					all = append(all, c.DropRow(&m, at, 1000))
				}
				text := sent(all)
				if n := strings.Count(text, names[plain]+" "); n != len(all) || strings.Contains(text, "shard") == plain || strings.Contains(text, "of slots") {
					t.Errorf("at %v: %s", at, text)
				}
			}
		}
	}
}

// TestReadsBetweenTables checks that reads go to the old table, to both or to the new one, and that
// scans go by the partitions of the table with which they began.
func TestReadsBetweenTables(t *testing.T) {
	for _, c := range []struct {
		step       reshard.Step
		now, other string // the tables that are read
	}{
		{reshard.Announced, "ks.t", ""}, {reshard.Switching, "ks.t_2", "ks.t"}, {reshard.Switched, "ks.t_2", ""}, {reshard.Settled, "ks.t_2", ""},
	} {
		table, s := betweenTables(t, c.step, false)
		for _, text := range []string{"SELECT * FROM t WHERE p = 1 AND q = 'a'", "SELECT v FROM t WHERE p = 1 AND q = 'a' AND c = 2", "SELECT count(*) FROM t WHERE p = 1 AND q = 'a'",
			"SELECT p, c FROM t", "SELECT DISTINCT p, q FROM t", "SELECT s FROM t WHERE p = 1 AND q = 'a'"} {
			tree, a := analysed(t, s, text)
			p, err := NewSelect(table, tree.(*syntax.Select), a.(*analysis.Select))
			if err != nil {
				t.Fatal(text, err)
			}
			b, err := p.Bind(&eval.Env{})
			if err != nil {
				t.Fatal(err)
			}
			reads := func(p *Select) string {
				key := [][]byte{IntValue(1), []byte("a")}
				var out []string
				for seg := range p.PartitionSegments(b, nil, 0, key, nil) {
					fetches, err := p.Fetches(b, seg, seg.Shards, nil, nil, 10)
					if err != nil {
						t.Fatal(err)
					}
					keys, err := p.KeyFetches(b, seg, seg.Shards, nil, nil, 10)
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range append(fetches, keys...) {
						out = append(out, f.Statement.Text)
					}
				}
				if p.Presence != nil {
					out = append(out, p.Presence.Fetch(b, key, p.Table.Shards(key)).Statement.Text)
				}
				return strings.Join(out, "; ")
			}
			check := func(p *Select, name string) {
				got := reads(p)
				if strings.Count(got, name+" ") != strings.Count(got, "FROM ") || strings.Contains(got, "shard") == (name == "ks.t") || p.Table.Plain() != (p.ShardCell < 0) && p.Output != Combined {
					t.Errorf("%s in %s reads %s; it should read %s", text, c.step, got, name)
				}
			}
			check(p, c.now)
			if (p.Old != nil) != (c.other != "") {
				t.Fatalf("%s in %s: the old places are read: %v", text, c.step, p.Old != nil)
			}
			if p.Old != nil {
				check(p.Old, c.other)
			}
			if p.Access != Owners {
				continue
			}
			by := p.Walked(Cursor{})
			name, columns := "ks.t", "p, q"
			if c.step == reshard.Switched || c.step == reshard.Settled {
				name, columns = "ks.t_2", "p, q, shard"
			}
			walk := p.Walk(by, b.Tokens[0], 10).Statement.Text
			if want := "SELECT DISTINCT " + columns + " FROM " + name + " WHERE token(" + columns + ") >= ? AND token(" + columns + ") <= ? LIMIT ?"; walk != want {
				t.Errorf("%s in %s goes by %s; it should go by %s", text, c.step, walk, want)
			}
		}
	}
}

// TestOfPlain checks the plans on a plain table of another name that is not under a change. The store
// answers each read as it is, and each write is one statement without a shard. A read that a door
// began continues as the door's.
func TestOfPlain(t *testing.T) {
	sharded, s := testTable(t, plainSchema)
	table, err := NewKept(sharded.Table, Kept{Layout: shard.Plain(), Physical: "t_2"})
	if err != nil || !table.Renamed() || !table.Plain() {
		t.Fatalf("%+v %v", table, err)
	}
	began := Cursor{Key: AppendKey(nil, [][]byte{IntValue(1), []byte("a")}), After: [][]byte{IntValue(2)}}.Encode(table.Identity())
	for text, c := range map[string]struct {
		want string
		door bool // a door can have begun it
	}{
		"SELECT * FROM t WHERE p = 1 AND q = 'a'":                    {"SELECT p, q, c, s, v, n FROM ks.t_2 WHERE p = 1 AND q = 'a'", true},
		"SELECT count(*) FROM t":                                     {"SELECT count(*) FROM ks.t_2", true},
		"SELECT token(p, q), c FROM t WHERE p = 1 AND q = 'a'":       {"SELECT token(p, q), c FROM ks.t_2 WHERE p = 1 AND q = 'a'", false},
		"SELECT c FROM t WHERE token(p, q) > token(1, 'a')":          {"SELECT c FROM ks.t_2 WHERE token(p, q) > token(1, 'a')", false},
		"SELECT p, max(c) FROM t GROUP BY p, q ALLOW FILTERING":      {"SELECT p, max(c) FROM ks.t_2 GROUP BY p, q ALLOW FILTERING", true},
		"SELECT v FROM t WHERE p = ? AND q = ? ORDER BY c DESC":      {"SELECT v FROM ks.t_2 WHERE p = ? AND q = ? ORDER BY c DESC", true},
		"SELECT DISTINCT p, q, s FROM t WHERE token(p, q) > 5":       {"SELECT DISTINCT p, q, s FROM ks.t_2 WHERE token(p, q) > 5", true},
		"SELECT v FROM t WHERE p = 1 AND q = 'a' AND c IN (1, 2, 3)": {"SELECT v FROM ks.t_2 WHERE p = 1 AND q = 'a' AND c IN (1, 2, 3)", true},
	} {
		tree, a := analysed(t, s, text)
		p, err := NewSelect(table, tree.(*syntax.Select), a.(*analysis.Select))
		if err != nil {
			t.Fatal(text, err)
		}
		for _, state := range [][]byte{nil, []byte("the store's")} {
			if got := p.ReadsPlainly(state); p.Whole != nil || got == nil || got.Whole.Text != c.want {
				t.Errorf("%s is %+v, and should be %s", text, got.Whole, c.want)
			}
		}
		if got := p.ReadsPlainly(began); (got == nil) != c.door {
			t.Errorf("%s goes on as a door's read: %v", text, got == nil)
		}
	}
	for text, want := range map[string]string{
		"INSERT INTO t (p, q, c, v) VALUES (?, 'a', 2, 'x') IF NOT EXISTS": "INSERT INTO ks.t_2 (p, q, c, v) VALUES (?, ?, ?, 'x') IF NOT EXISTS",
		"UPDATE t SET v = 'x' WHERE p = 1 AND q = 'a' AND c = 2":           "UPDATE ks.t_2 SET v = 'x' WHERE p = ? AND q = ? AND c = ?",
		"DELETE FROM t WHERE p = 1 AND q = 'a' AND c = 2":                  "DELETE FROM ks.t_2 WHERE p = ? AND q = ? AND c = ?",
	} {
		tree, a := analysed(t, s, text)
		p, err := NewWrite(table, tree, a.(*analysis.Write))
		if err != nil || p.Whole == nil || p.Whole.Text != want {
			t.Errorf("%s is %+v (%v), and should be %s", text, p.Whole, err, want)
		}
		e, err := p.Explain(&eval.Env{Values: []eval.Value{{Bytes: IntValue(1)}}}, nil)
		if err != nil || e.Access != "plain table" || len(e.Shards) > 0 || len(e.Statements) != 1 {
			t.Errorf("%s is explained as %+v (%v)", text, e, err)
		}
	}
}

// TestPositionsOfPlain checks that a plain table's positions equal those of Cassandra's own
// partitions.
func TestPositionsOfPlain(t *testing.T) {
	table, _ := betweenTables(t, reshard.Announced, false)
	key := [][]byte{IntValue(1), []byte("a")}
	at := table.Position(key, shard.PlainPlace)
	again, parts, n, err := table.At(at.Key)
	if err != nil || n != shard.PlainPlace || again.Compare(at) != 0 || string(parts[1]) != "a" || string(at.Key) != string(AppendKey(nil, key)) {
		t.Errorf("%v %q %d %v", again, parts, n, err)
	}
	if met, n, ok := table.Met(key); !ok || n != shard.PlainPlace || len(met) != 2 || !table.Walks(met, n) || len(table.Rank(key, table.Shards(key))) != 1 {
		t.Errorf("met %q at %d, %v", met, n, ok)
	}
	if _, _, ok := table.Met(append(key, IntValue(1))); ok {
		t.Error("a row with a shard is taken for one of a plain table")
	}
}

// TestNotBetweenTables refuses changes between physical tables whose places cannot be told apart.
func TestNotBetweenTables(t *testing.T) {
	sharded, _ := testTable(t, plainSchema)
	for _, c := range []struct{ from, to Kept }{
		{Kept{Layout: sharded.Layout, Physical: ""}, Kept{Layout: sharded.Layout, Physical: "t_2"}},
		{Kept{Layout: shard.Plain(), Physical: ""}, Kept{Layout: shard.Plain(), Physical: "t_2"}},
		{Kept{Layout: shard.Plain(), Physical: ""}, Kept{Layout: sharded.Layout, Physical: ""}},
	} {
		if _, err := NewChanging(sharded.Table, c.from, c.to, reshard.Change{Step: reshard.Announced}); err == nil {
			t.Errorf("%+v to %+v", c.from, c.to)
		}
	}
}
