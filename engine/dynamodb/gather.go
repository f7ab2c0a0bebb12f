// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// A Gather reads a page from several partitions with one iterator. It keeps the smallest items that
// it has seen, as many as a page holds. An item that comes after all of them is not in the page, and
// neither is the rest of its partition.
//
// First it reads a portion of each partition, which is somewhat more than the partition's share of
// the page. Then it goes on with the partition whose portion ended first in the order of the answer,
// until the page is complete. All partitions are known up to the place where that partition goes on,
// and the page ends later. So only the last portion of each partition has items that the page does
// not need, however the items are spread.
//
// If the partitions follow each other in the order of the answer, it reads one after the other instead,
// and no item that the page does not need.

// Gathers reports whether the store answers a Gather. If it applies DynamoDB's limits, it does not:
// they are met, and retried, partition by partition.
func (s *Store) Gathers() bool { return s.options.Capacity == nil }

// Gather reads several partitions as one and calls use with the answer, which use may change but
// must not keep.
func (s *Store) Gather(ctx context.Context, q *api.Gather, use func(*api.Gathered) error) error {
	c := NewCall()
	defer c.Release()
	r, err := whenThereIsRoom(ctx, s, c, func() (*api.Gathered, error) { return s.gatherInTurn(ctx, c, q) })
	if err != nil {
		return visible(err)
	}
	return use(r)
}

func (s *Store) gatherInTurn(ctx context.Context, c *Call, q *api.Gather) (*api.Gathered, error) {
	way := s.lanes.pages
	flow := way.FlowOf(ctx)
	if err := way.Enter(ctx, flow); err != nil {
		return nil, err
	}
	defer way.Leave(flow)
	return s.reads.gather(ctx, c, q)
}

// gatherer reads one page from several partitions.
type gatherer struct {
	*reading
	c     *Call
	it    *pebble.Iterator
	parts []part
	order bool // the partitions are in the order of the answer

	low  []byte // where each partition's range begins, after the partition's key
	high []byte // where it ends; nil: with the partition
	rows int    // portion, if there is a limit
	most int    // portion in bytes

	page  heap[gatheredItem] // the last item on top; if the partitions are in order: all items in their order
	bytes int                // of the items in it
	open  heap[*part]        // partitions whose portions have ended

	read       int      // items
	vain       []int    // partitions without items, if they are in order
	start, end []byte   // the keys of a portion
	rooms      [][]byte // memory for items

	items []attribute.Encoded // of the answer
	sizes []int
}

// begin begins a page in the memory of an earlier one.
func (g *gatherer) begin(c *Call, r *reading) *gatherer {
	*g = gatherer{
		reading: r, c: c, parts: g.parts[:0], page: heap[gatheredItem]{g.page.all[:0], g.page.before}, open: heap[*part]{g.open.all[:0], g.open.before},
		start: g.start, end: g.end, rooms: g.rooms, items: g.items[:0], sizes: g.sizes[:0],
	}
	if g.page.before == nil {
		g.page.before = func(a, b *gatheredItem) bool { return g.compare(a.key(), a.part, b.key(), b.part) > 0 }
		g.open.before = func(a, b **part) bool { return g.compare((*a).last, (*a).number, (*b).last, (*b).number) < 0 }
	}
	return g
}

// forget drops the data of the last page, and keeps its memory for the next one.
func (g *gatherer) forget() {
	g.reading, g.c, g.it = nil, nil, nil
	clear(g.page.all) // items are left if the Gather failed
	clear(g.open.all)
	clear(g.parts)
}

// size returns the number of bytes that the memory for items has.
func (g *gatherer) size() int {
	const ofItem = 24 + 8 // bytes in items and sizes
	n := cap(g.items) * ofItem
	for _, room := range g.rooms {
		n += cap(room)
	}
	return n
}

// room returns memory for an item.
func (g *gatherer) room() []byte {
	n := len(g.rooms)
	if n == 0 {
		return nil
	}
	room := g.rooms[n-1]
	g.rooms = g.rooms[:n-1]
	return room[:0]
}

// part is a partition of a Gather.
type part struct {
	number int    // its place among the Gather's partitions
	key    []byte // the beginning of its items' keys
	last   []byte // end of the key of the last item that was read; nil: no item was read
	read   int    // bytes of items
}

// gatheredItem is an item that may be in the page.
type gatheredItem struct {
	memory []byte // the part of its key after the partition, then its text
	sort   int    // length of the first
	size   int
	part   int
}

