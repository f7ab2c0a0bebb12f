// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// mayKeep says whether the cells of a table are known not to expire. If that is unknown, it asks
// the store in the background. Until the store has answered, nothing is kept.
func (c *Cache) mayKeep(a *asked) bool {
	t := a.table
	if t.expires.Load() {
		return false
	}
	defined := c.fence.Definition(a.epoch)
	if !defined.Quiet {
		return false
	}
	if t.defined.Load() == defined.Count+1 {
		return true
	}
	if c.options.Now().UnixNano() < t.next.Load() || !t.asking.CompareAndSwap(false, true) {
		return false
	}
	keyspace, name, _ := strings.Cut(t.name, ".")
	text := syntax.AppendString([]byte("SELECT default_time_to_live FROM system_schema.tables WHERE keyspace_name = "), keyspace)
	text = syntax.AppendString(append(text, " AND table_name = "...), name)
	q := wire.Query{Text: text, Params: wire.Params{Consistency: wire.One}}
	body := wire.AppendQuery(nil, c.version, &q)
	c.own.Send(context.Background(), wire.Message{Op: wire.OpQuery, Body: body}, func(resp wire.Message) {
		known, expires, err := defaultTTL(c.version, resp)
		switch {
		case err != nil:
			t.next.Store(c.options.Now().Add(againAfter).UnixNano())
			c.options.Log.Warn("the cache cannot ask for a table's default_time_to_live, and does not keep its rows", "table", t.name, "error", err)
		case !known || expires:
			t.expires.Store(true) // it is a view, whose rows change with another table, or it does not exist
		default:
			t.defined.Store(defined.Count + 1)
		}
		t.asking.Store(false)
	})
	return false
}

// defaultTTL reads the store's answer: whether the table exists, and whether its cells expire.
func defaultTTL(v wire.Version, resp wire.Message) (known, expires bool, err error) {
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return false, false, err
	}
	if resp.Op == wire.OpError {
		e, err := wire.ParseError(v, body)
		if err != nil {
			return false, false, err
		}
		return false, false, e
	}
	rows, err := wire.ParseRows(body)
	if err != nil {
		return false, false, fmt.Errorf("read the answer: %w", err)
	}
	for it := rows.Iter(nil); it.Next(); {
		cell := it.Cells[0]
		return true, len(cell) == 4 && string(cell) != "\x00\x00\x00\x00", nil
	}
	return false, false, nil
}
