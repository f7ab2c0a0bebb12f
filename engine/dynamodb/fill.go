// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// An index or expiry attribute that is added to a table with items is filled in the background.
// From the change on, each write updates it. The fill goes through the earlier items one by one,
// under each item's lock, and writes the item's present entry. So the entry is right, whichever
// comes first. A fill that is interrupted starts again when the store is opened.

// filler fills them.
type filler struct {
	*writer
	log     *slog.Logger
	ctx     context.Context // ends the fills
	running *sync.WaitGroup

	// turn is held while an item is decoded, which can take a hundred times its stored bytes.
	// However many tables are filled, one item is decoded at a time.
	turn sync.Mutex
}

// resume continues the fills that were interrupted.
func (fl *filler) resume() {
	for _, t := range fl.tables.all() {
		if t.shape.Load().filling() {
			fl.start(t)
		}
	}
}

// start fills a table in the background.
func (fl *filler) start(t *table) { fl.running.Go(func() { fl.fill(t) }) }

// filling reports whether there is something to fill.
func (sh *shape) filling() bool {
	for i := range sh.indexes {
		if sh.indexes[i].Backfilling {
			return true
		}
	}
	return sh.ExpiryFilling
}

// fill fills the table's indexes that are not filled yet and then makes them readable.
func (fl *filler) fill(t *table) {
	filled := t.shape.Load()
	err := fl.fillFrom(t)
	if err == nil && fl.ctx.Err() == nil {
		err = fl.onceThereIsRoom(func() error { return fl.filled(t, filled) })
	}
	if err != nil && fl.ctx.Err() == nil {
		fl.log.Error("dynamodb: fill an index", "table", filled.Table.Name, "error", err)
	}
}

// onceThereIsRoom repeats f while the disk has no room for it, until the store is closed.
func (fl *filler) onceThereIsRoom(f func() error) error {
	for {
		err := f()
		if !errors.Is(err, storage.ErrFull) {
			return err
		}
		if err := deadline.Sleep(fl.ctx, time.Second); err != nil {
			return err
		}
	}
}

// fillFrom goes through the items and fills the indexes.
func (fl *filler) fillFrom(t *table) error {
	sh := t.shape.Load()
	prefix := sh.prefix(nil, indexItems)
	it, err := fl.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: appendAfter(nil, prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && fl.ctx.Err() == nil; ok = it.Next() {
		key := bytes.Clone(it.Key())
		if err := fl.onceThereIsRoom(func() error { return fl.fillItem(t, key) }); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// fillItem writes the entries of one item. They become durable with the record that says that the
// index is filled.
func (fl *filler) fillItem(t *table, key []byte) error {
	fl.turn.Lock()
	defer fl.turn.Unlock()
	c := NewCall()
	defer c.Release()
	sh, err := t.enter()
	if err != nil {
		return nil // the table was removed
	}
	defer t.leave()
	h := &c.held
	h.lock(fl.locks, key)
	defer h.unlock()
	st, err := c.read(now{fl.space.Pebble}, key)
	if err != nil || !st.exists {
		return err
	}
	item, err := c.decode(&st)
	if err != nil {
		return err
	}
	b := fl.space.Pebble.NewBatch()
	defer b.Close()
	for i := range sh.indexes {
		if !sh.indexes[i].Backfilling {
			continue
		}
		if _, err := c.writeEntry(b, sh, &sh.indexes[i], nil, item); err != nil {
			return err
		}
	}
	if sh.ExpiryFilling {
		if err := sh.writeExpiry(b, nil, item, key); err != nil {
			return err
		}
	}
	if b.Empty() {
		return nil
	}
	fl.meter.resize(c.charges)
	if err := fl.space.Later(b, false); err != nil {
		return fmt.Errorf("fill an index: %w", err)
	}
	return nil
}

// filled notes that the indexes of then are filled. Those added later have fills of their own.
func (fl *filler) filled(t *table, then *shape) error {
	fl.tables.Lock()
	defer fl.tables.Unlock()
	sh := t.shape.Load()
	if sh.dropped {
		return nil
	}
	r := sh.record.clone()
	r.Table.Global = append([]schema.Index(nil), r.Table.Global...)
	for i := range r.Table.Global {
		ix := &r.Table.Global[i]
		was := then.index(ix.Name)
		if ix.Backfilling && was != nil && was.id == r.Indexes[ix.Name] {
			ix.Backfilling, ix.Status = false, schema.Active
		}
	}
	if then.ExpiryFilling && then.expiry == sh.expiry {
		r.ExpiryFilling = false
	}
	return fl.tables.redefine(t, r, nil)
}
