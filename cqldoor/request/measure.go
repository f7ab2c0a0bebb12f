// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"context"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/observe"
)

// seriesOf returns the series for statements of a kind on some tables. It returns nil if the door does not
// measure requests.
func seriesOf(all *observe.Requests, kind syntax.StatementKind, keyspace string, tables []syntax.Name) *observe.Series {
	if all == nil {
		return nil
	}
	h := syntax.Head{Kind: kind}
	if len(tables) == 1 {
		h.Name = syntax.Name{Keyspace: cmp.Or(tables[0].Keyspace, keyspace), Name: tables[0].Name}
		if kind == syntax.StatementBatch {
			return all.Table(h.Name.Keyspace, h.Name.Name).Series(cqldoor.OperationBatch)
		}
	} else if kind != syntax.StatementBatch {
		return all.None().Series(cqldoor.OperationOf(kind))
	}
	return cqldoor.SeriesOf(all, h, "")
}

// measured returns the series for a statement on sharded tables.
func (s *Statement) measured(all *observe.Requests) *observe.Series {
	var names []syntax.Name
	for _, t := range s.Tables() {
		names = append(names, syntax.Name{Keyspace: t.Keyspace, Name: t.Name})
	}
	return seriesOf(all, syntax.Target(s.Text).Kind, s.Keyspace, names)
}

// child begins the span of a request to the store, and returns it. It returns nil if the client's request has
// no span.
func (e *Coordinator) child(ctx context.Context, req wire.Message) observe.Span {
	if e.Span == nil {
		return nil
	}
	name := "store"
	if req.Op == wire.OpPrepare {
		name = "prepare at store"
	}
	return e.Span.Child(name, observe.Shards(ctx))
}
