// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/dynamodb/stream"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// tables holds the store's tables. They are changed one at a time. Each change is one batch with
// the record and all entries that change with it.
type tables struct {
	space   *storage.Space
	streams *stream.Store
	meter   *meter

	byName atomic.Pointer[map[string]*table] // the map is replaced, never changed

	sync.Mutex        // held during a change
	last       uint32 // the last id that was given
}

// all returns the tables by name.
func (ts *tables) all() map[string]*table { return *ts.byName.Load() }

// load reads the tables.
func (ts *tables) load() error {
	tables := map[string]*table{}
	ts.byName.Store(&tables)
	lower := ts.appendRecordKey(nil, "")
	it, err := ts.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: appendAfter(nil, lower)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		r, err := decodeRecord(it.Value())
		if err != nil {
			return errors.Join(fmt.Errorf("table %q: %w", it.Key()[len(lower):], err), it.Close())
		}
		tables[r.Table.Name] = ts.newTable(r)
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return err
	}
	v, err := get(ts.space, ts.counterKey())
	if err == nil && len(v) == 4 {
		ts.last = binary.BigEndian.Uint32(v)
	}
	return err
}

func (ts *tables) newTable(r *record) *table {
	t := new(table)
	t.shape.Store(ts.newShape(r, nil))
	return t
}

// newShape returns the shape that a record describes, with the limits of the table's old shape.
func (ts *tables) newShape(r *record, old *shape) *shape {
	sh := newShape(ts.space.Prefix, r)
	sh.stream = ts.streams.Of(r.Table)
	ts.meter.limit(sh, old)
	return sh
}

// lookup returns a table by name or ARN; nil if there is none.
func (ts *tables) lookup(name string) *table {
	return ts.all()[api.TableName(name)]
}

// forItems looks up a table for an operation on items. Its error does not name the table.
func (ts *tables) forItems(name string) (*table, error) {
	if t := ts.lookup(name); t != nil {
		return t, nil
	}
	return nil, exception.New(exception.ResourceNotFound, "Requested resource not found")
}

// named looks up a table for an operation on tables. Its error names the table.
func (ts *tables) named(name string) (*table, error) {
	if t := ts.lookup(name); t != nil {
		return t, nil
	}
	return nil, notFound(name)
}

// resource returns the table with an ARN.
func (ts *tables) resource(arn string) (*table, error) {
	t := ts.lookup(arn)
	if t == nil || t.shape.Load().Table.ARN != arn {
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: ResourcArn: %s not found", arn)
	}
	return t, nil
}

func notFound(name string) error {
	return exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", name)
}

// redefine gives a table a new record. more adds to the batch. The caller holds the lock of ts.
func (ts *tables) redefine(t *table, r *record, more func(b *pebble.Batch) error) error {
	b := ts.space.Pebble.NewBatch()
	defer b.Close()
	v, r, err := r.encode()
	if err != nil {
		return err
	}
	if err := b.Set(ts.appendRecordKey(nil, r.Table.Name), v, nil); err != nil {
		return err
	}
	if more != nil {
		if err := more(b); err != nil {
			return err
		}
	}
	t.mu.Lock()
	if err = ts.space.Apply(b); err == nil {
		t.shape.Store(ts.newShape(r, t.shape.Load()))
	}
	t.mu.Unlock()
	if err == nil {
		err = ts.space.Wait(b)
	}
	if err != nil {
		return fmt.Errorf("change table %s: %w", r.Table.Name, err)
	}
	return nil
}

// define creates a table. more adds to the batch.
func (ts *tables) define(r *record, more func(b *pebble.Batch) error) error {
	b := ts.space.Pebble.NewBatch()
	defer b.Close()
	v, r, err := r.encode()
	if err != nil {
		return err
	}
	err = errors.Join(
		b.Set(ts.appendRecordKey(nil, r.Table.Name), v, nil),
		b.Set(ts.counterKey(), binary.BigEndian.AppendUint32(nil, r.ID), nil),
	)
	if err == nil && more != nil {
		err = more(b)
	}
	if err == nil {
		err = ts.space.Apply(b)
	}
	if err == nil {
		err = ts.space.Wait(b)
	}
	if err != nil {
		return fmt.Errorf("make table %s: %w", r.Table.Name, err)
	}
	ts.last = r.ID
	ts.publish(func(tables map[string]*table) { tables[r.Table.Name] = ts.newTable(r) })
	return nil
}

// drop removes a table with all its entries.
func (ts *tables) drop(t *table) error {
	b := ts.space.Pebble.NewBatch()
	defer b.Close()
	old := t.shape.Load()
	lower := old.prefix(nil, indexItems)[:prefixLen-2]
	err := errors.Join(
		b.Delete(ts.appendRecordKey(nil, old.Table.Name), nil),
		b.DeleteRange(lower, appendAfter(nil, lower), nil),
	)
	if err != nil {
		return fmt.Errorf("remove table %s: %w", old.Table.Name, err)
	}
	ended, err := ts.streams.End(b, old.Table)
	if err != nil {
		return fmt.Errorf("remove table %s: %w", old.Table.Name, err)
	}
	t.mu.Lock()
	if err = ts.space.Free(b); err == nil {
		ended()
		gone := *old
		gone.dropped = true
		t.shape.Store(&gone)
	}
	t.mu.Unlock()
	if err == nil {
		ts.publish(func(tables map[string]*table) { delete(tables, old.Table.Name) })
		err = ts.space.Wait(b)
	}
	if err != nil {
		return fmt.Errorf("remove table %s: %w", old.Table.Name, err)
	}
	return nil
}

// publish replaces the map of tables with a changed copy. The caller holds the lock of ts.
func (ts *tables) publish(change func(tables map[string]*table)) {
	tables := maps.Clone(*ts.byName.Load())
	change(tables)
	ts.byName.Store(&tables)
}

func (ts *tables) appendRecordKey(dst []byte, name string) []byte {
	dst = append(dst, ts.space.Prefix, regionRecord)
	return append(dst, name...)
}

// counterKey returns the key under which the last given id is stored.
func (ts *tables) counterKey() []byte { return []byte{ts.space.Prefix, regionFormat, 'n'} }
