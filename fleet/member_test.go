// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// memory is a store that has the fleet's tables.
type memory struct {
	mu    sync.Mutex
	rows  map[string]map[string]catalog.Row // by table and key
	fails error
	asked int                // statements
	lacks []wire.Consistency // levels that it refuses
	last  wire.Consistency   // of the last statement that it carried out

	replication string // of keyspace evenkeel, as a frozen map<text, text>
}

func newMemory() *memory {
	return &memory{rows: map[string]map[string]catalog.Row{"doors": {}, "published": {}, "settings": {}}}
}

func (m *memory) Query(_ context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if m.fails != nil {
		return nil, m.fails
	}
	if slices.Contains(m.lacks, cl) {
		return nil, wire.Invalidf("Consistency level %v is not supported", cl)
	}
	if cl != wire.One {
		m.last = cl
	}
	put := func(table string, key int, columns string) {
		r := catalog.Row{}
		for i, c := range strings.Split(columns, ", ") {
			r[c] = slices.Clone(values[i])
		}
		m.rows[table][fmt.Sprintf("%q", values[:key])] = r
	}
	all := func(table string) (rows []catalog.Row) {
		for _, key := range slices.Sorted(func(yield func(string) bool) {
			for k := range m.rows[table] {
				if !yield(k) {
					return
				}
			}
		}) {
			rows = append(rows, m.rows[table][key])
		}
		return rows
	}
	switch {
	case cql == writeDoor:
		put("doors", 2, doorColumns)
	case cql == readDoors:
		return all("doors"), nil
	case cql == writePublished:
		if there := m.rows["published"][fmt.Sprintf("%q", values[:4])]; there != nil {
			return []catalog.Row{{"[applied]": {0}, "generation": there["generation"]}}, nil
		}
		put("published", 4, "scope, keyspace_name, table_name, table_id, generation, step")
		return []catalog.Row{{"[applied]": {1}}}, nil
	case cql == removePublished:
		delete(m.rows["published"], fmt.Sprintf("%q", values[:4]))
		return []catalog.Row{{"[applied]": {1}}}, nil
	case cql == readPublished:
		return all("published"), nil
	case cql == writeSetting:
		put("settings", 1, "name, value")
	case cql == readSettings:
		return all("settings"), nil
	case strings.HasPrefix(cql, "SELECT * FROM system_schema.keyspaces"):
		return []catalog.Row{{"keyspace_name": []byte(catalog.Keyspace), "durable_writes": {1}, "replication": []byte(m.replication)}}, nil
	case cql == "SELECT schema_version FROM system.local":
		return []catalog.Row{{"schema_version": []byte("v")}}, nil
	case strings.HasPrefix(cql, "SELECT schema_version FROM system.peers"):
	case strings.HasPrefix(cql, "SELECT column_name FROM"):
		return []catalog.Row{{"column_name": []byte("schema_version")}}, nil
	case strings.HasPrefix(cql, "SELECT table_name FROM system_schema.tables"), strings.HasPrefix(cql, "CREATE TABLE IF NOT EXISTS evenkeel."):
	default:
		return nil, fmt.Errorf("unknown statement %s", cql)
	}
	return nil, nil
}

// forget is what the time to live of a row does.
func (m *memory) forget(id [16]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, r := range m.rows["doors"] {
		if string(r["id"]) == string(id[:]) {
			delete(m.rows["doors"], key)
		}
	}
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = err
}

var lastID byte

func newDoor(s catalog.Session, name string, steps ...string) *Member {
	return New(Options{Session: s, Now: time.Now, UUID: func() (u [16]byte) { lastID++; u[0] = lastID; return u },
		Self: Door{CQL: name, Steps: steps}})
}

