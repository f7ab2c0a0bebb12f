// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"fmt"
	"slices"
)

// This file goes through the states of a scene, breadth first, and returns the shortest way to a failure.

// trace returns the way to state number at, and what is bad after it.
func (m *machine) trace(all []state, from []int32, at int, bad string) []string {
	m.naming = true
	var out []string
	for _, e := range m.nexts(all[at]) {
		if e.bad == bad {
			out = append(out, e.what+"   <== "+bad)
			break
		}
	}
	for k := int32(at); from[k] >= 0; k = from[k] {
		for _, e := range m.nexts(all[from[k]]) {
			if e.to == all[k] {
				out = append(out, e.what)
				break
			}
		}
	}
	slices.Reverse(out)
	return out
}

// explore returns how many states there are, and the shortest way to a failure.
func explore(sc scene, limit int) (states int, trace []string, err error) {
	m := &machine{scene: sc}
	index := map[state]int32{}
	var all []state
	var from []int32
	first := m.begin()
	index[first] = 0
	all, from = append(all, first), append(from, -1)
	ends := 0
	for at := 0; at < len(all); at++ {
		for _, e := range m.nexts(all[at]) {
			if e.bad != "" {
				return len(all), m.trace(all, from, at, e.bad), nil
			}
			if e.end {
				ends++
				continue
			}
			if _, known := index[e.to]; !known {
				index[e.to] = int32(len(all))
				all, from = append(all, e.to), append(from, int32(at))
			}
		}
		if len(all) > limit {
			return len(all), nil, fmt.Errorf("more than %d states", limit)
		}
	}
	if ends == 0 {
		return len(all), nil, fmt.Errorf("the change never ends")
	}
	return len(all), nil, nil
}
