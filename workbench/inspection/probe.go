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
	width                   float64 // the share of the ring that rows, partitions and bytes come from
	whole                   bool    // no part was cut short
	began                   Range
	nowPartitions, nowRows  float64
	nowBytes                float64
	token                   int64
	key, scratch            []byte
}

// NewProbe makes a Probe for rows with that many key columns and cells.
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

// End ends a part. whole is false if it was cut short after some rows.
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

// Size estimates the table's size from the rows.
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

// With adds what the store itself reports: how many partitions the table has, and their mean size
// on disk.
func (s Size) With(partitions, meanBytes float64) Size {
	s.Partitions = math.Max(s.Partitions, partitions)
	// On disk, rows have about as many bytes as on the network.
	if s.RowBytes > 0 {
		if rows := math.Round(partitions * meanBytes / s.RowBytes); rows > s.Rows {
			s.Rows, s.From = rows, "system.size_estimates"
		}
	}
	return s
}
