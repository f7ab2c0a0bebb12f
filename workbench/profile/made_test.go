// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestMade finds ids that begin with their time, by their values, and no others.
func TestMade(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	first := time.Date(2025, 5, 6, 7, 8, 9, 123e6, time.UTC)
	const chars = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var b strings.Builder
	names := []string{"at", "ulid", "lower", "v7", "object", "flake", "own", "v4", "hash", "random", "sequence", "code"}
	b.WriteString(strings.Join(names, ",") + "\n")
	last := first
	for i := range 3000 {
		at := first.Add(time.Duration(i) * 7001 * time.Millisecond)
		last = at
		ms := at.UnixMilli()
		ulid := make([]byte, 26)
		for k := range ulid {
			if ulid[k] = chars[rng.IntN(32)]; k < 10 {
				ulid[k] = chars[ms>>(5*(9-k))&31]
			}
		}
		row := []any{
			at.Add(time.Duration(rng.IntN(900)) * time.Millisecond).Format("2006-01-02 15:04:05.000"), string(ulid), strings.ToLower(string(ulid)),
			fmt.Sprintf("%08x-%04x-7%03x-9%03x-%012x", ms>>16, ms&0xffff, rng.IntN(4096), rng.IntN(4096), rng.Uint64()>>16),
			fmt.Sprintf("%08x%016x", at.Unix(), rng.Uint64()),
			(ms-1_420_070_400_000)<<22 | rng.Int64N(7)<<12,
			(ms-1_577_836_800_000)<<20 | rng.Int64N(1<<20), // 2020, which the column of time tells
			fmt.Sprintf("%08x-%04x-4%03x-9%03x-%012x", rng.Uint32(), rng.IntN(1<<16), rng.IntN(4096), rng.IntN(4096), rng.Uint64()>>16),
			fmt.Sprintf("%024x", []uint64{rng.Uint64()})[1:25],
			rng.Int64(), int64(1)<<50 + int64(i), fmt.Sprintf("ORDER-%020d", i),
		}
		for k, v := range row {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, v)
		}
		b.WriteByte('\n')
	}
	p := of(t, b.String(), Options{})
	for _, name := range names[1:7] {
		c := p.Column(name)
		if c.Time != nil || c.Made == nil {
			t.Errorf("%s: %+v, want ids with a time", name, c.Note)
			continue
		}
		if d := c.Made.First.Sub(first); d < -2*time.Second || d > 2*time.Second {
			t.Errorf("%s begins at %s, not %s: %s", name, c.Made.First, first, c.Note)
		}
		if d := c.Made.Last.Sub(last); d < -2*time.Second || d > 2*time.Second {
			t.Errorf("%s ends at %s, not %s", name, c.Made.Last, last)
		}
		if !strings.Contains(c.Note, c.Made.ID) {
			t.Errorf("%s: its note is %q", name, c.Note)
		}
	}
	for _, name := range names[7:] {
		if c := p.Column(name); c.Made != nil || c.Time != nil {
			t.Errorf("%s is taken for a time: %s", name, c.Note)
		}
	}
	// Days are known, in any order of the rows, by the column of time that has them, too.
	for _, beside := range []bool{true, false} {
		rows := lines("at,day", 2000, func(i int) string {
			at := first.Add(time.Duration(i*7919%2000) * 30 * time.Minute)
			if !beside {
				return fmt.Sprintf("x%d,%d", i, at.Unix()/86_400)
			}
			return fmt.Sprintf("%s,%d", at.Format(time.RFC3339), at.Unix()/86_400)
		})
		if d := of(t, rows, Options{}).Column("day"); (d.Time != nil && d.Time.Granularity == Day) != beside {
			t.Errorf("days with a column of time: %t: %+v", beside, d.Time)
		}
	}
	// Buckets are made of these times.
	var hours []Candidate
	for _, name := range names[1:7] {
		hours = append(hours, Candidate{Partition: []Part{{Column: name, Bucket: Hour}}})
	}
	measured, _, err := Measure(t.Context(), open(t, b.String()), p, hours, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range measured {
		if got := m.Partitions.Value; got != 6 && got != 7 {
			t.Errorf("%s has %g hours", names[1+i], got)
		}
	}
}
