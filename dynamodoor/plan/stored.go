// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// stored says in which form the store has the items of a table, and converts items and keys from
// and into that form.
type stored struct {
	Physical string // the physical table's name
	id       string // the physical table's id
	placement
	indexes indexes
}

// keyNames returns the names of the physical key's attributes.
func (s *stored) keyNames() []string {
	names := []string{s.hash.Name}
	if s.hidesKey() {
		names[0] = PartitionKey
	}
	if s.sort.Name != "" {
		names = append(names, s.sort.Name)
	}
	return names
}

// physicalKey returns the physical key of an item for its logical key. It keeps other attributes of
// key. The physical partition key replaces the logical one.
func (s *stored) physicalKey(key attribute.Item) attribute.Item {
	if s.Layout == nil {
		return key
	}
	return key.Without(s.hash.Name).With(s.keyName(), s.partitionOf(key))
}

// physicalItem returns the item in its stored form.
func (s *stored) physicalItem(item attribute.Item) attribute.Item {
	out := s.indexes.set(&s.keys, item, item)
	if s.Layout != nil {
		out = out.With(s.keyName(), s.partitionOf(item))
	}
	return out
}

// logicalKey returns the logical key for a physical one. It keeps other attributes of key except
// hidden ones.
func (s *stored) logicalKey(key attribute.Item) (attribute.Item, error) {
	v, ok := key.Get(s.keyName())
	key = visibleItem(key)
	if s.Layout == nil {
		return key, nil
	}
	if !ok {
		return nil, exception.New(exception.InternalServerError, "a key of table %s without its partition", s.name)
	}
	hash, _, err := s.cut(v)
	if err != nil {
		return nil, err
	}
	return key.With(s.hash.Name, hash), nil
}

// Locate returns the logical key of a physical item, and its shard.
func (s *stored) Locate(physical attribute.Item) (key attribute.Item, shard int, err error) {
	v, _ := physical.Get(s.keyName())
	sort, _ := physical.Get(s.sort.Name)
	hash, shard, err := s.cut(v)
	return s.key(hash, sort), shard, err
}

// showItem returns a decoded item as the client knows it.
func (s *stored) showItem(item attribute.Item) attribute.Item {
	if s.adopted == nil {
		return visibleItem(item)
	}
	v, ok := item.Get(s.hash.Name)
	if key, _, suffixed := s.adopted.cut(v.Text()); ok && suffixed {
		return item.With(s.hash.Name, attribute.String(key))
	}
	return item
}

// ScanKeys returns the request for the physical keys of a segment of the table.
func (s *stored) ScanKeys(segment, segments int) *api.Scan {
	return s.scanFor(s.keyNames(), segment, segments)
}

// StoredKey returns the physical key of a physical item.
func (s *stored) StoredKey(item attribute.Item) attribute.Item { return item.Only(s.keyNames()...) }

// StoredAs returns the projection on some attributes of a physical item, its key, and whether it is
// a stub.
func (s *stored) StoredAs(names []string) *expression.Projection {
	var paths []expression.Path
	for _, n := range append(append(s.keyNames(), Moved), names...) {
		if !slices.ContainsFunc(paths, func(p expression.Path) bool { return p.Name == n }) {
			paths = append(paths, expression.Top(n))
		}
	}
	return expression.Project(paths...)
}

// scanFor returns a consistent request for some attributes of a segment of the table.
func (s *stored) scanFor(names []string, segment, segments int) *api.Scan {
	paths := make([]expression.Path, len(names))
	for i, n := range names {
		paths[i] = expression.Top(n)
	}
	return &api.Scan{Read: api.Read{Table: s.Physical, Projection: expression.Project(paths...), Consistent: true}, Segment: segment, Segments: segments}
}
