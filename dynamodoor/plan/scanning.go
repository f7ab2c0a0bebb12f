// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// Scanning is a Scan, or a Query of an index that is not sharded, on a table whose layout was, or
// is being, changed. It reads items in the store's order. The caller knows which items to show, so
// filter, projection and count are applied after that. Positions are physical keys with the
// generation in which the read began.
type Scanning struct {
	Index *schema.Index // nil: the table
	Began int64         // 0: the position does not contain it

	table    *Table
	left     []*Table // the physical tables that are still to be read; the first one is being read
	at       position
	asked    *api.Read
	logical  api.Read // what the client reads, with a position in its logical form
	physical api.Read
	query    *api.Query // the client's; nil: a Scan
	scan     *api.Scan  // nil: a Query
}

// Scanning returns the plan of a Scan or a Query in a generation. Before the first Request, Over says
// which places it reads.
func (t *Table) Scanning(q api.Request, generation int64) (*Scanning, error) {
	s := &Scanning{table: t, Began: generation}
	switch q := q.(type) {
	case *api.Scan:
		s.asked, s.scan = &q.Read, q
	case *api.Query:
		s.asked, s.query = &q.Read, q
	default:
		return nil, fmt.Errorf("operation %s does not read items in the store's order", q.Operation())
	}
	s.logical = *s.asked
	if s.asked.Start != nil {
		var err error
		if s.at, s.logical.Start, err = t.position(s.asked.Start); err != nil {
			return nil, err
		}
		s.Began = s.at.began
	}
	var err error
	if s.query != nil {
		asked := *s.query
		asked.Read = s.logical
		s.Index, _, err = asked.Check(t.Logical)
	} else {
		asked := *s.scan
		asked.Read = s.logical
		s.Index, err = asked.Check(t.Logical)
	}
	return s, err
}

// Over makes the scan read the table's places of before a change of its layout, if the scan must
// show them, and the table's own places. A position from before any change is one in the table's
// first layout.
func (s *Scanning) Over(old *Table, settled bool) error {
	inSecond := bounded(s.at.partition)
	switch s.left = []*Table{s.table}; {
	case !old.Apart(s.table):
		if s.at.marked && !inSecond {
			return errStart
		}
		return s.begin(old, s.logical.Start)
	case settled && s.at.marked && !inSecond:
		return errStart
	case !settled && !inSecond:
		s.left = []*Table{old, s.table}
	}
	return s.begin(s.left[0], s.logical.Start)
}

// Start returns the logical key of the item after which the client reads on; nil: it begins.
func (s *Scanning) Start() attribute.Item { return s.logical.Start }

// Next makes the read go on with the next physical table. It returns false if there is none.
func (s *Scanning) Next() (bool, error) {
	if s.left = s.left[1:]; len(s.left) == 0 {
		return false, nil
	}
	return true, s.begin(s.left[0], nil)
}

// begin makes requests begin at a position in a physical table.
func (s *Scanning) begin(t *Table, start attribute.Item) (err error) {
	logical := s.logical
	logical.Start = start
	if s.physical, err = t.physicalRead(&logical, s.Index); err != nil {
		return err
	}
	if start != nil && bounded(s.at.partition) {
		s.physical.Start = s.physical.Start.With(PartitionKey, s.at.partition)
	}
	s.physical.Filter, s.physical.Projection, s.physical.Select = nil, nil, selects(t.Logical, &logical, s.Index)
	s.physical.Consistent = s.Index == nil || logical.Consistent
	return nil
}

// Request returns the request to the physical table for the items after a position, or from the
// beginning.
func (s *Scanning) Request(after attribute.Item) api.Request {
	r := s.physical
	if after != nil {
		r.Start = after
	}
	if s.query != nil {
		return &api.Query{Read: r, KeyCondition: s.query.KeyCondition, Backward: s.query.Backward}
	}
	return &api.Scan{Read: r, Segment: s.scan.Segment, Segments: s.scan.Segments}
}

var errStart = exception.Invalid("The provided starting key is invalid")

// Position returns the position after a physical item.
func (s *Scanning) Position(physical attribute.Item) (attribute.Item, error) {
	key, _, err := s.Entry(physical)
	if err != nil {
		return nil, err
	}
	pk, _ := physical.Get(PartitionKey)
	return mark(key, pk, s.Began), nil
}

// Show adds an item to an answer, and returns its size.
func (s *Scanning) Show(out *api.ItemsResponse, item attribute.Item) int {
	item = visibleItem(item)
	out.ScannedCount++
	size := item.Size()
	if !s.asked.Filter.Match(item) {
		return size
	}
	out.Count++
	switch {
	case s.asked.Select == api.SelectCount:
	case s.asked.Projection != nil:
		out.Items = append(out.Items, s.asked.Projection.Apply(item).Encode())
	default:
		out.Items = append(out.Items, item.Encode())
	}
	return size
}

// Answer returns the read's empty answer.
func (s *Scanning) Answer() *api.ItemsResponse {
	out := &api.ItemsResponse{CountOnly: s.asked.Select == api.SelectCount}
	if !out.CountOnly {
		out.Items = []attribute.Encoded{}
	}
	return out
}

// Read returns what the client reads.
func (s *Scanning) Read() *api.Read { return s.asked }

// Entry returns the key of an item that was read, or of an entry of the index, and the item's shard.
// The key has the table's and the index's key attributes.
func (s *Scanning) Entry(physical attribute.Item) (key attribute.Item, shard int, err error) {
	if key, shard, err = s.left[0].Locate(physical); err != nil || s.Index == nil {
		return key, shard, err
	}
	for _, name := range s.Index.Key.Names(nil) {
		if v, ok := physical.Get(name); ok {
			key = key.With(name, v)
		}
	}
	return key, shard, nil
}

// HasEntry reports whether an item, or its stub, has an entry in an index with the index's key
// attributes of key.
func HasEntry(ix *schema.Index, item, key attribute.Item) bool {
	for _, name := range ix.Key.Names(nil) {
		has, ok := item.Get(name)
		if want, _ := key.Get(name); !ok || !has.Equal(want) {
			return false
		}
	}
	return true
}

// InStoresOrder reports whether a Query of an index reads one partition of it in the store's order,
// and does not merge shards.
func (t *Table) InStoresOrder(ix *schema.Index) bool {
	return !isLocal(t.Logical, ix) && t.indexes.sharded(ix.Name) == nil
}
