// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	cassandraengine "github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

func TestMain(m *testing.M) {
	leak.Main(m, goleak.IgnoreAnyFunction("os/exec.(*Cmd).watchCtx.func1"))
}

// backend is a store with a keyspace of the test's own.
type backend struct {
	t        *testing.T
	session  *StoreSession
	keyspace string
}

// each runs a test on a real Cassandra and on the embedded engine.
func each(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Run("cassandra", func(t *testing.T) {
		st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{cassandra.Shared(t)}, ConnectTimeout: time.Minute}) // a loaded machine is slow
		if err != nil {
			t.Fatal(err)
		}
		test(t, newBackend(t, st))
	})
	t.Run("engine", func(t *testing.T) { test(t, embedded(t)) })
}

// embedded is for tests of many steps: its schema changes are quick.
func embedded(t *testing.T) *backend {
	t.Helper()
	e, err := cassandraengine.Open(t.TempDir(), cassandraengine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return newBackend(t, e)
}

func newBackend(t *testing.T, st store.Store) *backend {
	t.Helper()
	b := &backend{t: t, session: NewSession(st), keyspace: cassandra.Keyspace(t, "catalog")}
	b.exec("CREATE KEYSPACE " + b.keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	t.Cleanup(func() {
		b.exec("DROP KEYSPACE " + b.keyspace)
		entries, _, err := b.door(nil).Load(context.Background())
		if err != nil {
			t.Error(err)
		}
		if err := b.door(nil).Forget(context.Background(), b.own(entries)); err != nil {
			t.Error(err)
		}
		b.session.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *backend) exec(cql string) {
	b.t.Helper()
	if _, err := b.session.Query(context.Background(), wire.LocalQuorum, cql); err != nil {
		b.t.Fatalf("%s: %v", cql, err)
	}
}

// own are the entries of the test's keyspace: other tests may use the catalogue at
// the same time.
func (b *backend) own(entries []*Entry) []*Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e *Entry) bool { return e.Keyspace != b.keyspace })
}

func uuid() (u [16]byte) {
	_, _ = rand.Read(u[:])
	return u
}

// door is the catalogue as one door sees it, over a session of its own or b's.
// Operations of others have had their time at once.
func (b *backend) door(s Session) *Catalog {
	if s == nil {
		s = b.session
	}
	return New(Options{Session: s, Now: time.Now, UUID: uuid, Lease: time.Nanosecond, Poll: 5 * time.Millisecond})
}

func (b *backend) entry(table string, n int) *Entry {
	return &Entry{Keyspace: b.keyspace, Table: table, Physical: table, Layout: &shard.Layout{N: n, Column: "shard"}, Statement: "CREATE TABLE …"}
}

func (b *backend) keyspaceOf(c *Catalog) *schema.Keyspace {
	b.t.Helper()
	s, err := c.Schema(b.t.Context(), b.keyspace)
	if err != nil {
		b.t.Fatal(err)
	}
	return s.Keyspaces[b.keyspace]
}

// createPhysical is what a client's link would carry.
func (b *backend) createPhysical(s Session, table string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := s.Query(ctx, wire.LocalQuorum, fmt.Sprintf("CREATE TABLE %s.%s (k int, shard int, c text, v int, PRIMARY KEY ((k, shard), c))", b.keyspace, table))
		return err
	}
}

func (b *backend) dropPhysical(s Session, table string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := s.Query(ctx, wire.LocalQuorum, "DROP TABLE "+b.keyspace+"."+table)
		return err
	}
}

