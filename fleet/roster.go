// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"slices"
	"time"
)

// Roster follows which doors serve, from the doors' rows as they are read again and again.
// Drivers need this to know where to connect. It does no I/O.
//
// A host id identifies a door, however many registrations it has. The door is up while one of
// them is renewed, and down when none was renewed for one and a half leases. Time in which this
// door could not read does not count against the others. It compares no clocks of two machines:
// for a row that is read for the first time, the store tells the age.
type Roster struct {
	lease time.Duration
	looks []registration
	hosts map[[16]byte]*host
	last  time.Time
}

// registration is what a roster remembers of a row.
type registration struct {
	door   *Door
	silent time.Duration // how long the row has not changed
}

type host struct {
	door  *Door
	up    bool
	quiet time.Duration // time since it went down
}

// Kind is a kind of change of a door.
type Kind uint8

const (
	Joined Kind = iota // it is new, and up
	Up                 // it is back
	Down               // it does not renew its lease
	Gone               // it has left, or was down for a minute
)

// Change is a door and what has happened to it.
type Change struct {
	Door *Door
	Kind Kind
}

// forgotten is how long a door that is down is remembered.
const forgotten = time.Minute

// Look takes the rows read at a time and returns the changes, in the order of host ids. It leaves
// out doors with the host id of this door.
func (r *Roster) Look(now time.Time, self [16]byte, lease time.Duration, rows []*Door) []Change {
	passed := time.Duration(0)
	if !r.last.IsZero() {
		passed = max(0, min(now.Sub(r.last), lease/2))
	}
	r.last, r.lease = now, lease
	next := make([]registration, 0, len(rows))
	for _, d := range rows {
		if d.HostID == self {
			continue
		}
		is := registration{door: d, silent: d.Age}
		if i := slices.IndexFunc(r.looks, func(of registration) bool { return of.door.ID == d.ID }); i >= 0 {
			if is.silent = 0; r.looks[i].door.Beat == d.Beat {
				is.silent = r.looks[i].silent + passed
			}
		}
		next = append(next, is)
	}
	r.looks = next
	return r.settle(passed)
}

// settle compares the registrations with what is known of their hosts.
func (r *Roster) settle(passed time.Duration) (changes []Change) {
	if r.hosts == nil {
		r.hosts = map[[16]byte]*host{}
	}
	present := map[[16]byte]bool{} // hosts with a row of a door that has not left
	best := map[[16]byte]registration{}
	for _, of := range r.looks {
		id := of.door.HostID
		if of.door.Left() {
			continue
		}
		present[id] = true
		if old, ok := best[id]; of.silent <= r.lease*3/2 && (!ok || of.silent < old.silent) {
			best[id] = of
		}
	}
	for id, of := range best {
		h := r.hosts[id]
		switch {
		case h == nil:
			r.hosts[id] = &host{door: of.door, up: true}
			changes = append(changes, Change{of.door, Joined})
		case !sameAddress(h.door, of.door):
			changes = append(changes, Change{h.door, Gone}, Change{of.door, Joined})
			*h = host{door: of.door, up: true}
		case !h.up:
			changes = append(changes, Change{of.door, Up})
			*h = host{door: of.door, up: true}
		default:
			h.door = of.door
		}
	}
	for id, h := range r.hosts {
		if _, ok := best[id]; ok {
			continue
		}
		if h.up {
			h.up = false
			changes = append(changes, Change{h.door, Down})
		} else {
			h.quiet += passed
		}
		if !present[id] || h.quiet >= forgotten {
			delete(r.hosts, id)
			changes = append(changes, Change{h.door, Gone})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return bytes.Compare(a.Door.HostID[:], b.Door.HostID[:]) })
	return changes
}

// sameAddress says whether drivers that know host a find host b at the same address.
func sameAddress(a, b *Door) bool {
	return a.CQL == b.CQL && a.DataCentre == b.DataCentre && a.Rack == b.Rack
}

// Up returns the other doors that serve: those of the given data centre first, then by host id.
func (r *Roster) Up(dataCentre string) []*Door {
	var all []*Door
	for _, h := range r.hosts {
		if h.up {
			all = append(all, h.door)
		}
	}
	slices.SortFunc(all, func(a, b *Door) int {
		if near, other := a.DataCentre == dataCentre, b.DataCentre == dataCentre; near != other {
			if near {
				return -1
			}
			return 1
		}
		return bytes.Compare(a.HostID[:], b.HostID[:])
	})
	return all
}
