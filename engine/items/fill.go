// SPDX-License-Identifier: Apache-2.0

package items

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// An index, or an expiry attribute, that is added to a table with items is filled
// in the background. From the moment of the change each write keeps it up to date;
// what was there before is gone through, item by item under the item's lock, and
// its entry is written as it is now: whichever comes first, the entry is right.
// A fill that is cut short begins anew when the store is opened.

// resume goes on with what was cut short.
func (s *Store) resume() {
	for _, t := range s.tables.all() {
		if t.shape.Load().filling() {
			s.running.Go(func() { s.fill(t) })
		}
	}
}

// filling tells whether there is something to fill.
func (sh *shape) filling() bool {
	for i := range sh.indexes {
		if sh.indexes[i].Backfilling {
			return true
		}
	}
	return sh.ExpiryFilling
}

// fill fills the table's indexes that are not filled, and then shows them.
func (s *Store) fill(t *table) {
	filled := t.shape.Load()
	err := s.fillFrom(t)
	if err == nil && s.ctx.Err() == nil {
		err = s.onceThereIsRoom(func() error { return s.filled(t, filled) })
	}
	if err != nil && s.ctx.Err() == nil {
		s.options.Logger.Error("dynamodb: fill an index", "table", filled.Table.Name, "error", err)
	}
}

// onceThereIsRoom does what the disk has no room for again and again, until it has or the
// store is closed.
func (s *Store) onceThereIsRoom(f func() error) error {
	for {
		err := f()
		if !errors.Is(err, storage.ErrFull) {
			return err
		}
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// fillFrom goes through the items.
func (s *Store) fillFrom(t *table) error {
	sh := t.shape.Load()
	prefix := sh.prefix(nil, indexItems)
	it, err := s.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: appendAfter(nil, prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && s.ctx.Err() == nil; ok = it.Next() {
		key := bytes.Clone(it.Key())
		if err := s.onceThereIsRoom(func() error { return s.fillItem(t, key) }); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// fillItem writes the entries of one item. They are durable with what is written
// after them: the record that says that the index is filled.
func (s *Store) fillItem(t *table, key []byte) error {
	c := NewCall()
	defer c.Release()
	sh, err := t.enter()
	if err != nil {
		return nil // the table is gone
	}
	defer t.leave()
	h := &c.held
	h.lock(&s.locks, key)
	defer h.unlock()
	st, err := c.read(now{s.space.Pebble}, key)
	if err != nil || !st.exists {
		return err
	}
	item, err := c.decode(&st)
	if err != nil {
		return err
	}
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	for i := range sh.indexes {
		if !sh.indexes[i].Backfilling {
			continue
		}
		if _, err := s.writeEntry(c, b, sh, &sh.indexes[i], nil, item); err != nil {
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
	s.meter.resize(c.charges)
	if err := s.space.Later(b, false); err != nil {
		return fmt.Errorf("fill an index: %w", err)
	}
	return nil
}

// filled notes that what was to be filled then is filled. What was added since has
// a fill of its own.
func (s *Store) filled(t *table, then *shape) error {
	s.tables.Lock()
	defer s.tables.Unlock()
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
	return s.tables.redefine(t, r, nil)
}
