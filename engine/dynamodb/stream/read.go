// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// List answers ListStreams.
func (s *Store) List(q *api.ListStreams) (api.Response, error) {
	out := &api.StreamsResponse{}
	all := *s.all.Load()
	for _, arn := range slices.Sorted(maps.Keys(all)) {
		r := all[arn].record.Load()
		if q.Table != "" && r.Table != q.Table || q.Start != "" && r.ARN <= q.Start {
			continue
		}
		if len(out.Streams) == q.Limit {
			out.Last = out.Streams[q.Limit-1].ARN
			break
		}
		out.Streams = append(out.Streams, api.StreamSummary{ARN: r.ARN, Table: r.Table, Label: r.Label})
	}
	return out, nil
}

// named returns the stream with an ARN.
func (s *Store) named(arn string) (*Stream, error) {
	if st := (*s.all.Load())[arn]; st != nil {
		return st, nil
	}
	return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: Stream: %s not found", arn)
}

// Describe answers DescribeStream.
func (s *Store) Describe(q *api.DescribeStream) (api.Response, error) {
	st, err := s.named(q.ARN)
	if err != nil {
		return nil, err
	}
	r := st.record.Load()
	out := &api.StreamResponse{
		StreamSummary: api.StreamSummary{ARN: r.ARN, Table: r.Table, Label: r.Label}, Status: "ENABLED", View: r.View, Created: r.Created, Key: r.Key,
	}
	if !r.enabled() {
		out.Status = "DISABLED"
	}
	after := q.Start == ""
	for i := range r.Shards {
		sh := api.StreamShard{ID: r.id(i), Starting: sequence(r.Shards[i].First)}
		if i > 0 {
			sh.Parent = r.id(i - 1)
		}
		if end, closed := r.end(i); closed {
			sh.Ending = sequence(end - 1)
		} else if !r.enabled() {
			sh.Ending = sequence(max(st.lastNumber(), r.Shards[i].First))
		}
		switch {
		case !after:
			after = sh.ID == q.Start
		case q.ChildrenOf != "" && sh.Parent != q.ChildrenOf:
		case len(out.Shards) == q.Limit:
			out.Last = out.Shards[q.Limit-1].ID
			return out, nil
		default:
			out.Shards = append(out.Shards, sh)
		}
	}
	return out, nil
}

// lastNumber returns the last number that is visible.
func (st *Stream) lastNumber() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.last
}

var errTrimmed = exception.New(exception.TrimmedDataAccess, "The data you are trying to access has been trimmed")

// Iterator answers GetShardIterator.
func (s *Store) Iterator(q *api.GetShardIterator) (api.Response, error) {
	st, err := s.named(q.ARN)
	if err != nil {
		return nil, err
	}
	last := st.lastNumber() // read before the record, so that no change in between is skipped
	r := st.record.Load()
	i := slices.IndexFunc(r.Shards, func(sh shard) bool { return r.id(slices.Index(r.Shards, sh)) == q.Shard })
	if i < 0 {
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: Shard does not exist")
	}
	p := position{arn: r.ARN, first: r.Shards[i].First, from: max(r.Shards[i].First, r.Trimmed+1), made: s.Clock()}
	end, closed := r.end(i)
	switch q.Type {
	case api.Latest:
		p.from = last + 1
		if closed {
			p.from = end
		}
	case api.AtSequence, api.AfterSequence:
		n, ok := parseSequence(q.Sequence)
		none := n == p.first && n > last // in an empty shard: its StartingSequenceNumber
		if !ok || n < p.first || n > last && !none || closed && n >= end {
			return nil, exception.Invalid("Invalid SequenceNumber: %s is not one of shard %s", q.Sequence, q.Shard)
		}
		if n <= r.Trimmed {
			return nil, errTrimmed
		}
		if p.from = n; q.Type == api.AfterSequence && !none { // the first record will have this number
			p.from++
		}
	}
	return &api.IteratorResponse{Iterator: p.String()}, nil
}

// maxRecordBytes is the number of bytes of records at which an answer ends. The last record may
// exceed it.
const maxRecordBytes = 1 << 20

// Records answers GetRecords.
func (s *Store) Records(ctx context.Context, q *api.GetRecords) (api.Response, error) {
	p, err := parseIterator(q.Iterator)
	if err != nil {
		return nil, err
	}
	now := s.Clock()
	if now.Sub(p.made) > iteratorLife {
		return nil, exception.New(exception.ExpiredIterator, "Shard iterator has expired")
	}
	st, err := s.named(p.arn)
	if err != nil {
		return nil, err
	}
	r := st.record.Load()
	i := slices.IndexFunc(r.Shards, func(sh shard) bool { return sh.First == p.first })
	if i < 0 || p.from <= r.Trimmed {
		return nil, errTrimmed
	}
	end, closed := r.end(i)
	if !closed {
		end = 1<<64 - 1
	}
	out := &api.RecordsResponse{}
	if p.from, err = s.read(ctx, r, p.from, end, q.Limit, out); err != nil {
		return nil, err
	}
	if st.unsynced.Load() != 0 {
		// A crash must not take back what a client has read.
		if err := s.Space.Settle(); err != nil {
			return nil, err
		}
	}
	// The shard may have been closed in the meantime. The next request checks its end again.
	if done := closed && p.from >= end || !r.enabled() && !closed && p.from > st.lastNumber(); !done {
		p.made = now
		out.Next = p.String()
	}
	return out, nil
}

// read adds the changes from a number on to an answer, and returns the number to continue from.
func (s *Store) read(ctx context.Context, r *record, from, end uint64, limit int, out *api.RecordsResponse) (uint64, error) {
	if from >= end {
		return from, nil
	}
	it, err := s.iterate(r, from, end)
	if err != nil {
		return from, err
	}
	size := 0
	for ok := it.First(); ok && len(out.Records) < limit && size < maxRecordBytes; ok = it.Next() {
		if err := ctx.Err(); err != nil {
			return from, errors.Join(err, it.Close())
		}
		v := slices.Clone(it.Value())
		rec, err := parseChange(v)
		if err != nil {
			return from, errors.Join(err, it.Close())
		}
		number := numberOf(it.Key())
		rec.Sequence, rec.View, rec.Region = sequence(number), r.View, s.Region
		rec.ID = eventID(r.ARN, number)
		size += len(v)
		out.Records = append(out.Records, rec)
		from = number + 1
	}
	return from, errors.Join(it.Error(), it.Close())
}

// eventID returns the id of a change, which is the same in all reads.
func eventID(arn string, number uint64) string {
	var b [16]byte
	binary.BigEndian.PutUint32(b[:4], crc32.ChecksumIEEE([]byte(arn)))
	binary.BigEndian.PutUint64(b[8:], number)
	return fmt.Sprintf("%x", b)
}
