package run

import (
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// maxResult is how many bytes of rows a result has at most: drivers refuse a frame
// of more than 256 MiB.
const maxResult = 255 << 20

// errLong is for what may not be read in pages, or is not.
var errLong = wire.Errorf(wire.CodeServer, "evenkeel: the result is longer than the 256 MiB that fit into one message; read it in pages, or less of it")

// rows writes a page of rows as the shards select them; page 0 is all.
func (x *reader) rows(out *output, segments []plan.Segment, c plan.Cursor, page int) error {
	left := page      // of the page
	var last [][]byte // the clustering key of the last row of this partition
	perKey := x.bound.PerPartitionLimit
	after := c.After
	for i := 0; i < len(segments); i++ {
		s := segments[i]
		if s.KeyIndex != c.KeyIndex {
			c.KeyIndex, c.PerKey = s.KeyIndex, perKey
			last = nil
		}
		if perKey > 0 && c.PerKey == 0 {
			after = nil
			continue
		}
		for {
			want := x.span()
			for _, limit := range []int{left, c.Limit, c.PerKey} {
				if limit > 0 {
					want = min(want, limit)
				}
			}
			rows, err := x.page(s, after, want)
			if err != nil {
				return err
			}
			n := out.rows(rows, x.r.longest)
			long := n < len(rows.rows)
			more := rows.more
			if n > 0 {
				after = rows.ownKey(&rows.rows[n-1])
				last = after
			}
			rows.release()
			if long && page == 0 {
				return errLong
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
			if long {
				c.After = last
				out.next(c)
				return nil
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

// rows writes rows as long as the result is no longer than it may be, and says how
// many.
func (o *output) rows(rows *rowset, longest int) int {
	o.w.Grow(min(rows.bytes(), longest))
	for i := range rows.rows {
		raw := rows.raw(&rows.rows[i])
		if o.w.Count() > 0 && o.w.Size()+len(raw) > longest {
			return i
		}
		o.w.Row(raw)
	}
	return len(rows.rows)
}
