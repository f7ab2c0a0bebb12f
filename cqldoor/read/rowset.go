// SPDX-License-Identifier: Apache-2.0

package read

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// row is one fetched row. The rowset has its bytes. A row holds no pointers, so a page of
// thousands of rows costs the garbage collector nothing.
type row struct {
	prefix     uint64 // see plan.Select.Prefix
	body       int32  // index of the response that it is in
	start, end int32  // its visible cells in the response
	key        int32  // index of its clustering key in keys
	cells      int32  // index of its cells in cells
	shard      int32
}

// rowset holds the rows of one page and the bytes that they are views into.
type rowset struct {
	rows []row
	more bool // there may be more rows after them
	end  row  // the last row, hidden or not
	ends bool // there is a last row

	plan   *plan.Select
	layout                  // of the rows in its responses
	bodies [][]byte         // the rows as received
	keys   []int32          // offsets in a body of the cells of each clustering key
	cells  [][]byte         // the visible cells, row by row, if they are split
	owned  [][]byte         // the buffers that release puts into the pool
	held   *request.Holding // memory of the buffers
}

// layout says where the cells of fetched rows are.
type layout struct {
	visible    int
	clustering []int
	shard      int  // -1: the rows do not contain it, because one shard was asked
	split      bool // the reader looks at the visible cells one by one
}

// layoutOf returns the layout of a fetch. keys says that the fetch selects only clustering keys.
func layoutOf(p *plan.Select, keys bool) layout {
	if !keys {
		return layout{p.Visible, p.Clustering, p.ShardCell, p.Output != plan.AsRows}
	}
	l := layout{shard: len(p.Clustering)}
	if p.Table.Plain() {
		l.shard = -1
	}
	for i := range p.Clustering {
		l.clustering = append(l.clustering, i)
	}
	return l
}

// add appends the rows of one response to into, which has a list for each of shards. Each list gets at
// most limit rows.
func (s *rowset) add(body []byte, shards []int, into [][]row, limit int) error {
	s.owned = append(s.owned, body)
	rows, err := wire.ParseRows(body)
	if err != nil {
		return err
	}
	width := rows.Metadata.Count
	if width <= s.layout.shard {
		return fmt.Errorf("read: a fetch brought %d columns", width)
	}
	if len(rows.Raw) > math.MaxInt32 {
		return fmt.Errorf("read: a fetch brought %d bytes", len(rows.Raw))
	}
	s.bodies = append(s.bodies, rows.Raw)
	var (
		scratch [32]int
		bounds  = slices.Grow(scratch[:0], width)[:width]
		all     = make([]row, 0, rows.Count)
		at      = -1 // index in shards of the previous row's shard
		before  []byte
		first   int // index of the shard's first row
	)
	done := func() {
		if at >= 0 && len(into[at]) == 0 {
			into[at] = all[first:len(all):len(all)]
		} else if at >= 0 {
			into[at] = append(into[at], all[first:]...)
		}
		first = len(all)
	}
	s.keys = slices.Grow(s.keys, rows.Count*len(s.clustering))
	off := 0
	for range rows.Count {
		next, ok := rows.Bounds(off, bounds)
		if !ok {
			return fmt.Errorf("read: a fetch brought a row that is cut short")
		}
		r := row{body: int32(len(s.bodies) - 1), start: int32(off), end: int32(next), key: int32(len(s.keys)), cells: int32(len(s.cells))}
		off = next
		if s.visible < width {
			r.end = int32(bounds[s.visible])
		}
		if len(s.clustering) > 0 {
			lead := wire.CellAt(rows.Raw, bounds[s.clustering[0]])
			if lead == nil {
				continue // the static columns of a partition without rows
			}
			r.prefix = s.plan.Prefix(lead)
		}
		if s.layout.shard < 0 {
			at = 0
		} else if shard := wire.CellAt(rows.Raw, bounds[s.layout.shard]); at < 0 || !bytes.Equal(shard, before) {
			done()
			n, ok := shardValue(shard)
			if at, before = slices.Index(shards, n), shard; !ok || at < 0 {
				return fmt.Errorf("read: a fetch brought a row of a shard that was not asked")
			}
		}
		if len(into[at])+len(all)-first == limit {
			continue
		}
		r.shard = int32(shards[at])
		for _, c := range s.clustering {
			s.keys = append(s.keys, int32(bounds[c]))
		}
		if s.split {
			for _, b := range bounds[:s.visible] {
				s.cells = append(s.cells, wire.CellAt(rows.Raw, b))
			}
		}
		all = append(all, r)
	}
	done()
	return nil
}

