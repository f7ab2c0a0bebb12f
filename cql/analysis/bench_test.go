// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

func analysed(t testing.TB, text string) Statement {
	s := loadSchema(t, "testdata/schema.cql")
	stmt, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Analyze(stmt, s, keyspace)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var (
	four  = eval.Value{Bytes: []byte{0, 0, 0, 4}}
	texts = eval.Value{Bytes: []byte("text")}
)

// TestAllocations checks that binding the common statements stays within a budget of allocations.
func TestAllocations(t *testing.T) {
	read := analysed(t, "SELECT v FROM t WHERE k = ? AND c1 = ? AND c2 = ? AND c3 = ?").(*Select)
	env := &eval.Env{Values: []eval.Value{four, four, texts, four}}
	budget(t, "bind a point read", 6, func() {
		if _, err := read.Bind(env); err != nil {
			t.Fatal(err)
		}
	})
	write := analysed(t, "INSERT INTO t (k, c1, c2, c3, v) VALUES (?, ?, ?, ?, ?)").(*Write)
	env5 := &eval.Env{Values: []eval.Value{four, four, texts, four, four}}
	budget(t, "bind an insert", 6, func() {
		if _, err := write.Bind(env5); err != nil {
			t.Fatal(err)
		}
	})
	all := analysed(t, "SELECT * FROM t WHERE k = ?").(*Select)
	cells := make(eval.Cells, len(all.Fetch))
	dst := make([][]byte, 0, len(cells))
	var row eval.Row = cells
	budget(t, "select plain columns of a row", 0, func() {
		if _, err := all.Selection.Row(env, row, dst[:0]); err != nil {
			t.Fatal(err)
		}
	})
	filtered := analysed(t, "SELECT v FROM t WHERE v > 1 AND w = 'a' ALLOW FILTERING").(*Select)
	b, err := filtered.Bind(&eval.Env{})
	if err != nil {
		t.Fatal(err)
	}
	var candidate eval.Row = eval.Cells{four.Bytes, texts.Bytes}
	budget(t, "filter a row", 0, func() { b.Matches(candidate) })
}

func budget(t *testing.T, what string, most float64, f func()) {
	if n := testing.AllocsPerRun(100, f); n > most {
		t.Errorf("%s: %v allocations, want at most %v", what, n, most)
	}
}

func BenchmarkAnalyzeSelect(b *testing.B) {
	s := loadSchema(b, "testdata/schema.cql")
	stmt, err := syntax.Parse("SELECT v, w FROM t WHERE k = ? AND c1 = ? AND c2 > ? LIMIT 10")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Analyze(stmt, s, keyspace); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBindPointRead(b *testing.B) {
	read := analysed(b, "SELECT v FROM t WHERE k = ? AND c1 = ? AND c2 = ? AND c3 = ?").(*Select)
	env := &eval.Env{Values: []eval.Value{four, four, texts, four}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read.Bind(env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBindInsert(b *testing.B) {
	write := analysed(b, "INSERT INTO t (k, c1, c2, c3, v) VALUES (?, ?, ?, ?, ?)").(*Write)
	env := &eval.Env{Values: []eval.Value{four, four, texts, four, four}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := write.Bind(env); err != nil {
			b.Fatal(err)
		}
	}
}
