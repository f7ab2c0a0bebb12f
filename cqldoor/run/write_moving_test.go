// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
	"pgregory.net/rapid"
)

// publish changes a table's entry in the catalogue, and waits until the door knows it.
func (s *scene) publish(table string, next func(e *catalog.Entry) *catalog.Entry) {
	s.t.Helper()
	_, name, _ := strings.Cut(table, ".")
	c := s.router.schema.Catalog
	e, err := c.Entry(s.t.Context(), s.keyspace, name)
	if err == nil && e == nil {
		err = fmt.Errorf("%s has no entry", table)
	}
	if err == nil {
		_, err = c.Publish(s.t.Context(), e, next(e))
	}
	if err == nil {
		err = s.router.schema.Refresh(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// remains reads a table in which every row has older copies in the shards where it does
// not belong, some of rows that were deleted.
func remains(w *twins) string {
	texts := []string{"INSERT INTO TABLE (p, c, v) VALUES (1, C , 'x')", "INSERT INTO TABLE (p, c, v) VALUES (2, C , 'y')", "DELETE FROM TABLE WHERE p = 2 AND c = C",
		"DELETE FROM TABLE WHERE p = 3 AND c = C", "DELETE FROM TABLE WHERE p = 1 AND c = 4"}
	if fault := steps("SELECT * FROM TABLE WHERE p = 1", texts...)(w); fault != "" {
		return fault
	}
	for p := 1; p <= 3; p++ {
		for c := range 10 {
			for shard := 1; shard <= 4; shard++ {
				w.must(w.direct, fmt.Sprintf("INSERT INTO %s (p, c, shard, v) VALUES (%d, %d, %d, 'ghost') USING TIMESTAMP 1", w.table(0), p, c, shard))
			}
		}
	}
	w.publish(w.table(0), func(e *catalog.Entry) *catalog.Entry {
		l := *e.Layout
		l.Remains = true
		return e.With(&l)
	})
	for _, text := range []string{
		"SELECT * FROM TABLE WHERE p = 1", "SELECT c FROM TABLE WHERE p IN (1, 2, 3)", "SELECT v FROM TABLE WHERE p = 1 ORDER BY c DESC LIMIT 3",
		"SELECT count(*), max(v), min(v) FROM TABLE WHERE p = 1", "SELECT count(*) FROM TABLE WHERE p = 2", "SELECT c FROM TABLE WHERE p IN (1, 2, 3) PER PARTITION LIMIT 2",
		"SELECT p, count(*) FROM TABLE WHERE p IN (1, 2, 3) GROUP BY p", "SELECT DISTINCT p FROM TABLE WHERE p IN (1, 2, 3)",
		"SELECT c FROM TABLE WHERE p = 1 AND v = 'ghost' ALLOW FILTERING", "SELECT c FROM TABLE WHERE p = 1 AND c IN (1, 4, 5)",
		"SELECT * FROM TABLE", "SELECT count(*) FROM TABLE", "SELECT DISTINCT p FROM TABLE", "SELECT p, c FROM TABLE WHERE v = 'ghost' ALLOW FILTERING",
	} {
		if fault := w.read(text); fault != "" {
			return fault
		}
	}
	return ""
}

// TestRemainsGoDuringScan reads a table page by page. In it each partition has one row, and copies of
// the row in all other shards, as an earlier layout leaves them. The copies are deleted after one of
// the pages. Each row is still shown once.
func TestRemainsGoDuringScan(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		table := s.keyspace + ".remains"
		s.must(s.v5, "CREATE TABLE "+table+" (p int, c int, n int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
		const partitions, shards = 12, 4
		texts := []string{"SELECT p, n FROM " + table, "SELECT p, n FROM " + table + " WHERE n >= 0 ALLOW FILTERING", "SELECT DISTINCT p FROM " + table, "SELECT p, count(*) FROM " + table + " GROUP BY p"}
		for p := range partitions {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (p, c, n) VALUES (%d, 20, %[2]d)", table, p))
		}
		s.publish(table, func(e *catalog.Entry) *catalog.Entry {
			l := *e.Layout
			l.Remains = true
			return e.With(&l)
		})
		known := s.router.schema.View.Load().Tables[s.keyspace]["remains"]
		placed, err := plan.NewTable(known.Logical, known.Entry.Layout)
		if err != nil {
			t.Fatal(err)
		}
		shardOf := func(p, c int) int { return placed.ShardOfRow([][]byte{plan.IntValue(p)}, [][]byte{plan.IntValue(c)}) }
		elsewhere := func(do func(p, shard int)) {
			for p := range partitions {
				for shard := 1; shard <= shards; shard++ {
					if shard != shardOf(p, 20) {
						do(p, shard)
					}
				}
			}
		}
		for after := 1; after <= partitions; after++ {
			elsewhere(func(p, shard int) {
				for c := range 20 { // more than the scan reads at first
					if shardOf(p, c) != shard {
						s.must(s.direct, fmt.Sprintf("INSERT INTO %s (p, c, shard, n) VALUES (%d, %d, %d, 0)", table, p, c, shard))
					}
				}
			})
			text := texts[after%len(texts)]
			pages, seen := 0, map[string]int{}
			s.pages(func(state []byte) (*difftest.Answer, error) {
				if pages++; pages == after+1 {
					elsewhere(func(p, shard int) {
						s.must(s.direct, fmt.Sprintf("DELETE FROM %s WHERE p = %d AND shard = %d", table, p, shard))
					})
				}
				a, err := s.v5.Query(difftest.Request{Query: text, PageSize: 1, State: state})
				if err == nil {
					for _, row := range a.Rows {
						seen[fmt.Sprint(row)]++
					}
				}
				return a, err
			})
			if len(seen) != partitions {
				t.Errorf("%s: %d of %d partitions", text, len(seen), partitions)
			}
			for row, n := range seen {
				if n > 1 {
					t.Errorf("%s: %s is shown %d times if the remains go after page %d", text, row, n, after)
				}
			}
		}
	})
}

// changing are the columns of tables whose layout is changed in tests.
const changing = "p int, c int, v text, n int, PRIMARY KEY (p, c)"

// mover changes the layout of a table of some rows, step by step, as the mover does.
type mover struct {
	*scene
	table string
	next  shard.Layout
	keys  [][2]int // p and c
}

// step publishes a step.
func (m *mover) step(s reshard.Step) {
	m.t.Helper()
	m.publish(m.table, func(e *catalog.Entry) *catalog.Entry {
		c := reshard.Change{Started: time.Now().UnixMicro()}
		if e.Change != nil {
			c = *e.Change
		}
		c.Step = s
		c.Generation++
		// The door's own mover leaves the change to the test.
		c.Owner, c.Paused = m.router.definer.Movers.Self, true
		return e.Changing(&m.next, c)
	})
}

// end publishes that the table has the next layout, or has kept the one that it had.
func (m *mover) end(changed bool) {
	m.t.Helper()
	m.publish(m.table, func(e *catalog.Entry) *catalog.Entry {
		l := *e.Layout
		if changed {
			l = m.next
		}
		return e.With(&l)
	})
}

func (m *mover) change() (*plan.Table, *plan.Change) {
	_, name, _ := strings.Cut(m.table, ".")
	t := m.router.state.Load().Table(m.keyspace, name)
	return t, t.Change
}

// moved are the rows between their places.
func (m *mover) moved() (out []plan.Moved) {
	_, c := m.change()
	for _, k := range m.keys {
		if r := c.Moved([][]byte{plan.IntValue(k[0])}, [][]byte{plan.IntValue(k[1])}); r.Old != r.New {
			out = append(out, r)
		}
	}
	return out
}

// do runs the program of some work on all rows that move.
func (m *mover) do(w reshard.Work) {
	m.t.Helper()
	_, c := m.change()
	for _, r := range m.moved() {
		if _, err := m.router.reads.Resolver.Act(m.t.Context(), c, w.Program(), r, wire.Quorum); err != nil {
			m.t.Fatalf("%s: %v", w, err)
		}
	}
}

// empty deletes the rows that move in one of their places.
func (m *mover) empty(places func(plan.Moved) plan.Place) {
	m.t.Helper()
	for _, r := range m.moved() {
		m.must(m.direct, fmt.Sprintf("DELETE FROM %s WHERE p = %d AND c = %d AND shard = %d", m.table,
			int32(binary.BigEndian.Uint32(r.Key[0])), int32(binary.BigEndian.Uint32(r.Clustering[0])), places(r).Shard))
	}
}

// on carries the change on by what is next after a step, and returns the step that is then;
// None when the change has ended.
func (m *mover) on(s reshard.Step, back bool) reshard.Step {
	m.t.Helper()
	next := func(s reshard.Step) reshard.Step {
		m.step(s)
		return s
	}
	switch s {
	case reshard.None:
		return next(reshard.Announced)
	case reshard.Announced:
		if back {
			return next(reshard.Withdrawn)
		}
		m.do(reshard.Copy)
		return next(reshard.Switching)
	case reshard.Switching:
		m.do(reshard.Verify)
		if back {
			return next(reshard.Announced)
		}
		return next(reshard.Switched)
	case reshard.Switched:
		if back {
			return next(reshard.Switching)
		}
		return next(reshard.Settled)
	case reshard.Settled:
		m.do(reshard.Sweep)
		return next(reshard.Cleaned)
	case reshard.Cleaned:
		m.empty(func(r plan.Moved) plan.Place { return r.Old })
		m.end(true)
	case reshard.Withdrawn:
		m.empty(func(r plan.Moved) plan.Place { return r.New })
		m.end(false)
	}
	return reshard.None
}

// readsResolve reads a row that has only come to its new place, since the door that wrote
// it died: who has seen it sees it again, whichever place is read then.
func readsResolve(w *twins) string {
	if fault := steps("SELECT * FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'x')")(w); fault != "" {
		return fault
	}
	m := &mover{scene: w.scene, table: w.table(0), next: shard.Layout{N: 8, Base: 4, Column: "shard"}}
	for c := range 10 {
		m.keys = append(m.keys, [2]int{1, c})
	}
	m.on(m.on(reshard.None, false), false) // to switching
	for _, r := range m.moved() {
		m.must(m.direct, fmt.Sprintf("UPDATE %s SET v = 'new' WHERE p = 1 AND c = %d AND shard = %d", m.table, int32(binary.BigEndian.Uint32(r.Clustering[0])), r.New.Shard))
	}
	m.must(m.v5, w.text(-1, "UPDATE TABLE SET v = 'new' WHERE p = 1 AND c IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)"))
	if fault := w.read("SELECT c, v FROM TABLE WHERE p = 1"); fault != "" {
		return fault
	}
	m.step(reshard.Announced)
	fault := w.read("SELECT c, v FROM TABLE WHERE p = 1")
	m.end(false)
	return fault
}

// TestReadsResolveBothWays reads rows whose deletion has only come to their old place: a door
// sent it before the change and stopped, so that it came after the rows were copied. The
// places are made alike, whichever of them a deletion has reached.
func TestReadsResolveBothWays(t *testing.T) {
	w := &twins{scene: newScene(t, embedded(t)), layouts: []string{"{'shards': '4'}"}}
	w.create(changing, "")
	if fault := steps("SELECT * FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'x')")(w); fault != "" {
		t.Fatal(fault)
	}
	m := &mover{scene: w.scene, table: w.table(0), next: shard.Layout{N: 8, Base: 4, Column: "shard"}}
	for c := range 10 {
		m.keys = append(m.keys, [2]int{1, c})
	}
	m.on(m.on(reshard.None, false), false) // to switching
	for _, r := range m.moved() {
		c := int32(binary.BigEndian.Uint32(r.Clustering[0]))
		m.must(m.direct, fmt.Sprintf("DELETE FROM %s WHERE p = 1 AND c = %d AND shard = %d", m.table, c, r.Old.Shard))
		m.must(m.v5, w.text(-1, fmt.Sprintf("DELETE FROM TABLE WHERE p = 1 AND c = %d", c)))
	}
	for _, text := range []string{"SELECT p, c FROM TABLE", "SELECT c, v FROM TABLE WHERE p = 1"} {
		if fault := w.read(text); fault != "" {
			t.Error(fault)
		}
	}
	// A door that does not know the change yet deletes a row that has a cell from before its marker.
	for _, r := range m.moved() {
		c := int32(binary.BigEndian.Uint32(r.Clustering[0]))
		in := func(shard int) string { return fmt.Sprintf(" WHERE p = 1 AND c = %d AND shard = %d", c, shard) }
		for _, text := range []string{
			"UPDATE " + m.table + " USING TIMESTAMP 4000 SET n = 1" + in(r.New.Shard),
			fmt.Sprintf("INSERT INTO %s (p, c, shard, v) VALUES (1, %d, %d, 'x') USING TIMESTAMP 4500", m.table, c, r.New.Shard),
			"DELETE FROM " + m.table + " USING TIMESTAMP 4600" + in(r.Old.Shard),
		} {
			m.must(m.direct, text)
		}
	}
	if fault := w.read("SELECT c, v FROM TABLE WHERE p = 1"); fault != "" {
		t.Error(fault)
	}
	for _, r := range m.moved() {
		if a := m.must(m.direct, fmt.Sprintf("SELECT c FROM %s WHERE p = 1 AND shard = %d AND c = %d", m.table, r.New.Shard, int32(binary.BigEndian.Uint32(r.Clustering[0])))); len(a.Rows) != 0 {
			t.Errorf("a deleted row is left in shard %d", r.New.Shard)
		}
	}
	m.end(true)
}

// TestReadsBesideAMarkerThatIsLeft reads a partition of which a door that did not know the change yet has deleted
// rows in the old place alone. The rows have no cells, or none as new as their markers. Reads show none of them.
func TestReadsBesideAMarkerThatIsLeft(t *testing.T) {
	w := &twins{scene: newScene(t, embedded(t)), layouts: []string{"{'shards': '4'}"}}
	w.create(changing, "")
	m := &mover{scene: w.scene, table: w.table(0), next: shard.Layout{N: 8, Base: 4, Column: "shard"}}
	for c := range 10 {
		m.keys = append(m.keys, [2]int{1, c})
	}
	m.on(m.on(reshard.None, false), false) // to switching
	_, change := m.change()
	for i, r := range m.moved() {
		c := int32(binary.BigEndian.Uint32(r.Clustering[0]))
		m.must(m.direct, fmt.Sprintf("INSERT INTO %s (p, c, shard) VALUES (1, %d, %d) USING TIMESTAMP %d", m.table, c, r.New.Shard, change.Started+1000))
		if i%2 == 0 {
			m.must(m.direct, fmt.Sprintf("UPDATE %s USING TIMESTAMP %d SET v = 'x' WHERE p = 1 AND c = %d AND shard = %d", m.table, change.Started+500, c, r.New.Shard))
		}
		m.must(m.direct, fmt.Sprintf("DELETE FROM %s USING TIMESTAMP %d WHERE p = 1 AND c = %d AND shard = %d", m.table, change.Started+2000, c, r.Old.Shard))
	}
	for _, text := range []string{"SELECT c, v FROM TABLE WHERE p = 1", "SELECT c FROM TABLE WHERE p = 1 AND c = 3", "SELECT p, c FROM TABLE"} {
		if fault := w.read(text); fault != "" {
			t.Error(fault)
		}
	}
	m.end(true)
}

// meddling is a store that calls before at each request of the door's own account.
type meddling struct {
	store.Store
	before atomic.Pointer[func(m wire.Message)]
}

type meddlingLink struct {
	store.Link
	of *meddling
}

func (d *meddling) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := d.Store.Open(ctx, o)
	if err != nil || !o.Own {
		return l, err
	}
	return meddlingLink{l, d}, nil
}

func (l meddlingLink) Send(ctx context.Context, m wire.Message, reply func(wire.Message)) {
	if f := l.of.before.Load(); f != nil {
		(*f)(m)
	}
	l.Link.Send(ctx, m, reply)
}

// TestStaticsWrittenWhileTheyAreDropped lets a client write static columns while a read deletes earlier ones, which
// another client has deleted in the new place.
func TestStaticsWrittenWhileTheyAreDropped(t *testing.T) {
	st := &meddling{Store: embedded(t)}
	s := newScene(t, st)
	table := s.keyspace + ".t"
	s.must(s.v5, "CREATE TABLE "+table+" (p int, c int, v text, st text static, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	m := &mover{scene: s, table: table, next: shard.Layout{N: 8, Base: 4, Column: "shard"}}
	m.on(m.on(reshard.None, false), false) // to switching
	_, c := m.change()
	r := c.Moved([][]byte{plan.IntValue(1)}, nil)
	if r.Old == r.New {
		t.Fatal("the statics do not move")
	}
	write := func(at plan.Place, text string, time int64) {
		s.must(s.direct, fmt.Sprintf("UPDATE %s USING TIMESTAMP %d SET st = %s WHERE p = 1 AND shard = %d", table, time, text, at.Shard))
	}
	s.must(s.v5, "INSERT INTO "+table+" (p, c, v) VALUES (1, 1, 'row')")
	write(r.Old, "'old'", 4000)
	write(r.New, "null", 5000)
	meddled := false
	f := func(m wire.Message) {
		if !meddled && strings.Contains(string(m.Body), "DELETE st FROM") {
			meddled = true
			write(r.New, "'again'", 6000)
			write(r.Old, "'again'", 6000)
		}
	}
	st.before.Store(&f)
	text := "SELECT DISTINCT p, st FROM " + table + " WHERE p = 1"
	if a := s.query(s.v5, text); !meddled || a.Kind == difftest.Error {
		t.Errorf("%v: %s", meddled, show(a))
	}
	st.before.Store(nil)
	if a := s.must(s.v5, text); len(a.Rows) != 1 || string(a.Rows[0][1]) != "again" {
		t.Errorf("then: %s", show(a))
	}
	m.end(true)
}

// TestHistoriesUnderChange holds a table whose layout is changed anywhere in a history, to
// and fro, to what a plain table answers.
func TestHistoriesUnderChange(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: []string{"{'shards': '3'}"}}
		histories := 60
		if strings.Contains(t.Name(), "cassandra") { // which takes its time
			histories = 8
		}
		drawn(t, histories)
		rapid.Check(t, func(r *rapid.T) {
			w.create(changing, "")
			defer func() {
				w.must(w.v5, "DROP TABLE "+w.table(-1))
				w.must(w.v5, "DROP TABLE "+w.table(0))
			}()
			m := &mover{scene: w.scene, table: w.table(0)}
			m.next = rapid.SampledFrom([]shard.Layout{
				{N: 5, Column: "shard"}, {N: 1, Base: 3, Column: "shard"}, {N: 8, Base: 3, Column: "shard"},
				{N: 3, Column: "shard", Keys: shard.NewKeys(1, map[string]shard.Spread{string(plan.IntValue(1)): {Range: shard.Range{N: 4, Base: 3}}})},
				{N: 4, Column: "shard", Rows: []shard.RowEpoch{{From: plan.IntValue(3), Range: shard.Range{N: 4, Base: 10}}}},
			}).Draw(r, "next")
			h := &changeHistory{r: r}
			for p := range 3 {
				for c := range 6 {
					m.keys = append(m.keys, [2]int{p, c})
				}
			}
			at := reshard.None
			ended := false
			var log []string
			for range rapid.IntRange(5, 30).Draw(r, "length") {
				if !ended && rapid.IntRange(0, 2).Draw(r, "on") == 0 {
					at = m.on(at, rapid.IntRange(0, 4).Draw(r, "back") == 0)
					ended = at == reshard.None
					h.late = h.late || at == reshard.Cleaned
					log = append(log, at.String())
				}
				w.binds = rapid.Bool().Draw(r, "binds")
				text := h.write()
				log = append(log, fmt.Sprint(text, ", bound: ", w.binds))
				if fault := w.write(text); fault != "" {
					r.Fatalf("%s\nafter\n%s", fault, strings.Join(log, "\n"))
				}
				text = h.read()
				if fault := w.read(text); fault != "" {
					r.Fatalf("%s\nto %s, after\n%s", fault, m.next.String(), strings.Join(log, "\n"))
				}
			}
		})
	})
}

