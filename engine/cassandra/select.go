// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"crypto/md5"
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/cassandra/system"
)

// selectPlan is a SELECT ready to be executed.
type selectPlan struct {
	*analysis.Select
	table    *table
	state    *state
	text     string
	fetch    fetchPlan
	columns  []wire.Column // columns of the result
	resultID [md5.Size]byte
	direct   []int // indexes in Fetch of the cells that form the result; nil if it is computed
	point    *pointPlan
	encoded  [2]encodedColumns // by protocol version
}

// encodedColumns is the metadata of a result. It is encoded when it is first needed.
type encodedColumns struct {
	once sync.Once
	m    wire.Metadata
}

func newSelectPlan(s *state, a *analysis.Select, text string) (*selectPlan, error) {
	p := &selectPlan{Select: a, table: s.tables[a.Table], state: s, text: text}
	if a.NeedsIndex && !a.AllowFiltering {
		return nil, wire.Invalidf("secondary indexes are not supported by the embedded engine")
	}
	p.fetch = newFetchPlan(p.table, a.Fetch)
	if a.StaticRows || a.StaticsOnly {
		for _, c := range p.table.Statics { // any static column makes the static row exist
			p.fetch.columns.Add(p.table.ids.of[c.Name])
		}
	}
	for _, c := range a.Columns {
		p.columns = append(p.columns, wire.Column{Keyspace: a.Table.Keyspace, Table: a.Table.Name, Name: c.Name, Type: c.Type})
	}
	p.resultID = a.ResultID()
	p.direct = directCells(&a.Selection)
	p.point = newPointPlan(p)
	return p, nil
}

// directCells returns the fetched cells if a selection only passes cells on.
func directCells(s *eval.Selection) []int {
	if s.JSON != nil || s.Aggregated {
		return nil
	}
	cells := make([]int, len(s.Exprs))
	for i, e := range s.Exprs {
		c, ok := e.(*eval.Column)
		if !ok {
			return nil
		}
		cells[i] = c.Cell
	}
	return cells
}

func (p *selectPlan) metadata(v wire.Version) wire.Metadata {
	e := &p.encoded[0]
	if v >= wire.V5 {
		e = &p.encoded[1]
	}
	e.once.Do(func() { e.m = wire.EncodeColumns(v, p.columns) })
	return e.m
}

// resultMetadata returns what a result says of its columns: nothing if the client knows them and
// does not want them, or their new id if the client knows others.
func (c *call) resultMetadata(p *selectPlan, k *known) wire.Metadata {
	m := p.metadata(c.version)
	if k == nil {
		return m
	}
	if string(k.resultID) == string(p.resultID[:]) {
		if c.params.Has(wire.QuerySkipMetadata) {
			m.Flags |= wire.MetadataNone
		}
	} else if c.version >= wire.V5 {
		m.Flags |= wire.MetadataNewID
		m.NewID = p.resultID[:]
	}
	return m
}

// selectRows executes a SELECT.
func (c *call) selectRows(p *selectPlan, k *known) (outcome, error) {
	if c.params.Consistency == wire.Any {
		return answered, errReadAny
	}
	if p.point != nil && !c.params.Has(wire.QueryPagingState) {
		done, err := c.readPoint(p, k)
		if err == errAtLength {
			return c.refuse(pages)
		}
		if done || err != nil {
			return answered, err
		}
	}
	if !c.detached {
		k, brief, err := p.effort(c)
		if err == errAtLength {
			return c.refuse(pages)
		} else if err != nil {
			return answered, err
		}
		if !brief {
			return c.refuse(k)
		}
	}
	b, err := p.Bind(&c.env)
	if err == errAtLength {
		return c.refuse(pages)
	} else if err != nil {
		return answered, err
	}
	r := &c.read
	if err := r.begin(c, p, b); err != nil {
		return answered, err
	}
	c.writer.Begin(c.buffer, c.resultMetadata(p, k))
	if err := r.run(); err == errAtLength {
		return c.refuse(pages)
	} else if err != nil {
		return answered, err
	}
	c.answer(wire.OpResult, c.writer.Finish())
	c.buffer = c.writer.Buffer()
	return answered, nil
}

var errReadAny = wire.Invalidf("ANY ConsistencyLevel is only supported for writes")

// briefPage is the largest page of one partition that is read on the caller's goroutine.
// largestPage is the largest page that does not count as a scan.
const (
	briefPage   = 200
	largestPage = 10_000
)

// effort says whether the read is certainly short: a few rows of one partition that are found
// without visiting many others. Otherwise it returns the lane for the read.
func (p *selectPlan) effort(c *call) (k kind, brief bool, err error) {
	partition := p.Where.Partition != nil && onlyEqual(p.Where.Partition)
	if p.table.store == nil {
		if p.table.Name == system.PartitionsTable || p.table.estimates() { // these visit the tables' keys
			return scans, false, nil
		}
		return systemReads, partition && !p.Selection.Aggregated && !p.Grouped && len(p.Where.Filters) == 0, nil
	}
	if p.Selection.Aggregated || p.Grouped || len(p.Where.Filters) > 0 {
		return scans, false, nil
	}
	if partition && len(p.Where.Clustering) == len(p.table.Clustering) && onlyEqual(p.Where.Clustering) {
		return pages, true, nil
	}
	limit, perPartition, err := p.Limits(&c.env)
	if err != nil {
		return scans, false, err
	}
	rows := largestPage + 1
	bound := func(n int) {
		if n > 0 {
			rows = min(rows, n)
		}
	}
	bound(limit)
	if c.params.Has(wire.QueryPageSize) {
		bound(int(c.params.PageSize))
	}
	if p.Where.Partition != nil {
		bound(perPartition)
	}
	if rows > largestPage {
		return scans, false, nil
	}
	return pages, partition && rows <= briefPage, nil
}

func onlyEqual(all []*analysis.Restriction) bool {
	return !slices.ContainsFunc(all, func(r *analysis.Restriction) bool { return r.Kind != analysis.EQ })
}
