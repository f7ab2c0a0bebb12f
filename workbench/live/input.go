// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/workbench/livetable"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// RowsOptions says which part of a table to read as rows.
type RowsOptions struct {
	Fraction float64 // of the ring, in pieces all over it; 0 and 1: all
	Seed     uint64  // chooses the pieces
	Page     int     // rows of a page; 0: 1000
}

// Rows is a table as rows that can be read several times. It runs one scan at a time.
type Rows struct {
	t       *Table
	o       RowsOptions
	columns []rows.Column
	spool   *os.File // what the first scan read; nil: there was no scan yet
	partial bool     // the context ended the first scan
	read    atomic.Int64
	size    atomic.Int64
}

// Rows returns the table as rows. It reads nothing yet.
func (t *Table) Rows(o RowsOptions) *Rows {
	r := &Rows{t: t, o: o}
	for _, c := range t.schema.All() {
		r.columns = append(r.columns, rows.Column{Name: c.Name, Type: c.Type})
	}
	return r
}

// Name returns the table's address without the user.
func (r *Rows) Name() string {
	a := r.t.at
	a.User = ""
	return a.String()
}

// Columns returns the table's columns, in the order of SELECT *.
func (r *Rows) Columns() []rows.Column { return r.columns }

// Progress returns how many bytes of values this scan has read, and how many there are; 0 in the
// first scan. Another goroutine may call it.
func (r *Rows) Progress() (read, size int64) { return r.read.Load(), r.size.Load() }

// Close removes the stored rows.
func (r *Rows) Close() error {
	if r.spool == nil {
		return nil
	}
	defer os.Remove(r.spool.Name())
	return r.spool.Close()
}

