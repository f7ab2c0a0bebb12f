// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// The value of an item or index entry is a version, the size as AWS counts it (uvarint), and the
// attributes as canonical DynamoDB JSON. The value of an expiry time is empty.
const valueVersion = 1

func appendValue(dst []byte, item attribute.Item, size int) []byte {
	dst = append(dst, valueVersion)
	dst = binary.AppendUvarint(dst, uint64(size))
	return attribute.AppendItem(dst, item)
}

// parseValue splits a value. text shares the memory of v.
func parseValue(v []byte) (size int, text attribute.Encoded, err error) {
	if len(v) == 0 || v[0] != valueVersion {
		return 0, nil, fmt.Errorf("%w: an item's value", storage.ErrCorrupt)
	}
	n, k := binary.Uvarint(v[1:])
	if k <= 0 || n > 1<<30 {
		return 0, nil, fmt.Errorf("%w: an item's size", storage.ErrCorrupt)
	}
	return int(n), attribute.Encoded(v[1+k:]), nil
}

// stored is an item as it was read.
type stored struct {
	exists bool
	size   int
	text   attribute.Encoded
	item   attribute.Item // nil until decoded
}

// getter reads single items: from the current state of the store, or from a snapshot.
type getter interface {
	Get(key []byte) ([]byte, closer, error)
}

type closer = interface{ Close() error }

type now struct{ db *pebble.DB }

func (n now) Get(key []byte) ([]byte, closer, error) { return n.db.Get(key) }

type moment struct{ snapshot *pebble.Snapshot }

func (m moment) Get(key []byte) ([]byte, closer, error) { return m.snapshot.Get(key) }

// read reads an item into the call's memory.
func (c *Call) read(from getter, key []byte) (st stored, err error) {
	v, cl, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return stored{}, nil
	}
	if err != nil {
		return stored{}, fmt.Errorf("read an item: %w", err)
	}
	size, text, err := parseValue(v)
	if err == nil {
		err = c.roomToKeep(len(text))
	}
	if err == nil {
		st = stored{exists: true, size: size, text: c.keep(text)}
	}
	return st, errors.Join(err, cl.Close())
}

// decode returns the item's attributes; nil if it does not exist.
func (c *Call) decode(st *stored) (attribute.Item, error) {
	if st.item == nil && st.exists {
		if err := c.room(st.text); err != nil {
			return nil, err
		}
		item, err := c.stored.Item(st.text)
		if err != nil {
			return nil, fmt.Errorf("%w: an item's attributes: %w", storage.ErrCorrupt, err)
		}
		st.item = item
	}
	return st.item, nil
}

// get returns a copy of the value of a key, or nil.
func get(space *storage.Space, key []byte) ([]byte, error) {
	v, closer, err := space.Pebble.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %x: %w", key, err)
	}
	v = append([]byte{}, v...)
	return v, closer.Close()
}
