// SPDX-License-Identifier: Apache-2.0

package shardrules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const good = `
# what is hot
tracker.blogs: {shards: 200}
jaeger.*:
  shards: "20"
  by: [start_time, '"Trace"']
jaeger.service_names: plain
'"Case".T': {strategy: random, shards: 3}
dynamodb:
  Invoices:
    shards: 5
    indexes:
      by_customer: {shards: 4, keys: single}
  Logs-*: {indexes: {by-level: {shards: 8}}}
`

func TestParse(t *testing.T) {
	s, err := Parse("rules.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range []*Rules{&s.CQL, &s.DynamoDB} {
		for i := range r.Rules {
			got = append(got, r.Where(&r.Rules[i])+" "+r.Rules[i].String())
		}
	}
	want := []string{
		`rules.yaml:3 tracker.blogs: {shards: 200}`,
		`rules.yaml:4 jaeger.*: {by: 'start_time, "Trace"', shards: 20}`,
		`rules.yaml:7 jaeger.service_names: plain`,
		`rules.yaml:8 "Case".T: {shards: 3, strategy: random}`,
		`rules.yaml:10 Invoices: {shards: 5, indexes: {by_customer: {keys: single, shards: 4}}}`,
		`rules.yaml:14 Logs-*: {indexes: {by-level: {shards: 8}}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if tag := Tag(s.DynamoDB.Rules[0].Indexes[0].Options); tag != "keys=single shards=4" {
		t.Errorf("the index's tag is %q", tag)
	}
}

// A configuration file may have the rules, too.
func TestParseInsideAConfiguration(t *testing.T) {
	s, err := Parse("c.yaml", []byte("listen-cql: 'off'\nshard-rules:\n  a.b: {shards: 2}\n"))
	if err != nil || s.CQL.Len() != 1 || s.CQL.Rules[0].Line != 3 {
		t.Errorf("%v %v", s, err)
	}
}

func TestNoRules(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}", "dynamodb:", "shard-rules:", "---\n", "null"} {
		if s, err := Parse("r", []byte(text)); err != nil || s.CQL.Len()+s.DynamoDB.Len() != 0 {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

func TestFaultsAreNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a.b: {shads: 2}", "r.yaml:1: a.b: unknown option 'shads'"},
		{"\na.b: {shards: many}", "r.yaml:2: a.b: 'shards' is 'many'; it must be a whole number"},
		{"a.b:\n  strategy: random\n  by: x\n  shards: 0", "r.yaml:4: a.b: 'shards' is '0'"},
		{"a.b: {}", "r.yaml:1: a.b: a rule is {shards: N}"},
		{"a.b:", "r.yaml:1: a.b: a rule is {shards: N}"},
		{"a.b: 200", "r.yaml:1: a.b: a rule is {shards: N}"},
		{"a.b: {shards: [1]}", "r.yaml:1: a.b: option shards: its value is a number or a text"},
		{"a.b: {by: [[x]], shards: 2}", "option by: each of the list is a name"},
		{"a.b: {by: x}", "the number of shards is missing"},
		{"blogs: {shards: 2}", "r.yaml:1: blogs: the name has no keyspace; write KEYSPACE.TABLE, and put DynamoDB tables under the key dynamodb"},
		{"a.b.c: {shards: 2}", "more than two parts"},
		{"a.: {shards: 2}", "a part of the name is empty"},
		{"a.b[12]: {shards: 2}", `"[" cannot be part of the name of a CQL table`},
		{`'"a.b': {shards: 2}`, `"." cannot be part of the name`},
		{`'"a': {shards: 2}`, "a double quote is not closed"},
		{"a.b: {shards: 2}\nA.B: {shards: 3}", "r.yaml:2: A.B: there is a rule for it already, in line 1; keep one"},
		{"a.b: {shards: 2}\na.b: {shards: 3}", "r.yaml:2: mapping key \"a.b\" already defined"},
		{"- a.b", "r.yaml:1: rules are written as NAME: {shards: N}"},
		{"a.b: {shards: 2", "r.yaml:1: "},
		{"? [a]\n: {shards: 1}", "r.yaml:2: found an invalid key for this map"},
		{"a.b: {shards: 2}\n---\na.c: {shards: 2}", "several YAML documents"},
		{"dynamodb: {'a b': {shards: 2}}", `r.yaml:1: a b: " " cannot be part of the name of a DynamoDB table`},
		{"dynamodb: {Ab: {}}", "r.yaml:1: Ab: a rule is {shards: N}"},
		{"dynamodb: {Ab: {indexes: {'x*': {shards: 2}}}}", `r.yaml:1: Ab: x*: "*" cannot be part of the name of an index`},
		{"dynamodb: 5", "the rules for DynamoDB tables are written as"},
	} {
		_, err := Parse("r.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
	// All at once.
	_, err := Parse("r.yaml", []byte("a.b: {shards: 0}\nc: {shards: 2}\nd.e: {nonsense: 1}\n"))
	if err == nil || strings.Count(err.Error(), "r.yaml:") != 3 {
		t.Errorf("got %v", err)
	}
}

func TestWhichRuleHolds(t *testing.T) {
	s, err := Parse("r", []byte(`
ks.tag_index: {shards: 1}
ks.tag_*: {shards: 2}
ks.*: {shards: 3}
'*.tag_zzz': {shards: 4}
'?s.x_index': {shards: 5}
'k?.x_index': {shards: 6}
'"Ks".t': {shards: 7}
dynamodb: {A.b: {shards: 1}, 'A.*': {shards: 2}, '*': {shards: 3}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ keyspace, table, want string }{
		{"ks", "tag_index", "1"}, {"ks", "tag_other", "2"}, {"ks", "t", "3"}, {"other", "tag_zzz", "4"}, {"other", "t", ""},
		{"Ks", "t", "7"}, {"KS", "t", ""}, {"ks", "tag_zzz", "4"},
	} {
		r, err := s.CQL.OfCQL(c.keyspace, c.table)
		if got := shards(r); got != c.want || err != nil {
			t.Errorf("%s.%s: %s, %v; want %s", c.keyspace, c.table, got, err, c.want)
		}
	}
	if _, err := s.CQL.OfCQL("ks", "x_index"); err == nil || !strings.Contains(err.Error(), "?s.x_index (r:6)") || !strings.Contains(err.Error(), "k?.x_index (r:7)") {
		t.Errorf("two that are as specific: %v", err)
	}
	for table, want := range map[string]string{"A.b": "1", "A.c": "2", "Ab": "3"} {
		r, err := s.DynamoDB.OfDynamoDB(table)
		if got := shards(r); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", table, got, err, want)
		}
	}
	var none *Rules
	if r, err := none.OfCQL("a", "b"); r != nil || err != nil || none.Len() != 0 {
		t.Error("no rules have a rule")
	}
}

