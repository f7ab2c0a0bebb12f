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
	"github.com/evenkeel/evenkeel/deadline"
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
	stamps  func() time.Time // the store's time, for deletions
	work    reshard.Work
	all     bool // read every replica
	buckets Announce
	survey  *survey // counts the rows of each key; nil: nobody asks

	// only lists the physical partitions that the pass goes over, in order; a position is then an
	// index into it. nil: the pass goes over all partitions in token order.
	only [][][]byte

	// over calls at after each page. Everything before the token is done. before counts only
	// that part; sofar counts all work up to now. An error ends the pass.
	at func(token int64, before, sofar counts) error

	// over calls alive for each row. It tells the other doors, during a long page too, that the mover
	// lives. nil: nobody watches the pass.
	alive func() error

	mu     sync.Mutex
	marked []marked // rows of the page that dropMarkers must look at
}

// level returns the consistency level of the pass's reads.
func (p *pass) level() wire.Consistency {
	if p.all {
		return wire.All
	}
	return wire.LocalQuorum
}

const maxTry = 8

// query reads a page of rows.
func (p *pass) query(ctx context.Context, of kind, s statement, state []byte) (page, error) {
	return p.try(ctx, of, func() (page, error) { return p.backend.query(ctx, p.level(), s, state, pageRows) })
}

// try carries out a request and retries while the store is temporarily unable to answer.
func (p *pass) try(ctx context.Context, of kind, do func() (page, error)) (page, error) {
	wait := 50 * time.Millisecond
	for try := 1; ; try++ {
		begun := p.now()
		got, err := do()
		failed := err != nil && transient(err)
		took := p.now().Sub(begun)
		p.pace.observe(of, took, failed)
		if !failed || try == maxTry {
			if err == nil {
				err = p.pace.rest(ctx, took)
			}
			return got, err
		}
		if err := deadline.Sleep(ctx, wait); err != nil {
			return page{}, err
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

// send sends statements. Of those on one physical partition, the store applies all or none.
func (p *pass) send(ctx context.Context, parts []statement) error {
	_, err := p.try(ctx, write, func() (page, error) {
		switch len(parts) {
		case 0:
			return page{}, nil
		case 1:
			return p.backend.query(ctx, wire.LocalQuorum, parts[0], nil, pageRows)
		}
		return page{}, p.backend.batch(ctx, wire.LocalQuorum, parts)
	})
	return err
}

// run carries out the pass from a token on.
func (p *pass) run(ctx context.Context, from int64, done counts) (counts, error) {
	c := done
	s := p.table.from
	switch {
	case p.table.two():
		err := p.overTwo(ctx, from, &c)
		return c, err
	case p.only == nil:
		err := p.over(ctx, s, p.text(s)+" WHERE "+s.token()+" >= ?", [][]byte{bigint(from)}, func(token int64) int64 { return token }, &c)
		return c, err
	}
	text := p.text(s) + " WHERE " + equal(s.physical.PartitionKey)
	for i, partition := range p.only {
		if at := int64(i); at >= from {
			if err := p.over(ctx, s, text, partition, func(int64) int64 { return at }, &c); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// text returns the SELECT, without WHERE, of the columns that the pass needs of a physical table.
func (p *pass) text(s *side) string {
	switch {
	case p.survey != nil:
		return s.full
	case p.work == reshard.Wait:
		return s.keys
	}
	switch p.work {
	case reshard.Clean, reshard.Discard:
		return s.times
	}
	return s.full
}

// overTwo carries out a pass over two physical tables. A pass that copies reads the old table. A
// pass that verifies reads both. No pass empties a table, because the mover drops one at the end.
func (p *pass) overTwo(ctx context.Context, from int64, c *counts) error {
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
func (p *pass) over(ctx context.Context, s *side, text string, values [][]byte, at func(token int64) int64, c *counts) error {
	before := *c
	last := int64(math.MinInt64)
	var partition [][]byte // of the previous row
	var gone int64         // the time at which the whole partition was deleted; 0: it was not
	for state := []byte(nil); ; {
		if err := p.pace.watch(ctx); err != nil {
			return err
		}
		got, err := p.query(ctx, scan, statement{text: text, values: values}, state)
		if err != nil {
			return err
		}
		work := newCrew(ctx, p.pace)
		var open open
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
				// A pass that is interrupted goes on at the page's last token. So it counts only the
				// rows before that token as done.
				last, before = t, *c
			}
			n := len(s.physical.PartitionKey)
			if fresh := !same(partition, raw[1:n+1]); fresh {
				p.finish(ctx, work, &open)
				partition, gone = raw[1:n+1], 0
				if p.leaves(&r) {
					at := p.stamps().UnixMicro()
					gone = at
					work.do(func() error { return p.send(ctx, []statement{p.table.removePartition(&r, at)}) })
				}
				if static := (&row{key: r.key, at: r.at, there: true, cells: statics}); occupied(statics) && static.outlives(gone) {
					p.take(ctx, work, &open, static, c)
				}
			}
			if r.there && r.outlives(gone) {
				p.take(ctx, work, &open, &r, c)
			}
		}
		p.finish(ctx, work, &open)
		p.unload(ctx, work, &open)
		if err := work.wait(); err != nil {
			return err
		}
		if err := p.dropMarkers(ctx); err != nil {
			return err
		}
		if len(got.rows) > 0 {
			if err := p.at(last, before, *c); err != nil {
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
		return !slices.Contains(p.table.new.Shards(r.key), r.at.shard)
	case reshard.Discard:
		return !slices.Contains(p.table.old.Shards(r.key), r.at.shard)
	}
	return false
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
