// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/result"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// position is where a page ended and the next one begins: inside a partition after a clustering,
// or after the partition. It is the content of a paging state:
//
//	flags        byte
//	left         varint, LIMIT's rest + 1; 0 without LIMIT
//	inPartition  varint, PER PARTITION LIMIT's rest + 1; 0 without
//	key          length, bytes
//	after        (length, bytes)… when inside
type position struct {
	inside      bool
	left        int
	inPartition int
	token       int64
	key         []byte
	after       [][]byte
}

const positionInside = 1

func (p *position) append(dst []byte) []byte {
	var flags byte
	if p.inside {
		flags |= positionInside
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(p.left+1))
	dst = binary.AppendUvarint(dst, uint64(p.inPartition+1))
	dst = append(binary.AppendUvarint(dst, uint64(len(p.key))), p.key...)
	if p.inside {
		for _, v := range p.after {
			dst = append(binary.AppendUvarint(dst, uint64(len(v))), v...)
		}
	}
	return dst
}

func parsePosition(src []byte, clustering int) (*position, error) {
	if len(src) == 0 {
		return nil, errPagingState
	}
	p := &position{inside: src[0]&positionInside != 0}
	src = src[1:]
	bad := false
	number := func() uint64 {
		n, size := binary.Uvarint(src)
		if size <= 0 || n > 1<<32 {
			bad = true
			return 0
		}
		src = src[size:]
		return n
	}
	bytes := func() []byte {
		n := number()
		if n > uint64(len(src)) {
			bad = true
			return nil
		}
		b := src[:n:n]
		src = src[n:]
		return b
	}
	p.left = int(number()) - 1
	p.inPartition = int(number()) - 1
	p.key = bytes()
	if p.inside {
		for range clustering {
			p.after = append(p.after, bytes())
		}
	}
	if bad || len(src) > 0 {
		return nil, errPagingState
	}
	return p, nil
}

// purpose returns the purpose of a paging state of this read: its table. As in Cassandra, another
// statement on the table may continue from it, within its own restrictions.
func (r *read) purpose() []byte {
	c, t := r.c, r.plan.table
	c.scratch = append(c.scratch[:0], t.ID[:]...)
	c.scratch = wire.AppendString(wire.AppendString(c.scratch, t.Keyspace), t.Name)
	return c.scratch
}

// resume decodes the request's paging state. It returns nil if there is none.
func (r *read) resume() (*position, error) {
	if !r.c.params.Has(wire.QueryPagingState) {
		return nil, nil
	}
	if len(r.plan.Sort) > 0 || r.plan.Selection.Aggregated && !r.plan.Grouped {
		return nil, errPagingState // the statement has no pages
	}
	payload, err := r.c.engine.openPage(r.purpose(), r.c.params.PagingState)
	if err != nil {
		return nil, err
	}
	at, err := parsePosition(payload, len(r.plan.table.Clustering))
	if err != nil {
		return nil, err
	}
	at.token = r.plan.table.token(at.key)
	r.Left = result.Lesser(r.Left, at.left)
	return at, nil
}

// suspend ends the page after a clustering of the current partition. If the partition can have no
// more rows, it ends the page after the partition. It returns whether another page may follow.
func (r *read) suspend(after [][]byte) bool {
	if len(after) == 0 || r.Inside == 0 {
		return r.pageEnd()
	}
	r.setPagingState(&position{inside: true, left: r.Left, inPartition: r.Inside, key: r.raw, after: after})
	return true
}

func (r *read) setPagingState(p *position) {
	r.c.writer.SetPagingState(r.c.engine.sealPage(r.purpose(), p.append(nil)))
}
