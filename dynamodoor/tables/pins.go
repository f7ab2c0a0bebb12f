// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/dynamodoor/shift"
)

// pins counts the requests under way that use one state of a table: its physical table and its
// layout.
type pins struct {
	n      atomic.Int64
	before *pins // of the earlier state; nil: there was none
}

// pinsOf returns the pins of a new entry in use. If the entry before was of the same state of the table,
// the new one keeps its pins. was is nil if there was none.
func pinsOf(was, in *Entry) *pins {
	switch {
	case was == nil || was.pins == nil:
		return new(pins)
	case sameState(was, in):
		return was.pins
	}
	return &pins{before: was.pins}
}

// PinnedTo returns the pins of a request that uses one entry. It does not count the request.
func PinnedTo(e *Entry) *Pinned {
	p := new(Pinned)
	p.used = append(p.few[:0], e)
	return p
}

// busy reports whether requests use a state, or an earlier one.
func (p *pins) busy() bool {
	for ; p != nil; p = p.before {
		if p.n.Load() > 0 {
			return true
		}
	}
	return false
}

// Pinned holds the entries that a request uses, and the names of plain tables in it.
type Pinned struct {
	few   [2]*Entry
	used  []*Entry
	plain []string
	asOf  time.Time // at that time all of these were valid
}

// AllFor returns the tables for the plan of a request.
func (r *Registry) AllFor(p *Pinned) map[string]*Entry {
	p.asOf = r.lease.Began() // read before the tables, which are stored first
	return r.All()
}

// Plain notes that a request was planned for a plain table. It is needed only if there are other
// doors.
func (p *Pinned) Plain(name string) { p.plain = append(p.plain, name) }

// Pin makes a request use an entry, unless the table has another one by now.
func (r *Registry) Pin(p *Pinned, e *Entry) bool {
	if slices.Contains(p.used, e) {
		return true
	}
	e.pins.n.Add(1)
	if now := r.Entry(e.Table); now == nil || now.pins != e.pins {
		e.pins.n.Add(-1) // a mover that waits for older states may have looked before
		return false
	}
	if p.used == nil {
		p.used = p.few[:0]
	}
	p.used = append(p.used, e)
	return true
}

// Release ends a request's use of its entries.
func (p *Pinned) Release() {
	for _, e := range p.used {
		e.pins.n.Add(-1)
	}
	p.used, p.plain = p.used[:0], p.plain[:0]
}

// Shifts reports whether package shift must carry out a request.
func (p *Pinned) Shifts(q api.Request) bool {
	for _, e := range p.used {
		if e.Shift == nil {
			continue
		}
		if e.Shift.Step != protocol.None || inStoresOrder(q) {
			return true
		}
	}
	return false
}

// inStoresOrder reports whether a request reads items in the store's order, at least those with
// equal keys. Its positions are then marked once the table's layout was changed.
func inStoresOrder(q api.Request) bool {
	switch q := q.(type) {
	case *api.Scan:
		return true
	case *api.Query:
		return q.Index != ""
	}
	return false
}

// Of returns the shift of the table with a name, or nil if the table has none.
func (p *Pinned) Of(name string) *shift.Table {
	if e := p.entry(name); e != nil {
		return e.Shift
	}
	return nil
}

// ToRollover reports whether a table gets strategy rollover.
func (p *Pinned) ToRollover() bool {
	return slices.ContainsFunc(p.used, func(e *Entry) bool { return e.Freezes() > 0 && e.Shift.New.Rolls() })
}

// Seconds returns the names of the first physical tables of tables that have a second one, by its name.
func (p *Pinned) Seconds() map[string]string {
	var names map[string]string
	for _, e := range p.used {
		if e.Shift == nil || !e.Shift.Old.Apart(e.Shift.New) {
			continue
		}
		if names == nil {
			names = make(map[string]string)
		}
		names[e.Shift.New.Physical] = e.Shift.Old.Physical
	}
	return names
}

// Holds reports, after the store has answered, whether the entries that a request used, and the
// door's knowledge of plain tables in it, were valid within a lease of now.
func (r *Registry) Holds(ctx context.Context, p *Pinned) (bool, error) {
	if !r.Shared() {
		return true, nil // a mover waits for all requests with older pins
	}
	if !r.Expired(p.asOf) {
		return true, nil // whoever has changed a table since then waits for such requests
	}
	for {
		began := r.lease.Began() // read before the tables, which are stored first
		if r.Changed(p) {
			return false, nil
		}
		if !r.Expired(began) {
			return true, nil
		}
		if err := r.Renew(ctx, r.lease.Length()); err != nil {
			return false, err
		}
	}
}

// Changed reports whether the door knows of a change of a table that a request uses.
func (r *Registry) Changed(p *Pinned) bool {
	tables := r.All()
	for _, e := range p.used {
		if now := tables[e.Table]; now == nil || now.pins != e.pins {
			return true
		}
	}
	return slices.ContainsFunc(p.plain, func(name string) bool { return tables[name] != nil })
}

// entry returns the entry of a table that a request uses, or nil if it does not use the table.
func (p *Pinned) entry(name string) *Entry {
	name = api.TableName(name)
	for _, e := range p.used {
		if e.Table == name {
			return e
		}
	}
	return nil
}

// Table returns the plan's table of a table that a request uses.
func (p *Pinned) Table(name string) *plan.Table {
	if e := p.entry(name); e != nil {
		return e.Plan
	}
	return nil
}

// Any reports whether a request uses an entry, or what the door knew of a plain table.
func (p *Pinned) Any() bool { return len(p.used)+len(p.plain) > 0 }

// First returns the name of the first table that a request uses, or "" if there is none.
func (p *Pinned) First() string {
	if len(p.used) == 0 {
		return ""
	}
	return p.used[0].Table
}
