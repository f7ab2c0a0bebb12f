// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// hours is a directory that has every second hour of 2020-07-10, or the buckets that are
// listed, and counts how often it is asked.
type hours struct {
	all   []int64
	asked int
}

func (h *hours) Buckets(t *Table, key [][]byte, from, to int64, down bool, limit int) ([]int64, error) {
	h.asked++
	all := slices.Clone(h.all)
	if all == nil {
		for at := time.Date(2020, 7, 10, 0, 0, 0, 0, time.UTC); at.Day() == 10; at = at.Add(2 * time.Hour) {
			all = append(all, t.timing.grid.Of(at.UnixMilli()))
		}
	}
	all = slices.DeleteFunc(all, func(b int64) bool { return b < from || b > to })
	if down {
		slices.Reverse(all)
	}
	return all[:min(limit, len(all))], nil
}

// pace is a directory for a read that expects to need some buckets.
type pace struct {
	Directory
	more func(read int) int
}

func (p *pace) More(read int) int { return p.more(read) }

// TestBucketsOfSlice compares buckets with the directory. Each bucket that a slice can reach must
// come once, in reading order, after few reads of the directory.
func TestBucketsOfSlice(t *testing.T) {
	for _, desc := range []string{"ASC", "DESC"} {
		table, _ := testTable(t, "CREATE TABLE t (k int, ts timestamp, PRIMARY KEY (k, ts)) WITH CLUSTERING ORDER BY (ts "+desc+") AND write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h', 'shards': '3'}")
		rapid.Check(t, func(t *rapid.T) {
			dir := &hours{all: []int64{}}
			for b := range rapid.Int64Range(0, 400).Draw(t, "buckets") {
				if rapid.IntRange(0, 2).Draw(t, "has") > 0 {
					dir.all = append(dir.all, b)
				}
			}
			low, high := rapid.Int64Range(-5, 410).Draw(t, "low"), rapid.Int64Range(-5, 410).Draw(t, "high")
			bound := func(hour int64) analysis.Bound {
				ms := uint64(hour*3_600_000 + 1)
				return analysis.Bound{Prefix: [][]byte{{byte(ms >> 56), byte(ms >> 48), byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms)}}, Inclusive: true}
			}
			s := analysis.Slice{Start: bound(low), End: bound(high)}
			if desc == "DESC" {
				s.Start, s.End = s.End, s.Start
			}
			reversed := rapid.Bool().Draw(t, "reversed")
			var got []int64
			ended, expected := false, 0
			paced := Directory(dir)
			if rapid.Bool().Draw(t, "paced") {
				paced = &pace{dir, func(int) int { return expected }}
			}
			for run, err := range (listing{table, paced, nil}).runs(s, reversed) {
				if n := len(run.Buckets); err != nil || n == 0 || len(got) == 0 && n != 1 || n*3 > timebucket.MostPlaces || ended || paced != dir && !run.Last && n < min(expected, timebucket.MostPlaces/3) {
					t.Fatal(run, expected, err)
				}
				got, ended = append(got, run.Buckets...), run.Last
				expected = rapid.IntRange(0, 20).Draw(t, "expected")
			}
			if ended != (len(got) > 0) {
				t.Fatal("the last run does not say that it is the last")
			}
			var want []int64
			for b := low; b <= high; b++ {
				if timebucket.Few(low, high) || slices.Contains(dir.all, b) {
					want = append(want, b)
				}
			}
			if (desc == "DESC") != reversed {
				slices.Reverse(want)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
			if dir.asked > 1+len(want)/8 || timebucket.Few(low, high) && dir.asked > 0 {
				t.Fatalf("the directory is asked %d times for %d buckets", dir.asked, len(want))
			}
		})
	}
}

// TestEncodeSlice writes and reads slices; what is damaged is refused.
func TestEncodeSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() analysis.Bound {
			return analysis.Bound{Prefix: rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 9), 0, 3).Draw(t, "prefix"), Inclusive: rapid.Bool().Draw(t, "inclusive")}
		}
		s := analysis.Slice{Start: draw(), End: draw()}
		b := EncodeSlice(s)
		back, err := DecodeSlice(b)
		if err != nil || !slices.EqualFunc(back.Start.Prefix, s.Start.Prefix, bytes.Equal) || !slices.EqualFunc(back.End.Prefix, s.End.Prefix, bytes.Equal) ||
			back.Start.Inclusive != s.Start.Inclusive || back.End.Inclusive != s.End.Inclusive {
			t.Fatalf("%v comes back as %v, %v", s, back, err)
		}
		if _, err := DecodeSlice(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); err == nil {
			t.Fatal("a slice that is cut short is read")
		}
		if _, err := DecodeSlice(append(b, 0)); err == nil {
			t.Fatal("a slice with more behind it is read")
		}
	})
}

// FuzzDecodeSlice reads anything.
func FuzzDecodeSlice(f *testing.F) {
	f.Add(EncodeSlice(analysis.All()))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeSlice(b)
		if err != nil {
			return
		}
		if again, err := DecodeSlice(EncodeSlice(s)); err != nil || len(again.Start.Prefix) != len(s.Start.Prefix) {
			t.Fatal(err)
		}
	})
}
