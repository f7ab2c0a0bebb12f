// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"context"
	"slices"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// part is one key of a BatchGetItem.
type part struct {
	asked asked // empty: the cache neither keeps nor serves the item
	began cachefence.View
	text  []byte // the item; nil: there is none
	known bool   // the cache had the text
	left  bool   // the store has not read it
}

// maxBatch is the largest number of bytes of items that the cache answers, because a store answers
// no more. The store cuts off larger answers.
const maxBatch = 16 << 20

// batchGetItem asks the store only for those items that the cache does not have.
func (c *Cache) batchGetItem(ctx context.Context, body, dst []byte) ([]byte, error) {
	r := c.reader()
	defer c.release(r)
	var q api.BatchGetItem
	if q.Decode(&r.decoder, body) != nil {
		return c.store.Do(ctx, "BatchGetItem", body, dst)
	}
	parts, found, shareable := c.findParts(r, &q, principal.Of(ctx).ID)
	if found == len(parts) {
		return appendBatch(dst, &q, parts, nil, true), nil
	}
	forward, to := body, dst
	if found > 0 {
		r.text = appendRest(r.text[:0], &q, parts)
		forward, to = r.text, nil
	}
	defined := c.definitions(&q)
	got, err := c.askBatch(ctx, r, &q, forward, to, shareable)
	if err != nil {
		return dst, err
	}
	a, ok := r.batchAnswer(got.answer, &q, parts)
	if ok && !got.joined {
		c.keepParts(ctx, &q, parts, defined)
	}
	switch {
	case found == 0 && !got.joined:
		return got.out, nil
	case found == 0 && q.Capacity == api.CapacityNone:
		return append(dst, got.answer...), nil
	case ok:
		return appendBatch(dst, &q, parts, a, got.joined), nil
	}
	return c.store.Do(ctx, "BatchGetItem", body, dst) // an answer of an unknown form
}

// findParts looks for all items. shareable reports whether the request may be shared: all of it is
// eventually consistent.
func (c *Cache) findParts(r *reader, q *api.BatchGetItem, who string) (parts []part, found int, shareable bool) {
	parts, shareable = r.parts[:0], true
	size := 0
	for i := range q.Tables {
		t := &q.Tables[i]
		shareable = shareable && !t.Consistent
		for _, key := range t.Keys {
			parts = nextPart(parts)
			p := &parts[len(parts)-1]
			// The key in an item identifies it.
			if !t.Consistent && !slices.ContainsFunc(key, func(a attribute.Attribute) bool { return !t.Projection.Has(a.Name) }) {
				p.asked.item(c.fence, who, t.Table, key, t.Projection)
				p.text, p.known = c.find(&p.asked)
				if size += len(p.text); p.known {
					found++
				} else {
					g := c.fence.Group(p.asked.hash)
					g.Lock()
					p.began = c.view(&p.asked)
					g.Unlock()
				}
			}
		}
	}
	r.parts = parts
	if size > maxBatch {
		for i := range parts {
			parts[i].text, parts[i].known = nil, false
			parts[i].began = cachefence.View{} // so it is not kept
		}
		found = 0
	}
	c.hits.Add(int64(found))
	for i := range parts {
		if p := &parts[i]; !p.known && p.asked.table != nil {
			c.misses.Add(1)
		}
	}
	return parts, found, shareable
}

// nextPart appends an empty part that reuses the memory of an earlier one.
func nextPart(parts []part) []part {
	if len(parts) == cap(parts) {
		return append(parts, part{})
	}
	parts = parts[:len(parts)+1]
	p := &parts[len(parts)-1]
	*p = part{asked: asked{key: p.asked.key, variant: p.asked.variant}}
	return parts
}

// appendRest appends the request for the unknown items.
func appendRest(dst []byte, q *api.BatchGetItem, parts []part) []byte {
	dst = append(dst, `{"RequestItems":{`...)
	n, first := 0, true
	for i := range q.Tables {
		rest := q.Tables[i]
		rest.Keys = nil
		for _, key := range q.Tables[i].Keys {
			if !parts[n].known {
				rest.Keys = append(rest.Keys, key)
			}
			n++
		}
		if rest.Keys == nil {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsontext.AppendString(dst, rest.Table), ':')
		dst = rest.AppendJSON(dst)
	}
	dst = append(dst, '}')
	switch q.Capacity {
	case api.CapacityTotal:
		dst = append(dst, `,"ReturnConsumedCapacity":"TOTAL"`...)
	case api.CapacityIndexes:
		dst = append(dst, `,"ReturnConsumedCapacity":"INDEXES"`...)
	}
	return append(dst, '}')
}

