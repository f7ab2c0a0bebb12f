// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// rightful is a Cassandra with accounts, a door in front of it, and clients of both.
type rightful struct {
	*scene
	store         *overheard
	super, nobody *difftest.Conn // of the door
	direct        *difftest.Conn // nobody, of Cassandra
	superDirect   *difftest.Conn
}

// TestRightsBeside holds sharded tables to the rights that Cassandra would see to on a plain
// one.
func TestRightsBeside(t *testing.T) {
	c := cassandra.Start(t, cassandra.Options{Auth: true})
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{c.Addr()}, ConnectTimeout: time.Minute, Username: cassandra.Username, Password: cassandra.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	heard := &overheard{Store: st}
	router := startRouter(t, heard)
	at := serveDoor(t, heard, router)
	as := func(addr, user, password string) *difftest.Conn {
		t.Helper()
		conn, err := difftest.Dial(addr, primitive.ProtocolVersion5, user, password)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	r := &rightful{scene: &scene{t: t, router: router}, store: heard, super: as(at, cassandra.Username, cassandra.Password)}
	const columns = "(k int, c int, v int, PRIMARY KEY (k, c))"
	for _, text := range []string{
		"CREATE KEYSPACE r WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE r.plain " + columns,
		"CREATE TABLE r.sharded " + columns + shardedByFour,
		"CREATE TABLE r.written " + columns + shardedByFour,
		"CREATE TABLE r.random " + columns + " WITH write_sharding = {'shards': '4', 'strategy': 'random'}",
		"CREATE TABLE r.rolling " + columns + " WITH write_sharding = {'strategy': 'rollover', 'rows': '10'}",
		"CREATE TABLE r.open " + columns,
		"CREATE TABLE r.t (k int PRIMARY KEY)",
		"CREATE ROLE nobody WITH PASSWORD = 'nobody' AND LOGIN = true",
		"GRANT MODIFY ON r.written TO nobody",
		"GRANT MODIFY ON r.open TO nobody",
	} {
		r.must(r.super, text)
	}
	r.nobody, r.direct = as(at, "nobody", "nobody"), as(c.Addr(), "nobody", "nobody")
	r.superDirect = as(c.Addr(), cassandra.Username, cassandra.Password)
	for name, test := range map[string]func(*rightful){
		"what reaches no shard": testRightsOfWhatReachesNoShard, "rollover": testRightsBeforeRollover, "refusals": testRightsBeforeRefusals, "catalogue": testCatalogueWithRights,
		"adoption": testRightsBeforeAdoption,
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			test(r)
		})
	}
}

const shardedByFour = " WITH write_sharding = {'shards': '4'}"

