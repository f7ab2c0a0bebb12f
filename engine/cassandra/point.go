// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/partitioner"
)

// pointPlan is the fast path of a SELECT of one row by its primary key. All parts of the key are
// plain markers. Unusual values (null, unset, empty or malformed) go the general path, which
// returns the errors.
type pointPlan struct {
	partition  []keyMarker
	clustering []keyMarker
}

// keyMarker says which marker holds a part of the primary key.
type keyMarker struct {
	index int
	typ   *value.Type
}

func newPointPlan(p *selectPlan) *pointPlan {
	w := &p.Where
	if p.table.store == nil || w.Partition == nil || w.Token != nil || len(w.Filters) > 0 ||
		p.direct == nil || p.Grouped || p.StaticsOnly || p.fetch.static || p.fetch.times ||
		p.Limit != nil || p.PerPartitionLimit != nil || len(p.Sort) > 0 {
		return nil
	}
	pp := &pointPlan{}
	var ok bool
	if pp.partition, ok = keyMarkers(w.Partition, len(p.table.PartitionKey)); !ok {
		return nil
	}
	if pp.clustering, ok = keyMarkers(w.Clustering, len(p.table.Clustering)); !ok {
		return nil
	}
	return pp
}

// keyMarkers reads restrictions if they all have the form c = ?, one for each of n columns.
func keyMarkers(restrictions []*analysis.Restriction, n int) ([]keyMarker, bool) {
	if len(restrictions) != n {
		return nil, false
	}
	markers := make([]keyMarker, n)
	for i, r := range restrictions {
		if r == nil || r.Kind != analysis.EQ || len(r.Columns) != 1 || r.Tuple || r.Columns[0].Position != i {
			return nil, false
		}
		m, ok := r.Term.(*eval.Marker)
		if !ok {
			return nil, false
		}
		markers[i] = keyMarker{m.Index, m.T}
	}
	return markers, true
}

// keyValues appends the values of a key's parts in their stored form. It returns whether they are
// valid.
func keyValues(dst [][]byte, markers []keyMarker, values []eval.Value) ([][]byte, bool) {
	for _, m := range markers {
		v, err := m.typ.Bind(values[m.index].Bytes)
		if err != nil || len(v) == 0 || m.typ.HasNull(v) {
			return dst, false
		}
		dst = append(dst, v)
	}
	return dst, true
}

// readPoint executes the SELECT. It returns false if the general path must do it.
func (c *call) readPoint(p *selectPlan, k *known) (done bool, err error) {
	if c.params.PageSize == 1 && c.params.Has(wire.QueryPageSize) {
		return false, nil // the page will be full, so there is a paging state
	}
	r := &c.read
	var ok bool
	if r.key, ok = keyValues(r.key[:0], p.point.partition, c.env.Values); !ok {
		return false, nil
	}
	if r.clustering, ok = keyValues(r.clustering[:0], p.point.clustering, c.env.Values); !ok {
		return false, nil
	}
	r.raw = partitioner.AppendComposite(r.raw[:0], r.key...)
	if len(r.raw) > maxKey {
		return false, nil
	}
	token := partitioner.Murmur3(r.raw)
	r.query = storage.Query{Now: c.seconds, Columns: p.fetch.columns, Room: c.rowRoom, Packed: true}
	var at throughput.Key
	limits := c.engine.limits
	if limits != nil {
		if at, err = limits.admitRead(p.table, token, r.raw, r.clustering, c.params.Consistency); err != nil {
			return true, err
		}
		r.query.All, r.query.Packed = true, false
	}
	found, err := p.table.store.Get(token, r.raw, r.clustering, &r.query, &r.row)
	if err != nil {
		return true, storageError(err)
	}
	if limits != nil {
		n := 0
		if found {
			n = rowMetadata + sizeOfKey(r.key, r.clustering) + sizeOfCells(r.row.Cells)
		}
		limits.spendRead(p.table, at, readUnits(n, c.params.Consistency))
	}
	c.writer.Begin(c.buffer, c.resultMetadata(p, k))
	if found {
		r.view.begin(&p.fetch, c.seconds)
		r.view.partition(r.key, nil)
		if r.view.row(&r.row); r.view.err != nil {
			return true, r.view.err
		}
		for _, i := range p.direct {
			c.writer.Cell(r.view.cells[i])
		}
		c.writer.EndRow()
	}
	c.answer(wire.OpResult, c.writer.Finish())
	c.buffer = c.writer.Buffer()
	return true, nil
}
