// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/reshard"
)

// lived is a table that clients use while its layout changes. Each worker has its own rows, so that
// it knows what every read must return. Nobody changes some other rows.
type lived struct {
	t      *testing.T
	own    *catalog.StoreSession // past the doors
	table  string
	doors  []*gocql.Session
	mu     sync.Mutex
	faults []string
	stop   chan struct{}
	ops    int
	scale  int64 // the values of column c are multiples of it; 0: of 1

	unknown int // writes that were under way when another door learned of a step; repeated
}

// newLived creates table lived.t, behind one door of its own on a store. with follows CREATE TABLE.
func newLived(t *testing.T, st store.Store, with string) *lived {
	t.Helper()
	s := session(t, serveDoor(t, st, startRouter(t, st)), 4)
	l := livedAt(t, st, s)
	exec(t, s, "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c))"+with)
	return l
}

// c returns the value of column c of a row.
func (l *lived) c(row int) int64 { return max(1, l.scale) * int64(row) }

// row is the inverse of c.
func (l *lived) row(c int64) int { return int(c / max(1, l.scale)) }

// livedAt creates keyspace lived at the first of some doors.
func livedAt(t *testing.T, st store.Store, doors ...*gocql.Session) *lived {
	t.Helper()
	exec(t, doors[0], "DROP KEYSPACE IF EXISTS lived")
	exec(t, doors[0], "CREATE KEYSPACE lived WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	own := catalog.NewSession(st)
	t.Cleanup(own.Close)
	t.Cleanup(func() { exec(t, doors[0], "DROP KEYSPACE lived") })
	return &lived{t: t, own: own, table: "lived.t", doors: doors}
}

// query executes a statement at the store.
func (l *lived) query(text string) []catalog.Row {
	l.t.Helper()
	rows, err := l.own.Query(l.t.Context(), wire.LocalQuorum, text)
	if err != nil {
		l.t.Fatal(err)
	}
	return rows
}

// tables returns the names of the physical tables, in order.
func (l *lived) tables() string {
	l.t.Helper()
	var all []string
	for _, r := range l.query("SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'lived'") {
		all = append(all, string(r["table_name"]))
	}
	return strings.Join(all, " ")
}

// entry returns the table's entry in the catalogue. What a door knows of it can be older.
func (l *lived) entry() *catalog.Entry {
	l.t.Helper()
	entries, _, err := catalog.New(catalog.Options{Session: l.own, Now: time.Now, UUID: random}).Load(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	i := slices.IndexFunc(entries, func(e *catalog.Entry) bool { return e.String() == l.table })
	if i < 0 {
		l.t.Fatalf("table %s has no entry", l.table)
	}
	return entries[i]
}

// write repeats a write until its outcome is known.
func (l *lived) write(s *gocql.Session, text string, values ...any) error {
	for {
		err := s.Query(text, values...).Exec()
		if err == nil || !strings.Contains(err.Error(), "it may have been applied or not") && !strings.Contains(err.Error(), doorStoodStill) {
			return err
		}
		l.mu.Lock()
		l.unknown++
		l.mu.Unlock()
	}
}

// doorStoodStill is part of the answers to what a door forwarded to a plain table before it stood still.
const doorStoodStill = "another door began to shard a table"

const livedKeys, livedRows, livedSteady = 3, 12, 40

type cells struct {
	v string
	n *int
}

func (l *lived) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.faults) < 10 {
		l.faults = append(l.faults, fmt.Sprintf(format, args...))
	}
}

