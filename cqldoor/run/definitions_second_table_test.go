// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
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

// TestLiveSharding shards a plain table that clients read and write all the time. No request fails,
// and every answer equals that of a table that does not change.
func TestLiveSharding(t *testing.T) { onStores(t, liveSharding) }

func liveSharding(t *testing.T, st store.Store) {
	l := newLived(t, st, "")
	exec(t, l.doors[0], "CREATE TABLE lived.tz (p int PRIMARY KEY)") // sorts after t and after its physical table
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	l.live(4, func() {
		if got := l.status(); got.Phase != reshard.NoPhase || got.From != 0 {
			t.Errorf("of a plain table: %+v", got)
		}
		l.change(ctx, "'shards': '4'", "rollback")
		if got := l.tables(); got != "t tz" {
			t.Errorf("after it was taken back the store has the tables %s", got)
		}
		l.change(ctx, "'shards': '4'", "pause", "resume")
		if s := l.status(); s.Result != reshard.ResultDone || s.From != 4 || s.RowsMoved == 0 || s.RowsVerified == 0 {
			t.Errorf("after it was sharded: %+v", s)
		}
		l.change(ctx, "'shards': '7'")
		l.change(ctx, "'shards': '3'")
	})
	e := l.entry()
	if e.Layout.N != 3 || e.Change != nil || e.Second != nil || e.Physical == "t" {
		t.Errorf("in the end: %+v", e)
	}
	if got := l.tables(); got != e.Physical+" tz" {
		t.Errorf("in the end the store has the tables %s", got)
	}
}

// TestShardedWhileInUse checks that a table sharded while in use behaves like one created sharded:
// clients do not see its second physical table.
func TestShardedWhileInUse(t *testing.T) { onStores(t, shardedWhileInUse) }