// settled is what another door finds and makes of the test's entries.
func (b *backend) settled() (applied, stale []*Entry) {
	b.t.Helper()
	c := b.door(nil)
	entries, _, err := c.Load(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := c.Schema(b.t.Context(), b.keyspace)
	if err != nil {
		b.t.Fatal(err)
	}
	c.Settle(b.t.Context(), b.own(entries), s) // from now on this door watches what is unfinished
	return c.Settle(b.t.Context(), b.own(entries), s)
}

// check says that nothing is half-done: entries are active and of tables that are
// there, tables are of entries.
func (b *backend) check() (tables int) {
	b.t.Helper()
	c := b.door(nil)
	entries, _, err := c.Load(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	physical := maps.Clone(b.keyspaceOf(c).Tables)
	for _, e := range b.own(entries) {
		t := physical[e.Table]
		if e.State != registry.Active || t == nil || t.ID != e.ID {
			b.t.Fatalf("entry %+v, physical table %+v", e, t)
		}
		delete(physical, e.Table)
		tables++
	}
	if len(physical) > 0 {
		b.t.Fatalf("tables without entries: %v", slices.Collect(maps.Keys(physical)))
	}
	return tables
}

// dying is a session of a door that dies at a step: the statement is not sent, or
// it is and nobody learns of its result; no other follows.
type dying struct {
	Session
	left   int
	after  bool
	passed []string
}

var errDied = errors.New("the door has died")

func (d *dying) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]Row, error) {
	if d.left--; d.left < 0 {
		if d.left == -1 && d.after {
			_, _ = d.Session.Query(ctx, cl, cql, values...)
		}
		return nil, errDied
	}
	d.passed = append(d.passed, cql)
	return d.Session.Query(ctx, cl, cql, values...)
}

// TestCreateDies has a door die at each step of a CREATE, before and after the
// step took place; another door brings it to an end.
func TestCreateDies(t *testing.T) {
	b := embedded(t)
	like := b.keyspaceOf(b.door(nil))
	if err := b.door(nil).tables.ensureLayouts(t.Context(), like); err != nil {
		t.Fatal(err)
	}
	took, undone := 0, 0
	for _, after := range []bool{false, true} {
		for step := 0; ; step++ {
			table := fmt.Sprintf("t%d_%v", step, after)
			d := &dying{Session: b.session, left: step, after: after}
			_, err := b.door(d).Create(t.Context(), b.entry(table, 7), like, b.createPhysical(d, table))
			if err == nil {
				if step < 4 {
					t.Fatalf("a CREATE takes %d steps: %q", step, d.passed)
				}
				break
			}
			if !errors.Is(err, errDied) {
				t.Fatalf("step %d: %v", step, err)
			}
			applied, _ := b.settled()
			is := slices.ContainsFunc(applied, func(e *Entry) bool { return e.Table == table })
			b.check()
			_, err = b.door(nil).Create(t.Context(), b.entry(table, 9), like, b.createPhysical(b.session, table))
			if is != errors.Is(err, ErrExists) || !is && err != nil {
				t.Fatalf("step %d, after %v: the table is there: %v; creating it again: %v", step, after, is, err)
			}
			if is {
				took++
			} else {
				undone++
			}
		}
	}
	if took == 0 || undone == 0 {
		t.Errorf("%d operations took place, %d did not", took, undone)
	}
	if n := b.check(); n < 10 {
		t.Errorf("%d tables", n)
	}
}

// TestCreateReadsItsTable checks that a CREATE does not read the columns of all tables of the keyspace.
func TestCreateReadsItsTable(t *testing.T) {
	b := embedded(t)
	d := &dying{Session: b.session, left: math.MaxInt}
	if _, err := b.door(d).Create(t.Context(), b.entry("t", 7), b.keyspaceOf(b.door(nil)), b.createPhysical(d, "t")); err != nil {
		t.Fatal(err)
	}
	reads := 0
	for _, text := range d.passed {
		if strings.Contains(text, "FROM system_schema.columns WHERE keyspace_name = ?") {
			if reads++; !strings.Contains(text, "table_name = ?") {
				t.Error(text)
			}
		}
	}
	if reads == 0 {
		t.Errorf("it did not look for the table: %q", d.passed)
	}
}

