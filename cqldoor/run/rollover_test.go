// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/rollover"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"pgregory.net/rapid"
)

// TestRefusedRollover names what strategy rollover cannot have, before anything is made or
// changed.
func TestRefusedRollover(t *testing.T) {
	s := newScene(t, embedded(t))
	for _, c := range []struct{ columns, options, words string }{
		{"k int, c int, PRIMARY KEY (k, c)", "'rows': '3'", "'rows' is '3'; it must be a whole number, at least 10"},
		{"k int, c int, PRIMARY KEY (k, c)", "'rows': 'lots'", "'rows' is 'lots'"},
		{"k int, c int, PRIMARY KEY (k, c)", "'max': '10'", "needs to know when a shard is full"},
		{"k int, c int, PRIMARY KEY (k, c)", "'rows': '100', 'by': 'c'", "'by' means nothing under strategy 'rollover'"},
		{"k int, c int, PRIMARY KEY (k, c)", "'rows': '100', 'shards': '4'", "'shards' means nothing under strategy 'rollover'"},
		{"k int, v int, PRIMARY KEY (k)", "'rows': '100'", "has no clustering column"},
		{"k int, c int, n counter, PRIMARY KEY (k, c)", "'rows': '100'", "does not support counters"},
	} {
		s.refusedWith("CREATE TABLE "+s.keyspace+".t ("+c.columns+") WITH write_sharding = {'strategy': 'rollover', "+c.options+"}", c.words)
	}
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'strategy': 'rollover', 'rows': '1000', 'max': '5'}")
	for text, words := range map[string]string{
		"ALTER TABLE KS.t WITH write_sharding = {'strategy': 'random', 'shards': '8'}":           "strategy 'random' puts a row in any shard",
		"ALTER TABLE KS.t WITH write_sharding = {'key': '1', 'shards': '8'}":                     "mean nothing under strategy 'rollover'",
		"ALTER TABLE KS.t WITH write_sharding = {'shards': '8'}":                                 "'shards' means nothing under strategy 'rollover'",
		"ALTER TABLE KS.t WITH write_sharding = {'change': 'plan', 'shards': '8'}":               "'shards' means nothing under strategy 'rollover'",
		"UPDATE KS.t SET v = 1 WHERE k = 1 AND c = 1 IF EXISTS":                                  "conditions (IF) are not possible under strategy 'rollover'",
		"INSERT INTO KS.t (k, c, v) VALUES (1, 1, 1) IF NOT EXISTS":                              "conditions (IF) are not possible under strategy 'rollover'",
		"DELETE FROM KS.t USING TIMESTAMP 9000000000000000 WHERE k = 1":                          "ahead of the store's clock",
		"UPDATE KS.t USING TIMESTAMP 9000000000000000 SET v = null WHERE k = 1 AND c = 1":        "ahead of the store's clock",
		"BEGIN BATCH DELETE FROM KS.t USING TIMESTAMP 9000000000000000 WHERE k = 1; APPLY BATCH": "ahead of the store's clock",
		"BEGIN BATCH USING TIMESTAMP 9000000000000000 DELETE FROM KS.t WHERE k = 1; APPLY BATCH": "ahead of the store's clock",
	} {
		s.refusedWith(strings.ReplaceAll(text, "KS", s.keyspace), words)
	}
	s.must(s.v5, "ALTER TABLE "+s.keyspace+".t ADD w int")
	a := s.must(s.v5, "DESCRIBE TABLE "+s.keyspace+".t")
	if text := string(a.Rows[0][3]); !strings.Contains(text, "write_sharding = {'max': '5', 'rows': '1000', 'strategy': 'rollover'}") {
		t.Errorf("DESCRIBE TABLE prints %s", text)
	}
}