// work runs one client until it is told to stop, and then compares all its rows.
func (l *lived) work(worker int, r *rand.Rand) {
	model := map[[2]int]cells{}
	base := 1000 * (worker + 1)
	for running := true; running; {
		select {
		case <-l.stop:
			running = false
		default:
		}
		s := l.doors[r.IntN(len(l.doors))]
		p, c := r.IntN(livedKeys), base+r.IntN(livedRows)
		at := [2]int{p, c}
		var err error
		what := ""
		switch k := r.IntN(10); {
		case k < 3:
			n := r.IntN(100)
			what = fmt.Sprintf("insert %v", at)
			err = l.write(s, "INSERT INTO "+l.table+" (p, c, v, n) VALUES (?, ?, ?, ?)", p, l.c(c), fmt.Sprint(n), n)
			model[at] = cells{fmt.Sprint(n), &n}
		case k < 4:
			if _, there := model[at]; !there {
				continue
			}
			what = fmt.Sprintf("null %v", at)
			err = l.write(s, "UPDATE "+l.table+" SET n = null WHERE p = ? AND c = ?", p, l.c(c))
			model[at] = cells{model[at].v, nil}
		case k < 5:
			what = fmt.Sprintf("delete %v", at)
			err = l.write(s, "DELETE FROM "+l.table+" WHERE p = ? AND c = ?", p, l.c(c))
			delete(model, at)
		case k < 6 && r.IntN(4) == 0:
			what = fmt.Sprintf("delete range of %d", p)
			err = l.write(s, "DELETE FROM "+l.table+" WHERE p = ? AND c >= ? AND c < ?", p, l.c(base), l.c(base+livedRows))
			for i := range livedRows {
				delete(model, [2]int{p, base + i})
			}
		case k < 8:
			var v string
			var n *int
			err = s.Query("SELECT v, n FROM "+l.table+" WHERE p = ? AND c = ?", p, l.c(c)).Scan(&v, &n)
			want, there := model[at]
			switch {
			case err == gocql.ErrNotFound && there:
				l.fault("row %v is not there; it should be %v", at, want)
				err = nil
			case err == gocql.ErrNotFound:
				err = nil
			case err == nil && (!there || v != want.v || (n == nil) != (want.n == nil) || n != nil && *n != *want.n):
				l.fault("row %v is %s %v; it should be %v, %v", at, v, n, want, there)
			}
		default:
			err = l.compare(s, p, base, model)
		}
		stoodStill := err != nil && strings.Contains(err.Error(), doorStoodStill) // of a read; another one follows
		if err != nil && !stoodStill {
			l.fault("%s: %v", what, err)
		}
		l.mu.Lock()
		if stoodStill {
			l.unknown++
		}
		l.ops++
		l.mu.Unlock()
	}
	for _, s := range l.doors {
		for p := range livedKeys {
			if err := l.compare(s, p, base, model); err != nil {
				l.fault("%v", err)
			}
		}
	}
}

// compare reads a worker's rows of one partition, in order, and compares them with the model.
func (l *lived) compare(s *gocql.Session, p, base int, model map[[2]int]cells) error {
	it := s.Query("SELECT c, v, n FROM "+l.table+" WHERE p = ? AND c >= ? AND c < ?", p, l.c(base), l.c(base+1000)).PageSize(5).Iter()
	var at int64
	var v string
	var n *int
	seen, last := 0, 0
	for it.Scan(&at, &v, &n) {
		c := l.row(at)
		want, there := model[[2]int{p, c}]
		if !there || v != want.v || (n == nil) != (want.n == nil) || n != nil && *n != *want.n || c <= last {
			l.fault("a scan of %d shows %d %s %v after %d; it should be %v, %v", p, c, v, n, last, want, there)
		}
		seen, last = seen+1, c
		n = nil
	}
	wanted := 0
	for at := range model {
		if at[0] == p {
			wanted++
		}
	}
	err := it.Close()
	if err == nil && seen != wanted {
		l.fault("a scan of %d shows %d rows; they should be %d", p, seen, wanted)
	}
	return err
}

// scan reads the whole table and checks that the rows that nobody changes are there once each.
func (l *lived) scan(s *gocql.Session) {
	it := s.Query("SELECT p, c FROM " + l.table).PageSize(7).Iter()
	seen := map[[2]int]int{}
	var p int
	var at int64
	for it.Scan(&p, &at) {
		if c := l.row(at); c < livedSteady {
			seen[[2]int{p, c}]++
		}
	}
	switch err := it.Close(); {
	case err != nil && (strings.Contains(err.Error(), "Invalid value for the paging state") || strings.Contains(err.Error(), doorStoodStill)):
		return // the scan began before the change and went by places that no longer exist: refused, not wrong
	case err != nil:
		l.fault("scan: %v", err)
		return
	}
	for p := range livedKeys {
		for c := range livedSteady {
			if n := seen[[2]int{p, c}]; n != 1 {
				l.fault("a scan shows row %d %d %d times", p, c, n)
			}
		}
	}
}