// changeHistory draws writes and reads of a table of columns changing. A row that only
// UPDATE made keeps a cell: moved, it has a marker that it did not have (a listed
// difference).
type changeHistory struct {
	r *rapid.T

	// late says that reads do not look at the old places any more. Then deletions from before the
	// change no longer shadow writes with earlier timestamps (a documented difference), and there
	// are no such writes.
	late bool
}

func (h *changeHistory) of(name string, n int) string {
	return fmt.Sprint(rapid.IntRange(0, n-1).Draw(h.r, name))
}

func (h *changeHistory) write() string {
	p, c := h.of("p", 3), h.of("c", 6)
	v := rapid.SampledFrom([]string{"'a'", "'b'", "null"}).Draw(h.r, "v")
	using := rapid.SampledFrom([]string{"", "", " USING TIMESTAMP 3", " USING TIMESTAMP 5", " USING TTL 5000"}).Draw(h.r, "using")
	if h.late && strings.Contains(using, "TIMESTAMP") {
		using = ""
	}
	stamp := using
	if strings.Contains(stamp, "TTL") {
		stamp = ""
	}
	if using != stamp && v == "null" {
		v = "'c'"
	}
	if stamp != "" && v == "null" {
		v = "'c'" // which a change refuses beside what is not null
	}
	switch rapid.IntRange(0, 9).Draw(h.r, "kind") {
	case 0, 1, 2:
		return "INSERT INTO TABLE (p, c, v, n) VALUES (" + p + ", " + c + ", " + v + ", " + h.of("n", 3) + ")" + using
	case 3, 4:
		return "UPDATE TABLE" + using + " SET n = 4, v = " + v + " WHERE p = " + p + " AND c = " + c
	case 5:
		return "UPDATE TABLE" + using + " SET n = 7 WHERE p = " + p + " AND c IN (" + c + ", 1, 4)"
	case 6:
		return "DELETE FROM TABLE" + stamp + " WHERE p = " + p + " AND c = " + c
	case 7:
		return "DELETE v FROM TABLE" + stamp + " WHERE p = " + p + " AND c = " + c
	case 8:
		return "DELETE FROM TABLE" + stamp + " WHERE p = " + p + " AND c >= " + c
	}
	return "BEGIN BATCH" + stamp + " INSERT INTO TABLE (p, c, v) VALUES (" + p + ", " + c + ", 'batch'); UPDATE TABLE SET n = 1 WHERE p = " + p + " AND c = 2; DELETE FROM TABLE WHERE p = 1 AND c = " + h.of("c", 6) + "; APPLY BATCH"
}