// roll gives a key of a table the next shard, as a door does that finds the present one full.
func (s *scene) roll(table string, key []byte) {
	s.t.Helper()
	o := s.router.rollovers
	at := s.router.state.Load().Table(s.keyspace, strings.TrimPrefix(table, s.keyspace+"."))
	n := at.Layout.Rolled.Shards(key) + 1
	ctx := context.Background()
	o.Margin.Store(0)
	for _, do := range []func() error{
		func() error { return o.AnnounceNext(ctx, at.ID, string(key), n) },
		func() error { return o.CatchUpAll(ctx) },
		func() error { return o.OpenNext(ctx, rollover.KeyShard{Table: at.ID, Key: string(key), Shard: n}) },
		func() error { return o.CatchUpAll(ctx) },
	} {
		if err := do(); err != nil {
			s.t.Fatal(err)
		}
	}
}

var timestamped = regexp.MustCompile(`TIMESTAMP (\d)`)

// TestRolledHistories gives one random history to a plain table and to a table of strategy
// rollover whose keys get more shards between the writes, and compares what they answer. The
// timestamps are times of the history, so that many are older than the current shard.
func TestRolledHistories(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		for _, statics := range []bool{false, true} {
			t.Run(fmt.Sprint("statics ", statics), func(t *testing.T) {
				w := &twins{scene: newScene(t, st), layouts: []string{"{'strategy': 'rollover', 'rows': '100000'}"}}
				column := ""
				if statics {
					column = "s text static, "
				}
				w.create("p int, c int, v text, n int, l list<int>, m map<int, int>, "+column+"PRIMARY KEY (p, c)", "")
				histories, next, most := 60, 0, 0
				if strings.Contains(t.Name(), "cassandra") {
					histories = 8
				}
				drawn(t, histories)
				rapid.Check(t, func(r *rapid.T) {
					next += 10
					h := &history{r: r, p: []int{next, next + 1}, statics: statics}
					var done []string
					fail := func(fault string) {
						if fault != "" {
							r.Fatalf("%s\nafter\n%s", fault, strings.Join(done, ";\n"))
						}
					}
					start := time.Now().UnixMicro()
					marks := []int64{start - 5000, start - 4000, start - 3000, start - 2000, start - 1000}
					// Every second history begins in the fourth shard. So a few histories are enough to reach it.
					for range 3 * (next / 10 % 2) {
						w.roll(w.table(0), binary.BigEndian.AppendUint32(nil, uint32(next)))
						marks = append(marks, time.Now().UnixMicro())
					}
					for range rapid.IntRange(3, 14).Draw(r, "writes") {
						if rapid.IntRange(0, 2).Draw(r, "rolls") > 0 {
							p := rapid.SampledFrom(h.p).Draw(r, "rolled")
							done = append(done, fmt.Sprint("key ", p, " rolls over"))
							w.roll(w.table(0), binary.BigEndian.AppendUint32(nil, uint32(p)))
						}
						marks = append(marks, time.Now().UnixMicro())
						text := timestamped.ReplaceAllStringFunc(h.write(), func(word string) string {
							d, _ := strconv.Atoi(word[len(word)-1:])
							return fmt.Sprint("TIMESTAMP ", marks[len(marks)-d])
						})
						done = append(done, text)
						fail(w.write(text))
						if rapid.Bool().Draw(r, "read") {
							fail(w.read(h.read()))
						}
					}
					for range 3 {
						fail(w.read(h.read()))
					}
				})
				if t.Failed() {
					return
				}
				w.scan(t, &history{statics: statics})
				for _, row := range w.must(w.direct, "SELECT shard FROM "+w.table(0)).Rows {
					most = max(most, int(be(row[0])))
				}
				if most < 4 {
					t.Errorf("rows came to shards 1 to %d: the histories did not roll over", most)
				}
			})
		}
	})
}

