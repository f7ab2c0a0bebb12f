// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// eachAnswer calls f with every session, and compares its answers with the judge's, pair by pair.
func eachAnswer(t *testing.T, sessions []*Session, o Comparison, f func(s *Session) []*Answer) {
	t.Helper()
	var want []*Answer
	for i, s := range sessions {
		got := f(s)
		for _, a := range got {
			a.rename(s.Keyspace, openKeyspace)
		}
		if i == 0 {
			want = got
			continue
		}
		if len(got) != len(want) {
			t.Errorf("%s gives %d answers, the judge %d", s.Name, len(got), len(want))
			continue
		}
		for j := range want {
			if d := Difference(want[j], got[j], o); d != "" {
				t.Errorf("%s, answer %d:\n%s", s.Name, j+1, indent(d))
			}
		}
	}
}

// sure returns the answer of a call that must not lose its connection.
func sure(t *testing.T) func(*Answer, error) *Answer {
	return func(a *Answer, err error) *Answer {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// TestProtocol covers what a statement's text cannot express: BATCH messages, stale and foreign
// ids, paging states and metadata, keyspaces of requests.
func TestProtocol(t *testing.T) {
	all := targets(t)
	for _, v := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) { testProtocol(t, openAll(t, all, v), v) })
	}
}

