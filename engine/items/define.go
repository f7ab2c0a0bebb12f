package items

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"

	"github.com/cockroachdb/pebble/v2"
)

// Changes of tables come one after another (Store.defining), and each is one
// batch: the record with all that goes with it.

// redefine gives a table a new record. more adds to the batch. The caller holds
// defining.
func (s *Store) redefine(t *table, r *record, more func(b *pebble.Batch) error) error {
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	v, r, err := r.encode()
	if err != nil {
		return err
	}
	if err := b.Set(s.appendRecordKey(nil, r.Table.Name), v, nil); err != nil {
		return err
	}
	if more != nil {
		if err := more(b); err != nil {
			return err
		}
	}
	t.mu.Lock()
	if err = s.space.Apply(b); err == nil {
		t.shape.Store(s.newShape(r, t.shape.Load()))
	}
	t.mu.Unlock()
	if err == nil {
		err = s.space.Wait(b)
	}
	if err != nil {
		return fmt.Errorf("change table %s: %w", r.Table.Name, err)
	}
	return nil
}

// define makes a table. more adds to the batch.
func (s *Store) define(r *record, more func(b *pebble.Batch) error) error {
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	v, r, err := r.encode()
	if err != nil {
		return err
	}
	err = errors.Join(
		b.Set(s.appendRecordKey(nil, r.Table.Name), v, nil),
		b.Set(s.counterKey(), binary.BigEndian.AppendUint32(nil, r.ID), nil),
	)
	if err == nil && more != nil {
		err = more(b)
	}
	if err == nil {
		err = s.space.Apply(b)
	}
	if err == nil {
		err = s.space.Wait(b)
	}
	if err != nil {
		return fmt.Errorf("make table %s: %w", r.Table.Name, err)
	}
	s.lastTable = r.ID
	s.publish(func(tables map[string]*table) { tables[r.Table.Name] = s.newTable(r) })
	return nil
}

// drop removes a table with all its entries.
func (s *Store) drop(t *table) error {
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	old := t.shape.Load()
	lower := s.prefix(nil, old, indexItems)[:prefixLen-2]
	err := errors.Join(
		b.Delete(s.appendRecordKey(nil, old.Table.Name), nil),
		b.DeleteRange(lower, appendAfter(nil, lower), nil),
	)
	if err != nil {
		return fmt.Errorf("remove table %s: %w", old.Table.Name, err)
	}
	ended, err := s.endStream(b, old.Table)
	if err != nil {
		return fmt.Errorf("remove table %s: %w", old.Table.Name, err)
	}
	t.mu.Lock()
	if err = s.space.Free(b); err == nil {
		ended()
		gone := *old
		gone.dropped = true
		t.shape.Store(&gone)
	}
	t.mu.Unlock()
	if err == nil {
		s.publish(func(tables map[string]*table) { delete(tables, old.Table.Name) })
		err = s.space.Wait(b)
	}
	if err != nil {
		return fmt.Errorf("remove table %s: %w", old.Table.Name, err)
	}
	return nil
}

// publish replaces the map of tables by a changed copy. The caller holds defining.
func (s *Store) publish(change func(tables map[string]*table)) {
	tables := maps.Clone(*s.tables.Load())
	change(tables)
	s.tables.Store(&tables)
}

// removeIndex removes all entries of an index of a table.
func (s *Store) removeIndex(b *pebble.Batch, sh *shape, index uint16) error {
	lower := s.prefix(nil, sh, index)
	return b.DeleteRange(lower, appendAfter(nil, lower), nil)
}

// newUUID draws a UUID of version 4.
func newUUID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// arn is the name of a table among all of AWS's things.
func (s *Store) arn(table string) string {
	return "arn:aws:dynamodb:" + s.options.Region + ":" + s.options.Account + ":table/" + table
}
