// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// directory is a directory of rollovers in memory.
type directory struct {
	tables map[[16]byte]*shard.Rolled
	opens  func(key []byte) // is called before a shard is opened
	asked  func()           // is called before Written answers; nil: not
}

func (d *directory) Rolled(table [16]byte) *shard.Rolled { return d.tables[table] }

func (d *directory) Written(_ context.Context, table [16]byte) (*shard.Rolled, error) {
	if d.asked != nil {
		d.asked()
	}
	return d.tables[table], nil
}

func (d *directory) Announce(_ context.Context, table [16]byte, key []byte, n int) error {
	for {
		open, closed := d.tables[table].Timeless(key)
		if len(open)+len(closed) >= n {
			return nil
		}
		next := d.tables[table].Next()
		next.Announce(key, d.tables[table].Shards(key)+1, shard.Always)
		d.tables[table] = next.Done()
	}
}

func (d *directory) Open(_ context.Context, table [16]byte, key []byte, n int) error {
	if d.opens != nil {
		d.opens(key)
	}
	for {
		open, closed := d.tables[table].Timeless(key)
		if len(open) >= n || len(closed) == 0 {
			return nil
		}
		next := d.tables[table].Next()
		next.Open(key, closed[0])
		d.tables[table] = next.Done()
	}
}

// waiting are doors that are told of barriers.
type waiting struct {
	alone
	barrier func()
}

func (w waiting) Barrier(context.Context, *catalog.Entry) (bool, error) {
	w.barrier()
	return false, nil
}

var toRollover = &shard.Layout{Strategy: shard.Rollover, N: 1, Column: "shard", Fill: shard.Fill{Rows: 10}, Max: shard.MaxShards}

// rolledRows returns all rows of a physical table of strategy rollover. A row of which no cell expires must
// be in one shard. What expires must be in all shards of its key.
func (w *world) rolledRows(e *catalog.Entry) map[string]string {
	w.t.Helper()
	type row struct {
		a, b, wa, wb []byte
		expires      bool
		in, has      int // how many shards have the row; how many the key has
	}
	rows, shards := map[string]*row{}, map[string]map[int]bool{}
	for _, r := range w.exec("SELECT k, c, d, a, b, WRITETIME(a) AS wa, WRITETIME(b) AS wb, TTL(a) AS ta, shard FROM k." + e.Physical) {
		key := string(plan.AppendKey(nil, [][]byte{r["k"]}))
		if shards[key] == nil {
			shards[key] = map[int]bool{}
		}
		n := int(int32(binary.BigEndian.Uint32(r["shard"])))
		shards[key][n] = true
		has := w.rollovers.Rolled(e.PhysicalID()).Shards([]byte(key))
		if n < 1 || n > has {
			w.t.Errorf("key %x has a row in shard %d of %d", key, n, has)
		}
		name := fmt.Sprintf("%x %s %x", r["k"], r["c"], r["d"])
		x := rows[name]
		if x == nil {
			x = &row{has: has}
			rows[name] = x
		}
		x.in++
		x.expires = x.expires || r["ta"] != nil
		if r["a"] != nil {
			x.a, x.wa = r["a"], r["wa"]
		}
		if r["b"] != nil {
			x.b, x.wb = r["b"], r["wb"]
		}
	}
	out := map[string]string{}
	for name, x := range rows {
		out[name] = fmt.Sprintf("%s %x %x %x expires %v", x.a, x.b, x.wa, x.wb, x.expires)
		if want := map[bool]int{true: x.has, false: 1}[x.expires]; x.in != want {
			w.t.Errorf("row %s is in %d shards of %d; it should be in %d", name, x.in, x.has, want)
		}
	}
	for key, all := range shards {
		if len(all) < 2 {
			w.t.Errorf("the rows of key %x are in shards %v", key, all)
		}
	}
	return out
}

