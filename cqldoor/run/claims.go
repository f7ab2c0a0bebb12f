// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/observe"
)

// Claims implements cqldoor.Router.
func (r *Router) Claims(h syntax.Head, keyspace string) bool {
	if r.schema.View.Load().Judge(h, keyspace) != tables.ToStore {
		return true
	}
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	return r.schema.Doors.Lease.Over() && tables.OnRows(h.Kind) && !strings.HasPrefix(keyspace, "system")
}

// ClaimsID implements cqldoor.Router.
func (r *Router) ClaimsID(id []byte) (claimed bool, of *observe.Series) {
	k := r.cache.Known.Get(id)
	switch {
	case k == nil:
		return true, nil
	case k.Statement != nil:
		return true, k.Statement.Series
	case k.Passed == nil:
		return true, nil
	}
	claimed = !r.relays.Passes(k.Passed) || r.schema.Doors.Lease.Over() && !k.Passed.System
	return claimed, k.Passed.Series.Load()
}

// Spreads implements cqldoor.Router.
func (r *Router) Spreads(driver string) bool {
	return r.schema.Doors.Nodes.MannerOf(driver) == tables.NoKeyIndexes
}

// Prepared implements cqldoor.Router.
func (r *Router) Prepared(id []byte, keyspace, text string) {
	r.relays.Prepared(id, nil, keyspace, text)
}
