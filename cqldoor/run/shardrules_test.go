// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/shardrules"
)

// ruledRouter makes a router of a door that was given rules, and its log. It is not started.
func ruledRouter(t *testing.T, st store.Store, file, text string, lease time.Duration, replace bool) (*Router, *bytes.Buffer) {
	t.Helper()
	var rules *shardrules.Rules
	if file != "" {
		s, err := shardrules.Parse(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rules = &s.CQL
	}
	log := new(bytes.Buffer)
	r := New(Options{
		Lease: lease, Store: st, Now: time.Now, Timeuuid: random, UUID: random, IntN: mathrand.IntN, Rules: rules, ReplaceRules: replace,
		Self: fleet.Door{CQL: file + ".door:9042"}, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	return r, log
}

func startRuled(t *testing.T, st store.Store, file, text string) (*Router, *bytes.Buffer) {
	t.Helper()
	r, log := ruledRouter(t, st, file, text, 0, true)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, log
}

// forget leaves the store without rules, for other tests on it.
func forget(t *testing.T, st store.Store) {
	t.Cleanup(func() {
		s := catalog.NewSession(st)
		defer s.Close()
		if _, err := s.Query(t.Context(), 6, "DROP TABLE IF EXISTS evenkeel.shard_rules"); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
}

const plainBlogs = "CREATE TABLE %s.%s (day date, title text, words int, PRIMARY KEY (day, title))"

// A CREATE TABLE without write_sharding makes a sharded table if a rule says so, and only then.
func TestRuleShardsTable(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		forget(t, st)
		first := newScene(t, st)
		ks := first.keyspace
		r, _ := startRuled(t, st, "rules.yaml", fmt.Sprintf("%s.blogs: {shards: 7, by: [title]}\n%[1]s.log_*: {shards: 3}\n%[1]s.log_small: plain\n", ks))
		s := &scene{t: t, store: st, router: r, keyspace: ks}
		at := serveDoor(t, st, r)
		s.v4, s.v5 = dial(t, at, 4), dial(t, at, 5)

		create := func(table, with string) *difftest.Answer {
			return s.must(s.v5, fmt.Sprintf(plainBlogs, ks, table)+with)
		}
		shardsOf := func(table string) int {
			if t := r.state.Load().Table(ks, table); t != nil {
				return t.Layout.N
			}
			return 0
		}
		for _, c := range []struct {
			table, with string
			want        int
		}{
			{"blogs", "", 7}, {"log_a", " WITH comment = 'x' AND CLUSTERING ORDER BY (title DESC)", 3}, {"log_small", "", 0}, {"other", "", 0},
			{"log_b", " WITH write_sharding = {'shards': '2'}", 2}, // the statement goes before the rule
		} {
			a := create(c.table, c.with)
			if got := shardsOf(c.table); got != c.want {
				t.Errorf("%s has %d shards, want %d", c.table, got, c.want)
			}
			warned := strings.Contains(fmt.Sprint(a.Warnings), "by the shard rule")
			if warned != (c.want > 2) {
				t.Errorf("%s: the warnings are %q", c.table, a.Warnings)
			}
		}
		// It is as if the property had been written: DESCRIBE shows it, and rows spread.
		if a := s.must(s.v5, "DESCRIBE TABLE "+ks+".blogs"); !strings.Contains(fmt.Sprintf("%s", a.Rows), "write_sharding = {'by': 'title'") {
			t.Errorf("it is described as %s", a.Rows)
		}
		for i := range 50 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s.blogs (day, title, words) VALUES ('2020-07-09', 't%d', %d)", ks, i, i))
		}
		used := map[string]bool{}
		for _, row := range first.must(first.direct, "SELECT shard FROM "+ks+".blogs").Rows {
			used[fmt.Sprint(row)] = true
		}
		if len(used) < 3 {
			t.Errorf("the rows are in %d partitions", len(used))
		}
		// Again, and prepared.
		if a := s.query(s.v5, fmt.Sprintf(plainBlogs, ks, "blogs")); a.Kind != difftest.Error || !strings.Contains(a.Text, "already exist") {
			t.Errorf("a second time: %v %s", a.Kind, a.Text)
		}
		s.must(s.v5, fmt.Sprintf(strings.Replace(plainBlogs, "TABLE", "TABLE IF NOT EXISTS", 1), ks, "blogs"))
		for table, want := range map[string]int{"log_p": 3, "plain_p": 0} {
			p, err := s.v4.Prepare(fmt.Sprintf(plainBlogs, ks, table))
			if err != nil || p.Kind == difftest.Error {
				t.Fatal(err, p)
			}
			if a, err := s.v4.Execute(p, difftest.Request{}); err != nil || a.Kind == difftest.Error {
				t.Fatal(err, a)
			}
			if got := shardsOf(table); got != want {
				t.Errorf("prepared, %s has %d shards, want %d", table, got, want)
			}
		}
		// The door without a file goes by the same rules: they are in the store.
		other, _ := startRuled(t, st, "", "")
		o := dial(t, serveDoor(t, st, other), 5)
		s.must(o, fmt.Sprintf(plainBlogs, ks, "log_o"))
		if tab := other.state.Load().Table(ks, "log_o"); tab == nil || tab.Layout.N != 3 {
			t.Errorf("at a door without a file log_o is %v", tab)
		}
	})
}

// A rule that cannot be applied to the table refuses the statement, and says where it is.
func TestRuleThatDoesNotFitIsRefused(t *testing.T) {
	st := embedded(t)
	r, _ := startRuled(t, st, "rules.yaml", "fit.*: {shards: 3}\nfit.by_words: {shards: 2, by: words}\nfit.lacks: {shards: 2, by: author}\n'fi?.tied': {shards: 1}\n'f?t.tied': {shards: 2}\n")
	s := &scene{t: t, store: st, router: r, keyspace: "fit", v5: dial(t, serveDoor(t, st, r), 5)}
	s.must(s.v5, "CREATE KEYSPACE fit WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for _, c := range []struct{ text, want string }{
		{"CREATE TABLE fit.single (a int PRIMARY KEY)", "no clustering column"},
		{fmt.Sprintf(plainBlogs, "fit", "by_words"), "'by' names words, which is not part of the primary key"},
		{fmt.Sprintf(plainBlogs, "fit", "lacks"), "'by' names author, which is not a column of the table"},
	} {
		a := s.query(s.v5, c.text)
		if a.Kind != difftest.Error || !strings.Contains(a.Text, c.want) || !strings.Contains(a.Text, "(rules.yaml:") || !strings.Contains(a.Text, "plain") {
			t.Errorf("%s: %s", c.text, a.Text)
		}
	}
	if a := s.query(s.v5, fmt.Sprintf(plainBlogs, "fit", "tied")); a.Kind != difftest.Error || !strings.Contains(a.Text, "rules.yaml:4") || !strings.Contains(a.Text, "rules.yaml:5") {
		t.Errorf("two rules that are as specific: %s", a.Text)
	}
	// What is wrong with the statement itself is said as without rules.
	if a := s.query(s.v5, "CREATE TABLE fit.wrong (a int, PRIMARY KEY (b))"); a.Kind != difftest.Error || strings.Contains(a.Text, "rule") {
		t.Errorf("a wrong statement: %s", a.Text)
	}
}

// An application that knows nothing of sharding may guard rows by a condition on another row, in
// one BATCH. The client that creates such a table must get a warning about that. The door must
// refuse such a BATCH as a whole.
func TestRuleAgainstFence(t *testing.T) {
	st := embedded(t)
	r, _ := startRuled(t, st, "rules.yaml", "queues.tasks: {shards: 8}\nqueues.names: {shards: 8, strategy: random}\n")
	s := &scene{t: t, store: st, router: r, keyspace: "queues", v5: dial(t, serveDoor(t, st, r), 5)}
	s.must(s.v5, "CREATE KEYSPACE queues WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for text, want := range map[string]string{
		"CREATE TABLE queues.tasks (queue text, type int, id bigint, range_id bigint, task text, PRIMARY KEY (queue, type, id))": "where a condition on one row guards other rows of the BATCH, the table is not for sharding",
		"CREATE TABLE queues.names (name text PRIMARY KEY, owner text)":                                                          "conditions (IF) are refused",
	} {
		if a := s.must(s.v5, text); !strings.Contains(fmt.Sprint(a.Warnings), want) {
			t.Errorf("%s: the warnings are %q", text, a.Warnings)
		}
	}
	s.must(s.v5, "INSERT INTO queues.tasks (queue, type, id, range_id) VALUES ('q', 1, -1, 7)")
	batch := "BEGIN BATCH"
	for i := range 9 {
		batch += fmt.Sprintf(" INSERT INTO queues.tasks (queue, type, id, task) VALUES ('q', 0, %d, 'task');", i)
	}
	batch += " UPDATE queues.tasks SET range_id = 7 WHERE queue = 'q' AND type = 1 AND id = -1 IF range_id = 7; APPLY BATCH"
	if a := s.query(s.v5, batch); a.Kind != difftest.Error || !strings.Contains(a.Text, "where a condition on one row guards the others, the table is not for sharding") {
		t.Errorf("rows and their fence in one BATCH: %v %s", a.Kind, a.Text)
	}
	if a := s.must(s.v5, "SELECT id FROM queues.tasks WHERE queue = 'q' AND type = 0"); len(a.Rows) != 0 {
		t.Errorf("of the refused BATCH there are the rows %v", a.Rows)
	}
	// The condition by itself holds.
	s.must(s.v5, "UPDATE queues.tasks SET range_id = 8 WHERE queue = 'q' AND type = 1 AND id = -1 IF range_id = 7")
}

// Two doors with different files must not serve one store together.
func TestDifferentRulesAreRefused(t *testing.T) {
	st := embedded(t)
	lease := 200 * time.Millisecond
	start := func(file, text string, replace bool) (string, error) {
		r, log := ruledRouter(t, st, file, text, lease, replace)
		err := r.Start(t.Context())
		if err == nil {
			r.Close()
		} else {
			r.schema.Session.Close()
		}
		return log.String(), err
	}
	if _, err := start("a.yaml", "k.t: {shards: 2}", false); err != nil {
		t.Fatal(err)
	}
	if _, err := start("same.yaml", "# the same\nK.T: {shards: '2'}", false); err != nil {
		t.Errorf("the same rules: %v", err)
	}
	if _, err := start("", "", false); err != nil {
		t.Errorf("no rules: %v", err)
	}
	_, err := start("b.yaml", "\nk.t: {shards: 3}", false)
	if err == nil || !strings.Contains(err.Error(), "k.t is {shards: 3} in b.yaml:2 and {shards: 2} in a.yaml:1") || !strings.Contains(err.Error(), "a.yaml.door:9042") {
		t.Errorf("other rules: %v", err)
	}
	if _, err := start("none.yaml", "", false); err == nil {
		t.Error("a file without rules is taken for the same as rules")
	}
	log, err := start("b.yaml", "k.t: {shards: 3}", true)
	if err != nil || !strings.Contains(log, "were replaced") {
		t.Errorf("rules that are to be replaced: %v, %s", err, log)
	}
	if _, err := start("b.yaml", "k.t: {shards: 3}", false); err != nil {
		t.Errorf("the new rules: %v", err)
	}
}

// Tables that are older than a rule stay as they are, and the log says so.
func TestOlderTablesAreNamed(t *testing.T) {
	st := embedded(t)
	start := func(text string) (log string, query func(string)) {
		r, buffer := ruledRouter(t, st, "r.yaml", text, 0, false)
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		log = buffer.String()
		t.Cleanup(r.Close)
		c := dial(t, serveDoor(t, st, r), 5)
		s := &scene{t: t}
		return log, func(text string) { s.must(c, text) }
	}
	log, query := start("old.ruled: {shards: 4}")
	if strings.Contains(log, "level=WARN") {
		t.Errorf("it warns of nothing: %s", log)
	}
	query("CREATE KEYSPACE old WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	query(fmt.Sprintf(plainBlogs, "old", "ruled"))
	query(fmt.Sprintf(plainBlogs, "old", "plain"))
	query(fmt.Sprintf(plainBlogs, "old", "own") + " WITH write_sharding = {'shards': '2'}")
	if log, _ = start("old.ruled: {shards: 4}"); strings.Contains(log, "level=WARN") {
		t.Errorf("it warns though nothing has changed: %s", log)
	}
	log, query = start("old.*: {shards: 5}")
	for _, want := range []string{
		"table=old.plain", "is not sharded", "create a new table WITH write_sharding = {'shards': '5'} and copy the rows",
		"table=old.ruled", "was sharded by the rule old.ruled (r.yaml:1)", "ALTER TABLE old.ruled WITH write_sharding = {'shards': '5'}",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "old.own") {
		t.Errorf("a table that its own statement declares is named: %s", log)
	}
	query("INSERT INTO old.ruled (day, title) VALUES ('2020-07-09', 'x')")
}
