// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// What the store answers is shown to the client in its logical form.

// show converts an item of the table into the client's, in its own memory.
func (s *stored) show(item attribute.Encoded) attribute.Encoded {
	if s.adopted == nil {
		return stripInPlace(item)
	}
	item, _ = s.adopted.cutInPlace(item)
	return item
}

// showSorted does what show does. If the item's names are sorted, it reads the item only as far as
// the partition key.
func (s *stored) showSorted(item attribute.Encoded, sorted bool) attribute.Encoded {
	if sorted && s.adopted == nil {
		if rest, _, ok := cutPartition(item); ok {
			return rest
		}
	}
	return s.show(item)
}

// showCopy does what show does, but leaves the item itself unchanged.
func (s *stored) showCopy(item attribute.Encoded) attribute.Encoded {
	if s.adopted == nil {
		return Strip(item)
	}
	return s.show(slices.Clone(item))
}

// visible converts an answer about items of the table into the client's.
func (s *stored) visible(r api.Response) error {
	out, ok := r.(*api.ItemResponse)
	if !ok {
		return exception.New(exception.InternalServerError, "an answer of type %T to an operation on an item", r)
	}
	out.Item, out.Attributes = s.show(out.Item), s.show(out.Attributes)
	s.visibleCapacity(out.Capacity)
	if m := out.Metrics; m != nil {
		key, err := s.logicalKey(m.Key)
		if err != nil {
			return err
		}
		m.Key = key
	}
	return nil
}

func (s *stored) visibleCapacity(c *api.ConsumedCapacity) {
	if c != nil {
		c.Table = s.name
	}
}
