// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/datatype"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/internal/testkit/draws"
)

// TestMain sets a smaller default number of drawn histories than rapid's 100, because each costs a
// table on every target. A failure is printed as a script, so rapid's own file of it is not needed.
func TestMain(m *testing.M) {
	draws.Defaults(map[string]string{"rapid.checks": "30", "rapid.seed": "1", "rapid.nofailfile": "true"})
	os.Exit(m.Run())
}

// TestDifference checks that everything is compared that the package promises to compare.
func TestDifference(t *testing.T) {
	base := func() *Answer {
		return &Answer{
			Kind:     Rows,
			Warnings: []string{"w"},
			Columns:  []Column{{"ks", "t", "a", datatype.Int}, {"ks", "t", "b", datatype.NewList(datatype.Varchar)}},
			Rows:     [][][]byte{{{0, 0, 0, 1}, []byte("x")}, {{0, 0, 0, 2}, nil}},
		}
	}
	prepared := func() *Answer {
		a := base()
		a.Kind, a.Rows, a.Bind, a.PK = Prepared, nil, []Column{{"ks", "t", "p", datatype.Uuid}}, []uint16{0}
		return a
	}
	failed := func() *Answer { return &Answer{Kind: Error, Code: 0x2200, Text: "bad"} }
	for _, c := range []struct {
		name   string
		from   func() *Answer
		change func(*Answer)
		o      Comparison
		same   bool
	}{
		{"nothing", base, func(*Answer) {}, Comparison{}, true},
		{"order", base, func(a *Answer) { slices.Reverse(a.Rows) }, Comparison{}, false},
		{"order, unordered", base, func(a *Answer) { slices.Reverse(a.Rows) }, Comparison{Unordered: true}, true},
		{"a row less", base, func(a *Answer) { a.Rows = a.Rows[:1] }, Comparison{}, false},
		{"a row twice, unordered", base, func(a *Answer) { a.Rows[1] = a.Rows[0] }, Comparison{Unordered: true}, false},
		{"a row more", base, func(a *Answer) { a.Rows = append(a.Rows, a.Rows[0]) }, Comparison{}, false},
		{"a byte", base, func(a *Answer) { a.Rows[0][1] = []byte("y") }, Comparison{}, false},
		{"null and empty", base, func(a *Answer) { a.Rows[1][1] = []byte{} }, Comparison{}, false},
		{"a name", base, func(a *Answer) { a.Columns[0].Name = "z" }, Comparison{}, false},
		{"a table", base, func(a *Answer) { a.Columns[0].Table = "z" }, Comparison{}, false},
		{"an element's type", base, func(a *Answer) { a.Columns[1].Type = datatype.NewList(datatype.Ascii) }, Comparison{}, false},
		{"a list and a set", base, func(a *Answer) { a.Columns[1].Type = datatype.NewSet(datatype.Varchar) }, Comparison{}, false},
		{"a column more", base, func(a *Answer) { a.Columns = append(a.Columns, a.Columns[0]) }, Comparison{}, false},
		{"a warning", base, func(a *Answer) { a.Warnings = nil }, Comparison{}, false},
		{"a warning, sharded", base, func(a *Answer) { a.Warnings = []string{"write_sharding: dear"} }, Comparison{Sharded: true}, true},
		{"tombstones, sharded", base, func(a *Answer) {
			a.Warnings = []string{"Read 1 live rows and 1001 tombstone cells for query on ks.t (see tombstone_warn_threshold)"}
		}, Comparison{Sharded: true}, true},
		{"another warning, sharded", base, func(a *Answer) { a.Warnings = []string{"v"} }, Comparison{Sharded: true}, false},
		{"a page state", base, func(a *Answer) { a.State = []byte{1} }, Comparison{}, true},
		{"a kind", base, func(a *Answer) { a.Kind = Void }, Comparison{}, false},
		{"a prepared id", prepared, func(a *Answer) { a.ID = []byte{9} }, Comparison{}, true},
		{"a marker", prepared, func(a *Answer) { a.Bind[0].Name = "q" }, Comparison{}, false},
		{"the partition key's markers", prepared, func(a *Answer) { a.PK = nil }, Comparison{}, false},
		{"a code", failed, func(a *Answer) { a.Code = 0x2300 }, Comparison{}, false},
		{"a text", failed, func(a *Answer) { a.Text = "worse" }, Comparison{}, false},
		{"a text, code only", failed, func(a *Answer) { a.Text = "worse" }, Comparison{CodeOnly: true}, true},
		{"a code, code only", failed, func(a *Answer) { a.Code = 0 }, Comparison{CodeOnly: true}, false},
	} {
		want, got := c.from(), c.from()
		c.change(got)
		if d := Difference(want, got, c.o); (d == "") != c.same {
			t.Errorf("%s: difference %q", c.name, d)
		}
	}
}

func TestPagesDifference(t *testing.T) {
	for _, c := range []struct {
		want, got []int
		sharded   bool
		same      bool
	}{
		{[]int{2, 2, 1}, []int{2, 2, 1}, false, true},
		{[]int{2, 2, 1}, []int{2, 1, 2}, false, false},
		{[]int{2, 2, 1}, []int{2, 2, 1, 0}, true, true},
		{[]int{2, 2, 1}, []int{1, 1, 1, 1, 1}, true, false},
	} {
		if d := pagesDifference(c.want, c.got, c.sharded, false); (d == "") != c.same {
			t.Errorf("%v and %v: difference %q", c.want, c.got, d)
		}
	}
}

