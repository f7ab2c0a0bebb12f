// SPDX-License-Identifier: Apache-2.0

package storage

// rowMerge merges encoded rows into one encoded row. It holds one cell of each row at a time, so its
// memory does not depend on how many cells the rows have.
type rowMerge struct {
	in   []rowInput
	heap []*rowInput // those with cells left, the one with the first cell on top
}

// rowInput is one of the rows: what is left of it, and its first cell.
type rowInput struct {
	rest rowReader
	cell cellData
	age  int // 0: the oldest row
}

// merge appends the row that rows make together to dst. The rows come from the oldest to the newest.
// Only the originals of the clustering depend on that order.
func (m *rowMerge) merge(dst []byte, rows [][]byte) ([]byte, error) {
	defer m.reset()
	out := rowWriter{row: rowData{deletion: Deletion{Timestamp: noTimestamp}}}
	head := &out.row
	for i, row := range rows {
		m.in = append(m.in, rowInput{age: i})
		in := &m.in[i].rest
		marker, deletion, originals := in.head(row, nil)
		if in.bad {
			return dst, errBadRow
		}
		if i == 0 {
			head.originals = originals
		}
		if deletion.supersedes(head.deletion) {
			head.deletion = deletion
		}
		if in.flags&rowMarker != 0 && (!head.hasMarker || marker.supersedes(&head.marker)) {
			head.hasMarker, head.marker = true, marker
		}
	}
	floor := head.deletion.Timestamp
	if head.hasMarker && head.marker.Timestamp <= floor {
		head.hasMarker, head.marker = false, Liveness{}
	}
	for i := range m.in {
		if in := &m.in[i]; in.rest.next(&in.cell) {
			m.push(in)
		} else if in.rest.bad {
			return dst, errBadRow
		}
	}

	var covered uint32              // the column whose complex deletion came last
	coveredTo := int64(noTimestamp) // and its timestamp
	for len(m.heap) > 0 {
		cell := m.heap[0].cell
		for {
			if err := m.advance(); err != nil {
				return dst, err
			}
			if len(m.heap) == 0 || compareCells(&m.heap[0].cell, &cell) != 0 {
				break
			}
			if other := &m.heap[0].cell; other.supersedes(&cell) {
				cell = *other
			}
		}
		switch {
		case cell.timestamp <= floor:
			continue
		case cell.kind&cellKind == cellComplex:
			covered, coveredTo = cell.column, cell.timestamp
		case cell.column == covered && cell.timestamp <= coveredTo:
			continue
		}
		dst = out.cell(dst, &cell)
	}
	return out.finish(dst), nil
}

func (m *rowMerge) reset() {
	clear(m.in) // release the memory that they view
	clear(m.heap)
	m.in, m.heap = m.in[:0], m.heap[:0]
}

// before orders the inputs in the heap. Of equal cells the oldest comes first.
func (a *rowInput) before(b *rowInput) bool {
	c := compareCells(&a.cell, &b.cell)
	return c < 0 || c == 0 && a.age < b.age
}

func (m *rowMerge) push(in *rowInput) {
	m.heap = append(m.heap, in)
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !m.heap[i].before(m.heap[up]) {
			return
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}

// advance goes to the next cell of the row on top.
func (m *rowMerge) advance() error {
	top := m.heap[0]
	if !top.rest.next(&top.cell) {
		if top.rest.bad {
			return errBadRow
		}
		last := len(m.heap) - 1
		m.heap[0], m.heap[last] = m.heap[last], nil
		m.heap = m.heap[:last]
	}
	for i := 0; ; {
		first := i
		for down := 2*i + 1; down <= 2*i+2 && down < len(m.heap); down++ {
			if m.heap[down].before(m.heap[first]) {
				first = down
			}
		}
		if first == i {
			return nil
		}
		m.heap[i], m.heap[first] = m.heap[first], m.heap[i]
		i = first
	}
}