func (h *changeHistory) read() string {
	p, c := h.of("p", 3), h.of("c", 6)
	return rapid.SampledFrom([]string{
		"SELECT c, v, n FROM TABLE WHERE p = " + p, "SELECT * FROM TABLE WHERE p = " + p + " AND c = " + c, "SELECT * FROM TABLE WHERE p = " + p + " ORDER BY c DESC LIMIT 2",
		"SELECT v FROM TABLE WHERE p = " + p + " AND c > " + c, "SELECT count(*), min(v), sum(n) FROM TABLE WHERE p = " + p,
		"SELECT c, v FROM TABLE WHERE p IN (0, 1, 2) PER PARTITION LIMIT 2", "SELECT DISTINCT p FROM TABLE", "SELECT p, c, v, n, n FROM TABLE WHERE v = 'a' ALLOW FILTERING",
		"SELECT * FROM TABLE", "SELECT p, count(*) FROM TABLE GROUP BY p",
	}).Draw(h.r, "read")
}

// levels is a store that notes the lowest consistency level of what clients' links execute.
type levels struct {
	store.Store
	low atomic.Bool
}

type levelsLink struct {
	store.Forwarder
	l       *levels
	version wire.Version
}

func (l *levels) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	link, err := l.Store.Open(ctx, o)
	if err != nil || o.Own {
		return link, err
	}
	return &levelsLink{link.(store.Forwarder), l, o.Version}, nil
}

