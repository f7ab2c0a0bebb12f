// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// pageSize is the number of bytes of items that a page reads. The page ends with the item that
// reaches this size. DynamoDB: 1 MB, before the filter.
const pageSize = 1 << 20

// lookEvery is the number of items after which a page checks whether anybody still waits for it.
const lookEvery = 16

// reader carries out reads of items.
type reader struct {
	*base
	lag *lag // nil: indexes are up to date
}

// fewItems is the largest number of items for which a page makes room before it reads them.
const fewItems = 16

// reading is a prepared Query or Scan.
type reading struct {
	*api.Read
	sh       *shape
	ix       *index // nil: the table itself
	lower    []byte
	upper    []byte
	backward bool
	one      bool // there is at most one item
}

// begin resolves the table that a Query or Scan reads.
func (rd *reader) begin(q *api.Read) (*reading, error) {
	t, err := rd.tables.forItems(q.Table)
	if err != nil {
		return nil, err
	}
	return &reading{Read: q, sh: t.shape.Load()}, nil
}

// from makes the read use an index, if one is given.
func (r *reading) from(ix *schema.Index) {
	if ix != nil {
		r.ix = r.sh.index(ix.Name)
	}
}

// index returns the id of the index that is read.
func (r *reading) index() uint16 {
	if r.ix == nil {
		return indexItems
	}
	return r.ix.id
}

// after limits the read to what comes after the ExclusiveStartKey.
func (r *reading) after() {
	if r.Start == nil {
		return
	}
	key := r.sh.prefix(nil, r.index())
	if r.ix == nil {
		key = appendItem(key, r.sh.Table.Key, r.Start)
	} else {
		key, _ = appendEntry(key, r.sh.Table.Key, r.ix, r.Start) // the types have been checked
	}
	if r.backward {
		if bytes.Compare(key, r.upper) < 0 {
			r.upper = key
		}
		return
	}
	if key = append(key, 0); bytes.Compare(key, r.lower) > 0 {
		r.lower = key
	}
}

// fetches reports whether items must be read from the table itself, because the index lacks some of
// the wanted attributes. Only local indexes allow that.
func (r *reading) fetches() bool {
	if r.ix == nil || !r.ix.local || r.ix.projected == nil {
		return false
	}
	if r.Projection == nil {
		return r.Select == api.SelectAll
	}
	return slices.ContainsFunc(r.Projection.Paths(), func(p expression.Path) bool {
		return !slices.Contains(r.ix.projected, p.Name)
	})
}

// pager reads one page.
type pager struct {
	*reading
	c       *Call
	from    getter // the source of fetched items; nil: the page fetches none
	out     *api.ItemsResponse
	size    int
	fetched api.Units
	whole   int    // bytes of the items that were fetched for entries of a local index
	first   []byte // the first entry that was read, if there are limits
	last    []byte
}

// page reads a page and answers it.
func (rd *reader) page(ctx context.Context, c *Call, r *reading) (api.Response, error) {
	r.after()
	p := &pager{reading: r, c: c, out: &api.ItemsResponse{CountOnly: r.Select == api.SelectCount, Sorted: true}}
	if !p.out.CountOnly {
		p.out.Items = make([]attribute.Encoded, 0, min(r.Limit, fewItems))
	}
	if bytes.Compare(r.lower, r.upper) < 0 {
		if err := rd.readPage(ctx, p); err != nil {
			return nil, fmt.Errorf("read table %s: %w", r.Table, err)
		}
	}
	if model := r.sh.modelOf(r.ix); model != nil && p.first != nil {
		units := (api.ReadUnits(p.size, r.Consistent) + p.fetched).Float()
		model.SpendRange(throughput.Read, r.sh.place(r.ix, p.first), r.sh.place(r.ix, p.last), units, rd.clock())
	}
	if r.Capacity != api.CapacityNone {
		p.out.Capacity = p.consumed()
	}
	return p.out, nil
}

