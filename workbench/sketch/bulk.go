// SPDX-License-Identifier: Apache-2.0

package sketch

import (
	"cmp"
	"math"
	"slices"
)

// Bulk is a number of partitions of about the same size.
type Bulk struct {
	Count       float64
	Rows, Bytes float64 // of one partition
}

// Bulks returns all partitions by size, the smallest first, in at most some most entries.
// Partitions of the sample each stand for those that were not sampled. The largest partitions are
// known one by one. The functions return what was counted of a partition.
func Bulks[S, T any](sample *Sample[S], top *Top[T], sampled func(*S) (rows, bytes float64), large func(*T) (rows, bytes float64), most float64) []Bulk {
	var list []Bulk
	weight := 1 / sample.Share()
	known := make(map[uint64]bool)
	if !sample.Exact() {
		absent := top.Absent()
		for _, f := range top.List(1 << 30) {
			if f.Low > absent { // certainly among the largest
				known[f.Hash] = true
				n, bytes := large(f.Of)
				rows := Likely(f.Low, f.High)
				list = append(list, Bulk{1, rows, rows * bytes / math.Max(1, n)})
			}
		}
	}
	for hash, of := range sample.All() {
		if !known[hash] {
			n, bytes := sampled(of)
			list = append(list, Bulk{weight, n, bytes})
		}
	}
	slices.SortFunc(list, func(a, b Bulk) int { return cmp.Or(cmp.Compare(a.Rows, b.Rows), cmp.Compare(a.Bytes, b.Bytes)) })
	return thinned(list, most)
}

// thinned joins neighbours, but fewer of the larger ones: the largest partition stays alone.
func thinned(list []Bulk, most float64) []Bulk {
	if float64(len(list)) <= most {
		return list
	}
	whole := 0.0
	for _, b := range list {
		whole += b.Count
	}
	var out []Bulk
	var at Bulk
	left := whole
	for i, b := range list {
		at.Rows = (at.Rows*at.Count + b.Rows*b.Count) / (at.Count + b.Count)
		at.Bytes = (at.Bytes*at.Count + b.Bytes*b.Count) / (at.Count + b.Count)
		at.Count += b.Count
		left -= b.Count
		if at.Count >= math.Max(left, 0)/most*4 || i == len(list)-1 {
			out = append(out, at)
			at = Bulk{}
		}
	}
	return out
}

// Likely returns a likely number between the certain bounds of Top. The upper bound is too high by
// what a cell counts, which many keys share. If that is more than the lower bound, nearly all of it
// belongs to other keys, and Likely returns low. If it is less, the middle is never far off.
func Likely(low, high int64) float64 {
	if high-low > low {
		return float64(low)
	}
	return (float64(low) + float64(high)) / 2
}
