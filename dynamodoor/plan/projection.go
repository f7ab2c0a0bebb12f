// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// isLocal reports whether an index of a logical table is a local one. It returns false for nil, which
// means the table itself.
func isLocal(t *schema.Table, ix *schema.Index) bool {
	if ix == nil {
		return false
	}
	_, local := t.Index(ix.Name)
	return local
}

// selects returns what to select. For a local index, it selects all attributes if the client asks
// for attributes that the index does not have.
func selects(t *schema.Table, r *api.Read, ix *schema.Index) api.Select {
	if !isLocal(t, ix) || ix.Projection.Type == schema.ProjectAll {
		return api.SelectDefault
	}
	if r.Select == api.SelectAll {
		return api.SelectAll
	}
	has := append(api.StartNames(t, ix), ix.Projection.NonKey...)
	for _, p := range r.Projection.Paths() {
		if !slices.Contains(has, p.Name) {
			return api.SelectAll
		}
	}
	return api.SelectDefault
}

// Fetched returns the names of the attributes that a read of an index of a logical table fetches; nil: all. They
// include the keys of the table and of the index.
func Fetched(t *schema.Table, r *api.Read, ix *schema.Index) []string {
	if ix.Projection.Type == schema.ProjectAll || selects(t, r, ix) == api.SelectAll {
		return nil
	}
	return append(api.StartNames(t, ix), ix.Projection.NonKey...)
}

// physicalProjection returns an index's projection with the logical partition key, unless it is
// there already. It is not a key of the physical table.
func physicalProjection(p schema.Projection, key schema.Key, hash string) schema.Projection {
	if p.Type == schema.ProjectAll || key.Has(hash) || slices.Contains(p.NonKey, hash) {
		return p
	}
	return schema.Projection{Type: schema.ProjectInclude, NonKey: append(slices.Clone(p.NonKey), hash)}
}

func logicalProjection(p schema.Projection, hash string) schema.Projection {
	i := slices.Index(p.NonKey, hash)
	if i < 0 {
		return p
	}
	p.NonKey = slices.Delete(slices.Clone(p.NonKey), i, i+1)
	if len(p.NonKey) == 0 {
		p = schema.Projection{Type: schema.ProjectKeysOnly}
	}
	return p
}
