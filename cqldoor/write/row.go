// SPDX-License-Identifier: Apache-2.0

package write

import (
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// logicalRow returns the RESULT of a conditional write without the hidden column, and with the logical
// table's name. Such a RESULT shows the row as the store has it.
func logicalRow(v wire.Version, body []byte, t *plan.Table) ([]byte, error) {
	if wire.KindOf(body) != wire.ResultRows {
		return body, nil
	}
	rows, err := wire.ParseRows(body)
	if err != nil {
		return nil, err
	}
	columns, err := rows.Metadata.Columns()
	if err != nil {
		return nil, err
	}
	hidden := -1
	for i, c := range columns {
		if c.Name == t.Layout.Column {
			hidden = i
		}
	}
	if hidden < 0 && !t.Renamed() {
		return body, nil
	}
	var shown []wire.Column
	for i, c := range columns {
		if c.Table = t.Name; i != hidden {
			shown = append(shown, c)
		}
	}
	var w wire.RowsWriter
	w.Begin(nil, wire.EncodeColumns(v, shown))
	it := rows.Iter(nil)
	for it.Next() {
		for i, cell := range it.Cells {
			if i != hidden {
				w.Cell(cell)
			}
		}
		w.EndRow()
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	return w.Finish(), nil
}
