// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Trim removes changes that are too old, closes shards that have been open for long, and removes
// streams that were disabled long ago. It stops when ctx is done.
func (s *Store) Trim(ctx context.Context) error {
	for arn, st := range *s.all.Load() {
		gone, err := s.trim(ctx, st)
		if err != nil {
			return fmt.Errorf("stream %s: %w", arn, err)
		}
		if gone {
			s.publish(func(all map[string]*Stream) { delete(all, arn) })
		}
	}
	return nil
}

func (s *Store) trim(ctx context.Context, st *Stream) (gone bool, err error) {
	now := s.Clock()
	old := now.Add(-Life)
	r := *st.record.Load()
	b := s.Space.Pebble.NewBatch()
	defer b.Close()
	if !r.enabled() && r.Disabled.Before(old) {
		if err := b.DeleteRange(s.appendChangeKey(nil, r.ID, 0), s.appendChangeKey(nil, r.ID+1, 0), nil); err != nil {
			return false, err
		}
		if err := b.Delete(s.recordKey(r.ID), nil); err != nil {
			return false, err
		}
		return true, s.Space.Later(b, true)
	}
	trimmed, err := s.oldest(ctx, &r, old)
	if err != nil {
		return false, err
	}
	if trimmed > r.Trimmed {
		if err := b.DeleteRange(s.appendChangeKey(nil, r.ID, 0), s.appendChangeKey(nil, r.ID, trimmed+1), nil); err != nil {
			return false, err
		}
		r.Trimmed = trimmed
	}
	r.Shards = slices.Clone(r.Shards)
	for len(r.Shards) > 1 && r.Shards[1].First <= r.Trimmed+1 && r.Shards[1].Created.Before(old) {
		r.Shards = r.Shards[1:]
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	last := r.Shards[len(r.Shards)-1]
	if r.enabled() && now.Sub(last.Created) >= ShardLife && st.last >= last.First {
		r.Shards = append(r.Shards, shard{First: st.last + 1, Created: now})
	}
	if was := st.record.Load(); r.Trimmed == was.Trimmed && slices.Equal(r.Shards, was.Shards) {
		return false, nil
	}
	own, err := s.set(b, &r)
	if err != nil {
		return false, err
	}
	if err := s.Space.Free(b); err != nil {
		return false, err
	}
	st.record.Store(own)
	return false, s.Space.Wait(b)
}

// oldest returns the last number whose change, like all before it, is older than a time.
func (s *Store) oldest(ctx context.Context, r *record, before time.Time) (trimmed uint64, err error) {
	it, err := s.iterate(r, 0, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	trimmed = r.Trimmed
	for ok := it.First(); ok && ctx.Err() == nil; ok = it.Next() {
		c, err := parseChange(it.Value())
		if err != nil {
			return 0, err
		}
		if !c.At.Before(before) {
			break
		}
		trimmed = numberOf(it.Key())
	}
	return trimmed, it.Error()
}
