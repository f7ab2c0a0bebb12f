// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// State is the door's knowledge of the sharded tables at one moment. It is an immutable snapshot.
// It also counts the requests under way that were planned on it.
type State struct {
	Schema *schema.Schema                    // logical; only the keyspaces that have sharded tables
	Tables map[string]map[string]*plan.Table // by keyspace and name

	Under *UnderWay
}

// Changing reports whether a statement writes to a table whose layout is being changed.
func (s *State) Changing(a analysis.Statement) bool {
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

// NewState returns a state without tables.
func NewState() *State {
	return &State{Schema: &schema.Schema{Keyspaces: map[string]*schema.Keyspace{}}, Tables: map[string]map[string]*plan.Table{}, Under: new(UnderWay)}
}

// Table returns a sharded table, or nil.
func (s *State) Table(keyspace, name string) *plan.Table { return s.Tables[keyspace][name] }

// UnderWay counts requests, each in one of several counters, so that the goroutines of different
// connections rarely write to the same one.
type UnderWay [16]struct {
	n atomic.Int64
	_ [56]byte // keeps counters in different cache lines
}

// Begin counts a request in the counter that of chooses. The caller must pass the same number to End.
func (u *UnderWay) Begin(of uint32) { u[of%uint32(len(u))].n.Add(1) }

// End ends a request that Begin has counted.
func (u *UnderWay) End(of uint32) { u[of%uint32(len(u))].n.Add(-1) }

// None reports whether no request is under way. If a request begins on a state that is no longer the
// present one, it ends at once: see States.Begin.
func (u *UnderWay) None() bool {
	for i := range u {
		if u[i].n.Load() != 0 {
			return false
		}
	}
	return true
}

// States holds the present State, and the earlier ones that may still have requests under way.
type States struct {
	Present atomic.Pointer[State]

	mu      sync.Mutex
	retired []*State
}

// NewStates returns states whose present one has no tables and no schema.
func NewStates() *States {
	s := new(States)
	s.Present.Store(&State{Under: new(UnderWay)})
	return s
}

// Load returns the present state.
func (s *States) Load() *State { return s.Present.Load() }

// Begin counts a request under way on the present state, and returns the state.
func (s *States) Begin(of uint32) *State {
	for {
		st := s.Load()
		st.Under.Begin(of)
		if s.Load() == st {
			return st
		}
		st.Under.End(of)
	}
}

// Replace makes st the present state.
func (s *States) Replace(st *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = append(s.retired, s.Present.Swap(st))
	s.trim()
}

// trim removes states without requests under way, from the oldest one on, until it finds one with
// requests. The caller holds mu.
func (s *States) trim() {
	n := 0
	for n < len(s.retired) && s.retired[n].Under.None() {
		n++
	}
	s.retired = slices.Delete(s.retired, 0, n) // clears the removed elements
}

// Oldest returns the oldest state that has a request under way, or the present state if there is
// none.
func (s *States) Oldest() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim()
	if len(s.retired) > 0 {
		return s.retired[0]
	}
	return s.Load()
}

// RollingOf yields a table with each of its layouts of strategy rollover. A table has its present layout and,
// during a change, the layout that the change gives it.
func RollingOf(t *plan.Table) iter.Seq[*plan.Table] {
	return func(yield func(*plan.Table) bool) {
		if t.Layout.Strategy == shard.Rollover && !yield(t) {
			return
		}
		if t.Change != nil && t.Change.To.Layout.Strategy == shard.Rollover {
			yield(t.Change.To)
		}
	}
}