func beat(t *testing.T, m *Member) *Seen {
	t.Helper()
	s, err := m.Beat(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var blogs = Table{Keyspace: "tracker", Name: "blogs", ID: [16]byte{15: 9}}

// TestBeat registers doors that see each other and what is published, and renew.
func TestBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newMemory()
		a, b := newDoor(st, "a:1", "announced"), newDoor(st, "b:1", "announced")
		if s := beat(t, a); len(s.Doors) != 1 || s.Lease != DefaultLease || !s.Asked.Equal(time.Now()) {
			t.Errorf("%+v", s)
		}
		first := beat(t, b)
		if len(first.Doors) != 2 {
			t.Errorf("%d doors", len(first.Doors))
		}
		if err := a.Publish(t.Context(), Publication{blogs, 3, "announced"}); err != nil {
			t.Fatal(err)
		}
		second := beat(t, b)
		if second.Self != first.Self || second.Same(first) || !second.Same(beat(t, b)) ||
			len(second.Publications) != 1 || second.Publications[0] != (Publication{blogs, 3, "announced"}) {
			t.Errorf("%+v", second)
		}
		b.Acknowledge(second.Self, map[[16]byte]int64{blogs.ID: 3})
		beat(t, b)
		for _, d := range beat(t, a).Doors {
			if d.CQL == "b:1" && (d.Acknowledged[blogs.ID] != 3 || d.Beat != 4 || d.Lease != DefaultLease || !slices.Equal(d.Formats, []string{Format})) {
				t.Errorf("%+v", d)
			}
		}
		if err := a.Withdraw(t.Context(), blogs, 3); err != nil {
			t.Fatal(err)
		}
		if s := beat(t, b); len(s.Publications) != 0 {
			t.Errorf("%+v", s.Publications)
		}
	})
}

// TestComesBackAsAnother lets a door register again that was away for longer than its lease. Its
// earlier acknowledgements must not count any more, and neither must one that arrives late.
func TestComesBackAsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newMemory()
		a := newDoor(st, "a:1")
		first := beat(t, a)
		a.Acknowledge(first.Self, map[[16]byte]int64{blogs.ID: 3})
		beat(t, a)
		time.Sleep(DefaultLease + 1)
		second := beat(t, a)
		if second.Self == first.Self {
			t.Fatal("it has the same id")
		}
		a.Acknowledge(first.Self, map[[16]byte]int64{blogs.ID: 4})
		for _, d := range beat(t, a).Doors {
			if d.ID == second.Self && len(d.Acknowledged) > 0 {
				t.Errorf("%+v", d)
			}
		}
	})
}

