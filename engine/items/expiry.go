// SPDX-License-Identifier: Apache-2.0

package items

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// oldest is the largest age of an expiry time for which the store removes the item, as in AWS. So a
// user who writes the time in another unit does not lose everything.
const oldest = 5 * 365 * 24 * time.Hour

// expiryOf returns the time at which an item expires, in seconds since 1970. It returns false if
// the item does not expire.
func expiryOf(sh *shape, item attribute.Item) (int64, bool) {
	v, ok := item.Get(sh.expiry)
	if !ok || v.Kind() != attribute.N {
		return 0, false
	}
	whole, _, _ := strings.Cut(v.Text(), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	return n, err == nil && n > 0
}

// appendExpiryKey appends the key of an expiry time of the item at key.
func (sh *shape) appendExpiryKey(dst []byte, at int64, key []byte) []byte {
	dst = sh.prefix(dst, indexExpiry)
	dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	return append(dst, key[prefixLen:]...)
}

// writeExpiry updates the entry of an item's expiry time.
func (sh *shape) writeExpiry(b *pebble.Batch, before, after attribute.Item, key []byte) error {
	if sh.expiry == "" {
		return nil
	}
	was, had := expiryOf(sh, before)
	is, has := expiryOf(sh, after)
	if had == has && was == is {
		return nil
	}
	var err error
	if had {
		err = b.Delete(sh.appendExpiryKey(nil, was, key), nil)
	}
	if has {
		err = errors.Join(err, b.Set(sh.appendExpiryKey(nil, is, key), nil, nil))
	}
	return err
}

// sweepNowAndThen removes expired items periodically, until Close.
func (s *Store) sweepNowAndThen() {
	tick := time.NewTicker(s.options.SweepInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			if err := s.sweep(); err != nil {
				s.options.Logger.Error("dynamodb: remove expired items", "error", err)
			}
		}
	}
}

// sweep removes expired items, old tokens, and changes that streams no longer keep.
func (s *Store) sweep() error {
	var errs []error
	for _, t := range s.tables.all() {
		if t.shape.Load().expiry != "" {
			errs = append(errs, s.sweepTable(t))
		}
	}
	errs = append(errs, s.sweepTokens())
	s.tables.Lock()
	defer s.tables.Unlock()
	return errors.Join(append(errs, s.streams.Trim(s.ctx))...)
}

// sweepTable removes the table's expired items one by one. It reads the expiry times from an
// earlier moment and checks each item again.
func (s *Store) sweepTable(t *table) error {
	sh := t.shape.Load()
	now := s.options.Clock()
	prefix := sh.prefix(nil, indexExpiry)
	upper := binary.BigEndian.AppendUint64(bytes.Clone(prefix), uint64(now.Unix()))
	lower := binary.BigEndian.AppendUint64(bytes.Clone(prefix), uint64(max(0, now.Add(-oldest).Unix())))
	it, err := s.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return fmt.Errorf("table %s: %w", sh.Table.Name, err)
	}
	for ok := it.First(); ok && s.ctx.Err() == nil; ok = it.Next() {
		entry := it.Key()
		key := sh.prefix(nil, indexItems)
		key = append(key, entry[prefixLen+8:]...)
		if err := s.expire(t, key, now); err != nil {
			return errors.Join(fmt.Errorf("table %s: %w", sh.Table.Name, err), it.Close())
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// expire removes an item if it is still expired.
func (s *Store) expire(t *table, key []byte, now time.Time) error {
	c := NewCall()
	defer c.Release()
	sh, err := t.enter()
	if err != nil || sh.expiry == "" {
		if err == nil {
			t.leave()
		}
		return nil // the table, or its Time to Live, was removed
	}
	h := &c.held
	h.lock(&s.locks, key)
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	err = s.expireLocked(c, b, sh, key, now)
	if err != nil || b.Empty() {
		h.unlock()
		t.leave()
		return err
	}
	return s.commit(c, b, t.leave)
}

func (s *Store) expireLocked(c *Call, b *pebble.Batch, sh *shape, key []byte, at time.Time) error {
	old, err := c.read(now{s.space.Pebble}, key)
	if err != nil {
		return err
	}
	item, err := c.decode(&old)
	if err != nil {
		return err
	}
	if expires, ok := expiryOf(sh, item); !ok || expires >= at.Unix() {
		return nil
	}
	c.service = true
	if _, err = s.write(c, b, sh, key, &old, nil); err == nil && sh.model != nil {
		s.meter.resize(c.charges)
	}
	return err
}
