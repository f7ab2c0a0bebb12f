// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
)

func numbered(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// TestRolled follows a directory of many keys: each snapshot stays as it was, and the next one
// shares what has not changed.
func TestRolled(t *testing.T) {
	const keys = 20_000
	var none *Rolled
	first := none.Next()
	for n := range keys {
		if !first.Announce(numbered(n), 2, int64(100+n)) {
			t.Fatal("a shard cannot be announced")
		}
	}
	old := first.Done()
	key := numbered(7)
	next := old.Next()
	if next.Announce(key, 4, 500) || next.Open(key, 3) || next.Open([]byte("no key"), 2) {
		t.Error("a shard without the one before is taken")
	}
	if !next.Open(key, 2) || !next.Announce(key, 3, 500) || !next.Announce(key, 2, 9) {
		t.Error("the next shard is not taken")
	}
	now := next.Done()
	if old.Shards(key) != 2 || old.Current(key, 1000) != 1 || now.Shards(key) != 3 || now.Current(key, 1000) != 2 || now.Current(key, 106) != 1 {
		t.Errorf("%d shards, then %d", old.Shards(key), now.Shards(key))
	}
	if got := now.Reached(key, 499); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("a deletion reaches %v", got)
	}
	apart := 0
	for i := range now.parts {
		if now.parts[i] != old.parts[i] {
			apart++
		}
	}
	if apart > 2 { // the parts of this key and of the one that was refused
		t.Errorf("%d of %d parts were copied", apart, rolledParts)
	}
	if old.Equal(now) || !now.Equal(now) || none.Equal(now) || now.last() != 3 {
		t.Error("snapshots are not compared right")
	}

	// Shard 3 is closed in the new snapshot. A plan made on the old snapshot is still valid.
	if !old.Reads(now) || !old.Deletes(now, 499) || old.Deletes(now, 500) || !now.Reads(now) || none.Reads(now) || none.Deletes(now, 1000) || !none.Deletes(now, 99) {
		t.Error("requests are judged wrong while a shard is closed")
	}
	opened := now.Next()
	opened.Open(key, 3)
	if last := opened.Done(); old.Reads(last) || !now.Reads(last) || !now.Deletes(last, 1000) {
		t.Error("requests are judged wrong when a shard is open")
	}
}

// TestOpenCopied opens a shard to which cells of any time are copied. Clients' cells go there from a time on, and
// all deletions reach it.
func TestOpenCopied(t *testing.T) {
	key := numbered(1)
	first := (*Rolled)(nil).Next()
	if !first.Announce(key, 2, Always) || !first.Announce(key, 3, 100) || first.OpenCopied(key, 3, 50) || first.OpenCopied(key, 4, 50) || first.OpenCopied(numbered(2), 2, 50) {
		t.Error("other shards are opened for copies")
	}
	closed := first.Done()
	next := closed.Next()
	if !next.OpenCopied(key, 2, 50) {
		t.Error("the shard is not opened")
	}
	now := next.Done()
	open, _ := now.Timeless(key)
	if _, shut := closed.Timeless(key); !slices.Equal(open, []int{1, 2}) || !slices.Equal(shut, []int{2}) {
		t.Errorf("copies go to %v; before, %v were closed", open, shut)
	}
	if closed.Current(key, 60) != 1 || now.Current(key, 49) != 1 || now.Current(key, 50) != 2 || now.Last(key) != 2 {
		t.Error("clients' cells go to the wrong shard")
	}
	if !slices.Equal(now.Reached(key, 1), []int{1, 2}) || closed.Deletes(now, 1) != true || (*Rolled)(nil).Deletes(now, 1) {
		t.Error("deletions reach the wrong shards")
	}
}

// BenchmarkRolled adds a shard to a directory of a million keys.
func BenchmarkRolled(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var none *Rolled
	n := none.Next()
	for i := range 1_000_000 {
		n.Announce(numbered(i), 2, 1)
	}
	r := n.Done()
	runtime.GC()
	runtime.ReadMemStats(&after)
	for i := 0; b.Loop(); i++ {
		next := r.Next()
		next.Announce(numbered(i%1_000_000), 3, 1)
		next.Done()
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "B/key")
}