// TestBarrier publishes and waits, with doors that acknowledge, leave, vanish, come late,
// and renew without acknowledging.
func TestBarrier(t *testing.T) {
	const grace = defaultLongest + defaultDrift
	for _, c := range []struct {
		name string
		door func(ctx context.Context, t *testing.T, m *Member, st *memory) // what another door does, from when it has registered
		want func(err error, after time.Duration) bool
	}{
		{"it acknowledges", func(ctx context.Context, t *testing.T, m *Member, _ *memory) {
			s := beat(t, m)
			m.Acknowledge(s.Self, map[[16]byte]int64{blogs.ID: 7})
			time.Sleep(time.Second)
			beat(t, m)
		}, func(err error, after time.Duration) bool {
			return err == nil && after >= time.Second && after <= time.Second+200*time.Millisecond
		}},
		{"it acknowledges an earlier one, and renews", func(ctx context.Context, t *testing.T, m *Member, _ *memory) {
			for ctx.Err() == nil {
				s := beat(t, m)
				m.Acknowledge(s.Self, map[[16]byte]int64{blogs.ID: 6})
				time.Sleep(time.Second)
			}
		}, func(err error, after time.Duration) bool {
			return errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), "b:1") && after == time.Hour
		}},
		{"it vanishes", func(context.Context, *testing.T, *Member, *memory) {},
			func(err error, after time.Duration) bool {
				v, ok := errors.AsType[*VanishedError](err)
				return ok && len(v.Doors) == 1 && v.Doors[0].CQL == "b:1" && after > DefaultLease+grace && after < DefaultLease+grace+time.Second
			}},
		{"it renews once and vanishes", func(ctx context.Context, t *testing.T, m *Member, _ *memory) {
			time.Sleep(time.Second)
			beat(t, m)
		}, func(err error, after time.Duration) bool {
			_, ok := errors.AsType[*VanishedError](err)
			return ok && after > time.Second+DefaultLease+grace && after < time.Second+DefaultLease+grace+time.Second
		}},
		{"its row expires", func(_ context.Context, t *testing.T, m *Member, st *memory) {
			time.Sleep(time.Second)
			st.forget(m.self.ID)
		}, func(err error, after time.Duration) bool {
			_, ok := errors.AsType[*VanishedError](err)
			return ok && after >= time.Second && after < 2*time.Second
		}},
		{"it leaves", func(_ context.Context, t *testing.T, m *Member, _ *memory) {
			time.Sleep(time.Second)
			if err := m.Leave(context.Background()); err != nil {
				t.Error(err)
			}
		}, func(err error, after time.Duration) bool {
			return err == nil && after >= time.Second && after < 2*time.Second
		}},
		{"another registers meanwhile", func(_ context.Context, t *testing.T, m *Member, st *memory) {
			late := newDoor(st, "c:1")
			time.Sleep(time.Second)
			for _, m := range []*Member{late, m} {
				s := beat(t, m)
				m.Acknowledge(s.Self, map[[16]byte]int64{blogs.ID: 7})
			}
			beat(t, m)
			time.Sleep(time.Second)
			beat(t, late)
		}, func(err error, after time.Duration) bool {
			return err == nil && after >= 2*time.Second && after < 3*time.Second
		}},
		{"the store fails for a while", func(_ context.Context, t *testing.T, m *Member, st *memory) {
			s := beat(t, m)
			m.Acknowledge(s.Self, map[[16]byte]int64{blogs.ID: 7})
			beat(t, m)
			st.fail(errors.New("nobody is there"))
			time.Sleep(30 * time.Second)
			st.fail(nil)
		}, func(err error, after time.Duration) bool { return err == nil && after < 31*time.Second }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newMemory()
				mover, other := newDoor(st, "a:1"), newDoor(st, "b:1")
				s := beat(t, mover)
				beat(t, other)
				if err := mover.Publish(t.Context(), Publication{blogs, 7, ""}); err != nil {
					t.Fatal(err)
				}
				mover.Acknowledge(s.Self, map[[16]byte]int64{blogs.ID: 7})
				beat(t, mover)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var done sync.WaitGroup
				done.Go(func() { c.door(ctx, t, other, st) })
				begun := time.Now()
				err := mover.Barrier(ctx, blogs, 7)
				if after := time.Since(begun); !c.want(err, after) {
					t.Errorf("%v after %v", err, after)
				}
				cancel()
				done.Wait()
			})
		})
	}
}

// TestVanishedOnce has barriers report a door that vanished once, and not wait for it
// again; when the door comes back it is waited for as any other.
func TestVanishedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newMemory()
		mover, other := newDoor(st, "a:1"), newDoor(st, "b:1")
		s := beat(t, mover)
		beat(t, other)
		barrier := func(generation int64) (time.Duration, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			var done sync.WaitGroup
			defer done.Wait()
			defer cancel()
			mover.Acknowledge(s.Self, map[[16]byte]int64{blogs.ID: generation})
			beat(t, mover)
			done.Go(func() {
				for ; ctx.Err() == nil; time.Sleep(time.Second) {
					beat(t, mover)
				}
			})
			begun := time.Now()
			err := mover.Barrier(ctx, blogs, generation)
			return time.Since(begun), err
		}
		if after, err := barrier(7); after < DefaultLease || !errors.As(err, new(*VanishedError)) {
			t.Fatalf("%v after %v", err, after)
		}
		if after, err := barrier(8); err != nil || after > 0 {
			t.Errorf("%v after %v", err, after)
		}
		beat(t, other) // with another id
		if after, err := barrier(9); after < DefaultLease || !errors.As(err, new(*VanishedError)) {
			t.Errorf("%v after %v", err, after)
		}
	})
}

