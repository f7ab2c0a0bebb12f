// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

func (rd *reader) query(ctx context.Context, c *Call, q *api.Query) (api.Response, error) {
	r, err := rd.begin(&q.Read)
	if err != nil {
		return nil, err
	}
	ix, k, err := q.Check(r.sh.Table)
	if err != nil {
		return nil, err
	}
	r.from(ix)
	r.backward, r.one = q.Backward, api.One(r.sh.Table, ix)
	r.lower, r.upper = bounds(r.sh.prefix(nil, r.index()), &k)
	return rd.page(ctx, c, r)
}

// bounds returns the first key of a range and the end after its last key.
func bounds(prefix []byte, k *expression.KeyRange) (lower, upper []byte) {
	partition := appendPartition(prefix, k.Hash)
	for _, v := range k.Prefix {
		partition = attribute.AppendKey(partition, v)
	}
	key := func(v attribute.Value) []byte { return attribute.AppendKey(bytes.Clone(partition), v) }
	lower, upper = partition, appendAfter(nil, partition)
	switch k.Op {
	case expression.Equal:
		lower = key(k.Low)
		upper = appendAfter(nil, lower)
	case expression.Less:
		upper = key(k.Low)
	case expression.LessOrEqual:
		upper = appendAfter(nil, key(k.Low))
	case expression.Greater:
		lower = appendAfter(nil, key(k.Low))
	case expression.GreaterOrEqual:
		lower = key(k.Low)
	case expression.BeginsWith:
		lower = attribute.AppendKeyPrefix(bytes.Clone(partition), k.Low)
		upper = appendAfter(nil, lower)
	case expression.Between:
		lower, upper = key(k.Low), appendAfter(nil, key(k.High))
	}
	return lower, upper
}
