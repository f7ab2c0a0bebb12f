// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"encoding/json"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// record is the description of a table as it is stored.
type record struct {
	Table *schema.Table
	ID    uint32

	// Indexes holds the ids of the indexes by name. LastIndex is the last id that was given.
	Indexes   map[string]uint16
	LastIndex uint16

	// ExpiryFilling is set while the index of expiry times lacks items that existed when Time to
	// Live was enabled.
	ExpiryFilling bool
}

// encode returns the text that is written, and the record as it will be read. That record has its
// own memory, while a request's record shares the request's.
func (r *record) encode() ([]byte, *record, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, nil, fmt.Errorf("table %s: %w", r.Table.Name, err)
	}
	own, err := decodeRecord(b)
	return b, own, err
}

func decodeRecord(b []byte) (*record, error) {
	r := new(record)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%w: a table's record: %w", storage.ErrCorrupt, err)
	}
	if r.Table == nil || len(r.Table.Key.Hash) != 1 {
		return nil, fmt.Errorf("%w: a table's record without a key", storage.ErrCorrupt)
	}
	return r, nil
}

// clone returns a copy of the record that may be changed. Fields of its table may be replaced, but
// their contents must not be changed.
func (r *record) clone() *record {
	c := *r
	t := *r.Table
	c.Table = &t
	c.Indexes = make(map[string]uint16, len(r.Indexes))
	for name, id := range r.Indexes {
		c.Indexes[name] = id
	}
	return &c
}
