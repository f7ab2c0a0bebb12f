// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// TestRowsThatStay checks that a write and a read of a row that a change does not move is one request in each
// step, and that the answers are right also for the rows that move.
func TestRowsThatStay(t *testing.T) {
	st := &countedStore{Store: embedded(t)}
	s := newScene(t, st)
	table := s.keyspace + ".t"
	s.must(s.v5, "CREATE TABLE "+table+" (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	m := &mover{scene: s, table: table, next: shard.Layout{N: 6, Column: "shard"}}
	const rows = 40
	for c := range rows {
		m.keys = append(m.keys, [2]int{1, c})
	}
	do := func(p *difftest.Answer, values ...int32) (*difftest.Answer, int64) {
		before := st.executed.Load()
		a, err := s.v5.Execute(p, difftest.Request{Values: int32s(values...)})
		if err != nil || a.Kind == difftest.Error {
			t.Fatal(err, show(a))
		}
		return a, st.executed.Load() - before
	}
	version := int32(0)
	for step := reshard.None; ; {
		insert, err := s.v5.Prepare("INSERT INTO " + table + " (v, p, c) VALUES (?, ?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		read, err := s.v5.Prepare("SELECT v FROM " + table + " WHERE c = ? AND p = ?")
		if err != nil {
			t.Fatal(err)
		}
		stay := 0
		for c := range int32(rows) {
			stays := true
			if _, change := m.change(); change != nil {
				r := change.Moved([][]byte{plan.IntValue(1)}, [][]byte{plan.IntValue(int(c))})
				stays = r.Old == r.New
			}
			version++
			_, writes := do(insert, version, 1, c)
			a, reads := do(read, c, 1)
			if len(a.Rows) != 1 || string(a.Rows[0][0]) != string(plan.IntValue(int(version))) {
				t.Fatalf("%s: row %d has not version %d: %s", step, c, version, show(a))
			}
			if !stays {
				if step == reshard.Switching && reads < 2 {
					t.Errorf("%s: the read of row %d, which moves, is %d requests", step, c, reads)
				}
				continue
			}
			if stay++; writes != 1 || reads != 1 {
				t.Errorf("%s: a write and a read of row %d, which does not move, are %d and %d requests", step, c, writes, reads)
			}
		}
		if stay < rows/4 || step != reshard.None && stay == rows {
			t.Errorf("%s: %d of %d rows do not move", step, stay, rows)
		}
		if step = m.on(step, false); step == reshard.None {
			break
		}
	}
	if a := s.must(s.v5, fmt.Sprintf("SELECT c FROM %s WHERE p = 1", table)); len(a.Rows) != rows {
		t.Errorf("then: %s", show(a))
	}
}

// TestKeysThatStay checks that a read of a key costs the same number of requests in each step, if only the number of
// shards of another key changes.
func TestKeysThatStay(t *testing.T) {
	st := &countedStore{Store: embedded(t)}
	s := newScene(t, st)
	table := s.keyspace + ".t"
	s.must(s.v5, "CREATE TABLE "+table+" (p int, c int, v int, s int static, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	m := &mover{scene: s, table: table, next: shard.Layout{N: 4, Column: "shard", Keys: shard.NewKeys(1, map[string]shard.Spread{string(plan.IntValue(1)): {Range: shard.Range{N: 8, Base: 4}}})}}
	for p := range 3 {
		for c := range 20 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (p, c, v, s) VALUES (%d, %d, 1, 2)", table, p, c))
			m.keys = append(m.keys, [2]int{p, c})
		}
	}
	cost := map[string]int64{}
	for step := reshard.None; ; {
		for _, text := range []string{"SELECT c, v FROM %s WHERE p = 2", "SELECT c, s FROM %s WHERE p = 2"} {
			s.must(s.v5, fmt.Sprintf(text, table)) // prepares the physical statements
			before := st.executed.Load()
			a := s.must(s.v5, fmt.Sprintf(text, table))
			n := st.executed.Load() - before
			if len(a.Rows) != 20 {
				t.Errorf("%s: %s gives %s", step, text, show(a))
			}
			if step == reshard.Announced { // reads use the old places alone
				cost[text] = n
			}
			if step != reshard.None && n != cost[text] {
				t.Errorf("%s: %s is %d requests, and %d when the change began", step, text, n, cost[text])
			}
		}
		if step = m.on(step, false); step == reshard.None {
			break
		}
	}
	if a := s.must(s.v5, "SELECT c FROM "+table+" WHERE p = 1"); len(a.Rows) != 20 {
		t.Errorf("then: %s", show(a))
	}
}

// TestOldTimestampsStayOld deletes rows before a change, and in the change writes them with an earlier timestamp: of
// the statement, or of the request. In each step where reads or writes use the old places, the deletion hides them.
func TestOldTimestampsStayOld(t *testing.T) {
	const before, deleted = 1000, 2000
	for last := reshard.Announced; last != reshard.Cleaned; last++ {
		s := newScene(t, embedded(t))
		table := s.keyspace + ".t"
		s.must(s.v5, "CREATE TABLE "+table+" (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
		m := &mover{scene: s, table: table, next: shard.Layout{N: 6, Column: "shard"}}
		for c := range 20 {
			s.must(s.v5, fmt.Sprintf("DELETE FROM %s USING TIMESTAMP %d WHERE p = 1 AND c = %d", table, deleted, c))
		}
		for step := reshard.None; step != last; {
			step = m.on(step, false)
		}
		for _, using := range []string{"", " USING TIMESTAMP ?"} {
			insert, err := s.v5.Prepare("INSERT INTO " + table + " (v, p, c) VALUES (?, ?, ?)" + using)
			if err != nil {
				t.Fatal(err)
			}
			for c := range int32(20) {
				r := difftest.Request{Values: int32s(7, 1, c)}
				if stamp := int64(before); using == "" {
					r.Timestamp = &stamp
				} else {
					r.Values = append(r.Values, primitive.NewValue(binary.BigEndian.AppendUint64(nil, before)))
				}
				if a, err := s.v5.Execute(insert, r); err != nil || a.Kind == difftest.Error {
					t.Fatal(err, show(a))
				}
			}
			if a := s.must(s.v5, "SELECT c FROM "+table+" WHERE p = 1"); len(a.Rows) != 0 {
				t.Errorf("%s,%s: rows that were deleted are back: %s", last, using, show(a))
			}
		}
	}
}

// TestReadsOfRenamedTable reads single rows of a table that a plain table has become. The physical table has another
// name, and no answer shows it.
func TestReadsOfRenamedTable(t *testing.T) {
	s := newScene(t, embedded(t))
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".other (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}") // makes the catalogue
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v int, PRIMARY KEY (p, c))")
	for c := range 20 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (1, %d, %d)", s.keyspace, c, c+100))
	}
	s.must(s.v5, "ALTER TABLE "+s.keyspace+".t WITH write_sharding = {'shards': '4'}")
	now := func() *tables.Sharded { return s.router.schema.View.Load().Tables[s.keyspace]["t"] }
	for deadline := time.Now().Add(patience); now() == nil || now().Entry.Change != nil || now().Entry.Layout.Plain(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the change does not end: %+v", now())
		}
	}
	if now().Entry.Physical == "t" {
		t.Fatal("the physical table has the logical name")
	}
	for v, conn := range map[string]*difftest.Conn{"v4": s.v4, "v5": s.v5} {
		for _, selection := range []string{"v", "*", "v, writetime(v)", "count(*)"} {
			p, err := conn.Prepare("SELECT " + selection + " FROM " + s.keyspace + ".t WHERE p = ? AND c = ?")
			if err != nil || p.Kind != difftest.Prepared {
				t.Fatal(err, show(p))
			}
			for c := range int32(20) {
				for _, skip := range []bool{false, true} {
					a, err := conn.Execute(p, difftest.Request{Values: int32s(1, c), SkipMeta: skip})
					if err != nil || len(a.Rows) != 1 || len(a.Columns) != len(p.Columns) {
						t.Fatalf("%s: SELECT %s of row %d gives %s, %v", v, selection, c, show(a), err)
					}
					for _, column := range a.Columns {
						if column.Table != "t" {
							t.Errorf("%s: SELECT %s shows table %s", v, selection, column.Table)
						}
					}
					if at := len(a.Rows[0]) - 1; selection == "v" || selection == "*" {
						if string(a.Rows[0][at]) != string(plan.IntValue(int(c)+100)) {
							t.Errorf("%s: SELECT %s of row %d gives %s", v, selection, c, show(a))
						}
					}
				}
			}
		}
	}
}

