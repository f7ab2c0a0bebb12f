package run

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// row is one fetched row: what is shown of it, still encoded, its cells, and
// where it stands. All are views into a response that is the reader's own.
type row struct {
	raw   []byte   // the visible cells
	cells [][]byte // the visible cells
	key   [][]byte // the clustering key
}

// reader fetches rows of one bound statement for one client.
type reader struct {
	ctx     context.Context
	r       *Router
	link    store.Link
	version wire.Version
	params  wire.Params // what every fetch takes over from the client's request
	plan    *plan.Select
	bound   *analysis.BoundSelect
}

func (r *Router) newReader(ctx context.Context, l store.Link, v wire.Version, params *wire.Params, p *plan.Select, b *analysis.BoundSelect) *reader {
	x := &reader{ctx: ctx, r: r, link: l, version: v, plan: p, bound: b}
	x.params = wire.Params{Consistency: params.Consistency}
	if params.Has(wire.QuerySerialConsistency) {
		x.params.SetSerialConsistency(params.SerialConsistency)
	}
	if params.Has(wire.QueryNowInSeconds) {
		x.params.SetNowInSeconds(params.NowInSeconds)
	}
	x.params.SetSkipMetadata(true)
	return x
}

// response is the answer to one physical read.
type response struct {
	tag  int
	body []byte
	err  error
}

// send sends one physical read; its answer comes on out, which has room for it.
func (x *reader) send(f *plan.Fetch, tag int, out chan<- response) error {
	ids, err := x.r.registry.physical(f.Statement.Text).prepare(x.ctx, x.link, x.version, f.Statement.Text)
	if err != nil {
		return err
	}
	p := x.params
	p.SetValues(encodeValues(f.Values))
	body := wire.AppendExecute(nil, x.version, &wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p})
	x.link.Send(wire.Message{Op: wire.OpExecute, Body: body}, func(resp wire.Message) {
		body, err := result(x.version, resp)
		out <- response{tag, append([]byte(nil), body...), err}
	})
	return nil
}

// flight is a scatter fetch on its way: the pieces that are left of it and the
// rows that came.
type flight struct {
	fetch  scatter.Fetch[row]
	pieces []plan.Fetch
	rows   [][]row
}

// shardGroup is how many shards one request reads: enough that a request costs
// little beside the reads, few enough that no coordinator reads for long.
const shardGroup = 10

// page reads the first want rows of a segment after a clustering key.
func (x *reader) page(s plan.Segment, after [][]byte, want int) (rows []row, more bool, err error) {
	merge := scatter.NewReader(scatter.Options[row]{
		Shards: s.Shards, Page: want, Group: shardGroup,
		Compare: func(a, b *row) int { return x.plan.Compare(a.key, b.key) },
		Seed:    uint64(x.r.opts.IntN(1 << 30)),
	})
	window := x.r.opts.FanOut
	answers := make(chan response, window)
	flights := map[int]*flight{}
	tag := 0
	for !merge.Done() {
		for len(flights) < window {
			f, ok := merge.Next()
			if !ok {
				break
			}
			from := after
			if f.After != nil {
				from = f.After.key
			}
			var upto [][]byte
			if f.Upto != nil {
				upto = f.Upto.key
			}
			fl := &flight{fetch: f, rows: make([][]row, len(f.Shards))}
			if fl.pieces, err = x.plan.Fetches(x.bound, s, f.Shards, from, upto, f.Limit); err != nil {
				return nil, false, err
			}
			tag++
			flights[tag] = fl
			if err := x.send(&fl.pieces[0], tag, answers); err != nil {
				return nil, false, err
			}
		}
		if len(flights) == 0 {
			return nil, false, fmt.Errorf("run: a page of %s.%s is neither known nor being fetched", x.plan.Table.Keyspace, x.plan.Table.Name)
		}
		var a response
		select {
		case a = <-answers:
		case <-x.ctx.Done():
			return nil, false, x.ctx.Err()
		}
		if a.err != nil {
			return nil, false, a.err
		}
		fl := flights[a.tag]
		short, err := x.collect(fl, a.body)
		if err != nil {
			return nil, false, err
		}
		if fl.pieces = fl.pieces[1:]; short && len(fl.pieces) > 0 {
			if err := x.send(&fl.pieces[0], a.tag, answers); err != nil {
				return nil, false, err
			}
			continue
		}
		delete(flights, a.tag)
		if err := merge.Feed(fl.fetch, fl.rows); err != nil {
			return nil, false, err
		}
	}
	rows, more = merge.Page()
	return rows, more, nil
}

