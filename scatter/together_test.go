// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Groups have every member once, in order, no more than asked for, and a node in common.
func TestTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			n       = rapid.IntRange(0, 60).Draw(t, "members")
			most    = rapid.IntRange(1, 12).Draw(t, "most")
			cluster = rapid.IntRange(1, 9).Draw(t, "nodes")
			at      = make([][]int, n)
			members = make([]int, n)
		)
		for i := range members {
			members[i] = i
			at[i] = rapid.Permutation(slices.Collect(numbers(cluster))).Draw(t, "of a member")[:rapid.IntRange(0, min(3, cluster)).Draw(t, "replicas")]
		}
		var all []int
		for _, group := range Together(members, most, func(m int) []int { return at[m] }) {
			if len(group) == 0 || len(group) > most {
				t.Fatalf("a group of %d, of at most %d", len(group), most)
			}
			if !slices.IsSorted(group) {
				t.Fatalf("%v is out of order", group)
			}
			common := at[group[0]]
			for _, m := range group {
				if (len(at[m]) == 0) != (len(at[group[0]]) == 0) {
					t.Fatalf("%v mixes members that nothing is known of with others", group)
				}
				common = slices.DeleteFunc(slices.Clone(common), func(n int) bool { return !slices.Contains(at[m], n) })
			}
			if len(common) == 0 && len(at[group[0]]) > 0 {
				t.Fatalf("%v share no node", group)
			}
			all = append(all, group...)
		}
		slices.Sort(all)
		if !slices.Equal(all, members) {
			t.Fatalf("%v are not all members, each once", all)
		}
	})
}

func numbers(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// Where every node has every shard there are no more requests than without nodes, and the
// nodes have equally many.
func TestTogetherWhereAllHaveAll(t *testing.T) {
	members := slices.Collect(numbers(200))
	count := map[int]int{}
	groups := Together(members, 10, func(int) []int { return []int{0, 1} })
	if len(groups) != 20 {
		t.Errorf("%d groups of 200 shards", len(groups))
	}
	groups = Together(members, 10, func(m int) []int { return []int{m % 4, (m + 1) % 4} })
	for _, g := range groups {
		for _, n := range []int{g[0] % 4, (g[0] + 1) % 4} {
			if !slices.ContainsFunc(g, func(m int) bool { return m%4 != n && (m+1)%4 != n }) {
				count[n]++
				break
			}
		}
	}
	if len(groups) > 24 || len(count) != 4 {
		t.Errorf("%d groups at nodes %v", len(groups), count)
	}
}
