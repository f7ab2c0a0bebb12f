// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"maps"
	"slices"
)

// Tally counts rows by partition key, in bounded memory.
type Tally struct {
	most int // how many keys it remembers
	rows map[string]int64
}

// NewTally returns a Tally that remembers a number of keys.
func NewTally(most int) *Tally { return &Tally{most, make(map[string]int64)} }

// Add counts a row of a key. If there are too many keys, it forgets the half with fewer rows, and takes as
// many from the others as the largest forgotten key had (Misra and Gries). So no key has too many, and none
// lacks more than 2/most of all rows.
func (t *Tally) Add(key string) {
	t.rows[key]++
	if len(t.rows) <= t.most {
		return
	}
	middle := slices.Sorted(maps.Values(t.rows))[len(t.rows)/2]
	for key, n := range t.rows {
		if t.rows[key] = n - middle; n <= middle {
			delete(t.rows, key)
		}
	}
}

// Over returns the keys with more rows than n, sorted.
func (t *Tally) Over(n int64) []string {
	var keys []string
	for key, rows := range t.rows {
		if rows > n {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
