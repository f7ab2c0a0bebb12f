// SPDX-License-Identifier: Apache-2.0

package read

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// Reads answers SELECTs of logical partitions that one shard cannot answer.
type Reads struct {
	Cache    *request.PlanCache
	Buckets  *buckets.Buckets
	Resolver *Resolver
	Store    store.Store // may know which nodes have a shard
	IntN     func(n int) int
	Now      func() time.Time

	FanOut   int           // how many fetches of one request may be in flight
	RetryFor time.Duration // see run.Options
	Timeout  time.Duration // see run.Options
	Held     int           // see MaxHeld
	Longest  int           // see request.MaxResult

	CursorErrors atomic.Int64 // counts paging states that were invalid, or of another statement
}

// Read executes a SELECT that reads the logical partitions that it names, or all, and answers.
func (r *Reads) Read(ctx context.Context, req *cqldoor.Request, s *request.Statement, params *wire.Params, env *eval.Env, metadataID []byte) error {
	b, err := s.Sel.Bind(env)
	if err != nil {
		return err
	}
	page := 0
	if params.Has(wire.QueryPageSize) && params.PageSize > 0 {
		page = int(params.PageSize)
	}
	if err := b.CheckPaging(page); err != nil {
		return err
	}
	var state []byte
	if params.Has(wire.QueryPagingState) && len(params.PagingState) > 0 {
		state = params.PagingState
	}
	cursor, err := s.Sel.Cursor(b, state)
	if err != nil {
		r.CursorErrors.Add(1)
		return err
	}
	s.ShowMetadata(req.Version, params)
	if e, ok := req.Link.(*request.Coordinator); ok {
		e.Keys, e.Shards = b.Keys.Len(), 1
		if e.Keys > 1 && !s.Sel.Table.Timed() {
			e.Shards = len(s.Sel.Table.Shards(b.Keys.At(0)))
		}
	}
	x := r.newReader(ctx, req.Link, req.Version, params, s.Sel, b)
	defer x.memory.Close()
	out := &output{s: s, b: b, memory: x.memory, granted: request.ShortRead}
	out.begin(req.Version, params, metadataID)
	switch {
	case s.Sel.Output == plan.Combined:
		err = x.combined(out)
	case s.Sel.Output == plan.AsRows:
		err = x.rows(out, cursor, page)
	default:
		err = x.shaped(out, cursor, page)
	}
	if err != nil {
		return err
	}
	defer out.release()
	x.fan().Gave(out.w.Count())
	return request.Respond(ctx, req, append(request.AggregateWarnings(b), partWarnings(s.Sel, b, state)...), out.w.Finish())
}

// partWarnings returns a warning if a scan of a part of a table, by token(), begins while the table's
// layout is being changed. Scans that begin in different steps follow different layouts.
func partWarnings(s *plan.Select, b *analysis.BoundSelect, state []byte) []string {
	if s.Change == nil || !b.Scan || b.Where.Token == nil || state != nil {
		return nil
	}
	return []string{fmt.Sprintf("write_sharding: the layout of %s.%s is being changed. Scans of its parts, by token(), that begin in different steps of the change can together miss a partition or show it twice; "+
		"begin all parts before the change, or after it.", s.Table.Keyspace, s.Table.Name)}
}

// output writes the result.
type output struct {
	s *request.Statement
	b *analysis.BoundSelect
	w wire.RowsWriter

	memory  *request.Memory
	held    *request.Holding
	granted int // bytes of rows for which the result has memory
}

// room waits for the memory of a result with so many bytes of rows, including rows that wait to be
// sorted.
func (o *output) room(bytes int) error {
	if bytes <= o.granted {
		return nil
	}
	bytes = max(bytes, o.granted/4*5) // in steps, not for every row
	if err := o.memory.Reserve(&o.held, request.CopyFactor*bytes); err != nil {
		return err
	}
	o.granted = bytes
	return nil
}

func (o *output) begin(v wire.Version, params *wire.Params, metadataID []byte) {
	o.w.Begin(*outputs.Get().(*[]byte), o.s.Metadata(v, params, metadataID))
}

// outputs holds buffers for results.
var outputs = sync.Pool{New: func() any { return new([]byte) }}

// release puts the buffer into the pool when the result has been sent.
func (o *output) release() {
	if b := o.w.Buffer(); cap(b) <= keptBuffer {
		outputs.Put(&b)
	}
}

// cells writes a row. It checks the size at each cell, because a row may have the same long cell many
// times.
func (o *output) cells(cells [][]byte) error {
	for _, c := range cells {
		if o.w.Size()+len(c) > request.MaxResult {
			return request.ErrLong
		}
		if err := o.room(o.w.Size() + len(c)); err != nil {
			return err
		}
		o.w.Cell(c)
	}
	o.w.EndRow()
	return nil
}

// next sets the position at which the next page begins.
func (o *output) next(c plan.Cursor) { o.w.SetPagingState(o.s.Sel.State(o.b, c)) }
