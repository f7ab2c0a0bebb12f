// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// The metrics show operations on tables: the generation that a door uses, the step of a change, and
// operations that a door has left half-done.
func TestLayoutsAreTold(t *testing.T) {
	layout := func(generation int64) *shard.Layout { return &shard.Layout{Generation: generation} }
	entries := []*catalog.Entry{
		{Keyspace: "ks", Table: "still", State: registry.Active, Layout: layout(3)},
		{Keyspace: "ks", Table: "moving", State: registry.Active, Layout: layout(3), Next: layout(5), Change: &reshard.Change{Step: reshard.Switching, Generation: 5}},
		{Keyspace: "ks", Table: "coming", State: registry.Creating, Layout: layout(1)},
		{Keyspace: "ks", Table: "going", State: registry.Dropping, Layout: layout(1)},
	}
	want := []LayoutState{{"ks.still", 3}, {"ks.moving", 5}}
	if got := layoutsOf(entries); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := countChanging(entries); got != (Changing{Creating: 1, Dropping: 1, Resharding: 1}) {
		t.Errorf("%+v", got)
	}
}
