// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// span is a range of places, both included.
type span struct{ low, high int }

// spanOf returns the places of a layout.
func spanOf(s plan.Shape, base int) span {
	if !s.Timed() {
		return span{base + 1, base + s.Shards}
	}
	g := s.Layout(shard.Range{N: s.Shards, Base: base}, 0, 0).Grid()
	return span{base + g.Place(g.First(), 0), base + g.Place(g.Last(), s.Shards-1)}
}

// TestNoPlaceIsUsedTwice holds that, whatever changes a table and its keys go through, one after the
// other, and whichever are taken back, a key gets no place that it had in an earlier layout, except those
// that it keeps.
func TestNoPlaceIsUsedTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := func() plan.Shape {
			s := plan.Shape{Shards: rapid.IntRange(0, 6).Draw(t, "shards")}
			if s.Shards > 0 && rapid.Bool().Draw(t, "buckets") {
				s.Width = rapid.SampledFrom([]timebucket.Width{timebucket.Hour, timebucket.Day}).Draw(t, "width")
			}
			return s
		}
		first := shape()
		if first.Shards == 0 {
			first.Shards = 1
		}
		e := &catalog.Entry{Table: "Tab", Layout: first.Layout(shard.Range{N: first.Shards}, 0, 1), HashType: "S"}
		keys := []string{"a", "b"}
		used := map[string][]span{}
		now := func(key string) span {
			if o, own := e.Own[key]; own {
				return span{o.Base + 1, o.Last()}
			}
			return spanOf(plan.ShapeOf(e.Layout), e.Layout.Base)
		}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			w := Wish{Shape: shape()}
			if rapid.IntRange(0, 3).Draw(t, "one key") == 0 && e.Layout.Strategy != shard.Time {
				w = Wish{plan.Shape{Shards: 1 + w.Shards}, rapid.SampledFrom(keys).Draw(t, "key")}
			}
			if From(e, w.key) == w.Shape {
				continue
			}
			before := map[string]span{}
			for _, key := range keys {
				before[key] = now(key)
			}
			was := From(e, w.key)
			e.Change = w.aim(e)
			e.Change.Back = rapid.IntRange(0, 3).Draw(t, "back") == 0
			for e.Change != nil { // one that is taken back is followed by another one
				if err := end(e); err != nil {
					t.Fatal(err)
				}
				for _, key := range keys {
					at := now(key)
					if at == before[key] {
						continue
					}
					grows := at.low == before[key].low && at.high > before[key].high
					for _, u := range used[key] {
						if at.low <= u.high && u.low <= at.high && (!grows || u.high > before[key].high || u.low < before[key].low) {
							t.Fatalf("key %s gets the places %v to %s, and had %v", key, at, w, u)
						}
					}
					if !grows && at.low <= before[key].high && before[key].low <= at.high {
						t.Fatalf("key %s gets the places %v to %s, and has %v", key, at, w, before[key])
					}
					used[key] = append(used[key], before[key])
					before[key] = at
				}
				if e.Change == nil {
					break
				}
				if Towards(e.Change) != was {
					t.Fatalf("a change back goes to %s, not %s", Towards(e.Change), was)
				}
			}
			if got := fmt.Sprint(From(e, w.key)); got != fmt.Sprint(w.Shape) && got != fmt.Sprint(was) {
				t.Fatalf("after the change to %s the table has %s", w, got)
			}
		}
	})
}
