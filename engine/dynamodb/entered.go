// SPDX-License-Identifier: Apache-2.0

package dynamodb

import "slices"

// entered holds the tables that a request has entered, each once. If a request entered a table
// twice and a change of the table waited in between, both would wait for ever.
type entered struct {
	tables []*table
	shapes []*shape
}

// enter enters a table by its name or ARN, unless the request has entered it already.
func (e *entered) enter(ts *tables, name string) (*shape, error) {
	t, err := ts.forItems(name)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(e.tables, t); i >= 0 {
		return e.shapes[i], nil
	}
	sh, err := t.enter()
	if err != nil {
		return nil, err
	}
	e.tables, e.shapes = append(e.tables, t), append(e.shapes, sh)
	return sh, nil
}

func (e *entered) leave() {
	for _, t := range e.tables {
		t.leave()
	}
	e.tables = nil
}
