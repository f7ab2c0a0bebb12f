// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// drawShape draws a layout for a table whose sort key is a text or a number of seconds.
func drawShape(t *rapid.T, kind attribute.Kind, label string) Shape {
	s := Shape{Shards: rapid.IntRange(1, 5).Draw(t, label+" shards")}
	if rapid.Bool().Draw(t, label+" buckets") {
		s.Width = rapid.SampledFrom([]timebucket.Width{20 * timebucket.Minute, timebucket.Hour, 7 * timebucket.Hour, timebucket.Day, 9 * timebucket.Day}).Draw(t, label+" width")
		if kind == attribute.N {
			s.Numbers = timebucket.Seconds
		}
	}
	return s
}

// changing returns a table that is in one shape and gets another one.
func changing(kind attribute.Kind, from, to Shape, base int) (old, now *Table) {
	k := keys{hash: schema.Definition{Name: "h", Type: attribute.S}, sort: schema.Definition{Name: "r", Type: kind}}
	logical := &schema.Table{Name: "Tab", Key: schema.Key{Hash: []string{"h"}, Range: []string{"r"}}, Definitions: []schema.Definition{k.hash, k.sort}}
	places := func(s Shape, used int) shard.Range {
		if s.Timed() {
			return NextBuckets(used, s.Shards)
		}
		return shard.Range{N: s.Shards, Base: used}
	}
	at := places(from, base)
	old = &Table{Logical: logical, stored: stored{Physical: "Tab", id: "id", placement: place("Tab", k, from.Layout(at, 0, 1), nil)}}
	now = old.To(Target{Shape: to, Places: places(to, from.Last(at))})
	return old, now.MovingFrom(old)
}

// TestSlices holds that each sort key that a Query asks for is in one of its slices, with both of its
// places, that the slices are in the order of the answer, and that none has many buckets.
func TestSlices(t *testing.T) {
	most := 0
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]attribute.Kind{attribute.S, attribute.N}).Draw(t, "kind")
		from, to := drawShape(t, kind, "from"), drawShape(t, kind, "to")
		if !from.Timed() && !to.Timed() {
			return
		}
		old, now := changing(kind, from, to, rapid.SampledFrom([]int{0, 7, shard.Lot, 3 * shard.Lot}).Draw(t, "base"))
		sortKey := func(t *rapid.T, label string) attribute.Value {
			at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(-500_000, 500_000).Draw(t, label)) * time.Second)
			if rapid.Bool().Draw(t, label+" at an hour") {
				at = at.Truncate(time.Hour)
			}
			if kind == attribute.N {
				return attribute.Int(at.Unix())
			}
			text := at.Format("2006-01-02T15:04:05")
			return attribute.String(text[:rapid.IntRange(1, len(text)).Draw(t, label+" cut")] + rapid.SampledFrom([]string{"Z", "", "~", "Z#a"}).Draw(t, label+" rest"))
		}
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) attribute.Value { return sortKey(t, "item") }), 0, 90).Draw(t, "items")
		directory := map[string][]int64{} // in order
		hash := attribute.String("a")
		for _, r := range items {
			for _, in := range []*Table{old, now} {
				for _, b := range in.BucketOf(in.key(hash, r)) {
					name := string(b.AppendPartition(nil))
					if at, found := slices.BinarySearch(directory[name], b.Number()); !found {
						directory[name] = slices.Insert(directory[name], at, b.Number())
					}
				}
			}
		}
		list := func(partition string, _ int64) timebucket.Directory {
			return func(from, to int64, down bool, limit int) (out []int64, err error) {
				for _, b := range directory[partition] {
					if from <= b && b <= to {
						out = append(out, b)
					}
				}
				if down {
					slices.Reverse(out)
				}
				return out[:min(limit, len(out))], nil
			}
		}
		k := expression.KeyRange{Hash: []attribute.Value{hash}}
		switch rapid.IntRange(0, 3).Draw(t, "range") {
		case 1:
			k.Op, k.Low = expression.GreaterOrEqual, sortKey(t, "low")
		case 2:
			k.Op, k.Low = expression.Less, sortKey(t, "high")
		case 3:
			k.Op, k.Low, k.High = expression.Between, sortKey(t, "low"), sortKey(t, "high")
			if c, _ := attribute.Compare(k.Low, k.High); c > 0 {
				k.Low, k.High = k.High, k.Low
			}
		}
		q := &api.Query{Read: api.Read{Table: "Tab"}, KeyCondition: k.Condition([]string{"h"}, []string{"r"}), Backward: rapid.Bool().Draw(t, "backward")}
		p, err := query(now, q)
		if err != nil {
			t.Fatal(err)
		}
		f := p.(*Fanout)
		if f.Way != BySlices {
			t.Fatalf("the plan is %s", f)
		}
		found := make(map[int]int)
		var before *Slice
		for s, err := range f.Slices(list) {
			if err != nil {
				t.Fatal(err)
			}
			if before != nil {
				a, b := intervalOf(&before.Query.keys), intervalOf(&s.Query.keys)
				if q.Backward {
					a, b = b, a
				}
				if c, _ := attribute.Compare(a.high, b.low); c >= 0 || !bounded(a.high) || !bounded(b.low) {
					t.Fatalf("slice %v and then %v", before.Query.keys, s.Query.keys)
				}
			}
			before = s
			for i, r := range items {
				if !s.Query.within(&Row{Sort: r}, nil, nil) {
					continue
				}
				found[i]++
				if !slices.Contains(s.Shards, old.Shard(old.key(hash, r))) || !slices.Contains(s.Shards, now.Shard(now.key(hash, r))) {
					t.Fatalf("%s is in a slice without its places: %v", r, s.Shards)
				}
			}
			most = max(most, len(s.Shards))
			for _, in := range []*Table{old, now} {
				n := 0
				for _, place := range s.Shards {
					if x := in.timing; x != nil && place > x.base-shard.Lot/2 && place < x.base+shard.Lot/2 {
						n++
					}
				}
				if n > timebucket.MostPlaces {
					t.Fatalf("a slice has %d places of one layout", n)
				}
			}
		}
		for i, r := range items {
			want := 0
			if k.Op == expression.NoRange || k.Match([]attribute.Value{r}) {
				want = 1
			}
			if found[i] != want {
				t.Fatalf("%s is in %d slices, not in %d", r, found[i], want)
			}
		}
	})
	if most < 10 {
		t.Errorf("no slice has more than %d places", most)
	}
}

