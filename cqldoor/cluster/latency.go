// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// latency records how long a host took recently for parts of fan-outs. It is a histogram with four
// buckets for each doubling, in which older answers count less.
type latency struct {
	slow atomic.Int64 // the 99th percentile in nanoseconds; 0 while there are too few answers

	mu    sync.Mutex
	count [latencyBuckets]uint32
	all   uint32
	since uint32 // answers since slow was last computed
}

const (
	latencyBuckets = 4 * 32 // up to 2^32 µs
	// latencyKnown is the number of answers from which slow is known. After latencyRecent answers,
	// all counts are halved.
	latencyKnown  = 50
	latencyRecent = 2000
)

// add counts an answer. It returns true if it has updated slow.
func (l *latency) add(d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[bucketOf(d)]++
	l.all++
	if l.all >= latencyRecent {
		l.all = 0
		for i := range l.count {
			l.count[i] /= 2
			l.all += l.count[i]
		}
	}
	if l.since++; l.all >= latencyKnown && (l.since >= latencyKnown || l.slow.Load() == 0) {
		l.since = 0
		l.slow.Store(int64(l.quantile()))
		return true
	}
	return false
}

// usual returns the median of the hosts' 99th percentiles; of two hosts, the lower one. One host that
// often stands still raises its own percentile. It does not raise the median.
func usual(hosts []*host) time.Duration {
	slow := make([]int64, 0, len(hosts))
	for _, h := range hosts {
		if s := h.latency.slow.Load(); s != 0 {
			slow = append(slow, s)
		}
	}
	if len(slow) == 0 {
		return 0
	}
	slices.Sort(slow)
	return time.Duration(slow[(len(slow)-1)/2])
}

// quantile returns the upper end of the bucket of the 99th percentile. The caller holds mu.
func (l *latency) quantile() time.Duration {
	left := l.all / 100
	for i := len(l.count) - 1; i >= 0; i-- {
		if l.count[i] > left {
			return endOf(i)
		}
		left -= l.count[i]
	}
	return 0
}

// bucketOf returns the bucket of a duration: the octave of its microseconds, and the quarter.
func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 4))
	octave := bits.Len64(us) - 1
	return min(4*octave+int(us>>(octave-2)&3), latencyBuckets-1)
}

// endOf returns the shortest duration beyond a bucket.
func endOf(bucket int) time.Duration {
	octave, quarter := bucket/4, bucket%4
	return time.Duration((5+quarter)<<max(octave-2, 0)) * time.Microsecond
}
