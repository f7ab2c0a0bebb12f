package run

import "github.com/evenkeel/evenkeel/cqldoor/plan"

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
