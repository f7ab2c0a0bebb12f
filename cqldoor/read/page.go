// SPDX-License-Identifier: Apache-2.0

package read

import (
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// rows writes a page of rows as the shards select them. If page is 0, it writes all rows.
func (x *reader) rows(out *output, c plan.Cursor, page int) error {
	if x.bound.Empty() {
		return nil
	}
	w := rowsPage{reader: x, out: out, at: c, page: page, left: page}
	for i, key := range x.bound.Keys.From(c.KeyIndex) {
		var after [][]byte
		if i == c.KeyIndex {
			after = c.After
		} else {
			w.at.KeyIndex, w.at.PerKey, w.last = i, x.bound.PerPartitionLimit, nil
			if page > 0 && x.hurried() {
				w.out.next(plan.Cursor{KeyIndex: i, Limit: w.at.Limit, PerKey: w.at.PerKey})
				return nil
			}
		}
		if err := x.look(i); err != nil {
			return err
		}
		if on, err := w.partition(key, after); err != nil || !on {
			return err
		}
	}
	return nil
}

// rowsPage is a page of rows that is being written.
type rowsPage struct {
	*reader
	out   *output
	at    plan.Cursor       // the rest of the limits, and the present partition
	page  int               // largest number of rows; 0: all rows are one page
	left  int               // rows left of the page
	last  [][]byte          // clustering key of the last row of the present partition
	shard int               // the shard of the last row
	guess *buckets.Guessing // of the present partition; nil: none
}

// spent reports whether PER PARTITION LIMIT leaves no more rows of the present partition.
func (w *rowsPage) spent() bool { return w.bound.PerPartitionLimit > 0 && w.at.PerKey == 0 }

// partition writes rows of the present partition after a clustering key. It returns false if the page
// needs no more rows.
func (w *rowsPage) partition(key, after [][]byte) (bool, error) {
	if w.spent() {
		return true, nil
	}
	if !w.plan.Table.Timed() || w.plan.Old != nil {
		return w.segments(w.dir, key, after, func(plan.Segment) {})
	}
	at := w.reads.Buckets.Latest.Of(w.plan.Table, key)
	dir := &buckets.Guessing{Paced: buckets.Paced{Directory: w.dir, Want: w.wanted(), Known: at.Known()}, At: at}
	before, visited := w.out.w.Count(), 0
	read := func(s plan.Segment) {
		if now := w.out.w.Count() - before; now > dir.Rows {
			dir.Rows, visited = now, dir.Read+w.plan.BucketsTo(s, w.shard)
		}
	}
	w.guess = dir
	on, err := w.segments(dir, key, after, read)
	if err == buckets.ErrGuess {
		w.ahead = nil
		on, err = w.segments(dir, key, after, read)
	}
	w.guess = nil
	dir.Known.Learn(at, dir.Rows, visited)
	return on, err
}

// segments writes rows of the segments of the present partition after a clustering key. It calls read
// after each segment. It returns false if the page needs no more rows.
func (w *rowsPage) segments(dir plan.Directory, key, after [][]byte, read func(plan.Segment)) (bool, error) {
	for s := range w.plan.PartitionSegments(w.bound, dir, w.at.KeyIndex, key, after) {
		on, err := w.segment(s)
		if read(s); err != nil || !on {
			return false, err
		}
		if w.spent() {
			break
		}
	}
	return true, nil
}

// wanted returns how many more rows of the present partition the page needs; 0: all.
func (w *rowsPage) wanted() (n int) {
	for _, limit := range []int{w.left, w.at.Limit, w.at.PerKey} {
		if limit > 0 && (n == 0 || limit < n) {
			n = limit
		}
	}
	return n
}

// segment writes rows of a segment. It returns false if the page needs no more rows.
func (w *rowsPage) segment(s plan.Segment) (bool, error) {
	for after := s.After; ; {
		want := w.rowWidth().span(w.reads.Held)
		if limit := w.wanted(); limit > 0 {
			want = min(want, limit)
		}
		rows, err := w.reader.page(s, after, want)
		if wrong := w.guess.Confirm(); wrong != nil {
			if err == nil {
				rows.release()
			}
			return false, wrong
		}
		if err != nil {
			return false, err
		}
		n, err := w.out.rows(rows, w.reads.Longest)
		if err != nil {
			return false, err
		}
		if n > 0 {
			w.shard = int(rows.rows[n-1].shard)
		}
		long := n < len(rows.rows)
		more := rows.more
		switch {
		case long && n > 0:
			after = rows.ownKey(&rows.rows[n-1])
			w.last = after
		case !long && rows.ends:
			after = rows.ownKey(&rows.end)
			w.last = after
		}
		rows.release()
		if long && w.page == 0 {
			return false, request.ErrLong
		}
		if w.at.Limit > 0 {
			if w.at.Limit -= n; w.at.Limit == 0 {
				return false, nil
			}
		}
		if w.bound.PerPartitionLimit > 0 {
			w.at.PerKey -= n
			more = more && !w.spent()
		}
		if long {
			w.at.After = w.last
			w.out.next(w.at)
			return false, nil
		}
		if w.page > 0 {
			if w.left -= n; w.left == 0 {
				w.end(s, after, more)
				return false, nil
			}
		}
		if !more {
			return true, nil
		}
	}
}

// end ends a full page after a clustering key of a segment. more says whether the segment can have
// rows after that key.
func (w *rowsPage) end(s plan.Segment, after [][]byte, more bool) {
	switch w.at.After = after; {
	case more, !s.Last && !w.spent():
		w.out.next(w.at)
	case s.KeyIndex+1 < w.bound.Keys.Len():
		w.out.next(plan.Cursor{KeyIndex: s.KeyIndex + 1, Limit: w.at.Limit, PerKey: w.bound.PerPartitionLimit})
	}
}

// rows writes as many rows as fit into a result of longest bytes. It writes the first row of the
// result in any case. It returns how many rows it has written.
func (o *output) rows(rows *rowset, longest int) (int, error) {
	more := min(rows.bytes(), longest)
	if err := o.room(o.w.Size() + more); err != nil {
		return 0, err
	}
	o.w.Grow(more)
	for i := range rows.rows {
		raw := rows.raw(&rows.rows[i])
		if o.w.Count() > 0 && o.w.Size()+len(raw) > longest {
			return i, nil
		}
		o.w.Row(raw)
	}
	return len(rows.rows), nil
}
