// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"context"
	"slices"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// query answers Query and Scan.
func (c *Cache) query(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	r := c.reader()
	defer c.release(r)
	read, ok := r.read(operation, body)
	a := &r.asked
	if !ok || read.Consistent || !a.request(c.fence, &r.sorter, kindQuery, principal.Of(ctx).ID, operation, body) {
		return c.store.Do(ctx, operation, body, dst)
	}
	a.table = c.fence.Table(api.TableName(read.Table))
	defined := c.fence.Definition(a.table)
	if c.options.QueryTTL > 0 {
		e, ok := c.entries.GetIfPresent(a.hash)
		if ok && bytes.Equal(e.key, a.key) && e.at == defined.Count && c.options.Now().UnixNano() < e.variants[0].expires {
			c.queryHits.Add(1)
			return append(dst, e.variants[0].text...), nil
		}
		c.queryMisses.Add(1)
	}
	got, err := c.share(ctx, operation, body, dst, a.hash, nil, a.key, func() cachefence.View { return c.fence.Touched(a.table) })
	if err != nil {
		return dst, err
	}
	if got.joined && read.Capacity != api.CapacityNone {
		return appendFree(dst, got.answer), nil
	}
	if got.joined {
		return append(dst, got.answer...), nil
	}
	if c.options.QueryTTL > 0 && defined.Holds(c.fence.Definition(a.table)) {
		e := &entry{key: bytes.Clone(a.key), at: defined.Count}
		e.variants = []variant{{text: appendFree(make([]byte, 0, len(got.answer)), got.answer), expires: c.life(c.options.QueryTTL)}}
		c.entries.Set(a.hash, e)
	}
	return got.out, nil
}

// read decodes a Query or Scan.
func (r *reader) read(operation string, body []byte) (*api.Read, bool) {
	if operation == "Query" {
		q := new(api.Query)
		return &q.Read, q.Decode(&r.decoder, body) == nil
	}
	q := new(api.Scan)
	return &q.Read, q.Decode(&r.decoder, body) == nil
}

// request sets a to a whole request. It returns false if the body is not a document.
func (a *asked) request(f *counts, s *sorter, kind byte, who, operation string, body []byte) bool {
	a.key = appendText(appendText(a.key[:0], who), operation)
	var ok bool
	a.key, ok = s.appendCanonical(a.key, body)
	a.hash = f.Hash(kind, a.key)
	a.variant, a.table = a.variant[:0], nil
	return ok
}

// appendFree appends an answer with the capacity of a request for which the store was not asked.
func appendFree(dst, answer []byte) []byte {
	var r jsontext.Reader
	r.Reset(answer)
	if r.Peek() != jsontext.Object {
		return append(dst, answer...)
	}
	from := 0
	for r.Object(); r.Next(); {
		if r.Name() != "ConsumedCapacity" {
			r.Skip()
			continue
		}
		dst = append(dst, answer[from:r.Offset()]...)
		dst = appendZeros(dst, &r)
		from = r.Offset()
	}
	return append(dst, answer[from:]...)
}

// appendZeros appends the value at which r stands, with its numbers replaced by 0.
func appendZeros(dst []byte, r *jsontext.Reader) []byte {
	first := true
	comma := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
	}
	switch r.Peek() {
	case jsontext.Number:
		r.Number()
		return append(dst, "0.0"...)
	case jsontext.Object:
		dst = append(dst, '{')
		for r.Object(); r.Next(); {
			comma()
			dst = append(jsontext.AppendString(dst, r.Name()), ':')
			dst = appendZeros(dst, r)
		}
		return append(dst, '}')
	case jsontext.Array:
		dst = append(dst, '[')
		for r.Array(); r.Next(); {
			comma()
			dst = appendZeros(dst, r)
		}
		return append(dst, ']')
	}
	return append(dst, r.Raw()...)
}

// sorter writes documents in a canonical form: without white space, and with the members of objects
// in the order of their names.
type sorter struct {
	members []member
	room    []byte
}

// member is the position of an object's member in the written text.
type member struct{ name, end, start int } // start to name: the name

func (s *sorter) cap() int { return cap(s.room) + 24*cap(s.members) }

// appendCanonical appends the canonical form of a document. It returns false if the text is not a
// document.
func (s *sorter) appendCanonical(dst, document []byte) ([]byte, bool) {
	var r jsontext.Reader
	r.Reset(document)
	s.members = s.members[:0]
	dst = s.appendValue(dst, &r)
	return dst, r.End() == nil
}

func (s *sorter) appendValue(dst []byte, r *jsontext.Reader) []byte {
	switch r.Peek() {
	case jsontext.String:
		return jsontext.AppendString(dst, r.Text())
	case jsontext.Array:
		dst = append(dst, '[')
		for r.Array(); r.Next(); {
			dst = append(s.appendValue(dst, r), ',')
		}
		return append(dst, ']')
	case jsontext.Object:
		return s.appendObject(dst, r)
	}
	return append(dst, r.Raw()...)
}

func (s *sorter) appendObject(dst []byte, r *jsontext.Reader) []byte {
	dst = append(dst, '{')
	begin, first := len(dst), len(s.members)
	for r.Object(); r.Next(); {
		m := member{start: len(dst)}
		dst = jsontext.AppendString(dst, r.Name())
		m.name = len(dst)
		dst = s.appendValue(append(dst, ':'), r)
		dst = append(dst, ',')
		m.end = len(dst)
		s.members = append(s.members, m)
	}
	of := s.members[first:]
	byName := func(a, b member) int { return bytes.Compare(dst[a.start:a.name], dst[b.start:b.name]) }
	if !slices.IsSortedFunc(of, byName) {
		slices.SortStableFunc(of, byName) // of several members with one name, the last counts
		s.room = s.room[:0]
		for _, m := range of {
			s.room = append(s.room, dst[m.start:m.end]...)
		}
		dst = append(dst[:begin], s.room...)
	}
	s.members = s.members[:first]
	return append(dst, '}')
}