// collect adds the rows of one answer to their shards', up to the fetch's limit,
// and says whether some shard has less than that.
func (x *reader) collect(fl *flight, body []byte) (short bool, err error) {
	rows, err := wire.ParseRows(body)
	if err != nil {
		return false, err
	}
	p := x.plan
	width, k := rows.Metadata.Count, len(p.Clustering)
	if width <= p.ShardCell {
		return false, fmt.Errorf("run: a fetch brought %d columns", width)
	}
	// One array for the cells of all rows, visible ones and those of the key.
	cells := make([][]byte, 0, rows.Count*(p.Visible+k))
	it := rows.Iter(make([][]byte, width))
	for it.Next() {
		n := len(cells)
		cells = append(cells, it.Cells[:p.Visible]...)
		for _, at := range p.Clustering {
			cells = append(cells, it.Cells[at])
		}
		size := 0
		for _, c := range it.Cells[:p.Visible] {
			size += 4 + len(c)
		}
		shard, ok := shardValue(it.Cells[p.ShardCell])
		at := indexOf(fl.fetch.Shards, shard)
		if !ok || at < 0 {
			return false, fmt.Errorf("run: a fetch brought a row of a shard that was not asked")
		}
		if len(fl.rows[at]) < fl.fetch.Limit {
			end := n + p.Visible
			fl.rows[at] = append(fl.rows[at], row{raw: rows.Raw[it.Start : it.Start+size], cells: cells[n:end:end], key: cells[end : end+k : end+k]})
		}
	}
	if err := it.Err(); err != nil {
		return false, err
	}
	for _, rs := range fl.rows {
		short = short || len(rs) < fl.fetch.Limit
	}
	return short, nil
}

func shardValue(b []byte) (int, bool) {
	if len(b) != 4 {
		return 0, false
	}
	return int(int32(uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]))), true
}

func indexOf(ns []int, n int) int {
	for i, m := range ns {
		if m == n {
			return i
		}
	}
	return -1
}

// aggregate has every shard of the segments aggregate its rows, and combines the
// results: one row of visible cells.
func (x *reader) aggregate(segments []plan.Segment) ([][]byte, error) {
	var fetches []plan.Fetch
	for _, s := range segments {
		for shards := s.Shards; len(shards) > 0; {
			n := min(shardGroup, len(shards))
			fs, err := x.plan.Fetches(x.bound, s, shards[:n], nil, nil, 0)
			if err != nil {
				return nil, err
			}
			fetches = append(fetches, fs...)
			shards = shards[n:]
		}
	}
	var total [][]byte
	answers := make(chan response, x.r.opts.FanOut)
	for sent, done := 0, 0; done < len(fetches); done++ {
		for ; sent < len(fetches) && sent-done < x.r.opts.FanOut; sent++ {
			if err := x.send(&fetches[sent], sent, answers); err != nil {
				return nil, err
			}
		}
		var a response
		select {
		case a = <-answers:
		case <-x.ctx.Done():
			return nil, x.ctx.Err()
		}
		if a.err != nil {
			return nil, a.err
		}
		rows, err := wire.ParseRows(a.body)
		if err != nil {
			return nil, err
		}
		it := rows.Iter(make([][]byte, rows.Metadata.Count))
		for it.Next() {
			if total == nil {
				total = append(total, it.Cells...)
				continue
			}
			for i, combine := range x.plan.Combine {
				total[i] = combine(total[i], it.Cells[i])
			}
		}
		if err := it.Err(); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// each feeds merged rows, in order and filtered where that is ours to do, to
// f until it returns false. after is the position in the first segment.
func (x *reader) each(segments []plan.Segment, after [][]byte, f func(s plan.Segment, r row) (bool, error)) error {
	for i, s := range segments {
		from := [][]byte(nil)
		if i == 0 {
			from = after
		}
		for {
			rows, more, err := x.page(s, from, window)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if x.plan.FilterHere && !x.bound.Matches(eval.Cells(r.cells)) {
					continue
				}
				if on, err := f(s, r); err != nil || !on {
					return err
				}
			}
			if !more || len(rows) == 0 {
				break
			}
			from = rows[len(rows)-1].key
		}
	}
	return nil
}

// window is how many rows are read at once where a page is not the measure.
const window = 5000
