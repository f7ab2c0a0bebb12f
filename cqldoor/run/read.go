// SPDX-License-Identifier: Apache-2.0

package run

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
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// reads answers SELECTs of logical partitions that one shard cannot answer.
type reads struct {
	cache    *planCache
	buckets  *buckets
	resolver *resolver
	store    store.Store // may know which nodes have a shard
	intn     func(n int) int
	now      func() time.Time

	fanOut   int           // how many fetches of one request may be under way
	retryFor time.Duration // see Options
	timeout  time.Duration // see Options
	held     int           // see maxHeld
	longest  int           // see maxResult

	cursorErrors atomic.Int64 // paging states that were invalid, or of another statement
}

// read answers a SELECT of logical partitions: the named ones, or all.
func (r *reads) read(ctx context.Context, req *cqldoor.Request, s *statement, params *wire.Params, env *eval.Env, metadataID []byte) error {
	b, err := s.sel.Bind(env)
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
	cursor, err := s.sel.Cursor(b, state)
	if err != nil {
		r.cursorErrors.Add(1)
		return err
	}
	s.showMetadata(req.Version, params)
	if e, ok := req.Link.(*coordinator); ok {
		e.keys, e.shards = b.Keys.Len(), 1
		if e.keys > 1 && !s.sel.Table.Timed() {
			e.shards = len(s.sel.Table.Shards(b.Keys.At(0)))
		}
	}
	x := r.newReader(ctx, req.Link, req.Version, params, s.sel, b)
	defer x.memory.close()
	out := &output{s: s, b: b, memory: x.memory, granted: shortRead}
	out.begin(req.Version, params, metadataID)
	switch {
	case s.sel.Output == plan.Combined:
		err = x.combined(out)
	case s.sel.Output == plan.AsRows:
		err = x.rows(out, cursor, page)
	default:
		err = x.shaped(out, cursor, page)
	}
	if err != nil {
		return err
	}
	defer out.release()
	x.fan().Gave(out.w.Count())
	return respond(ctx, req, append(aggregateWarnings(b), partWarnings(s.sel, b, state)...), out.w.Finish())
}

// partWarnings returns the warning for a scan of a part of a table, by token(), that begins while the table's layout is
// being changed. Parts that begin in different steps follow different layouts.
func partWarnings(s *plan.Select, b *analysis.BoundSelect, state []byte) []string {
	if s.Change == nil || !b.Scan || b.Where.Token == nil || state != nil {
		return nil
	}
	return []string{fmt.Sprintf("write_sharding: the layout of %s.%s is being changed. Scans of its parts, by token(), that begin in different steps of the change can together miss a partition or show it twice; "+
		"begin all parts before the change, or after it.", s.Table.Keyspace, s.Table.Name)}
}

// aggregateWarnings returns Cassandra's warnings for aggregates over several partitions.
func aggregateWarnings(b *analysis.BoundSelect) []string {
	if w := b.AggregateWarning(); w != "" {
		return []string{w}
	}
	return nil
}

// output writes the result.
type output struct {
	s *statement
	b *analysis.BoundSelect
	w wire.RowsWriter

	memory  *memory
	held    *holding
	granted int // bytes of rows that may be written without asking for more room
}

// room makes the result hold so many bytes of rows, including rows that wait to be sorted.
func (o *output) room(bytes int) error {
	if bytes <= o.granted {
		return nil
	}
	bytes = max(bytes, o.granted/4*5) // in steps, not for every row
	if err := o.memory.reserve(&o.held, copied*bytes); err != nil {
		return err
	}
	o.granted = bytes
	return nil
}

func (o *output) begin(v wire.Version, params *wire.Params, metadataID []byte) {
	o.w.Begin(*outputs.Get().(*[]byte), o.s.metadata(v, params, metadataID))
}

// metadata returns the metadata of a SELECT's result, without the columns if the client knows them.
// metadataID is the id in an EXECUTE of v5, nil for a QUERY.
func (s *statement) metadata(v wire.Version, params *wire.Params, metadataID []byte) wire.Metadata {
	m := encodeColumns(v, s.head.Table, s.sel.Logical.Columns)
	changed := v >= wire.V5 && metadataID != nil && string(metadataID) != string(s.metadataID[:])
	if params.Has(wire.QuerySkipMetadata) && !changed {
		m = wire.Metadata{Flags: wire.MetadataNone, Count: m.Count}
	}
	if changed {
		m.Flags |= wire.MetadataNewID
		m.NewID = s.metadataID[:]
	}
	return m
}

// outputs holds buffers for results.
var outputs = sync.Pool{New: func() any { return new([]byte) }}

// release frees the buffer once the result is sent.
func (o *output) release() {
	if b := o.w.Buffer(); cap(b) <= keptBuffer {
		outputs.Put(&b)
	}
}

// cells writes a row. The same long cell may appear in it many times.
func (o *output) cells(cells [][]byte) error {
	for _, c := range cells {
		if o.w.Size()+len(c) > maxResult {
			return errLong
		}
		if err := o.room(o.w.Size() + len(c)); err != nil {
			return err
		}
		o.w.Cell(c)
	}
	o.w.EndRow()
	return nil
}

// next sets the position of the next page.
func (o *output) next(c plan.Cursor) { o.w.SetPagingState(o.s.sel.State(o.b, c)) }
