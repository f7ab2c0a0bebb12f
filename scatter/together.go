// SPDX-License-Identifier: Apache-2.0

package scatter

import "slices"

// Together parts members into groups for one request each: at most `most` members, all of
// them at one node that has a group. nodes gives the nodes that have a member, best first;
// a member that none is known of is with others of that kind. The members of a group keep
// their order.
//
// A member joins a group of one of its nodes that has room, else it opens one at that of
// its nodes which has the fewest: where every node has every member there are no more
// groups than without nodes, and all nodes take part.
func Together(members []int, most int, nodes func(member int) []int) [][]int {
	if len(members) == 0 {
		return nil
	}
	if nodes == nil || most < 2 {
		return slices.Collect(slices.Chunk(members, max(most, 1)))
	}
	const nowhere = -1
	type node struct{ open, groups int } // the group with room, of so many; open is -1 where there is none
	var (
		all   [][]int
		known = map[int]*node{}
	)
	at := func(n int) *node {
		if known[n] == nil {
			known[n] = &node{open: -1}
		}
		return known[n]
	}
	for _, m := range members {
		candidates := nodes(m)
		if len(candidates) == 0 {
			candidates = []int{nowhere}
		}
		var to *node
		for _, c := range candidates {
			n := at(c)
			if n.open >= 0 {
				to = n
				break
			}
			if to == nil || n.groups < to.groups {
				to = n
			}
		}
		if to.open < 0 {
			to.open = len(all)
			to.groups++
			all = append(all, make([]int, 0, min(most, len(members))))
		}
		all[to.open] = append(all[to.open], m)
		if len(all[to.open]) == most {
			to.open = -1
		}
	}
	return all
}
