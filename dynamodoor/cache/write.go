// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
)

// writer is the memory of one write: what it may write to.
type writer struct {
	decoder api.Decoder
	keys    []uint64                 // hashes of items
	tables  []*cachefence.TableEpoch // tables of the keys
	whole   []*cachefence.TableEpoch // tables in which any item may change
	defined []*cachefence.TableEpoch // tables that change themselves
	all     bool                     // anything may change
	text    []byte
}

// write passes on a write. It counts the write before the store sees it, so that no read finds
// anything that the write makes old. It counts it again afterwards, so that nothing is kept that
// was read in between.
func (c *Cache) write(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	w := c.writers.Get().(*writer)
	if !c.aim(w, operation, body) {
		c.discard(w)
		return c.store.Do(ctx, operation, body, dst)
	}
	c.begin(w)
	certain := false
	defer func() {
		c.end(w, cachefence.Settled(c.options.Now, c.options.Settle, certain))
		c.discard(w)
	}()
	dst, err := c.store.Do(ctx, operation, body, dst)
	certain = err == nil && !partly(operation, dst) || err != nil && refused(err)
	return dst, err
}

// refused reports whether an error says that nothing was written and nothing will be.
func refused(err error) bool {
	var e *exception.Error
	return errors.As(err, &e) && e.Status() == http.StatusBadRequest && e.Kind != exception.TransactionInProgress
}

// partly reports whether an answer may say that the outcome of a part of the request is unknown.
func partly(operation string, answer []byte) bool {
	return operation == "BatchExecuteStatement" && bytes.Contains(answer, []byte(exception.InternalServerError.Name()))
}

func (c *Cache) discard(w *writer) {
	if cap(w.text) > keptBytes {
		return
	}
	w.decoder.Reset()
	w.keys, w.tables, w.whole, w.defined, w.all = w.keys[:0], w.tables[:0], w.whole[:0], w.defined[:0], false
	c.writers.Put(w)
}

// aim finds what a request may write to. It returns false if the request writes nothing.
func (c *Cache) aim(w *writer, operation string, body []byte) bool {
	switch o := api.OperationOf(operation); o.About {
	case api.Items:
		q, _ := api.New(operation)
		if err := q.Decode(&w.decoder, body); err != nil {
			// The store may understand a request that this package does not.
			w.table(c, textOf(body, "TableName"))
			return true
		}
		c.aimItems(w, q)
	case api.Tables:
		name := cmp.Or(textOf(body, "TableName"), textOf(body, "ResourceArn"))
		w.table(c, name)
		if name != "" {
			w.defined = append(w.defined, c.fence.Table(api.TableName(name)))
		}
	case api.Statements:
		return c.aimStatements(w, operation, body)
	default:
		w.all = true
		for i := range c.fence.Tables {
			w.defined = append(w.defined, &c.fence.Tables[i])
		}
	}
	return true
}

// aimStatements finds what PartiQL statements may write to: any item of their tables.
func (c *Cache) aimStatements(w *writer, operation string, body []byte) bool {
	q, _ := api.New(operation)
	if q.Decode(&w.decoder, body) != nil {
		w.all = true
		return true
	}
	aim := func(s *api.Statement) {
		switch p, err := partiql.Parse(s.Text, s.Parameters); {
		case err != nil: // the store may know this kind of statement
			w.all = true
		case p.Kind() != partiql.Select && p.Kind() != partiql.Exists:
			w.table(c, p.Table())
		}
	}
	for _, statement := range api.StatementsOf(q) {
		aim(&statement)
	}
	return w.all || len(w.whole) > 0
}

func (c *Cache) aimItems(w *writer, q api.Request) {
	switch q := q.(type) {
	case *api.PutItem:
		w.put(c, q.Table, q.Item)
	case *api.UpdateItem:
		w.key(c, q.Table, q.Key)
	case *api.DeleteItem:
		w.key(c, q.Table, q.Key)
	case *api.BatchWriteItem:
		for i := range q.Tables {
			t := &q.Tables[i]
			for _, bw := range t.Writes {
				if bw.Item != nil {
					w.put(c, t.Table, bw.Item)
				} else {
					w.key(c, t.Table, bw.Key)
				}
			}
		}
	case *api.TransactWriteItems:
		for i := range q.Actions {
			switch a := &q.Actions[i]; a.Kind {
			case api.TransactCheck: // it writes nothing
			case api.TransactPut:
				w.put(c, a.Table, a.Item)
			default:
				w.key(c, a.Table, a.Key)
			}
		}
	}
}

// key adds a write to the item with a key.
func (w *writer) key(c *Cache, table string, key attribute.Item) {
	name := api.TableName(table)
	w.text = appendItemKey(w.text[:0], name, key)
	w.keys = append(w.keys, c.fence.Hash(kindItem, w.text))
	w.tables = append(w.tables, c.fence.Table(name))
}

// put adds a put of an item.
func (w *writer) put(c *Cache, table string, item attribute.Item) {
	names := c.keyOf(table)
	key := item.Only(names...)
	if names == nil || len(key) < len(names) {
		w.table(c, table)
		return
	}
	w.key(c, table, key)
}

// table adds a write to any item of a table, or to anything if the name is "".
func (w *writer) table(c *Cache, table string) {
	if table == "" {
		w.all = true
		return
	}
	w.whole = append(w.whole, c.fence.Table(api.TableName(table)))
}

func (c *Cache) begin(w *writer) {
	if w.all {
		c.fence.All.Begin()
	}
	for _, t := range w.defined {
		t.Defined.Begin()
		t.Touched.Begin()
	}
	for _, t := range w.whole {
		t.Items.Begin()
		t.Touched.Begin()
	}
	for _, t := range w.tables {
		t.Touched.Begin()
	}
	for _, hash := range w.keys {
		g := c.fence.Group(hash)
		g.Lock()
		c.fence.Slot(hash).Begin()
		_, was := c.entries.Invalidate(hash)
		g.Unlock()
		if was {
			c.invalidated.Add(1)
		}
	}
}

func (c *Cache) end(w *writer, settled int64) {
	for _, hash := range w.keys {
		g := c.fence.Group(hash)
		g.Lock()
		c.fence.Slot(hash).End(settled)
		g.Unlock()
	}
	for _, t := range w.tables {
		t.Touched.End(settled)
	}
	for _, t := range w.whole {
		t.Touched.End(settled)
		t.Items.End(settled)
	}
	for _, t := range w.defined {
		t.Touched.End(settled)
		t.Defined.End(settled)
	}
	if w.all {
		c.fence.All.End(settled)
	}
}