// testRightsBeforeRefusals has a client without rights send what sharded tables refuse:
// it learns that it has no rights, as of a plain table, and nothing of shards.
func testRightsBeforeRefusals(r *rightful) {
	t := r.t
	for _, text := range []string{
		"CREATE INDEX ON r.sharded (v)",
		"CREATE INDEX IF NOT EXISTS i ON r.sharded (v)",
		"CREATE CUSTOM INDEX ON r.sharded (v) USING 'StorageAttachedIndex'",
		"CREATE MATERIALIZED VIEW r.w AS SELECT * FROM r.sharded WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)",
		"CREATE MATERIALIZED VIEW IF NOT EXISTS r.w AS SELECT * FROM r.sharded WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)",
		"CREATE TRIGGER x ON r.sharded USING 'a.b.C'",
		"CREATE TRIGGER IF NOT EXISTS x ON r.sharded USING 'a.b.C'",
		"ALTER TABLE r.sharded ADD shard int",
		"ALTER TABLE r.sharded RENAME c TO shard",
		"ALTER TABLE r.sharded RENAME c TO d",
		"ALTER TABLE r.sharded DROP v",
		"DROP TABLE r.sharded",
		"SELECT * FROM r.sharded WHERE token(k) > token(5)",
		"SELECT * FROM r.sharded WHERE token(k) > 5 AND k = 1 ALLOW FILTERING",
		"SELECT token(k), k FROM r.sharded WHERE k = 1",
		"SELECT * FROM r.sharded WHERE k = 1 AND token(k) = ?",
		"UPDATE r.random SET v = 1 WHERE k = 1 AND c = 1 IF v = 1",
		"DELETE FROM r.random WHERE k = 1 AND c = 1 IF EXISTS",
		"INSERT INTO r.random (k, c) VALUES (1, 1) IF NOT EXISTS",
		"INSERT INTO r.rolling (k, c) VALUES (1, 1) IF NOT EXISTS",
		"DELETE FROM r.rolling USING TIMESTAMP 9000000000000000 WHERE k = 1",
		"UPDATE r.rolling USING TIMESTAMP 9000000000000000 SET v = null WHERE k = 1 AND c = 1",
		"BEGIN BATCH INSERT INTO r.open (k, c) VALUES (1, 1); INSERT INTO r.sharded (k, c) VALUES (1, 1); APPLY BATCH",
		"BEGIN BATCH INSERT INTO r.sharded (k, c) VALUES (1, 1); INSERT INTO r.sharded (k, c) VALUES (1, 2); UPDATE r.sharded SET v = 1 WHERE k = 1 AND c = 3 IF v = 1; APPLY BATCH",
		// What is wrong with values is told after the rights, too.
		"INSERT INTO r.sharded (k, c) VALUES (1, null)",
		"SELECT * FROM r.sharded WHERE k = 1 AND c IN (1, null)",
		"SELECT * FROM r.sharded WHERE k = 1 LIMIT 0",
		"INSERT INTO r.sharded (k, c) VALUES (1, ?)",
		"SELECT * FROM r.sharded WHERE k = 1 AND c = ?",
		"SELECT * FROM r.sharded WHERE k = ?",
	} {
		for way, a := range r.asNobody(text) {
			if a.Kind == difftest.Prepared && way != "explain" {
				continue // as of any table: what is refused is refused when it is executed
			}
			said := strings.ToLower(a.Text + strings.Join(a.Warnings, " "))
			if a.Code != primitive.ErrorCodeUnauthorized || strings.Contains(said, "shard") && !strings.Contains(said, "<table r.sharded>") || strings.Contains(said, "write_sharding") {
				t.Errorf("%s %s: %s", way, text, show(a))
			}
		}
	}
}

// testRightsBeforeRollover has a client without rights write more rows than fill a shard. The door
// counts none of them, and writes nothing to the directory.
func testRightsBeforeRollover(r *rightful) {
	for c := range 15 {
		for way, a := range r.asNobody(fmt.Sprintf("INSERT INTO r.rolling (k, c, v) VALUES (1, %d, 1)", c)) {
			if a.Code != primitive.ErrorCodeUnauthorized && a.Kind != difftest.Prepared {
				r.t.Errorf("%s: %s", way, show(a))
			}
		}
	}
	o := r.router.rollovers
	if n := len(o.Fills.All()); n > 0 {
		r.t.Errorf("the door counts writes to %d keys", n)
	}
	id := r.router.state.Load().Table("r", "rolling").ID
	if log, err := o.Catalogue.Read(r.t.Context(), id, 0); err != nil || len(log) > 0 {
		r.t.Errorf("the directory has %d entries, %v", len(log), err)
	}
	// The same writes count if the client may write.
	r.must(r.super, "INSERT INTO r.rolling (k, c, v) VALUES (1, 1, 1)")
	if n := len(o.Fills.All()); n != 1 {
		r.t.Errorf("the door counts writes to %d keys", n)
	}
}

// testRightsBeforeAdoption sends orders about a table's layout from a client that may not alter the
// table. Then it lets a client adopt a table that the client may not read. In neither case may the
// client learn which row is in a wrong shard.
func testRightsBeforeAdoption(r *rightful) {
	r.must(r.super, "CREATE TABLE r.by_hand (k int, shard int, c int, v int, PRIMARY KEY ((k, shard), c))")
	r.must(r.superDirect, "INSERT INTO r.by_hand (k, shard, c) VALUES (4711, 2, 1)")
	alter := func(options string) string { return "ALTER TABLE r.by_hand WITH write_sharding = {" + options + "}" }
	adopt := alter("'adopt': 'shard', 'shards': '1'")
	r.refused(r.super, adopt, primitive.ErrorCodeInvalid, "k = 4711")
	r.refused(r.nobody, adopt, primitive.ErrorCodeUnauthorized, "ALTER")
	for _, options := range []string{"'adopt': ''", "'change': 'rollback'", "'change': 'status'", "'change': 'plan', 'shards': '2'", "'shards': '2'"} {
		r.refused(r.nobody, alter(options), primitive.ErrorCodeUnauthorized, "ALTER")
	}
	r.refused(r.super, alter("'change': 'rollback'"), primitive.ErrorCodeInvalid, "no change of its layout is under way")

	r.must(r.super, "GRANT ALTER ON r.by_hand TO nobody")
	r.granted(adopt, "ALTER")
	r.refused(r.nobody, adopt, primitive.ErrorCodeUnauthorized, "SELECT")
	if a := r.must(r.nobody, alter("'change': 'status'")); strings.Contains(show(a)+string(a.Rows[0][0]), "4711") {
		r.t.Errorf("the status is %s", a.Rows[0][0])
	}

	r.must(r.super, "GRANT SELECT ON r.by_hand TO nobody")
	r.granted(adopt, "SELECT")
	r.refused(r.nobody, adopt, primitive.ErrorCodeInvalid, "k = 4711")
	r.must(r.superDirect, "DELETE FROM r.by_hand WHERE k = 4711 AND shard = 2")
	r.must(r.nobody, adopt)
	r.must(r.nobody, "SELECT * FROM r.by_hand WHERE k = 1")
	r.refused(r.nobody, "INSERT INTO r.by_hand (k, c) VALUES (1, 1)", primitive.ErrorCodeUnauthorized, "MODIFY")
	r.must(r.nobody, alter("'adopt': ''"))
}

