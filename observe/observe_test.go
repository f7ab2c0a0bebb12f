// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
)

// A value is in the first bucket whose bound it does not pass.
func TestBucket(t *testing.T) {
	for _, b := range []*Bounds{Durations, Counts} {
		check := func(v int64) {
			want := 0
			for want < len(b.Upper) && v > b.Upper[want] {
				want++
			}
			if got := b.bucket(v); got != want {
				t.Errorf("%d is in bucket %d, not %d", v, got, want)
			}
		}
		check(-1)
		for _, upper := range b.Upper {
			check(upper - 1)
			check(upper)
			check(upper + 1)
		}
		for shift := range 63 {
			check(1 << shift)
			check(1<<shift - 1)
		}
		if len(b.Upper)+1 > mostBuckets {
			t.Errorf("%d bounds are more than there are buckets", len(b.Upper))
		}
	}
}

// Names that no table has, and tables beyond the budget, are measured together; a table
// that has gone makes room.
func TestTablesAreBounded(t *testing.T) {
	r := NewRequests([]string{"read"})
	gone := map[string]bool{}
	r.Keep(func(keyspace, table string) bool { return keyspace == "ks" && !gone[table] })
	if r.Table("ks2", "made_up") != r.Other() {
		t.Error("a table that does not exist is measured by name")
	}
	for i := range MaxTables {
		if r.Table("ks", fmt.Sprint("t", i)) == r.Other() {
			t.Fatalf("table %d is not measured by name", i)
		}
	}
	if r.Table("ks", "late") != r.Other() {
		t.Error("a table beyond the budget is measured by name")
	}
	gone["t7"] = true
	r.Keep(func(_, table string) bool { return !gone[table] })
	for _, table := range r.All() {
		if table.Label() == "ks.t7" {
			t.Error("a table that has gone is still there")
		}
	}
	if got := r.Table("ks", "late").Label(); got != "ks.late" {
		t.Errorf("the place of a table that has gone is not given again: %q", got)
	}
}

// Codes are a client's or a store's to choose, and bounded all the same.
func TestCodesAreBounded(t *testing.T) {
	r := NewRequests([]string{"read"})
	for i := range 10 * maxCodes {
		r.None().Failed(fmt.Sprint("code", i))
	}
	n, total := 0, uint64(0)
	r.None().Codes(func(_ string, count uint64) { n, total = n+1, total+count })
	if n > maxCodes+1 || total != 10*maxCodes {
		t.Errorf("%d codes, %d errors", n, total)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	r := NewRequests([]string{"read"})
	s := r.Table("ks", "t").Series(0)
	begun := Now()
	if n := allocs.PerRun(1000, func() {
		s.Took(Now() - begun)
		r.Table("ks", "t").Series(0)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTook(b *testing.B) {
	s := NewRequests([]string{"read"}).Table("ks", "t").Series(0)
	begun := Now()
	b.ReportAllocs()
	for b.Loop() {
		s.Took(Now() - begun)
	}
}