// TestRolledDefaultTimestamps writes with the timestamps that a driver sends with each message, some
// of them older than the current shard, and compares with a plain table.
func TestRolledDefaultTimestamps(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: []string{"{'strategy': 'rollover', 'rows': '100000'}"}}
		w.create("p int, c int, v text, n int, PRIMARY KEY (p, c)", "")
		start := time.Now().UnixMicro()
		stamps := []int64{start - 2000, start - 1000}
		all := func(text string, stamp int64) {
			t.Helper()
			for _, conn := range []*difftest.Conn{w.v4, w.v5} {
				for layout := -1; layout < 1; layout++ {
					text := w.text(layout, text)
					id, err := conn.Prepare(text)
					if err != nil || id.Kind != difftest.Prepared {
						t.Fatal(err, show(id))
					}
					for way, send := range map[string]func() (*difftest.Answer, error){
						"QUERY":   func() (*difftest.Answer, error) { return conn.Query(difftest.Request{Query: text, Timestamp: &stamp}) },
						"EXECUTE": func() (*difftest.Answer, error) { return conn.Execute(id, difftest.Request{Timestamp: &stamp}) },
						"BATCH": func() (*difftest.Answer, error) {
							return conn.Batch(&message.Batch{DefaultTimestamp: &stamp, Children: []*message.BatchChild{{Query: text}}})
						},
					} {
						if a, err := send(); err != nil || a.Kind == difftest.Error {
							t.Fatalf("%s %s: %v %s", way, text, err, show(a))
						}
					}
				}
			}
			for _, text := range []string{"SELECT c, v, n, writetime(v) FROM TABLE WHERE p = 1", "SELECT * FROM TABLE"} {
				if fault := w.read(text); fault != "" {
					t.Error(fault)
				}
			}
		}
		for i := range 3 {
			w.roll(w.table(0), be32(1))
			for w.router.state.Load().Table(w.keyspace, strings.TrimPrefix(w.table(0), w.keyspace+".")).Layout.Rolled.Current(be32(1), time.Now().UnixMicro()) < i+2 {
				time.Sleep(time.Millisecond) // until the opening
			}
			stamps = append(stamps, time.Now().UnixMicro())
			for j, stamp := range stamps {
				all(fmt.Sprintf("INSERT INTO TABLE (p, c, v) VALUES (1, %d, '%d.%d')", j, i, j), stamp)
				all(fmt.Sprintf("UPDATE TABLE SET n = %d WHERE p = 1 AND c = %d", i, (i+j)%len(stamps)), stamp)
			}
			all(fmt.Sprintf("UPDATE TABLE SET v = null WHERE p = 1 AND c = %d", i), stamps[len(stamps)-2])
			all("DELETE FROM TABLE WHERE p = 1 AND c = 0", stamps[len(stamps)-2])
		}
		all("DELETE FROM TABLE WHERE p = 1", stamps[len(stamps)-2])
		ahead := time.Now().Add(time.Hour).UnixMicro()
		id, err := w.v5.Prepare("DELETE FROM " + w.table(0) + " WHERE p = 1")
		if err != nil {
			t.Fatal(err)
		}
		if a, err := w.v5.Execute(id, difftest.Request{Timestamp: &ahead}); err != nil || a.Kind != difftest.Error || !strings.Contains(a.Text, "ahead of the store's clock") {
			t.Errorf("a deletion of the future: %v %s", err, show(a))
		}
	})
}

