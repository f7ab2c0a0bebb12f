package run

import (
	"context"
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// read answers a SELECT that reads logical partitions.
func (r *Router) read(ctx context.Context, req *cqldoor.Request, s *statement, params *wire.Params, env *eval.Env, metadataID []byte) error {
	b, err := s.sel.Logical.Bind(env)
	if err != nil {
		return err
	}
	paged := params.Has(wire.QueryPageSize) && params.PageSize > 0
	if paged && len(s.sel.Logical.Sort) > 0 {
		return wire.Invalidf("Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the ORDER BY or the IN and sort client side, or disable paging for this query")
	}
	cursor := plan.Cursor{Limit: b.Limit, PerKey: b.PerPartitionLimit}
	if params.Has(wire.QueryPagingState) && len(params.PagingState) > 0 {
		if cursor, err = plan.DecodeCursor(s.identity(), params.PagingState, len(s.sel.Table.Clustering)); err != nil {
			return err
		}
		if cursor.KeyIndex >= len(b.Keys) {
			return &wire.Error{Code: wire.CodeProtocol, Message: "Invalid value for the paging state"}
		}
	}
	s.showMetadata(req.Version, params)
	x := r.newReader(ctx, req.Link, req.Version, params, s.sel, b)
	out := &output{s: s}
	out.begin(req.Version, params, metadataID)
	page := 0
	if paged {
		page = int(params.PageSize)
	}
	segments := s.sel.Segments(b, cursor.KeyIndex, cursor.After)
	switch {
	case s.sel.Output == plan.Combined:
		err = x.combined(out, segments)
	case s.sel.Output == plan.AsRows:
		err = x.rows(out, segments, cursor, page)
	case len(s.sel.Logical.Sort) > 0:
		err = x.sorted(out, segments, cursor)
	case s.sel.Logical.Selection.Aggregated || s.sel.Logical.Grouped:
		err = x.groups(out, segments, cursor, page)
	default:
		err = x.evaluated(out, segments, cursor, page)
	}
	if err != nil {
		return err
	}
	req.Reply(wire.Message{Op: wire.OpResult, Body: out.w.Finish()})
	return nil
}

// output writes the result.
type output struct {
	s *statement
	w wire.RowsWriter
}

func (o *output) begin(v wire.Version, params *wire.Params, metadataID []byte) {
	m := encodeColumns(v, o.s.head.Table, o.s.sel.Logical.Columns)
	changed := v >= wire.V5 && metadataID != nil && string(metadataID) != string(o.s.metadataID[:])
	if params.Has(wire.QuerySkipMetadata) && !changed {
		m = wire.Metadata{Flags: wire.MetadataNone, Count: m.Count}
	}
	if changed {
		m.Flags |= wire.MetadataNewID
		m.NewID = o.s.metadataID[:]
	}
	o.w.Begin(nil, m)
}

func (o *output) cells(cells [][]byte) {
	for _, c := range cells {
		o.w.Cell(c)
	}
	o.w.EndRow()
}

// next says where the following page starts.
func (o *output) next(c plan.Cursor) { o.w.SetPagingState(c.Encode(o.s.identity())) }

// rows writes a page of rows as the shards select them; page 0 is all.
func (x *reader) rows(out *output, segments []plan.Segment, c plan.Cursor, page int) error {
	left := page // of the page
	perKey := x.bound.PerPartitionLimit
	after := c.After
	for i := 0; i < len(segments); i++ {
		s := segments[i]
		if s.KeyIndex != c.KeyIndex {
			c.KeyIndex, c.PerKey = s.KeyIndex, perKey
		}
		if perKey > 0 && c.PerKey == 0 {
			after = nil
			continue
		}
		for {
			want := window
			for _, limit := range []int{left, c.Limit, c.PerKey} {
				if limit > 0 {
					want = min(want, limit)
				}
			}
			rows, more, err := x.page(s, after, want)
			if err != nil {
				return err
			}
			for _, r := range rows {
				out.w.Row(r.raw)
			}
			n := len(rows)
			if n > 0 {
				after = rows[n-1].key
			}
			if c.Limit > 0 {
				if c.Limit -= n; c.Limit == 0 {
					return nil
				}
			}
			if perKey > 0 {
				if c.PerKey -= n; c.PerKey == 0 {
					more = false
				}
			}
			if page > 0 {
				if left -= n; left == 0 {
					if more {
						c.After = after
						out.next(c)
					} else if i+1 < len(segments) {
						c.After = after
						if perKey > 0 && c.PerKey == 0 || segments[i+1].KeyIndex != s.KeyIndex {
							return x.nextKey(out, segments[i+1:], s.KeyIndex, c)
						}
						out.next(c)
					}
					return nil
				}
			}
			if !more {
				break
			}
		}
		after = nil
	}
	return nil
}

// nextKey ends a page at the end of a partition: the next one starts at the
// following key, if there is one.
func (x *reader) nextKey(out *output, rest []plan.Segment, done int, c plan.Cursor) error {
	for _, s := range rest {
		if s.KeyIndex != done {
			out.next(plan.Cursor{KeyIndex: s.KeyIndex, Limit: c.Limit, PerKey: x.bound.PerPartitionLimit})
			break
		}
	}
	return nil
}

// combined writes the one row of an aggregation that shards do.
func (x *reader) combined(out *output, segments []plan.Segment) error {
	cells, err := x.aggregate(segments)
	if err != nil {
		return err
	}
	if cells == nil {
		// Nothing was asked, because nothing can match: what an aggregate over no
		// rows gives.
		group := x.plan.Logical.Selection.NewGroup()
		if cells, err = group.Result(x.bound.Env, nil); err != nil {
			return err
		}
	}
	out.cells(cells)
	return nil
}

// evaluated writes rows whose selection is evaluated here.
func (x *reader) evaluated(out *output, segments []plan.Segment, c plan.Cursor, page int) error {
	perKey := x.bound.PerPartitionLimit
	var scratch [][]byte
	return x.each(segments, c.After, func(s plan.Segment, r row) (bool, error) {
		if s.KeyIndex != c.KeyIndex {
			c.KeyIndex, c.PerKey = s.KeyIndex, perKey
		}
		if perKey > 0 && c.PerKey == 0 {
			return true, nil
		}
		if page > 0 && out.w.Count() == page {
			out.next(c)
			return false, nil
		}
		var err error
		if scratch, err = x.plan.Logical.Selection.Row(x.bound.Env, eval.Cells(r.cells), scratch[:0]); err != nil {
			return false, err
		}
		out.cells(scratch)
		c.After = r.key
		if c.PerKey > 0 {
			c.PerKey--
		}
		if c.Limit > 0 {
			if c.Limit--; c.Limit == 0 {
				return false, nil
			}
		}
		return true, nil
	})
}

// sorted writes the rows of several partitions in the order of ORDER BY.
func (x *reader) sorted(out *output, segments []plan.Segment, c plan.Cursor) error {
	var all []row
	err := x.each(segments, nil, func(_ plan.Segment, r row) (bool, error) {
		all = append(all, r)
		return true, nil
	})
	if err != nil {
		return err
	}
	sel := x.plan.Logical
	slices.SortStableFunc(all, func(a, b row) int {
		for _, k := range sel.Sort {
			d := sel.Fetch[k.Cell].Column.Type.Compare(a.cells[k.Cell], b.cells[k.Cell])
			if k.Desc {
				d = -d
			}
			if d != 0 {
				return d
			}
		}
		return 0
	})
	if c.Limit > 0 && c.Limit < len(all) {
		all = all[:c.Limit]
	}
	var cells [][]byte
	for _, r := range all {
		if cells, err = sel.Selection.Row(x.bound.Env, eval.Cells(r.cells), cells[:0]); err != nil {
			return err
		}
		out.cells(cells)
	}
	return nil
}

// groups writes a row for each group, or one for all rows where there is no
// GROUP BY.
func (x *reader) groups(out *output, segments []plan.Segment, c plan.Cursor, page int) error {
	sel := x.plan.Logical
	by := eval.Selection{Exprs: sel.GroupBy}
	group := sel.Selection.NewGroup()
	var (
		current, fresh [][]byte
		cells          [][]byte
		err            error
		full           bool
	)
	flush := func() error {
		if cells, err = group.Result(x.bound.Env, cells[:0]); err != nil {
			return err
		}
		out.cells(cells)
		if c.Limit > 0 {
			c.Limit--
			full = c.Limit == 0
		}
		return nil
	}
	err = x.each(segments, c.After, func(s plan.Segment, r row) (bool, error) {
		if sel.Grouped {
			if fresh, err = by.Row(x.bound.Env, eval.Cells(r.cells), fresh[:0]); err != nil {
				return false, err
			}
			if !group.Empty() && (s.KeyIndex != c.KeyIndex || !slices.EqualFunc(current, fresh, func(a, b []byte) bool { return string(a) == string(b) })) {
				if err := flush(); err != nil || full {
					return false, err
				}
				if page > 0 && out.w.Count() == page {
					out.next(c)
					full = true
					return false, nil
				}
			}
			current, fresh = fresh, current
		}
		c.KeyIndex, c.After = s.KeyIndex, r.key
		return true, group.Add(x.bound.Env, eval.Cells(r.cells))
	})
	if err != nil || full {
		return err
	}
	if !group.Empty() || !sel.Grouped {
		return flush()
	}
	return nil
}
