// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"time"

	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// Busiest is the window of time in which one partition got rows faster than any partition did in
// any other window. Chance does not explain the difference.
type Busiest struct {
	Values []string  // of the partition key
	Start  time.Time // of the window
	Length time.Duration
	Parts  int      // of the 128 parts of the data's time; 128: no window is busier than the whole
	Rows   Estimate // of the partition in the window; with the 99% bounds of a Poisson process
	All    int64    // rows of all partitions in the window
}

// Surely returns the rows of the window that no chance explains.
func (b *Busiest) Surely() float64 {
	return b.Rows.Value - WindowDeviates*math.Sqrt(b.Rows.Value)
}

// WindowDeviates is how many standard deviations a count may exceed the expected count by chance,
// because there are many partitions and windows.
const WindowDeviates = 5

// windowLengths are the lengths of the windows to try, in parts.
var windowLengths = [...]int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96}

// window finds the window in which a course is fastest. It returns the whole course, unless a part
// is faster than chance makes it. low is a lower bound of the rows per part; it exceeds least, or
// length is 0.
func window[N uint32 | int64](over []N, least float64) (at, length int, low float64, rows int64) {
	low = least
	total := int64(0)
	for _, n := range over {
		total += int64(n)
	}
	if mean := float64(total) / float64(len(over)); mean > low {
		length, low, rows = len(over), mean, total
	}
	for _, w := range windowLengths {
		sum := int64(0)
		for k, n := range over {
			sum += int64(n)
			if k >= w {
				sum -= int64(over[k-w])
			}
			if k < w-1 {
				continue
			}
			if x := (float64(sum) - WindowDeviates*math.Sqrt(float64(sum))) / float64(w); x > low*(1+1e-9) {
				at, length, low, rows = k-w+1, w, x, sum
			}
		}
	}
	return at, length, low, rows
}

// busiest searches the frequent partitions in windows of all lengths.
func (m *measurer) busiest(d *design, t *tally, list []sketch.Frequent[partitionTop]) *Busiest {
	span := m.spans[d.times]
	var best *partitionTop
	at, length, low, rows := 0, 0, 0.0, int64(0)
	for i := range list {
		p := list[i].Of
		total := int64(0)
		for _, n := range p.over {
			total += int64(n)
		}
		if float64(total) <= low { // even if all its rows came in one part
			continue
		}
		if a, l, x, n := window(p.over[:], low); l > 0 {
			best, at, length, low, rows = p, a, l, x, n
		}
	}
	if best == nil {
		return nil
	}
	part := time.Duration(span[1]) * time.Millisecond
	out := &Busiest{
		Values: best.id.values(), Start: time.UnixMilli(span[0] + int64(at)*span[1]).UTC(), Length: part * time.Duration(length), Parts: length, Rows: poisson(rows),
	}
	for _, n := range t.course[at : at+length] {
		out.All += n
	}
	return out
}

// since finds, for each part of the time, the partition that gets most rows from its beginning on.
// absent is the most rows of a partition that is not in the list.
func since(list []sketch.Frequent[partitionTop], absent float64) []Since {
	var rows [timeParts]int64
	var high [timeParts]float64
	var who [timeParts]*partitionTop
	for i := range list {
		p, sum := list[i].Of, int64(0)
		missing := float64(list[i].High) - float64(p.rows)
		for k := timeParts - 1; k >= 0; k-- {
			sum += int64(p.over[k])
			if sum > rows[k] {
				rows[k], who[k] = sum, p
			}
			high[k] = math.Max(high[k], float64(sum)+math.Max(0, missing))
		}
	}
	out := make([]Since, timeParts)
	for k, p := range who {
		if p != nil {
			n := float64(rows[k])
			most := math.Max(high[k], absent)
			out[k] = Since{p.id.values(), Estimate{n, n, math.Max(n, most), most <= n}}
		}
	}
	return out
}

// BusiestOf returns the busiest time of all rows together. The course has parts of length part,
// from first on. It returns nil if there are too few rows.
func BusiestOf(course []int64, first time.Time, part time.Duration) *Busiest {
	at, length, _, rows := window(course, 0)
	if length == 0 {
		return nil
	}
	return &Busiest{Start: first.Add(part * time.Duration(at)), Length: part * time.Duration(length), Parts: length, Rows: poisson(rows), All: rows}
}

// poisson returns a count with the approximate 99% confidence interval of its mean.
func poisson(n int64) Estimate {
	const z = 2.576
	half := z * math.Sqrt(float64(n))
	return Estimate{float64(n), math.Max(0, float64(n)-half), float64(n) + half + z*z/2, false}
}

// sixteenths returns how many rows came in each sixteenth of the time.
func (p *partitionTop) sixteenths() []int64 {
	out := make([]int64, overParts)
	for i, n := range p.over {
		out[i*overParts/timeParts] += int64(n)
	}
	return out
}
