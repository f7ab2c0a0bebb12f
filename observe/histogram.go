// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Bounds are the upper bounds of a histogram's buckets, ascending. A bucket includes its bound.
// Per is the number of recorded units in one shown unit.
type Bounds struct {
	Upper []int64
	Per   float64
	first [65]uint8 // the first bucket that a value with so many bits can be in
}

func newBounds(per float64, upper ...int64) *Bounds {
	b := &Bounds{Upper: upper, Per: per}
	for n := range b.first {
		least := uint64(0)
		if n > 0 {
			least = 1 << (n - 1)
		}
		for i := len(upper); i > 0 && uint64(upper[i-1]) >= least; i-- {
			b.first[n] = uint8(i - 1)
		}
		if len(upper) > 0 && uint64(upper[len(upper)-1]) < least {
			b.first[n] = uint8(len(upper))
		}
	}
	return b
}

// Show converts a recorded value to the shown unit.
func (b *Bounds) Show(v int64) float64 { return float64(v) / b.Per }

// bucket returns the index of a value's bucket.
func (b *Bounds) bucket(v int64) int {
	v = max(v, 0)
	i := int(b.first[bits.Len64(uint64(v))])
	for i < len(b.Upper) && v > b.Upper[i] {
		i++
	}
	return i
}

// Durations are recorded in nanoseconds and shown in seconds. Counts are numbers of requests,
// rounds or rows.
var (
	Durations = newBounds(1e9,
		int64(100*time.Microsecond), int64(250*time.Microsecond), int64(500*time.Microsecond),
		int64(time.Millisecond), int64(2500*time.Microsecond), int64(5*time.Millisecond),
		int64(10*time.Millisecond), int64(25*time.Millisecond), int64(50*time.Millisecond),
		int64(100*time.Millisecond), int64(250*time.Millisecond), int64(500*time.Millisecond),
		int64(time.Second), int64(2500*time.Millisecond), int64(5*time.Second), int64(10*time.Second))
	Counts = newBounds(1, 0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
)

// mostBuckets is the largest number of bounds, plus one for the values above.
const mostBuckets = 17

// Histogram counts values by bucket. It is safe for concurrent use.
type Histogram struct {
	bounds  *Bounds
	sum     atomic.Int64
	buckets [mostBuckets]atomic.Uint64
}

// Record adds a value.
func (h *Histogram) Record(v int64) {
	h.buckets[h.bounds.bucket(v)].Add(1)
	h.sum.Add(max(v, 0))
}

// Snapshot holds the counts of a histogram: the number of values in each bucket, not cumulative,
// with a last bucket for values above all bounds; and the sum of the values.
type Snapshot struct {
	Bounds  *Bounds
	Buckets []uint64
	Sum     int64
}

// Snapshot reads the histogram. A value that is recorded at the same time may be in one figure
// and not in another.
func (h *Histogram) Snapshot() Snapshot {
	s := Snapshot{Bounds: h.bounds, Sum: h.sum.Load(), Buckets: make([]uint64, len(h.bounds.Upper)+1)}
	for i := range s.Buckets {
		s.Buckets[i] = h.buckets[i].Load()
	}
	return s
}

// Count returns the number of values.
func (s Snapshot) Count() (n uint64) {
	for _, c := range s.Buckets {
		n += c
	}
	return n
}