func TestWithSharding(t *testing.T) {
	s := &Session{Target: Target{Sharding: "{'shards': '3'}"}, Keyspace: "k"}
	for query, want := range map[string]string{
		"CREATE TABLE t (p int, c int, PRIMARY KEY (p, c))":                                  "CREATE TABLE t (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}",
		"create table $ks.t (p int, c int, primary key ((p), c)) with comment = 'x'":         "create table k.t (p int, c int, primary key ((p), c)) with comment = 'x' AND write_sharding = {'shards': '3'}",
		"CREATE TABLE t (p int, PRIMARY KEY (p))":                                            "",
		"CREATE TABLE t (a int, b int, PRIMARY KEY ((a, b)))":                                "",
		"CREATE TABLE t (p int PRIMARY KEY, v map<int, int>)":                                "",
		"CREATE TYPE t (a int, b int)":                                                       "",
		"SELECT * FROM t WHERE p = 1":                                                        "",
		"CREATE TABLE IF NOT EXISTS t (a int, b int, c int, v int, PRIMARY KEY ((a, b), c))": "CREATE TABLE IF NOT EXISTS t (a int, b int, c int, v int, PRIMARY KEY ((a, b), c)) WITH write_sharding = {'shards': '3'}",
	} {
		if want == "" {
			want = query
		}
		if got := s.text(query); got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestParseScript(t *testing.T) {
	s, err := ParseScript("x", `-- a comment
-- @@ttl
-- @@versions 5
CREATE TABLE t (p int,
  c int);
-- @error 2200
-- @bind 1, 'a, b', null
SELECT 1;
-- @placed t 3
BEGIN BATCH
  INSERT INTO t;
APPLY BATCH;`)
	if err != nil {
		t.Fatal(err)
	}
	want := &Script{Name: "x", TTL: true, Versions: []int{5}, Pages: []int32{1, 3, 100}, Steps: []Step{
		{Line: 4, Error: -1, Text: "CREATE TABLE t (p int,\n  c int)"},
		{Line: 8, Error: 0x2200, Bind: []string{"1", "'a, b'", "null"}, Text: "SELECT 1"},
		{Line: 9, Error: -1, PlacedTable: "t", PlacedMin: 3},
		{Line: 10, Error: -1, Text: "BEGIN BATCH\n  INSERT INTO t;\nAPPLY BATCH"},
	}}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"", "SELECT 1", "-- @nonsense\nSELECT 1;", "-- @@nonsense\nSELECT 1;", "-- @wait x\nSELECT 1;"} {
		if _, err := ParseScript("x", bad); err == nil {
			t.Errorf("%q is taken for a script", bad)
		}
	}
}

// TestHistoriesReplay checks that a drawn history can be read back from its printed form.
func TestHistoriesReplay(t *testing.T) {
	made := encodings{}
	for _, p := range valuePools {
		made[p.typ] = map[string][]byte{}
		for i, l := range p.literals {
			made[p.typ][l] = []byte{byte(i)}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawHistory(t, made, random, dealOf(rapid.IntRange(0, dealCondition*stapleDeals-1).Draw(t, "dealt"), random))
		read, err := ParseScript("history", drawn.Print())
		if err != nil {
			t.Fatalf("%v\n%s", err, drawn.Print())
		}
		for i := range read.Steps {
			read.Steps[i].Line = i + 1
		}
		read.Versions = nil
		if d := cmp.Diff(drawn, read); d != "" {
			t.Fatal(d)
		}
	})
}

func TestRefusalsList(t *testing.T) {
	path := t.TempDir() + "/refusals.txt"
	if err := os.WriteFile(path, []byte("# comment\na | 2200 | ^no .* here$ | because\nb|0|x|y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := ReadRefusals(path)
	if err != nil {
		t.Fatal(err)
	}
	no := &Answer{Kind: Error, Code: 0x2200, Text: "no such thing here"}
	if !r.Match("a", no) || r.Match("b", no) || r.Match("c", no) {
		t.Error("an error is not matched by its entry alone")
	}
	if got := strings.Join(r.Unmet(), " "); got != "b" {
		t.Errorf("unmet: %q, want b", got)
	}
	if id := r.Any(&Answer{Kind: Error, Code: 0x2300, Text: "no such thing here"}); id != "" {
		t.Errorf("another code is refusal %s", id)
	}
}

// TestContradicts runs scripts to whose last steps the judge answers the same each time, and not.
func TestContradicts(t *testing.T) {
	engine, _ := engines(t)
	all := []Target{{Name: "judge", Addr: engine}, {Name: "other", Addr: engine}}
	for text, want := range map[string]bool{
		"CREATE TABLE t (p int PRIMARY KEY, v uuid);\nINSERT INTO t (p, v) VALUES (1, uuid());\nSELECT v FROM t WHERE p = 1;":                 true,
		"CREATE TABLE t (p int PRIMARY KEY, v uuid);\nINSERT INTO t (p, v) VALUES (1, uuid());\n-- @error 2200\nSELECT p FROM t WHERE p = 1;": false,
	} {
		script, err := ParseScript("x", text)
		if err != nil {
			t.Fatal(err)
		}
		differences := 0
		r := &Runner{Sessions: openAll(t, all, primitive.ProtocolVersion5), Tally: &Tally{}, Log: t.Logf, Report: func(string, ...any) { differences++ }}
		r.Run(script)
		got, err := r.Contradicts(openAll(t, all[:1], primitive.ProtocolVersion5)[0])
		if differences != 1 || got != want || err != nil {
			t.Errorf("%s\n%d differences; contradicts %v, %v; want 1, %v", text, differences, got, err, want)
		}
	}
}
