// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/dynamodb/stream"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// table is a table in use.
type table struct {
	// Writers hold mu shared while they apply changes that they computed for one shape. A change of
	// the shape holds it exclusively. So no entry is written for a removed index, and no entry is
	// missing in a new one.
	mu    sync.RWMutex
	shape atomic.Pointer[shape]

	counts counts
}

// shape is all that is known about a table at one moment. It does not change.
type shape struct {
	*record
	space   byte              // the prefix of the store's keys
	indexes []index           // local ones, then global ones
	expiry  string            // the attribute of expiry times; "": none
	model   *throughput.Model // the table's limits; nil: it has none
	stream  *stream.Stream    // the stream for changes; nil: none
	dropped bool
}

// index is a secondary index.
type index struct {
	*schema.Index
	id         uint16
	local      bool
	hash, sort []expression.KeyAttribute
	projected  []string          // nil: all attributes; else keys and others, sorted
	model      *throughput.Model // the limits of a global index
}

// newShape returns the shape that a record describes, without its limits and stream.
func newShape(space byte, r *record) *shape {
	sh := &shape{record: r, space: space}
	add := func(def *schema.Index, local bool) {
		ix := index{Index: def, id: r.Indexes[def.Name], local: local}
		ix.hash, ix.sort = api.KeyAttributes(r.Table, def.Key)
		if def.Projection.Type != schema.ProjectAll {
			names := def.Key.Names(nil)
			names = r.Table.Key.Names(names)
			names = append(names, def.Projection.NonKey...)
			slices.Sort(names)
			ix.projected = slices.Compact(names)
		}
		sh.indexes = append(sh.indexes, ix)
	}
	for i := range r.Table.Local {
		add(&r.Table.Local[i], true)
	}
	for i := range r.Table.Global {
		add(&r.Table.Global[i], false)
	}
	if r.Table.TimeToLive.Enabled {
		sh.expiry = r.Table.TimeToLive.Attribute
	}
	return sh
}

// index returns the index with a name if it can be read; else nil.
func (sh *shape) index(name string) *index {
	for i := range sh.indexes {
		if sh.indexes[i].Name == name {
			return &sh.indexes[i]
		}
	}
	return nil
}

// prefix appends the common beginning of the keys of all entries of an index.
func (sh *shape) prefix(dst []byte, index uint16) []byte {
	return appendPrefix(dst, sh.space, sh.ID, index)
}

// removeIndex adds to a batch the deletion of all entries of an index.
func (sh *shape) removeIndex(b *pebble.Batch, index uint16) error {
	lower := sh.prefix(nil, index)
	return b.DeleteRange(lower, appendAfter(nil, lower), nil)
}

// appendItemKey appends the key of an item. item has the attributes of the table's key.
func (sh *shape) appendItemKey(dst []byte, item attribute.Item) []byte {
	return appendItem(sh.prefix(dst, indexItems), sh.Table.Key, item)
}

// enter lets a writer in. The table keeps the shape that enter returns until leave.
func (t *table) enter() (*shape, error) {
	t.mu.RLock()
	sh := t.shape.Load()
	if sh.dropped {
		t.mu.RUnlock()
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found")
	}
	return sh, nil
}

func (t *table) leave() { t.mu.RUnlock() }
