// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

func TestMain(m *testing.M) { leak.Main(m) }

func uuid() (u [16]byte) {
	_, _ = rand.Read(u[:])
	return u
}

// alone implements Doors without any door: nobody reads or writes besides the mover.
type alone struct{ at func(*catalog.Entry) }

func (a alone) Published(_ context.Context, e *catalog.Entry) error {
	if a.at != nil {
		a.at(e)
	}
	return nil
}
func (alone) Barrier(context.Context, *catalog.Entry) (bool, error) { return false, nil }
func (alone) Ended(context.Context, *catalog.Entry) error           { return nil }
func (alone) Gone(context.Context, *catalog.Entry) error            { return nil }

// world is an engine with one sharded table.
type world struct {
	t       *testing.T
	store   store.Store
	session *catalog.StoreSession
	catalog *catalog.Catalog
	like    *schema.Keyspace

	rollovers *directory
	stamps    func() time.Time // the store's time; nil: the present
}

func newWorld(t *testing.T, l *shard.Layout) *world {
	t.Helper()
	e, err := cassandra.Open(t.TempDir(), cassandra.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: e, session: catalog.NewSession(e), rollovers: &directory{tables: map[[16]byte]*shard.Rolled{}}}
	t.Cleanup(func() {
		w.session.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	w.catalog = catalog.New(catalog.Options{Session: w.session, Now: time.Now, UUID: uuid, Poll: time.Millisecond})
	w.exec("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	s, err := w.catalog.Schema(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	w.like = s.Keyspaces["k"]
	entry := &catalog.Entry{Keyspace: "k", Table: "t", Physical: "t", Layout: l, Statement: "CREATE TABLE …"}
	_, err = w.catalog.Create(t.Context(), entry, w.like, func(ctx context.Context) error {
		_, err := w.session.Query(ctx, wire.LocalQuorum, "CREATE TABLE k.t (k int, shard int, c text, d int, a text, b int, s text static, PRIMARY KEY ((k, shard), c, d))")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) exec(cql string, values ...[]byte) []catalog.Row {
	w.t.Helper()
	rows, err := w.session.Query(context.Background(), wire.LocalQuorum, cql, values...)
	if err != nil {
		w.t.Fatalf("%s: %v", cql, err)
	}
	return rows
}

func (w *world) entry() *catalog.Entry {
	w.t.Helper()
	e, err := w.catalog.Entry(context.Background(), "k", "t")
	if err != nil || e == nil {
		w.t.Fatal(e, err)
	}
	return e
}

func (w *world) physical() *schema.Table {
	w.t.Helper()
	s, err := w.catalog.Schema(context.Background(), "k")
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Table("k", "t")
}

func (w *world) plan(l *shard.Layout) *plan.Table {
	w.t.Helper()
	logical, _ := catalog.Logical(w.physical(), l)
	t, err := plan.NewTable(logical, l)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func i32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// fill writes rows at the places of the layout and returns them as contents does.
func (w *world) fill(l *shard.Layout, keys, rows int) map[string]string {
	w.t.Helper()
	t := w.plan(l)
	for k := range keys {
		key := [][]byte{i32(k)}
		if k%3 > 0 {
			w.exec("UPDATE k.t USING TIMESTAMP ? SET s = ? WHERE k = ? AND shard = ?", bigint(int64(500+k)), []byte(fmt.Sprint("s", k)), key[0], i32(t.Home(key)))
		}
		for i := range rows {
			c, d := []byte(fmt.Sprint("row ", i)), i32(i%3)
			at := i32(t.ShardOfRow(key, [][]byte{c, d}))
			switch i % 5 {
			case 0:
				w.exec("INSERT INTO k.t (k, shard, c, d, a, b) VALUES (?, ?, ?, ?, 'x', 1) USING TIMESTAMP ?", key[0], at, c, d, bigint(int64(1000+i)))
			case 1: // cells of different times, one null
				w.exec("INSERT INTO k.t (k, shard, c, d, a) VALUES (?, ?, ?, ?, 'y') USING TIMESTAMP ?", key[0], at, c, d, bigint(int64(1000+i)))
				w.exec("UPDATE k.t USING TIMESTAMP 7000 SET b = 7 WHERE k = ? AND shard = ? AND c = ? AND d = ?", key[0], at, c, d)
			case 2: // cells that expire next to cells that do not
				w.exec("INSERT INTO k.t (k, shard, c, d, a) VALUES (?, ?, ?, ?, 'z') USING TIMESTAMP 3000 AND TTL 5000", key[0], at, c, d)
				w.exec("UPDATE k.t USING TIMESTAMP 3500 SET b = 3 WHERE k = ? AND shard = ? AND c = ? AND d = ?", key[0], at, c, d)
			case 3: // only a marker
				w.exec("INSERT INTO k.t (k, shard, c, d) VALUES (?, ?, ?, ?) USING TIMESTAMP 900", key[0], at, c, d)
			case 4: // deleted
				w.exec("INSERT INTO k.t (k, shard, c, d, a) VALUES (?, ?, ?, ?, 'w') USING TIMESTAMP 100", key[0], at, c, d)
				w.exec("DELETE FROM k.t USING TIMESTAMP 200 WHERE k = ? AND shard = ? AND c = ? AND d = ?", key[0], at, c, d)
			}
		}
	}
	return w.contents(l)
}

// contents returns all rows by their logical keys. It fails if a row is not at the place of the
// layout, or is at another place too.
func (w *world) contents(l *shard.Layout) map[string]string {
	w.t.Helper()
	t := w.plan(l)
	out := map[string]string{}
	for _, r := range w.exec("SELECT k, shard, c, d, a, b, s, WRITETIME(a) AS wa, WRITETIME(b) AS wb, WRITETIME(s) AS ws, TTL(a) AS ta FROM k.t") {
		key := [][]byte{r["k"]}
		at := int(int32(binary.BigEndian.Uint32(r["shard"])))
		if s := r["s"]; s != nil {
			if at != t.Home(key) {
				w.t.Errorf("static columns of %x are in shard %d", r["k"], at)
			}
			out[fmt.Sprintf("%x", r["k"])] = fmt.Sprintf("%s %x", s, r["ws"])
		}
		if r["c"] == nil {
			continue
		}
		name := fmt.Sprintf("%x %s %x", r["k"], r["c"], r["d"])
		if want := t.ShardOfRow(key, [][]byte{r["c"], r["d"]}); at != want {
			w.t.Errorf("row %s is in shard %d, and belongs to %d", name, at, want)
		}
		if _, twice := out[name]; twice {
			w.t.Errorf("row %s is there twice", name)
		}
		out[name] = fmt.Sprintf("%s %x %x %x expires %v", r["a"], r["b"], r["wa"], r["wb"], r["ta"] != nil)
	}
	return out
}

// mover makes a mover that uses st.
func (w *world) mover(st store.Store, doors Doors) *Mover {
	session := catalog.NewSession(st)
	w.t.Cleanup(session.Close)
	c := catalog.New(catalog.Options{Session: session, Now: time.Now, UUID: uuid, Poll: time.Millisecond})
	m := New(Options{Store: st, Session: session, Catalogue: c, Doors: doors, Now: time.Now, Self: uuid(), Stamps: w.stamps, Rollovers: w.rollovers, Poll: time.Millisecond})
	w.t.Cleanup(m.Close)
	return m
}

func (w *world) start(m *Mover, asked *shard.Layout) {
	w.t.Helper()
	if _, err := m.Start(w.t.Context(), w.entry(), w.like, w.physical(), asked); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) same(what string, want map[string]string, l *shard.Layout) {
	w.t.Helper()
	if got := w.contents(l); !reflect.DeepEqual(got, want) {
		w.t.Errorf("%s: %d rows are %d", what, len(want), len(got))
		for k, v := range want {
			if got[k] != v {
				w.t.Errorf("%s was %s and is %s", k, v, got[k])
			}
		}
	}
}

// TestMove changes the layout of a table at rest: each row is at its new place only, with the times
// that its cells had.
func TestMove(t *testing.T) {
	from := &shard.Layout{N: 8, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 7, 60)
	l := from
	for _, asked := range []*shard.Layout{
		{N: 12, Column: "shard"}, {N: 5, Column: "shard"}, {N: 8, Column: "shard"}, {N: 8, By: []string{"c"}, Column: "shard"}, {N: 1, Column: "shard"},
	} {
		var last reshard.Status
		m := w.mover(w.store, alone{at: func(e *catalog.Entry) {
			if e.Change != nil && e.Change.Step == reshard.Cleaned {
				last, _ = w.mover(w.store, alone{}).Status(t.Context(), e)
			}
		}})
		outlook, err := m.Outlook(t.Context(), w.entry(), w.like, w.physical(), asked)
		if err != nil {
			t.Fatal(err)
		}
		w.start(m, asked)
		if err := m.Run(t.Context(), "k", "t"); err != nil {
			t.Fatal(err)
		}
		e := w.entry()
		if e.Change != nil || e.Layout.N != asked.N || e.Layout.Remains {
			t.Fatalf("after the change to %v: %+v, %v", asked, e.Change, e.Layout)
		}
		if l.Base+l.N > e.Layout.Base && asked.N < l.N {
			t.Errorf("shrinking from %v to %v uses places again", l, e.Layout)
		}
		l = e.Layout
		w.same(fmt.Sprint(asked), want, l)
		if last.RowsTotal == 0 || last.RowsTotal != last.RowsMoved || last.RowsTotal != last.RowsVerified || float64(last.RowsTotal) != outlook.RowsMoved {
			t.Errorf("%v: total %d, moved %d, verified %d, expected %v of %d", asked, last.RowsTotal, last.RowsMoved, last.RowsVerified, outlook.RowsMoved, outlook.Rows)
		}
	}
}

// TestTakenBack takes changes back in every step in which that is possible. The next change goes to
// other places.
func TestTakenBack(t *testing.T) {
	from := &shard.Layout{N: 4, Column: "shard"}
	for _, step := range []reshard.Step{reshard.Announced, reshard.Switching, reshard.Switched} {
		w := newWorld(t, from)
		want := w.fill(from, 3, 20)
		m := w.mover(w.store, nil)
		given := false
		m.opts.Doors = alone{at: func(e *catalog.Entry) {
			if e.Change != nil && e.Change.Step == step && !given {
				given = true
				if err := m.Give(t.Context(), "k", "t", Rollback); err != nil {
					t.Error(err)
				}
			}
		}}
		w.start(m, &shard.Layout{N: 6, Column: "shard"})
		m.opts.Doors = alone{at: m.opts.Doors.(alone).at}
		if err := m.Run(t.Context(), "k", "t"); err != nil {
			t.Fatal(step, err)
		}
		if w.entry().Change != nil { // the order looked to the mover as if another one had taken over
			if err := m.Run(t.Context(), "k", "t"); err != nil {
				t.Fatal(step, err)
			}
		}
		e := w.entry()
		if e.Change != nil || !e.Layout.Equal(from) || e.Layout.Used != 6 || !given {
			t.Fatalf("taken back in %v: %+v %v, used %d", step, e.Change, e.Layout, e.Layout.Used)
		}
		w.same(step.String(), want, e.Layout)
		m = w.mover(w.store, alone{})
		w.start(m, &shard.Layout{N: 6, Column: "shard"})
		if err := m.Run(t.Context(), "k", "t"); err != nil {
			t.Fatal(err)
		}
		if e = w.entry(); e.Layout.Base != 6 {
			t.Errorf("after a change that was taken back the next uses its places again: %v", e.Layout)
		}
		w.same("the next", want, e.Layout)
	}
}

// dying is the store of a process that dies: after a number of requests, it sends nothing any more.
// It may or may not carry out the last request, and nobody learns which.
type dying struct {
	store.Store
	left  atomic.Int64
	after bool
}

type dyingLink struct {
	store.Link
	d *dying
}

func (d *dying) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := d.Store.Open(ctx, o)
	return dyingLink{l, d}, err
}

func (l dyingLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	n := l.d.left.Add(-1)
	if n >= 0 {
		l.Link.Send(ctx, req, reply)
		return
	}
	dead := func() {
		reply(wire.Message{Op: wire.OpError, Body: wire.Invalidf("died").Append(nil, wire.Highest)})
	}
	if n == -1 && l.d.after {
		l.Link.Send(context.WithoutCancel(ctx), req, func(wire.Message) { dead() })
		return
	}
	dead()
}

// TestDies lets the mover die after each number of requests; another mover continues.
func TestDies(t *testing.T) {
	from, asked := &shard.Layout{N: 3, Column: "shard"}, &shard.Layout{N: 5, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 2, 12)
	l := from
	deaths := 0
	for n := int64(0); ; n += 3 {
		d := &dying{Store: w.store, after: n%2 == 0}
		d.left.Store(1 << 40)
		m := w.mover(d, alone{})
		w.start(m, asked)
		d.left.Store(n)
		err := m.Run(t.Context(), "k", "t")
		died := err != nil
		if died && !strings.Contains(err.Error(), "died") {
			t.Fatal(err)
		}
		if died {
			deaths++
			next := w.mover(w.store, alone{})
			if err := next.Run(t.Context(), "k", "t"); err != nil {
				t.Fatal(n, err)
			}
		}
		e := w.entry()
		if e.Change != nil {
			t.Fatalf("death after %d requests: %+v", n, e.Change)
		}
		w.same(fmt.Sprintf("death after %d requests", n), want, e.Layout)
		if t.Failed() || !died {
			break
		}
		l = e.Layout
		asked = &shard.Layout{N: 8 - l.N, Column: "shard"}
	}
	if deaths < 30 {
		t.Errorf("only %d deaths", deaths)
	}
}

// TestTakenOver lets a mover continue after it was taken for dead: it publishes nothing.
func TestTakenOver(t *testing.T) {
	from := &shard.Layout{N: 3, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 2, 12)
	second := w.mover(w.store, alone{})
	var first *Mover
	over := false
	first = w.mover(w.store, alone{at: func(e *catalog.Entry) {
		if e.Change != nil && e.Change.Step == reshard.Switching && !over {
			over = true
			if err := second.Run(t.Context(), "k", "t"); err != nil {
				t.Error(err)
			}
		}
	}})
	w.start(first, &shard.Layout{N: 5, Column: "shard"})
	if err := first.Run(t.Context(), "k", "t"); err != nil {
		t.Fatal(err)
	}
	e := w.entry()
	if e.Change != nil || e.Layout.N != 5 || !over {
		t.Fatalf("%+v %v", e.Change, e.Layout)
	}
	w.same("taken over", want, e.Layout)
}

// losing implements Doors with a door that vanishes before it has acknowledged a step.
type losing struct {
	alone
	lost bool
}

func (l *losing) Barrier(_ context.Context, e *catalog.Entry) (bool, error) {
	vanished := !l.lost && e.Change != nil && e.Change.Step == reshard.Switched
	l.lost = l.lost || vanished
	return vanished, nil
}

// TestVanishedDoor lets a door vanish before it acknowledges switched. A second verification finds
// what the door had sent.
func TestVanishedDoor(t *testing.T) {
	from := &shard.Layout{N: 3, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 2, 12)
	var steps []string
	doors := &losing{}
	doors.at = func(e *catalog.Entry) {
		if e.Change != nil {
			steps = append(steps, e.Change.Step.String())
		}
	}
	m := w.mover(w.store, doors)
	w.start(m, &shard.Layout{N: 5, Column: "shard"})
	if err := m.Run(t.Context(), "k", "t"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(slices.Compact(steps), " "); got != "announced switching switched switching switched settled cleaned" {
		t.Errorf("the steps are %s", got)
	}
	w.same("after a door vanished", want, w.entry().Layout)
}

// TestVerify makes the places of rows differ, as a half-done write or deletion does, and checks
// that verify makes them equal.
func TestVerify(t *testing.T) {
	from := &shard.Layout{N: 2, Column: "shard"}
	w := newWorld(t, from)
	old, next := w.plan(from), w.plan(&shard.Layout{N: 9, Column: "shard"})
	var rows [][]byte
	key := [][]byte{i32(1)}
	for i := 0; len(rows) < 7; i++ {
		c := []byte(fmt.Sprint("row ", i))
		if old.ShardOfRow(key, [][]byte{c, i32(0)}) != next.ShardOfRow(key, [][]byte{c, i32(0)}) {
			rows = append(rows, c)
		}
	}
	put := func(t *plan.Table, c []byte, a string, time int64) {
		w.exec("INSERT INTO k.t (k, shard, c, d, a, b) VALUES (?, ?, ?, ?, ?, 1) USING TIMESTAMP ?", key[0], i32(t.ShardOfRow(key, [][]byte{c, i32(0)})), c, i32(0), []byte(a), bigint(time))
	}
	atPlace := func(t *plan.Table, c []byte, text string, values ...[]byte) {
		w.exec(text+" WHERE k = ? AND shard = ? AND c = ? AND d = 0", append(values, key[0], i32(t.ShardOfRow(key, [][]byte{c, i32(0)})), c)...)
	}
	later := new(atomic.Int64) // how much later it is than when the change began
	w.stamps = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	m := w.mover(w.store, alone{at: func(e *catalog.Entry) {
		if e.Change == nil || e.Change.Step != reshard.Switching || e.Change.Done {
			return
		}
		later.Store(int64(time.Hour))
		// A door that did not know the change has deleted a row of a key alone in the old place. The row was newer
		// than the change.
		w.exec("INSERT INTO k.t (k, shard, c, d) VALUES (?, ?, ?, 0) USING TIMESTAMP ?", key[0], i32(next.ShardOfRow(key, [][]byte{rows[4], i32(0)})), rows[4], bigint(e.Change.Started+1000))
		atPlace(old, rows[4], "DELETE FROM k.t USING TIMESTAMP ?", bigint(e.Change.Started+2000))
		// The same of a row with a cell that is older than the row's marker.
		atPlace(next, rows[5], "UPDATE k.t USING TIMESTAMP 4000 SET a = 'older'")
		w.exec("INSERT INTO k.t (k, shard, c, d, b) VALUES (?, ?, ?, 0, 7) USING TIMESTAMP 4500", key[0], i32(next.ShardOfRow(key, [][]byte{rows[5], i32(0)})), rows[5])
		atPlace(old, rows[5], "DELETE FROM k.t USING TIMESTAMP 4600")
		// The old place has a deletion of the row and a later one of a newer cell. The row has no marker.
		atPlace(next, rows[6], "UPDATE k.t USING TIMESTAMP 4000 SET b = 8")
		atPlace(next, rows[6], "UPDATE k.t USING TIMESTAMP 5000 SET a = 'cell'")
		atPlace(old, rows[6], "DELETE FROM k.t USING TIMESTAMP 4000")
		atPlace(old, rows[6], "DELETE a FROM k.t USING TIMESTAMP 6000")
		put(next, rows[0], "only new", 5000)
		put(old, rows[1], "only old", 5000)
		at := i32(next.ShardOfRow(key, [][]byte{rows[2], i32(0)}))
		w.exec("DELETE FROM k.t USING TIMESTAMP 6000 WHERE k = ? AND shard = ? AND c = ? AND d = 0", key[0], at, rows[2])
		at = i32(next.ShardOfRow(key, [][]byte{rows[3], i32(0)}))
		w.exec("UPDATE k.t USING TIMESTAMP 6000 SET a = null WHERE k = ? AND shard = ? AND c = ? AND d = 0", key[0], at, rows[3])
	}})
	for _, c := range rows[2:4] {
		put(old, c, "old", 4000)
	}
	w.start(m, &shard.Layout{N: 9, Column: "shard"})
	if err := m.Run(t.Context(), "k", "t"); err != nil {
		t.Fatal(err)
	}
	atPlace(next, rows[6], "UPDATE k.t USING TIMESTAMP 4500 SET b = 9") // it is newer than the row's deletion
	got := w.contents(w.entry().Layout)
	for i, want := range []string{"only new", "only old", "", " 00000001", "", "", " 00000009"} {
		name := fmt.Sprintf("%x %s %x", key[0], rows[i], i32(0))
		if v, ok := got[name]; ok != (want != "") || !strings.HasPrefix(v, want) {
			t.Errorf("row %d is %q, %v; it should be %q", i, v, ok, want)
		}
	}
}

// TestPause pauses a change: nothing moves until it is resumed.
func TestPause(t *testing.T) {
	from := &shard.Layout{N: 2, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 2, 10)
	m := w.mover(w.store, alone{})
	w.start(m, &shard.Layout{N: 3, Column: "shard"})
	if err := m.Give(t.Context(), "k", "t", Pause); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := m.Run(ctx, "k", "t"); err == nil || ctx.Err() == nil {
		t.Fatal(err)
	}
	if e := w.entry(); e.Change == nil || e.Change.Step != reshard.Announced {
		t.Fatalf("%+v", e.Change)
	}
	if err := m.Give(t.Context(), "k", "t", Resume); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), "k", "t"); err != nil {
		t.Fatal(err)
	}
	w.same("resumed", want, w.entry().Layout)
	if err := m.Give(t.Context(), "k", "t", Rollback); err == nil {
		t.Error("a change that is over was taken back")
	}
}

// patient implements Doors with a first barrier that waits until it is given up. It then returns what
// the embedded engine answers to a request for which nobody waits.
type patient struct {
	alone
	waits chan struct{}
	once  sync.Once
}

func (p *patient) Barrier(ctx context.Context, _ *catalog.Entry) (_ bool, err error) {
	p.once.Do(func() {
		close(p.waits)
		<-ctx.Done()
		err = wire.Errorf(wire.CodeOverloaded, "nobody waits for the answer any more")
	})
	return false, err
}

// TestOrderWhileWaitingForDoors gives an order while the mover waits for the doors. The mover goes on,
// and reports no problem.
func TestOrderWhileWaitingForDoors(t *testing.T) {
	from := &shard.Layout{N: 3, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 2, 12)
	doors := &patient{waits: make(chan struct{})}
	m := w.mover(w.store, doors)
	w.start(m, &shard.Layout{N: 5, Column: "shard"})
	done := make(chan error, 1)
	go func() { done <- m.Run(t.Context(), "k", "t") }()
	<-doors.waits
	if err := m.Give(t.Context(), "k", "t", Finish); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the mover stopped: %v", err)
	}
	w.same("moved", want, w.entry().Layout)
}

// TestCleanAheadOfClock changes the layout of a table whose clients' clocks are ahead of the store's. Nothing is
// left at the old places, in partitions that stay and in those that go.
func TestCleanAheadOfClock(t *testing.T) {
	from := &shard.Layout{N: 3, Column: "shard"}
	w := newWorld(t, from)
	old := w.plan(from)
	ahead := bigint(time.Now().Add(time.Hour).UnixMicro())
	for k := range 3 {
		key := [][]byte{i32(k)}
		w.exec("UPDATE k.t USING TIMESTAMP ? SET s = 'static' WHERE k = ? AND shard = ?", ahead, key[0], i32(old.Home(key)))
		for i := range 20 {
			c := []byte(fmt.Sprint("row ", i))
			at := i32(old.ShardOfRow(key, [][]byte{c, i32(0)}))
			w.exec("INSERT INTO k.t (k, shard, c, d, a) VALUES (?, ?, ?, 0, 'x') USING TIMESTAMP 1000", key[0], at, c)
			w.exec("UPDATE k.t USING TIMESTAMP ? SET b = 1 WHERE k = ? AND shard = ? AND c = ? AND d = 0", ahead, key[0], at, c)
		}
	}
	want := w.contents(from)
	for _, asked := range []*shard.Layout{{N: 7, Column: "shard"}, {N: 2, Column: "shard"}} {
		m := w.mover(w.store, alone{})
		w.start(m, asked)
		if err := m.Run(t.Context(), "k", "t"); err != nil {
			t.Fatal(err)
		}
		w.same(fmt.Sprint(asked), want, w.entry().Layout)
	}
}
