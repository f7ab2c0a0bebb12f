// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// layouts reads and writes single entries in the table of layouts. A write is conditional: it returns
// false if the entry has changed, and then does nothing.
type layouts struct{ nodes }

// serialReads is how often a read at SERIAL is sent that times out because other doors use the entry at
// the same time.
const serialReads = 10

// get reads one entry consistently. It returns nil if there is none.
func (t layouts) get(ctx context.Context, keyspace, table string) (*Entry, error) {
	const cql = "SELECT keyspace_name, table_name, " + columns + " FROM evenkeel.layouts WHERE keyspace_name = ? AND table_name = ?"
	rows, err := t.Query(ctx, wire.Serial, cql, []byte(keyspace), []byte(table))
	for n := 1; contended(err) && n < serialReads && t.pause(ctx) == nil; n++ {
		rows, err = t.Query(ctx, wire.Serial, cql, []byte(keyspace), []byte(table))
	}
	if refused := (*wire.Error)(nil); errors.As(err, &refused) && definite(err) {
		rows, err = t.Query(ctx, wire.LocalQuorum, cql, []byte(keyspace), []byte(table))
	}
	if err != nil {
		return nil, wrap("read the catalogue", err)
	}
	if len(rows) == 0 || rows[0]["state"] == nil {
		return nil, nil
	}
	return readEntry(rows[0])
}

// apply runs a lightweight transaction and reports whether it was applied. If it was, doors in all data
// centres see it.
func (t layouts) apply(ctx context.Context, cql string, values ...[]byte) (bool, error) {
	rows, err := Everywhere(ctx, t.nodes, cql, values...)
	if err != nil {
		return false, wrap("write the catalogue", err)
	}
	return len(rows) == 1 && rows[0].Bool("[applied]"), nil
}

// Unknown reports whether err says that the store does not know if a conditional write took place. This
// happens when other clients use the same row at the same time. After a read at SERIAL the outcome no
// longer changes.
func Unknown(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && (e.Code == wire.CodeCASWriteUnknown || e.Code == wire.CodeWriteTimeout && e.WriteType == wire.WriteCAS)
}

// contended reports whether a read at SERIAL failed because the store did not finish it in time.
func contended(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && (e.Code == wire.CodeReadTimeout || e.Code == wire.CodeWriteTimeout || e.Code == wire.CodeCASWriteUnknown)
}

// outcome is the outcome of a conditional write. The present entry shows it.
type outcome int

const (
	missed  outcome = iota // another door has changed the entry
	written                // it took place
	open                   // it did not take place, and can be repeated
)

// decide applies a conditional write to the entry of e. It reports whether the write took place. If the
// store does not know, decide reads the entry. It repeats the write if that did not take place. It
// stops when ctx ends.
func (t layouts) decide(ctx context.Context, e *Entry, of func(now *Entry) outcome, cql string, values ...[]byte) (bool, error) {
	for {
		ok, err := t.apply(ctx, cql, values...)
		if !Unknown(err) {
			return ok, err
		}
		now, wrong := t.get(ctx, e.Keyspace, e.Table)
		if wrong != nil {
			return false, err
		}
		if is := of(now); is != open {
			return is == written, nil
		}
	}
}

// same reports whether the present entry is the one that an operation wrote as e.
func (e *Entry) same(now *Entry) bool {
	return now != nil && now.Owner == e.Owner && now.State == e.State
}

// createLayouts creates the table of layouts.
const createLayouts = `CREATE TABLE IF NOT EXISTS evenkeel.layouts (keyspace_name text, table_name text, physical_name text, table_id uuid, ` +
	`state text, strategy text, "by" text, hash text, shards int, "column" text, generation bigint, statement text, owner uuid, ` +
	`started_at timestamp, PRIMARY KEY ((keyspace_name, table_name)))`

const whereKey = " WHERE keyspace_name = ? AND table_name = ?"

// insert adds an entry if there is none.
func (t layouts) insert(ctx context.Context, e *Entry) (bool, error) {
	return t.decide(ctx, e, func(now *Entry) outcome {
		switch {
		case now == nil:
			return open
		case e.same(now):
			return written
		}
		return missed
	}, "INSERT INTO evenkeel.layouts (keyspace_name, table_name, "+columns+
		") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS",
		append([][]byte{[]byte(e.Keyspace), []byte(e.Table)}, e.values()...)...)
}

// replace replaces old by e, if the entry is still old.
func (t layouts) replace(ctx context.Context, old, e *Entry) (bool, error) {
	values := append(e.values(), []byte(e.Keyspace), []byte(e.Table), []byte(old.State), old.Owner[:], millis(old.Started))
	return t.decide(ctx, e, func(now *Entry) outcome {
		switch {
		case e.same(now):
			return written
		case old.same(now):
			return open
		}
		return missed
	}, `UPDATE evenkeel.layouts SET physical_name = ?, table_id = ?, state = ?, strategy = ?, "by" = ?, hash = ?, `+
		`shards = ?, "column" = ?, generation = ?, statement = ?, owner = ?, started_at = ?`+whereKey+
		" IF state = ? AND owner = ? AND started_at = ?", values...)
}

// remove deletes an entry if it has not changed.
func (t layouts) remove(ctx context.Context, e *Entry) (bool, error) {
	return t.decide(ctx, e, func(now *Entry) outcome {
		switch {
		case now == nil:
			return written
		case e.same(now):
			return open
		}
		return missed
	}, "DELETE FROM evenkeel.layouts"+whereKey+" IF state = ? AND owner = ? AND started_at = ?",
		[]byte(e.Keyspace), []byte(e.Table), []byte(e.State), e.Owner[:], millis(e.Started))
}

// removeID deletes the entry of a physical table that no longer exists, whatever the entry's
// state.
func (t layouts) removeID(ctx context.Context, e *Entry) error {
	_, at, _ := e.columns()
	_, err := t.decide(ctx, e, func(now *Entry) outcome {
		if now != nil && now.ID == e.ID {
			return open
		}
		return written
	}, "DELETE FROM evenkeel.layouts"+whereKey+" IF table_id = ?", []byte(e.Keyspace), []byte(e.Table), idOrNull(at))
	return err
}