// hide removes the rows that are not in the shard where the layout puts them. The next read continues
// after the last row, even if that row is hidden. So the number of hidden rows in a page is bounded
// too.
func (s *rowset) hide(key [][]byte) {
	if len(s.rows) == 0 {
		return
	}
	s.end, s.ends = s.rows[len(s.rows)-1], true
	if !s.plan.Table.Hides() {
		return
	}
	s.rows = slices.DeleteFunc(s.rows, func(r row) bool { return !s.belongs(key, &r) })
}

// belongs reports whether a row is in the shard where the layout puts it.
func (s *rowset) belongs(key [][]byte, r *row) bool {
	var scratch [16][]byte
	return s.plan.Table.Belongs(key, s.appendKey(scratch[:0], r), int(r.shard))
}

// adopt copies a row of another rowset o to s, and returns the copy. o still owns the row's buffers.
func (s *rowset) adopt(o *rowset, r *row) row {
	n := *r
	n.body, n.key, n.cells = int32(len(s.bodies)), int32(len(s.keys)), int32(len(s.cells))
	s.bodies = append(s.bodies, o.bodies[r.body])
	s.keys = append(s.keys, o.keys[r.key:int(r.key)+len(s.clustering)]...)
	if s.split {
		s.cells = append(s.cells, o.visibleCells(r)...)
	}
	return n
}

// compare orders rows in the statement's reading order.
func (s *rowset) compare(a, b *row) int {
	if a.prefix != b.prefix {
		if a.prefix < b.prefix {
			return -1
		}
		return 1
	}
	for i, c := range s.plan.Table.Clustering {
		x, y := s.keyCell(a, i), s.keyCell(b, i)
		d := c.Type.Compare(x, y)
		if d == 0 {
			continue
		}
		if c.Desc != s.plan.Logical.Reversed {
			return -d
		}
		return d
	}
	return 0
}

func (s *rowset) keyCell(r *row, i int) []byte {
	return wire.CellAt(s.bodies[r.body], int(s.keys[int(r.key)+i]))
}

// key returns a row's clustering key.
func (s *rowset) key(r *row) [][]byte {
	return s.appendKey(make([][]byte, 0, len(s.clustering)), r)
}

func (s *rowset) appendKey(dst [][]byte, r *row) [][]byte {
	for i := range s.clustering {
		dst = append(dst, s.keyCell(r, i))
	}
	return dst
}

// ownKey returns a copy of a row's clustering key.
func (s *rowset) ownKey(r *row) [][]byte {
	key := s.key(r)
	for i := range key {
		key[i] = bytes.Clone(key[i])
	}
	return key
}

// stranger returns a row that no shard has returned. The row has only a clustering key.
func (s *rowset) stranger(key [][]byte) *row {
	r := &row{body: int32(len(s.bodies)), key: int32(len(s.keys))}
	var body []byte
	for i, cell := range key {
		if i == 0 {
			r.prefix = s.plan.Prefix(cell)
		}
		s.keys = append(s.keys, int32(len(body)))
		body = wire.AppendBytes(body, cell)
	}
	s.bodies = append(s.bodies, body)
	return r
}

// raw returns the encoded visible cells of a row.
func (s *rowset) raw(r *row) []byte { return s.bodies[r.body][r.start:r.end] }

// visibleCells returns a row's visible cells. The rowset must have split them.
func (s *rowset) visibleCells(r *row) [][]byte {
	end := int(r.cells) + s.visible
	return s.cells[r.cells:end:end]
}

// bytes returns the size of the rows' visible cells, in bytes.
func (s *rowset) bytes() int {
	n := 0
	for i := range s.rows {
		n += int(s.rows[i].end - s.rows[i].start)
	}
	return n
}

// release puts the responses' buffers into the pool. Nobody may use a row afterwards.
func (s *rowset) release() {
	for _, b := range s.owned {
		giveBuffer(b)
	}
	s.held.Close()
	*s = rowset{}
}

// shardValue decodes the value of a shard column. It returns false for a value of another length.
func shardValue(b []byte) (int, bool) {
	if len(b) != 4 {
		return 0, false
	}
	return int(int32(binary.BigEndian.Uint32(b))), true
}
