// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"github.com/evenkeel/evenkeel/cql/describe"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/cassandra/system"
)

// describing answers a DESCRIBE.
type describing struct {
	*call
	text []byte // of the statement
}

func (d describing) serve(p *plan, stmt *syntax.Describe) (outcome, error) {
	if !d.detached {
		return d.refuse(systemReads)
	}
	a, err := describe.Statement(stmt, p.state.schema, &describe.Env{
		Keyspace: p.keyspace, Virtual: system.Virtual, System: system.Has,
		Cluster: d.engine.options.ClusterName, Partitioner: "Murmur3Partitioner", Snitch: "SimpleSnitch",
		Ranges: map[string][]string{system.Token: {"/" + d.engine.options.Address.String()}},
	})
	if err != nil {
		return answered, err
	}
	return answered, d.page(a)
}

// page sends a page of rows. Its paging state is the number of the next row.
func (d describing) page(a *describe.Answer) error {
	first, err := d.first(len(a.Rows))
	if err != nil {
		return err
	}
	rows := a.Rows[first:]
	var state []byte
	if n := int(d.params.PageSize); d.params.Has(wire.QueryPageSize) && n > 0 && n < len(rows) {
		rows = rows[:n]
		state = d.engine.sealPage(d.text, wire.AppendInt(nil, int32(first+n)))
	}
	d.writer.Begin(d.buffer, wire.EncodeColumns(d.version, a.Columns))
	d.writer.SetPagingState(state)
	for _, row := range rows {
		for _, cell := range row {
			d.writer.Cell(cell)
		}
		d.writer.EndRow()
	}
	d.answer(wire.OpResult, d.writer.Finish())
	d.buffer = d.writer.Buffer()
	return nil
}

// first returns the number of the page's first row, of so many.
func (d describing) first(rows int) (int, error) {
	if !d.params.Has(wire.QueryPagingState) {
		return 0, nil
	}
	raw, err := d.engine.openPage(d.text, d.params.PagingState)
	if err != nil {
		return 0, err
	}
	cur := wire.NewCursor(raw)
	n := int(cur.Int())
	if cur.Err() != nil || n < 0 || n > rows {
		return 0, errPagingState
	}
	return n, nil
}