// TestCreateDiesUnsettled is the same where the next door does not settle first,
// but is asked to create the table at once.
func TestCreateDiesUnsettled(t *testing.T) {
	b := embedded(t)
	like := b.keyspaceOf(b.door(nil))
	for _, after := range []bool{false, true} {
		for step := 0; ; step++ {
			table := fmt.Sprintf("t%d_%v", step, after)
			d := &dying{Session: b.session, left: step, after: after}
			if _, err := b.door(d).Create(t.Context(), b.entry(table, 7), like, b.createPhysical(d, table)); err == nil {
				break
			}
			_, err := b.door(nil).Create(t.Context(), b.entry(table, 9), like, b.createPhysical(b.session, table))
			if err != nil && !errors.Is(err, ErrExists) {
				t.Fatalf("step %d, after %v: %v", step, after, err)
			}
			b.check()
		}
	}
}

// TestDropDies is TestCreateDies for DROP.
func TestDropDies(t *testing.T) {
	b := embedded(t)
	like := b.keyspaceOf(b.door(nil))
	took, undone := 0, 0
	for _, after := range []bool{false, true} {
		for step := 0; ; step++ {
			table := fmt.Sprintf("t%d_%v", step, after)
			if _, err := b.door(nil).Create(t.Context(), b.entry(table, 7), like, b.createPhysical(b.session, table)); err != nil {
				t.Fatal(err)
			}
			applied, _ := b.settled()
			e := applied[slices.IndexFunc(applied, func(e *Entry) bool { return e.Table == table })]
			d := &dying{Session: b.session, left: step, after: after}
			err := b.door(d).Drop(t.Context(), e, b.dropPhysical(d, table))
			if err == nil {
				break
			}
			before := len(applied)
			applied, _ = b.settled()
			b.check()
			if len(applied) == before {
				undone++
				if err := b.door(nil).Drop(t.Context(), e, b.dropPhysical(b.session, table)); err != nil {
					t.Fatalf("step %d, after %v: drop again: %v", step, after, err)
				}
			} else {
				took++
			}
			if n := b.check(); n != 0 {
				t.Fatalf("step %d: %d tables are left", step, n)
			}
		}
		if n := b.check(); n != 0 {
			t.Fatalf("%d tables are left", n)
		}
	}
	if took == 0 || undone == 0 {
		t.Errorf("%d operations took place, %d did not", took, undone)
	}
}

// TestTogether has several doors create one table at the same time.
func TestTogether(t *testing.T) { each(t, testTogether) }

func testTogether(t *testing.T, b *backend) {
	like := b.keyspaceOf(b.door(nil))
	for round := range 2 {
		table := fmt.Sprintf("t%d", round)
		const doors = 4
		errs := make([]error, doors)
		var wg sync.WaitGroup
		for i := range doors {
			wg.Go(func() {
				c := New(Options{Session: b.session, Now: time.Now, UUID: uuid, Poll: 10 * time.Millisecond})
				_, errs[i] = c.Create(t.Context(), b.entry(table, i+1), like, b.createPhysical(b.session, table))
			})
		}
		wg.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else if !errors.Is(err, ErrExists) {
				t.Errorf("round %d: %v", round, err)
			}
		}
		if made != 1 || b.check() != round+1 {
			t.Errorf("round %d: %d doors made the table", round, made)
		}
	}
}

// TestRefused says that a physical statement that is refused leaves nothing.
func TestRefused(t *testing.T) { each(t, testRefused) }

func testRefused(t *testing.T, b *backend) {
	like := b.keyspaceOf(b.door(nil))
	refusal := wire.Errorf(wire.CodeUnauthorized, "no")
	_, err := b.door(nil).Create(t.Context(), b.entry("t", 2), like, func(context.Context) error { return refusal })
	if !errors.Is(err, refusal) || b.check() != 0 {
		t.Fatalf("a refused CREATE: %v", err)
	}
	table, err := b.door(nil).Create(t.Context(), b.entry("t", 2), like, b.createPhysical(b.session, "t"))
	if err != nil {
		t.Fatal(err)
	}
	applied, _ := b.settled()
	if len(applied) != 1 || applied[0].ID != table.ID || applied[0].Layout.N != 2 {
		t.Fatalf("%+v", applied)
	}
	err = b.door(nil).Drop(t.Context(), applied[0], func(context.Context) error { return refusal })
	if !errors.Is(err, refusal) || b.check() != 1 {
		t.Fatalf("a refused DROP: %v", err)
	}
}

