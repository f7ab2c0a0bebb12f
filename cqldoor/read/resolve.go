// SPDX-License-Identifier: Apache-2.0

package read

import (
	"context"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/reshard"
)

// AtLeastQuorum returns a consistency level, raised so that its replicas overlap with every quorum.
func AtLeastQuorum(c wire.Consistency) wire.Consistency {
	switch c {
	case wire.Any, wire.One, wire.Two, wire.Three, wire.LocalOne:
		return wire.LocalQuorum
	}
	return c
}

// Resolver makes the two places of a row equal while the layout of its table is being changed. The
// door's own account reads and writes both.
type Resolver struct {
	Session catalog.Session
	Buckets *buckets.Buckets // the directory, to which the Resolver adds the buckets of copied rows
}

// Revive copies the cells of a write to the new place if they are alive in the old one. The write may
// be older than a deletion.
func (r *Resolver) Revive(ctx context.Context, c *plan.Change, m *plan.Moved, cl wire.Consistency) error {
	old, err := r.look(ctx, c, m, m.Old, cl)
	if err != nil || !old.There {
		return err
	}
	if err := r.Buckets.AnnounceMoved(ctx, c.To, m.Key, m.New.Shard); err != nil {
		return err
	}
	return r.carried(ctx, c.Put(m, m.New, old.At(m.Stamp), m.Marker, m.Stamp, m.TTL), cl)
}

// look reads a row in one of its places, with the times of its cells.
func (r *Resolver) look(ctx context.Context, c *plan.Change, m *plan.Moved, at plan.Place, cl wire.Consistency) (plan.Picture, error) {
	carrier := c.Carrier(m.Clustering == nil)
	var all []schema.Row
	for _, at := range c.Partitions(m.Key, at) {
		f := carrier.Look(m, at)
		rows, err := r.Session.Query(ctx, cl, f.Statement.Text, request.BytesOf(f.Values)...)
		if err != nil {
			return plan.Image(carrier, all), err
		}
		all = append(all, rows...)
	}
	return plan.Image(carrier, all), nil
}

// dropped deletes cells of a row in one of its places. If row is true, the other place does not have
// the row at all. Then dropped also deletes the row's marker. It leaves a marker that is newer than the
// row's newest cell. bare is true if the place had only a marker after the deletion of the cells.
func (r *Resolver) dropped(ctx context.Context, c *plan.Change, m *plan.Moved, in plan.Place, gone plan.Picture, row bool, cl wire.Consistency) (bare bool, err error) {
	carrier, places := c.Carrier(m.Clustering == nil), c.Partitions(m.Key, in)
	var all []plan.Mutation
	for _, at := range places {
		all = append(all, carrier.Drop(m, at, gone)...)
	}
	if err := r.carried(ctx, all, cl); err != nil || !row || m.Clustering == nil {
		return false, err
	}
	left, err := r.look(ctx, c, m, in, cl)
	if err != nil || !left.There {
		return false, err
	}
	all = nil
	for _, at := range places {
		all = append(all, carrier.DropRow(m, at, gone.Newest(c.Started)))
	}
	return !left.Occupied(), r.carried(ctx, all, cl)
}

// carried executes writes that bring cells to a place, or delete cells there, with the times of these
// cells. The store applies all of the writes or none. So no reader sees a row with only some of its
// cells, and no door that dies leaves such a row behind. The door's own account writes, because the
// client that reads may have no right to write.
func (r *Resolver) carried(ctx context.Context, ms []plan.Mutation, cl wire.Consistency) error {
	if len(ms) == 0 {
		return nil
	}
	text, values := ms[0].Statement.Text, request.BytesOf(ms[0].Values)
	if len(ms) > 1 {
		var b strings.Builder
		b.WriteString("BEGIN ")
		if !slices.ContainsFunc(ms, func(m plan.Mutation) bool { return m.Shard != ms[0].Shard }) {
			b.WriteString("UNLOGGED ") // the store applies the writes to one partition atomically
		}
		b.WriteString("BATCH ")
		values = nil
		for _, m := range ms {
			b.WriteString(m.Statement.Text)
			b.WriteString("; ")
			values = append(values, request.BytesOf(m.Values)...)
		}
		b.WriteString("APPLY BATCH")
		text = b.String()
	}
	_, err := r.Session.Query(ctx, cl, text, values...)
	return err
}

// resolve makes the two places of a row equal. It runs the program of reshard.Duty.Read: it
// copies the cells of each place to the other, with their own times. If the new place still lacks a
// cell after that, the cell was deleted there. So resolve deletes the cell in the old place. deleted is
// true if the row is deleted, but one place can still have its marker. Only the mover can delete that
// marker.
func (r *Resolver) resolve(ctx context.Context, c *plan.Change, m plan.Moved, cl wire.Consistency) (deleted bool, err error) {
	return r.Act(ctx, c, c.Duty.Read, m, ForWrites(cl))
}

// Act executes a program of package reshard on one row that moves. deleted is as for resolve.
func (r *Resolver) Act(ctx context.Context, c *plan.Change, program []reshard.Act, m plan.Moved, cl wire.Consistency) (deleted bool, err error) {
	if m.Old == m.New {
		return false, nil
	}
	carrier := c.Carrier(m.Clustering == nil)
	old, next := plan.Image[schema.Row](carrier, nil), plan.Image[schema.Row](carrier, nil)
	for _, act := range program {
		bare := false
		switch act {
		case reshard.LookOld:
			old, err = r.look(ctx, c, &m, m.Old, cl)
		case reshard.LookNew:
			next, err = r.look(ctx, c, &m, m.New, cl)
		case reshard.CopyNew:
			if missing := old.Newer(next); missing.There {
				if err = r.Buckets.AnnounceMoved(ctx, c.To, m.Key, m.New.Shard); err == nil {
					err = r.carried(ctx, c.Copy(&m, m.New, old, missing), cl)
				}
			}
		case reshard.CopyOld:
			if missing := next.Newer(old); missing.There {
				if err = r.Buckets.AnnounceMoved(ctx, c.From, m.Key, m.Old.Shard); err == nil {
					err = r.carried(ctx, c.Copy(&m, m.Old, next, missing), cl)
				}
			}
		case reshard.DropOld:
			if gone := old.Lacking(next); gone.There {
				bare, err = r.dropped(ctx, c, &m, m.Old, gone, !next.There, cl)
			}
		case reshard.DropNew:
			if gone := next.Lacking(old); gone.There {
				bare, err = r.dropped(ctx, c, &m, m.New, gone, !old.There, cl)
			}
		}
		if err != nil {
			return false, err
		}
		deleted = deleted || bare
	}
	return deleted, nil
}

// ForWrites returns the consistency level for the writes that a read at level cl makes.
func ForWrites(cl wire.Consistency) wire.Consistency {
	switch cl {
	case wire.Serial, wire.LocalSerial:
		return wire.LocalQuorum
	}
	return AtLeastQuorum(cl)
}
