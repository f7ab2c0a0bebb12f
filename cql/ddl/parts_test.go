// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
)

// A few short statements can declare a type with more parts than a computer has bytes. Such a type is
// refused when it is declared, and when another type makes it so large.
func TestTypesOfManyParts(t *testing.T) {
	w := newWorld()
	must := func(text string) {
		t.Helper()
		if _, err := w.apply(text); err != nil {
			t.Fatalf("%.200s: %v", text, err)
		}
	}
	refused := func(text string) {
		t.Helper()
		if _, err := w.apply(text); err == nil || !strings.Contains(err.Error(), "parts") {
			t.Fatalf("%.200s: %v", text, err)
		}
	}
	must("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	must("CREATE TYPE d0 (a int)")
	last := 0
	for parts := 2; 2*parts+1 <= value.MaxParts; parts = 2*parts + 1 {
		last++
		must(fmt.Sprintf("CREATE TYPE d%d (a frozen<d%d>, b frozen<d%[2]d>)", last, last-1))
	}
	refused(fmt.Sprintf("CREATE TYPE more (a frozen<d%d>, b frozen<d%[1]d>)", last))
	refused(fmt.Sprintf("CREATE TABLE t (p int PRIMARY KEY, v tuple<d%d, d%[1]d>)", last))
	refused(fmt.Sprintf("CREATE TABLE t (p int PRIMARY KEY, v frozen<map<d%d, frozen<list<d%[1]d>>>>)", last))
	must(fmt.Sprintf("CREATE TABLE t (p int PRIMARY KEY, v frozen<d%d>)", last))
	refused(fmt.Sprintf("ALTER TABLE t ADD w tuple<d%d, d%[1]d>", last))
	must("ALTER TYPE d0 ADD b text")
	refused("ALTER TYPE d0 ADD c text") // all others grow, too
	must("CREATE TYPE e (a int)")
	must(fmt.Sprintf("CREATE TABLE u (p int PRIMARY KEY, v tuple<%sint>)", strings.Repeat("e, ", 4000)))
	refused("ALTER TYPE e ADD b text")
}

// Many types that use each other are altered in one pass over them.
func TestAlterTypeUnderOthers(t *testing.T) {
	w := newWorld()
	texts := []string{"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "CREATE TYPE c0 (a int)"}
	const n = 100
	for i := range n {
		texts = append(texts, fmt.Sprintf("CREATE TYPE c%d (a frozen<c%d>)", i+1, i))
	}
	texts = append(texts, fmt.Sprintf("CREATE TABLE t (p int PRIMARY KEY, v frozen<c%d>)", n), "ALTER TYPE c0 ADD b text")
	for _, text := range texts {
		if _, err := w.apply(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for typ, depth := w.s.Table("k", "t").Columns["v"].Type, n; ; typ, depth = typ.Elems[0], depth-1 {
		if depth == 0 {
			if len(typ.Fields) != 2 {
				t.Errorf("the innermost type has fields %v", typ.Fields)
			}
			break
		}
		if own := w.s.Keyspaces["k"].Types[typ.Name]; !own.Freeze().Equal(typ) {
			t.Errorf("type %s of the column is not that of the keyspace", typ.Name)
		}
	}
}