// TestStale says that a layout does not apply to another table of the same name.
func TestStale(t *testing.T) { each(t, testStale) }

func testStale(t *testing.T, b *backend) {
	c := b.door(nil)
	like := b.keyspaceOf(c)
	if _, err := c.Create(t.Context(), b.entry("t", 3), like, b.createPhysical(b.session, "t")); err != nil {
		t.Fatal(err)
	}
	b.exec("DROP TABLE " + b.keyspace + ".t")
	if err := b.createPhysical(b.session, "t")(t.Context()); err != nil { // even one of the same shape
		t.Fatal(err)
	}
	applied, stale := b.settled()
	if len(applied) != 0 || len(stale) != 1 {
		t.Fatalf("applied %v, stale %v", applied, stale)
	}
	if _, err := c.Create(t.Context(), b.entry("t", 5), like, b.createPhysical(b.session, "t")); !errors.Is(err, ErrExists) {
		t.Fatalf("create over a table that is not sharded: %v", err)
	}
	b.exec("DROP TABLE " + b.keyspace + ".t")
	// The lease is not what is waited for: the nodes agree that the table is gone.
	patient := New(Options{Session: b.session, Now: time.Now, UUID: uuid, Lease: time.Hour})
	if _, err := patient.Create(t.Context(), b.entry("t", 5), like, b.createPhysical(b.session, "t")); err != nil {
		t.Fatalf("create over a stale entry: %v", err)
	}
	if applied, _ = b.settled(); len(applied) != 1 || applied[0].Layout.N != 5 || applied[0].Layout.Generation != 1 {
		t.Fatalf("%+v", applied)
	}
	b.check()
}

// TestEntry says that an entry is read as it was written.
func TestEntry(t *testing.T) { each(t, testEntry) }

func testEntry(t *testing.T, b *backend) {
	e := b.entry("t", 17)
	e.Layout = &shard.Layout{N: 17, By: []string{"b", "A c"}, Hash: shard.CodePoints, Column: "My Shard", Generation: 4,
		Base: 3, Rows: []shard.RowEpoch{{From: []byte("m"), Range: shard.Range{N: 5, Base: 40}}}}
	physical := func(ctx context.Context) error {
		_, err := b.session.Query(ctx, wire.LocalQuorum, `CREATE TABLE `+b.keyspace+`.t (k int, "My Shard" int, b text, "A c" text, PRIMARY KEY ((k, "My Shard"), b, "A c"))`)
		return err
	}
	if _, err := b.door(nil).Create(t.Context(), e, b.keyspaceOf(b.door(nil)), physical); err != nil {
		t.Fatal(err)
	}
	applied, _ := b.settled()
	if len(applied) != 1 {
		t.Fatalf("%+v", applied)
	}
	got := applied[0]
	if !got.Layout.Equal(e.Layout) || got.Layout.Generation != 4 || got.Statement != e.Statement || got.Physical != "t" || got.State != registry.Active {
		t.Errorf("%+v, layout %+v", got, got.Layout)
	}
}

// TestPublish lets two doors publish on top of one entry: one of them must succeed. It also checks
// that a door finds its publication if the answer was lost.
func TestPublish(t *testing.T) { each(t, testPublish) }

func testPublish(t *testing.T, b *backend) {
	if _, err := b.door(nil).Create(t.Context(), b.entry("t", 8), b.keyspaceOf(b.door(nil)), b.createPhysical(b.session, "t")); err != nil {
		t.Fatal(err)
	}
	applied, _ := b.settled()
	if len(applied) != 1 {
		t.Fatalf("%+v", applied)
	}
	before := applied[0]
	next := &shard.Layout{N: 12, Column: shard.DefaultColumn}
	c, err := reshard.Change{}.Publish(reshard.Announced)
	if err != nil {
		t.Fatal(err)
	}
	published, err := b.door(nil).Publish(t.Context(), before, before.Changing(next, c))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.door(nil).Publish(t.Context(), before, before.With(next)); !errors.Is(err, ErrChanged) {
		t.Errorf("a publication on top of an entry that is gone: %v", err)
	}
	now, err := b.door(nil).Entry(t.Context(), b.keyspace, "t")
	if err != nil || now.Change == nil || *now.Change != c || !now.Next.Equal(next) || now.Layout.N != 8 || now.Layout.Generation != before.Layout.Generation+1 {
		t.Fatalf("%+v, %v", now, err)
	}
	if now.Owner != published.Owner {
		t.Error("the entry that Publish returned is not the one that is there")
	}
	d := New(Options{Session: lossy{b.session}, Now: time.Now, UUID: uuid})
	ended, err := d.Publish(t.Context(), now, now.With(next))
	if err != nil || ended.Change != nil {
		t.Fatalf("a publication whose answer is lost: %v", err)
	}
	applied, _ = b.settled()
	if len(applied) != 1 || applied[0].Change != nil || applied[0].Layout.N != 12 || applied[0].ID != before.ID {
		t.Errorf("%+v", applied)
	}
}

