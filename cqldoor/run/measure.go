// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	carrier "github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/registry"
)

// Changing counts the tables whose creation, removal or change of layout has begun and not ended.
// A table counts while the operation runs. If the door that runs it dies, the table counts until
// another door ends the operation.
type Changing struct{ Creating, Dropping, Resharding int }

func countChanging(entries []*catalog.Entry) (n Changing) {
	for _, e := range entries {
		switch {
		case e.State == registry.Creating:
			n.Creating++
		case e.State == registry.Dropping:
			n.Dropping++
		case e.Change != nil:
			n.Resharding++
		}
	}
	return n
}

// LayoutState is the layout that a door uses for one sharded table. Doors that agree have the
// same.
type LayoutState struct {
	Table      string // keyspace.table
	Generation int64
}

func layoutsOf(entries []*catalog.Entry) (all []LayoutState) {
	for _, e := range entries {
		if e.State != registry.Active || e.Layout == nil {
			continue
		}
		l := LayoutState{Table: e.String(), Generation: e.Layout.Generation}
		if e.Change != nil {
			l.Generation = e.Change.Generation
		}
		all = append(all, l)
	}
	return all
}

// Stats holds what the router knows and has counted.
type Stats struct {
	ShardedTables int
	Layouts       []LayoutState // read-only
	Changing      Changing
	CursorErrors  int64 // invalid paging states, and those of other statements

	// These are the statements that the door remembers: Prepared by clients, with their size in
	// PreparedBytes, sent as Texts, and Physicals, the statements for shards.
	Prepared, PreparedBytes, Texts, Physicals int

	// Lease is how long, in seconds, the door may use what it has read about tables; 0 if no other
	// door uses the store. LeaseLeft is the rest of that time, negative if it has ended.
	Lease, LeaseLeft float64
}

// Stats returns the counts.
func (r *Router) Stats() Stats {
	s := Stats{CursorErrors: r.reads.cursorErrors.Load(), Changing: r.schema.view.Load().changing, Layouts: r.schema.view.Load().layouts,
		Texts: r.cache.texts.len(), Physicals: r.cache.physicals.len()}
	for _, tables := range r.state.Load().Tables {
		s.ShardedTables += len(tables)
	}
	s.Prepared, s.PreparedBytes = r.cache.known.held()
	s.Lease = r.schema.doors.lease.Length().Seconds()
	s.LeaseLeft = r.schema.doors.lease.Left().Seconds()
	return s
}

// seriesOf returns the series for a statement that the store has prepared, or nil if requests are
// not measured.
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
func (s *statement) measured(all *observe.Requests) *observe.Series {
	var names []syntax.Name
	for _, t := range s.tables() {
		names = append(names, syntax.Name{Keyspace: t.Keyspace, Name: t.Name})
	}
	return seriesOf(all, syntax.Target(s.text).Kind, s.keyspace, names)
}

// fan returns the counts of a reader's requests to the store, or nil if they are not counted.
func (x *fetcher) fan() *observe.Fan {
	if e, ok := x.link.(*coordinator); ok {
		return &e.fan
	}
	return nil
}

// shardsKnown returns the reader's context after it has told the request's span the shards.
func (x *fetcher) shardsKnown(shards []int) context.Context {
	e, ok := x.link.(*coordinator)
	return observe.WithShards(x.ctx, ok && e.span != nil, shards)
}

// child begins the span of a request to the store. It returns nil if there are no spans.
func (e *coordinator) child(ctx context.Context, req wire.Message) observe.Span {
	if e.span == nil {
		return nil
	}
	name := "store"
	if req.Op == wire.OpPrepare {
		name = "prepare at store"
	}
	return e.span.Child(name, observe.Shards(ctx))
}

// clientsOf returns a function that returns how the door has served clients' reads and writes. It
// returns nil if nothing is measured.
func clientsOf(all *observe.Requests) func() carrier.Served {
	if all == nil {
		return nil
	}
	return func() (s carrier.Served) {
		for _, t := range all.All() {
			t.Each(func(operation string, took observe.Snapshot) {
				switch operation {
				case "select", "insert", "update", "delete", "batch":
					s.Requests += took.Count()
					s.Took += time.Duration(took.Sum)
				}
			})
		}
		return s
	}
}
