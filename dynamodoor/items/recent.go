// SPDX-License-Identifier: Apache-2.0

package items

import (
	"hash/maphash"
	"slices"
	"sync"
)

// recent has the last buckets of the partition keys that were used lately, for a door that is alone on
// its store: nobody else adds a bucket. Its size is bounded, and it is safe for concurrent use.
//
// A door adds a bucket to the store, then here, and then sends the bucket's first item. A read may miss a
// bucket that was added since it began. So its result is kept only if no bucket was added here meanwhile.
// So no bucket that has an acknowledged item is missing here.
type recent struct {
	mu         sync.Mutex
	young, old map[string]*lastBuckets
	bytes      int             // of the young ones
	additions  [1 << 10]uint32 // counts the buckets that were added, by a hash of the partition key
}

// These bound the memory: the bytes of each half of the keys, and the buckets of a key.
const (
	recentBytes = 4 << 20
	mostBuckets = 256
	ofKey       = 150 // bytes of a key, beside its name and its buckets
	ofBucket    = 8
)

var recentSeed = maphash.MakeSeed()

// lastBuckets has the last buckets of a partition key.
type lastBuckets struct {
	low     int64   // the first bucket that would be known
	buckets []int64 // all from there, the last one first
}

// key returns the buckets that are kept for a partition key, or nil. The caller holds mu.
func (a *recent) key(partition string) *lastBuckets {
	if k := a.young[partition]; k != nil {
		return k
	}
	k := a.old[partition]
	if k != nil {
		a.put(partition, k)
	}
	return k
}

// put adds a key to the young ones. The caller holds mu.
func (a *recent) put(partition string, k *lastBuckets) {
	a.grow(len(partition) + ofBucket*len(k.buckets) + ofKey)
	if a.young == nil {
		a.young = map[string]*lastBuckets{}
	}
	a.young[partition] = k
}

// grow makes room for bytes of the young keys. If these have too many, they become the old ones. The
// caller holds mu.
func (a *recent) grow(bytes int) {
	if a.bytes >= recentBytes {
		a.old, a.young, a.bytes = a.young, nil, 0
	}
	a.bytes += bytes
}

// counter returns the counter of additions to a key. The caller holds mu.
func (a *recent) counter(partition string) *uint32 {
	return &a.additions[maphash.String(recentSeed, partition)%uint64(len(a.additions))]
}

// list returns buckets as a timebucket.Directory does. ok is false if they are not known. Then began is
// for keep.
func (a *recent) list(partition string, from, to int64, down bool, limit int) (out []int64, ok bool, began uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	began = *a.counter(partition)
	k := a.key(partition)
	if k == nil || !down && from < k.low {
		return nil, false, began
	}
	some := k.buckets
	for len(some) > 0 && some[0] > to {
		some = some[1:]
	}
	for len(some) > 0 && some[len(some)-1] < from {
		some = some[:len(some)-1]
	}
	if down {
		return slices.Clone(some[:min(limit, len(some))]), len(some) >= limit || from >= k.low, began
	}
	out = slices.Clone(some[max(0, len(some)-limit):])
	slices.Reverse(out)
	return out, true, began
}

// keep keeps buckets that the directory has returned for the same request. last is the last bucket
// that any key can have.
func (a *recent) keep(partition string, from, to int64, down bool, limit int, got []int64, last int64, began uint32) {
	all := len(got) < limit
	if !down && !all { // buckets after these are not known
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if *a.counter(partition) != began {
		return
	}
	low := from
	if got = slices.Clone(got); !down {
		slices.Reverse(got)
	} else if !all {
		low = got[len(got)-1]
	}
	k := a.key(partition)
	var before []int64
	switch {
	case k != nil && low >= k.low:
		return
	case to >= last:
	case k != nil && to >= k.low-1:
		before = k.buckets
		for len(got) > 0 && got[0] >= k.low {
			got = got[1:]
		}
	default:
		return
	}
	if len(before)+len(got) <= mostBuckets {
		a.put(partition, &lastBuckets{low, append(before, got...)})
	}
}

// add notes that a bucket is in the directory.
func (a *recent) add(partition string, bucket int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*a.counter(partition)++
	k := a.key(partition)
	if k == nil || bucket < k.low {
		return
	}
	at, there := slices.BinarySearchFunc(k.buckets, bucket, func(b, bucket int64) int { return int(bucket - b) })
	if there {
		return
	}
	a.grow(ofBucket)
	k.buckets = slices.Insert(k.buckets, at, bucket)
	if n := len(k.buckets); n > mostBuckets {
		k.low, k.buckets = k.buckets[n/2-1], k.buckets[:n/2]
	}
}

// forget forgets a key.
func (a *recent) forget(partition string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.young, partition)
	delete(a.old, partition)
}