// lossy loses the answers of conditional updates.
type lossy struct{ Session }

func (l lossy) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]Row, error) {
	rows, err := l.Session.Query(ctx, cl, cql, values...)
	if strings.HasPrefix(cql, "UPDATE") && err == nil {
		return nil, &wire.Error{Code: wire.CodeCASWriteUnknown, Message: "the answer was lost"}
	}
	return rows, err
}

// TestUnknownOutcomes creates and drops a table. The store loses its answer to each conditional write
// once, and the first read after that times out. In one run it carried out these writes; in the other it did not.
func TestUnknownOutcomes(t *testing.T) { each(t, testUnknownOutcomes) }

func testUnknownOutcomes(t *testing.T, b *backend) {
	for name, carriedOut := range map[string]bool{"t1": true, "t2": false} {
		s := &uncertain{Session: b.session, carriedOut: carriedOut, lost: map[string]bool{}}
		d := New(Options{Session: s, Now: time.Now, UUID: uuid})
		if _, err := d.Create(t.Context(), b.entry(name, 8), b.keyspaceOf(b.door(nil)), b.createPhysical(b.session, name)); err != nil {
			t.Fatalf("CREATE, carried out %v: %v", carriedOut, err)
		}
		applied, stale := b.settled()
		if len(applied) != 1 || applied[0].Table != name || len(stale) != 0 {
			t.Fatalf("after CREATE, carried out %v: %+v, stale %+v", carriedOut, applied, stale)
		}
		if err := d.Drop(t.Context(), applied[0], func(ctx context.Context) error {
			_, err := b.session.Query(ctx, wire.LocalQuorum, "DROP TABLE "+b.keyspace+"."+name)
			return err
		}); err != nil {
			t.Fatalf("DROP, carried out %v: %v", carriedOut, err)
		}
		if e, err := b.door(nil).Entry(t.Context(), b.keyspace, name); e != nil || err != nil {
			t.Errorf("after DROP, carried out %v: %+v, %v", carriedOut, e, err)
		}
		if len(s.lost) != 4 { // INSERT, UPDATE to active, UPDATE to dropping, DELETE
			t.Errorf("the answers of %d statements were lost: %v", len(s.lost), s.lost)
		}
		if s.late != len(s.lost) {
			t.Errorf("%d serial reads timed out, not %d", s.late, len(s.lost))
		}
	}
}

// uncertain loses the answer to each conditional write once. carriedOut says whether it then carries
// out the write.
type uncertain struct {
	Session
	carriedOut bool
	lost       map[string]bool
	late       int // serial reads that have timed out
}

func (u *uncertain) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]Row, error) {
	state := ""
	if strings.HasPrefix(cql, "UPDATE") {
		state = string(values[2])
	}
	if key := cql + state; strings.Contains(cql, " IF ") && strings.Contains(cql, "evenkeel.layouts") && !strings.HasPrefix(cql, "CREATE") && !u.lost[key] {
		if u.carriedOut {
			if _, err := u.Session.Query(ctx, cl, cql, values...); err != nil {
				return nil, err // the store lacks the level
			}
		}
		u.lost[key] = true
		return nil, &wire.Error{Code: wire.CodeWriteTimeout, WriteType: wire.WriteCAS, Message: "the answer was lost"}
	}
	if cl == wire.Serial && u.late < len(u.lost) {
		u.late++
		return nil, wire.Errorf(wire.CodeReadTimeout, "late")
	}
	return u.Session.Query(ctx, cl, cql, values...)
}

