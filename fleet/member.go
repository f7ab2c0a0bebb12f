// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/registry"
)

// Format is the format of this package's tables. Entries of the catalogue have a format of their
// own.
const Format = "1"

// DefaultLease is written to the catalogue if it has no lease length.
const DefaultLease = 2 * time.Second

// A barrier waits so long in addition to a lease.
const (
	defaultLongest = 15 * time.Second
	defaultDrift   = time.Second
)

// keptFormer is how many of its earlier registrations a door remembers. That is more than can
// have rows at the same time, because leases rarely end.
const keptFormer = 64

// Options configure a Member.
type Options struct {
	Session catalog.Session  // required
	Now     func() time.Time // required: a clock with a monotonic reading
	UUID    func() [16]byte  // required: ids of registrations

	// Self describes the door. The Member sets ID, Lease, Beat and Acknowledged, and sets Formats
	// to {Format} if it is empty.
	Self Door

	// Lease is written to the catalogue if that has no lease length yet. Default DefaultLease.
	Lease time.Duration

	Longest time.Duration // how long a request may be under way; default 15 s
	Drift   time.Duration // how much clocks can drift apart in that time; default 1 s
	Poll    time.Duration // how often a barrier reads the doors; default 100 ms
	Log     *slog.Logger  // default: nothing is logged
}

// Member is one door among the others. It is safe for concurrent use.
type Member struct {
	opts   Options
	tables tables

	mu           sync.Mutex      // held during Beat and Leave
	self         *Door           // nil: not registered
	lease        *registry.Lease // the lease that the registration is known to have
	since        time.Time       // start of the registration
	former       [][16]byte      // earlier registrations of this door
	acknowledged map[[16]byte]int64
	schema       [16]byte
	ready        bool // the tables exist, and the settings have been read
	length       time.Duration

	barriers sync.Mutex
	gone     map[[16]byte]int64 // doors that this member's barriers found vanished: their last beats
}

// New makes a Member. It sends nothing until a method is called.
func New(o Options) *Member {
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	if o.Longest <= 0 {
		o.Longest = defaultLongest
	}
	if o.Drift <= 0 {
		o.Drift = defaultDrift
	}
	if o.Poll <= 0 {
		o.Poll = 100 * time.Millisecond
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Self.Formats) == 0 {
		o.Self.Formats = []string{Format}
	}
	return &Member{opts: o, tables: tables{o.Session}}
}

// Seen is what a beat has read.
type Seen struct {
	Asked        time.Time     // start of the lease
	Lease        time.Duration // length of the lease
	Self         [16]byte      // the door's own id
	Doors        []*Door       // all doors by id, including this one
	Publications []Publication // by table
}

// Same says whether both beats have read the same publications.
func (s *Seen) Same(other *Seen) bool {
	return other != nil && slices.Equal(s.Publications, other.Publications)
}

// Beat registers the door, or renews its registration, and reads the other doors and the
// publications. The door may read the layouts after it. Then the lease counts from Seen.Asked.
// The catalogue's keyspace must exist.
func (m *Member) Beat(ctx context.Context) (*Seen, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.prepare(ctx); err != nil {
		return nil, err
	}
	asked := m.opts.Now()
	if m.self != nil && !m.lease.Holds() {
		// The mover may take this door for vanished. So the door registers under a new id that
		// has acknowledged nothing.
		m.opts.Log.Warn("this door could not renew its lease in time; it registers again")
		m.former = append(m.former[max(0, len(m.former)-keptFormer+1):], m.self.ID)
		m.self = nil
	}
	next := m.next()
	if err := m.tables.write(ctx, next); err != nil {
		return nil, fmt.Errorf("write this door's row: %w", err)
	}
	seen := &Seen{Asked: asked, Lease: next.Lease, Self: next.ID}
	var err error
	if seen.Doors, err = m.tables.doors(ctx); err != nil {
		return nil, err
	}
	own := slices.IndexFunc(seen.Doors, func(d *Door) bool { return d.ID == next.ID })
	if own < 0 || seen.Doors[own].Beat != next.Beat {
		m.self = nil
		return nil, errors.New("this door's row is not as it was just written; the clocks of the store's nodes may differ by more than a second")
	}
	if seen.Publications, err = m.tables.published(ctx); err != nil {
		return nil, err
	}
	if m.self == nil {
		if err := m.mayJoin(seen); err != nil {
			return nil, errors.Join(err, m.leave(ctx, next))
		}
		m.lease, m.since = registry.NewLease(next.Lease, m.opts.Now), asked
	}
	m.self = next
	m.lease.Renew(asked)
	return seen, nil
}

