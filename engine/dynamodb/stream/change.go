// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// Change is the record of what a write does to an item, for a stream.
type Change struct {
	to    *Stream
	value []byte
}

// The value of a change is a version, flags, the time in milliseconds since 1970 [8], the size as
// AWS counts it, the lengths of the key and of the new image (uvarints), then the key, the new
// image and the old image as canonical DynamoDB JSON. An image is empty if the view type of the
// stream leaves it out.
const changeVersion = 1

// Flags of a change: the event, and whether the service itself made it.
const (
	changeInsert  = 0
	changeModify  = 1
	changeRemove  = 2
	changeEvents  = 3
	changeService = 4
)

// Change returns the change that a write makes to an item of a table with this key, and whether the
// item differs afterwards. before and after are nil if there is no item. service says that DynamoDB
// itself writes, to remove an expired item.
func (st *Stream) Change(k schema.Key, before, after attribute.Item, service bool, now time.Time) (c Change, differs bool) {
	flags := byte(changeModify)
	item := after
	switch {
	case before == nil && after == nil:
		return c, false
	case before == nil:
		flags = changeInsert
	case after == nil:
		flags, item = changeRemove, before
	case before.Equal(after):
		return c, false
	}
	if service {
		flags |= changeService
	}
	keys := item.Only(k.Names(nil)...)
	size := keys.Size()
	var now8 [8]byte
	binary.BigEndian.PutUint64(now8[:], uint64(now.UnixMilli()))
	var image, was []byte
	view := st.record.Load().View
	if (view == "NEW_IMAGE" || view == "NEW_AND_OLD_IMAGES") && after != nil {
		image = after.Encode()
		size += after.Size()
	}
	if (view == "OLD_IMAGE" || view == "NEW_AND_OLD_IMAGES") && before != nil {
		was = before.Encode()
		size += before.Size()
	}
	value := append([]byte{changeVersion, flags}, now8[:]...)
	value = binary.AppendUvarint(value, uint64(size))
	text := keys.Encode()
	value = binary.AppendUvarint(value, uint64(len(text)))
	value = binary.AppendUvarint(value, uint64(len(image)))
	value = append(append(append(value, text...), image...), was...)
	return Change{st, value}, true
}

// parseChange parses a change. The record shares the value's memory.
func parseChange(value []byte) (r api.StreamRecord, err error) {
	corrupt := fmt.Errorf("%w: a stream's change", storage.ErrCorrupt)
	if len(value) < 10 || value[0] != changeVersion {
		return r, corrupt
	}
	flags, rest := value[1], value[10:]
	switch flags & changeEvents {
	case changeInsert:
		r.Event = api.EventInsert
	case changeModify:
		r.Event = api.EventModify
	case changeRemove:
		r.Event = api.EventRemove
	default:
		return r, corrupt
	}
	r.Service = flags&changeService != 0
	r.At = time.UnixMilli(int64(binary.BigEndian.Uint64(value[2:10])))
	var n [3]uint64
	for i := range n {
		v, k := binary.Uvarint(rest)
		if k <= 0 || v > 1<<30 {
			return r, corrupt
		}
		n[i], rest = v, rest[k:]
	}
	if n[1]+n[2] > uint64(len(rest)) {
		return r, corrupt
	}
	r.Size = int(n[0])
	r.Keys = rest[:n[1]]
	if image := rest[n[1] : n[1]+n[2]]; len(image) > 0 {
		r.New = image
	}
	if was := rest[n[1]+n[2]:]; len(was) > 0 {
		r.Old = was
	}
	return r, nil
}

// Flow adds n to the number of visible writes that are not yet durable, for the streams of these
// changes.
func Flow(changes []Change, n int64) {
	for i := range changes {
		changes[i].to.unsynced.Add(n)
	}
}
