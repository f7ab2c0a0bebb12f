// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cqldoor"
)

// Doors forward statements on plain tables without a plan. Another door may shard such a table at the same
// time. That door waits for the doors that renew their leases, but it does not wait for a door that stands
// still. So a door also checks, when the store answers a forwarded statement, whether the answer counts. It
// counts in each of these cases:
//
//   - The lease holds, and has held since the statement was judged.
//   - The lease had ended, and the door has registered anew. After that it has read the catalogue, which has
//     no sharded table that the door did not claim before.
//   - The lease has ended, and the door cannot renew it. One replica of the catalogue shows no such table
//     (catalog.Catalog.Glance). So the door serves plain tables while the catalogue has no quorum.
//
// In all other cases the door does not know whether the plain table still has the rows. It answers with an
// error that says so.

// Terms numbers this door's terms. A term begins when the door registers after its lease had ended.
type Terms struct {
	Now atomic.Uint32

	// Tainted is the last term that began with a table which this door did not claim in the term before.
	// Answers to statements that the door forwarded in earlier terms do not count.
	Tainted atomic.Uint32
}

// begin begins a new term. The caller has published the new view before, and renews the lease afterwards.
func (t *Terms) begin(taints bool) {
	next := t.Now.Load() + 1
	if taints {
		t.Tainted.Store(next)
	}
	t.Now.Store(next)
}

// anew reports whether a view begins a new term. old is the view before.
func (m *Membership) anew(old, v *View) bool {
	switch {
	case m.Member == nil || v.Seen == nil:
		return false
	case old.Seen == nil: // until now there was no catalogue, so there was nobody to register with
		return m.Lapsed()
	}
	return old.Seen.Self != v.Seen.Self
}

// taints reports whether view v claims a table on which the door may have forwarded statements in the term
// before. old is the last view of that term, and before is the State that belongs to old.
func (x *Schemas) taints(old *View, before *State, v *View) bool {
	for keyspace, tables := range v.Tables {
		for name, t := range tables {
			if was := old.Tables[keyspace][name]; was == nil || was.Entry.ID != t.Entry.ID || !x.Claims.Have(before.Table(keyspace, name)) {
				return true
			}
		}
	}
	for n := range v.unserved {
		if !old.unserved[n] {
			return true
		}
	}
	return false
}

// SinceTerm returns how many terms have begun since an earlier one. term has only the lowest bits of the
// earlier term's number (cqldoor.TermMask).
func SinceTerm(now, term uint32) uint32 { return (now - term) & cqldoor.TermMask }