// prepare creates the tables if needed and reads the settings.
func (m *Member) prepare(ctx context.Context) error {
	if m.ready {
		return nil
	}
	if err := m.tables.ensure(ctx); err != nil {
		return err
	}
	settings, err := m.tables.settings(ctx, m.opts.Lease)
	if err != nil {
		return err
	}
	if !slices.Contains(m.opts.Self.Formats, settings.format) {
		return fmt.Errorf("the doors of this cluster keep their catalogue in format %q, and this release knows %s only; install the release that the others have",
			settings.format, strings.Join(m.opts.Self.Formats, ", "))
	}
	m.length, m.ready = settings.lease, true
	return nil
}

// next returns the row to write.
func (m *Member) next() *Door {
	d := m.opts.Self
	if m.self != nil {
		d.ID, d.Beat = m.self.ID, m.self.Beat+1
		d.Acknowledged = maps.Clone(m.acknowledged)
	} else {
		d.ID, d.Beat = m.opts.UUID(), 1
		d.Acknowledged = nil // the door has not read the layouts yet
		m.acknowledged = nil
	}
	d.Lease, d.Schema = m.length, m.schema
	return &d
}

// mayJoin refuses a door that does not know a step of a change under way.
func (m *Member) mayJoin(seen *Seen) error {
	for _, p := range seen.Publications {
		if p.Step != "" && !slices.Contains(m.opts.Self.Steps, p.Step) {
			return fmt.Errorf("table %s is being changed by a step that this release does not know (%s); install the release that the other doors have, or wait until the change has ended", p.Table, p.Step)
		}
	}
	return nil
}

// Acknowledge notes that this door has no request under way that was planned before these
// generations of tables, by table id. The next Beat tells the other doors. It applies only to the
// registration self, which Seen named: a later registration has read the layouts again.
func (m *Member) Acknowledge(self [16]byte, generations map[[16]byte]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.self != nil && m.self.ID == self {
		m.acknowledged = maps.Clone(generations)
	}
}

// Tell tells the other doors at once which version of the store's schema this door uses. Drivers
// wait until all doors have the same version. Each Beat repeats it. A door that is not registered
// tells nobody.
func (m *Member) Tell(ctx context.Context, schema [16]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.schema == schema {
		return nil
	}
	m.schema = schema
	if m.self == nil || !m.lease.Holds() {
		return nil // the next Beat tells it
	}
	next := m.next()
	if err := m.tables.write(ctx, next); err != nil {
		return fmt.Errorf("write this door's row: %w", err)
	}
	m.self = next
	return nil
}

// Doors reads the rows of all doors.
func (m *Member) Doors(ctx context.Context) ([]*Door, error) { return m.tables.doors(ctx) }

// Leave removes the door from the fleet. No request may be under way.
func (m *Member) Leave(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.self == nil {
		return nil
	}
	d := m.self
	m.self = nil
	return m.leave(ctx, d)
}

// leave writes the last row of a registration.
func (m *Member) leave(ctx context.Context, d *Door) error {
	last := *d
	last.Beat++
	last.Lease = 0
	if err := m.tables.write(ctx, &last); err != nil {
		return fmt.Errorf("write that this door has left: %w", err)
	}
	return nil
}

