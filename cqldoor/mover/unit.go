// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/reshard"
)

// unit holds rows of one physical partition that have the same old and the same new place; if they are
// to be deleted, the same place. The mover handles them together: one request reads all of them at a
// place, and one writes or deletes them there.
type unit struct {
	from, to place
	rows     []*row
	bytes    int
}

// A unit has at most unitRows rows. If it has several, they have at most unitBytes bytes together, so
// that Cassandra does not refuse a batch of them (batch_size_fail_threshold, 50 KiB).
const (
	unitRows  = 32
	unitBytes = 8 << 10
)

// open holds the units that a pass has not handed to its crew yet. units are those of the present partition, to
// which take adds rows. take adds no row to the loaded units. The pass writes all of them with one request, or looks at
// all of them with one request.
type open struct {
	units  []*unit
	loaded []*unit
	bytes  int // of the loaded units
	rows   int // of the loaded units
}

// One request handles at most loadUnits units. If it writes them, they have at most loadBytes bytes together. They are on
// as many physical partitions, so these limits keep Cassandra from warning of the batch
// (unlogged_batch_across_partitions_warn_threshold is 10, batch_size_warn_threshold is 5 KiB). A single unit may be larger.
const (
	loadUnits = 8
	loadBytes = 3 << 10
	rowBytes  = 100 // what a row takes in a batch beside its keys and cells
	cellBytes = 20  // what a cell takes beside its value
)

// One request can look at several units of a key. Together they have at most lookRows rows and unitBytes bytes. The
// request names all their rows in each of their places. So the store looks for at most lookRows × lookRows rows.
const lookRows = 8

// take counts a row that the scan has met. If it moves, take adds it to the unit of its places, and
// begins the work on the unit when that is full.
func (p *pass) take(ctx context.Context, work *crew, open *open, r *row, c *counts) {
	from, to := p.table.places(r)
	c.rows++
	if p.survey != nil && r.at == from && !r.expires() {
		p.survey.count(r)
	}
	if r.at != from && r.at != to {
		c.strays++
	}
	if from == to {
		return // the row does not move, or is a remnant outside every change
	}
	atOld, atNew := r.at == from, r.at == to
	one := int64(1)
	if r.clustering == nil || !atOld {
		one = 0 // static columns do not count as rows, and each row counts once
	}
	var needed bool
	switch p.work {
	case reshard.Wait: // only count
		c.Total += one
	case reshard.Copy:
		c.Moved += one
		needed = atOld
	case reshard.Verify:
		c.Verified += one
		needed = atOld || atNew
	case reshard.Sweep, reshard.Clean:
		needed = atOld
	case reshard.Discard:
		needed = atNew
	}
	if !needed {
		return
	}
	switch p.work {
	case reshard.Copy:
		to = p.table.copied(r, to)
	case reshard.Clean: // deletions are all at the place where the scan is
		to = from
	case reshard.Discard:
		from = to
	}
	alone := r.clustering == nil || r.at.rows == ""
	begin := func(i int) {
		u := open.units[i]
		open.units = slices.Delete(open.units, i, i+1)
		p.begin(ctx, work, open, u)
	}
	i := -1
	if !alone {
		i = slices.IndexFunc(open.units, func(u *unit) bool { return u.from == from && u.to == to })
	}
	size := r.size()
	if to.shard == plan.AnyShard && r.expires() {
		size = r.load() * len(p.table.partitions(r, to)) // copyTo writes it to each shard
	}
	if i >= 0 && open.units[i].bytes+size > unitBytes {
		begin(i)
		i = -1
	}
	if i < 0 {
		i = len(open.units)
		open.units = append(open.units, &unit{from: from, to: to})
	}
	u := open.units[i]
	u.rows = append(u.rows, r)
	u.bytes += size
	if alone || len(u.rows) == unitRows {
		begin(i)
	}
}

// looks reports whether the pass looks at another place before it writes.
func (p *pass) looks() bool { return p.work == reshard.Sweep || p.work == reshard.Verify }