// Pieces returns n ranges all over the ring that together are that fraction of it: one in each nth
// of the ring, at a place drawn from the seed.
func Pieces(n int, fraction float64, seed uint64) []Range {
	if fraction <= 0 || fraction >= 1 {
		fraction = 1
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	step := ^uint64(0)/uint64(n) + 1 // overflows to 0 for n = 1: the whole ring
	var out []Range
	for i := range n {
		begin := uint64(i) * step
		end := begin + step
		if i == n-1 {
			end = ^uint64(0)
		}
		width := end - begin
		if fraction < 1 {
			part := uint64(float64(width) * fraction)
			begin += rnd.Uint64N(width - part + 1)
			end = begin + part
		}
		out = append(out, Range{int64(begin ^ 1<<63), int64(end ^ 1<<63)})
	}
	return out
}

// rowPieces is the number of pieces of the ring that are read for a table as rows.
const rowPieces = 256

// batchRows is the number of rows in a batch. A batch ends earlier if it reaches batchBytes.
const (
	batchRows  = 2048
	batchBytes = 4 << 20
)

// Scan reads all rows, the first time from the store, and passes them to each in batches, from
// several goroutines at once, as rows.Source does. When ctx ends while the store is read, the scan
// ends there, and later scans have only those rows, too.
func (r *Rows) Scan(ctx context.Context, o rows.ScanOptions, each func(lane int, b *rows.Batch) error) (rows.Scanned, error) {
	at, err := r.places(o.Columns)
	if err != nil {
		return rows.Scanned{}, err
	}
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if o.Lanes > 0 { // one goroutine for each lane
		workers = o.Lanes
	}
	s := &scan{name: r.t.at.Name(), o: o, at: at, each: each, full: make([]chan *rows.Batch, workers), empty: make(chan *rows.Batch, workers+1)}
	for range workers + 1 {
		columns := make([]rows.Vector, len(at))
		for i := range columns {
			columns[i].Data = make([]byte, 0, 1024) // never nil: an empty value is not null
		}
		s.empty <- &rows.Batch{Columns: columns}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for w := range workers {
		s.full[w] = make(chan *rows.Batch)
		wg.Go(func() {
			for b := range s.full[w] {
				if err := each(w, b); err != nil {
					cancel(err)
				}
				if err := s.count(b); err != nil {
					cancel(err)
				}
				s.empty <- &rows.Batch{Columns: b.Columns}
			}
		})
	}
	read := r.again
	if r.spool == nil {
		read = r.first
	}
	err = read(ctx, s)
	if err == nil {
		s.flush()
	}
	for _, full := range s.full {
		close(full)
	}
	wg.Wait()
	s.done.Partial = r.partial
	s.done.Rows, s.done.Bad, s.done.First = s.done.Rows-s.bad, s.bad, s.bads
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return s.done, cause
	}
	if err != nil && ctx.Err() == nil {
		return s.done, err
	}
	s.done.Partial = s.done.Partial || ctx.Err() != nil
	return s.done, nil
}

// places returns the positions of the wanted columns.
func (r *Rows) places(wanted []string) ([]int, error) {
	var at []int
	if wanted == nil {
		for i := range r.columns {
			at = append(at, i)
		}
		return at, nil
	}
	for _, name := range wanted {
		i := slices.IndexFunc(r.columns, func(c rows.Column) bool { return c.Name == name })
		if i < 0 {
			var names []string
			for _, c := range r.columns {
				names = append(names, c.Name)
			}
			return nil, &livetable.Error{At: r.t.at.Name(), Err: fmt.Errorf("there is no column %q", name), Hint: nearest(name, names, "columns")}
		}
		at = append(at, i)
	}
	return at, nil
}

// scan makes batches of rows.
type scan struct {
	o     rows.ScanOptions
	at    []int
	each  func(worker int, b *rows.Batch) error
	full  []chan *rows.Batch // one for each lane
	empty chan *rows.Batch
	now   *rows.Batch
	bytes int
	seq   int
	done  rows.Scanned

	name string
	mu   sync.Mutex // guards the following fields
	bad  int64
	bads []rows.BadRow // the first few
}

// count counts the dropped rows.
func (s *scan) count(b *rows.Batch) error {
	dropped := b.Dropped()
	if dropped == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, d := range dropped {
		if !d {
			continue
		}
		one := rows.BadRow{Name: s.name, Line: b.Seq*batchRows + i + 1, Reason: "is not as the type says"}
		if s.bad++; len(s.bads) < 10 {
			s.bads = append(s.bads, one)
		}
		if s.bad > s.o.MaxBadRows {
			return &one
		}
	}
	return nil
}

// row adds a row. cells holds all columns.
func (s *scan) row(cells [][]byte) {
	if s.now == nil {
		s.now = <-s.empty
		s.now.Seq, s.now.N, s.bytes = s.seq, 0, 0
		s.seq++
		for i := range s.now.Columns {
			v := &s.now.Columns[i]
			v.Kind, v.Data, v.Spans = rows.Binary, v.Data[:0], v.Spans[:0]
		}
	}
	for i, at := range s.at {
		s.now.Columns[i].Append(cells[at])
		s.bytes += len(cells[at])
	}
	s.now.N++
	s.done.Rows++
	if s.now.N == batchRows || s.bytes >= batchBytes {
		s.flush()
	}
}

func (s *scan) flush() {
	if s.now != nil {
		s.full[s.now.Seq%len(s.full)] <- s.now
		s.now = nil
	}
}

// first reads the store, and stores the rows.
func (r *Rows) first(ctx context.Context, s *scan) (err error) {
	f, err := os.CreateTemp("", "evenkeel-rows-")
	if err != nil {
		return fmt.Errorf("keep the rows of %s: %w", r.t.at.Name(), err)
	}
	// The file has no name if the system allows it: nothing is left, however this ends.
	_ = os.Remove(f.Name())
	out := bufio.NewWriterSize(f, 1<<20)
	var record []byte
	r.read.Store(0)
	for _, piece := range Pieces(rowPieces, r.o.Fraction, r.o.Seed) {
		err = r.t.Read(ctx, piece, Selection{Page: r.o.Page}, func(row *Row) error {
			record = record[:0]
			for _, c := range row.Cells {
				record = binary.AppendVarint(record, int64(len(c))-int64(b2i(c == nil)))
				record = append(record, c...)
			}
			if _, err := out.Write(record); err != nil {
				return fmt.Errorf("keep the rows of %s: %w", r.t.at.Name(), err)
			}
			r.read.Add(int64(len(record)))
			s.row(row.Cells)
			if s.o.Progress != nil && s.done.Rows%1024 == 0 {
				s.o.Progress(r.read.Load(), s.done.Rows)
			}
			return ctx.Err()
		})
		if err != nil {
			break
		}
	}
	if err != nil && ctx.Err() == nil {
		f.Close()
		return err
	}
	r.partial = err != nil
	if flushed := out.Flush(); flushed != nil {
		f.Close()
		return fmt.Errorf("keep the rows of %s: %w", r.t.at.Name(), flushed)
	}
	r.spool = f
	r.size.Store(r.read.Load())
	s.flush()
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// again reads what the first scan stored.
func (r *Rows) again(ctx context.Context, s *scan) error {
	if _, err := r.spool.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the rows of %s again: %w", r.t.at.Name(), err)
	}
	in := bufio.NewReaderSize(r.spool, 1<<20)
	cells := make([][]byte, len(r.columns))
	buf := make([]byte, 0, 4096) // never nil: an empty value is not null
	var offsets []int
	r.read.Store(0)
	for ctx.Err() == nil {
		buf, offsets = buf[:0], offsets[:0]
		for i := range cells {
			n, err := binary.ReadVarint(in)
			if err == io.EOF && i == 0 {
				return nil
			}
			if err == nil && n > 0 {
				buf = slices.Grow(buf, int(n))
				_, err = io.ReadFull(in, buf[len(buf):len(buf)+int(n)])
				buf = buf[:len(buf)+int(n)]
			}
			if err != nil {
				return fmt.Errorf("read the rows of %s again: %w", r.t.at.Name(), err)
			}
			offsets = append(offsets, int(n))
			r.read.Add(max(n, 0) + 1)
		}
		at := 0
		for i, n := range offsets {
			cells[i] = nil
			if n >= 0 {
				cells[i] = buf[at : at+n : at+n]
				at += n
			}
		}
		s.row(cells)
		if s.o.Progress != nil && s.done.Rows%65536 == 0 {
			s.o.Progress(r.read.Load(), s.done.Rows)
		}
	}
	s.flush()
	return nil
}
