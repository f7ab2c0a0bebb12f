// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func integer(text string) Expr { return &Constant{ConstInteger, text} }
func str(text string) Expr     { return &Constant{ConstString, text} }

// TestTrees pins the trees of statements that the grammar could read in several ways.
func TestTrees(t *testing.T) {
	for text, want := range map[string]Statement{
		`SELECT A, "A" AS b, count(*) FROM Ks.T WHERE k = ? AND c IN (1, :X) LIMIT 3;;`: &Select{
			Selectors: []Selector{{&Column{"a"}, ""}, {&Column{"A"}, "b"}, {&Call{Func: Name{"", "count"}, Star: true}, ""}},
			From:      Name{"ks", "t"},
			Where: []Relation{
				{Columns: []string{"k"}, Op: OpEQ, Value: &Bind{"", 0}},
				{Columns: []string{"c"}, Op: OpIn, Values: []Expr{integer("1"), &Bind{"x", 1}}},
			},
			Limit: integer("3"),
		},
		// JSON and DISTINCT are columns if no select list follows them.
		`SELECT json, distinct FROM t`: &Select{Selectors: []Selector{{&Column{"json"}, ""}, {&Column{"distinct"}, ""}}, From: Name{"", "t"}},
		`SELECT JSON DISTINCT json FROM t`: &Select{JSON: true, Distinct: true,
			Selectors: []Selector{{&Column{"json"}, ""}}, From: Name{"", "t"}},
		`SELECT (int)a, (a + 1) * -b, m['k'][1..], f.g FROM t`: &Select{Selectors: []Selector{
			{&Hint{TypeRef{Name: Name{"", "int"}}, &Column{"a"}}, ""},
			{&Binary{OpMul, &Tuple{[]Expr{&Binary{OpAdd, &Column{"a"}, integer("1")}}}, &Negate{&Column{"b"}}}, ""},
			{&Range{&Element{&Column{"m"}, str("k")}, integer("1"), nil}, ""},
			{&Field{&Column{"f"}, "g"}, ""},
		}, From: Name{"", "t"}},
		`SELECT * FROM t WHERE (a, b) IN () AND k IN ? AND expr(i, 'x')`: &Select{From: Name{"", "t"}, Where: []Relation{
			{Columns: []string{"a", "b"}, Tuple: true, Op: OpIn, Values: []Expr{}},
			{Columns: []string{"k"}, Op: OpIn, Value: &Bind{"", 0}},
			{Index: "i", Value: str("x")},
		}},
		// Counters: the minus sign may belong to the number.
		`UPDATE t USING TIMESTAMP ? AND TTL 5 SET a = a -1, b = b - 1, c += 2, d = [1] + d WHERE k = 1 IF EXISTS`: &Update{
			Table: Name{"", "t"}, Using: Using{&Bind{"", 0}, integer("5")},
			Set: []Assignment{
				{Column: "a", Value: &Binary{OpAdd, &Column{"a"}, integer("-1")}},
				{Column: "b", Value: &Binary{OpSub, &Column{"b"}, integer("1")}},
				{Column: "c", Value: &Binary{OpAdd, &Column{"c"}, integer("2")}},
				{Column: "d", Value: &Binary{OpAdd, &List{[]Expr{integer("1")}}, &Column{"d"}}},
			},
			Where:    []Relation{{Columns: []string{"k"}, Op: OpEQ, Value: integer("1")}},
			IfExists: true,
		},
		`INSERT INTO t (a) VALUES ({f: {}, g: {1: $$it's$$}}) IF NOT EXISTS`: &Insert{Into: Name{"", "t"}, Columns: []string{"a"},
			Values: []Expr{&UDT{[]UDTField{{"f", &Set{}}, {"g", &Map{[]MapEntry{{integer("1"), str("it's")}}}}}}}, IfNotExists: true},
		`DELETE a[0], b.c FROM t WHERE k = 1 IF d = NULL`: &Delete{
			Items: []DeleteItem{{Column: "a", Key: integer("0")}, {Column: "b", Field: "c"}}, From: Name{"", "t"},
			Where: []Relation{{Columns: []string{"k"}, Op: OpEQ, Value: integer("1")}},
			If:    []Condition{{Column: "d", Op: OpEQ, Value: &Null{}}},
		},
		`CREATE TABLE t (a int, , b frozen<list<ks.u>> static, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b DESC)
		 AND write_sharding = {'shards': '200'}`: &CreateTable{Name: Name{"", "t"},
			Columns: []ColumnDef{
				{Name: "a", Type: TypeRef{Name: Name{"", "int"}}},
				{Name: "b", Static: true, Type: TypeRef{Name: Name{"", "list"}, Frozen: true,
					Params: []TypeRef{{Name: Name{"ks", "u"}, User: true}}}},
			},
			PartitionKey: []string{"a"}, Clustering: []string{"b"},
			Order: []Ordering{{Column: "b", Desc: true}},
			With:  Properties{{"write_sharding", &Map{[]MapEntry{{str("shards"), str("200")}}}}},
		},
		`ALTER TABLE t DROP compact`:         &AlterTable{Name: Name{"", "t"}, Drop: []string{"compact"}},
		`ALTER TABLE t DROP compact storage`: &AlterTable{Name: Name{"", "t"}, DropCompactStorage: true},
		`GRANT SELECT ON t TO r;`:            &Other{Verb: "GRANT", Name: Name{"", "r"}, On: Name{"", "t"}, OnKind: KindTable, Text: "GRANT SELECT ON t TO r"},
		`LIST ALL ON ALL FUNCTIONS IN KEYSPACE ks`: &Other{Verb: "LIST", On: Name{"ks", ""}, OnKind: KindFunctions,
			Text: "LIST ALL ON ALL FUNCTIONS IN KEYSPACE ks"},
		`DROP TRIGGER IF EXISTS x ON ks.t`: &Other{Verb: "DROP", Object: KindTrigger, Name: Name{"ks", "x"}, IfExists: true,
			On: Name{"ks", "t"}, OnKind: KindTable, Text: "DROP TRIGGER IF EXISTS x ON ks.t"},
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := cmp.Diff(want, s); d != "" {
			t.Errorf("%s\n%s", text, d)
		}
	}
}