// TestStepWhileARowIsUnderWay holds back the answer to a write and to a read of a row. Another door publishes the next
// step meanwhile. The door carries out the request again, and the client sees no error.
func TestStepWhileARowIsUnderWay(t *testing.T) {
	for _, version := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
		p := newStalledDoor(t, version)
		table := p.keyspace + ".t"
		p.must(p.v5, "CREATE TABLE "+table+" (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
		m := &mover{scene: p.scene, table: table, next: shard.Layout{N: 6, Column: "shard"}}
		publish := func(step reshard.Step) {
			m.step(step)
			if err := p.router.schema.Refresh(t.Context()); err != nil {
				t.Error(err)
			}
		}
		publish(reshard.Announced)
		_, change := m.change()
		rows := map[bool]int32{} // by whether they stay
		for c := range int32(60) {
			r := change.Moved([][]byte{plan.IntValue(1)}, [][]byte{plan.IntValue(int(c))})
			rows[r.Old == r.New] = c
		}
		insert, err := p.conn.Prepare("INSERT INTO " + table + " (p, c, v) VALUES (?, ?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		read, err := p.conn.Prepare("SELECT v FROM " + table + " WHERE p = ? AND c = ?")
		if err != nil {
			t.Fatal(err)
		}
		overtaken := func(id *difftest.Answer, r difftest.Request, by reshard.Step) (*difftest.Answer, int) {
			p.heard.take()
			release := p.stall.stall()
			answer := make(chan *difftest.Answer, 1)
			go func() {
				a, err := p.conn.Execute(id, r)
				if err != nil {
					t.Error(err)
				}
				answer <- a
			}()
			<-p.stall.held
			publish(by)
			release()
			return <-answer, len(p.heard.take())
		}
		version := int32(0)
		for _, step := range []reshard.Step{reshard.Switching, reshard.Switched, reshard.Settled, reshard.Cleaned} {
			for stays, c := range rows {
				for _, stamped := range []bool{false, true} {
					version++
					r := difftest.Request{Values: int32s(1, c, version)}
					if stamped {
						stamp := change.Started + 1e12 + int64(version)
						r.Timestamp = &stamp
					}
					written, writes := overtaken(insert, r, step)
					a, reads := overtaken(read, difftest.Request{Values: int32s(1, c)}, step)
					if written.Kind == difftest.Error || writes < 2 || reads < 2 || len(a.Rows) != 1 {
						t.Errorf("%s, row %d stays: %v, stamped: %v: the write ends with %s after %d requests, and the read with %s after %d", step, c, stays, stamped, show(written), writes, show(a), reads)
					}
				}
			}
		}
	}
}
