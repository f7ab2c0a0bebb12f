// SPDX-License-Identifier: Apache-2.0

package read

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// An IN on the partition key may name thousands of keys. Most of them may have few rows or none. If the
// door asks every shard of one key after the other, it needs as many rounds as there are keys. So if the
// keys that a page has read were sparse, the door makes a survey of the next keys. In one request for
// many keys it asks which of their shards have rows or static columns. Then it reads only those shards.

const (
	// surveyAfter is how many keys a page reads before it knows whether they are sparse.
	surveyAfter = 4
	// surveyFrom is the smallest number of shards of a key for which the door makes surveys.
	surveyFrom = 8
	// firstSurvey is the number of keys in the first survey, and longestSurvey the largest number. Each
	// survey has twice as many keys as the one before.
	firstSurvey, longestSurvey = 16, 256
	// largestSurvey is the largest number of physical partitions in a survey of several keys.
	largestSurvey = 100_000
)

// survey says which shards of the next partitions have rows.
type survey struct {
	keys, rows int // how many the page has read

	from, to int     // indexes of the surveyed keys: from the first to before the last
	found    [][]int // for each surveyed key, the shards that have rows
}

// look surveys the partitions of a statement, from the one with index i on, if a survey is worth its cost.
func (x *reader) look(i int) error {
	v := &x.survey
	v.keys++
	t := x.plan.Table
	if i < v.to || v.keys <= surveyAfter || x.bound.Keys.Len()-i < surveyAfter || x.plan.Old != nil || x.plan.Access != plan.Partitions || t.Timed() || t.Plain() ||
		x.params.Consistency.IsSerial() {
		return nil
	}
	shards := t.Shards(x.bound.Keys.At(i))
	if len(shards) < surveyFrom || 4*v.rows > v.keys*len(shards) {
		return nil
	}
	if !x.plan.Logical.Distinct {
		for s := range x.plan.PartitionSegments(x.bound, x.dir, i, x.bound.Keys.At(i), nil) {
			if len(s.Shards) < surveyFrom || s.Of != nil {
				return nil // the statement itself decides which shards have the rows
			}
			break
		}
	}
	n := v.next(len(shards))
	var keys [][][]byte
	at := map[string]int{}
	for _, key := range x.bound.Keys.From(i) {
		if len(keys) == n || !slices.Equal(t.Shards(key), shards) {
			break
		}
		at[string(plan.AppendKey(nil, key))] = len(keys)
		keys = append(keys, key)
	}
	reads, n, err := t.Survey(keys, shards)
	if err != nil {
		return err
	}
	found := make([][]int, n)
	err = x.drain(listed(placed(scatter.Unplaced, reads...)), func(cells [][]byte) error {
		key, shard, ok := t.Met(cells)
		i, named := at[string(plan.AppendKey(nil, key))]
		if !ok || !named || i >= n || !slices.Contains(shards, shard) {
			return fmt.Errorf("read: a survey of %s.%s brought a partition that was not asked for", t.Keyspace, t.Name)
		}
		found[i] = append(found[i], shard)
		return nil
	})
	if err == nil {
		v.from, v.to, v.found = i, i+n, found
	}
	return err
}

// next returns how many keys the next survey has, if each key has so many shards.
func (v *survey) next(shards int) int {
	return max(1, min(longestSurvey, max(firstSurvey, 2*(v.to-v.from)), largestSurvey/shards))
}

// empty reports whether a survey has found no rows of the partition with index i.
func (v *survey) empty(i int) bool {
	return v.from <= i && i < v.to && len(v.found[i-v.from]) == 0
}

// shardsOf returns the shards of a segment that may have rows.
func (v *survey) shardsOf(s plan.Segment) []int {
	if s.KeyIndex < v.from || s.KeyIndex >= v.to {
		return s.Shards
	}
	found := v.found[s.KeyIndex-v.from]
	return slices.DeleteFunc(slices.Clone(s.Shards), func(n int) bool { return !slices.Contains(found, n) })
}
