// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// metrics describes the item collection of a partition key: approximately how many bytes it has in
// the table and its local indexes. Bytes that are not on disk yet are not counted. They are far
// fewer than the gigabyte to which the answer is rounded.
func metrics(space *storage.Space, sh *shape, item attribute.Item) (*api.ItemCollectionMetrics, error) {
	name := sh.Table.HashName()
	v, _ := item.Get(name)
	m := &api.ItemCollectionMetrics{Key: attribute.NewItem(attribute.Attribute{Name: name, Value: v})}
	count := func(index uint16) error {
		lower := appendPartition(sh.prefix(nil, index), []attribute.Value{v})
		n, err := space.Pebble.EstimateDiskUsage(lower, appendAfter(nil, lower))
		if err != nil {
			return fmt.Errorf("size of an item collection: %w", err)
		}
		m.Size += int64(n)
		return nil
	}
	if err := count(indexItems); err != nil {
		return nil, err
	}
	for i := range sh.indexes {
		if sh.indexes[i].local {
			if err := count(sh.indexes[i].id); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// addMetrics adds an item's collection to the metrics of all tables, unless it is there already.
func addMetrics(space *storage.Space, all []api.TableMetrics, name string, sh *shape, item attribute.Item) ([]api.TableMetrics, error) {
	m, err := metrics(space, sh, item)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(t api.TableMetrics) bool { return t.Table == name })
	if i < 0 {
		i, all = len(all), append(all, api.TableMetrics{Table: name})
	}
	t := &all[i]
	if !slices.ContainsFunc(t.Collections, func(o api.ItemCollectionMetrics) bool { return o.Key.Equal(m.Key) }) {
		t.Collections = append(t.Collections, *m)
	}
	return all, nil
}
