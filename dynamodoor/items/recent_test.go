// SPDX-License-Identifier: Apache-2.0

package items

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// asked is a request for buckets whose answer is under way.
type asked struct {
	from, to int64
	down     bool
	limit    int
	got      []int64
	began    uint32
}

// TestRecentBuckets adds buckets to a directory, and reads it, while answers of the store are under way
// and arrive in any order. What the door has kept is what the directory has.
func TestRecentBuckets(t *testing.T) {
	const last = 3 * mostBuckets
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		var r recent
		has := map[int64]bool{}
		list := func(q *asked) []int64 {
			all := slices.DeleteFunc(slices.Sorted(maps.Keys(has)), func(b int64) bool { return b < q.from || b > q.to })
			if q.down {
				slices.Reverse(all)
			}
			return all[:min(q.limit, len(all))]
		}
		var flying []*asked
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				from := rapid.Int64Range(-last, last).Draw(t, "from")
				for b := from; b <= min(last, from+rapid.SampledFrom([]int64{0, 3, mostBuckets}).Draw(t, "more")); b++ {
					has[b] = true
					r.add("a", b)
				}
			},
			"read": func(t *rapid.T) {
				q := &asked{down: rapid.Bool().Draw(t, "down"), limit: rapid.IntRange(1, 40).Draw(t, "limit")}
				q.from, q.to = rapid.SampledFrom([]int64{-last, rapid.Int64Range(-last, last).Draw(t, "from")}).Draw(t, "low"), rapid.SampledFrom([]int64{last, rapid.Int64Range(-last, last).Draw(t, "to")}).Draw(t, "high")
				var got []int64
				var ok bool
				if got, ok, q.began = r.list("a", q.from, q.to, q.down, q.limit); !ok {
					q.got = list(q)
					flying = append(flying, q)
					return
				}
				known++
				if want := list(q); !slices.Equal(got, want) {
					t.Fatalf("%+v: %v, not %v", *q, got, want)
				}
			},
			"answer": func(t *rapid.T) {
				if len(flying) == 0 {
					return
				}
				at := rapid.IntRange(0, len(flying)-1).Draw(t, "answer")
				q := flying[at]
				flying = slices.Delete(flying, at, at+1)
				r.keep("a", q.from, q.to, q.down, q.limit, q.got, last, q.began)
			},
			"forget": func(*rapid.T) { r.forget("a") },
			"": func(t *rapid.T) {
				if k := r.key("a"); k != nil && len(k.buckets) > mostBuckets {
					t.Fatalf("%d buckets are kept", len(k.buckets))
				}
			},
		})
	})
	if known == 0 && !testing.Short() { // then few histories are drawn
		t.Error("nothing was kept")
	}
}

// TestRecentKeysAreBounded reads more keys than there is room for. Those that are used stay.
func TestRecentKeysAreBounded(t *testing.T) {
	var r recent
	use := func(partition string, add bool) bool {
		_, ok, began := r.list(partition, 0, 9, true, 9)
		if add {
			r.keep(partition, 0, 9, true, 9, []int64{1}, 9, began)
		}
		return ok
	}
	use("used", true)
	for n := range int64(4 * recentBytes / ofKey) {
		use(strconv.FormatInt(n, 10), true)
		if !use("used", false) {
			t.Fatal("a key that is used is forgotten")
		}
	}
	if most := 2 * recentBytes / ofKey; len(r.young)+len(r.old) > most {
		t.Errorf("%d keys are kept", len(r.young)+len(r.old))
	}
}

// TestRecentBucketsAddedAreCounted adds so many buckets to keys that the door has read that they would
// take several times the memory that recent may have.
func TestRecentBucketsAddedAreCounted(t *testing.T) {
	var r recent
	const last = 1 << 30
	for n := range recentBytes / (2 * ofKey) {
		key := strconv.Itoa(n)
		_, _, began := r.list(key, 0, last, true, 12)
		r.keep(key, 0, last, true, 12, nil, last, began)
		for b := range int64(mostBuckets / 2) {
			r.add(key, b)
		}
	}
	bytes := 0
	for _, keys := range []map[string]*lastBuckets{r.young, r.old} {
		for key, k := range keys {
			bytes += len(key) + ofBucket*len(k.buckets) + ofKey
		}
	}
	if bytes > 2*recentBytes+2*mostBuckets*ofBucket {
		t.Errorf("%d keys take %d bytes", len(r.young)+len(r.old), bytes)
	}
}
