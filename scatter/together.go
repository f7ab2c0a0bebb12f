// SPDX-License-Identifier: Apache-2.0

package scatter

import "slices"

// Place says where the members of a group are read.
type Place struct {
	Node  int // a node that has all of them; Nowhere: none is known
	Other int // of the other nodes, the one that has most of them; Nowhere: none has any
}

// Nowhere stands for no node.
const Nowhere = -1

// Unplaced is the place of members that can be read anywhere.
var Unplaced = Place{Nowhere, Nowhere}

// Group holds members that share one request.
type Group struct {
	Members []int
	Place
}

// Together parts members into groups of at most `most` members. nodes returns the nodes that have a
// member. The member is read at one of the first `best` of these, and a group's members have such a
// node in common. Members whose nodes are unknown share groups, too. The members of a group keep
// their order.
//
// A member joins a group of one of its nodes that has room. If there is none, it opens a group at
// the node with the fewest groups among its nodes. So, if every node has every member, there are no
// more groups than without nodes, and all nodes take part.
func Together(members []int, most int, nodes func(member int) (all []int, best int)) []Group {
	if len(members) == 0 {
		return nil
	}
	var groups []Group
	if nodes == nil || most < 2 {
		for chunk := range slices.Chunk(members, max(most, 1)) {
			groups = append(groups, Group{chunk, Unplaced})
		}
		return groups
	}
	known := map[int]*node{}
	at := func(id int) *node {
		if known[id] == nil {
			known[id] = &node{id: id, open: -1}
		}
		return known[id]
	}
	for _, m := range members {
		all, best := nodes(m)
		candidates := all[:best]
		if best == 0 {
			candidates = []int{Nowhere}
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
			to.open = len(groups)
			to.groups++
			to.others = to.others[:0]
			groups = append(groups, Group{make([]int, 0, min(most, len(members))), Place{to.id, Nowhere}})
		}
		g := &groups[to.open]
		g.Members = append(g.Members, m)
		for _, n := range all {
			if n != to.id {
				to.others.add(n)
			}
		}
		g.Other = to.others.most()
		if len(g.Members) == most {
			to.open = -1
		}
	}
	return groups
}

// node is what Together knows of a node.
type node struct {
	id     int
	open   int   // index of its group with room; -1: none
	groups int   // how many groups it has
	others tally // the other nodes that have members of the open group
}

// tally counts members by node.
type tally []struct{ node, members int }

func (t *tally) add(node int) {
	for i := range *t {
		if (*t)[i].node == node {
			(*t)[i].members++
			return
		}
	}
	*t = append(*t, struct{ node, members int }{node, 1})
}

// most returns the node with the most members, the first of several, or Nowhere.
func (t tally) most() int {
	node, members := Nowhere, 0
	for _, c := range t {
		if c.members > members {
			node, members = c.node, c.members
		}
	}
	return node
}