// refused checks that the door refuses a client's statement, with a code and words.
func (r *rightful) refused(c *difftest.Conn, text string, code primitive.ErrorCode, words string) {
	r.t.Helper()
	if a := r.query(c, text); a.Kind != difftest.Error || a.Code != code || !strings.Contains(a.Text, words) {
		r.t.Errorf("%s\nis answered %s, want an error %v with %q", text, show(a), code, words)
	}
}

// granted waits until Cassandra lets nobody have a right that it was granted: it keeps rights for a while.
func (r *rightful) granted(text, right string) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if a := r.query(r.nobody, text); a.Code != primitive.ErrorCodeUnauthorized || !strings.Contains(a.Text, right) {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("nobody never gets the right to %s", right)
		}
	}
}

// asNobody sends a statement in every way, without rights.
func (r *rightful) asNobody(text string) map[string]*difftest.Answer {
	r.t.Helper()
	answers := map[string]*difftest.Answer{}
	put := func(way string) func(*difftest.Answer, error) *difftest.Answer {
		return func(a *difftest.Answer, err error) *difftest.Answer {
			if err != nil {
				r.t.Fatalf("%s: %v", text, err)
			}
			answers[way] = a
			return a
		}
	}
	word, _, _ := strings.Cut(text, " ")
	value := []*primitive.Value{primitive.NewValue(make([]byte, 8))}
	if !strings.Contains(text, "?") {
		value = nil
		put("QUERY")(r.nobody.Query(difftest.Request{Query: text}))
	}
	if p := put("PREPARE")(r.nobody.Prepare(text)); p.Kind == difftest.Prepared {
		put("EXECUTE")(r.nobody.Execute(p, difftest.Request{Values: value}))
	}
	if value == nil && (word == "INSERT" || word == "UPDATE" || word == "DELETE") {
		put("BATCH")(r.nobody.Batch(&message.Batch{Children: []*message.BatchChild{{Query: "UPDATE r.open SET v = 1 WHERE k = 1 AND c = 1"}, {Query: text}}}))
	}
	if slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN"}, word) {
		a, payload, err := r.nobody.SendPayload(&message.Prepare{Query: text}, map[string][]byte{definitions.ExplainPayload: nil})
		put("explain")(a, err)
		if payload != nil {
			r.t.Errorf("%s is explained to who has no rights: %s", text, payload)
		}
	}
	return answers
}

