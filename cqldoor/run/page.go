package run

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

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

// group is how many shards one request may read, of so many at most: a serial read
// is of one partition (Cassandra refuses it for several at a time).
func (x *reader) group(most int) int {
	if x.params.Consistency.IsSerial() {
		return 1
	}
	return most
}

// page reads the first want rows of a segment after a clustering key.
func (x *reader) page(s plan.Segment, after [][]byte, want int) (rows []row, more bool, err error) {
	o := scatter.Options[row]{
		Shards: s.Shards, Page: want, Group: x.group(shardGroup),
		Compare: func(a, b *row) int { return x.plan.Compare(a.key, b.key) },
		Seed:    uint64(x.r.opts.IntN(1 << 30)),
	}
	if x.plan.Merges() {
		o.Combine = func(a, b row) row {
			x.plan.Merge(a.cells, b.cells)
			return a
		}
	}
	merge := scatter.NewReader(o)
	// No shard has more than one row of such a segment.
	single := s.Slice.Row(x.plan.Table.Table)
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
			if f.After != nil && single {
				if err := merge.Feed(f, make([][]row, len(f.Shards))); err != nil {
					return nil, false, err
				}
				continue
			}
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
		if merge.Done() {
			break
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
		if k > 0 && it.Cells[p.Clustering[0]] == nil {
			continue // the static columns of a partition without rows
		}
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
