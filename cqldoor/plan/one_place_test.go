// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// onePlaceOf plans a statement and returns its OnePlace.
func onePlaceOf(t rapid.TB, table *Table, known *schema.Schema, text string) *OnePlace {
	t.Helper()
	tree, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Analyze(tree, known, "ks")
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := a.(*analysis.Select); ok {
		p, err := NewSelect(table, tree.(*syntax.Select), s)
		if err != nil {
			t.Fatal(err)
		}
		return p.OnePlace
	}
	p, err := NewWrite(table, tree, a.(*analysis.Write))
	if err != nil {
		t.Fatal(err)
	}
	return p.OnePlace
}

// TestOnePlace draws layouts, a step of the change and rows. The shard of a statement on a row is that of each place
// that the step needs, and there is one exactly if these places are equal.
func TestOnePlace(outer *testing.T) {
	layouts := []string{"{'shards': '4'}", "{'shards': '6'}", "{'shards': '6', 'by': 'c'}", "{'shards': '4', 'by': 'd'}", "{'shards': '3', 'base': '10'}",
		"{'shards': '4', 'row_epochs': '9@4 from 0x00000005'}"}
	rapid.Check(outer, func(t *rapid.T) {
		made := func(name string) (*Table, *schema.Schema) {
			return testTable(outer, "CREATE TABLE t (k int, c int, d int, v int, w text, PRIMARY KEY (k, c, d)) WITH write_sharding = "+rapid.SampledFrom(layouts).Draw(t, name))
		}
		from, known := made("from")
		to, _ := made("to")
		if from.Layout.Equal(to.Layout) {
			return
		}
		const started = 1_000_000
		step := rapid.SampledFrom([]reshard.Step{reshard.Withdrawn, reshard.Announced, reshard.Switching, reshard.Switched, reshard.Settled, reshard.Cleaned}).Draw(t, "step")
		table, err := NewChanging(from.Table, Kept{Layout: from.Layout}, Kept{Layout: to.Layout}, reshard.Change{Step: step, Started: started})
		if err != nil {
			t.Fatal(err)
		}
		duty := table.Change.Duty
		has := func(a reshard.Act, programs ...[]reshard.Act) bool {
			return slices.ContainsFunc(programs, func(p []reshard.Act) bool { return slices.Contains(p, a) })
		}
		text := rapid.SampledFrom([]string{"SELECT v, d FROM t WHERE d = ? AND c = ? AND k = ?", "INSERT INTO t (d, c, k, v) VALUES (?, ?, ?, 1)",
			"INSERT INTO t (d, c, k, v) VALUES (?, ?, ?, 1) USING TIMESTAMP 5", "DELETE FROM t WHERE d = ? AND c = ? AND k = ?"}).Draw(t, "text")
		stamp := rapid.SampledFrom([]int64{started - 1, started, started + 1}).Draw(t, "stamp")
		write := [][]reshard.Act{duty.Write}
		if stamp <= started || text[len(text)-1] == '5' {
			write = append(write, duty.Past)
		}
		old, next := has(reshard.PutOld, write...), has(reshard.PutNew, write...)
		if text[0] == 'S' {
			old, next = has(reshard.LookOld, duty.Read), has(reshard.LookNew, duty.Read)
		}
		o := onePlaceOf(t, table, known, text)
		if o == nil {
			t.Fatalf("no plan for %s", text)
		}
		for range 20 {
			k, c, d := IntValue(rapid.IntRange(0, 3).Draw(t, "k")), IntValue(rapid.IntRange(0, 9).Draw(t, "c")), IntValue(rapid.IntRange(0, 9).Draw(t, "d"))
			m := table.Change.Moved([][]byte{k}, [][]byte{c, d})
			got, one := o.Shard([][]byte{d, c, k}, nil, stamp)
			if want := !old || !next || m.Old == m.New; one != want {
				t.Fatalf("%s, %s: one place: %v, for %v and %v", step, text, one, m.Old, m.New)
			}
			if one && (old && got != m.Old.Shard || next && got != m.New.Shard) {
				t.Fatalf("%s, %s: shard %d, for %v and %v", step, text, got, m.Old, m.New)
			}
		}
	})
}

