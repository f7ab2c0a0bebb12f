// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTogether checks that groups have every member once, in order, and no more members than asked
// for. All members of a group can be read at its node. Of the others, its other node has the most.
func TestTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			n       = rapid.IntRange(0, 60).Draw(t, "members")
			most    = rapid.IntRange(1, 12).Draw(t, "most")
			cluster = rapid.IntRange(1, 9).Draw(t, "nodes")
			at      = make([][]int, n)
			best    = make([]int, n)
			members = make([]int, n)
		)
		for i := range members {
			members[i] = i
			at[i] = rapid.Permutation(slices.Collect(numbers(cluster))).Draw(t, "of a member")[:rapid.IntRange(0, min(3, cluster)).Draw(t, "replicas")]
			best[i] = rapid.IntRange(min(1, len(at[i])), len(at[i])).Draw(t, "best")
		}
		var all []int
		nodes := func(m int) ([]int, int) { return at[m], best[m] }
		for _, g := range Together(members, most, nodes) {
			group := g.Members
			if len(group) == 0 || len(group) > most {
				t.Fatalf("a group of %d, of at most %d", len(group), most)
			}
			if !slices.IsSorted(group) {
				t.Fatalf("%v is out of order", group)
			}
			all = append(all, group...)
			if most == 1 {
				if g.Place != Unplaced {
					t.Fatalf("a request of one member names the nodes %v", g.Place)
				}
				continue
			}
			has := map[int]int{} // members, by node
			for _, m := range group {
				if (len(at[m]) == 0) != (len(at[group[0]]) == 0) {
					t.Fatalf("%v mixes members that nothing is known of with others", group)
				}
				if g.Node != Nowhere && !slices.Contains(at[m][:best[m]], g.Node) {
					t.Fatalf("%v are read at node %d; member %d should be read at %v", group, g.Node, m, at[m][:best[m]])
				}
				for _, n := range at[m] {
					has[n]++
				}
			}
			if (g.Node == Nowhere) != (len(at[group[0]]) == 0) {
				t.Fatalf("%v are read at node %d, of %v", group, g.Node, at[group[0]])
			}
			delete(has, g.Node)
			for n, members := range has {
				if g.Other == Nowhere || members > has[g.Other] {
					t.Fatalf("%v are read at node %d, or at %d, which has %d of them; node %d has %d", group, g.Node, g.Other, has[g.Other], n, members)
				}
			}
			if g.Other != Nowhere && (g.Other == g.Node || has[g.Other] == 0) {
				t.Fatalf("%v are read at node %d, or at %d, which has none of them", group, g.Node, g.Other)
			}
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
	groups := Together(members, 10, func(int) ([]int, int) { return []int{0, 1}, 2 })
	if len(groups) != 20 {
		t.Errorf("%d groups of 200 shards", len(groups))
	}
	for i, g := range groups {
		if g.Node+g.Other != 1 {
			t.Errorf("group %d is read at node %d, or at %d", i, g.Node, g.Other)
		}
	}
	groups = Together(members, 10, func(m int) ([]int, int) { return []int{m % 4, (m + 1) % 4}, 2 })
	for _, g := range groups {
		count[g.Node]++
	}
	if len(groups) > 24 || len(count) != 4 {
		t.Errorf("%d groups at nodes %v", len(groups), count)
	}
}