// TestRegistersBeforeItReads checks the order of statements on which a barrier relies, for every
// interleaving of a door's statements with a mover's: either the mover's barrier knows the door, or
// the door knows the publication.
func TestRegistersBeforeItReads(t *testing.T) {
	for at := range 20 {
		st := newMemory()
		mover := newDoor(st, "a:1")
		beat(t, mover)
		seen := false
		st2 := &interrupted{Session: st, at: at, do: func() {
			if err := mover.Publish(t.Context(), Publication{blogs, 7, ""}); err != nil {
				t.Fatal(err)
			}
			doors, err := mover.tables.doors(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			seen = slices.ContainsFunc(doors, func(d *Door) bool { return d.CQL == "b:1" })
		}}
		s := beat(t, newDoor(st2, "b:1"))
		if st2.at >= 0 {
			break // the mover came after the door's last statement
		}
		if !seen && len(s.Publications) == 0 {
			t.Errorf("after %d statements neither knows of the other", at)
		}
	}
}

// interrupted is a session between whose statements something else happens.
type interrupted struct {
	catalog.Session
	at int
	do func()
}

func (i *interrupted) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	if i.at == 0 {
		i.do()
	}
	i.at--
	return i.Session.Query(ctx, cl, cql, values...)
}

// TestNodesThatLearnLate lets a door join a store of two nodes. Another door has just created a table,
// and one node does not know the table yet. The joining door must wait until both nodes know it.
func TestNodesThatLearnLate(t *testing.T) {
	s := &late{Session: newMemory(), ignorant: 5}
	if _, err := newDoor(s, "a:1").Beat(t.Context()); err != nil {
		t.Error(err)
	}
}

// late is a session that asks two nodes in turn. The second node learns of a table only after the door
// has asked several times which schema it has.
type late struct {
	catalog.Session
	turn, ignorant int
}

func (l *late) EachNode(context.Context, string) (rows []catalog.Row, all bool, err error) {
	l.ignorant--
	return []catalog.Row{{"schema_version": []byte("new")}, {"schema_version": fmt.Appendf(nil, "new%.*s", max(0, l.ignorant), "-----")}}, true, nil
}

func (l *late) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	if l.turn++; l.turn%2 == 0 && l.ignorant > 0 && cql == readPublished {
		return nil, wire.Invalidf("table published does not exist")
	}
	return l.Session.Query(ctx, cl, cql, values...)
}

// TestDoesNotJoin refuses doors that do not know what the others go by.
func TestDoesNotJoin(t *testing.T) {
	st := newMemory()
	a := newDoor(st, "a:1", "announced", "switching")
	beat(t, a)
	if err := a.Publish(t.Context(), Publication{blogs, 7, "switching"}); err != nil {
		t.Fatal(err)
	}
	old := newDoor(st, "old:1", "announced")
	if _, err := old.Beat(t.Context()); err == nil || !strings.Contains(err.Error(), "tracker.blogs") || !strings.Contains(err.Error(), "switching") {
		t.Errorf("%v", err)
	}
	for _, d := range beat(t, a).Doors {
		if d.CQL == "old:1" && !d.Left() {
			t.Errorf("it has stayed: %+v", d)
		}
	}
	if err := a.Knows(t.Context(), "announced", "switching"); err != nil {
		t.Error(err)
	}
	b := newDoor(st, "b:1", "announced", "switching")
	b.opts.Self.Release = "0.1"
	beat(t, b)
	if err := a.Knows(t.Context(), "switching", "sealed"); err == nil || !strings.Contains(err.Error(), "sealed") {
		t.Errorf("%v", err)
	}
	if _, err := st.Query(t.Context(), wire.Quorum, writeSetting, []byte("format"), []byte("2")); err != nil {
		t.Fatal(err)
	}
	if _, err := newDoor(st, "c:1").Beat(t.Context()); err == nil || !strings.Contains(err.Error(), `format "2"`) {
		t.Errorf("%v", err)
	}
}