func (i *gatheredItem) key() []byte             { return i.memory[:i.sort] }
func (i *gatheredItem) text() attribute.Encoded { return i.memory[i.sort:] }

func (rd *reader) gather(ctx context.Context, c *Call, q *api.Gather) (*api.Gathered, error) {
	r, err := rd.begin(&q.Query.Read)
	if err != nil {
		return nil, err
	}
	_, k, err := q.Query.Check(r.sh.Table)
	if err != nil {
		return nil, err
	}
	if q.Query.Index != "" || q.Query.Filter != nil || q.Query.Projection != nil || q.Query.Select == api.SelectCount {
		return nil, errors.New("a Gather reads whole items of a table")
	}
	prefix := r.sh.prefix(nil, indexItems)
	r.backward = q.Query.Backward
	r.lower, r.upper = bounds(prefix, &k)
	r.after()
	g := c.gather.begin(c, r)
	g.order = q.InOrder
	if some := g.divide(prefix, q.Partitions); some {
		if err := rd.readParts(ctx, g, prefix, q.Partitions); err != nil {
			return nil, fmt.Errorf("read table %s: %w", r.Table, err)
		}
	}
	return g.answer(), nil
}

// divide makes the partitions and the sizes of portions. It returns false if the range is empty.
func (g *gatherer) divide(prefix []byte, partitions []attribute.Value) bool {
	n := len(partitions)
	if n == 0 || bytes.Compare(g.lower, g.upper) >= 0 {
		return false
	}
	known := partitions
	if g.order {
		known = known[:1] // a page seldom needs all
	}
	for _, v := range known {
		g.part(prefix, v)
	}
	first := g.parts[0].key
	var within bool
	if g.low, within = bytes.CutPrefix(g.lower, first); !within {
		return false // the range begins after the partition
	}
	if g.high, within = bytes.CutPrefix(g.upper, first); !within {
		g.high = nil
	}
	share := float64(g.Limit) / float64(n)
	g.rows = int(math.Ceil(share+math.Sqrt(share))) + 1
	g.most = pageSize / 2 * 3 / n
	return true
}

// part adds a partition.
func (g *gatherer) part(prefix []byte, v attribute.Value) {
	g.start = append(g.start[:0], prefix...)
	g.start = appendHash(g.start, v)
	g.start = attribute.AppendKey(g.start, v)
	g.parts = append(g.parts, part{number: len(g.parts), key: g.c.keep(g.start)})
}

// compare orders items by the part of the key behind the partition, then by partition.
func (g *gatherer) compare(a []byte, partA int, b []byte, partB int) int {
	c := bytes.Compare(a, b)
	if g.backward {
		c = -c
	}
	if c == 0 {
		c = partA - partB
	}
	return c
}

