// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// Streams hold changes of the physical tables. The plan shows them to clients as changes of the
// logical tables.

// Deleted returns the parts of a deleted table that are needed to read its streams.
func Deleted(name string, hash schema.Definition, layout *shard.Layout, affix *shard.Affix) *Table {
	return &Table{
		Logical: &schema.Table{Name: name},
		stored:  stored{Physical: name, placement: place(name, keys{hash: hash}, layout, affix)},
	}
}

// hiddenName occurs in each text with a hidden attribute.
var hiddenName = []byte(`"` + HiddenPrefix)

// IsHiddenKey reports whether a key schema is that of a physical table.
func IsHiddenKey(k schema.Key) bool { return slices.Contains(k.Hash, PartitionKey) }

// StreamRecords returns changes as the client sees them. It leaves out changes that affect only
// hidden attributes, and those that only move an item. The table is nil for changes of plain tables. ok is false if the changes
// belong to a sharded table that no longer exists.
func (t *Table) StreamRecords(records []api.StreamRecord) (out []api.StreamRecord, ok bool, err error) {
	out = make([]api.StreamRecord, 0, len(records))
	var d attribute.Decoder
	byHand := t != nil && t.adopted != nil
	for _, r := range records {
		if !byHand && !bytes.Contains(r.Keys, hiddenName) && !bytes.Contains(r.New, hiddenName) && !bytes.Contains(r.Old, hiddenName) {
			out = append(out, r)
			continue
		}
		if isMove(&r) {
			continue
		}
		keys, err := d.Item(r.Keys)
		if err != nil {
			return nil, true, fmt.Errorf("change %s in a stream: %w", r.Sequence, err)
		}
		if keys.Has(PartitionKey) && (t == nil || t.Layout == nil) {
			return nil, false, nil
		}
		shown, err := t.streamRecord(&d, keys, r)
		if err != nil {
			return nil, true, fmt.Errorf("change %s in a stream: %w", r.Sequence, err)
		}
		if r.Event == api.EventModify && shown.New != nil && bytes.Equal(shown.New, shown.Old) {
			continue
		}
		out = append(out, shown)
	}
	return out, true, nil
}

// streamRecord returns one change without its hidden attributes, with its size after that.
func (t *Table) streamRecord(d *attribute.Decoder, keys attribute.Item, r api.StreamRecord) (api.StreamRecord, error) {
	if t != nil && t.adopted != nil || keys.Has(PartitionKey) {
		var err error
		if keys, err = t.logicalKey(keys); err != nil {
			return r, err
		}
		r.Keys = keys.Encode()
	}
	r.Size = keys.Size()
	for _, image := range []*attribute.Encoded{&r.New, &r.Old} {
		if *image == nil {
			continue
		}
		if t == nil {
			*image = Strip(*image)
		} else {
			*image = t.showCopy(*image)
		}
		item, err := d.Item(*image)
		if err != nil {
			return r, err
		}
		r.Size += item.Size()
	}
	return r, nil
}
