// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// columnIDs are storage's ids of regular and static columns. A dropped column keeps its id for
// when it is added again. As in Cassandra, values written after the drop are then visible again.
type columnIDs struct {
	of      map[string]uint32 // existing columns
	dropped map[string]uint32 // columns dropped and not added again
	next    uint32
}

// assign gives the columns of t their old ids or new ones.
func (ids columnIDs) assign(t *schema.Table) columnIDs {
	n := columnIDs{of: make(map[string]uint32, len(t.Statics)+len(t.Regulars)), next: ids.next}
	for name := range t.Dropped {
		if t.Columns[name] != nil {
			continue
		}
		for _, known := range [2]map[string]uint32{ids.of, ids.dropped} {
			if id, ok := known[name]; ok {
				if n.dropped == nil {
					n.dropped = map[string]uint32{}
				}
				n.dropped[name] = id
			}
		}
	}
	for _, cols := range [2][]*schema.Column{t.Statics, t.Regulars} {
		for _, c := range cols {
			id, ok := ids.of[c.Name]
			if !ok && !reordered(t.Dropped[c.Name].Type, c.Type) {
				id, ok = ids.dropped[c.Name]
			}
			if !ok {
				id = n.next
				n.next++
			}
			n.of[c.Name] = id
		}
	}
	return n
}

// reordered reports whether the elements of a dropped collection may be stored in another form than
// those of the one that is added in its place. Tuples are stored with as many values as their type
// has, and user-defined types, which are recorded as tuples when they are dropped, in a third form.
func reordered(dropped, added *value.Type) bool {
	if dropped == nil {
		return false
	}
	old, path := pathType(dropped), pathType(added)
	return old != nil && path != nil && (old.Contains(value.Tuple) || path.Contains(value.UDT))
}