// TestRolledByRule has a shard rule name strategy rollover.
func TestRolledByRule(t *testing.T) {
	st := embedded(t)
	r, _ := startRuled(t, st, "r.yaml", "ruled.*: {strategy: rollover, rows: 100}")
	s := newSceneOf(t, st, r)
	s.must(s.v5, "CREATE KEYSPACE ruled WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	a := s.must(s.v5, "CREATE TABLE ruled.log (k int, c int, PRIMARY KEY (k, c))")
	if !strings.Contains(strings.Join(a.Warnings, "\n"), "not for strategy 'rollover'") {
		t.Errorf("the rule's warnings are %q", a.Warnings)
	}
	if a := s.query(s.v5, "CREATE TABLE ruled.single (k int PRIMARY KEY)"); a.Kind != difftest.Error && s.router.state.Load().Table("ruled", "single") != nil {
		t.Error("a table without clustering columns is sharded")
	}
	p, err := s.v5.Prepare("INSERT INTO ruled.log (k, c) VALUES (1, ?)")
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for ; r.state.Load().Table("ruled", "log").Layout.Rolled.Current(be32(1), time.Now().UnixMicro()) < 3; row++ {
		if a, err := s.v5.Execute(p, difftest.Request{Values: int32s(int32(row))}); err != nil || a.Kind == difftest.Error {
			t.Fatal(err, show(a))
		}
	}
	if a := s.paged(s.v5, "SELECT c FROM ruled.log WHERE k = 1", 50); len(a.Rows) != row {
		t.Errorf("%d of %d rows are read", len(a.Rows), row)
	}
}

// sizes returns how many rows each shard of key 1 of a table has, from shard 1 on.
func (s *scene) sizes(table string) []int {
	s.t.Helper()
	var out []int
	for _, row := range s.must(s.direct, "SELECT shard FROM "+table+" WHERE k = 1 ALLOW FILTERING").Rows {
		n := int(be(row[0]))
		for len(out) < n {
			out = append(out, 0)
		}
		out[n-1]++
	}
	return out
}

// countRollovers counts the writes of a scene's door to the directory of rollovers.
func (s *scene) countRollovers() *counted {
	o := s.router.rollovers
	c := &counted{Session: s.router.schema.Session, n: map[string]int{}}
	o.Catalogue = catalog.NewRollovers(c, s.router.opts.UUID())
	return c
}

// writes returns how often the directory was written.
func (c *counted) writes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n["INSERT"]
}

// explained returns the explanation of a statement.
func (s *scene) explained(text string) *plan.Explained {
	s.t.Helper()
	a, payload, err := s.v5.SendPayload(&message.Prepare{Query: text}, map[string][]byte{definitions.ExplainPayload: nil})
	if err != nil || a.Kind == difftest.Error {
		s.t.Fatal(err, show(a))
	}
	var e plan.Explained
	if err := json.Unmarshal(payload[definitions.ExplainPayload], &e); err != nil {
		s.t.Fatal(err)
	}
	return &e
}

