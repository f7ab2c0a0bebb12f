// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// Get reads one live row into row, and reports whether there is one. Without clustering columns,
// pass nil. Get ignores Query.Slices, Reverse, Static and After. It is faster than Read.
func (t *Table) Get(token int64, key []byte, clustering [][]byte, q *Query, row *Row) (bool, error) {
	if len(clustering) != len(t.spec.Clustering) {
		return false, fmt.Errorf("get: %d clustering values for %d columns: %w", len(clustering), len(t.spec.Clustering), ErrMalformed)
	}
	k := keys.Get().(*keyBuffer)
	defer keys.Put(k)
	k.key = appendPartition(k.key[:0], &t.spec.ID, token, key)
	n := len(k.key)
	k.key = append(k.key, kindRow)
	for i, v := range clustering {
		var err error
		if k.key, err = appendClustering(k.key, &t.spec.Clustering[i], v); err != nil {
			return false, fmt.Errorf("get: %w", err)
		}
	}
	live, err := t.get(k, n, q, row)
	if err != nil {
		return false, fmt.Errorf("get: %w", classify(err))
	}
	if !live {
		return false, nil
	}
	if t.injective {
		row.Clustering = append(row.Clustering[:0], clustering...)
		return true, nil
	}
	return true, row.decodeClustering(t, k.key[n+1:], true)
}

// GetStatic reads the live static row, as Get does.
func (t *Table) GetStatic(token int64, key []byte, q *Query, row *Row) (bool, error) {
	k := keys.Get().(*keyBuffer)
	defer keys.Put(k)
	k.key = appendPartition(k.key[:0], &t.spec.ID, token, key)
	n := len(k.key)
	k.key = append(k.key, kindStatic)
	live, err := t.get(k, n, q, row)
	if err != nil {
		return false, fmt.Errorf("get: %w", classify(err))
	}
	row.Clustering = row.Clustering[:0]
	return live, nil
}

type keyBuffer struct {
	key  []byte
	dels []byte
	del  deletions
}

var keys = sync.Pool{New: func() any { return new(keyBuffer) }}

// get reads and loads the row with key k.key. The first n bytes of the key are those of the row's
// partition.
//
// The row and the deletions of its partition have two keys. Both must be read in the same state. In
// most cases the table has no deletions. If it has, two separate reads are correct if no batch with
// deletions was being applied when they began, and none has begun since. Otherwise get reads from a
// snapshot.
func (t *Table) get(k *keyBuffer, n int, q *Query, row *Row) (bool, error) {
	r := t.reader(q)
	s := t.state
	floor := int64(noTimestamp)
	for {
		looked := s.deletions.Load()
		finished := s.finished.Load()
		started := s.started.Load()
		if looked {
			if started != finished && q.View == nil {
				view := t.db.View()
				again := *q
				again.View = view
				live, err := t.get(k, n, &again, row)
				return live, errors.Join(err, view.Close())
			}
			var err error
			if floor, err = t.floor(r, k, n); err != nil {
				return false, err
			}
		}
		found, err := row.fetch(r, k.key, q)
		if err != nil {
			return false, err
		}
		if q.View == nil && (s.deletions.Load() != looked || looked && s.started.Load() != started) {
			continue // a batch came in between
		}
		if !found {
			return false, nil
		}
		return row.load(t, q, floor)
	}
}

// floor returns the timestamp up to which the deletions of the partition cover a row.
func (t *Table) floor(r pebble.Reader, k *keyBuffer, n int) (int64, error) {
	k.dels = append(append(k.dels[:0], k.key[:n]...), kindDeletions)
	v, closer, err := r.Get(k.dels)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return noTimestamp, nil
		}
		return 0, err
	}
	d := &k.del
	if err := d.decode(v); err != nil {
		return 0, errors.Join(err, closer.Close())
	}
	del := d.partition
	if k.key[n] == kindRow {
		del = d.at(k.key[n+1:])
	}
	d.reset()
	return del.Timestamp, closer.Close()
}

