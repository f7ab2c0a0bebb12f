// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestUpto reads up to a row that is known, each shard having about as many rows
// as is expected of it: some have come, some have gone since.
func TestUpto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(1, 20).Draw(t, "shards")
		total := rapid.IntRange(1, 200).Draw(t, "rows")
		changes := rapid.IntRange(0, 10).Draw(t, "changes")
		w := even(rnd, n, total)
		w.after = rnd.IntN(total+1) - 1
		upto := w.after + rapid.IntRange(1, total).Draw(t, "length")
		o := Options[int]{Shards: ids(n), Group: rapid.IntRange(1, 12).Draw(t, "group"), Upto: &upto, Expect: make([]int, n)}
		var want []int
		for s, rows := range w.shards {
			for _, row := range rows {
				if row > w.after && row <= upto {
					o.Expect[s]++
					o.Page++
					want = append(want, row)
				}
			}
		}
		expected := len(want)
		for range changes {
			s := rnd.IntN(n)
			o.Expect[s] = max(0, o.Expect[s]+1-2*rnd.IntN(2))
		}
		o.Page = max(1, o.Page-rnd.IntN(changes+1))
		slices.Sort(want)
		r, page, more := w.run(t, o, rapid.IntRange(1, 8).Draw(t, "window"), rnd)
		if !slices.Equal(page, want[:min(len(want), o.Page)]) || !more && len(page) < len(want) {
			t.Fatalf("%v, more %v; want %d of %v", page, more, o.Page, want)
		}
		if s := r.Stats(); changes == 0 && (s.Rows != expected || s.Requests > n || s.Rounds != 1) {
			t.Fatalf("%+v for %d rows of %d shards", s, expected, n)
		}
	})
}