// definitions returns the views of the tables' definitions.
func (c *Cache) definitions(q *api.BatchGetItem) []cachefence.View {
	views := make([]cachefence.View, len(q.Tables))
	for i := range q.Tables {
		views[i] = c.fence.Definition(c.fence.Table(api.TableName(q.Tables[i].Table)))
	}
	return views
}

// askBatch asks the store for the unknown items.
func (c *Cache) askBatch(ctx context.Context, r *reader, q *api.BatchGetItem, body, dst []byte, shareable bool) (shared, error) {
	a := &r.asked
	if !shareable || !a.request(c.fence, &r.sorter, kindBatch, principal.Of(ctx).ID, "BatchGetItem", body) {
		out, err := c.store.Do(ctx, "BatchGetItem", body, dst)
		if err != nil {
			return shared{}, err
		}
		return shared{out: out, answer: out[len(dst):]}, nil
	}
	return c.share(ctx, "BatchGetItem", body, dst, a.hash, nil, a.key, func() cachefence.View {
		v := cachefence.View{Quiet: true}
		for i := range q.Tables {
			t := c.fence.Touched(c.fence.Table(api.TableName(q.Tables[i].Table)))
			v.Count += t.Count
			v.Quiet = v.Quiet && t.Quiet
			v.Settled = max(v.Settled, t.Settled)
		}
		return v
	})
}

// batchAnswer is the store's answer to a BatchGetItem.
type batchAnswer struct {
	items       [][][]byte // by the request's tables, in the order of the answer
	unprocessed []byte
	capacity    []tableCapacity
}

// tableCapacity is an element of ConsumedCapacity.
type tableCapacity struct {
	table string
	text  []byte
}

// batchAnswer reads the answer and gives the unknown parts their items. It returns false if the
// answer contains anything else.
func (r *reader) batchAnswer(answer []byte, q *api.BatchGetItem, parts []part) (*batchAnswer, bool) {
	a := &batchAnswer{items: make([][][]byte, len(q.Tables)), unprocessed: []byte("{}")}
	var in jsontext.Reader
	in.Reset(answer)
	for in.Object(); in.Next(); {
		switch {
		case in.Name() == "Responses" && in.Peek() == jsontext.Object:
			for in.Object(); in.Next(); {
				i := slices.IndexFunc(q.Tables, func(t api.BatchGetTable) bool { return t.Table == in.Name() })
				if i < 0 || in.Peek() != jsontext.Array {
					return nil, false
				}
				a.items[i] = [][]byte{}
				for in.Array(); in.Next(); {
					a.items[i] = append(a.items[i], in.Raw())
				}
			}
		case in.Name() == "UnprocessedKeys" && in.Peek() == jsontext.Object:
			a.unprocessed = in.Raw()
		case in.Name() == "ConsumedCapacity" && in.Peek() == jsontext.Array:
			for in.Array(); in.Next(); {
				text := in.Raw()
				a.capacity = append(a.capacity, tableCapacity{textOf(text, "TableName"), text})
			}
		default:
			return nil, false
		}
	}
	if in.End() != nil || !r.markLeft(a.unprocessed, q, parts) {
		return nil, false
	}
	n := 0
	for i := range q.Tables {
		of := parts[n : n+len(q.Tables[i].Keys)]
		n += len(of)
		asks := slices.ContainsFunc(of, func(p part) bool { return !p.known && !p.left })
		if asks && a.items[i] == nil || !r.place(a.items[i], &q.Tables[i], of) {
			return nil, false
		}
	}
	return a, true
}

// markLeft notes the keys that the store has not read.
func (r *reader) markLeft(unprocessed []byte, q *api.BatchGetItem, parts []part) bool {
	if string(unprocessed) == "{}" {
		return true
	}
	var left api.BatchGetItem
	request := append(append([]byte(`{"RequestItems":`), unprocessed...), '}')
	if left.Decode(new(api.Decoder), request) != nil {
		return false
	}
	n := 0
	for i := range q.Tables {
		at := slices.IndexFunc(left.Tables, func(t api.BatchGetTable) bool { return t.Table == q.Tables[i].Table })
		for _, key := range q.Tables[i].Keys {
			parts[n].left = at >= 0 && slices.ContainsFunc(left.Tables[at].Keys, key.Equal)
			n++
		}
	}
	return true
}