// TestReservedWords compares the reserved words with those of Cassandra 5.0.
func TestReservedWords(t *testing.T) {
	want := strings.Fields(`ADD ALLOW ALTER AND APPLY ASC AUTHORIZE BATCH BEGIN BY COLUMNFAMILY CREATE DELETE DESC
		DESCRIBE DROP ENTRIES EXECUTE FROM FULL GRANT IF IN INDEX INFINITY INSERT INTO IS KEYSPACE LIMIT MATERIALIZED
		MODIFY NAN NORECURSIVE NOT NULL OF ON OR ORDER PRIMARY RENAME REVOKE SCHEMA SELECT SET TABLE TO TOKEN TRUNCATE
		UNLOGGED UPDATE USE USING VIEW WHERE WITH`)
	var got []string
	for _, k := range keywords {
		if k.class == reserved && k.kind != tBoolean { // TRUE and FALSE are constants
			got = append(got, upper(k.text))
		}
	}
	less := cmp.Transformer("set", func(l []string) map[string]bool {
		m := make(map[string]bool)
		for _, w := range l {
			m[w] = true
		}
		return m
	})
	if d := cmp.Diff(want, got, less); d != "" {
		t.Error(d)
	}
}

func TestInvalidWithinTheParser(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE TABLE t (a int PRIMARY KEY, b int PRIMARY KEY)":           "Multiple PRIMARY KEY specified for table 't' (exactly one required)",
		"CREATE TABLE ks.t (a int, a text)":                               "Duplicate column 'a' declaration for table 't'",
		"CREATE TABLE t (a int) WITH CLUSTERING ORDER BY (a ASC, a DESC)": "Duplicate column 'a' in CLUSTERING ORDER BY clause for table 't'",
	} {
		_, err := Parse(text)
		var e *SyntaxError
		if !errors.As(err, &e) || !e.Invalid || e.Message != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	for _, unit := range []string{"[", "(", "{", "{a:", "f(", "- ", "(int)", "CAST(", "(a = "} {
		for _, head := range []string{"SELECT ", "SELECT * FROM t WHERE a = ", "INSERT INTO t (a) VALUES (", "SELECT * FROM t WHERE "} {
			if _, err := Parse(head + strings.Repeat(unit, 100_000)); err == nil {
				t.Errorf("%s%s… parsed", head, unit)
			}
		}
	}
	if _, err := Parse("CREATE TABLE t (a " + strings.Repeat("list<", 100_000)); err == nil || !strings.Contains(err.Error(), "too deep") {
		t.Errorf("nested types: %v", err)
	}
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	if _, err := Parse("INSERT INTO t (a) VALUES (" + deep + ")"); err != nil {
		t.Errorf("a hundred lists: %v", err)
	}
}

