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

// State is the door's knowledge of the sharded tables at one moment. It is an immutable snapshot.
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

// end ends a request that begin has counted.
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

// states holds the present State, and those before it that may still have requests under way.
type states struct {
	present atomic.Pointer[State]

	mu      sync.Mutex
	retired []*State
}

// newStates returns states whose present one has no tables and no schema.
func newStates() *states {
	s := new(states)
	s.present.Store(&State{under: new(underWay)})
	return s
}

// Load returns the present state.
func (s *states) Load() *State { return s.present.Load() }

// begin counts a request under way on the present state, and returns the state.
func (s *states) begin(of uint32) *State {
	for {
		st := s.Load()
		st.under.begin(of)
		if s.Load() == st {
			return st
		}
		st.under.end(of)
	}
}

// replace makes st the present state.
func (s *states) replace(st *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = append(s.retired, s.present.Swap(st))
	s.trim()
}

// trim removes the oldest states that have no request under way. The caller holds mu.
func (s *states) trim() {
	n := 0
	for n < len(s.retired) && s.retired[n].under.none() {
		n++
	}
	s.retired = slices.Delete(s.retired, 0, n) // clears the removed elements
}

// oldest returns the oldest state that has a request under way, or the present state if there is
// none.
func (s *states) oldest() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim()
	if len(s.retired) > 0 {
		return s.retired[0]
	}
	return s.Load()
}