// TestPlacesOfLayoutsDoNotMeet holds that the places of the layouts that a table has one after the other
// differ, and that each is read from its physical partition.
func TestPlacesOfLayoutsDoNotMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := drawShape(t, attribute.S, "from"), drawShape(t, attribute.S, "to")
		if !from.Timed() && !to.Timed() {
			return
		}
		old, now := changing(attribute.S, from, to, rapid.SampledFrom([]int{0, 7, shard.Lot - 1, 3 * shard.Lot}).Draw(t, "base"))
		place := func(in *Table, label string) int {
			if x := in.timing; x != nil {
				b := rapid.SampledFrom([]int64{x.grid.First(), -1, 0, 1, 500_000, x.grid.Last()}).Draw(t, label)
				n := x.place(b, rapid.IntRange(0, x.grid.Shards-1).Draw(t, label+" shard"))
				if x.bucketAt(n) != b {
					t.Fatalf("place %d is of bucket %d, not %d", n, x.bucketAt(n), b)
				}
				return n
			}
			return in.Layout.Base + rapid.IntRange(1, in.Layout.N).Draw(t, label)
		}
		a, b := place(old, "old"), place(now, "new")
		if a == b {
			t.Fatalf("%v and %v both have place %d", from, to, a)
		}
		for in, n := range map[*Table]int{old: a, now: b} {
			text := in.partition(attribute.String("a-1"), n)
			if hash, at, err := in.cut(text); err != nil || at != n || hash.Text() != "a-1" {
				t.Fatalf("%s is place %d of %s, not %d: %v", text, at, hash, n, err)
			}
			if longest := in.partition(attribute.String("a-1"), in.longestPlace(attribute.String("a-1"))); len(longest.Text()) < len(text.Text()) {
				t.Fatalf("%s is longer than %s", text, longest)
			}
		}
		if x, y := old.Directory(), now.Directory(); old.Timed() && now.Timed() && (x == y || fmt.Sprint(x) == "") {
			t.Fatalf("both layouts have the directory %s", x)
		}
	})
}
