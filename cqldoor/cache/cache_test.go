// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// scene is a cache on a store that counts what it is asked, and a client's link.
type scene struct {
	*Cache
	t     *testing.T
	store *registerStore
	link  store.Link
}

func start(t *testing.T, change func(*Options)) *scene {
	t.Helper()
	s := &registerStore{}
	o := Options{Store: s, Size: MinSize}
	if change != nil {
		change(&o)
	}
	c, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	x := &scene{Cache: c, t: t, store: s, link: opened(t, c, "alice")}
	prepare(t, x.link, readText)
	prepare(t, x.link, writeText)
	return x
}

// read reads a partition, and says whether the store was asked.
func (x *scene) read(l store.Link, level wire.Consistency, n int) (value int64, asked bool) {
	x.t.Helper()
	x.store.mu.Lock()
	before := x.store.asked
	x.store.mu.Unlock()
	value = valueOf(x.t, ask(x.t.Context(), l, execute(readText, level, n)))
	synctest.Wait()
	x.store.mu.Lock()
	defer x.store.mu.Unlock()
	return value, x.store.asked > before
}

func (x *scene) expect(what string, level wire.Consistency, n int, value int64, asked bool) {
	x.t.Helper()
	if v, a := x.read(x.link, level, n); v != value || a != asked {
		x.t.Errorf("%s: %d, the store was asked: %v; want %d, %v", what, v, a, value, asked)
	}
}

// warm reads until a partition is kept: the first read asks whether the table's cells expire.
func (x *scene) warm(n int) {
	x.t.Helper()
	x.read(x.link, wire.One, n)
	x.read(x.link, wire.One, n)
}

func TestWhatIsKeptAndWhatIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t, nil)
		x.warm(1)
		x.expect("read again", wire.One, 1, 0, false)
		x.expect("at LOCAL_ONE", wire.LocalOne, 1, 0, true)
		for _, level := range []wire.Consistency{wire.Quorum, wire.LocalQuorum, wire.All, wire.Two, wire.Serial, wire.LocalSerial} {
			x.expect(fmt.Sprint("at ", level), level, 1, 0, true)
			x.expect(fmt.Sprint("again at ", level), level, 1, 0, true)
		}
		x.expect("at ONE after them", wire.One, 1, 0, false)

		// Each kind of write is seen, and says nothing of other partitions but where it may.
		x.warm(2)
		ask(t.Context(), x.link, execute(writeText, wire.One, 1))
		x.expect("after a write", wire.One, 1, 1, true)
		x.expect("another partition", wire.One, 2, 0, false)
		ask(t.Context(), x.link, batch(writeText, 1))
		x.expect("after a batch", wire.One, 1, 2, true)
		x.expect("another partition", wire.One, 2, 0, false)
		ask(t.Context(), x.link, query("UPDATE ks.t SET c = c + 1 WHERE k = 1"))
		x.expect("after a text", wire.One, 1, 3, true)
		x.expect("another partition, after a text", wire.One, 2, 0, true)
		x.expect("kept again", wire.One, 1, 3, false)

		// A change of the schema.
		ask(t.Context(), x.link, query("ALTER TABLE ks.t ADD x int"))
		x.expect("after DDL", wire.One, 1, 3, true)
		x.warm(1)
		x.everything() // as an event of another door's
		x.expect("after an event", wire.One, 1, 3, true)
		x.warm(1)

		// An account sees what it asked for itself.
		bob := opened(t, x.Cache, "bob")
		if _, asked := x.read(bob, wire.One, 1); !asked {
			t.Error("an account is shown what another has read")
		}
		// The door's own account is not served.
		own, err := x.Open(t.Context(), store.LinkOptions{Version: wire.Highest, Own: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, asked := x.read(own, wire.One, 1); !asked {
				t.Error("the door's own account is served from the cache")
			}
		}
		// In the end it expires.
		x.expect("before the end", wire.One, 1, 3, false)
		time.Sleep(5 * time.Minute)
		x.expect("after the end", wire.One, 1, 3, true)
	})
}

// The cache keeps no rows that may expire.
func TestExpiringTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t, nil)
		x.store.ttl = 60
		x.warm(1)
		x.expect("a table with a default_time_to_live", wire.One, 1, 0, true)

		y := start(t, nil)
		y.warm(1)
		y.expect("before", wire.One, 1, 0, false)
		ask(t.Context(), y.link, query("UPDATE ks.t USING TTL 5 SET c = c + 1 WHERE k = 7"))
		y.warm(1)
		y.expect("after USING TTL", wire.One, 1, 0, true)
	})
}

// After a write, the store's reads may be behind. The cache keeps nothing during that time.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t, func(o *Options) { o.Settle = 3 * time.Second })
		x.warm(1)
		ask(t.Context(), x.link, execute(writeText, wire.One, 1))
		for range 3 {
			x.expect("just written", wire.One, 1, 1, true)
		}
		time.Sleep(3 * time.Second)
		x.expect("settled", wire.One, 1, 1, true)
		x.expect("kept", wire.One, 1, 1, false)
	})
}