// TestMoveToRollover changes a plain table and a sharded table to strategy rollover. No client uses them
// meanwhile. Each key gets as many shards as its rows fill. The mover announces these shards, and then waits
// at a barrier. It opens no shard and copies no row before it has passed the barrier.
func TestMoveToRollover(t *testing.T) {
	for name, made := range map[string]func(*testing.T) (*world, map[string]string){"plain": newPlainWorld, "sharded": newShardedWorld} {
		w, want := made(t)
		m := w.mover(w.store, nil)
		known, opened := map[string]int{}, 0
		var e *catalog.Entry
		m.opts.Doors = waiting{alone{at: func(now *catalog.Entry) { e = now }}, func() {
			for k := range 6 {
				key := string(i32(k))
				open, closed := w.rollovers.Rolled(e.Second.ID).Timeless([]byte(key))
				known[key] = len(open) + len(closed)
			}
		}}
		w.rollovers.opens = func(key []byte) {
			opened++
			if open, closed := w.rollovers.Rolled(e.Second.ID).Timeless(key); known[string(key)] != 2 || len(closed) != 1 || len(open) != 1 {
				t.Errorf("%s: shards %v of key %x are opened beside %v; at the last barrier it had %d", name, closed, key, open, known[string(key)])
			}
			if rows := w.exec("SELECT k FROM k." + e.Second.Physical); len(rows) > 0 {
				t.Errorf("%s: %d rows were copied before all shards are open", name, len(rows))
			}
		}
		if err := w.startRollover(m); err != nil {
			t.Fatal(err)
		}
		if err := m.Run(t.Context(), "k", "p"); err != nil {
			t.Fatal(err)
		}
		after := w.plainEntry()
		if after.Change != nil || after.Second != nil || after.Layout.Strategy != shard.Rollover || after.Layout.Last() > 1 {
			t.Fatalf("%s: after the change: %+v", name, after)
		}
		if got := w.rolledRows(after); !reflect.DeepEqual(got, want) || opened != 6 {
			t.Errorf("%s: %d keys were opened; the rows are\n%v\nand were\n%v", name, opened, got, want)
		}
		counts, err := catalog.NewRollovers(w.session, uuid()).Counts(t.Context(), after.PhysicalID(), i32(1))
		if err != nil || len(counts) != 1 || counts[0].Shard != 2 || counts[0].Own || counts[0].Rows != 9 { // 18 of its 24 rows do not expire
			t.Errorf("%s: the doors are told of %+v, %v", name, counts, err)
		}
	}
}

// startRollover starts a change of table k.p to strategy rollover.
func (w *world) startRollover(m *Mover) error {
	w.t.Helper()
	if w.plainEntry() != nil {
		_, err := w.startSecond(m, toRollover)
		return err
	}
	_, err := m.StartPlain(w.t.Context(), w.keyspace(), w.table("p"), toRollover, uuid())
	return err
}