// TestFormats checks that the catalogue writes an entry in the lowest format that can express it,
// so that a door that does not know a layout refuses it. It must read entries of all formats.
func TestFormats(t *testing.T) {
	row := func(e *Entry) Row {
		r := Row{"keyspace_name": []byte("ks"), "table_name": []byte("t")}
		for i, name := range strings.Split(strings.ReplaceAll(columns, `"`, ""), ", ") {
			if v := e.values()[i]; v != nil {
				r[name] = v
			}
		}
		return r
	}
	for _, c := range []struct{ layout, strategy string }{
		{`{"shards": "8"}`, "calculated"},
		{`{"shards": "8", "strategy": "random"}`, "random"},
		{`{"shards": "8", "base": "3"}`, `format 2: {"layout":{"base":"3","column":"shard","hash":"murmur3","shards":"8","strategy":"calculated"}}`},
		{`{"shards": "1", "epochs": "64 from 2020-07-10"}`, `format 2: {"layout":{"column":"shard","epochs":"64 from 2020-07-10","hash":"murmur3","shards":"1","strategy":"calculated"}}`},
		{`{"shards": "1", "row_epochs": "64@1 from 0xab"}`, `format 2: {"layout":{"column":"shard","hash":"murmur3","row_epochs":"64@1 from 0xab","shards":"1","strategy":"calculated"}}`},
		{`{"strategy": "time", "by": "ts", "bucket": "1h"}`, `format 3: {"layout":{"bucket":"1h","by":"ts","column":"shard","shards":"1","strategy":"time"}}`},
		{`{"strategy": "rollover", "rows": "100000"}`, `format 5: {"layout":{"column":"shard","rows":"100000","strategy":"rollover"}}`},
	} {
		var options map[string]string
		if err := json.Unmarshal([]byte(c.layout), &options); err != nil {
			t.Fatal(err)
		}
		l, err := shard.Parse(options)
		if err != nil {
			t.Fatal(err)
		}
		r := row(&Entry{Keyspace: "ks", Table: "t", Layout: l, State: registry.Active})
		if got := string(r["strategy"]); got != c.strategy {
			t.Errorf("%s is written as %s, want %s", c.layout, got, c.strategy)
		}
		back, err := readEntry(r)
		if err != nil || back.Foreign != nil || !back.Layout.Equal(l) {
			t.Errorf("%s reads back as %v, %v", c.layout, back, err)
		}
		// What knows format 1 alone takes the column for a strategy.
		if _, err := shard.Parse(map[string]string{"shards": "8", "strategy": string(r["strategy"])}); (err == nil) == strings.HasPrefix(c.strategy, "format") {
			t.Errorf("a door that knows format 1 alone reads %s as %v", r["strategy"], err)
		}
	}
	for _, c := range []reshard.Change{
		{Step: reshard.Announced, Generation: 7, Started: 99, Skew: 5, Owner: [16]byte{1, 2}, Counter: 3},
		{Step: reshard.Switching, Back: true, Paused: true, Done: true, Hurry: true},
	} {
		e := (&Entry{Keyspace: "ks", Table: "t", Layout: &shard.Layout{N: 8, Column: "salt", Remains: true, Used: 8}, State: registry.Active}).
			Changing(&shard.Layout{N: 12, Base: 8, Column: "salt"}, c)
		back, err := readEntry(row(e))
		if err != nil || back.Foreign != nil || *back.Change != c || !back.Next.Equal(e.Next) || !back.Layout.Equal(e.Layout) || !back.Layout.Remains || back.Layout.Used != 8 {
			t.Errorf("%+v reads back as %+v, %v", e, back, err)
		}
		r := row(e)
		r["strategy"] = []byte(strings.ReplaceAll(string(r["strategy"]), c.Step.String(), "brooding"))
		if back, err = readEntry(r); err != nil || back.Foreign == nil || !strings.Contains(back.Foreign.Error(), `unknown step "brooding"`) {
			t.Errorf("a step of a later release: %+v, %v", back, err)
		}
	}
	// Keys with spreads of their own, on their own and while one is changed.
	keyed := &Entry{Keyspace: "ks", Table: "t", Key: "2020-07-10", State: registry.Active,
		Layout: &shard.Layout{N: 8, Column: "salt", Keys: shard.NewKeys(1, map[string]shard.Spread{"k\x00": {Range: shard.Range{N: 64, Base: 8}}})}}
	to := *keyed.Layout
	to.Keys = to.Keys.With(1, map[string]shard.Spread{"l": {Range: shard.Range{N: 4, Base: 72}}})
	for _, e := range []*Entry{keyed, keyed.Changing(&to, reshard.Change{Step: reshard.Announced})} {
		back, err := readEntry(row(e))
		if err != nil || back.Foreign != nil || !back.Layout.Equal(e.Layout) || (e.Next == nil) != (back.Next == nil) || e.Next != nil && (!back.Next.Equal(e.Next) || back.Key != e.Key) ||
			!strings.HasPrefix(string(row(e)["strategy"]), "format 3: ") {
			t.Errorf("%+v reads back as %+v, %v", e, back, err)
		}
	}
	r := row(&Entry{Keyspace: "ks", Table: "t", Layout: &shard.Layout{N: 8, Column: "salt"}, State: registry.Active})
	r["strategy"] = []byte("format 7: what comes later")
	e, err := readEntry(r)
	if err != nil || e.Foreign == nil || !strings.Contains(e.Foreign.Error(), "of format 7, which a newer release wrote") || e.Layout.Column != "salt" {
		t.Errorf("an entry of a later format: %+v, %v", e, err)
	}
	if got := string(row(e)["strategy"]); got != "format 7: what comes later" {
		t.Errorf("an entry of a later format would be written as %s", got)
	}
	r["strategy"] = []byte("format 2: broken")
	if _, err := readEntry(r); err == nil || !strings.Contains(err.Error(), "the catalogue's entry of ks.t") {
		t.Errorf("a broken entry: %v", err)
	}
}