// status asks a door for the progress of a change.
func (l *lived) status() (s reshard.Status) {
	l.t.Helper()
	var text string
	if err := l.doors[0].Query("ALTER TABLE " + l.table + " WITH write_sharding = {'change': 'status'}").Scan(&text); err != nil {
		l.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		l.t.Fatal(err)
	}
	return s
}

// change changes the table's number of shards and waits until the change is over.
func (l *lived) change(ctx context.Context, shards string, orders ...string) {
	l.t.Helper()
	exec(l.t, l.doors[0], "ALTER TABLE "+l.table+" WITH write_sharding = {"+shards+"}")
	for _, o := range orders {
		var text string
		if err := l.doors[len(l.doors)-1].Query("ALTER TABLE " + l.table + " WITH write_sharding = {'change': '" + o + "'}").Scan(&text); err != nil {
			l.t.Fatalf("%s: %v", o, err)
		}
	}
	l.end(ctx)
}

// end waits until the change is over.
func (l *lived) end(ctx context.Context) {
	l.t.Helper()
	for s := l.status(); s.Phase != reshard.NoPhase; s = l.status() {
		if ctx.Err() != nil {
			l.t.Fatalf("the change does not end: %+v", s)
		}
		if s.Problem != "" {
			l.t.Fatalf("%+v", s)
		}
		l.scan(l.doors[0])
	}
}

func (l *lived) live(workers int, during func()) {
	l.t.Helper()
	for p := range livedKeys {
		for c := range livedSteady {
			exec(l.t, l.doors[0], "INSERT INTO "+l.table+" (p, c, v, n) VALUES (?, ?, 'steady', 1)", p, l.c(c))
		}
	}
	l.stop = make(chan struct{})
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { l.work(w, rand.New(rand.NewPCG(7, uint64(w)))) })
	}
	func() {
		defer func() {
			close(l.stop)
			all.Wait()
		}()
		during()
	}()
	for _, s := range l.doors {
		l.scan(s)
	}
	if len(l.faults) > 0 {
		l.t.Errorf("%d operations:\n%s", l.ops, strings.Join(l.faults, "\n"))
	}
	if len(l.doors) == 1 && l.unknown > 0 {
		l.t.Errorf("the outcome of %d writes was not known, though there is one door", l.unknown)
	}
	l.t.Logf("%d operations, %d of unknown outcome", l.ops, l.unknown)
}

// TestLiveChange changes the layout of a table that clients read and write all the time. No request
// fails, and every answer equals that of a table that does not change.
func TestLiveChange(t *testing.T) { onStores(t, liveChange) }

func liveChange(t *testing.T, st store.Store) {
	l := newLived(t, st, " WITH write_sharding = {'shards': '4'}")
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	l.live(4, func() {
		l.change(ctx, "'shards': '7'")
		l.change(ctx, "'shards': '3'")
		l.change(ctx, "'shards': '6'", "pause", "resume")
		l.change(ctx, "'shards': '9'", "rollback")
		if s := l.status(); s.Result != reshard.ResultTakenBack {
			t.Errorf("after it was taken back: %+v", s)
		}
		l.change(ctx, "'shards': '9', 'hash': 'murmur3'")
	})
	last := l.status()
	if last.Result != reshard.ResultDone || last.RowsTotal == 0 || last.RowsMoved == 0 || last.RowsVerified == 0 || last.RowsMoved > last.RowsTotal || last.RowsVerified > last.RowsTotal ||
		last.Began.IsZero() || !last.Ended.After(last.Began) || last.From != 9 || last.To != 9 {
		t.Errorf("after the last change: %+v", last)
	}
	if e := l.entry(); e.Layout.N != 9 || e.Layout.Base == 0 || e.Change != nil {
		t.Errorf("%v %+v", e.Layout, e.Change)
	}
}

// TestLiveChangeOfOneKey gives single keys of a table in use their own numbers of shards: the rows
// of other keys stay at their places.
func TestLiveChangeOfOneKey(t *testing.T) { onStores(t, liveChangeOfOneKey) }

