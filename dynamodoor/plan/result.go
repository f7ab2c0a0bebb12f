// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Result collects the page.
type Result struct {
	query *ShardQuery
	out   api.ItemsResponse
	bytes int
	last  *Row
	full  bool
	own   int // how many items share no memory with a gathered answer
	cut   partitionCutter

	decoder attribute.Decoder // of one row at a time
	keys    attribute.Decoder // of rows' sort keys
}

// Result returns an empty page.
func (s *ShardQuery) Result() *Result {
	r := &Result{query: s}
	if r.out.CountOnly = s.query.Select == api.SelectCount; !r.out.CountOnly {
		r.out.Items = []attribute.Encoded{}
	}
	return r
}

// Scanned returns the number of rows in the page before the filter, and their bytes.
func (r *Result) Scanned() (rows, bytes int) { return r.out.ScannedCount, r.bytes }

// Full reports whether the page takes no more rows.
func (r *Result) Full() bool { return r.full }

// Last returns the page's last row before the filter, after which the next page begins. It returns
// nil if the page has no row yet.
func (r *Result) Last() *Row { return r.last }

// Add adds the next rows, as far as the page takes them, and reports whether the page is full. It
// is full if it has Limit rows or a megabyte.
func (r *Result) Add(rows []Row) (full bool, err error) {
	for i := range rows {
		if r.full {
			return true, nil
		}
		if err := r.add(&rows[i]); err != nil {
			return false, err
		}
	}
	return r.full, nil
}

// add adds a row. It decodes the row unless its text and size are enough.
func (r *Result) add(row *Row) error {
	q := r.query.query
	var item attribute.Item
	if row.Size == 0 || r.looks() {
		var err error
		if item, err = r.query.item(&r.decoder, &r.keys, row); err != nil {
			return err
		}
		defer r.decoder.Reset()
	}
	r.last = row
	r.bytes += row.Size
	r.out.ScannedCount++
	if q.Filter.Match(item) {
		r.out.Count++
		switch {
		case r.out.CountOnly:
		case q.Projection != nil:
			r.out.Items = append(r.out.Items, q.Projection.Apply(item).Encode())
		default:
			r.out.Items = append(r.out.Items, row.Text)
		}
	}
	r.full = r.bytes >= PageSize || q.Limit > 0 && r.out.ScannedCount == q.Limit
	return nil
}

// looks reports whether the page needs more of a row than its text and size.
func (r *Result) looks() bool {
	return r.query.query.Filter != nil || r.query.query.Projection != nil
}

// Decodes returns roughly how many bytes Add uses besides the rows: the bytes of the largest row
// that it decodes.
func (r *Result) Decodes(rows []Row) int {
	most := 0
	for i := range rows {
		if rows[i].Size == 0 || r.looks() {
			most = max(most, rows[i].Text.DecodedBytes())
		}
	}
	return most
}

// Consumed adds the capacity that an answer to a Fetch consumed.
func (r *Result) Consumed(c *api.ConsumedCapacity) {
	if c == nil {
		return
	}
	if r.out.Capacity == nil {
		r.out.Capacity = &api.ConsumedCapacity{Table: r.query.query.Table, Detail: c.Detail, Display: c.Display}
	}
	r.out.Capacity.Add(c)
}

// Answer returns the client's answer. A page that is not full is the last.
func (r *Result) Answer() *api.ItemsResponse {
	if r.full {
		s := r.query
		switch r.out.LastKey = r.last.Key; {
		case s.table.drawn():
			r.out.LastKey = s.physicalStart(r.last)
		case s.index == nil:
			return r.AnswerUntil(r.last.Sort)
		case s.marks():
			r.out.LastKey = mark(r.last.Key, s.partitionOf(r.last), s.began)
		}
	}
	return &r.out
}

// AnswerUntil returns the client's answer if the page ends at a sort key, which may be no item's.
func (r *Result) AnswerUntil(sort attribute.Value) *api.ItemsResponse {
	r.out.LastKey = r.query.table.key(r.query.keys.Hash[0], sort)
	return &r.out
}
