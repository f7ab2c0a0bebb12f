// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// What the store answers is shown to the client in its logical form.

// show converts an item of the table into the client's, in its own memory. The table is nil for an
// item of a plain table, which stays unchanged.
func (t *Table) show(item attribute.Encoded) attribute.Encoded {
	switch {
	case t == nil:
		return item
	case t.adopted == nil:
		return stripInPlace(item)
	}
	item, _ = t.adopted.cutInPlace(item)
	return item
}

// showSorted does what show does. If the item's names are sorted, it reads the item only as far as
// the partition key.
func (t *Table) showSorted(item attribute.Encoded, sorted bool) attribute.Encoded {
	if sorted && t.adopted == nil {
		if rest, _, ok := cutPartition(item); ok {
			return rest
		}
	}
	return t.show(item)
}

// showCopy does what show does, but leaves the item itself unchanged.
func (t *Table) showCopy(item attribute.Encoded) attribute.Encoded {
	if t != nil && t.adopted == nil {
		return Strip(item)
	}
	return t.show(slices.Clone(item))
}

// visible converts an answer about items of the table into the client's.
func (t *Table) visible(r api.Response) error {
	out, ok := r.(*api.ItemResponse)
	if !ok {
		return exception.New(exception.InternalServerError, "an answer of type %T to an operation on an item", r)
	}
	out.Item, out.Attributes = t.show(out.Item), t.show(out.Attributes)
	t.visibleCapacity(out.Capacity)
	if m := out.Metrics; m != nil {
		key, err := t.logicalKey(m.Key)
		if err != nil {
			return err
		}
		m.Key = key
	}
	return nil
}

func (t *Table) visibleCapacity(c *api.ConsumedCapacity) {
	if c != nil {
		c.Table = t.Logical.Name
	}
}