// script is a session that answers from a list of beginnings, and notes what it is
// asked.
type script struct {
	answers map[string]func() ([]Row, error)
	asked   []string
}

func (s *script) Query(_ context.Context, cl wire.Consistency, cql string, _ ...[]byte) ([]Row, error) {
	s.asked = append(s.asked, cl.String()+" "+cql)
	for begin, f := range s.answers {
		if strings.HasPrefix(cl.String()+" "+cql, begin) {
			return f()
		}
	}
	if strings.HasSuffix(cql, "FROM system.local") {
		return []Row{{"schema_version": make([]byte, 16)}}, nil
	}
	return nil, nil
}

// TestReplication says that the catalogue is replicated as the first sharded
// table's keyspace.
func TestReplication(t *testing.T) {
	s := &script{}
	c := New(Options{Session: s, Now: time.Now, UUID: uuid})
	like := &schema.Keyspace{Name: "k", Replication: map[string]string{
		"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "eu-west": "3", "us": "5",
	}}
	if err := c.tables.ensureLayouts(t.Context(), like); err != nil {
		t.Fatal(err)
	}
	want := "LOCAL_QUORUM CREATE KEYSPACE IF NOT EXISTS evenkeel WITH replication = " +
		"{'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'eu-west': '3', 'us': '5'}"
	if !slices.Contains(s.asked, want) {
		t.Errorf("asked: %q", s.asked)
	}
}

