// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// record is the progress of one mover in one step: a row of evenkeel.moves. Each mover writes only
// its own records. The position in a record stays valid whichever mover continues.
type record struct {
	Step     int64 // reshard.Change.Generation
	Owner    [16]byte
	Beat     int64 // grows while the mover is alive
	Begun    bool
	Position int64 // everything before this token is done
	Settled  counts
	Sofar    counts     // the counts at this moment, for display
	Rate     int64      // rows a second
	Store    [2]float64 // the store's response time in seconds: now, and when it was least busy
	Problem  string     // the error that stops the mover
}

const createMoves = "CREATE TABLE IF NOT EXISTS evenkeel.moves (keyspace_name text, table_name text, started bigint, step bigint, owner uuid, " +
	"beat bigint, position bigint, total bigint, moved bigint, verified bigint, total_now bigint, moved_now bigint, verified_now bigint, rate bigint, store double, store_quiet double, problem text, " +
	"PRIMARY KEY ((keyspace_name, table_name), started, step, owner))"

// createChanges creates a table of the last change of each table, for clients that ask for its
// figures when it is over.
const createChanges = "CREATE TABLE IF NOT EXISTS evenkeel.changes (keyspace_name text, table_name text, table_id uuid, began timestamp, ended timestamp, " +
	"result text, total bigint, moved bigint, verified bigint, PRIMARY KEY ((keyspace_name, table_name)))"

// moves accesses the tables evenkeel.moves and evenkeel.changes.
type moves struct {
	session catalog.Session
	ready   atomic.Bool
	written sync.Map // by table, "keyspace.table": the record written last
}

func (m *moves) ensure(ctx context.Context) error {
	if m.ready.Load() {
		return nil
	}
	for _, text := range []string{createMoves, createChanges} {
		if err := catalog.CreateTable(ctx, m.session, text); err != nil {
			return fmt.Errorf("create the tables of the movers' positions: %w", err)
		}
	}
	m.ready.Store(true)
	return nil
}

func (m *moves) write(ctx context.Context, e *catalog.Entry, r *record) error {
	var position []byte
	if r.Begun {
		position = bigint(r.Position)
	}
	m.written.Store(e.String(), *r)
	_, err := m.session.Query(ctx, wire.LocalQuorum, "INSERT INTO evenkeel.moves (keyspace_name, table_name, started, step, owner, beat, position, "+
		"total, moved, verified, total_now, moved_now, verified_now, rate, store, store_quiet, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		[]byte(e.Keyspace), []byte(e.Table), bigint(e.Change.Started), bigint(r.Step), r.Owner[:], bigint(r.Beat), position,
		bigint(r.Settled.Total), bigint(r.Settled.Moved), bigint(r.Settled.Verified), bigint(r.Sofar.Total), bigint(r.Sofar.Moved), bigint(r.Sofar.Verified),
		bigint(r.Rate), double(r.Store[0]), double(r.Store[1]), []byte(r.Problem))
	if err != nil {
		return fmt.Errorf("write the mover's position: %w", err)
	}
	return nil
}

// read returns the records of an entry's current change.
func (m *moves) read(ctx context.Context, e *catalog.Entry) ([]record, error) {
	rows, err := m.session.Query(ctx, wire.LocalQuorum, "SELECT * FROM evenkeel.moves WHERE keyspace_name = ? AND table_name = ? AND started = ?",
		[]byte(e.Keyspace), []byte(e.Table), bigint(e.Change.Started))
	if err != nil {
		return nil, fmt.Errorf("read the movers' positions: %w", err)
	}
	n := func(b []byte) int64 {
		if len(b) != 8 {
			return 0
		}
		return int64(binary.BigEndian.Uint64(b))
	}
	var out []record
	for _, r := range rows {
		x := record{Step: n(r["step"]), Beat: n(r["beat"]), Begun: r["position"] != nil, Position: n(r["position"]),
			Settled: counts{Total: n(r["total"]), Moved: n(r["moved"]), Verified: n(r["verified"])},
			Sofar:   counts{Total: n(r["total_now"]), Moved: n(r["moved_now"]), Verified: n(r["verified_now"])},
			Rate:    n(r["rate"]), Problem: string(r["problem"]),
			Store: [2]float64{math.Float64frombits(uint64(n(r["store"]))), math.Float64frombits(uint64(n(r["store_quiet"])))}}
		copy(x.Owner[:], r["owner"])
		out = append(out, x)
	}
	return out, nil
}