// testCatalogueWithRights sends the superuser's statements on the catalogue's keyspace,
// and those of a client without rights.
func testCatalogueWithRights(r *rightful) {
	t := r.t
	for _, text := range gated {
		if strings.HasPrefix(text, "USE") {
			continue
		}
		want := show(r.query(r.superDirect, inNames(text, "no_such_keyspace", "r")))
		r.store.take()
		got := strings.ReplaceAll(show(r.query(r.super, inNames(text, "evenkeel", "r"))), "evenkeel", "no_such_keyspace")
		if got != want && !(strings.Contains(got, "is reserved") && strings.Contains(text, " KEYSPACE")) {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
		if a := r.query(r.nobody, inNames(text, "evenkeel", "r")); a.Kind != difftest.Error && !strings.Contains(text, "IF EXISTS") {
			t.Errorf("%s, without rights: %s", text, show(a))
		}
		for _, sent := range r.store.take() {
			if spoken.MatchString(sent) {
				t.Errorf("%s: the store was sent %s", text, sent)
			}
		}
	}
}

// testRightsOfWhatReachesNoShard is about statements that reach no shard, and could be
// answered without asking anybody.
func testRightsOfWhatReachesNoShard(r *rightful) {
	t, s, super, nobody, direct := r.t, r.scene, r.super, r.nobody, r.direct
	const columns, layout = "(k int, c int, v int, PRIMARY KEY (k, c))", shardedByFour
	for _, text := range []string{
		"SELECT * FROM TABLE WHERE k = 1 AND c = 1",
		"SELECT * FROM TABLE",
		"SELECT * FROM TABLE WHERE k IN ()",
		"SELECT count(*) FROM TABLE WHERE k IN ()",
		"SELECT k FROM TABLE WHERE k = 1 AND c IN ()",
		"SELECT k FROM TABLE WHERE k = 1 AND c > 5 AND c < 3",
		"SELECT DISTINCT k FROM TABLE WHERE token(k) > 5 AND token(k) < 3",
		"UPDATE TABLE SET v = 1 WHERE k IN () AND c = 1",
		"DELETE FROM TABLE WHERE k IN ()",
		"DELETE FROM TABLE WHERE k = 1 AND c > 5 AND c < 3",
		"INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1) IF NOT EXISTS",
		"BEGIN BATCH UPDATE TABLE SET v = 1 WHERE k IN () AND c = 1; APPLY BATCH",
		"BEGIN BATCH UPDATE WRITTEN SET v = 1 WHERE k = 1 AND c = 1; UPDATE TABLE SET v = 1 WHERE k IN () AND c = 1; APPLY BATCH",
		"CREATE TABLE IF NOT EXISTS TABLE " + columns + "LAYOUT",
		"CREATE TABLE TABLE " + columns + "LAYOUT",
		"CREATE TABLE TABLE (k int, PRIMARY KEY (nothing))LAYOUT",
		"ALTER TABLE TABLE ADD IF NOT EXISTS v int",
		"ALTER TABLE TABLE ADD v int",
		"DROP TABLE TABLE",
		"TRUNCATE TABLE",
	} {
		named := func(table, written, layout string) string {
			words := strings.Fields(strings.NewReplacer("LAYOUT", layout, "WRITTEN", written).Replace(text))
			for i := 1; i < len(words); i++ {
				ddl := words[i-1] == "CREATE" || words[i-1] == "ALTER" || words[i-1] == "DROP"
				if words[i] == "TABLE" && !ddl {
					words[i] = table
				}
			}
			return strings.Join(words, " ")
		}
		want := s.query(direct, named("r.plain", "r.open", ""))
		if want.Code != primitive.ErrorCodeUnauthorized {
			t.Fatalf("%s is not forbidden by Cassandra: %+v", text, want)
		}
		wantText := strings.ReplaceAll(want.Text, "r.plain", "r.sharded")
		check := func(how string, got *difftest.Answer) {
			t.Helper()
			if got.Code != want.Code || got.Text != wantText {
				t.Errorf("%s %s:\ngot  %v %s\nwant %s", how, text, got.Code, got.Text, wantText)
			}
		}
		check("QUERY", s.query(nobody, named("r.sharded", "r.written", layout)))
		if word, _, _ := strings.Cut(text, " "); word == "SELECT" || word == "UPDATE" || word == "DELETE" || word == "INSERT" {
			p, err := nobody.Prepare(named("r.sharded", "r.written", layout))
			if err != nil || p.Kind != difftest.Prepared {
				t.Fatalf("%s: %v %+v", text, err, p)
			}
			got, err := nobody.Execute(p, difftest.Request{})
			if err != nil {
				t.Fatal(err)
			}
			check("EXECUTE", got)
			if word != "SELECT" && !strings.Contains(text, "IF ") {
				// Where one statement of a batch is allowed, the other is judged all the same.
				got, err := nobody.Batch(&message.Batch{Children: []*message.BatchChild{
					{Query: "UPDATE r.written SET v = 1 WHERE k = 1 AND c = 1"}, {Query: named("r.sharded", "r.written", layout)}}})
				if err != nil {
					t.Fatal(err)
				}
				check("BATCH", got)
			}
		}
	}
	if a := s.must(super, "SELECT * FROM r.written"); len(a.Rows) > 0 {
		t.Errorf("a batch of which a part is forbidden was carried out: %v", a.Rows)
	}
}