// place gives each item to the part that asked for its key. It does nothing for a table whose items
// cannot be identified by their keys.
func (r *reader) place(items [][]byte, t *api.BatchGetTable, parts []part) bool {
	next := 0 // stores may answer in the order of the request
	var key []byte
	for _, text := range items {
		if parts[0].asked.table == nil {
			return true
		}
		item, ok := r.keyIn(text, t.Keys[0])
		if !ok {
			return false
		}
		key = appendItemKey(key[:0], api.TableName(t.Table), item)
		placed := false
		for range parts {
			p := &parts[next]
			if next = (next + 1) % len(parts); !p.known && bytes.Equal(p.asked.key, key) {
				p.text, placed = text, true
				break
			}
		}
		if !placed {
			return false
		}
	}
	return true
}

// keyIn returns the key in an item. like has the key's attributes.
func (r *reader) keyIn(text []byte, like attribute.Item) (attribute.Item, bool) {
	only := []byte{'{'}
	var in jsontext.Reader
	in.Reset(text)
	for in.Object(); in.Next(); {
		name := in.Name()
		raw := in.Raw()
		if !like.Has(name) {
			continue
		}
		if len(only) > 1 {
			only = append(only, ',')
		}
		only = append(append(jsontext.AppendString(only, name), ':'), raw...)
	}
	item, err := r.keys.Item(append(only, '}'))
	return item, err == nil && in.End() == nil && len(item) == len(like)
}

// appendBatch composes the answer. a is the store's answer, or nil if the store was not asked.
// joined says that the store's request was another client's, whose capacity does not count here.
func appendBatch(dst []byte, q *api.BatchGetItem, parts []part, a *batchAnswer, joined bool) []byte {
	comma := func() {
		if c := dst[len(dst)-1]; c != '{' && c != '[' {
			dst = append(dst, ',')
		}
	}
	dst = append(dst, `{"Responses":{`...)
	n := 0
	for i := range q.Tables {
		comma()
		dst = append(append(jsontext.AppendString(dst, q.Tables[i].Table), ':'), '[')
		of := parts[n : n+len(q.Tables[i].Keys)]
		n += len(of)
		if of[0].asked.table == nil {
			for _, text := range a.items[i] {
				comma()
				dst = append(dst, text...)
			}
		}
		for k := range of {
			if of[k].text != nil {
				comma()
				dst = append(dst, of[k].text...)
			}
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `},"UnprocessedKeys":`...)
	if a != nil {
		dst = append(dst, a.unprocessed...)
	} else {
		dst = append(dst, '{', '}')
	}
	if q.Capacity != api.CapacityNone {
		dst = append(dst, `,"ConsumedCapacity":[`...)
		for i := range q.Tables {
			comma()
			name := q.Tables[i].Table
			at := -1
			if a != nil && !joined {
				at = slices.IndexFunc(a.capacity, func(t tableCapacity) bool { return t.table == name })
			}
			if at >= 0 {
				dst = append(dst, a.capacity[at].text...)
			} else {
				dst = appendFreeCapacity(dst, name, q.Capacity)
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// textOf returns the text of a member, such as TableName, in a request or a ConsumedCapacity. It
// returns "" if there is none.
func textOf(text []byte, of string) (value string) {
	var r jsontext.Reader
	r.Reset(text)
	if r.Peek() != jsontext.Object {
		return ""
	}
	for r.Object(); r.Next(); {
		if r.Name() == of && r.Peek() == jsontext.String {
			value = r.Text()
		} else {
			r.Skip()
		}
	}
	if r.End() != nil {
		return ""
	}
	return value
}

// keepParts keeps the items that the store has answered.
func (c *Cache) keepParts(ctx context.Context, q *api.BatchGetItem, parts []part, defined []cachefence.View) {
	n := 0
	life := c.life(c.options.TTL)
	for i := range q.Tables {
		bt := &q.Tables[i]
		of := parts[n : n+len(bt.Keys)]
		n += len(of)
		if of[0].asked.table == nil || !slices.ContainsFunc(of, func(p part) bool { return !p.known && !p.left }) {
			continue
		}
		t := c.learn(ctx, bt.Table, bt.Keys[0], defined[i])
		for k := range of {
			if p := &of[k]; !p.known && !p.left {
				c.keep(&p.asked, p.began, p.text, t.expires(p.text, bt.Projection, life, c.options.Now()))
			}
		}
	}
}
