// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// TestIncludeSameShards includes requests on the same shards, as many as an explanation shows. It says
// that there are more only if there is another shard.
func TestIncludeSameShards(t *testing.T) {
	var out plan.Explained
	all := make([]int, 1000)
	for i := range all {
		all[i] = i + 1
	}
	for range 2 {
		out.Include(new(api.Query), &plan.Explained{Shards: slices.Clone(all)})
	}
	if out.More || len(out.Shards) != len(all) {
		t.Errorf("%d shards, more: %v", len(out.Shards), out.More)
	}
	out.Include(new(api.Query), &plan.Explained{Shards: []int{1001}})
	if !out.More || len(out.Shards) != len(all) {
		t.Errorf("with another one: %d shards, more: %v", len(out.Shards), out.More)
	}
}