// Alone says whether no other door uses anything that it has read. No other door has a row,
// except this door under earlier ids. And this door has been registered for so long that any
// other door has either seen the catalogue and registered too, or knows that its lease has ended.
func (m *Member) Alone(ctx context.Context) (bool, error) {
	m.mu.Lock()
	self, since, length, former := m.self, m.since, m.length, slices.Clone(m.former)
	m.mu.Unlock()
	if self == nil || m.opts.Now().Sub(since) <= length {
		return false, nil
	}
	doors, err := m.tables.allDoors(ctx)
	if err != nil {
		return false, err
	}
	for _, d := range doors {
		if d.ID != self.ID && !d.Left() && !slices.Contains(former, d.ID) {
			return false, nil
		}
	}
	return true, nil
}

// Established waits until this door has been registered for a lease. From then on any other door has either
// seen the catalogue and registered too, or knows that its lease has ended.
func (m *Member) Established(ctx context.Context) error {
	m.mu.Lock()
	self, since, length := m.self, m.since, m.length
	m.mu.Unlock()
	if self == nil {
		return errors.New("this door is not registered")
	}
	return deadline.Sleep(ctx, length-m.opts.Now().Sub(since)+1)
}

// Knows refuses a change if some door does not know all of its steps.
func (m *Member) Knows(ctx context.Context, steps ...string) error {
	doors, err := m.tables.allDoors(ctx)
	if err != nil {
		return err
	}
	for _, d := range doors {
		if d.Left() {
			continue
		}
		for _, s := range steps {
			if !slices.Contains(d.Steps, s) {
				return fmt.Errorf("door %s, of release %s, does not know how to change a table that is in use (step %s); replace it first", d.Name(), d.Release, s)
			}
		}
	}
	return nil
}

// Publish tells the doors that the catalogue has another generation of a table's layout. The
// catalogue must have it already. Publish can be repeated. It does nothing if a later generation is
// published.
func (m *Member) Publish(ctx context.Context, p Publication) error {
	m.mu.Lock()
	err := m.prepare(ctx)
	m.mu.Unlock()
	if err != nil {
		return err
	}
	return m.tables.publish(ctx, p)
}

// Withdraw removes the publication of this generation or of an earlier one: doors need not
// acknowledge it any more. A later generation stays, which another door has published meanwhile.
func (m *Member) Withdraw(ctx context.Context, t Table, generation int64) error {
	return m.tables.withdraw(ctx, t, generation)
}

// Barrier waits until no door uses an older generation of the table than this one, which has been
// published. It returns nil, or a *VanishedError if some doors vanished without acknowledging. It
// waits as long as ctx allows for a door that renews its lease but does not acknowledge.
//
// A vanished door is reported once. Later barriers do not wait for that registration: the door
// comes back with another id.
func (m *Member) Barrier(ctx context.Context, t Table, generation int64) error {
	b := newBarrier(t.ID, generation, m.opts.Longest+m.opts.Drift)
	tick := time.NewTicker(m.opts.Poll)
	defer tick.Stop()
	var of []*Door
	for {
		doors, err := m.tables.allDoors(ctx)
		if err == nil {
			var passed bool
			if passed, of = b.look(m.opts.Now(), m.withoutGone(doors)); passed {
				if len(of) > 0 {
					m.remember(of, doors)
					return &VanishedError{t, generation, of}
				}
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("wait for the doors to know generation %d of %s: %w", generation, t, err)
			}
			return fmt.Errorf("wait for the doors %s to acknowledge generation %d of %s: %w", names(of), generation, t, ctx.Err())
		}
	}
}

// withoutGone removes the doors that earlier barriers found vanished.
func (m *Member) withoutGone(doors []*Door) []*Door {
	m.barriers.Lock()
	defer m.barriers.Unlock()
	return slices.DeleteFunc(slices.Clone(doors), func(d *Door) bool {
		beat, gone := m.gone[d.ID]
		return gone && beat == d.Beat
	})
}

// remember notes the doors that a barrier found vanished, and forgets those without a row.
func (m *Member) remember(vanished, present []*Door) {
	m.barriers.Lock()
	defer m.barriers.Unlock()
	next := map[[16]byte]int64{}
	for _, d := range present {
		if beat, gone := m.gone[d.ID]; gone {
			next[d.ID] = beat
		}
	}
	for _, d := range vanished {
		next[d.ID] = d.Beat
	}
	m.gone = next
}