// begin begins the work on a unit. begin first collects small units. The pass then handles several of them with one
// request.
func (p *pass) begin(ctx context.Context, work *crew, open *open, u *unit) {
	if p.looks() && u.rows[0].clustering == nil { // an IN of clustering keys does not find static columns
		work.do(func() error { return p.handle(ctx, []*unit{u}) })
		return
	}
	size, most := 0, loadBytes
	for _, r := range u.rows {
		size += r.load()
	}
	if p.looks() {
		most = unitBytes
	}
	if open.bytes+size > most || p.looks() && open.rows+len(u.rows) > lookRows {
		p.unload(ctx, work, open)
	}
	open.loaded, open.bytes, open.rows = append(open.loaded, u), open.bytes+size, open.rows+len(u.rows)
	if len(open.loaded) == loadUnits {
		p.unload(ctx, work, open)
	}
}

// unload begins the work on the loaded units.
func (p *pass) unload(ctx context.Context, work *crew, open *open) {
	if all := open.loaded; len(all) > 0 {
		work.do(func() error {
			if p.looks() {
				return p.handle(ctx, all)
			}
			return p.write(ctx, all)
		})
	}
	open.loaded, open.bytes, open.rows = nil, 0, 0
}

// finish begins the work on the units that are left of a partition.
func (p *pass) finish(ctx context.Context, work *crew, open *open) {
	for _, u := range open.units {
		p.begin(ctx, work, open, u)
	}
	open.units = open.units[:0]
	if p.looks() { // the next partition is of another key
		p.unload(ctx, work, open)
	}
}

// size returns the bytes of a row.
func (r *row) size() (n int) {
	for _, k := range r.key {
		n += len(k)
	}
	for _, c := range r.clustering {
		n += len(c)
	}
	for _, c := range r.cells {
		n += len(c.value)
	}
	return n
}

// load returns the bytes of a row as Cassandra counts them in a batch, or somewhat more.
func (r *row) load() int {
	n := r.size() + rowBytes
	for _, c := range r.cells {
		if c.value != nil {
			n += cellBytes
		}
	}
	return n
}

// write does the work of a pass that only writes on some units.
func (p *pass) write(ctx context.Context, all []*unit) error {
	var parts []statement
	for _, u := range all {
		var of []statement
		if p.work == reshard.Copy {
			if err := p.announce(ctx, u.rows[0].key, u.to); err != nil {
				return err
			}
			of = p.copies(u.rows, u.to)
		} else {
			of = p.removals(u.rows)
		}
		if slices.ContainsFunc(of, func(s statement) bool { return s.logged }) {
			if err := p.send(ctx, of); err != nil {
				return err
			}
			continue
		}
		parts = append(parts, of...)
	}
	return p.send(ctx, parts)
}

// handle handles some units of a key in a pass that looks before it writes. The other place has nearly all rows already,
// and a look costs the store less than a write.
func (p *pass) handle(ctx context.Context, all []*unit) error {
	differing, err := p.different(ctx, all)
	for i, u := range all {
		if err != nil {
			return err
		}
		switch rows := differing[i]; p.work {
		case reshard.Sweep:
			err = p.copyLate(ctx, rows, u.to)
		case reshard.Verify:
			err = p.carryAll(ctx, rows, u.from, u.to)
		}
	}
	return err
}

// copyLate copies rows of a unit. A door wrote them at the old place after the mover had copied the unit.
func (p *pass) copyLate(ctx context.Context, rows []*row, to place) error {
	if len(rows) == 0 {
		return nil
	}
	if err := p.announce(ctx, rows[0].key, to); err != nil {
		return err
	}
	return p.send(ctx, p.copies(rows, to))
}

// carryAll makes the two places of rows equal.
func (p *pass) carryAll(ctx context.Context, rows []*row, from, to place) error {
	for _, r := range rows {
		if err := p.carry(ctx, reshard.Verify.Program(), r, from, to); err != nil {
			return err
		}
	}
	return nil
}

// other returns the place at which handle looks for the rows of a unit.
func (p *pass) other(u *unit) place {
	if p.work == reshard.Verify && u.rows[0].at == u.to {
		return u.from
	}
	return u.to
}

// announce adds the bucket of a place to the directory before a row is copied there.
func (p *pass) announce(ctx context.Context, key [][]byte, at place) error {
	of := p.table.old
	if at.side == p.table.to {
		of = p.table.new
	}
	if !of.Timed() {
		return nil
	}
	_, err := p.try(ctx, write, func() (page, error) { return page{}, p.buckets(ctx, of, key, at.shard) })
	return err
}

