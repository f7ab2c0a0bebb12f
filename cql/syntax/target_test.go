// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"reflect"
	"slices"
	"testing"
)

// headOf returns the Head that Target must find, taken from the parsed statement.
func headOf(s Statement) Head {
	switch s := s.(type) {
	case *Select:
		return Head{Kind: StatementSelect, Name: s.From}
	case *Insert:
		return Head{Kind: StatementInsert, Name: s.Into}
	case *Update:
		return Head{Kind: StatementUpdate, Name: s.Table}
	case *Delete:
		return Head{Kind: StatementDelete, Name: s.From}
	case *Batch:
		return Head{Kind: StatementBatch}
	case *Use:
		return Head{Kind: StatementUse, Name: Name{Name: s.Keyspace}}
	case *Truncate:
		return Head{Kind: StatementTruncate, Name: s.Table}
	case *CreateKeyspace:
		return Head{Kind: StatementCreateKeyspace, Name: Name{Name: s.Name}}
	case *AlterKeyspace:
		return Head{Kind: StatementAlterKeyspace, Name: Name{Name: s.Name}}
	case *CreateTable:
		return Head{Kind: StatementCreateTable, Name: s.Name}
	case *AlterTable:
		return Head{Kind: StatementAlterTable, Name: s.Name}
	case *CreateType:
		return Head{Kind: StatementCreateType, Name: s.Name}
	case *AlterType:
		return Head{Kind: StatementAlterType, Name: s.Name}
	case *CreateIndex:
		return Head{Kind: StatementCreateIndex, Name: Name{Name: s.Name}, On: s.Table}
	case *CreateView:
		return Head{Kind: StatementCreateView, Name: s.Name, On: s.Select.From}
	case *Drop:
		kind := map[ObjectKind]StatementKind{KindKeyspace: StatementDropKeyspace, KindTable: StatementDropTable,
			KindType: StatementDropType, KindIndex: StatementDropIndex, KindView: StatementDropView}[s.Kind]
		return Head{Kind: kind, Name: s.Name}
	case *Describe:
		return Head{Kind: StatementDescribe}
	case *Other:
		return Head{Kind: StatementOther}
	}
	return Head{}
}

// tablesOf returns the names that Tables must yield.
func tablesOf(s Statement) []Name {
	switch s := s.(type) {
	case *Batch:
		var list []Name
		for _, st := range s.Statements {
			list = append(list, headOf(st).Name)
		}
		return list
	case *Select, *Insert, *Update, *Delete, *Truncate, *CreateTable, *AlterTable:
		return []Name{headOf(s).Name}
	case *Drop:
		if s.Kind == KindTable {
			return []Name{s.Name}
		}
	case *CreateIndex, *CreateView:
		return []Name{headOf(s).On}
	}
	return nil
}

// checkTarget fails if Target or Tables disagree with the parsed statement.
func checkTarget(t reporter, text string, s Statement) {
	t.Helper()
	if got, want := Target(text), headOf(s); got != want {
		t.Fatalf("Target(%q)\n got %+v\nwant %+v", text, got, want)
	}
	if got, want := slices.Collect(Tables(text)), tablesOf(s); !slices.Equal(got, want) {
		t.Fatalf("Tables(%q)\n got %+v\nwant %+v", text, got, want)
	}
	for _, keyspace := range keyspacesOf(reflect.ValueOf(s)) {
		if keyspace == "system" && !Mentions(text, keyspace) {
			continue // the parser adds this keyspace for the functions of masks
		}
		if !NamesKeyspace(text, keyspace) {
			t.Fatalf("NamesKeyspace(%q, %q) finds nothing", text, keyspace)
		}
	}
	if NamesKeyspace(text, "no such keyspace") {
		t.Fatalf("NamesKeyspace(%q) finds what is not there", text)
	}
}

// keyspacesOf returns the keyspaces that a tree names, in any of its names.
func keyspacesOf(v reflect.Value) (all []string) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			return keyspacesOf(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, keyspacesOf(v.Index(i))...)
		}
	case reflect.Struct:
		switch s := v.Interface().(type) {
		case Name:
			if s.Keyspace != "" {
				all = append(all, s.Keyspace)
			}
			return all
		case Drop:
			if s.Kind == KindKeyspace {
				return []string{s.Name.Name}
			}
		case Describe:
			if s.What == "KEYSPACE" && s.Name.Name != "" {
				return []string{s.Name.Name}
			}
		case CreateKeyspace:
			return []string{s.Name}
		case AlterKeyspace:
			return []string{s.Name}
		}
		for i := range v.NumField() {
			all = append(all, keyspacesOf(v.Field(i))...)
		}
	}
	return all
}

func TestNamesKeyspace(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * FROM ks.t":                              true,
		`SELECT * FROM "ks".t`:                            true,
		"SELECT * FROM KS /* . */ . t":                    true,
		"SELECT * FROM ks":                                false,
		"SELECT ks FROM a.t WHERE ks = 'ks.t'":            false,
		`SELECT * FROM "Ks".t`:                            false,
		"GRANT SELECT ON KEYSPACE ks TO r":                true,
		"GRANT SELECT ON KEYSPACE r TO ks":                false,
		"LIST ALL ON ALL FUNCTIONS IN KEYSPACE ks OF r":   true,
		"ALTER KEYSPACE IF EXISTS ks WITH x = 1":          true,
		"CREATE KEYSPACE IF NOT EXISTS \"ks\" WITH x = 1": true,
		"DROP KEYSPACE keyspace":                          false,
		"DROP KEYSPACE keyspace.ks.t":                     true,
		"CREATE ROLE ks WITH PASSWORD = $$ks.$$":          false,
		"DROP FUNCTION ks.f":                              true,
		"COMMENT ON KEYSPACE ks IS 'x'":                   true,
		"nonsense ks . t":                                 true,
		"nonsense é KS":                                   true,
		"nonsense é":                                      false,
		"SELECT 'ks.":                                     true,
		"":                                                false,
	} {
		if got := NamesKeyspace(text, "ks"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestTargetDoesNotAllocate(t *testing.T) {
	for _, text := range []string{
		"SELECT a, b FROM ks.t WHERE k = ? AND c > 'x'",
		`INSERT INTO "Ks"."T" (a, b) VALUES (?, ?) USING TTL 10`,
		"UPDATE t SET a = 1 WHERE k = 2",
		"DELETE m['x'] FROM ks.t WHERE k = 1",
		"CREATE TABLE IF NOT EXISTS ks.t (a int PRIMARY KEY)",
	} {
		b := []byte(text)
		if n := testing.AllocsPerRun(100, func() { TargetBytes(b) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkTarget(b *testing.B) {
	for name, text := range map[string]string{
		"select": "SELECT publish_date, title, description FROM tracker.blogs WHERE publish_date = ? AND title = ?",
		"star":   "SELECT * FROM tracker.blogs WHERE publish_date = ?",
		"insert": "INSERT INTO tracker.blogs (publish_date, title, description) VALUES (?, ?, ?)",
		"update": "UPDATE tracker.blogs SET description = ? WHERE publish_date = ? AND title = ?",
		"delete": "DELETE FROM tracker.blogs WHERE publish_date = ? AND title = ?",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Target(text)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	const text = "SELECT publish_date, title, description FROM tracker.blogs WHERE publish_date = ? AND title = ?"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
