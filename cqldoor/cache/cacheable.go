// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// ask returns what an EXECUTE asks for, or nil if the cache may not answer it.
func (c *Cache) ask(l *link, st *statement, e *wire.Execute) *asked {
	p := &e.Params
	if p.Consistency != wire.One && p.Consistency != wire.LocalOne || p.Has(wire.QueryPagingState) || p.Has(wire.QueryNowInSeconds) || l.options.Own {
		return nil
	}
	key, ok := st.keyOf(nil, &p.Values)
	if !ok {
		return nil
	}
	text := readKey(l, e)
	a := &asked{text: text, table: st.table, part: c.partition(st.table, key), epoch: c.fence.Table(st.table.name)}
	a.hash = c.fence.Hash(kindRead, text)&^(cachefence.Groups-1) | a.part%cachefence.Groups
	return a
}

// whole says whether a response holds all rows and nothing else.
func whole(resp wire.Message) bool {
	if resp.Op != wire.OpResult || resp.Flags != 0 || wire.KindOf(resp.Body) != wire.ResultRows || len(resp.Body) < 8 {
		return false
	}
	const changed = 0x0008 // v5: the metadata differ from those that the client has
	return wire.MetadataFlags(binary.BigEndian.Uint32(resp.Body[4:]))&(wire.MetadataMore|changed) == 0
}

// plainSelect says whether a SELECT selects only columns, so that its result depends on the rows
// alone.
func plainSelect(text string) bool {
	tree, err := syntax.Parse(text)
	if err != nil {
		return false
	}
	sel, ok := tree.(*syntax.Select)
	if !ok || sel.AllowFiltering {
		return false
	}
	for _, item := range sel.Selectors {
		if _, column := item.Expr.(*syntax.Column); !column {
			return false
		}
	}
	for _, r := range sel.Where {
		if !markersOrConstants(r) {
			return false
		}
	}
	return true
}

// markersOrConstants says whether a relation compares columns with bound or constant values. IN
// may name several partitions, so it does not qualify.
func markersOrConstants(r syntax.Relation) bool {
	if r.Tuple || r.Token || r.Index != "" || r.Key != nil || r.Values != nil || r.Op == syntax.OpIn {
		return false
	}
	switch r.Value.(type) {
	case *syntax.Bind, *syntax.Constant:
		return true
	}
	return false
}