// TestRollsOver writes rows to one key through one door. The first rows cost no look into the
// directory; then each shard costs two writes of it, and no shard gets much more than it should.
func TestRollsOver(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		table := s.keyspace + ".log"
		const each, shards = 1000, 3
		s.must(s.v5, "CREATE TABLE "+table+fmt.Sprintf(" (k int, c int, v text, PRIMARY KEY (k, c)) WITH write_sharding = {'strategy': 'rollover', 'rows': '%d'}", each))
		c := s.countRollovers()
		p, err := s.v5.Prepare("INSERT INTO " + table + " (k, c, v) VALUES (?, ?, 'x')")
		if err != nil {
			t.Fatal(err)
		}
		row := 0
		write := func() {
			t.Helper()
			if a, err := s.v5.Execute(p, difftest.Request{Values: int32s(1, int32(row))}); err != nil || a.Kind == difftest.Error {
				t.Fatal(err, show(a))
			}
			row++
		}
		for range each - 1 {
			write()
		}
		if n := c.writes(); n > 0 {
			t.Errorf("the first rows of a key cost %d writes of the directory", n)
		}
		if e := s.explained("SELECT * FROM " + table + " WHERE k = 1"); len(e.Shards) != 1 {
			t.Errorf("a read of a key with few rows visits the shards %v", e.Shards)
		}
		// Literals, and timestamps of the client, as cqlsh sends them.
		text := func() {
			t.Helper()
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (k, c, v) VALUES (1, %d, 'x') USING TIMESTAMP %d", table, row, time.Now().UnixMicro()))
			row++
		}
		for n := 2; n <= shards; n++ {
			// The door's own goroutine opens the next shard.
			for s.router.state.Load().Table(s.keyspace, "log").Layout.Rolled.Current(be32(1), time.Now().UnixMicro()) < n {
				write()
				text()
			}
			for range each / 2 {
				write()
			}
		}
		if n := c.writes(); n > 2*(shards-1) {
			t.Errorf("%d shards cost %d writes of the directory", shards, n)
		}
		for i, n := range s.sizes(table) {
			t.Logf("shard %d has %d rows", i+1, n)
			if n > each*12/10 { // some rows are written until the door's goroutine has had its turn
				t.Errorf("shard %d has %d rows, for %d", i+1, n, each)
			}
		}
		if a := s.paged(s.v5, "SELECT c FROM "+table+" WHERE k = 1", 37); len(a.Rows) != row || be(a.Rows[row-1][0]) != uint64(row-1) {
			t.Errorf("%d rows were written, and %d are read", row, len(a.Rows))
		}
		if e := s.explained("SELECT * FROM " + table + " WHERE k = 1"); len(e.Shards) != shards {
			t.Errorf("a read visits the shards %v", e.Shards)
		}
		if e := s.explained("INSERT INTO " + table + " (k, c) VALUES (1, 1)"); len(e.Shards) != 1 || e.Shards[0] != shards || e.Access != "current shard" {
			t.Errorf("an insert goes to the shards %v, %s", e.Shards, e.Access)
		}
		if e := s.explained("DELETE FROM " + table + " WHERE k = 1 AND c = 1"); len(e.Shards) != shards {
			t.Errorf("a deletion goes to the shards %v", e.Shards)
		}
		if e := s.explained("SELECT * FROM " + table + " WHERE k = 2"); len(e.Shards) != 1 {
			t.Errorf("a read of another key visits the shards %v", e.Shards)
		}
		// A door that starts knows what the shards are.
		b := newSceneOf(t, st, startRouterOf(t, st, 0))
		if a := b.must(b.v5, "SELECT count(*) FROM "+table+" WHERE k = 1"); be(a.Rows[0][0]) != uint64(row) {
			t.Errorf("a door that starts reads %d of %d rows", be(a.Rows[0][0]), row)
		}
	})
}

// openedBeforeWritten writes while the next shard of a key is announced and not open: no write goes
// there, since another door may not read it yet.
func openedBeforeWritten(w *twins) string {
	if fault := steps("SELECT * FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'x')")(w); fault != "" {
		return fault
	}
	o, t := w.router.rollovers, w.router.state.Load().Table(w.keyspace, strings.TrimPrefix(w.table(0), w.keyspace+"."))
	next, _ := o.Next(t.ID, string(be32(1)))
	if did, err := o.Catalogue.Append(context.Background(), t.ID, next, catalog.Rollover{Key: be32(1), Shard: 2, From: new(int64)}); err != nil || !did {
		w.t.Fatal(did, err)
	}
	if err := o.CatchUpAll(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	if fault := steps("SELECT * FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'y')")(w); fault != "" {
		return fault
	}
	if a := w.must(w.direct, "SELECT c FROM "+w.table(0)+" WHERE p = 1 AND shard = 2"); len(a.Rows) > 0 {
		return "a door that does not know of shard 2 misses what is in it"
	}
	return ""
}

// nothingFromTheFuture deletes with a timestamp of the future, then goes on to the next shard, and
// writes there with an earlier timestamp.
func nothingFromTheFuture(w *twins) string {
	w.router.rollovers.AheadOfClock = time.Hour // the deletion is taken, and the shard opens after it
	defer func() { w.router.rollovers.AheadOfClock = rollover.AheadOfClock }()
	soon := time.Now().Add(2 * time.Second).UnixMicro()
	if fault := w.write(fmt.Sprintf("DELETE FROM TABLE USING TIMESTAMP %d WHERE p = 1", soon)); fault != "" {
		return fault
	}
	w.roll(w.table(0), be32(1))
	if fault := w.write(fmt.Sprintf("INSERT INTO TABLE (p, c, v) VALUES (1, 1, 'x') USING TIMESTAMP %d", soon-1)); fault != "" {
		return fault
	}
	return w.read("SELECT * FROM TABLE WHERE p = 1")
}
