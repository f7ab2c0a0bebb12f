// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

func (df *definer) listTables(q *api.ListTables) (api.Response, error) {
	names := slices.Sorted(maps.Keys(df.tables.all()))
	from, found := slices.BinarySearch(names, q.Start)
	if found {
		from++
	}
	r := &api.TablesResponse{Names: names[from:]}
	if len(r.Names) > q.Limit {
		r.Names = r.Names[:q.Limit]
		r.Last = r.Names[q.Limit-1]
	}
	return r, nil
}