// TestNoOnePlace lists statements that have no plan for one place.
func TestNoOnePlace(t *testing.T) {
	table, known := testTable(t, "CREATE TABLE t (k int, c int, d int, v int, s int static, PRIMARY KEY (k, c, d)) WITH write_sharding = {'shards': '4'}")
	changing, err := NewChanging(table.Table, Kept{Layout: table.Layout}, Kept{Layout: &shard.Layout{N: 6, Column: table.Layout.Column}}, reshard.Change{Step: reshard.Switching})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT * FROM t WHERE k = ?", "SELECT v FROM t WHERE k = ? AND c = ?", "SELECT v FROM t WHERE k IN ? AND c = ? AND d = ?", "SELECT v FROM t WHERE k = ? AND c = ? AND d >= ?",
		"SELECT s, v FROM t WHERE k = ? AND c = ? AND d = ?", "SELECT v FROM t WHERE k = 1 AND c = ? AND d = ?", "SELECT * FROM t",
		"INSERT INTO t (k, c, d, s) VALUES (?, ?, ?, 1)", "INSERT INTO t (k, s) VALUES (?, ?)", "UPDATE t SET s = 1 WHERE k = ?", "INSERT INTO t JSON ?",
		"DELETE FROM t WHERE k = ?", "DELETE FROM t WHERE k = ? AND c = ?", "UPDATE t SET v = ? WHERE k = ? AND c IN ? AND d = ?", "UPDATE t SET v = ? WHERE k = ? AND c = ? AND d = 4",
	} {
		if o := onePlaceOf(t, changing, known, text); o != nil {
			t.Errorf("%s has the plan %s", text, o.Whole.Text)
		}
	}
}

// TestNoOnePlaceOfTwoTables checks that no statement has a plan for one place in a change between two physical tables,
// or of a renamed one: the door must put the logical name into the store's answer.
func TestNoOnePlaceOfTwoTables(t *testing.T) {
	table, known := testTable(t, "CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '4'}")
	second := Kept{Layout: table.Layout, Physical: "t_2"}
	for _, from := range []Kept{{Layout: shard.Plain()}, {Layout: &shard.Layout{N: 2, Column: table.Layout.Column}, Physical: "t_2"}} {
		for _, step := range []reshard.Step{reshard.Withdrawn, reshard.Announced, reshard.Switching, reshard.Switched, reshard.Settled, reshard.Cleaned} {
			changing, err := NewChanging(table.Table, from, second, reshard.Change{Step: step})
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"SELECT v FROM t WHERE k = ? AND c = ?", "UPDATE t SET v = 1 WHERE k = ? AND c = ?"} {
				if o := onePlaceOf(t, changing, known, text); o != nil {
					t.Errorf("%s: %s has the plan %s", step, text, o.Whole.Text)
				}
			}
		}
	}
}

// TestNoOnePlaceOfBuckets checks that no statement goes to a bucket without a look at the directory of buckets.
func TestNoOnePlaceOfBuckets(t *testing.T) {
	const create = "CREATE TABLE t (k int, ts timestamp, v int, PRIMARY KEY (k, ts)) WITH write_sharding = "
	calculated, _ := testTable(t, create+"{'shards': '4'}")
	timed, known := testTable(t, create+"{'strategy': 'time', 'by': 'ts', 'bucket': '1d'}")
	for _, step := range []reshard.Step{reshard.Announced, reshard.Switching, reshard.Switched, reshard.Settled, reshard.Cleaned} {
		changing, err := NewChanging(timed.Table, Kept{Layout: calculated.Layout}, Kept{Layout: timed.Layout, Physical: "t_2"}, reshard.Change{Step: step})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"SELECT v FROM t WHERE k = ? AND ts = ?", "UPDATE t SET v = 1 WHERE k = ? AND ts = ?"} {
			o := onePlaceOf(t, changing, known, text)
			if o != nil {
				t.Errorf("%s: %s has the plan %s", step, text, o.Whole.Text)
			}
		}
	}
}
