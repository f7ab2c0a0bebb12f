// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"bytes"
	"math"

	"github.com/evenkeel/evenkeel/partitioner"
)

// Probe estimates a table's size from the beginnings of parts of the ring.
type Probe struct {
	keys, cells             int
	partitions, rows, bytes float64
	width                   float64 // of the ring, that rows, partitions and bytes are of
	whole                   bool    // nothing was cut short
	began                   Range
	nowPartitions, nowRows  float64
	nowBytes                float64
	token                   int64
	key, scratch            []byte
}

// NewProbe takes rows with so many key columns and cells.
func NewProbe(keys, cells int) *Probe { return &Probe{keys: keys, cells: cells, whole: true} }

// Begin begins a part.
func (p *Probe) Begin(r Range) {
	p.began, p.nowPartitions, p.nowRows, p.nowBytes, p.key = r, 0, 0, 0, nil
}

// Row adds a row.
func (p *Probe) Row(token int64, cells [][]byte) {
	p.scratch = partitioner.AppendComposite(p.scratch[:0], cells[:p.keys]...)
	if p.nowRows == 0 || token != p.token || !bytes.Equal(p.scratch, p.key) {
		p.nowPartitions++
		p.token, p.key = token, append(p.key[:0], p.scratch...)
	}
	p.nowRows++
	for _, c := range cells[:p.cells] {
		p.nowBytes += float64(len(c)) + 4
	}
}

// End ends a part, which was read to its end, or is cut short behind some rows.
func (p *Probe) End(whole bool) {
	r := p.began
	if !whole {
		r.UpTo = p.token
		p.whole = false
	}
	p.width += r.share()
	p.partitions += p.nowPartitions
	p.rows += p.nowRows
	p.bytes += p.nowBytes
}

// Size is what the rows say of the table.
func (p *Probe) Size() Size {
	s := Size{Partitions: p.partitions, Rows: p.rows, From: "all of it, it is small"}
	if p.rows > 0 {
		s.RowBytes = p.bytes / p.rows
	}
	if !p.whole && p.width > 0 {
		s.Partitions, s.Rows = math.Round(p.partitions/p.width), math.Round(p.rows/p.width)
		s.From = "a first sample"
	}
	return s
}

// With takes into account what the store itself says: how many partitions it has, and
// their mean size as they are stored.
func (s Size) With(partitions, meanBytes float64) Size {
	s.Partitions = math.Max(s.Partitions, partitions)
	// As they are stored, rows have about the bytes that they have on the way.
	if s.RowBytes > 0 {
		if rows := math.Round(partitions * meanBytes / s.RowBytes); rows > s.Rows {
			s.Rows, s.From = rows, "system.size_estimates"
		}
	}
	return s
}