// TestLongListsOfNames parses lists in which no name may come twice. Looking through all earlier
// names for each would take minutes.
func TestLongListsOfNames(t *testing.T) {
	const n = 200_000
	list := func(each, sep string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(sep)
			}
			b.WriteString(strings.ReplaceAll(each, "$", strconv.Itoa(i)))
		}
		return b.String()
	}
	for _, text := range []string{
		"UPDATE t SET " + list("c[1] = 1", ", ") + " WHERE k = 1",
		"CREATE TABLE t (k int PRIMARY KEY, " + list("c$ int", ", ") + ")",
		"CREATE TABLE t (k int PRIMARY KEY) WITH " + list("c$ = 1", " AND "),
		"CREATE TABLE t (k int PRIMARY KEY) WITH CLUSTERING ORDER BY (" + list("c$ ASC", ", ") + ")",
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("%.60s…: %v", text, err)
		}
	}
	for _, text := range []string{
		"UPDATE t SET c = 1, d = 1, c = c + 1 WHERE k = 1",
		"UPDATE t SET c = c + 1, d = 1, c = 1 WHERE k = 1",
		"UPDATE t SET c = 1, c[1] = 1 WHERE k = 1",
		"CREATE TABLE t (k int PRIMARY KEY) WITH a = 1 AND b = 1 AND a = 1",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "Multiple") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestMemoryFollowsLength parses long texts, both valid and invalid. It checks that the allocated
// memory is in proportion to their length.
func TestMemoryFollowsLength(t *testing.T) {
	const n = 200_000
	for _, text := range []string{
		"SELECT " + strings.Repeat("a,", n) + "a FROM t",
		"SELECT " + strings.Repeat("a.b[1],", n) + " FROM t",
		"SELECT a FROM t WHERE a IN (" + strings.Repeat("?,", n) + "1)",
		"SELECT (a)" + strings.Repeat("(b)", n) + " FROM t",
		"SELECT json " + strings.Repeat("json ", n),
		"UPDATE t SET " + strings.Repeat("+", n),
		"BEGIN BATCH " + strings.Repeat("DELETE FROM t WHERE a = 1;", n/10) + "APPLY BATCH",
		strings.Repeat(";", n), strings.Repeat("'", n), strings.Repeat("\n", n) + "SELECT", strings.Repeat("/**/", n),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = Parse(text)
		runtime.ReadMemStats(&after)
		const perByte = 256 // a token, its tree, and the garbage of growing slices
		if used := after.TotalAlloc - before.TotalAlloc; used > perByte*uint64(len(text)) {
			t.Errorf("%.20s…: %d bytes allocated for a text of %d", text, used, len(text))
		}
	}
}
