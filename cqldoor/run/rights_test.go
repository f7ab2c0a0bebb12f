package run

import (
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestRightsOfWhatReachesNoShard holds sharded tables to the rights that Cassandra would see to on a
// plain one, also where a statement reaches no shard and could be answered without
// asking anybody.
func TestRightsOfWhatReachesNoShard(t *testing.T) {
	c := cassandra.Start(t, cassandra.Options{Auth: true})
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{c.Addr()}, ConnectTimeout: time.Minute, Username: cassandra.Username, Password: cassandra.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	at := serveDoor(t, st, startRouter(t, st))
	as := func(addr, user, password string) *difftest.Conn {
		t.Helper()
		conn, err := difftest.Dial(addr, primitive.ProtocolVersion5, user, password)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	s := &scene{t: t}
	super := as(at, cassandra.Username, cassandra.Password)
	const columns = "(k int, c int, v int, PRIMARY KEY (k, c))"
	const layout = " WITH write_sharding = {'shards': '4'}"
	for _, text := range []string{
		"CREATE KEYSPACE r WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE r.plain " + columns,
		"CREATE TABLE r.sharded " + columns + layout,
		"CREATE TABLE r.written " + columns + layout,
		"CREATE TABLE r.open " + columns,
		"CREATE ROLE nobody WITH PASSWORD = 'nobody' AND LOGIN = true",
		"GRANT MODIFY ON r.written TO nobody",
		"GRANT MODIFY ON r.open TO nobody",
	} {
		s.must(super, text)
	}
	nobody, direct := as(at, "nobody", "nobody"), as(c.Addr(), "nobody", "nobody")
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