func (l *levelsLink) note(m wire.Message) {
	var cl wire.Consistency
	switch m.Op {
	case wire.OpExecute:
		e, err := wire.ParseExecute(l.version, m.Body)
		if err != nil {
			return
		}
		cl = e.Params.Consistency
	case wire.OpBatch:
		b, err := wire.ParseBatch(l.version, m.Body)
		if err != nil {
			return
		}
		cl = b.Params.Consistency
	default:
		return
	}
	if cl == wire.One || cl == wire.LocalOne {
		l.l.low.Store(true)
	}
}

func (l *levelsLink) Send(ctx context.Context, m wire.Message, reply func(wire.Message)) {
	l.note(m)
	l.Forwarder.Send(ctx, m, reply)
}

func (l *levelsLink) Forward(ctx context.Context, m wire.Message, to store.Receiver, tag uint32) {
	l.note(m)
	l.Forwarder.Forward(ctx, m, to, tag)
}

// quorumInChange looks at the levels of what the store is sent for a client that asks for
// ONE: each step but none has LOCAL_QUORUM.
func quorumInChange(w *twins) string {
	st := &levels{Store: embedded(w.t)}
	s := newScene(w.t, st)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t ("+changing+") WITH write_sharding = {'shards': '4'}")
	texts := []string{"INSERT INTO %s.t (p, c, v) VALUES (1, 1, 'x')", "UPDATE %s.t SET v = 'y' WHERE p = 1 AND c IN (1, 2)", "DELETE FROM %s.t WHERE p = 1 AND c > 5",
		"SELECT * FROM %s.t WHERE p = 1", "SELECT * FROM %s.t", "BEGIN BATCH INSERT INTO %[1]s.t (p, c) VALUES (2, 1); INSERT INTO %[1]s.t (p, c) VALUES (2, 2); APPLY BATCH"}
	m := &mover{scene: s, table: s.keyspace + ".t", next: shard.Layout{N: 8, Base: 4, Column: "shard"}}
	for step := reshard.None; ; {
		for _, text := range texts {
			st.low.Store(false)
			a, err := s.v5.Query(difftest.Request{Query: fmt.Sprintf(text, s.keyspace), Consistency: primitive.ConsistencyLevelOne})
			if err != nil || a.Kind == difftest.Error {
				w.t.Fatalf("%s: %v %v", text, err, a)
			}
			if low := st.low.Load(); low && step != reshard.None {
				return fmt.Sprintf("%s: %s was sent at ONE", step, text)
			}
		}
		for _, text := range []string{"UPDATE %s.t SET v = 'z' WHERE p = 1 AND c = ?", "SELECT v FROM %s.t WHERE p = 1 AND c = ?"} {
			st.low.Store(false)
			p, err := s.v5.Prepare(fmt.Sprintf(text, s.keyspace))
			if err != nil {
				w.t.Fatal(err)
			}
			for c := range int32(8) {
				if a, err := s.v5.Execute(p, difftest.Request{Values: int32s(c), Consistency: primitive.ConsistencyLevelOne}); err != nil || a.Kind == difftest.Error {
					w.t.Fatalf("%s: %v %v", text, err, a)
				}
			}
			if low := st.low.Load(); low && step != reshard.None {
				return fmt.Sprintf("%s: %s was sent at ONE", step, text)
			}
		}
		if step = m.on(step, false); step == reshard.None {
			return ""
		}
	}
}
