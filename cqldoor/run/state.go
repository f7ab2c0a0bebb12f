// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// State is what the door knows of the sharded tables at one moment. It is an immutable snapshot.
// It also counts the requests under way that were planned on it.
type State struct {
	Schema *schema.Schema                    // logical; only the keyspaces that have sharded tables
	Tables map[string]map[string]*plan.Table // by keyspace and name

	under *underWay
}

// changing says whether a write is on a table whose layout is being changed.
func (s *State) changing(a analysis.Statement) bool {
	of := func(w *analysis.Write) bool {
		t := s.Table(w.Table.Keyspace, w.Table.Name)
		return t != nil && t.Change != nil
	}
	switch a := a.(type) {
	case *analysis.Write:
		return of(a)
	case *analysis.Batch:
		return slices.ContainsFunc(a.Writes, of)
	}
	return false
}

// newState returns a state without tables.
func newState() *State {
	return &State{Schema: &schema.Schema{Keyspaces: map[string]*schema.Keyspace{}}, Tables: map[string]map[string]*plan.Table{}, under: new(underWay)}
}

// Table returns a sharded table, or nil.
func (s *State) Table(keyspace, name string) *plan.Table { return s.Tables[keyspace][name] }

// underWay counts requests, each in one of several counters, so that the goroutines of different
// connections rarely write to the same one.
type underWay [16]struct {
	n atomic.Int64
	_ [56]byte // keeps counters in different cache lines
}

// begin counts a request in the counter for of. end must get the same number.
func (u *underWay) begin(of uint32) { u[of%uint32(len(u))].n.Add(1) }

func (u *underWay) end(of uint32) { u[of%uint32(len(u))].n.Add(-1) }

// none says whether no request is under way. Once a state is no longer the present one, a request
// that begins on it ends at once.
func (u *underWay) none() bool {
	for i := range u {
		if u[i].n.Load() != 0 {
			return false
		}
	}
	return true
}

// retired holds the states before the present one that may still have requests under way.
type retired struct {
	mu  sync.Mutex
	all []*State
}

// replace makes s the present state.
func (r *retired) replace(present *atomic.Pointer[State], s *State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, present.Swap(s))
	r.trim()
}

// trim removes the oldest states that have no request under way. The caller holds mu.
func (r *retired) trim() {
	n := 0
	for n < len(r.all) && r.all[n].under.none() {
		n++
	}
	r.all = slices.Delete(r.all, 0, n) // clears the removed elements
}

// oldest returns the oldest state that has a request under way, or the present state if there is
// none.
func (r *retired) oldest(present *atomic.Pointer[State]) *State {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trim()
	if len(r.all) > 0 {
		return r.all[0]
	}
	return present.Load()
}