// copies returns the statements that write rows to a place.
func (p *pass) copies(rows []*row, to place) (parts []statement) {
	for _, r := range rows {
		parts = append(parts, p.table.copyTo(r, to)...)
	}
	return parts
}

// removals returns the statements that delete old rows that have moved, or copies that a rollback leaves. No row of their
// key comes to this place again, so the deletion may be newer than every write. If a client's timestamp is ahead of the
// store's clock, the deletion gets that timestamp.
func (p *pass) removals(rows []*row) (parts []statement) {
	now := p.stamps().UnixMicro()
	for _, r := range rows {
		parts = append(parts, p.table.remove(r, r.newest(now)))
	}
	return parts
}

// different compares the rows of each unit with the unit's other place. It returns, for each unit, the rows that differ.
func (p *pass) different(ctx context.Context, all []*unit) ([][]*row, error) {
	var rows []*row
	var at []place
	for _, u := range all {
		rows, at = append(rows, u.rows...), append(at, slices.Repeat([]place{p.other(u)}, len(u.rows))...)
	}
	there, err := p.lookAll(ctx, rows, at)
	if err != nil {
		return nil, err
	}
	out := make([][]*row, len(all))
	for i, u := range all {
		for j, r := range u.rows {
			if !alike(r, &there[j]) {
				out[i] = append(out[i], r)
			}
		}
		there = there[len(u.rows):]
	}
	return out, nil
}

