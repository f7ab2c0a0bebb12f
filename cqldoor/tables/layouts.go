// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/registry"
)

// Changing counts the tables whose creation, removal or change of layout has begun and not ended.
// A table counts while the operation runs. If the door that runs it dies, the table counts until
// another door ends the operation.
type Changing struct{ Creating, Dropping, Resharding int }

func countChanging(entries []*catalog.Entry) (n Changing) {
	for _, e := range entries {
		switch {
		case e.State == registry.Creating:
			n.Creating++
		case e.State == registry.Dropping:
			n.Dropping++
		case e.Change != nil:
			n.Resharding++
		}
	}
	return n
}

// LayoutState says which layout a door uses for one sharded table. Doors that agree use the same
// generation.
type LayoutState struct {
	Table      string // keyspace.table
	Generation int64
}

func layoutsOf(entries []*catalog.Entry) (all []LayoutState) {
	for _, e := range entries {
		if e.State != registry.Active || e.Layout == nil {
			continue
		}
		l := LayoutState{Table: e.String(), Generation: e.Layout.Generation}
		if e.Change != nil {
			l.Generation = e.Change.Generation
		}
		all = append(all, l)
	}
	return all
}
