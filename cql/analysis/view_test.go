// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/binary"
	"sort"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// sortedPaths returns the paths of the cells in the collection's order.
func sortedPaths(t *value.Type, cells map[string]modelCell) []string {
	of := value.Native(value.Timeuuid)
	switch t.Kind {
	case value.Set, value.Map:
		of = t.Elems[0]
	case value.UDT:
		of = value.Native(value.Blob)
	}
	var paths []string
	for p := range cells {
		paths = append(paths, p)
	}
	sort.Slice(paths, func(i, j int) bool { return of.Compare([]byte(paths[i]), []byte(paths[j])) < 0 })
	return paths
}

// modelView adapts a row of the model to eval.
type modelView struct {
	fetch []Fetched
	p     *modelPartition
	r     *modelRow // nil: only static content
}

func (v *modelView) cells(c *schema.Column) map[string]modelCell {
	r := v.r
	if c.Kind == schema.Static {
		r = v.p.static
	}
	if r == nil {
		return nil
	}
	return r.cells[c]
}

func (v *modelView) Cell(i int) []byte {
	c := v.fetch[i].Column
	switch c.Kind {
	case schema.PartitionKey:
		return v.p.key[c.Position]
	case schema.Clustering:
		if v.r == nil {
			return nil
		}
		return v.r.clustering[c.Position]
	}
	cells := v.cells(c)
	if !c.Type.Multicell() {
		return cells[""].value
	}
	if len(cells) == 0 {
		return nil
	}
	t := c.Type
	if t.Kind == value.UDT {
		fields := make([][]byte, len(t.Elems))
		for p, f := range cells {
			fields[binary.BigEndian.Uint16([]byte(p))] = f.value
		}
		return t.Build(nil, fields)
	}
	var parts [][]byte
	for _, p := range sortedPaths(t, cells) {
		switch t.Kind {
		case value.Set:
			parts = append(parts, []byte(p))
		case value.Map:
			parts = append(parts, []byte(p), cells[p].value)
		default:
			parts = append(parts, cells[p].value)
		}
	}
	return t.Build(nil, parts)
}

func (v *modelView) Times(i int) []eval.CellTime {
	c := v.fetch[i].Column
	cells := v.cells(c)
	if c.Type.Kind == value.UDT && c.Type.Multicell() {
		if len(cells) == 0 {
			return nil
		}
		out := make([]eval.CellTime, len(c.Type.Elems))
		for i := range out {
			out[i] = eval.CellTime{Timestamp: eval.NoTimestamp, TTL: eval.NoTTL}
		}
		for p, f := range cells {
			out[binary.BigEndian.Uint16([]byte(p))] = f.time
		}
		return out
	}
	var out []eval.CellTime
	for _, p := range sortedPaths(c.Type, cells) {
		out = append(out, cells[p].time)
	}
	return out
}
