// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// write lists what a request may write to.
type write struct {
	all    bool
	tables []*cachefence.TableEpoch // tables of which any partition may be written
	keys   []uint64                 // hashes of partitions
}

// aim finds what a request may write to. It returns nil if the request writes nothing.
func (c *Cache) aim(l *link, req wire.Message) *write {
	w := &write{}
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		w.all = true
		return w
	}
	switch req.Op {
	case wire.OpQuery:
		q, err := wire.ParseQuery(l.options.Version, body)
		if err != nil {
			w.all = true
			return w
		}
		st := c.known.classify(string(q.Text), l.keyspace(&q.Params))
		if st.kind != writes {
			return nil
		}
		c.add(w, st, nil)
	case wire.OpExecute:
		e, err := wire.ParseExecute(l.options.Version, body)
		st := c.known.get(e.ID)
		switch {
		case err != nil || st == nil:
			w.all = true
		case st.kind != writes:
			return nil
		default:
			c.add(w, st, &e.Params.Values)
		}
	case wire.OpBatch:
		b, err := wire.ParseBatch(l.options.Version, body)
		if err != nil {
			w.all = true
			return w
		}
		for it := b.Iter(); it.Next() && !w.all; {
			if !it.Prepared {
				c.add(w, c.known.classify(string(it.Text), l.keyspace(&b.Params)), nil)
				continue
			}
			if st := c.known.get(it.ID); st != nil {
				c.add(w, st, &it.Values)
			} else {
				w.all = true
			}
		}
	default:
		return nil
	}
	return w
}

// add adds what one statement may write to.
func (c *Cache) add(w *write, st *statement, values *wire.Values) {
	if st.table == nil { // classify gives a batch as text no table
		w.all = true
		return
	}
	if values != nil {
		if key, ok := st.keyOf(nil, values); ok {
			w.keys = append(w.keys, c.partition(st.table, key))
			return
		}
	}
	w.tables = append(w.tables, c.fence.Table(st.table.name))
}

// begin counts a write before the store sees it. From then on the cache returns no entry that the
// write makes old.
func (c *Cache) begin(w *write) {
	if w.all {
		c.fence.All.Begin()
		for i := range c.fence.Tables {
			c.fence.Tables[i].Defined.Begin()
		}
		return
	}
	for _, t := range w.tables {
		t.Items.Begin()
	}
	for _, hash := range w.keys {
		g := c.fence.Group(hash)
		g.Lock()
		c.fence.Slot(hash).Begin()
		g.Unlock()
	}
}

// end counts the end of a write once its outcome is known. The cache keeps nothing that was read
// in between, nor what is read before settled.
func (c *Cache) end(w *write, settled int64) {
	for _, hash := range w.keys {
		g := c.fence.Group(hash)
		g.Lock()
		c.fence.Slot(hash).End(settled)
		g.Unlock()
	}
	for _, t := range w.tables {
		t.Items.End(settled)
	}
	if w.all {
		for i := range c.fence.Tables {
			c.fence.Tables[i].Defined.End(settled)
		}
		c.fence.All.End(settled)
	}
}

// settled returns from when on reads see a write with this response.
func (c *Cache) settled(v wire.Version, resp wire.Message) int64 {
	return cachefence.Settled(c.options.Now, c.options.Settle, resp.Op != wire.OpError || refused(v, resp))
}

// refused says whether an error means that nothing was written and nothing will be.
func refused(v wire.Version, resp wire.Message) bool {
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return false
	}
	e, err := wire.ParseError(v, body)
	if err != nil {
		return false
	}
	switch e.Code {
	case wire.CodeProtocol, wire.CodeSyntax, wire.CodeUnauthorized, wire.CodeInvalid, wire.CodeConfig, wire.CodeAlreadyExists,
		wire.CodeIsBootstrapping, wire.CodeUnprepared, wire.CodeUnavailable:
		return true
	}
	return false
}