// TestLeaseOfTheCatalogue goes by what the catalogue says, and refuses what it cannot read.
func TestLeaseOfTheCatalogue(t *testing.T) {
	st := newMemory()
	set := func(value string) {
		if _, err := st.Query(t.Context(), wire.Quorum, writeSetting, []byte("lease"), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	set("5s")
	if s := beat(t, newDoor(st, "a:1")); s.Lease != 5*time.Second {
		t.Errorf("%v", s.Lease)
	}
	for _, wrong := range []string{"long", "-1s", "0s"} {
		set(wrong)
		if _, err := newDoor(st, "b:1").Beat(t.Context()); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestLevels checks the level of a door's own statements and of those that must reach all doors, on
// stores that refuse some levels.
func TestLevels(t *testing.T) {
	const strategies = "org.apache.cassandra.locator."
	one := map[string]string{"class": strategies + "SimpleStrategy", "replication_factor": "3"}
	dc := map[string]string{"class": strategies + "NetworkTopologyStrategy", "north": "3"}
	dcs := map[string]string{"class": strategies + "NetworkTopologyStrategy", "north": "3", "south": "3"}
	region := map[string]string{"class": "com.amazonaws.cassandra.SingleRegionStrategy"}
	for _, c := range []struct {
		replication map[string]string
		lacks       []wire.Consistency
		want        wire.Consistency
	}{
		{dcs, nil, wire.EachQuorum},
		{dc, nil, wire.EachQuorum},
		{dcs, []wire.Consistency{wire.EachQuorum}, wire.All},
		{dc, []wire.Consistency{wire.EachQuorum}, wire.Quorum},
		{one, []wire.Consistency{wire.EachQuorum}, wire.Quorum},
		{region, []wire.Consistency{wire.EachQuorum, wire.Quorum, wire.All}, wire.LocalQuorum},
	} {
		st := newMemory()
		st.lacks, st.replication = c.lacks, textMap(c.replication)
		d := newDoor(st, "a:1")
		if s := beat(t, d); len(s.Doors) != 1 || st.last != wire.LocalQuorum {
			t.Errorf("%v without %v: a beat sees %d doors at %v", c.replication, c.lacks, len(s.Doors), st.last)
		}
		if err := d.Publish(t.Context(), Publication{blogs, 7, ""}); err != nil || st.last != c.want {
			t.Errorf("%v without %v: a publication at %v: %v", c.replication, c.lacks, st.last, err)
		}
		if err := d.Knows(t.Context()); err != nil || st.last != c.want {
			t.Errorf("%v without %v: the doors are read at %v: %v", c.replication, c.lacks, st.last, err)
		}
		st.fail(&wire.Error{Code: wire.CodeUnavailable})
		if err := d.Knows(t.Context()); err == nil {
			t.Errorf("%v without %v: a store that is down is asked at a lower level", c.replication, c.lacks)
		}
	}
}

// textMap serializes a map<text, text>.
func textMap(m map[string]string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = wire.AppendBytes(wire.AppendBytes(b, []byte(k)), []byte(m[k]))
	}
	return string(b)
}

// TestAlone is a door without others, once it has been there for a lease.
func TestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newMemory()
		a, b := newDoor(st, "a:1"), newDoor(st, "b:1")
		alone := func(want bool) {
			t.Helper()
			if is, err := a.Alone(t.Context()); err != nil || is != want {
				t.Errorf("%v, %v", is, err)
			}
		}
		alone(false) // it has not registered
		for range 3 {
			beat(t, a)
			alone(false)
			time.Sleep(time.Second)
		}
		beat(t, a)
		alone(true)
		beat(t, b)
		alone(false)
		if err := b.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		alone(true)
		time.Sleep(time.Minute) // a comes back as another
		for range 3 {
			beat(t, a)
			alone(false)
			time.Sleep(time.Second)
		}
		beat(t, a)
		alone(true)
	})
}
