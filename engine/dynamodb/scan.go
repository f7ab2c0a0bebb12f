// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

func (rd *reader) scan(ctx context.Context, c *Call, q *api.Scan) (api.Response, error) {
	r, err := rd.begin(&q.Read)
	if err != nil {
		return nil, err
	}
	ix, err := q.Check(r.sh.Table)
	if err != nil {
		return nil, err
	}
	r.from(ix)
	prefix := r.sh.prefix(nil, r.index())
	r.lower, r.upper = prefix, appendAfter(nil, prefix)
	if q.Segments > 1 {
		r.lower, r.upper = segment(prefix, q.Segment, q.Segments)
		if err := r.checkSegment(q); err != nil {
			return nil, err
		}
	}
	return rd.page(ctx, c, r)
}

// segment returns the bounds of part i of the hashes, of n equal parts.
func segment(prefix []byte, i, n int) (lower, upper []byte) {
	bound := func(i int) []byte {
		first := (uint64(i)<<(8*hashLen) + uint64(n) - 1) / uint64(n)
		if first>>(8*hashLen) != 0 {
			return appendAfter(nil, prefix)
		}
		return binary.BigEndian.AppendUint32(bytes.Clone(prefix), uint32(first))
	}
	return bound(i), bound(i + 1)
}

// checkSegment refuses an ExclusiveStartKey that belongs to another segment.
func (r *reading) checkSegment(q *api.Scan) error {
	if r.Start == nil {
		return nil
	}
	key := r.sh.prefix(nil, r.index())
	if r.ix == nil {
		key = appendItem(key, r.sh.Table.Key, r.Start)
	} else {
		key, _ = appendEntry(key, r.sh.Table.Key, r.ix, r.Start)
	}
	if bytes.Compare(key, r.lower) < 0 || bytes.Compare(key, r.upper) >= 0 {
		return exception.Invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. "+
			"Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d", q.Segments, q.Segment)
	}
	return nil
}