// TestToRolloverDies lets the mover die while it begins a change to strategy rollover or carries it out.
func TestToRolloverDies(t *testing.T) {
	dies(t, func(t *testing.T) (*world, map[string]string) {
		w, want := newShardedWorld(t)
		if err := w.catalog.EnsureRollovers(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w, want
	}, func(w *world, m *Mover) error {
		m.opts.Catalogue = ready{m.opts.Catalogue}
		return w.startRollover(m)
	})
}

// ready is a catalogue whose directory of rollovers is there. A real one waits for it until the store answers.
type ready struct{ Catalogue }

func (ready) EnsureRollovers(context.Context) error { return nil }

// TestLookWhileAShardIsOpened lets another door open a shard, and write newer versions of rows there, while the mover
// looks at the rows. The mover sees these versions.
func TestLookWhileAShardIsOpened(t *testing.T) {
	w, _ := newShardedWorld(t)
	e := w.plainEntry()
	logical, _ := catalog.Logical(w.table(e.Physical), e.Layout)
	key := i32(77)
	at := func(name string, layout *shard.Layout, id [16]byte) *plan.Table {
		of, err := plan.NewKept(logical, plan.Kept{Layout: layout, Physical: name, ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return of
	}
	old := at(e.Physical, toRollover, e.PhysicalID())
	second := *w.table(e.Physical)
	second.Name = "q"
	p := &pass{table: NewTable(w.table(e.Physical), &second, old, at("q", e.Layout, uuid()), 5000), backend: w.mover(w.store, alone{}).backend, pace: newPace(time.Now, nil), now: time.Now}
	for _, count := range []int{1, 3} {
		var rows []*row
		insert := func(shard int, a string) {
			for i := range count {
				w.exec("INSERT INTO k."+e.Physical+" (k, shard, c, d, a) VALUES (?, ?, ?, ?, ?)", key, i32(shard), []byte(fmt.Sprint("row ", i)), i32(count), []byte(a))
			}
		}
		insert(1, "older")
		for i := range count {
			rows = append(rows, &row{key: [][]byte{key}, clustering: [][]byte{[]byte(fmt.Sprint("row ", i)), i32(count)}})
		}
		asked := 0
		rollovers := &directory{tables: map[[16]byte]*shard.Rolled{}}
		rollovers.asked = func() {
			if asked++; asked == 2 {
				next := rollovers.tables[e.PhysicalID()].Next()
				next.Announce(key, 2, 100)
				next.Open(key, 2)
				rollovers.tables[e.PhysicalID()] = next.Done()
				insert(2, "newer")
			}
		}
		p.table.rollovers = rollovers
		got, err := p.lookAll(t.Context(), rows, slices.Repeat([]place{{p.table.from, plan.AnyShard}}, len(rows)))
		if err != nil || len(got) != count {
			t.Fatalf("%d rows of %d, %v", len(got), count, err)
		}
		for i := range got {
			if !got[i].there || string(got[i].cells[0].value) != "newer" {
				t.Errorf("of %d rows, number %d is %+v", count, i, got[i])
			}
		}
	}
}

// TestSurvey adds parts of shards to many keys, of which a survey remembers only some. No key has more than
// was added, nor much less. The shards are as many as that fills, but never more than they may be.
func TestSurvey(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for round := range 300 {
		s := newSurvey(shard.Fill{Rows: 10, Bytes: 1000})
		s.most = 4 + r.IntN(60)
		added, total := map[string]float64{}, 0.0
		for range r.IntN(3000) {
			key := fmt.Sprint(min(r.IntN(200), r.IntN(200), r.IntN(200), r.IntN(200)))
			part := s.fill.Part(1, int64(r.IntN(400)))
			s.add(key, part)
			added[key] += part
			total += part
		}
		if len(s.full) > s.most {
			t.Fatalf("round %d: it remembers %d keys, and should %d", round, len(s.full), s.most)
		}
		slack := 2 * total / float64(s.most)
		for key, want := range added {
			if got := s.full[key]; got > want+1e-9 || got < want-slack-1e-9 {
				t.Fatalf("round %d: key %s has %f of %f, and may lack %f", round, key, got, want, slack)
			}
		}
		most := 2 + r.IntN(8)
		shares := map[string]bool{}
		for _, f := range s.firsts(most) {
			shares[f.key] = true
			full := s.full[f.key]
			if f.shards < 1 || f.shards > most || math.Abs(f.full*float64(f.shards)-full) > 1e-9 ||
				f.full > 1+1e-9 && f.shards < most || f.shards > 1 && full <= float64(f.shards-1) {
				t.Fatalf("round %d: of at most %d shards, key %s with %f has %+v", round, most, f.key, full, f)
			}
		}
		for key, full := range s.full {
			if full >= 1 && !shares[key] {
				t.Fatalf("round %d: key %s with %f is left out", round, key, full)
			}
		}
	}
}

// TestCopyOfWhatExpires copies a row to a place of strategy rollover. What expires goes to all shards of the
// key that were open at its time, and the rest to one that took cells of any time when the pass began.
func TestCopyOfWhatExpires(t *testing.T) {
	w, _ := newShardedWorld(t)
	e := w.plainEntry()
	logical, _ := catalog.Logical(w.table(e.Physical), e.Layout)
	from, err := plan.NewKept(logical, plan.Kept{Layout: e.Layout, Physical: e.Physical, ID: e.PhysicalID()})
	if err != nil {
		t.Fatal(err)
	}
	to, err := plan.NewKept(logical, plan.Kept{Layout: toRollover, Physical: "q", ID: uuid()})
	if err != nil {
		t.Fatal(err)
	}
	second := *w.table(e.Physical)
	second.Name = "q"
	table := NewTable(w.table(e.Physical), &second, from, to, 5000)
	key := i32(1)
	next := (*shard.Rolled)(nil).Next()
	for n := 2; n <= 4; n++ {
		next.Announce(key, n, map[bool]int64{true: 100, false: shard.Always}[n == 2])
		next.Open(key, n)
	}
	rolled := next.Done()
	rollovers := &directory{tables: map[[16]byte]*shard.Rolled{to.PhysicalID(): rolled}}
	table.rollovers = rollovers
	table.fix()
	further := rolled.Next() // another mover opens a shard that this one has not waited for
	further.Announce(key, 5, shard.Always)
	further.OpenCopied(key, 5, 200)
	rollovers.tables[to.PhysicalID()] = further.Done()
	shards := func(parts []statement) map[string][]int {
		out := map[string][]int{}
		for _, s := range parts {
			kind, at := s.text[:6], -1
			for i, v := range s.values { // the key and the shard follow each other
				if string(v) == string(key) && i+1 < len(s.values) && len(s.values[i+1]) == 4 {
					at = int(binary.BigEndian.Uint32(s.values[i+1]))
				}
			}
			out[kind] = append(out[kind], at)
		}
		return out
	}
	lasting := map[int]bool{}
	for i := range 50 {
		r := &row{key: [][]byte{key}, clustering: [][]byte{[]byte(fmt.Sprint("row ", i)), i32(0)}, there: true,
			cells: []cell{{value: []byte("x"), time: 7, ttl: 60}, {value: i32(9), time: 3}}}
		_, at := table.places(r)
		if at.shard != plan.AnyShard {
			t.Fatalf("the place is %+v", at)
		}
		got := shards(table.copyTo(r, at))
		if len(got["INSERT"]) != 1 || !reflect.DeepEqual(got["UPDATE"], []int{1, 3, 4}) {
			t.Fatalf("the row is written to %v", got)
		}
		r.cells[0].time = 100
		if late := shards(table.copyTo(r, at)); !reflect.DeepEqual(late["UPDATE"], []int{1, 2, 3, 4}) {
			t.Fatalf("with a cell from the opening of shard 2, it is written to %v", late)
		}
		r.cells[0].time = 200
		if last := shards(table.copyTo(r, at)); !reflect.DeepEqual(last["UPDATE"], []int{1, 2, 3, 4, 5}) {
			t.Fatalf("with a cell from when clients write to shard 5, it is written to %v", last)
		}
		r.cells[0].time = 7
		lasting[got["INSERT"][0]] = true
		r.cells[0].ttl = 0
		r.cells[1].time = 7
		if again := shards(table.copyTo(r, at)); len(again["INSERT"]) != 1 || again["INSERT"][0] != got["INSERT"][0] || table.copied(r, at).shard != got["INSERT"][0] {
			t.Fatalf("without expiry it is written to %v, and not to %v", again, got["INSERT"])
		}
	}
	if !reflect.DeepEqual(lasting, map[int]bool{1: true, 3: true, 4: true}) {
		t.Errorf("rows are copied to the shards %v; shard 2 takes no old cells, and the mover did not know shard 5 when it began", lasting)
	}
}

// TestExpiringRowsToManyShards moves rows that expire to strategy rollover. They go to all shards of their key, of
// which it has many, and Cassandra refuses a batch of several partitions that is larger than 50 KiB.
func TestExpiringRowsToManyShards(t *testing.T) {
	w, _ := newPlainWorld(t)
	for i := range 300 {
		w.exec("INSERT INTO k.p (k, c, d, a) VALUES (9, ?, 0, 'x') USING TIMESTAMP 1000", []byte(fmt.Sprint("lasting ", i)))
	}
	for i := range 40 {
		w.exec("INSERT INTO k.p (k, c, d, a) VALUES (9, ?, 0, ?) USING TIMESTAMP 1000 AND TTL 100000", []byte(fmt.Sprint("row ", i)), make([]byte, 200))
	}
	m := w.mover(w.store, alone{})
	if err := w.startRollover(m); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
}
