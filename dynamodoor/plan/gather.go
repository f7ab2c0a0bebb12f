// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Gathers reports whether a Gather reads the rows of the Query as the answer has them: each item is
// in one shard, with a sort key of its own, and the shards have no other items.
func (s *ShardQuery) Gathers() bool { return s.bySortKey() && s.index == nil }

// Gather returns the request for the rest of a page, in shards, after a row; nil: from the beginning. It
// returns nil if there can be no more rows.
func (s *ShardQuery) Gather(page *Result, shards []int, after *Row) *api.Gather {
	limit := s.query.Limit
	if rows, bytes := page.Scanned(); rows > 0 {
		limit = s.Page(rows, bytes)
	}
	if s.InOrder && s.backward {
		shards = slices.Clone(shards)
		slices.Reverse(shards)
	}
	first := s.Fetch(shards[0], after, nil, limit)
	if first == nil {
		return nil
	}
	return &api.Gather{Query: first, Partitions: s.table.partitions(s.keys.Hash[0], shards), InOrder: s.InOrder}
}

// partitions returns the physical partition keys of shards of a logical partition in a table that
// hides them.
func (p *placement) partitions(hash attribute.Value, shards []int) []attribute.Value {
	stem := attribute.KeyText(hash) + "-"
	text := make([]byte, 0, len(shards)*(len(stem)+len("n2147483647")))
	ends := make([]int, len(shards))
	for i, shard := range shards {
		text = appendPlace(append(text, stem...), shard)
		ends[i] = len(text)
	}
	all, from := string(text), 0
	values := make([]attribute.Value, len(shards))
	for i, to := range ends {
		values[i] = attribute.String(all[from:to])
		from = to
	}
	return values
}

// AddGathered adds the rows of an answer to Gather. If the page has room for more rows, and there
// may be some, it returns the row after which to go on; else nil. Then the result shares the
// answer's memory.
func (r *Result) AddGathered(a *api.Gathered) (after *Row, err error) {
	r.Consumed(a.Capacity)
	switch {
	case r.out.CountOnly, len(a.Items) == 0:
	case len(r.out.Items) == 0:
		r.out.Items = a.Items[:0] // the page has at most as many items as were read before
	default:
		r.out.Items = slices.Grow(r.out.Items, len(a.Items))
	}
	row := new(Row)
	for i, text := range a.Items {
		*row = Row{Text: text}
		if text, size, ok := r.cut.from(text); ok {
			row.Text, row.Size = text, a.Sizes[i]-size
		}
		if err := r.add(row); err != nil {
			return nil, err
		}
		if r.full {
			return nil, r.query.readSort(&r.keys, row)
		}
	}
	if !a.More {
		return nil, nil
	}
	r.Own() // the rest comes in another answer
	row.Text = bytes.Clone(row.Text)
	return row, r.query.readSort(&r.keys, row)
}

// Own ends the sharing of memory with gathered answers.
func (r *Result) Own() {
	if r.own == 0 && len(r.out.Items) > 0 {
		r.out.Items = slices.Clone(r.out.Items)
	}
	for ; r.own < len(r.out.Items); r.own++ {
		r.out.Items[r.own] = bytes.Clone(r.out.Items[r.own])
	}
}

// DecodesGathered returns roughly how many bytes AddGathered uses besides the answer: the bytes of
// the largest item, if it decodes the items.
func (r *Result) DecodesGathered(a *api.Gathered) int {
	most := 0
	if r.looks() {
		for _, text := range a.Items {
			most = max(most, text.DecodedBytes())
		}
	}
	return most
}
