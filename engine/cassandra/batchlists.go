// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// readings are the columns that the statements of a batch read before they write: lists that they
// change by index or value, and numbers and texts that they add to. A column that several of them
// read is read once, and kept until the last of them has it.
type readings struct {
	of   map[reading]*before
	size int // bytes that are kept
}

// reading names a column of a row.
type reading struct {
	table    *table
	column   *schema.Column
	key, row string
}

// maxReadings is how many bytes a batch may keep of columns that several of its statements read.
const maxReadings = 64 << 20

// nameOf returns the name of a row: equal for equal clusterings, whatever their bytes.
func nameOf(t *schema.Table, clustering [][]byte) string {
	var name, canonical []byte
	for i, v := range clustering {
		canonical = t.Clustering[i].Type.Canonical(canonical[:0], v)
		name = value.AppendPart(name, canonical)
	}
	return string(name)
}

func (p *pending) reading(c *schema.Column) reading {
	r := reading{table: p.table, column: c, key: string(p.key)}
	if c.Kind != schema.Static {
		r.row = nameOf(p.table.Table, p.row)
	}
	return r
}

// countReadings finds out how many statements of a batch read each column.
func (w *writing) countReadings() {
	if len(w.writes) < 2 || !w.reads {
		return
	}
	w.before.of = map[reading]*before{}
	for i := range w.writes {
		b := &w.writes[i]
		columns := b.readColumns()
		if columns == nil {
			continue
		}
		for _, ref := range (&writing{c: w.c, writes: w.writes[i : i+1]}).partitions() {
			p := pending{table: b.plan.table, key: ref.Key}
			for c := range columns {
				if c.Kind == schema.Static {
					w.before.count(p.reading(c))
					continue
				}
				for _, p.row = range b.Rows.All() {
					w.before.count(p.reading(c))
				}
			}
		}
	}
}

func (r *readings) count(name reading) {
	b := r.of[name]
	if b == nil {
		b = &before{}
		r.of[name] = b
	}
	b.uses++
}

// get returns what a column had before the writes.
func (r *readings) get(p *pending, c *schema.Column) (*before, error) {
	if r.of == nil {
		cells, err := p.read(c)
		return &before{cells: cells}, err
	}
	name := p.reading(c)
	b := r.of[name]
	if !b.read {
		var err error
		if b.cells, err = p.read(c); err != nil {
			return nil, err
		}
		b.read = true
		for i := range b.cells {
			b.size += len(b.cells[i].Path) + len(b.cells[i].Value) + overhead
		}
		r.size += b.size
	}
	if b.uses--; b.uses == 0 {
		delete(r.of, name)
		r.size -= b.size
	}
	if r.size > maxReadings {
		return nil, wire.Invalidf("the statements of the batch change several long collections by index or value more than once; change each in a batch of its own")
	}
	return b, nil
}