// carry runs a program of acts on one row.
func (p *pass) carry(ctx context.Context, program []reshard.Act, r *row, from, to place) error {
	from, to = p.table.any(from), p.table.any(to)
	var old, new row
	for _, a := range program {
		var parts []statement
		var err error
		switch a {
		case reshard.LookOld:
			old, err = p.look(ctx, r, from)
		case reshard.LookNew:
			new, err = p.look(ctx, r, to)
		case reshard.CopyNew:
			if parts = p.table.copyTo(&old, to); len(parts) > 0 {
				err = p.announce(ctx, r.key, to)
			}
		case reshard.CopyOld:
			if parts = p.table.copyTo(&new, from); len(parts) > 0 {
				err = p.announce(ctx, r.key, from)
			}
		case reshard.DropOld:
			err = p.drop(ctx, &old, &new)
		case reshard.DropNew:
			err = p.drop(ctx, &new, &old)
		}
		if len(parts) > 0 && err == nil {
			err = p.send(ctx, parts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drop deletes those cells of a row that the other place does not show. If the other place does not have the row
// at all, the row's marker may be left. CQL cannot read a marker's time. Then drop deletes the row at the time of
// its newest cell.
func (p *pass) drop(ctx context.Context, r, other *row) error {
	if !r.there {
		return nil
	}
	if err := p.send(ctx, p.table.drops(r, other)); err != nil || other.there || r.clustering == nil {
		return err
	}
	if left, err := p.look(ctx, r, r.at); err != nil || !left.there {
		return err
	}
	newest := p.table.started
	if occupied(r.cells) {
		newest = r.newest(math.MinInt64)
	}
	if err := p.send(ctx, p.table.removes(r, newest)); err != nil || newest >= p.table.known {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marked = append(p.marked, marked{r, other.at})
	return nil
}

// marked is a row of which drop has left a marker. other is the place that does not have the row.
type marked struct {
	*row
	other place
}

// underWay is longer than a request is on its way to the store.
const underWay = 15 * time.Second

// dropMarkers deletes the markers that drop has left, because they are newer than the cells of their rows. A client
// wrote such a row at the beginning of the change. A door that did not know the change yet deleted the row, in the
// old place alone. So the marker is from before all doors knew the change. If a client has written the row again,
// dropMarkers leaves it.
func (p *pass) dropMarkers(ctx context.Context) error {
	for _, m := range p.marked {
		for {
			if p.alive != nil {
				if err := p.alive(); err != nil {
					return err
				}
			}
			wait := time.UnixMicro(p.table.known).Add(underWay).Sub(p.stamps())
			if alone, err := p.markerAlone(ctx, m); err != nil {
				return err
			} else if !alone {
				break
			}
			if wait <= 0 {
				if err := p.send(ctx, p.table.removes(m.row, p.table.known)); err != nil {
					return err
				}
				break
			}
			if err := deadline.Sleep(ctx, min(wait, time.Second)); err != nil {
				return err
			}
		}
	}
	p.marked = nil
	return nil
}

// markerAlone reports whether a row is there without cells, and the other place does not have it.
func (p *pass) markerAlone(ctx context.Context, m marked) (bool, error) {
	left, err := p.look(ctx, m.row, m.at)
	if err != nil || !left.there || occupied(left.cells) {
		return false, err
	}
	other, err := p.look(ctx, m.row, m.other)
	return !other.there, err
}

// look reads a row at a place.
func (p *pass) look(ctx context.Context, r *row, at place) (row, error) {
	out := row{key: r.key, clustering: r.clustering, at: at}
	if at.shard == plan.AnyShard {
		out.cells = make([]cell, len(at.columnsOf(r)))
		err := p.anywhere(ctx, r, at, func(in place) error {
			part, err := p.look(ctx, r, in)
			if err == nil {
				out.merge(&part)
			}
			return err
		})
		return out, err
	}
	text := at.row
	if r.clustering == nil {
		text = at.stat
	}
	got, err := p.query(ctx, look, statement{text: text, values: at.bind(r, nil)}, nil)
	if err != nil {
		return out, err
	}
	out.cells = make([]cell, len(at.columnsOf(r)))
	if len(got.rows) > 0 {
		out.cells = readCells(got.rows[0][1:])
		out.there = r.clustering != nil || occupied(out.cells)
	}
	return out, nil
}

// lookAll reads each row of a key at the row's own place. All places are of one side. If one of them is plan.AnyShard,
// all are. A place can have a row's clustering key in other bytes of the same meaning. Then lookAll reports the row as
// absent.
func (p *pass) lookAll(ctx context.Context, rows []*row, places []place) ([]row, error) {
	at := places[0]
	if len(rows) == 1 {
		one, err := p.look(ctx, rows[0], at)
		return []row{one}, err
	}
	if at.shard == plan.AnyShard {
		return p.lookAnywhere(ctx, rows, at)
	}
	of, s, n := look, statement{text: at.rows, values: at.bindRows(rows)}, len(at.physical.Clustering)
	key := func(i int) [][]byte { return rows[i].clustering }
	if slices.ContainsFunc(places, func(other place) bool { return other != at }) {
		of, s, n = lookSeveral, statement{text: at.spread, values: bindSpread(rows, places)}, n+1
		key = func(i int) [][]byte { return append(slices.Clip(rows[i].clustering), integer(int32(places[i].shard))) }
	}
	found := make(map[string][]cell, len(rows))
	for state := []byte(nil); ; {
		got, err := p.query(ctx, of, s, state)
		if err != nil {
			return nil, err
		}
		for _, raw := range got.rows {
			found[name(raw[:n])] = readCells(raw[n:])
		}
		if state = got.next; state == nil {
			break
		}
	}
	none := make([]cell, len(at.physical.Regulars))
	out := make([]row, len(rows))
	for i, r := range rows {
		out[i] = row{key: r.key, clustering: r.clustering, at: places[i], cells: none}
		if cells, ok := found[name(key(i))]; ok {
			out[i].there, out[i].cells = true, cells
		}
	}
	return out, nil
}

// lookAnywhere reads the rows of a unit in all shards of their key.
func (p *pass) lookAnywhere(ctx context.Context, rows []*row, at place) (out []row, err error) {
	err = p.anywhere(ctx, rows[0], at, func(in place) error {
		parts, err := p.lookAll(ctx, rows, slices.Repeat([]place{in}, len(rows)))
		switch {
		case err != nil:
			return err
		case out == nil:
			for i := range parts {
				parts[i].at, parts[i].cells = at, slices.Clone(parts[i].cells)
			}
			out = parts
		default:
			for i := range parts {
				out[i].merge(&parts[i])
			}
		}
		return nil
	})
	return out, err
}

// name returns values of key columns as one string.
func name(values [][]byte) string {
	var b []byte
	for _, c := range values {
		b = wire.AppendBytes(b, c)
	}
	return string(b)
}
