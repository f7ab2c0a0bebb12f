package items

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// change is a change of an item that is to go to a stream.
type change struct {
	to    *stream
	value []byte
}

// A change's value is a version, flags, the time in milliseconds since 1970 [8], the
// size as AWS counts it, and the lengths of the key and of the new image (uvarints),
// then the key, the new image and the old one as canonical DynamoDB JSON; images
// that are not told are empty.
const changeVersion = 1

// Flags of a change: an event, and whether the service itself is behind it.
const (
	changeInsert  = 0
	changeModify  = 1
	changeRemove  = 2
	changeEvents  = 3
	changeService = 4
)

// changed notes what a write does to an item, if the table has a stream and the
// item is another afterwards.
func (c *Call) changed(sh *shape, before, after attribute.Item, now time.Time) {
	flags := byte(changeModify)
	item := after
	switch {
	case before == nil && after == nil:
		return
	case before == nil:
		flags = changeInsert
	case after == nil:
		flags, item = changeRemove, before
	case before.Equal(after):
		return
	}
	if c.service {
		flags |= changeService
	}
	keys := item.Only(sh.Table.Key.Names(nil)...)
	size := keys.Size()
	var now8 [8]byte
	binary.BigEndian.PutUint64(now8[:], uint64(now.UnixMilli()))
	var image, was []byte
	view := sh.stream.record.Load().View
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
	c.changes = append(c.changes, change{sh.stream, value})
}

// parseChange reads a change; what it has shares the value's memory.
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

// apply makes a batch visible, with the changes that the call has noted. (With locks
// of several streams in ascending order of their ids.)
func (s *Store) apply(c *Call, b *pebble.Batch) error {
	if len(c.changes) == 0 {
		return s.space.Apply(b)
	}
	var to []*stream
	for i := range c.changes {
		if !slices.Contains(to, c.changes[i].to) {
			to = append(to, c.changes[i].to)
		}
	}
	slices.SortFunc(to, func(a, b *stream) int { return int(int64(a.record.Load().ID) - int64(b.record.Load().ID)) })
	for _, st := range to {
		st.mu.Lock()
		defer st.mu.Unlock()
	}
	given := make(map[*stream]uint64, len(to))
	for _, ch := range c.changes {
		given[ch.to]++
		c.key = s.appendChangeKey(c.key[:0], ch.to.record.Load().ID, ch.to.last+given[ch.to])
		if err := b.Set(c.key, ch.value, nil); err != nil {
			return fmt.Errorf("a stream's change: %w", err)
		}
	}
	if err := s.space.Apply(b); err != nil {
		return err
	}
	for st, n := range given {
		st.last += n
	}
	return nil
}

// flow counts, for the streams of a call's changes, writes that are not yet durable.
func (c *Call) flow(n int64) {
	for i := range c.changes {
		c.changes[i].to.unsynced.Add(n)
	}
}
