// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strconv"
	"unsafe"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// keys are the key attributes of a table, as the client knows them.
type keys struct {
	hash, sort schema.Definition // a plain table may have no sort
}

// Hash returns the definition of the logical partition key.
func (k *keys) Hash() schema.Definition { return k.hash }

// of returns the values of the keys in an item, or in its key.
func (k *keys) of(item attribute.Item) (hash, sort attribute.Value) {
	hash, _ = item.Get(k.hash.Name)
	sort, _ = item.Get(k.sort.Name)
	return hash, sort
}

// key returns the key with these values.
func (k *keys) key(hash, sort attribute.Value) attribute.Item {
	return attribute.NewItem(attribute.Attribute{Name: k.hash.Name, Value: hash}, attribute.Attribute{Name: k.sort.Name, Value: sort})
}

// KeyOf returns the logical key of an item or a key.
func (k *keys) KeyOf(item attribute.Item) attribute.Item { return item.Only(k.hash.Name, k.sort.Name) }

// After returns where a mover's Scan of the table begins at a position; nil: at the first item.
func (k *keys) After(position attribute.Item) attribute.Item {
	if !position.Has(k.sort.Name) {
		return nil
	}
	return position
}

// StreamKey returns the key schema of the changes in the table's stream.
func (k *keys) StreamKey(of schema.Key) schema.Key {
	if !IsHiddenKey(of) {
		return of
	}
	return schema.Key{Hash: []string{k.hash.Name}, Range: of.Range}
}

// valueBytes returns the bytes of a key attribute's value that are hashed.
func valueBytes(v attribute.Value) []byte {
	s := v.Text()
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// address returns the key of an item for a map.
func address(hash, sort attribute.Value) string {
	return strconv.Itoa(len(hash.Text())) + ":" + hash.Text() + sort.Text()
}