// forget removes the records of a change that is over.
func (m *moves) forget(ctx context.Context, e *catalog.Entry) error {
	m.written.Delete(e.String())
	_, err := m.session.Query(ctx, wire.LocalQuorum, "DELETE FROM evenkeel.moves WHERE keyspace_name = ? AND table_name = ?", []byte(e.Keyspace), []byte(e.Table))
	return err
}

// last is the result of a table's last change, as the catalogue keeps it.
type last struct {
	began, ended time.Time
	result       string
	counts       counts
}

// keep writes the result of an entry's current change.
func (m *moves) keep(ctx context.Context, e *catalog.Entry, l last) error {
	_, err := m.session.Query(ctx, wire.LocalQuorum, "INSERT INTO evenkeel.changes (keyspace_name, table_name, table_id, began, ended, result, total, moved, verified) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", []byte(e.Keyspace), []byte(e.Table), e.ID[:], bigint(l.began.UnixMilli()), bigint(l.ended.UnixMilli()), []byte(l.result),
		bigint(l.counts.Total), bigint(l.counts.Moved), bigint(l.counts.Verified))
	if err != nil {
		return fmt.Errorf("write what has become of the change: %w", err)
	}
	return nil
}

// last reads the result of a table's last change. ok is false if there was none.
func (m *moves) last(ctx context.Context, e *catalog.Entry) (l last, ok bool, err error) {
	rows, err := m.session.Query(ctx, wire.LocalQuorum, "SELECT * FROM evenkeel.changes WHERE keyspace_name = ? AND table_name = ?", []byte(e.Keyspace), []byte(e.Table))
	if err != nil {
		return l, false, fmt.Errorf("read what has become of the last change: %w", err)
	}
	if len(rows) != 1 || string(rows[0]["table_id"]) != string(e.ID[:]) {
		return l, false, nil
	}
	r := rows[0]
	l = last{time.UnixMilli(r.Int("began")).UTC(), time.UnixMilli(r.Int("ended")).UTC(), string(r["result"]), counts{Total: r.Int("total"), Moved: r.Int("moved"), Verified: r.Int("verified")}}
	return l, true, nil
}

// furthest returns the record from which a step continues, and the counts of the steps before.
func furthest(records []record, step int64) (at record, before counts) {
	for _, r := range records {
		switch {
		case r.Step == step && r.Begun && (!at.Begun || r.Position > at.Position):
			at = r
		case r.Step < step:
			before.Total = max(before.Total, r.Sofar.Total)
			before.Moved = max(before.Moved, r.Sofar.Moved)
			before.Verified = max(before.Verified, r.Sofar.Verified)
		}
	}
	return at, before
}

// Beat is a mover's sign of life: it changes while the mover is alive.
type Beat struct {
	Owner   [16]byte
	Counter int64
	Step    int64
	Beat    int64
}

// Beat reads the sign of life of the change's mover.
func (m *Mover) Beat(ctx context.Context, e *catalog.Entry) (Beat, error) {
	b := Beat{Owner: e.Change.Owner, Counter: e.Change.Counter, Step: e.Change.Generation}
	if err := m.moves.ensure(ctx); err != nil {
		return b, err
	}
	records, err := m.moves.read(ctx, e)
	for _, r := range records {
		if r.Owner == b.Owner && r.Step == b.Step {
			b.Beat = r.Beat
		}
	}
	return b, err
}
