package items

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// DynamoDB Streams: what changes an item of a table with a stream writes a change
// in the same batch. Changes have numbers, by which they are kept and read. The
// numbers are given, and the batch made visible, under a lock of the stream's: who
// has read up to a number will not see a lower one appear. A table without a stream
// has nothing of all this.
//
// A stream has one shard that is open; after shardLife another follows it, as its
// child. Changes are kept for streamLife, and so is a stream that is disabled, or
// whose table is gone.
const (
	shardLife  = 4 * time.Hour
	streamLife = 24 * time.Hour
)

// streamRecord is what is kept of a stream. It is replaced, never changed.
type streamRecord struct {
	ID       uint32
	ARN      string
	Label    string
	Table    string
	Key      schema.Key
	View     string
	Created  time.Time
	Disabled time.Time // zero: it is enabled
	Shards   []streamShard
	Trimmed  uint64 // changes up to this number are gone
}

// streamShard is a shard: the changes from a number to where the next begins.
type streamShard struct {
	First   uint64
	Created time.Time
}

// id is the shard's name: of the form, and the length, that AWS's have.
func (r *streamRecord) id(shard int) string {
	sh := r.Shards[shard]
	return fmt.Sprintf("shardId-%020d-%08x", sh.Created.UnixMilli(), uint32(sh.First)^r.ID<<16)
}

// end is where the changes of a shard end; false while it is open.
func (r *streamRecord) end(shard int) (uint64, bool) {
	if shard+1 < len(r.Shards) {
		return r.Shards[shard+1].First, true
	}
	return 0, false
}

func (r *streamRecord) enabled() bool { return r.Disabled.IsZero() }

// stream is a stream in use.
type stream struct {
	record   atomic.Pointer[streamRecord]
	unsynced atomic.Int64 // writes that are visible and not yet durable

	mu   sync.Mutex // held from when a change has its number to when it is visible
	last uint64     // the last number that was given
}

// streams are all streams by ARN: a map that is replaced, never changed.
type streams struct {
	all  atomic.Pointer[map[string]*stream]
	last uint32 // the last id that was given; guarded by Store.defining
}

// streamOf is the stream that changes of a table go to, nil for none.
func (s *Store) streamOf(r *record) *stream {
	if !r.Table.Stream.Enabled {
		return nil
	}
	return (*s.streams.all.Load())[streamARN(r.Table)]
}

func streamARN(t *schema.Table) string { return t.ARN + "/stream/" + t.StreamLabel }

// streamLabel is a label: the time, as AWS has it.
func (s *Store) streamLabel(now time.Time) string {
	return now.UTC().Format("2006-01-02T15:04:05.000")
}

func (s *Store) appendStreamKey(dst []byte) []byte { return append(dst, s.space.Prefix, regionStream) }

func (s *Store) streamKey(id uint32) []byte {
	return binary.BigEndian.AppendUint32(s.appendStreamKey(nil), id)
}

// appendChangeKey appends where a change is kept.
func (s *Store) appendChangeKey(dst []byte, id uint32, number uint64) []byte {
	dst = append(dst, s.space.Prefix, regionChange)
	dst = binary.BigEndian.AppendUint32(dst, id)
	return binary.BigEndian.AppendUint64(dst, number)
}

// loadStreams reads the streams, and how far their numbers were given.
func (s *Store) loadStreams() error {
	all := map[string]*stream{}
	s.streams.all.Store(&all)
	lower := s.appendStreamKey(nil)
	it, err := s.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: appendAfter(nil, lower)})
	if err != nil {
		return fmt.Errorf("streams: %w", err)
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var st *stream
		if st, err = s.openStream(it.Value()); err == nil {
			all[st.record.Load().ARN] = st
			s.streams.last = max(s.streams.last, st.record.Load().ID)
		}
	}
	return errors.Join(err, it.Error(), it.Close())
}

func (s *Store) openStream(text []byte) (*stream, error) {
	r := new(streamRecord)
	if err := json.Unmarshal(text, r); err != nil || len(r.Shards) == 0 {
		return nil, fmt.Errorf("%w: a stream's record %q", storage.ErrCorrupt, text)
	}
	st := &stream{last: max(r.Trimmed, r.Shards[len(r.Shards)-1].First-1)}
	st.record.Store(r)
	it, err := s.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: s.appendChangeKey(nil, r.ID, 0), UpperBound: s.appendChangeKey(nil, r.ID+1, 0)})
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", r.ARN, err)
	}
	if it.Last() {
		st.last = max(st.last, numberOf(it.Key()))
	}
	return st, errors.Join(it.Error(), it.Close())
}

// numberOf is a change's number, by its key.
func numberOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// set adds a stream's record to a batch, and returns it with memory of its own.
func (s *Store) setStream(b *pebble.Batch, r *streamRecord) (*streamRecord, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", r.ARN, err)
	}
	own := new(streamRecord)
	if err := json.Unmarshal(text, own); err != nil {
		return nil, fmt.Errorf("stream %s: %w", r.ARN, err)
	}
	// A version that knows no streams would leave changes out.
	return own, errors.Join(b.Set(s.streamKey(r.ID), text, nil), b.Set(s.formatKey(), strconv.AppendInt(nil, formatStreams, 10), nil))
}

// publishStreams replaces the map of streams by a changed copy. The caller holds
// defining.
func (s *Store) publishStreams(change func(all map[string]*stream)) {
	all := maps.Clone(*s.streams.all.Load())
	change(all)
	s.streams.all.Store(&all)
}

// beginStream makes the stream that a table is to have; the batch that makes it so
// has to have what it adds. undo takes it back.
func (s *Store) beginStream(t *schema.Table) (add func(b *pebble.Batch) error, undo func()) {
	now := s.options.Clock()
	t.StreamLabel = s.streamLabel(now)
	for (*s.streams.all.Load())[streamARN(t)] != nil {
		now = now.Add(time.Millisecond)
		t.StreamLabel = s.streamLabel(now)
	}
	s.streams.last++
	arn := streamARN(t)
	st := &stream{}
	r := &streamRecord{
		ID: s.streams.last, ARN: arn, Label: t.StreamLabel, Table: t.Name, Key: t.Key, View: t.Stream.View, Created: now,
		Shards: []streamShard{{First: 1, Created: now}},
	}
	add = func(b *pebble.Batch) error {
		own, err := s.setStream(b, r)
		if err == nil {
			st.record.Store(own)
			s.publishStreams(func(all map[string]*stream) { all[arn] = st })
		}
		return err
	}
	return add, func() { s.publishStreams(func(all map[string]*stream) { delete(all, arn) }) }
}

// endStream adds to a batch that a table's stream, if it has one, is disabled; done
// says so once the batch is written.
func (s *Store) endStream(b *pebble.Batch, t *schema.Table) (done func(), err error) {
	st := (*s.streams.all.Load())[streamARN(t)]
	if !t.Stream.Enabled || st == nil {
		return func() {}, nil
	}
	r := *st.record.Load()
	r.Disabled = s.options.Clock()
	own, err := s.setStream(b, &r)
	return func() { st.record.Store(own) }, err
}

// sorted are the streams by ARN.
func (s *Store) sortedStreams() []*streamRecord {
	var all []*streamRecord
	for _, arn := range slices.Sorted(maps.Keys(*s.streams.all.Load())) {
		all = append(all, (*s.streams.all.Load())[arn].record.Load())
	}
	return all
}
