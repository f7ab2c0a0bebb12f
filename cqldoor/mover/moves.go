package mover

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// record is how far one mover has come in one step: a row of evenkeel.moves. Each mover
// has its own, and writes nobody else's. What one says stays true, whoever goes on.
type record struct {
	Step     int64 // reshard.Change.Generation
	Owner    [16]byte
	Beat     int64 // rises while the mover lives
	Begun    bool
	Position int64 // everything before this token is done
	Settled  counts
	Sofar    counts // of the moment, for people
	Rate     int64  // rows a second
	Problem  string // what keeps it from going on
}

const createMoves = "CREATE TABLE IF NOT EXISTS evenkeel.moves (keyspace_name text, table_name text, started bigint, step bigint, owner uuid, " +
	"beat bigint, position bigint, total bigint, moved bigint, verified bigint, total_now bigint, moved_now bigint, verified_now bigint, rate bigint, problem text, " +
	"PRIMARY KEY ((keyspace_name, table_name), started, step, owner))"

// moves is the table.
type moves struct {
	session catalog.Session
	ready   bool
}

func (m *moves) ensure(ctx context.Context) error {
	if m.ready {
		return nil
	}
	if _, err := m.session.Query(ctx, wire.LocalQuorum, createMoves); err != nil {
		return fmt.Errorf("create the table of the movers' positions: %w", err)
	}
	m.ready = true
	return nil
}

func (m *moves) write(ctx context.Context, e *catalog.Entry, r *record) error {
	var position []byte
	if r.Begun {
		position = bigint(r.Position)
	}
	_, err := m.session.Query(ctx, wire.LocalQuorum, "INSERT INTO evenkeel.moves (keyspace_name, table_name, started, step, owner, beat, position, "+
		"total, moved, verified, total_now, moved_now, verified_now, rate, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		[]byte(e.Keyspace), []byte(e.Table), bigint(e.Change.Started), bigint(r.Step), r.Owner[:], bigint(r.Beat), position,
		bigint(r.Settled.Total), bigint(r.Settled.Moved), bigint(r.Settled.Verified), bigint(r.Sofar.Total), bigint(r.Sofar.Moved), bigint(r.Sofar.Verified),
		bigint(r.Rate), []byte(r.Problem))
	if err != nil {
		return fmt.Errorf("write the mover's position: %w", err)
	}
	return nil
}

// read returns the records of the change that an entry is under.
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
			Rate:    n(r["rate"]), Problem: string(r["problem"])}
		copy(x.Owner[:], r["owner"])
		out = append(out, x)
	}
	return out, nil
}

// forget removes the records of a change that is over.
func (m *moves) forget(ctx context.Context, e *catalog.Entry) error {
	_, err := m.session.Query(ctx, wire.LocalQuorum, "DELETE FROM evenkeel.moves WHERE keyspace_name = ? AND table_name = ?", []byte(e.Keyspace), []byte(e.Table))
	return err
}

// furthest is the record from which a step goes on, and the counts of the steps before.
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

// Beat is a mover's sign of life: it changes while the mover lives.
type Beat struct {
	Owner   [16]byte
	Counter int64
	Step    int64
	Beat    int64
}

// Beat reads that of the change's mover.
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
