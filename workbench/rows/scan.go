// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
)

// ScanOptions says how to scan.
type ScanOptions struct {
	Workers    int      // goroutines; 0: one for each processor
	Lanes      int      // 0: one for each worker; see Source.Scan
	Columns    []string // the columns that the caller needs, in this order; nil: all
	MaxBadRows int64    // bad rows to skip before the scan fails

	// Progress, if not nil, is called now and then with what was read: bytes of the file (see
	// Source.Progress) and rows. Calls do not overlap.
	Progress func(bytes, rows int64)
}

// Scanned summarizes a scan.
type Scanned struct {
	Rows    int64 // good rows
	Bad     int64
	First   []BadRow // the first few bad rows, in the order of the data
	Partial bool     // the context ended the scan
}

// Shown returns the messages of the first few bad rows.
func (s *Scanned) Shown() (list []string) {
	for i := range s.First {
		list = append(list, s.First[i].Error())
	}
	return list
}

// Scan reads all rows, from the first one on, and passes them to each in batches, from several
// goroutines at once. lane is below o.Workers. With o.Lanes, lane is below that number, however
// many goroutines there are. Then the lane of a batch depends only on the data, and the batches of
// a lane come one after the other, in the order of the data. So what a caller counts for each lane
// does not depend on timing. Scan returns after the last call of each. It can be called again: if
// Options.Again is set, standard input is kept in a temporary file for that.
//
// When ctx ends, the scan ends at some row: Scanned.Partial is set, and there is no error. An error
// of each ends the scan, and Scan returns it.
func (s *Source) Scan(ctx context.Context, o ScanOptions, each func(lane int, b *Batch) error) (Scanned, error) {
	if err := s.chosen(o.Columns); err != nil {
		return Scanned{}, err
	}
	f, err := s.format.scan(o.Columns)
	if err != nil {
		return Scanned{}, err
	}
	defer f.close()
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	c := scan{s: s, o: o, feed: f, ctx: ctx, waiting: make(map[int]tally)}
	c.turns.L = &c.mu
	c.lanes, c.lost = make([]int, o.Lanes), math.MaxInt
	for i := range c.lanes {
		c.lanes[i] = i
	}
	var wg sync.WaitGroup
	for worker := range o.Workers {
		wg.Go(func() { c.work(worker, each) })
	}
	wg.Wait()
	if j, ok := s.format.(*jsonFormat); ok {
		j.settle()
	}
	// Pieces that are left could not come after the one that failed.
	if c.err == nil && c.feedErr != nil {
		c.err = c.feedErr
	}
	return c.total, c.err
}

// scan is a scan in progress.
type scan struct {
	s    *Source
	o    ScanOptions
	ctx  context.Context
	feed feed

	take   sync.Mutex // guards feed.next and pieces
	pieces int        // the number of pieces taken
	mu     sync.Mutex // guards the following fields

	turns sync.Cond // signals that a lane has advanced, or that the scan ends
	lanes []int     // for each lane, the piece whose turn it is
	lost  int       // the first piece of which some batches will not come

	total   Scanned
	next    int           // the batch whose tally comes next
	waiting map[int]tally // of later batches
	err     error         // the first error in the order of the data
	feedErr error
	stopped bool
}

// tally holds the counts of a batch.
type tally struct {
	good, bads int64
	bad        []BadRow
	err        error // returned by each
}

// enter waits for the turn of a piece in its lane; false: the turn will not come.
func (c *scan) enter(piece int) bool {
	if c.o.Lanes == 0 {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.lanes[piece%c.o.Lanes] != piece && piece < c.lost {
		c.turns.Wait()
	}
	return c.lanes[piece%c.o.Lanes] == piece
}

// leave ends the turn of a piece. whole is false if some of its batches did not come.
func (c *scan) leave(piece int, whole bool) {
	if c.o.Lanes == 0 || whole && !c.enter(piece) { // a piece without batches
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if whole {
		c.lanes[piece%c.o.Lanes] += c.o.Lanes
	} else {
		c.lost = min(c.lost, piece)
	}
	c.turns.Broadcast()
}

func (c *scan) work(worker int, each func(lane int, b *Batch) error) {
	w := new(work)
	for {
		c.take.Lock()
		if c.done() {
			c.take.Unlock()
			return
		}
		err := c.feed.next(w)
		piece, lane := c.pieces, worker
		if err == nil {
			c.pieces++
		}
		c.take.Unlock()
		if c.o.Lanes > 0 {
			lane = piece % c.o.Lanes
		}
		if err != nil {
			c.mu.Lock()
			c.stopped = true
			switch {
			case errors.Is(err, errInterrupted):
				c.total.Partial = true
			case !errors.Is(err, io.EOF) && c.feedErr == nil:
				c.feedErr = err
			}
			c.mu.Unlock()
			return
		}
		err = c.feed.parse(w, func(b *Batch) error {
			if c.ctx.Err() != nil {
				c.mu.Lock()
				c.stopped, c.total.Partial = true, true
				c.mu.Unlock()
				return errStopped
			}
			if !c.enter(piece) {
				return errStopped
			}
			err := each(lane, b)
			t := tally{good: int64(b.N), bads: b.bads, bad: b.bad, err: err}
			for _, d := range b.dropped {
				if d {
					t.good--
				}
			}
			slices.SortStableFunc(t.bad, func(a, b BadRow) int { return a.Line - b.Line })
			if !c.count(b.Seq, t) {
				return errStopped
			}
			return nil
		})
		c.leave(piece, err == nil)
		if err != nil {
			if !errors.Is(err, errStopped) {
				c.mu.Lock()
				c.stopped = true
				if c.feedErr == nil {
					c.feedErr = err
				}
				c.mu.Unlock()
			}
			return
		}
	}
}

var errStopped = errors.New("the scan has ended")

// done reports whether no further piece may be taken.
func (c *scan) done() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return true
	}
	if c.ctx.Err() != nil {
		c.stopped, c.total.Partial = true, true
	}
	return c.stopped
}

// count adds a batch's tally in the order of the data; false ends the scan.
func (c *scan) count(seq int, t tally) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[seq] = t
	for {
		t, ok := c.waiting[c.next]
		if !ok || c.err != nil {
			break
		}
		delete(c.waiting, c.next)
		c.next++
		c.total.Rows += t.good
		c.total.Bad += t.bads
		c.total.First = append(c.total.First, t.bad[:min(len(t.bad), namedBads-len(c.total.First))]...)
		switch {
		case t.err != nil:
			c.err = t.err
		case c.total.Bad > c.o.MaxBadRows:
			c.err = c.tooMany()
		}
	}
	if c.err != nil {
		c.stopped = true
		return false
	}
	if c.o.Progress != nil {
		c.o.Progress(c.s.read.Load(), c.total.Rows+c.total.Bad)
	}
	return true
}

func (c *scan) tooMany() error {
	first := c.total.First[0]
	if c.o.MaxBadRows <= 0 {
		return &first
	}
	return fmt.Errorf("more than %s; the first: %w", plural(int(c.o.MaxBadRows), "bad row"), &first)
}
