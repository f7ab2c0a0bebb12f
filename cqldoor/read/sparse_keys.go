// SPDX-License-Identifier: Apache-2.0

package read

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// An IN on the partition key may name thousands of keys, most of which have few rows or none. To ask
// every shard of one key after the other takes as many rounds as keys. So while the keys that a page
// has read were sparse, the door first asks which shards of the next ones have anything: of many keys
// in one request. Then it asks only those shards.

const (
	// surveyAfter is how many keys a page reads before it knows whether they are sparse.
	surveyAfter = 4
	// surveyFrom is the least number of shards for which a survey is worth it.
	surveyFrom = 8
	// firstSurvey and longestSurvey are how many keys surveys are about: each twice as many as the
	// last one.
	firstSurvey, longestSurvey = 16, 256
	// largestSurvey is how many partitions of the store a survey of several keys asks for at most.
	largestSurvey = 100_000
)

// survey knows which shards have rows of the partitions that come next.
type survey struct {
	keys, rows int // read so far

	from, to int     // the keys that were surveyed, by index
	found    [][]int // the shards of each that have rows
}

// look surveys the partitions of a statement from the one with index i on, if this is worth it.
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
				return nil // the statement tells which shards have the rows
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

// next returns how many keys with so many shards the next survey is about.
func (v *survey) next(shards int) int {
	return max(1, min(longestSurvey, max(firstSurvey, 2*(v.to-v.from)), largestSurvey/shards))
}

// empty says that a survey has found nothing of the partition with index i.
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
