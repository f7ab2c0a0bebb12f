package items

import (
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// trimChanges removes what is too old of all streams, closes shards that have been
// open for long, and forgets streams that were disabled long ago.
func (s *Store) trimChanges() error {
	s.defining.Lock()
	defer s.defining.Unlock()
	for arn, st := range *s.streams.all.Load() {
		gone, err := s.trimStream(st)
		if err != nil {
			return fmt.Errorf("stream %s: %w", arn, err)
		}
		if gone {
			s.publishStreams(func(all map[string]*stream) { delete(all, arn) })
		}
	}
	return nil
}

func (s *Store) trimStream(st *stream) (gone bool, err error) {
	now := s.options.Clock()
	old := now.Add(-streamLife)
	r := *st.record.Load()
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	if !r.enabled() && r.Disabled.Before(old) {
		if err := b.DeleteRange(s.appendChangeKey(nil, r.ID, 0), s.appendChangeKey(nil, r.ID+1, 0), nil); err != nil {
			return false, err
		}
		if err := b.Delete(s.streamKey(r.ID), nil); err != nil {
			return false, err
		}
		return true, s.space.Later(b, true)
	}
	trimmed, err := s.oldest(&r, old)
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
	if r.enabled() && now.Sub(last.Created) >= shardLife && st.last >= last.First {
		r.Shards = append(r.Shards, streamShard{First: st.last + 1, Created: now})
	}
	if was := st.record.Load(); r.Trimmed == was.Trimmed && slices.Equal(r.Shards, was.Shards) {
		return false, nil
	}
	own, err := s.setStream(b, &r)
	if err != nil {
		return false, err
	}
	if err := s.space.Free(b); err != nil {
		return false, err
	}
	st.record.Store(own)
	return false, s.space.Wait(b)
}

// oldest returns the number up to which the changes of a stream are from before a
// time.
func (s *Store) oldest(r *streamRecord, before time.Time) (trimmed uint64, err error) {
	it, err := s.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: s.appendChangeKey(nil, r.ID, 0), UpperBound: s.appendChangeKey(nil, r.ID+1, 0)})
	if err != nil {
		return 0, err
	}
	trimmed = r.Trimmed
	for ok := it.First(); ok && s.ctx.Err() == nil; ok = it.Next() {
		c, err := parseChange(it.Value())
		if err != nil {
			_ = it.Close() // the first error is told
			return 0, err
		}
		if !c.At.Before(before) {
			break
		}
		trimmed = numberOf(it.Key())
	}
	if err := it.Error(); err != nil {
		_ = it.Close()
		return 0, err
	}
	return trimmed, it.Close()
}
