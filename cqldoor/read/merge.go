// SPDX-License-Identifier: Apache-2.0

package read

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/scatter"
	"github.com/evenkeel/evenkeel/shard"
)

// merger reads the rows of segments. It merges them from the segments' shards.
type merger struct {
	fetcher
	width  *atomic.Int64 // see rowWidth
	ahead  *ahead        // what is known of the next rows
	survey survey        // what is known of the next partitions
}

// page reads the first want rows of a segment after a clustering key. If rows are large, it returns
// fewer of them, and sets more.
func (x *merger) page(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	x.progress()
	if s.Err != nil {
		return nil, s.Err
	}
	if s.Shards = x.survey.shardsOf(s); len(s.Shards) == 0 {
		return &rowset{}, nil
	}
	rows, err := x.read(s, after, want)
	if err == nil {
		x.survey.rows += len(rows.rows)
	}
	return rows, err
}

// read is page for a segment that may have rows.
func (x *merger) read(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	if x.plan.Old != nil {
		if x.plan.Change.Stays(s.Key) {
			return x.held(s, after, want)
		}
		return x.resolved(s, after, want)
	}
	if x.ahead == nil && !x.tooWide(want, len(s.Shards)) {
		e := extent{Segment: s, after: after, want: want, limit: x.reads.Held, group: x.grouped(want/len(s.Shards) + 2)}
		if len(x.plan.Clustering) == 0 {
			e.limit = 0 // there is only one row
		}
		rows, err := x.merge(e)
		if !errors.Is(err, errWide) {
			return rows, err
		}
	}
	return x.narrow(s, after, want)
}

// extent says what merge reads: the first want rows of a segment after a clustering key.
type extent struct {
	plan.Segment
	after [][]byte
	want  int
	keys  bool // clustering keys only
	limit int  // largest number of bytes; 0: no limit
	group int  // how many shards a request reads

	// These are set if the keys of the rows are known.
	upto   [][]byte // the last key
	expect []int    // how many rows each shard has up to that key
}

// flight is a scatter fetch in flight, with the rows received so far.
type flight struct {
	fetch scatter.Fetch[row]
	rows  [][]row
	parts int // how many parts are in flight
}

// part is a request for all shards of a flight, or for one shard that the store has throttled.
type part struct {
	*flight
	ask
}