func testProtocol(t *testing.T, sessions []*Session, v primitive.ProtocolVersion) {
	must := sure(t)
	for _, s := range sessions {
		for _, q := range []string{
			"CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))",
			"CREATE TABLE n (p int, c int, n counter, PRIMARY KEY (p, c))",
		} {
			if err := s.must(s.text(q)); err != nil {
				t.Fatal(err)
			}
		}
	}
	exactly := Comparison{}
	i32 := func(n int32) *primitive.Value {
		return primitive.NewValue([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	}
	text := func(s string) *primitive.Value { return primitive.NewValue([]byte(s)) }
	stamp := int64(1000)
	rows := func(s *Session) *Answer {
		return must(s.Query(Request{Query: "SELECT c, v, writetime(v) FROM t WHERE p = 1"}))
	}

	t.Run("batch", func(t *testing.T) {
		eachAnswer(t, sessions, exactly, func(s *Session) (out []*Answer) {
			insert := must(s.Prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)"))
			remove := must(s.Prepare("DELETE FROM t WHERE p = ? AND c > ?"))
			for _, kind := range []primitive.BatchType{primitive.BatchTypeLogged, primitive.BatchTypeUnlogged} {
				stamp := stamp + int64(kind)
				b := &message.Batch{Type: kind, DefaultTimestamp: &stamp, Children: []*message.BatchChild{
					{Id: insert.ID, Values: []*primitive.Value{i32(1), i32(1), text("a")}},
					{Id: insert.ID, Values: []*primitive.Value{i32(1), i32(2), primitive.NewNullValue()}},
					{Id: insert.ID, Values: []*primitive.Value{i32(1), i32(3), primitive.NewUnsetValue()}},
					{Query: "INSERT INTO t (p, c, v) VALUES (1, 4, 'simple')"},
					{Query: "UPDATE t SET v = ? WHERE p = 1 AND c = ?", Values: []*primitive.Value{text("bound"), i32(5)}},
					{Id: remove.ID, Values: []*primitive.Value{i32(2), i32(0)}},
				}}
				out = append(out, must(s.Batch(b)), rows(s))
			}
			return out
		})
	})
	t.Run("counter batch", func(t *testing.T) {
		eachAnswer(t, sessions, exactly, func(s *Session) []*Answer {
			b := &message.Batch{Type: primitive.BatchTypeCounter}
			for range 3 {
				b.Children = append(b.Children, &message.BatchChild{Query: "UPDATE n SET n = n + ? WHERE p = 1 AND c = 1",
					Values: []*primitive.Value{primitive.NewValue([]byte{0, 0, 0, 0, 0, 0, 0, 5})}})
			}
			return []*Answer{must(s.Batch(b)), must(s.Query(Request{Query: "SELECT * FROM n WHERE p = 1"}))}
		})
	})
	t.Run("bad batches", func(t *testing.T) {
		eachAnswer(t, sessions, exactly, func(s *Session) (out []*Answer) {
			insert := must(s.Prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)"))
			for _, children := range [][]*message.BatchChild{
				{{Id: insert.ID, Values: []*primitive.Value{i32(1)}}},
				{{Id: insert.ID, Values: []*primitive.Value{i32(1), i32(1), text("a"), text("b")}}},
				{{Id: insert.ID, Values: []*primitive.Value{i32(1), text("x"), text("a")}}},
				{{Query: "SELECT * FROM t"}},
				{{Query: "INSERT INTO nothing (p) VALUES (1)"}},
				{{Query: "UPDATE n SET n = n + 1 WHERE p = 1 AND c = 1"}},
				{{Query: "INSERT INTO t (p, c) VALUES (1, 9)"}, {Query: "INSERT INTO t (p, c) VALUES (1, 9) IF NOT EXISTS"}},
				{{Query: "INSERT INTO t (p, c) VALUES (1, 9) IF NOT EXISTS"}, {Query: "INSERT INTO t (p, c) VALUES (2, 9) IF NOT EXISTS"}},
			} {
				out = append(out, must(s.Batch(&message.Batch{Type: primitive.BatchTypeLogged, Children: children})))
			}
			return append(out, must(s.Query(Request{Query: "SELECT c, v FROM t WHERE p = 1"})))
		})
	})
	t.Run("unknown prepared id", func(t *testing.T) {
		eachAnswer(t, sessions, Comparison{CodeOnly: true}, func(s *Session) []*Answer {
			p := &Answer{ID: []byte("0123456789abcdef"), MetadataID: []byte("0123456789abcdef")}
			return []*Answer{
				must(s.Execute(p, Request{})),
				must(s.Batch(&message.Batch{Children: []*message.BatchChild{{Id: p.ID}}})),
			}
		})
	})
	t.Run("foreign page states", func(t *testing.T) {
		eachAnswer(t, sessions, Comparison{CodeOnly: true}, func(s *Session) (out []*Answer) {
			for c := range 12 {
				must(s.Query(Request{Query: fmt.Sprintf("INSERT INTO t (p, c, v) VALUES (7, %d, 'x')", c)}))
			}
			q := "SELECT c FROM t WHERE p = 7"
			first := must(s.Query(Request{Query: q, PageSize: 5}))
			if first.State == nil {
				t.Fatalf("%s: no page state after 5 of 12 rows", s.Name)
			}
			// The state is valid again on another connection, and by EXECUTE.
			other, err := Dial(s.Addr, v, s.Username, s.Password)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			must(other.Query(Request{Query: "USE " + s.Keyspace}))
			out = append(out, must(s.Query(Request{Query: q, PageSize: 5, State: first.State})),
				must(other.Query(Request{Query: q, PageSize: 3, State: first.State})),
				must(s.Execute(must(s.Prepare(q)), Request{PageSize: 50, State: first.State})))
			for _, state := range [][]byte{{0xff}, []byte("this is no page state"), first.State[:len(first.State)-1]} {
				out = append(out, must(s.Query(Request{Query: q, PageSize: 5, State: state})))
			}
			return out
		})
	})
	t.Run("page sizes", func(t *testing.T) {
		eachAnswer(t, sessions, exactly, func(s *Session) (out []*Answer) {
			for _, size := range []int32{1, 11, 12, 13, 1 << 30} {
				a := must(s.Query(Request{Query: "SELECT c FROM t WHERE p = 7", PageSize: size}))
				// After a page that is just full, Cassandra does not know whether more follows.
				if more := a.State != nil; size != 12 && more != (size < 12) {
					t.Errorf("%s: a page of %d of 12 rows says %v to more pages", s.Name, size, more)
				}
				out = append(out, a)
			}
			return out
		})
	})
	t.Run("changed metadata", func(t *testing.T) {
		// Cassandra forgets the statement, so that the client prepares it again. A server may also
		// answer if it tells the new columns: by METADATA_CHANGED in v5, and with every result in
		// v4.
		for _, s := range sessions {
			star := must(s.Prepare("SELECT * FROM t WHERE p = 7 AND c = 1"))
			if a := must(s.Execute(star, Request{SkipMeta: true})); len(a.Rows) != 1 || len(a.Rows[0]) != 3 {
				t.Errorf("%s: before ALTER TABLE: %v", s.Name, a)
			}
			must(s.Query(Request{Query: "ALTER TABLE t ADD w int"}))
			a := must(s.Execute(star, Request{SkipMeta: true}))
			switch {
			case a.Kind == Error && a.Code == primitive.ErrorCodeUnprepared:
			case a.Kind != Rows || len(a.Rows) != 1 || len(a.Rows[0]) != 4 || len(a.Columns) != 4:
				t.Errorf("%s: after ALTER TABLE: %v", s.Name, a)
			}
		}
	})
	t.Run("a dropped table's prepared statement", func(t *testing.T) {
		eachAnswer(t, sessions, Comparison{CodeOnly: true}, func(s *Session) []*Answer {
			must(s.Query(Request{Query: s.text("CREATE TABLE gone (p int, c int, PRIMARY KEY (p, c))")}))
			p := must(s.Prepare("SELECT * FROM gone WHERE p = 1"))
			must(s.Query(Request{Query: "DROP TABLE gone"}))
			return []*Answer{must(s.Execute(p, Request{}))}
		})
	})
	t.Run("serial consistency", func(t *testing.T) {
		eachAnswer(t, sessions, exactly, func(s *Session) []*Answer {
			return []*Answer{
				must(s.Query(Request{Query: "INSERT INTO t (p, c) VALUES (8, 1) IF NOT EXISTS", Serial: primitive.ConsistencyLevelLocalSerial})),
				must(s.Query(Request{Query: "SELECT c FROM t WHERE p = 8", Consistency: primitive.ConsistencyLevelSerial})),
				must(s.Query(Request{Query: "SELECT c FROM t WHERE p = 8", Consistency: primitive.ConsistencyLevelQuorum})),
				must(s.Query(Request{Query: "INSERT INTO t (p, c) VALUES (8, 2)", Consistency: primitive.ConsistencyLevelSerial})),
			}
		})
	})
	t.Run("no keyspace", func(t *testing.T) {
		eachAnswer(t, sessions, exactly, func(s *Session) []*Answer {
			c, err := Dial(s.Addr, v, s.Username, s.Password)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			out := []*Answer{
				must(c.Query(Request{Query: "SELECT c FROM t WHERE p = 7"})),
				must(c.Query(Request{Query: "SELECT c FROM " + s.Keyspace + ".t WHERE p = 7"})),
				must(c.Prepare("INSERT INTO t (p, c) VALUES (1, 1)")),
			}
			if v >= primitive.ProtocolVersion5 {
				out = append(out, must(c.Query(Request{Query: "SELECT c FROM t WHERE p = 7", Keyspace: s.Keyspace})))
			}
			return out
		})
	})
}

// TestCompression runs one script over connections with compression.
func TestCompression(t *testing.T) {
	all := targets(t)
	script, err := ReadScript("testdata/slices.cql")
	if err != nil {
		t.Fatal(err)
	}
	refusals, err := ReadRefusals("testdata/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range script.Versions {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			sessions := openAll(t, all, primitive.ProtocolVersion(v))
			for _, s := range sessions {
				plain := s.Conn
				c, err := DialLZ4(s.Addr, primitive.ProtocolVersion(v), s.Username, s.Password)
				if err != nil {
					t.Fatal(err)
				}
				s.Conn = c
				t.Cleanup(func() {
					c.Close()
					s.Conn = plain
				})
				if err := s.must("USE " + s.Keyspace); err != nil {
					t.Fatal(err)
				}
			}
			r := &Runner{Sessions: sessions, Refusals: refusals, Tally: &Tally{}, Report: t.Errorf, Log: t.Logf}
			r.Run(script)
			// This is larger than a segment, and compressible.
			long := strings.Repeat("long ", 60_000)
			eachAnswer(t, sessions, Comparison{}, func(s *Session) []*Answer {
				must := sure(t)
				return []*Answer{
					must(s.Query(Request{Query: "INSERT INTO t (p, c, v) VALUES (9, 9, '" + long + "')"})),
					must(s.Query(Request{Query: "SELECT * FROM t WHERE p = 9"})),
				}
			})
		})
	}
}
