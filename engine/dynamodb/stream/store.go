// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// Keys follow the space's prefix:
//
//	RegionRecord stream[4]                a stream's record (record.go)
//	RegionChange stream[4] number[8]      a change (change.go)
const (
	RegionRecord = 0x04
	RegionChange = 0x05
)

// Options holds the settings of a Store. All fields are required.
type Options struct {
	Space  *storage.Space
	Clock  func() time.Time
	Region string // the AWS region that records name

	// Mark adds to a batch a mark that the store has streams. Versions that do not know streams
	// refuse a store with the mark.
	Mark func(b *pebble.Batch) error
}

// Store holds the streams of all tables. Only one goroutine at a time may call Begin, End and Trim.
// The other methods are safe for concurrent use.
type Store struct {
	Options
	all  atomic.Pointer[map[string]*Stream] // by ARN; the map is replaced, never changed
	last uint32                             // the last id that was given
}

// Stream is the stream of one table.
type Stream struct {
	record   atomic.Pointer[record]
	unsynced atomic.Int64 // writes that are visible and not yet durable

	mu   sync.Mutex // held from the moment a change gets its number until it is visible
	last uint64     // the last number that was given
}

// Open reads the records of all streams, and the last number of each.
func Open(o Options) (*Store, error) {
	s := &Store{Options: o}
	all := map[string]*Stream{}
	s.all.Store(&all)
	lower := []byte{s.Space.Prefix, RegionRecord}
	it, err := s.Space.Pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: []byte{s.Space.Prefix, RegionRecord + 1}})
	if err != nil {
		return nil, fmt.Errorf("streams: %w", err)
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var st *Stream
		if st, err = s.open(it.Value()); err == nil {
			all[st.record.Load().ARN] = st
			s.last = max(s.last, st.record.Load().ID)
		}
	}
	return s, errors.Join(err, it.Error(), it.Close())
}

func (s *Store) open(text []byte) (*Stream, error) {
	r := new(record)
	if err := json.Unmarshal(text, r); err != nil || len(r.Shards) == 0 {
		return nil, fmt.Errorf("%w: a stream's record %q", storage.ErrCorrupt, text)
	}
	st := &Stream{last: max(r.Trimmed, r.Shards[len(r.Shards)-1].First-1)}
	st.record.Store(r)
	it, err := s.iterate(r, 0, 0)
	if err != nil {
		return nil, err
	}
	if it.Last() {
		st.last = max(st.last, numberOf(it.Key()))
	}
	return st, errors.Join(it.Error(), it.Close())
}

// Of returns the stream that gets a table's changes, or nil if the table has none.
func (s *Store) Of(t *schema.Table) *Stream {
	if !t.Stream.Enabled {
		return nil
	}
	return (*s.all.Load())[arn(t)]
}

func arn(t *schema.Table) string { return t.ARN + "/stream/" + t.StreamLabel }

// Begin creates the stream of a table, and sets the table's StreamLabel. The batch that changes the
// table must contain what add adds. undo removes the stream again.
func (s *Store) Begin(t *schema.Table) (add func(b *pebble.Batch) error, undo func()) {
	const label = "2006-01-02T15:04:05.000" // as in AWS
	now := s.Clock()
	t.StreamLabel = now.UTC().Format(label)
	for (*s.all.Load())[arn(t)] != nil {
		now = now.Add(time.Millisecond)
		t.StreamLabel = now.UTC().Format(label)
	}
	s.last++
	name := arn(t)
	st := &Stream{}
	r := &record{
		ID: s.last, ARN: name, Label: t.StreamLabel, Table: t.Name, Key: t.Key, View: t.Stream.View, Created: now,
		Shards: []shard{{First: 1, Created: now}},
	}
	add = func(b *pebble.Batch) error {
		own, err := s.set(b, r)
		if err == nil {
			st.record.Store(own)
			s.publish(func(all map[string]*Stream) { all[name] = st })
		}
		return err
	}
	return add, func() { s.publish(func(all map[string]*Stream) { delete(all, name) }) }
}

// End adds to a batch that the table's stream is disabled, if the table has one. The caller calls
// done after the batch is visible.
func (s *Store) End(b *pebble.Batch, t *schema.Table) (done func(), err error) {
	st := (*s.all.Load())[arn(t)]
	if !t.Stream.Enabled || st == nil {
		return func() {}, nil
	}
	r := *st.record.Load()
	r.Disabled = s.Clock()
	own, err := s.set(b, &r)
	return func() { st.record.Store(own) }, err
}

// Apply makes a batch visible, together with its changes. It returns the buffer key, which it may
// have grown. (It takes the locks of several streams in the order of their ids.)
func (s *Store) Apply(b *pebble.Batch, changes []Change, key []byte) ([]byte, error) {
	if len(changes) == 0 {
		return key, s.Space.Apply(b)
	}
	var to []*Stream
	for i := range changes {
		if !slices.Contains(to, changes[i].to) {
			to = append(to, changes[i].to)
		}
	}
	slices.SortFunc(to, func(a, b *Stream) int { return int(int64(a.record.Load().ID) - int64(b.record.Load().ID)) })
	for _, st := range to {
		st.mu.Lock()
		defer st.mu.Unlock()
	}
	given := make(map[*Stream]uint64, len(to))
	for _, ch := range changes {
		given[ch.to]++
		key = s.appendChangeKey(key[:0], ch.to.record.Load().ID, ch.to.last+given[ch.to])
		if err := b.Set(key, ch.value, nil); err != nil {
			return key, fmt.Errorf("a stream's change: %w", err)
		}
	}
	if err := s.Space.Apply(b); err != nil {
		return key, err
	}
	for st, n := range given {
		st.last += n
	}
	return key, nil
}

// set adds a record to a batch, and returns a copy with its own memory.
func (s *Store) set(b *pebble.Batch, r *record) (*record, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", r.ARN, err)
	}
	own := new(record)
	if err := json.Unmarshal(text, own); err != nil {
		return nil, fmt.Errorf("stream %s: %w", r.ARN, err)
	}
	return own, errors.Join(b.Set(s.recordKey(r.ID), text, nil), s.Mark(b))
}

// publish replaces the map of streams with a changed copy.
func (s *Store) publish(change func(all map[string]*Stream)) {
	all := maps.Clone(*s.all.Load())
	change(all)
	s.all.Store(&all)
}

func (s *Store) recordKey(id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{s.Space.Prefix, RegionRecord}, id)
}

func (s *Store) appendChangeKey(dst []byte, id uint32, number uint64) []byte {
	dst = append(dst, s.Space.Prefix, RegionChange)
	dst = binary.BigEndian.AppendUint32(dst, id)
	return binary.BigEndian.AppendUint64(dst, number)
}

// numberOf returns the number of the change with a key.
func numberOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// iterate returns an iterator over the changes of a stream from one number up to another; end 0:
// without end. The caller closes the iterator.
func (s *Store) iterate(r *record, from, end uint64) (*pebble.Iterator, error) {
	upper := s.appendChangeKey(nil, r.ID+1, 0)
	if end != 0 {
		upper = s.appendChangeKey(nil, r.ID, end)
	}
	it, err := s.Space.Pebble.NewIter(&pebble.IterOptions{LowerBound: s.appendChangeKey(nil, r.ID, from), UpperBound: upper})
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", r.ARN, err)
	}
	return it, nil
}
