// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/reshard"
)

// pageRows is the largest number of rows in a page of a scan.
const pageRows = 500

// counts are the results of a pass.
type counts struct {
	Total    int64 // rows that move, among those found so far
	Moved    int64
	Verified int64

	rows   int64 // all rows that the scan met
	strays int64 // rows at a place in which neither layout puts them
}

// pass goes over the physical partitions of a table, starting from a token.
type pass struct {
	table   *Table
	backend *backend
	pace    *pace
	now     func() time.Time
	work    reshard.Work
	all     bool // read every replica

	// only lists the physical partitions that the pass goes over, in order; a position is then an
	// index into it. nil: the pass goes over all partitions in token order.
	only [][][]byte

	// over calls at after each page. Everything before the token is done. before counts only
	// that part; sofar counts all work up to now. An error ends the pass.
	at func(token int64, before, sofar counts) error

	// over calls alive for each row, so that a long page is no silence. nil: nobody watches the pass.
	alive func() error
}

// level returns the consistency level of the pass's reads.
func (p *pass) level() wire.Consistency {
	if p.all {
		return wire.All
	}
	return wire.LocalQuorum
}

const maxTry = 8

// query calls backend.query and retries while the store is temporarily unable to answer.
func (p *pass) query(ctx context.Context, of kind, cl wire.Consistency, text string, values [][]byte, state []byte) (page, error) {
	wait := 50 * time.Millisecond
	for try := 1; ; try++ {
		begun := p.now()
		got, err := p.backend.query(ctx, cl, text, values, state, pageRows)
		failed := err != nil && transient(err)
		p.pace.observe(of, p.now().Sub(begun), failed)
		if !failed || try == maxTry {
			return got, err
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return page{}, ctx.Err()
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// transient reports whether the same request may succeed later.
func transient(err error) bool {
	var e *wire.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case wire.CodeUnavailable, wire.CodeIsBootstrapping, wire.CodeOverloaded, wire.CodeWriteTimeout, wire.CodeReadTimeout,
		wire.CodeReadFailure, wire.CodeWriteFailure, wire.CodeServer:
		return true
	}
	return false
}

func (p *pass) write(ctx context.Context, s statement) error {
	_, err := p.query(ctx, write, wire.LocalQuorum, s.text, s.values, nil)
	return err
}

// run carries out the pass from a token on.
func (p *pass) run(ctx context.Context, from int64, done counts) (counts, error) {
	c := &tally{counts: done}
	s := p.table.from
	switch {
	case p.table.two():
		err := p.overTwo(ctx, from, c)
		return c.get(), err
	case p.only == nil:
		err := p.over(ctx, s, p.text(s)+" WHERE "+s.token()+" >= ?", [][]byte{bigint(from)}, func(token int64) int64 { return token }, c)
		return c.get(), err
	}
	text := p.text(s) + " WHERE " + equal(s.physical.PartitionKey)
	for i, partition := range p.only {
		if at := int64(i); at >= from {
			if err := p.over(ctx, s, text, partition, func(int64) int64 { return at }, c); err != nil {
				return c.get(), err
			}
		}
	}
	return c.get(), nil
}

// text returns the SELECT, without WHERE, of the columns that the pass needs of a physical table.
func (p *pass) text(s *side) string {
	switch p.work {
	case reshard.Wait:
		return s.keys
	case reshard.Clean, reshard.Discard:
		if s.statics == 0 {
			return s.keys
		}
	}
	return s.full
}

// overTwo carries out a pass over two physical tables. A pass that copies reads the old table. A
// pass that verifies reads both. No pass empties a table, because the mover drops one at the end.
func (p *pass) overTwo(ctx context.Context, from int64, c *tally) error {
	sides := []*side{p.table.from}
	switch p.work {
	case reshard.Verify:
		sides = append(sides, p.table.to)
	case reshard.Clean, reshard.Discard:
		return nil
	}
	token, second := tokenAt(from)
	for i, s := range sides {
		if i == 0 && second {
			continue
		}
		if i == 1 && !second {
			token = math.MinInt64
		}
		at := func(token int64) int64 { return position(token, i == 1) }
		if err := p.over(ctx, s, p.text(s)+" WHERE "+s.token()+" >= ?", [][]byte{bigint(token)}, at, c); err != nil {
			return err
		}
	}
	return nil
}

// over carries out the pass on the rows that a statement reads from a physical table. at returns
// the position of a row's token.
func (p *pass) over(ctx context.Context, s *side, text string, values [][]byte, at func(token int64) int64, c *tally) error {
	before := c.get()
	last := int64(math.MinInt64)
	var partition [][]byte // of the previous row
	skip := false          // the whole partition was deleted
	for state := []byte(nil); ; {
		got, err := p.query(ctx, scan, p.level(), text, values, state)
		if err != nil {
			return err
		}
		work := newCrew(p.pace)
		position := func(raw [][]byte) int64 { return at(int64(binary.BigEndian.Uint64(raw[0]))) }
		end := last
		if n := len(got.rows); n > 0 {
			end = position(got.rows[n-1])
		}
		for _, raw := range got.rows {
			if p.alive != nil {
				if err := p.alive(); err != nil {
					return errors.Join(err, work.wait())
				}
			}
			r, statics := s.scanned(raw)
			if t := position(raw); t == end && t != last {
				// A pass that is interrupted goes on at the page's last token, so the rows before it
				// are done and counted first.
				if err := work.wait(); err != nil {
					return err
				}
				last, before = t, c.get()
			}
			n := len(s.physical.PartitionKey)
			if fresh := !same(partition, raw[1:n+1]); fresh {
				partition, skip = raw[1:n+1], p.leaves(&r)
				switch {
				case skip:
					work.do(func() error { return p.write(ctx, p.table.removePartition(&r, p.now().UnixMicro())) })
				case len(statics) > 0 && occupied(statics):
					work.do(func() error {
						return p.handle(ctx, &row{key: r.key, shard: r.shard, there: true, cells: statics}, c)
					})
				}
			}
			if r.there && !skip {
				work.do(func() error { return p.handle(ctx, &r, c) })
			}
		}
		if err := work.wait(); err != nil {
			return err
		}
		if len(got.rows) > 0 {
			if err := p.at(last, before, c.get()); err != nil {
				return err
			}
		}
		if state = got.next; state == nil {
			return nil
		}
	}
}

// leaves reports whether a pass that deletes can delete a whole physical partition, because no row
// of its key belongs there any more.
func (p *pass) leaves(r *row) bool {
	switch p.work {
	case reshard.Clean:
		return !slices.Contains(p.table.new.Shards(r.key), r.shard)
	case reshard.Discard:
		return !slices.Contains(p.table.old.Shards(r.key), r.shard)
	}
	return false
}

// tally counts rows for several goroutines.
type tally struct {
	mu sync.Mutex
	counts
}

func (t *tally) add(total, moved, verified int64) {
	t.mu.Lock()
	t.Total += total
	t.Moved += moved
	t.Verified += verified
	t.mu.Unlock()
}

func (t *tally) met(stray bool) {
	t.mu.Lock()
	t.rows++
	if stray {
		t.strays++
	}
	t.mu.Unlock()
}

func (t *tally) get() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

func same(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func occupied(cells []cell) bool {
	for _, c := range cells {
		if c.value != nil {
			return true
		}
	}
	return false
}

// handle does a pass's work on one row that a scan has met.
func (p *pass) handle(ctx context.Context, r *row, c *tally) error {
	from, to := p.table.places(r)
	c.met(r.shard != from && r.shard != to)
	if from == to {
		return nil // the row does not move, or is a remnant outside every change
	}
	atOld, atNew := r.shard == from, r.shard == to
	one := int64(1)
	if r.clustering == nil {
		one = 0 // static columns do not count as rows
	}
	switch p.work {
	case reshard.Wait: // only count
		if atOld {
			c.add(one, 0, 0)
		}
		return nil
	case reshard.Copy, reshard.Sweep:
		if !atOld {
			return nil
		}
		if p.work == reshard.Sweep {
			// Nearly all rows are at the new place already, and a look is cheaper than a write.
			if there, err := p.look(ctx, r, to); err != nil || alike(r, &there) {
				return err
			}
		}
		if s, ok := p.table.copyTo(r, to); ok {
			if err := p.write(ctx, s); err != nil {
				return err
			}
		}
		if p.work == reshard.Copy {
			c.add(0, one, 0)
		}
		return nil
	case reshard.Verify:
		if !atOld && !atNew {
			return nil
		}
		if err := p.verify(ctx, r, from, to); err != nil {
			return err
		}
		if atOld {
			c.add(0, 0, one)
		}
		return nil
	case reshard.Clean:
		if atOld {
			return p.remove(ctx, r)
		}
	case reshard.Discard:
		if atNew {
			return p.remove(ctx, r)
		}
	}
	return nil
}

// remove deletes a row that was left behind, or a copy. No row of its key comes to this place
// again, so the deletion may be newer than every write.
func (p *pass) remove(ctx context.Context, r *row) error {
	s, _ := p.table.remove(r, p.now().UnixMicro())
	return p.write(ctx, s)
}

// verify makes the two places of a row equal. seen is the row as the scan saw it at one of them.
func (p *pass) verify(ctx context.Context, seen *row, from, to int) error {
	other := to
	if seen.shard == to {
		other = from
	}
	there, err := p.look(ctx, seen, other)
	if err != nil || alike(seen, &there) {
		return err
	}
	return p.carry(ctx, reshard.Verify.Program(), seen, from, to)
}

// carry runs a program of acts on one row.
func (p *pass) carry(ctx context.Context, program []reshard.Act, r *row, from, to int) error {
	var old, new row
	for _, a := range program {
		var s statement
		var needed bool
		var err error
		switch a {
		case reshard.LookOld:
			old, err = p.look(ctx, r, from)
		case reshard.LookNew:
			new, err = p.look(ctx, r, to)
		case reshard.CopyNew:
			s, needed = p.table.copyTo(&old, to)
		case reshard.CopyOld:
			s, needed = p.table.copyTo(&new, from)
		case reshard.DropOld:
			s, needed = p.table.drop(&old, &new)
		case reshard.DropNew:
			s, needed = p.table.drop(&new, &old)
		}
		if needed {
			err = p.write(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// look reads a row at a place.
func (p *pass) look(ctx context.Context, r *row, shard int) (row, error) {
	out := row{key: r.key, clustering: r.clustering, shard: shard}
	at := p.table.in(shard)
	text := at.row
	if r.clustering == nil {
		text = at.stat
	}
	got, err := p.query(ctx, look, p.level(), text, at.bind(r, nil, shard), nil)
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
