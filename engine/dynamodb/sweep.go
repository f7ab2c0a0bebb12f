// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// sweeper removes what has expired.
type sweeper struct {
	*writer
	tokens   *tokens
	interval time.Duration
	log      *slog.Logger
}

// run sweeps periodically, until ctx ends.
func (sw *sweeper) run(ctx context.Context) {
	tick := time.NewTicker(sw.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := sw.sweep(ctx); err != nil {
				sw.log.Error("dynamodb: remove expired items", "error", err)
			}
		}
	}
}

// sweep removes expired items, old tokens, and changes that streams no longer keep.
func (sw *sweeper) sweep(ctx context.Context) error {
	var errs []error
	for _, t := range sw.tables.all() {
		if t.shape.Load().expiry != "" {
			errs = append(errs, sw.sweepTable(ctx, t))
		}
	}
	errs = append(errs, sw.tokens.sweep(ctx))
	sw.tables.Lock()
	defer sw.tables.Unlock()
	return errors.Join(append(errs, sw.streams.Trim(ctx))...)
}

// sweepTable removes the table's expired items one by one. It reads the expiry times from an
// earlier moment and checks each item again.
func (sw *sweeper) sweepTable(ctx context.Context, t *table) error {
	sh := t.shape.Load()
	now := sw.clock()
	prefix := sh.prefix(nil, indexExpiry)
	upper := binary.BigEndian.AppendUint64(bytes.Clone(prefix), uint64(now.Unix()))
	lower := binary.BigEndian.AppendUint64(bytes.Clone(prefix), uint64(max(0, now.Add(-oldest).Unix())))
	it, err := sw.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return fmt.Errorf("table %s: %w", sh.Table.Name, err)
	}
	for ok := it.First(); ok && ctx.Err() == nil; ok = it.Next() {
		entry := it.Key()
		key := sh.prefix(nil, indexItems)
		key = append(key, entry[prefixLen+8:]...)
		if err := sw.expire(t, key, now); err != nil {
			return errors.Join(fmt.Errorf("table %s: %w", sh.Table.Name, err), it.Close())
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// expire removes an item if it is still expired.
func (sw *sweeper) expire(t *table, key []byte, now time.Time) error {
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
	h.lock(sw.locks, key)
	b := sw.space.Pebble.NewBatch()
	defer b.Close()
	err = sw.expireLocked(c, b, sh, key, now)
	if err != nil || b.Empty() {
		h.unlock()
		t.leave()
		return err
	}
	return sw.commit(c, b, t.leave)
}

func (sw *sweeper) expireLocked(c *Call, b *pebble.Batch, sh *shape, key []byte, at time.Time) error {
	old, err := c.read(now{sw.space.Pebble}, key)
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
	if _, err = sw.write(c, b, sh, key, &old, nil); err == nil && sh.model != nil {
		sw.meter.resize(c.charges)
	}
	return err
}