func (rd *reader) readParts(ctx context.Context, g *gatherer, prefix []byte, partitions []attribute.Value) (err error) {
	g.it, err = rd.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: appendAfter(nil, prefix)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.it.Close()) }()
	if g.order {
		return g.inOrder(ctx, prefix, partitions)
	}
	for i := range g.parts {
		if i%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := g.portion(ctx, &g.parts[i]); err != nil {
			return err
		}
	}
	for i := 1; len(g.open.all) > 0; i++ {
		if i%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := g.open.pop()
		if g.beyond(p.last, p.number) {
			return nil
		}
		if err := g.portion(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// inOrder reads one partition after the other until the page is complete.
func (g *gatherer) inOrder(ctx context.Context, prefix []byte, partitions []attribute.Value) error {
	for i, v := range partitions {
		if i%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if i > 0 {
			g.part(prefix, v)
		}
		p := &g.parts[i]
		for ok := g.seek(p); ok; ok = g.advance() {
			size, err := g.keep(nil, i)
			if err != nil {
				return err
			}
			if p.read += size; g.complete() {
				return nil
			}
			if g.read%lookEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err := g.it.Error(); err != nil {
			return err
		}
		if p.read == 0 {
			g.vain = append(g.vain, i)
		}
	}
	return nil
}

// portion reads the next portion of a partition.
func (g *gatherer) portion(ctx context.Context, p *part) error {
	rows, bytes := 0, 0
	for ok := g.seek(p); ok; ok = g.advance() {
		key := g.it.Key()[len(p.key):]
		if g.beyond(key, p.number) {
			return nil
		}
		size, err := g.take(key, p.number)
		if err != nil {
			return err
		}
		p.read += size
		bytes += size
		if rows++; g.Limit > 0 && rows >= g.rows || bytes >= g.most {
			p.last = g.c.keep(key)
			g.open.push(p)
			return nil
		}
		if rows%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return g.it.Error()
}

// seek moves the iterator to the next item of a partition. It returns false if there is none.
func (g *gatherer) seek(p *part) bool {
	g.start = append(append(g.start[:0], p.key...), g.low...)
	if g.high != nil {
		g.end = append(append(g.end[:0], p.key...), g.high...)
	} else {
		g.end = appendAfter(g.end[:0], p.key)
	}
	if g.backward {
		if p.last != nil {
			g.end = append(append(g.end[:0], p.key...), p.last...)
		}
		return g.within(g.it.SeekLTWithLimit(g.end, g.start))
	}
	if p.last != nil {
		g.start = append(append(append(g.start[:0], p.key...), p.last...), 0)
	}
	return g.within(g.it.SeekGEWithLimit(g.start, g.end))
}

// advance moves the iterator on within the bounds of the last seek.
func (g *gatherer) advance() bool {
	if g.backward {
		return g.within(g.it.PrevWithLimit(g.start))
	}
	return g.within(g.it.NextWithLimit(g.end))
}

// within reports whether the iterator is at an item within the bounds.
func (g *gatherer) within(state pebble.IterValidityState) bool {
	switch {
	case state != pebble.IterValid:
		return false
	case g.backward:
		return bytes.Compare(g.it.Key(), g.start) >= 0
	}
	return bytes.Compare(g.it.Key(), g.end) < 0
}

// beyond reports whether an item with this key, or any after it, cannot be in the page.
func (g *gatherer) beyond(key []byte, part int) bool {
	if !g.complete() {
		return false
	}
	last := g.page.top()
	return g.compare(key, part, last.key(), last.part) > 0
}

// complete reports whether the page has as many items as a page may have.
func (g *gatherer) complete() bool {
	return g.Limit > 0 && len(g.page.all) >= g.Limit || g.bytes >= pageSize
}

// take adds the item at the iterator to the page, and removes those from its end for which the page
// then has no room. It returns the size of the item.
func (g *gatherer) take(key []byte, part int) (int, error) {
	size, err := g.keep(key, part)
	if err != nil {
		return 0, err
	}
	g.page.raise()
	for g.Limit > 0 && len(g.page.all) > g.Limit || g.bytes-g.page.top().size >= pageSize {
		gone := g.page.pop()
		g.bytes -= gone.size
		g.rooms = append(g.rooms, gone.memory)
	}
	return size, nil
}

// keep adds the item at the iterator behind the page's items, and returns its size. key is for compare.
func (g *gatherer) keep(key []byte, part int) (int, error) {
	value, err := g.it.ValueAndErr()
	if err != nil {
		return 0, err
	}
	size, text, err := parseValue(value)
	if err != nil {
		return 0, err
	}
	g.read++
	memory := g.room()
	if n := len(key) + len(text); n > cap(memory) {
		if err := g.c.roomToKeep(n - cap(memory)); err != nil {
			return 0, err
		}
		memory = make([]byte, 0, n)
	}
	memory = append(append(memory, key...), text...)
	g.page.all = append(g.page.all, gatheredItem{memory: memory, sort: len(key), size: size, part: part})
	g.bytes += size
	return size, nil
}

// answer returns the page.
func (g *gatherer) answer() *api.Gathered {
	n := len(g.page.all)
	g.items, g.sizes = slices.Grow(g.items, n)[:n], slices.Grow(g.sizes, n)[:n]
	out := &api.Gathered{Items: g.items, Sizes: g.sizes, More: g.complete(), Read: g.read, Vain: g.vain}
	for i := n - 1; i >= 0; i-- {
		var item gatheredItem
		if g.order {
			item = g.page.all[i]
		} else {
			item = g.page.pop()
		}
		out.Items[i], out.Sizes[i] = item.text(), item.size
		g.rooms = append(g.rooms, item.memory)
	}
	if g.Capacity != api.CapacityNone {
		var units api.Units
		for i := range g.parts {
			units += api.ReadUnits(g.parts[i].read, g.Consistent)
		}
		out.Capacity = readCapacity(g.Table, g.Capacity, units)
	}
	return out
}