func shardedWhileInUse(t *testing.T, st store.Store) {
	r := startRouter(t, st)
	at := serveDoor(t, st, r)
	s := session(t, at, 4)
	exec(t, s, "DROP KEYSPACE IF EXISTS inuse")
	exec(t, s, "CREATE KEYSPACE inuse WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	t.Cleanup(func() { exec(t, s, "DROP KEYSPACE IF EXISTS inuse") })
	exec(t, s, "CREATE TABLE inuse.t (p int, c int, v text, PRIMARY KEY (p, c)) WITH comment = 'as it was'")
	exec(t, s, "CREATE TABLE inuse.t_a (p int PRIMARY KEY, v text)")
	exec(t, s, "CREATE TABLE inuse.t_z (p int PRIMARY KEY, v text)")
	for c := range 20 {
		exec(t, s, "INSERT INTO inuse.t (p, c, v) VALUES (1, ?, 'x')", c)
	}
	l := &lived{t: t, table: "inuse.t", doors: []*gocql.Session{s}}
	wait := func() {
		t.Helper()
		for deadline := time.Now().Add(patience); l.status().Phase != reshard.NoPhase; {
			if time.Now().After(deadline) {
				t.Fatalf("the change does not end: %+v", l.status())
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	id := func() (id gocql.UUID) {
		t.Helper()
		if err := s.Query("SELECT id FROM system_schema.tables WHERE keyspace_name = 'inuse' AND table_name = 't'").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	before := id()

	exec(t, s, "ALTER TABLE inuse.t WITH write_sharding = {'shards': '5'}")
	exec(t, s, "ALTER TABLE inuse.t WITH write_sharding = {'change': 'status'}")
	wait()
	physical := r.schema.View.Load().Tables["inuse"]["t"].Entry.Physical
	if physical == "t" || id() != before {
		t.Fatalf("the physical table is %s, the id %s and was %s", physical, id(), before)
	}
	// This is the schema that drivers and people see.
	for text, want := range map[string]string{
		"SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'inuse'":                                       "table_name=t; table_name=t_a; table_name=t_z",
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'inuse' AND table_name = 't'":                "column_name=c; column_name=p; column_name=v",
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'inuse' AND table_name = '" + physical + "'": "",
		"SELECT count(*) FROM inuse.t WHERE p = 1":                                                                        "count=20",
		"SELECT count(*) FROM inuse.t": "count=20",
	} {
		got, err := rowsOf(s, 100, text)
		if err != nil || joined(got) != want {
			t.Errorf("%s gives %q, %v; it should give %q", text, joined(got), err, want)
		}
	}
	var create string
	it := s.Query("DESCRIBE TABLE inuse.t").Iter()
	row := map[string]any{}
	for it.MapScan(row) {
		create, row = row["create_statement"].(string), map[string]any{}
	}
	if err := it.Close(); err != nil || !strings.Contains(create, "CREATE TABLE inuse.t (") || !strings.Contains(create, "write_sharding = {") || !strings.Contains(create, "as it was") || strings.Contains(create, "evenkeel_") || strings.Contains(create, "shard int") {
		t.Errorf("it is described as %s (%v)", create, err)
	}
	// No client may name the physical table.
	for _, text := range []string{"SELECT * FROM inuse." + physical, "INSERT INTO inuse." + physical + " (p, c, shard) VALUES (1, 1, 1)", "TRUNCATE inuse." + physical,
		"DROP TABLE inuse." + physical, "ALTER TABLE inuse." + physical + " ADD x int", "BEGIN BATCH DELETE FROM inuse." + physical + " WHERE p = 1 AND shard = 1 APPLY BATCH",
		"DESCRIBE TABLE inuse." + physical, "CREATE TABLE inuse." + physical + " (p int PRIMARY KEY)", "CREATE INDEX ON inuse." + physical + " (v)"} {
		if err := s.Query(text).Exec(); err == nil {
			t.Errorf("%s is carried out", text)
		}
	}
	// The store has no table of the logical name, which is taken all the same.
	for _, text := range []string{"CREATE TABLE inuse.t (p int PRIMARY KEY)", "CREATE TABLE inuse.t (p int PRIMARY KEY) WITH write_sharding = {'shards': '2'}"} {
		if err := s.Query(text).Exec(); err == nil || !strings.Contains(err.Error(), "already exist") {
			t.Errorf("%s: %v", text, err)
		}
	}
	exec(t, s, "CREATE TABLE IF NOT EXISTS inuse.t (p int PRIMARY KEY)")
	if err := s.Query("CREATE MATERIALIZED VIEW inuse.t AS SELECT * FROM inuse.t_a WHERE p IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, p)").Exec(); err == nil {
		t.Error("a view has the name of a table")
	}
	physicals, err := rowsOf(session(t, serveDoor(t, st, nil), 4), 100, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'inuse' AND table_name = 't'")
	if err != nil || len(physicals) != 0 {
		t.Errorf("the store has a table of the logical name: %v %v", physicals, err)
	}
	// Rows, conditions and schema statements work.
	applied, err := s.Query("INSERT INTO inuse.t (p, c, v) VALUES (1, 3, 'y') IF NOT EXISTS").MapScanCAS(map[string]any{})
	if err != nil || applied {
		t.Errorf("a condition on a row that is there: %v %v", applied, err)
	}
	if applied, err = s.Query("UPDATE inuse.t SET v = 'z' WHERE p = 1 AND c = 3 IF v = 'x'").MapScanCAS(map[string]any{}); err != nil || !applied {
		t.Errorf("a condition that holds: %v %v", applied, err)
	}
	exec(t, s, "ALTER TABLE inuse.t ADD w int")
	exec(t, s, "UPDATE inuse.t SET w = 7 WHERE p = 1 AND c = 3")
	for text, want := range map[string]string{
		"SELECT * FROM inuse.t WHERE p = 1 AND c = 3":                              "c=3 p=1 v=z w=7",
		"SELECT v, w FROM inuse.t WHERE p = 1 AND c IN (3, 4)":                     "v=z w=7; v=x w=0",
		"SELECT c FROM inuse.t WHERE p = 1 ORDER BY c DESC LIMIT 2":                "c=19; c=18",
		"SELECT c FROM inuse.t WHERE p = 1 AND c > 16 AND v = 'x' ALLOW FILTERING": "c=17; c=18; c=19",
	} {
		got, err := rowsOf(s, 100, text)
		if err != nil || joined(got) != want {
			t.Errorf("%s gives %q, %v; it should give %q", text, joined(got), err, want)
		}
	}
	named := s.Query("SELECT v FROM inuse.t WHERE p = 1 AND c = 3").Iter()
	if c := named.Columns(); len(c) != 1 || c[0].Table != "t" {
		t.Errorf("a result names %+v", c)
	}
	_ = named.Close()
	truncateAndReplace(t, s, "inuse.t")
}

// truncateAndReplace checks that a table is empty after TRUNCATE, and that its name is free after DROP
// TABLE.
func truncateAndReplace(t *testing.T, s *gocql.Session, table string) {
	t.Helper()
	exec(t, s, "TRUNCATE "+table)
	if got, err := rowsOf(s, 100, "SELECT * FROM "+table); err != nil || len(got) > 0 {
		t.Errorf("after TRUNCATE: %v %v", got, err)
	}
	exec(t, s, "DROP TABLE "+table)
	exec(t, s, "CREATE TABLE "+table+" (p int, c int, PRIMARY KEY (p, c))")
	exec(t, s, "INSERT INTO "+table+" (p, c) VALUES (1, 1)")
	if got, err := rowsOf(s, 100, "SELECT * FROM "+table); err != nil || len(got) != 1 {
		t.Errorf("a new table of the name: %v %v", got, err)
	}
}

// TestShardingThatIsRefused asks to shard plain tables that cannot be sharded, and gives orders
// although no change is under way.
func TestShardingThatIsRefused(t *testing.T) {
	st := embedded(t)
	s := session(t, serveDoor(t, st, startRouter(t, st)), 4)
	exec(t, s, "CREATE KEYSPACE refused WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for name, c := range map[string]struct{ columns, options, why string }{
		"counters":    {"k int, c int, n counter, PRIMARY KEY (k, c)", "", "counters are never copied"},
		"collections": {"k int, c int, m map<text, int>, PRIMARY KEY (k, c)", "", "collections or user-defined types"},
		"statics":     {"k int, c int, v int, s int static, PRIMARY KEY (k, c)", "", "static columns"},
		"short_grace": {"k int, c int, v int, PRIMARY KEY (k, c)", " WITH gc_grace_seconds = 3600", "gc_grace_seconds is 3600"},
		"single":      {"k int PRIMARY KEY, v int", "", "no clustering column"},
	} {
		table := "refused." + name
		exec(t, s, "CREATE TABLE "+table+" ("+c.columns+")"+c.options)
		changeRefused(t, s, table, "'shards': '8'", c.why)
		if name != "single" { // a table without clustering columns has no plan
			planRefused(t, s, table, "'shards': '8', ", c.why)
		}
	}
	exec(t, s, "CREATE TABLE refused.t (k int, c int, v int, PRIMARY KEY (k, c))")
	exec(t, s, "INSERT INTO refused.t (k, c, v) VALUES (1, 1, 1)")
	for options, why := range map[string]string{
		"":                                    "plain already",
		"'change': 'pause'":                   "no change of its layout is under way",
		"'change': 'status', 'shards': '2'":   "stands alone",
		"'shards': '2', 'key': '1'":           "shard it first",
		"'shards': '2', 'base': '7'":          "shard it first",
		"'shards': '0'":                       "from 1 to",
		"'shards': '2', 'strategy': 'random'": "random",
		"'shards': '2', 'by': 'v'":            "not part of the primary key",
	} {
		changeRefused(t, s, "refused.t", options, why)
	}
	var plan string
	if err := s.Query("ALTER TABLE refused.t WITH write_sharding = {'shards': '8', 'change': 'plan'}").Scan(&plan); err != nil || !strings.Contains(plan, `"rows":1,"rows_moved":1`) || !strings.Contains(plan, `"from":0,"to":8`) {
		t.Errorf("plan says %s (%v)", plan, err)
	}
	// A router that does not know what its doors forwarded begins no change.
	blind := New(Options{Store: st, Now: time.Now, Timeuuid: random, UUID: random, IntN: func(int) int { return 0 }})
	if err := blind.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(blind.Close)
	b := session(t, serveDoor(t, st, blind), 4)
	if err := b.Query("ALTER TABLE refused.t WITH write_sharding = {'shards': '8'}").Exec(); err == nil || !strings.Contains(err.Error(), "what its doors have forwarded") {
		t.Error(err)
	}
}

func joined(rows []string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.Join(rows, "; "), " ;", ";"))
}

// holdingStore holds the first request that mentions a word until the test releases it.
type holdingStore struct {
	store.Store
	word string
	held chan struct{} // closed when the request is there
	free chan struct{}
	once sync.Once
}

func (h *holdingStore) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := h.Store.Open(ctx, o)
	return holdingLink{l, h}, err
}

type holdingLink struct {
	store.Link
	of *holdingStore
}

func (l holdingLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	first := false
	if strings.Contains(string(req.Body), l.of.word) {
		l.of.once.Do(func() { first = true })
	}
	if !first {
		l.Link.Send(ctx, req, reply)
		return
	}
	close(l.of.held)
	req.Body = append([]byte(nil), req.Body...)
	go func() {
		<-l.of.free
		l.Link.Send(context.WithoutCancel(ctx), req, reply)
	}()
}

// TestShardingWaitsForWhatWasForwarded begins a change while a write that was forwarded to the
// plain table has not reached it. The mover copies nothing before the write arrives, and the write
// is not lost.
func TestShardingWaitsForWhatWasForwarded(t *testing.T) {
	for _, lease := range []time.Duration{0, time.Second} {
		st := &holdingStore{Store: embedded(t), word: "late row", held: make(chan struct{}), free: make(chan struct{})}
		r := startRouterOf(t, st, lease)
		s := session(t, serveDoor(t, st, r), 4)
		exec(t, s, "CREATE KEYSPACE late WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		exec(t, s, "CREATE TABLE late.other (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}") // makes the catalogue
		exec(t, s, "CREATE TABLE late.t (p int, c int, v text, PRIMARY KEY (p, c))")
		exec(t, s, "INSERT INTO late.t (p, c, v) VALUES (1, 1, 'x')")
		l := &lived{t: t, table: "late.t", doors: []*gocql.Session{s}}
		inserted := make(chan error, 1)
		go func() { inserted <- s.Query("INSERT INTO late.t (p, c, v) VALUES (1, 2, 'late row')").Exec() }()
		<-st.held
		exec(t, s, "ALTER TABLE late.t WITH write_sharding = {'shards': '3'}")
		// The mover shows that it is alive while it waits.
		beats := func() int64 {
			e := r.schema.View.Load().Tables["late"]["t"].Entry
			b, err := r.definer.Movers.Mover.Beat(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			return b.Beat
		}
		for deadline := time.Now().Add(patience); beats() < 2; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the mover does nothing")
			}
		}
		if got := l.status(); got.Phase != "announced" || got.RowsMoved > 0 {
			t.Errorf("lease %s: while a write was on its way: %+v", lease, got)
		}
		close(st.free)
		if err := <-inserted; err != nil {
			t.Error(err)
		}
		for deadline := time.Now().Add(patience); l.status().Phase != reshard.NoPhase; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the change does not end: %+v", l.status())
			}
		}
		if got, err := rowsOf(s, 100, "SELECT c, v FROM late.t WHERE p = 1"); err != nil || joined(got) != "c=1 v=x; c=2 v=late row" {
			t.Errorf("lease %s: %v %v", lease, got, err)
		}
	}
}

// TestOldIDsAfterSharding executes, alone and in batches, statements that were prepared on the
// plain table before it was sharded. None of them writes only to the plain table.
func TestOldIDsAfterSharding(t *testing.T) {
	st := embedded(t)
	r := startRouter(t, st)
	at := serveDoor(t, st, r)
	s := session(t, at, 4)
	exec(t, s, "CREATE KEYSPACE olds WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	exec(t, s, "CREATE TABLE olds.t (p int, c int, v text, PRIMARY KEY (p, c))")
	const insert = "INSERT INTO olds.t (p, c, v) VALUES (1, ?, 'x')"
	exec(t, s, insert, 0) // prepared, and forwarded
	exec(t, s, "ALTER TABLE olds.t WITH write_sharding = {'shards': '3'}")
	exec(t, s, "ALTER TABLE olds.t WITH write_sharding = {'change': 'pause'}")
	own := catalog.NewSession(st)
	defer own.Close()
	count := func(table string) int {
		t.Helper()
		rows, err := own.Query(t.Context(), wire.LocalQuorum, "SELECT c FROM olds."+table)
		if err != nil {
			t.Fatal(err)
		}
		return len(rows)
	}
	second := r.schema.View.Load().Tables["olds"]["t"].Entry.Second.Physical
	exec(t, s, insert, 1)
	b := s.Batch(gocql.LoggedBatch)
	b.Query(insert, 2)
	b.Query("INSERT INTO olds.t (p, c, v) VALUES (1, 3, 'text')")
	if err := b.Exec(); err != nil {
		t.Fatal(err)
	}
	exec(t, s, "BEGIN BATCH INSERT INTO olds.t (p, c, v) VALUES (1, 4, 'y'); DELETE FROM olds.t WHERE p = 1 AND c = 1; APPLY BATCH")
	// The mover may or may not have copied row 0 by now.
	if old, copied := count("t"), count(second); old != 4 || copied < 3 || copied > 4 {
		t.Errorf("the plain table has %d rows, the second one %d", old, copied)
	}
	if err := s.Query("INSERT INTO olds.t (p, c, v) VALUES (1, 9, 'x') IF NOT EXISTS").Exec(); err == nil || !strings.Contains(err.Error(), "conditions (IF) are not possible while") {
		t.Errorf("a condition during the change: %v", err)
	}
	for _, text := range []string{"ALTER TABLE olds.t ADD w int", "ALTER TABLE olds.t WITH comment = 'x'", "DROP TABLE olds.t", "TRUNCATE olds.t", "ALTER TABLE olds.t WITH write_sharding = {'shards': '5'}",
		"SELECT * FROM olds." + second, "CREATE INDEX ON olds.t (v)"} {
		if err := s.Query(text).Exec(); err == nil {
			t.Errorf("%s is carried out during the change", text)
		}
	}
	exec(t, s, "ALTER TABLE olds.t WITH write_sharding = {'change': 'resume'}")
	l := &lived{t: t, table: "olds.t", doors: []*gocql.Session{s}}
	for deadline := time.Now().Add(patience); l.status().Phase != reshard.NoPhase; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the change does not end: %+v", l.status())
		}
	}
	exec(t, s, insert, 5)
	if got, err := rowsOf(s, 2, "SELECT c FROM olds.t WHERE p = 1"); err != nil || joined(got) != "c=0; c=2; c=3; c=4; c=5" {
		t.Errorf("in the end: %v %v", got, err)
	}
}
