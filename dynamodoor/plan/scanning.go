// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Scanning is a Scan of a table whose layout was, or is being, changed. The caller knows which
// items to show, so filter, projection and count are applied after that. Positions are physical
// keys with the generation in which the Scan began.
type Scanning struct {
	Request *api.Scan // of the physical table
	Began   int64     // 0: the position does not contain it

	table *Table
	asked *api.Scan
}

// Scanning returns the plan of a Scan in a generation. A position from before any change is a
// position in the table's first layout.
func (t *Table) Scanning(q *api.Scan, generation int64, first *Table) (*Scanning, error) {
	s := &Scanning{table: t, asked: q, Began: generation}
	logical := *q
	var at attribute.Value
	if q.Start != nil {
		v, marked := q.Start.Get(began)
		pk, _ := q.Start.Get(PartitionKey)
		s.Began = 0
		if marked {
			n, err := strconv.ParseInt(v.Text(), 10, 64)
			if err != nil || v.Kind() != attribute.N || pk.Kind() != attribute.S {
				return nil, errStart
			}
			s.Began, at = n, pk
		}
		logical.Start = visibleItem(q.Start)
	}
	ix, err := logical.Check(t.Logical)
	if err != nil {
		return nil, err
	}
	p := logical
	if p.Read, err = first.physicalRead(&logical.Read, ix); err != nil {
		return nil, err
	}
	if at.Kind() != attribute.Invalid {
		hash, _, err := t.cut(at)
		if asked, _ := q.Start.Get(t.hash.Name); err != nil || !asked.Equal(hash) {
			return nil, errStart
		}
		p.Start = p.Start.With(PartitionKey, at)
	}
	p.Filter, p.Projection, p.Select, p.Consistent = nil, nil, api.SelectDefault, true
	s.Request = &p
	return s, nil
}

var errStart = exception.Invalid("The provided starting key is invalid")

// Position returns the position after a physical item.
func (s *Scanning) Position(physical attribute.Item) (attribute.Item, error) {
	key, _, err := s.table.Locate(physical)
	if err != nil {
		return nil, err
	}
	pk, _ := physical.Get(PartitionKey)
	return key.With(PartitionKey, pk).With(began, attribute.Int(s.Began)), nil
}

// Show adds an item to an answer.
func (s *Scanning) Show(out *api.ItemsResponse, physical attribute.Item) {
	item := visibleItem(physical)
	out.ScannedCount++
	if !s.asked.Filter.Match(item) {
		return
	}
	out.Count++
	switch {
	case s.asked.Select == api.SelectCount:
	case s.asked.Projection != nil:
		out.Items = append(out.Items, s.asked.Projection.Apply(item).Encode())
	default:
		out.Items = append(out.Items, item.Encode())
	}
}

// Answer returns the Scan's empty answer.
func (s *Scanning) Answer() *api.ItemsResponse {
	out := &api.ItemsResponse{CountOnly: s.asked.Select == api.SelectCount}
	if !out.CountOnly {
		out.Items = []attribute.Encoded{}
	}
	return out
}