// fetch copies the stored row into row.value. It makes room for a long one first, and does not hold the
// row while it waits.
func (row *Row) fetch(r pebble.Reader, key []byte, q *Query) (bool, error) {
	for {
		v, closer, err := r.Get(key)
		if err != nil {
			if errors.Is(err, pebble.ErrNotFound) {
				return false, nil
			}
			return false, err
		}
		ok, n := true, 0 // bytes
		if q.Room != nil && len(v) >= longRow {
			n = q.takes(v, 2)
			ok, err = q.Room(n, false)
		}
		if ok && err == nil {
			row.value = append(row.value[:0], v...)
		}
		if err = errors.Join(err, closer.Close()); err != nil || ok {
			return ok, err
		}
		if _, err := q.Room(n, true); err != nil {
			return false, err
		}
	}
}

// load decodes row.value; the row becomes a view of it. load reports whether the row is live if
// everything up to the timestamp floor is deleted.
func (row *Row) load(t *Table, q *Query, floor int64) (bool, error) {
	var in rowReader
	var deletion Deletion
	row.Marker, deletion, row.originals = in.head(row.value, row.originals[:0])
	row.arena = row.arena[:0]
	row.Cells = row.Cells[:0]
	floor = max(floor, deletion.Timestamp)
	p := &row.packed
	p.table, p.now, p.floor, p.base = t, q.Now, floor, in.base
	live := false
	row.HasMarker = in.flags&rowMarker != 0 && row.Marker.Timestamp > floor &&
		(row.Marker.TTL == 0 || row.Marker.Expires > q.Now)
	if row.HasMarker {
		live = true
	}
	var c cellData
	var packed []byte // the stored form of the packed column, and what follows it
	for {
		here := in.src
		if !in.next(&c) {
			break
		}
		col := p.visible(&c)
		if col == nil {
			continue
		}
		live = true
		if !q.All && !q.Columns.Has(c.column) {
			continue
		}
		element := c.kind&cellPath != 0 && col.path != nil
		if element && q.Packed {
			n := len(row.Cells)
			if n == 0 || row.Cells[n-1].Column != c.column {
				row.Cells = append(row.Cells, Cell{Column: c.column, packed: true})
				packed, n = here, n+1
			}
			row.Cells[n-1].Value = packed[:len(packed)-len(in.src)]
			continue
		}
		row.Cells = append(row.Cells, Cell{
			Column: c.column, Value: c.value, Timestamp: c.timestamp, TTL: c.ttl, Expires: c.time,
		})
		if element {
			cell := &row.Cells[len(row.Cells)-1]
			var err error
			if row.arena, cell.Path, err = p.decodePath(row.arena, col, &c); err != nil {
				return false, err
			}
		}
	}
	if in.bad {
		return false, errBadRow
	}
	return live, nil
}

// decodeClustering decodes a clustering. If stable is set, it copies src into the row's own memory
// first. If not, values may be views of src.
//
// It uses the types of the table's latest handle. A user-defined type may have got a field after t
// was made, and a row may have been written with it. (The latest handle knows all data: a handle is
// made before anything is written with it.)
func (row *Row) decodeClustering(t *Table, src []byte, stable bool) error {
	if cap(row.Clustering) < len(t.spec.Clustering) {
		row.Clustering = make([][]byte, 0, len(t.spec.Clustering))
	}
	row.Clustering = row.Clustering[:0]
	if stable {
		n := len(row.arena)
		row.arena = append(row.arena, src...)
		src = row.arena[n:len(row.arena):len(row.arena)]
	}
	clustering := t.state.latest.Load().spec.Clustering
	for i := range clustering {
		var v []byte
		var err error
		if row.arena, v, src, err = decodeClustering(row.arena, &clustering[i], src); err != nil {
			return err
		}
		row.Clustering = append(row.Clustering, v)
	}
	for _, o := range row.originals {
		if o.index < len(row.Clustering) {
			row.Clustering[o.index] = o.bytes
		}
	}
	return nil
}
