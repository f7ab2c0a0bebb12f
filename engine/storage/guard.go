// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// PartitionRef names a partition.
type PartitionRef struct {
	Table *Table
	Token int64
	Key   []byte
}

// Guard is the exclusive use of partitions for a read, a check and a write (lightweight
// transactions). No other batch is applied to them before Unlock, so CommitGuarded writes over
// exactly what was read. Keep guards short: other writers wait, also those of partitions that
// share a lock by chance. Never take a guard or call Commit while holding one.
type Guard struct {
	db     *DB
	refs   []partRef
	locked bool
}

// Guard locks partitions in an order that cannot deadlock.
func (db *DB) Guard(partitions ...PartitionRef) *Guard {
	g := &Guard{db: db, locked: true}
	for _, p := range partitions {
		g.refs = append(g.refs, partRef{
			table: p.Table.state, token: p.Token, stripe: stripeOf(&p.Table.spec.ID, p.Token),
		})
	}
	sortRefs(g.refs)
	db.stripes.lockRefs(g.refs, true)
	return g
}

// Unlock ends the guard. It may be called twice.
func (g *Guard) Unlock() {
	if g.locked {
		g.locked = false
		g.db.stripes.unlockRefs(g.refs, true)
	}
}

// Settle waits until everything that was visible under the guard is durable. Call it before or
// after Unlock, before you report a result that was only read. So no crash undoes what the client
// has seen.
func (g *Guard) Settle() error {
	if g.db.options.Periodic {
		return nil
	}
	for i := range g.refs {
		if g.db.stripes[g.refs[i].stripe].unsynced.Load() == 0 {
			continue
		}
		// The log is written in order. Once this record is durable, everything before it is.
		if err := g.db.pebble.LogData(nil, pebble.Sync); err != nil {
			return fmt.Errorf("settle: %w", err)
		}
		return nil
	}
	return nil
}

// CommitGuarded is Commit inside a Guard, which must hold every partition that the batch writes
// to. It ends the guard: the lock is released as soon as the batch is visible, so that others
// need not wait for the disk.
func (b *Batch) CommitGuarded(g *Guard) error {
	defer b.reset()
	defer g.Unlock()
	if !g.locked {
		return fmt.Errorf("batch: the guard has ended: %w", ErrMalformed)
	}
	if err := b.finish(); err != nil {
		return err
	}
	for i := range b.refs {
		r := &b.refs[i]
		if !slices.ContainsFunc(g.refs, func(h partRef) bool { return h.table == r.table && h.token == r.token }) {
			return fmt.Errorf("batch: a partition outside the guard: %w", ErrMalformed)
		}
	}
	if b.Empty() {
		return g.Settle()
	}
	if err := b.admit(); err != nil {
		return err
	}
	err := b.apply()
	g.Unlock()
	return b.settle(err)
}