func liveChangeOfOneKey(t *testing.T, st store.Store) {
	l := newLived(t, st, " WITH write_sharding = {'shards': '1'}")
	places := func() map[int64]map[int64]bool {
		out := map[int64]map[int64]bool{}
		for _, r := range l.query("SELECT p, shard FROM lived.t") {
			if out[r.Int("p")] == nil {
				out[r.Int("p")] = map[int64]bool{}
			}
			out[r.Int("p")][r.Int("shard")] = true
		}
		return out
	}
	within := func(p, low, high int64) {
		t.Helper()
		at := places()[p]
		for n := range at {
			if n < low || n > high {
				t.Errorf("rows of key %d are in shard %d, which is not from %d to %d", p, n, low, high)
			}
		}
		if len(at) < 2 && high > low {
			t.Errorf("all rows of key %d are in one of the shards %d to %d", p, low, high)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	l.live(3, func() {
		l.change(ctx, "'key': '1', 'shards': '8'") // grows at its place
		within(1, 1, 8)
		within(0, 1, 1)
		l.change(ctx, "'key': '2', 'shards': '4'") // takes places that no key had
		within(2, 9, 12)
		l.change(ctx, "'key': '1', 'shards': '2'", "rollback")
		within(1, 1, 8)
		l.change(ctx, "'key': '1', 'shards': '2'")
		within(1, 15, 16)
		within(0, 1, 1)
	})
	if s := l.status(); s.Keys != 2 || s.RowsMoved == 0 || s.RowsMoved > s.RowsTotal {
		t.Errorf("%+v", s)
	}
	s := l.doors[0]
	exec(t, s, "CREATE TABLE lived.days (day date, c int, v text, PRIMARY KEY (day, c)) WITH write_sharding = {'shards': '2', 'epochs': '4 from 2199-01-01'}")
	if err := s.Query("ALTER TABLE lived.days WITH write_sharding = {'key': '2020-07-10', 'shards': '3'}").Exec(); err == nil || !strings.Contains(err.Error(), "epochs of keys") {
		t.Errorf("%v", err)
	}
	for options, why := range map[string]string{
		"'key': '1', 'shards': '2'":            "it has 2 shards already",
		"'key': 'x', 'shards': '2'":            "which is no int",
		"'key': '1', 'shards': '0'":            "but 1 to",
		"'key': '1', 'shards': 'x'":            "which is no number",
		"'key': '1', 'shards': '3', 'by': 'c'": "no 'by' of its own",
		"'shards': '9'":                        "entries of keys",
		"'key': '1'":                           "which is no number",
	} {
		if err := s.Query("ALTER TABLE lived.t WITH write_sharding = {" + options + "}").Exec(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", options, err)
		}
	}
}

// TestChangesThatAreRefused asks for changes that must not begin.
func TestChangesThatAreRefused(t *testing.T) {
	st := embedded(t)
	s := session(t, serveDoor(t, st, startRouter(t, st)), 4)
	exec(t, s, "CREATE KEYSPACE refused WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for name, c := range map[string]struct{ columns, options, why string }{
		"counters":    {"n counter", "", "counters are never copied"},
		"collections": {"m map<text, int>", "", "collections or user-defined types"},
		"statics":     {"v int, s int static", "", "static columns"},
		"short_grace": {"v int", " AND gc_grace_seconds = 3600", "gc_grace_seconds is 3600"},
	} {
		table := "refused." + name
		exec(t, s, "CREATE TABLE "+table+" (k int, c int, "+c.columns+", PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '4'}"+c.options)
		changeRefused(t, s, table, "'shards': '8'", c.why)
		planRefused(t, s, table, "'shards': '8', ", c.why)
	}
}

// TestDocumentedRefusals asks for each change that docs/reshard.md names as refused before anything begins, and, during a
// change, for each statement that it names. Package mover tests keyspaces in several data centres.
func TestDocumentedRefusals(t *testing.T) {
	st := embedded(t)
	s := session(t, serveDoor(t, st, startRouter(t, st)), 4)
	exec(t, s, "CREATE KEYSPACE refused WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	exec(t, s, "CREATE TYPE refused.pair (a int, b int)")
	const hashed, rolls = "'strategy': 'calculated', 'shards': '8'", "'strategy': 'rollover', 'rows': '100'"
	for table, c := range map[string]struct{ columns, sharding, to, why string }{
		"refused.randoms":     {"v int", "'strategy': 'random', 'shards': '4'", hashed, "strategy 'random' puts a row in any shard"},
		"refused.to_random":   {"v int", "'shards': '4'", "'strategy': 'random', 'shards': '4'", "strategy 'random' puts a row in any shard"},
		"refused.counters":    {"n counter", "'shards': '4'", "'shards': '8'", "counters are never copied"},
		"refused.collections": {"m map<text, int>", "'shards': '4'", rolls, "collections or user-defined types"},
		"refused.types":       {"m refused.pair", "'strategy': 'rollover', 'rows': '100'", hashed, "collections or user-defined types"},
		"refused.statics":     {"v int, s int static", "'strategy': 'rollover', 'rows': '100'", hashed, "static columns"},
		"refused.key_only":    {"", "'shards': '4'", rolls, "no columns beside its key"},
		"refused.epochs":      {"v int", "'shards': '2', 'row_epochs': '4 from 0x00000064'", rolls, "layouts with epochs or entries of keys"},
	} {
		if c.columns != "" {
			c.columns += ", "
		}
		exec(t, s, "CREATE TABLE "+table+" (k int, c int, "+c.columns+"PRIMARY KEY (k, c)) WITH write_sharding = {"+c.sharding+"}")
		changeRefused(t, s, table, c.to, c.why)
	}
	exec(t, s, "CREATE TABLE refused.grace (k int, c int, v int, PRIMARY KEY (k, c)) WITH gc_grace_seconds = 86399 AND write_sharding = {'shards': '4'}")
	changeRefused(t, s, "refused.grace", rolls, "gc_grace_seconds is 86399")

	l := &lived{t: t, table: "refused.t", doors: []*gocql.Session{s}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	exec(t, s, "CREATE TABLE refused.t (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '4'}")
	exec(t, s, "CREATE TABLE refused.keys (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '4'}")
	l.table = "refused.keys"
	l.change(ctx, "'key': '1', 'shards': '8'")
	for _, to := range []string{"'shards': '8'", rolls, ""} {
		changeRefused(t, s, "refused.keys", to, "layouts with epochs or entries of keys")
	}
	for _, to := range []string{"'shards': '9'", rolls} {
		exec(t, s, "ALTER TABLE refused.t WITH write_sharding = {"+to+"}")
		exec(t, s, "ALTER TABLE refused.t WITH write_sharding = {'change': 'pause'}")
		for text, why := range map[string]string{
			"TRUNCATE refused.t":                                             "TRUNCATE is not possible while",
			"ALTER TABLE refused.t ADD w int":                                "altering it is not possible while",
			"ALTER TABLE refused.t DROP v":                                   "altering it is not possible while",
			"ALTER TABLE refused.t WITH write_sharding = {'shards': '7'}":    "is being changed already",
			"UPDATE refused.t SET v = 1 WHERE k = 1 AND c = 1 IF EXISTS":     "",
			"INSERT INTO refused.t (k, c, v) VALUES (1, 1, 1) IF NOT EXISTS": "",
		} {
			if err := s.Query(text).Exec(); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("during a change to {%s}, %s is answered with %v", to, text, err)
			}
		}
		exec(t, s, "ALTER TABLE refused.t WITH write_sharding = {'change': 'rollback'}")
		l.table = "refused.t"
		l.end(ctx)
	}
}

// changeRefused checks that the door refuses to give a table another layout, and says why.
func changeRefused(t *testing.T, s *gocql.Session, table, layout, why string) {
	t.Helper()
	if err := s.Query("ALTER TABLE " + table + " WITH write_sharding = {" + layout + "}").Exec(); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: {%s} is answered with %v", table, layout, err)
	}
}

// planRefused checks that a plan of a change which the door would refuse says why. layout is empty or ends
// with a comma.
func planRefused(t *testing.T, s *gocql.Session, table, layout, why string) {
	t.Helper()
	var plan string
	if err := s.Query("ALTER TABLE " + table + " WITH write_sharding = {" + layout + "'change': 'plan'}").Scan(&plan); err != nil || !strings.Contains(plan, why) {
		t.Errorf("%s: plan says %s (%v)", table, plan, err)
	}
}
