// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// An item collection is all items of a partition key with their entries in local indexes. If a
// table has local indexes, DynamoDB keeps a collection in one partition and so bounds its size.

// collections holds the sizes of the collections that were written to, by the prefix of their
// keys. Each is counted once and then kept up to date.
type collections struct {
	mu    sync.Mutex
	sizes map[string]int64
}

// knownCollections is the number of sizes that are kept. Other collections are counted again.
const knownCollections = 1 << 16

// checkCollection refuses a write that makes a collection too large. A write that makes it
// smaller is always allowed.
func (m *meter) checkCollection(ch *charge) error {
	if len(ch.sh.Table.Local) == 0 || ch.bytes <= 0 {
		return nil
	}
	name := ch.key[:prefixLen+ch.sh.place(nil, ch.key).Collection]
	n := &m.collections
	n.mu.Lock()
	defer n.mu.Unlock()
	size, ok := n.sizes[string(name)]
	if !ok {
		var err error
		if size, err = m.countCollection(ch.sh, name); err != nil {
			return fmt.Errorf("size of an item collection: %w", err)
		}
		if n.sizes == nil || len(n.sizes) >= knownCollections {
			n.sizes = map[string]int64{}
		}
		n.sizes[string(name)] = size
	}
	if size+ch.bytes > m.limits.WithDefaults().CollectionBytes {
		return exception.New(exception.ItemCollectionSizeLimitExceeded, textCollection)
	}
	return nil
}

// growCollection adds the effect of a write to a collection's size, if that is kept.
func (m *meter) growCollection(ch *charge) {
	if len(ch.sh.Table.Local) == 0 {
		return
	}
	name := ch.key[:prefixLen+ch.sh.place(nil, ch.key).Collection]
	n := &m.collections
	n.mu.Lock()
	defer n.mu.Unlock()
	if size, ok := n.sizes[string(name)]; ok {
		n.sizes[string(name)] = size + ch.bytes
	}
}

// countCollection counts the bytes of a collection: one by one, and for large ones
// by an estimate.
func (m *meter) countCollection(sh *shape, name []byte) (int64, error) {
	size, _, err := countRange(m.space, name, appendAfter(nil, name))
	for i := 0; i < len(sh.indexes) && err == nil; i++ {
		if !sh.indexes[i].local {
			continue
		}
		lower := append(sh.prefix(nil, sh.indexes[i].id), name[prefixLen:]...)
		more, _, wrong := countRange(m.space, lower, appendAfter(nil, lower))
		size.Bytes += more.Bytes
		err = wrong
	}
	return size.Bytes, err
}

// bounded returns the options of an iterator over a range.
func bounded(lower, upper []byte) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: lower, UpperBound: upper}
}