// merge reads an extent from its shards. It returns errWide if the rows have more bytes than the limit.
func (x *merger) merge(e extent) (_ *rowset, err error) {
	if e.Err != nil {
		return nil, e.Err
	}
	out := &rowset{plan: x.plan, layout: layoutOf(x.plan, e.keys)}
	if err := x.memory.Reserve(&out.held, x.likely(&e)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			out.held.Close()
		}
	}()
	single := e.Slice.Row(x.plan.Table.Table) // each shard has at most one row of the extent
	o := scatter.Options[row]{
		Shards: e.Shards, Page: e.want, Group: e.group, Compare: out.compare, Seed: uint64(x.reads.IntN(1 << 30)),
		// Most partitions are shorter than a page. If there is a LIMIT, or an earlier page, this one
		// is probably longer. A segment has several buckets if the page probably needs all their rows.
		Few: single || e.after == nil && (e.want != x.bound.Limit || x.plan.Buckets(e.Segment) > 1),
	}
	if e.group > 1 {
		o.Nodes = x.nodes(e.Key)
	}
	if e.upto != nil {
		o.Upto, o.Expect = out.stranger(e.upto), e.expect
	}
	switch {
	case x.plan.Table.Hides():
		// A moved row is in its old shard too. The door keeps the copy that it shows.
		o.Combine = func(a, b row) row {
			if out.belongs(e.Key, &b) {
				return b
			}
			return a
		}
	case x.plan.Merges():
		o.Combine = func(a, b row) row {
			// Under strategy rollover the shard with the lower number has every write of a
			// collection that the other has.
			if x.plan.Table.Layout.Strategy == shard.Rollover && b.shard < a.shard {
				a, b = b, a
			}
			if out.split {
				x.plan.Merge(out.visibleCells(&a), out.visibleCells(&b))
			}
			return a
		}
	}
	var (
		merge   = scatter.NewReader(o)
		in      = newInbox(x.version, e.limit)
		parts   = map[int]*part{} // by tag
		tag     int
		took    []response
		arrived int // bytes
	)
	defer in.close()
	for !merge.Done() {
		for len(parts) < x.window(arrived) {
			f, ok := merge.Next()
			if !ok {
				break
			}
			if f.After != nil && single {
				if err := merge.Feed(f, make([][]row, len(f.Shards))); err != nil {
					return nil, err
				}
				continue
			}
			pieces, err := x.pieces(&e, out, f)
			if err != nil {
				return nil, err
			}
			if len(pieces) == 0 {
				if err := merge.Feed(f, make([][]row, len(f.Shards))); err != nil {
					return nil, err
				}
				continue
			}
			tag++
			parts[tag] = &part{&flight{f, make([][]row, len(f.Shards)), 1}, ask{pieces: pieces}}
			if err := x.send(&pieces[0], in, tag); err != nil {
				return nil, err
			}
		}
		x.link.Flush()
		if merge.Done() {
			break
		}
		if len(parts) == 0 {
			return nil, fmt.Errorf("read: a page of %s.%s is neither known nor being fetched", x.plan.Table.Keyspace, x.plan.Table.Name)
		}
		var err error
		if took, err = in.next(x.ctx, took[:0]); err != nil {
			return nil, err
		}
		for _, a := range took {
			p := parts[a.tag]
			switch {
			case a.due:
				if err := x.send(&p.pieces[0], in, a.tag); err != nil {
					return nil, err
				}
				continue
			case throttled(a.err):
				delete(parts, a.tag)
				again := p.split()
				p.parts += len(again) - 1
				for i := range again {
					tag++
					parts[tag] = &part{p.flight, again[i]}
					if !x.later(&again[i], in, tag) {
						return nil, a.err
					}
				}
				continue
			case a.err != nil:
				return nil, a.err
			case a.refused > 0:
				if !e.keys {
					x.rowWidth().learn(a.refused)
				}
				return nil, errWide
			}
			if err := out.add(a.body, p.fetch.Shards, p.rows, p.fetch.Limit); err != nil {
				return nil, err
			}
			if arrived == 0 && e.limit > 0 && e.upto == nil && !e.keys {
				if x.rowWidth().firstLook(a.body) && x.tooWide(e.want, len(e.Shards)) {
					return nil, errWide
				}
				if err := x.memory.Reserve(&out.held, x.likely(&e)); err != nil {
					return nil, err
				}
			}
			if arrived += len(a.body); arrived > request.ShortRead {
				x.memory.Add(&out.held, arrived)
			}
			if rest := p.pieces[1:]; len(rest) > 0 && p.short() {
				p.ask = ask{pieces: rest}
				if err := x.send(&rest[0], in, a.tag); err != nil {
					return nil, err
				}
				continue
			}
			delete(parts, a.tag)
			if p.parts--; p.parts > 0 {
				continue
			}
			if err := merge.Feed(p.fetch, p.rows); err != nil {
				return nil, err
			}
		}
	}
	did := merge.Stats()
	x.fan().Took(did.Rounds, did.Rows)
	if rows := merge.Stats().Rows; rows > 0 && !e.keys {
		x.rowWidth().learn(arrived / rows)
	}
	out.held.Shrink(arrived)
	out.rows, out.more = merge.Page()
	out.hide(e.Key)
	return out, nil
}

// likely returns the probable size, in bytes, of an extent's rows; 0: it is not known.
func (x *merger) likely(e *extent) int {
	width := x.rowWidth().known()
	if e.keys {
		width = min(width, 100)
	}
	n := width * (e.want + 2*len(e.Shards))
	if e.limit > 0 {
		n = min(n, e.limit)
	}
	return n
}

// pieces returns the reads of one fetch.
func (x *merger) pieces(e *extent, rows *rowset, f scatter.Fetch[row]) ([]fetch, error) {
	after, upto := e.after, [][]byte(nil)
	if f.After != nil {
		after = rows.key(f.After)
	}
	if f.Upto != nil {
		upto = rows.key(f.Upto)
	}
	if e.keys {
		all, err := x.plan.KeyFetches(x.bound, e.Segment, f.Shards, after, upto, f.Limit)
		return placed(f.Place, all...), err
	}
	all, err := x.plan.Fetches(x.bound, e.Segment, f.Shards, after, upto, f.Limit)
	return placed(f.Place, all...), err
}

// short reports whether some shard of the request has returned fewer rows than the request asked for.
func (p *part) short() bool {
	for i, shard := range p.fetch.Shards {
		if len(p.rows[i]) < p.fetch.Limit && slices.Contains(p.pieces[0].Shards, shard) {
			return true
		}
	}
	return false
}