func shards(r *Rule) string {
	if r == nil {
		return ""
	}
	return r.Options["shards"]
}

func TestDifference(t *testing.T) {
	parse := func(file, text string) *Rules {
		s, err := Parse(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return &s.CQL
	}
	a := parse("a.yaml", "a.b: {shards: 2}\nc.d: {shards: 3}")
	for _, c := range []struct {
		b    *Rules
		want string
	}{
		{parse("b.yaml", "\nc.d: {shards: 3}\nA.B: {shards: 2}"), ""},
		{parse("b.yaml", "\nc.d: {shards: 4}\na.b: {shards: 2}"), "c.d is {shards: 3} in a.yaml:2 and {shards: 4} in b.yaml:2"},
		{parse("b.yaml", "a.b: {shards: 2}"), "c.d is in a.yaml:2 and not in b.yaml"},
		{parse("b.yaml", "a.b: {shards: 2}\nc.d: {shards: 3}\nx.y: plain"), "x.y is in b.yaml:3 and not in a.yaml"},
		{nil, "a.b is in a.yaml:1 and not in the other rules"},
	} {
		if got := Difference(a, c.b); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestStoredRulesAreTheSame(t *testing.T) {
	s, err := Parse("rules.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Rules{&s.CQL, &s.DynamoDB, {}} {
		back, err := Decode(Encode(r))
		if err != nil || Difference(r, back) != "" || Difference(back, r) != "" || back.File != r.File || back.Len() != r.Len() {
			t.Errorf("%v: %s", err, Difference(r, back))
		}
		if again := string(Encode(back)); again != string(Encode(r)) {
			t.Errorf("got %s", again)
		}
	}
	if _, err := Decode([]byte("{")); err == nil {
		t.Error("what is cut is taken")
	}
}

// TestMatchIsThatOfTheSlowOne holds the matcher to the definition.
func TestMatchIsThatOfTheSlowOne(t *testing.T) {
	var slow func(p, n string) bool
	slow = func(p, n string) bool {
		switch {
		case p == "":
			return n == ""
		case p[0] == '*':
			return slow(p[1:], n) || n != "" && slow(p, n[1:])
		}
		return n != "" && (p[0] == '?' || p[0] == n[0]) && slow(p[1:], n[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.StringOfN(rapid.RuneFrom([]rune("ab*?")), 0, 8, -1).Draw(t, "pattern")
		n := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 8, -1).Draw(t, "name")
		if got := match(p, n); got != slow(p, n) {
			t.Fatalf("match(%q, %q) is %v", p, n, got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{good, "a.b: {shards: 2}", "a: &x {b: *x}", "dynamodb:\n  A: plain", "? a\n: b", "!!binary a: |\n  x", "shard-rules: [", "{{", "a.b:\n\t- c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", []byte(text))
		if err != nil {
			if !strings.Contains(err.Error(), "f:") {
				t.Errorf("%q: an error without its place: %v", text, err)
			}
			return
		}
		for _, r := range []*Rules{&s.CQL, &s.DynamoDB} {
			back, err := Decode(Encode(r))
			if err != nil || Difference(r, back) != "" {
				t.Fatalf("%q: %v %s", text, err, Difference(r, back))
			}
			for i := range r.Rules {
				_ = fmt.Sprint(r.Rules[i].String(), r.Label(&r.Rules[i]))
				if _, err := r.find(r.names[i].space, r.names[i].name); err != nil && !strings.Contains(err.Error(), "more specific") {
					t.Errorf("%q: %v", text, err)
				}
			}
		}
	})
}
