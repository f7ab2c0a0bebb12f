// SPDX-License-Identifier: Apache-2.0

package items

import (
	"encoding/json"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// record is what is kept of a table.
type record struct {
	Table *schema.Table
	ID    uint32

	// Indexes are the ids of the indexes by name, LastIndex the last that was given.
	Indexes   map[string]uint16
	LastIndex uint16

	// ExpiryFilling is set until the items that were there when Time to Live was
	// enabled have their expiry times in the index.
	ExpiryFilling bool
}

// encode returns what is written, and the record as it will be read: with memory of
// its own, which a request's is not.
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

// clone is a record that may be changed; of its table only what is replaced.
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