func (rd *reader) readPage(ctx context.Context, p *pager) (err error) {
	o := &pebble.IterOptions{LowerBound: p.lower, UpperBound: p.upper}
	var it *pebble.Iterator
	if p.fetches() {
		snapshot := rd.space.Pebble.NewSnapshot()
		defer func() { err = errors.Join(err, snapshot.Close()) }()
		p.from = moment{snapshot}
		it, err = snapshot.NewIter(o)
	} else if rd.lag != nil && p.ix != nil && !p.ix.local {
		v := rd.lag.use()
		defer rd.lag.release(v)
		it, err = v.snapshot.NewIter(o)
	} else {
		it, err = rd.space.Pebble.NewIter(o)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	advance := it.Next
	ok := false
	if p.backward {
		ok, advance = it.Last(), it.Prev
	} else {
		ok = it.First()
	}
	model := p.sh.modelOf(p.ix)
	if model != nil {
		p.first = bytes.Clone(p.lower)
		if ok {
			p.first = bytes.Clone(it.Key())
		}
		p.last = bytes.Clone(p.first)
		if r := model.Admit(throughput.Read, p.sh.place(p.ix, p.first), rd.clock()); r != 0 {
			return throttled(p.sh, p.ix, throughput.Read, r)
		}
	}
	for ; ok; ok = advance() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		size, text, err := parseValue(value)
		if err != nil {
			return err
		}
		p.size += size
		p.out.ScannedCount++
		if model != nil {
			p.last = append(p.last[:0], it.Key()...)
		}
		if err := p.take(text); err != nil {
			return err
		}
		if p.one {
			return nil
		}
		if p.out.ScannedCount == p.Limit || max(p.size, p.whole) >= pageSize {
			return p.end(text)
		}
		if p.out.ScannedCount%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return it.Error()
}

// take adds an entry to the answer, if the filter accepts it.
func (p *pager) take(text attribute.Encoded) error {
	if p.Filter == nil && p.Projection == nil && p.from == nil {
		p.out.Count++
		if p.out.CountOnly {
			return nil
		}
		return p.keep(text)
	}
	defer p.c.dropDecoded()
	st := stored{exists: true, text: text}
	item, err := p.c.decode(&st)
	if err != nil {
		return err
	}
	if p.from != nil {
		if st, err = p.c.find(p.from, p.sh, item); err != nil {
			return err
		}
		p.fetched += api.ReadUnits(st.size, p.Consistent)
		p.whole += st.size
		if item, err = p.c.decode(&st); err != nil {
			return err
		}
	}
	if !p.Filter.Match(item) {
		return nil
	}
	p.out.Count++
	switch {
	case p.out.CountOnly:
	case p.Projection != nil:
		p.c.value = attribute.AppendItem(p.c.value[:0], p.Projection.Apply(item))
		return p.keep(p.c.value)
	default:
		return p.keep(st.text)
	}
	return nil
}

// keep adds an item to the answer.
func (p *pager) keep(text attribute.Encoded) error {
	if err := p.c.roomToKeep(len(text)); err != nil {
		return err
	}
	p.out.Items = append(p.out.Items, p.c.keep(text))
	return nil
}

// end sets the LastEvaluatedKey: the keys of the table and of the index in the last entry.
func (p *pager) end(text attribute.Encoded) error {
	names := p.sh.Table.Key.Names(nil)
	if p.ix != nil {
		names = p.ix.Key.Names(names)
	}
	var err error
	if p.out.LastKey, err = p.c.stored.Some(p.c.keep(text), names...); err != nil {
		return fmt.Errorf("%w: an item's attributes: %w", storage.ErrCorrupt, err)
	}
	return nil
}

// consumed returns the capacity as the answer has it: sizes are summed, then rounded.
func (p *pager) consumed() *api.ConsumedCapacity {
	read := api.ReadUnits(p.size, p.Consistent)
	cc := &api.ConsumedCapacity{Table: p.Table, Units: read + p.fetched, Detail: p.Capacity == api.CapacityIndexes}
	if p.ix == nil {
		cc.Base = read
		return cc
	}
	cc.Base = p.fetched
	of := []api.IndexCapacity{{Index: p.ix.Name, Units: read}}
	if p.ix.local {
		cc.Local = of
	} else {
		cc.Global = of
	}
	return cc
}