// If a read began while the store could be behind a write, later reads must not join it. It may
// return the state before the write, after others have seen the write.
func TestReadsThatBeganInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t, func(o *Options) { o.Settle = 3 * time.Second })
		x.warm(1)
		ask(t.Context(), x.link, execute(writeText, wire.One, 1))
		x.store.hold = make(chan struct{})
		before := x.store.asked
		done := make(chan wire.Message, 3)
		send := func() {
			x.link.Send(t.Context(), execute(readText, wire.One, 1), func(resp wire.Message) { done <- resp })
			synctest.Wait()
		}
		send()
		time.Sleep(3 * time.Second)
		send()
		if n := x.store.asked - before; n != 2 {
			t.Errorf("a read joined one that began in doubt: the store was asked %d times", n)
		}
		send()
		if n := x.store.asked - before; n != 2 {
			t.Errorf("a read did not join one that began after: the store was asked %d times", n)
		}
		close(x.store.hold)
		for range 3 {
			<-done
		}
	})
}

// Identical reads share a request. Its sender may give up; when the last reader gives up, the
// request ends.
func TestReadsShareARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t, nil)
		x.warm(1)
		x.store.hold = make(chan struct{})
		before := x.store.asked
		done := make(chan wire.Message, 10)
		var ends []context.CancelFunc
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			ends = append(ends, cancel)
			x.link.Send(ctx, execute(readText, wire.One, 5), func(resp wire.Message) { done <- resp })
		}
		synctest.Wait()
		if n := x.store.asked - before; n != 1 {
			t.Fatalf("the store was asked %d times", n)
		}
		sent := x.store.sentTo[len(x.store.sentTo)-1]
		for _, end := range ends[:9] {
			end()
		}
		synctest.Wait()
		if sent.Err() != nil {
			t.Error("the request has ended though one waits")
		}
		ends[9]()
		synctest.Wait()
		if sent.Err() == nil {
			t.Error("the request goes on though nobody waits")
		}
		close(x.store.hold)
		for range 10 {
			<-done
		}
		// A read does not join one that began before a write which it must see.
		x.store.hold = make(chan struct{})
		old := x.store.hold
		x.link.Send(t.Context(), execute(readText, wire.One, 6), func(wire.Message) { done <- wire.Message{} })
		synctest.Wait()
		ask(t.Context(), x.link, execute(writeText, wire.One, 6))
		x.store.mu.Lock()
		x.store.hold = nil
		x.store.mu.Unlock()
		if v, _ := x.read(x.link, wire.One, 6); v != 1 {
			t.Errorf("a read joined one that is older than a write: %d", v)
		}
		close(old)
		<-done
		x.expect("what began before the write is not kept", wire.One, 6, 1, false)
	})
}

// The result of a SELECT that the cache keeps must depend on its partition alone.
func TestStatementsThatAreKept(t *testing.T) {
	var s statements
	for text, want := range map[string]kind{
		"SELECT * FROM t WHERE k = ?":                            reads,
		"SELECT a, b FROM ks.t WHERE k = ? AND c > 5 LIMIT ?":    reads,
		"SELECT DISTINCT k, s FROM t WHERE k = ?":                reads,
		"SELECT ttl(a) FROM t WHERE k = ?":                       passes,
		"SELECT now() FROM t WHERE k = ?":                        passes,
		"SELECT count(*) FROM t WHERE k = ?":                     passes,
		"SELECT a FROM t WHERE k IN ?":                           passes,
		"SELECT a FROM t WHERE k = ? AND c = currentTimestamp()": passes,
		"SELECT a FROM t WHERE k = ? AND c > maxTimeuuid(?)":     passes,
		"SELECT a FROM t WHERE token(k) > ?":                     passes,
		"SELECT a FROM t WHERE k = ? AND b = 5 ALLOW FILTERING":  passes,
		"SELECT key FROM system.local WHERE key = ?":             passes,
		"USE x": passes,
		"INSERT INTO evenkeel.doors (a) VALUES (1)":             passes,
		"INSERT INTO t (k) VALUES (?)":                          writes,
		"TRUNCATE t":                                            writes,
		"BEGIN BATCH INSERT INTO t (k) VALUES (?); APPLY BATCH": writes,
		"CREATE TABLE ks.u (k int PRIMARY KEY)":                 writes,
		"what is this":                                          writes,
		"GRANT SELECT ON t TO x":                                writes,
	} {
		if st := s.classify(text, "ks"); st.kind != want {
			t.Errorf("%s is %d, want %d", text, st.kind, want)
		}
	}
}

// Memory is bounded, whatever is read.
func TestSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t, nil)
		x.warm(0)
		body := rows(1, 8).Body
		body = append(body, make([]byte, 4000)...)
		for i := range 2000 {
			a := &asked{text: fmt.Append(nil, i), hash: uint64(i) * 7919, part: uint64(i), table: x.known.table("ks.t"), epoch: x.fence.Table("ks.t")}
			g := x.fence.Group(a.part)
			g.Lock()
			v := x.view(a)
			g.Unlock()
			x.keep(a, v, body)
		}
		x.entries.CleanUp()
		if s := x.Stats(); s.Bytes > MinSize || s.Evicted < 1000 {
			t.Errorf("%+v", s)
		}
	})
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Store: &registerStore{}}, {Store: &registerStore{}, Size: MinSize, TTL: -1}} {
		if _, err := New(t.Context(), o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
