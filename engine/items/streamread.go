package items

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

func (s *Store) listStreams(q *api.ListStreams) (api.Response, error) {
	out := &api.StreamsResponse{}
	for _, r := range s.sortedStreams() {
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

// streamNamed returns the stream with an ARN.
func (s *Store) streamNamed(arn string) (*stream, error) {
	if st := (*s.streams.all.Load())[arn]; st != nil {
		return st, nil
	}
	return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: Stream: %s not found", arn)
}

func (s *Store) describeStream(q *api.DescribeStream) (api.Response, error) {
	st, err := s.streamNamed(q.ARN)
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

// lastNumber is the last number that is visible.
func (st *stream) lastNumber() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.last
}

// sequenceBase makes numbers as long as AWS's sequence numbers are at least.
const sequenceBase = "1"

// sequence is a number as the API has it: 21 digits, in whose order numbers are.
func sequence(number uint64) string { return fmt.Sprintf("%s%020d", sequenceBase, number) }

func parseSequence(text string) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, sequenceBase)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// iteratorLife is for how long an iterator can be used, as AWS says.
const iteratorLife = 15 * time.Minute

// position is what a shard iterator stands for. It goes out as the stream's ARN, a
// version, and in base64 the first number of the shard, the number to read from, the
// time of its making in milliseconds, each [8], and a CRC-32 of all that.
type position struct {
	arn         string
	first, from uint64
	made        time.Time
}

const iteratorVersion = "|1|"

func (p *position) String() string {
	b := binary.BigEndian.AppendUint64(nil, p.first)
	b = binary.BigEndian.AppendUint64(b, p.from)
	b = binary.BigEndian.AppendUint64(b, uint64(p.made.UnixMilli()))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(append([]byte(p.arn), b...)))
	return p.arn + iteratorVersion + base64.RawURLEncoding.EncodeToString(b)
}

func parseIterator(text string) (p position, err error) {
	arn, rest, ok := strings.Cut(text, iteratorVersion)
	b, bad := base64.RawURLEncoding.Strict().DecodeString(rest)
	if !ok || bad != nil || len(b) != 28 || crc32.ChecksumIEEE(append([]byte(arn), b[:24]...)) != binary.BigEndian.Uint32(b[24:]) {
		return p, exception.Invalid("Invalid ShardIterator")
	}
	p.arn, p.first, p.from = arn, binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	p.made = time.UnixMilli(int64(binary.BigEndian.Uint64(b[16:])))
	return p, nil
}

var errTrimmed = exception.New(exception.TrimmedDataAccess, "The data you are trying to access has been trimmed")

func (s *Store) getShardIterator(q *api.GetShardIterator) (api.Response, error) {
	st, err := s.streamNamed(q.ARN)
	if err != nil {
		return nil, err
	}
	last := st.lastNumber() // before the record: of what comes in between nothing is passed over
	r := st.record.Load()
	i := slices.IndexFunc(r.Shards, func(sh streamShard) bool { return r.id(slices.Index(r.Shards, sh)) == q.Shard })
	if i < 0 {
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: Shard does not exist")
	}
	p := position{arn: r.ARN, first: r.Shards[i].First, from: max(r.Shards[i].First, r.Trimmed+1), made: s.options.Clock()}
	end, closed := r.end(i)
	switch q.Type {
	case api.Latest:
		p.from = last + 1
		if closed {
			p.from = end
		}
	case api.AtSequence, api.AfterSequence:
		n, ok := parseSequence(q.Sequence)
		none := n == p.first && n > last // of an empty shard, its StartingSequenceNumber
		if !ok || n < p.first || n > last && !none || closed && n >= end {
			return nil, exception.Invalid("Invalid SequenceNumber: %s is not one of shard %s", q.Sequence, q.Shard)
		}
		if n <= r.Trimmed {
			return nil, errTrimmed
		}
		if p.from = n; q.Type == api.AfterSequence && !none { // the first record will have it
			p.from++
		}
	}
	return &api.IteratorResponse{Iterator: p.String()}, nil
}

// maxRecordBytes is how much an answer to GetRecords has at most, beside one record.
const maxRecordBytes = 1 << 20

func (s *Store) getRecords(ctx context.Context, q *api.GetRecords) (api.Response, error) {
	p, err := parseIterator(q.Iterator)
	if err != nil {
		return nil, err
	}
	now := s.options.Clock()
	if now.Sub(p.made) > iteratorLife {
		return nil, exception.New(exception.ExpiredIterator, "Shard iterator has expired")
	}
	st, err := s.streamNamed(p.arn)
	if err != nil {
		return nil, err
	}
	r := st.record.Load()
	shard := slices.IndexFunc(r.Shards, func(sh streamShard) bool { return sh.First == p.first })
	if shard < 0 || p.from <= r.Trimmed {
		return nil, errTrimmed
	}
	end, closed := r.end(shard)
	if !closed {
		end = 1<<64 - 1
	}
	out := &api.RecordsResponse{}
	if p.from, err = s.readChanges(ctx, r, p.from, end, q.Limit, out); err != nil {
		return nil, err
	}
	if st.unsynced.Load() != 0 {
		// No crash may take back what was told.
		if err := s.space.Settle(); err != nil {
			return nil, err
		}
	}
	// The shard may have been closed meanwhile: what its end is now is looked at
	// with the next request.
	if done := closed && p.from >= end || !r.enabled() && !closed && p.from > st.lastNumber(); !done {
		p.made = now
		out.Next = p.String()
	}
	return out, nil
}

// readChanges adds changes to an answer, from a number on, and returns where to go
// on.
func (s *Store) readChanges(ctx context.Context, r *streamRecord, from, end uint64, limit int, out *api.RecordsResponse) (uint64, error) {
	if from >= end {
		return from, nil
	}
	it, err := s.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: s.appendChangeKey(nil, r.ID, from), UpperBound: s.appendChangeKey(nil, r.ID, end)})
	if err != nil {
		return from, fmt.Errorf("stream %s: %w", r.ARN, err)
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
		rec.Sequence, rec.View, rec.Region = sequence(number), r.View, s.options.Region
		rec.ID = eventID(r.ARN, number)
		size += len(v)
		out.Records = append(out.Records, rec)
		from = number + 1
	}
	return from, errors.Join(it.Error(), it.Close())
}

// eventID is the same whenever a change is read.
func eventID(arn string, number uint64) string {
	var b [16]byte
	binary.BigEndian.PutUint32(b[:4], crc32.ChecksumIEEE([]byte(arn)))
	binary.BigEndian.PutUint64(b[8:], number)
	return fmt.Sprintf("%x", b)
}
