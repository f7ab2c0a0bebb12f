// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// TestPlacesOfTimeDoNotMeet checks that two logical partitions have no physical partition in
// common, with any ends of their keys. The key and the place must be readable from a physical
// partition's key.
func TestPlacesOfTimeDoNotMeet(t *testing.T) {
	k := keys{hash: schema.Definition{Name: "h", Type: attribute.S}, sort: schema.Definition{Name: "r", Type: attribute.N}}
	p := place("Tab", k, &shard.Layout{Strategy: shard.Time, N: 2, Width: timebucket.Hour, Numbers: timebucket.Seconds, Column: shard.DefaultColumn}, nil)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) (attribute.Value, int) {
			hash := rapid.StringMatching("[a1n-]{1,4}").Draw(t, label)
			return attribute.String(hash), rapid.OneOf(rapid.IntRange(-12, 12), rapid.IntRange(math.MinInt32+1, math.MaxInt32)).Draw(t, label+" place")
		}
		a, m := draw("a")
		b, n := draw("b")
		x, y := p.partition(a, m), p.partition(b, n)
		if x.Equal(y) != (a.Equal(b) && m == n) {
			t.Fatalf("place %d of %s is %s, place %d of %s is %s", m, a, x, n, b, y)
		}
		if hash, at, err := p.cut(x); err != nil || !hash.Equal(a) || at != m {
			t.Fatalf("%s is place %d of %s, not %d of %s: %v", x, at, hash, m, a, err)
		}
		all := p.partitions(a, []int{m, n})
		if !all[0].Equal(x) || !all[1].Equal(p.partition(a, n)) {
			t.Fatalf("%v", all)
		}
		if longest := p.partition(a, p.longestPlace(a)); len(longest.Text()) < len(x.Text()) {
			t.Fatalf("%s is longer than %s", x, longest)
		}
	})
}

// TestEdgesAreBetweenBuckets checks that an edge is after all keys of a bucket and before those of
// the next one, in the direction of reading.
func TestEdgesAreBetweenBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := &timing{timebucket.Grid{Width: timebucket.Width(rapid.IntRange(90, 200_000).Draw(t, "seconds")) * timebucket.Second, Shards: 1}, rapid.SampledFrom(
			[]timebucket.Kind{timebucket.DateTime, timebucket.DateText, timebucket.Seconds, timebucket.Milliseconds}).Draw(t, "kind"), 0}
		if x.kind == timebucket.DateText {
			x.grid.Width = timebucket.Width(rapid.IntRange(1, 9).Draw(t, "days")) * timebucket.Day
		}
		bucket := x.grid.Of(rapid.Int64Range(-60_000_000_000_000, 190_000_000_000_000).Draw(t, "time"))
		key := func(label string, b int64) attribute.Value {
			from, to := x.grid.Start(b), x.grid.Start(b+1)-1
			ms := rapid.OneOf(rapid.Just(from), rapid.Just(to), rapid.Int64Range(from, to)).Draw(t, label)
			rest := rapid.SampledFrom([]string{"Z", ".999Z~", "+00:00\U0010ffff", "Z\U0010ffff"}).Draw(t, label+" rest")
			switch x.kind {
			case timebucket.Seconds:
				return attribute.Int((ms - (ms%1000+1000)%1000) / 1000)
			case timebucket.Milliseconds:
				return attribute.Int(ms)
			case timebucket.DateText:
				if rapid.Bool().Draw(t, label+" date") {
					return attribute.String(timebucket.TextOf(ms, timebucket.DateText) + rapid.SampledFrom([]string{"", "#", "~", "\U0010ffff\U0010ffff"}).Draw(t, label+" end"))
				}
			}
			return attribute.String(timebucket.TextOf(ms, timebucket.DateTime) + rest)
		}
		here, next, before := key("here", bucket), key("next", bucket+1), key("before", bucket-1)
		for _, k := range []attribute.Value{here, next, before} {
			if _, ok := x.kind.Instant(valueBytes(k)); !ok {
				t.Fatalf("%s tells no time", k)
			}
		}
		up, down := x.edge(bucket, false), x.edge(bucket, true)
		for _, c := range []struct {
			a, b attribute.Value
			most int
		}{{here, up, 0}, {up, next, -1}, {down, here, 0}, {before, down, -1}} {
			if got, ok := attribute.Compare(c.a, c.b); !ok || got > c.most {
				t.Fatalf("bucket %d of %s: %s is not before %s", bucket, x.grid.Width, c.a, c.b)
			}
		}
	})
}