// TestKeyspaceIsThere says that a door whose account may not make keyspaces gets
// on with one that an administrator has made.
func TestKeyspaceIsThere(t *testing.T) {
	s := &script{answers: map[string]func() ([]Row, error){
		"LOCAL_QUORUM CREATE KEYSPACE":                          func() ([]Row, error) { return nil, wire.Errorf(wire.CodeUnauthorized, "no CREATE on all keyspaces") },
		"ONE SELECT keyspace_name FROM system_schema.keyspaces": func() ([]Row, error) { return []Row{{"keyspace_name": []byte(Keyspace)}}, nil },
	}}
	c := New(Options{Session: s, Now: time.Now, UUID: uuid})
	if err := c.tables.ensureLayouts(t.Context(), &schema.Keyspace{Name: "k"}); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(s.asked, func(cql string) bool { return strings.Contains(cql, "CREATE TABLE IF NOT EXISTS evenkeel.layouts") }) {
		t.Errorf("asked: %q", s.asked)
	}
}

// TestJustMade says that a catalogue that another door is making is waited for: it is
// shown in the schema before statements can name it, and is named before it is stored.
func TestJustMade(t *testing.T) {
	one := []Row{{"any": nil}}
	for _, first := range []error{
		wire.Invalidf("table layouts does not exist"),
		wire.Errorf(wire.CodeServer, "java.lang.IllegalArgumentException: Unknown CF 846628a0-e5cd-11f1-a329-314317888ea8"),
		wire.Errorf(wire.CodeReadFailure, "Operation failed - received 0 responses and 1 failures"),
		wire.Errorf(wire.CodeUnauthorized, "User door has no SELECT permission"),
		wire.Errorf(wire.CodeUnavailable, "Cannot achieve consistency level LOCAL_QUORUM"),
	} {
		passes := errors.Is(first, &wire.Error{Code: wire.CodeInvalid}) || errors.Is(first, &wire.Error{Code: wire.CodeServer}) ||
			errors.Is(first, &wire.Error{Code: wire.CodeReadFailure})
		for _, lasts := range []bool{false, true} {
			reads := 0
			s := &script{answers: map[string]func() ([]Row, error){
				"ONE SELECT keyspace_name FROM system_schema.keyspaces": func() ([]Row, error) { return one, nil },
				"ONE SELECT table_name FROM system_schema.tables":       func() ([]Row, error) { return one, nil },
				"LOCAL_QUORUM SELECT": func() ([]Row, error) {
					if reads++; reads > 3 && !lasts {
						return nil, nil
					}
					return nil, first
				},
			}}
			c := New(Options{Session: s, Now: time.Now, UUID: uuid, Poll: time.Millisecond})
			for name, do := range map[string]func(context.Context) error{
				"Load":   func(ctx context.Context) error { _, _, err := c.Load(ctx); return err },
				"ensure": func(ctx context.Context) error { return c.tables.ensureLayouts(ctx, &schema.Keyspace{Name: "k"}) },
			} {
				reads = 0
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if passes && lasts {
					ctx, cancel = context.WithTimeout(ctx, 30*time.Millisecond)
				}
				err := do(ctx)
				cancel()
				switch {
				case passes && !lasts && (err != nil || reads != 4):
					t.Errorf("%s, %v at first: %v after %d reads", name, first, err, reads)
				case !passes && (!errors.Is(err, first) || reads != 1):
					t.Errorf("%s, %v: %v after %d reads", name, first, err, reads)
				case passes && lasts && !errors.Is(err, first):
					t.Errorf("%s, always %v: %v", name, first, err)
				}
			}
		}
	}
}

// TestSerialRefused says that a backend without serial reads is read otherwise.
func TestSerialRefused(t *testing.T) {
	s := &script{answers: map[string]func() ([]Row, error){
		"SERIAL": func() ([]Row, error) { return nil, wire.Invalidf("no serial reads here") },
	}}
	c := New(Options{Session: s, Now: time.Now, UUID: uuid})
	if e, err := c.layouts.get(t.Context(), "k", "t"); e != nil || err != nil {
		t.Fatal(e, err)
	}
	if len(s.asked) != 2 || !strings.HasPrefix(s.asked[1], "LOCAL_QUORUM SELECT") {
		t.Errorf("asked: %q", s.asked)
	}
	s.answers["SERIAL"] = func() ([]Row, error) { return nil, wire.Errorf(wire.CodeReadTimeout, "late") }
	if _, err := c.layouts.get(t.Context(), "k", "t"); err == nil {
		t.Error("a timeout is taken for a refusal")
	}
}
