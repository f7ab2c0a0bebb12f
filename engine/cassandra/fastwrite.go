// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// rowPlan is the fast path of an INSERT or UPDATE of one row whose primary key and values are
// plain markers of columns with one cell. Unusual values go the general path, which returns the
// errors.
type rowPlan struct {
	plan       *writePlan
	partition  []keyMarker
	clustering []keyMarker
	cells      []cellMarker
}

// cellMarker says which marker holds the value of a cell.
type cellMarker struct {
	index  int
	typ    *value.Type
	column uint32
}

func newRowPlan(p *writePlan) *rowPlan {
	if p.Conditional() || p.Counter || p.JSON != nil || p.Timestamp != nil || p.TTL != nil ||
		p.Scope != analysis.ScopeRows || p.Kind == analysis.Delete || p.Where.Partition == nil {
		return nil
	}
	r := &rowPlan{plan: p}
	var ok bool
	if r.partition, ok = keyMarkers(p.Where.Partition, len(p.table.PartitionKey)); !ok {
		return nil
	}
	if r.clustering, ok = keyMarkers(p.Where.Clustering, len(p.table.Clustering)); !ok {
		return nil
	}
	for i := range p.Operations {
		op := &p.Operations[i]
		m, ok := op.Term.(*eval.Marker)
		if !ok || op.Kind != analysis.Set || op.Column.Kind != schema.Regular || op.Column.Type.Multicell() {
			return nil
		}
		r.cells = append(r.cells, cellMarker{m.Index, m.T, p.table.ids.of[op.Column.Name]})
	}
	return r
}

// writeRow executes the write. It returns false if the general path must do it. The committer
// answers.
func (c *call) writeRow(p *rowPlan) (done bool, err error) {
	r := &c.read
	var ok bool
	if r.key, ok = keyValues(r.key[:0], p.partition, c.env.Values); !ok {
		return false, nil
	}
	if r.clustering, ok = keyValues(r.clustering[:0], p.clustering, c.env.Values); !ok {
		return false, nil
	}
	r.raw = partitioner.AppendComposite(r.raw[:0], r.key...)
	if len(r.raw)+size(r.clustering) > maxKey {
		return false, nil // perhaps too long
	}
	for _, m := range p.cells {
		v := &c.env.Values[m.index]
		if v.Unset {
			continue
		}
		stored, err := m.typ.Bind(v.Bytes)
		if err != nil || m.typ.HasNull(stored) {
			return false, nil
		}
		v.Bytes = stored
	}
	if err := p.plan.checkExpiry(c.seconds, nil); err != nil {
		return false, err
	}
	if c.engine.limits != nil {
		if err := c.affordRow(p); err != nil {
			return false, err
		}
	}
	c.rowPlan = p
	c.engine.commits.add(c, c)
	return true, nil
}

// fill implements filler: it puts the row of rowPlan into a batch.
func (c *call) fill(b *storage.Batch) {
	p, r := c.rowPlan, &c.read
	s := stamp{timestamp: c.env.Now, ttl: p.plan.ttl, seconds: c.seconds}
	if c.params.Has(wire.QueryDefaultTimestamp) {
		s.timestamp = c.params.DefaultTimestamp
	}
	if s.ttl > 0 {
		s.expires = s.seconds + int64(s.ttl)
	}
	b.Partition(p.plan.table.store, partitioner.Murmur3(r.raw), r.raw)
	b.Row(r.clustering)
	if p.plan.Kind == analysis.Insert {
		b.Marker(storage.Liveness{Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
	}
	for _, m := range p.cells {
		v := &c.env.Values[m.index]
		switch {
		case v.Unset:
		case v.Bytes == nil:
			b.Unset(m.column, nil, s.deletion())
		default:
			b.Set(storage.Cell{Column: m.column, Value: v.Bytes, Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
		}
	}
}

// maxKey is the largest size of a serialized partition key, and of a clustering.
const maxKey = 65535

func size(values [][]byte) int {
	n := 0
	for _, v := range values {
		n += len(v)
	}
	return n
}
