// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
)

// parquetBatch is the number of Parquet rows in a batch.
const parquetBatch = 4096

// parquetFormat is the Parquet format of a file.
type parquetFormat struct {
	s      *Source
	file   *parquet.File
	leaves []*leaf
	names  []Column
	left   []string // columns that are left out
	parts  []part
}

// part is some rows of a row group, which one goroutine reads.
type part struct {
	group       int
	start, rows int // in the group
	batch, at   int // the number of its first batch; the number of its first row, from 1
}

// If there are few row groups, large ones are read in parts. Each part begins at a batch. If the
// file has no index of its pages, the rows before a part must be unpacked, so there are no more
// parts than the likely number of goroutines.
const (
	fewGroups = 8
	largePart = 1 << 17
)

// openParquet opens Parquet. Parquet is read from its end, so data that are not a plain file are
// first copied to a temporary file.
func (s *Source) openParquet(in io.Reader, st *stream) (err error) {
	defer st.close()
	if !st.parquet() {
		return s.notParquet()
	}
	if s.data != nil {
		return s.openParquetBytes(st)
	}
	f, plain := in.(*os.File)
	if !plain || s.path == "" || s.packing != "" {
		if f, err = os.CreateTemp("", "evenkeel-rows-*"); err == nil {
			_ = os.Remove(f.Name())
			s.close = append(s.close, func() { f.Close(); _ = os.Remove(f.Name()) })
			_, err = io.Copy(f, st.r)
		}
		if err != nil {
			u := s.readError(err, 0).(*Unreadable)
			if u.hint == "" {
				u.hint = "TMPDIR names a folder with room for it: Parquet is read from its end"
			}
			return u
		}
	}
	info, err := f.Stat()
	if err != nil {
		return s.readError(err, 0)
	}
	if s.packing != "" || s.path == "" {
		s.size = info.Size()
	}
	s.read.Store(0)
	p, err := s.newParquet(&counterAt{f, &s.read}, info.Size())
	if err != nil {
		return err
	}
	s.format = p
	return nil
}

// maxUnpacked is the most memory for unpacked Parquet.
const maxUnpacked = 1 << 30

// openParquetBytes opens Parquet in memory. It unpacks compressed data in memory.
func (s *Source) openParquetBytes(st *stream) error {
	if s.packing != "" {
		unpacked, err := io.ReadAll(io.LimitReader(st.r, maxUnpacked+1))
		if err != nil {
			return s.readError(err, 0)
		}
		if len(unpacked) > maxUnpacked {
			return &Unreadable{Name: s.name, Err: fmt.Errorf("has more than %d MB, unpacked", maxUnpacked>>20), hint: "Parquet packs by itself: give it without " + s.packing}
		}
		s.data, s.size = unpacked, int64(len(unpacked))
	}
	s.read.Store(0)
	p, err := s.newParquet(&counterAt{bytes.NewReader(s.data), &s.read}, s.size)
	if err != nil {
		return err
	}
	s.format = p
	return nil
}

func (s *Source) notParquet() error {
	return &Unreadable{Name: s.name, Err: errors.New("is no Parquet: it does not begin with PAR1"), hint: "rename it after what it holds"}
}

// damaged returns the error for Parquet that cannot be read.
func (s *Source) damaged(err error) error {
	return &Unreadable{Name: s.name, Err: fmt.Errorf("the Parquet is damaged or cut short (%w)", err), hint: "copy the file again"}
}

// recovered turns a panic of the Parquet library, which trusts damaged files, into an error.
func (s *Source) recovered(err *error) {
	if r := recover(); r != nil {
		*err = s.damaged(fmt.Errorf("%v", r))
	}
}

func (s *Source) newParquet(r io.ReaderAt, size int64) (p *parquetFormat, err error) {
	defer s.recovered(&err)
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(128<<10))
	if err != nil {
		return nil, s.damaged(err)
	}
	p = &parquetFormat{s: s, file: file}
	p.addLeaves(file.Root())
	if len(p.leaves) == 0 {
		return nil, &Unreadable{Name: s.name, Err: errors.New("has no columns but lists and maps"), hint: "unnest them first"}
	}
	batches, at := 0, 1
	for i, g := range file.RowGroups() {
		n := g.NumRows()
		if n < 0 || n > 1<<40 {
			return nil, s.damaged(fmt.Errorf("a row group of %d rows", n))
		}
		each := int(n)
		if len(file.RowGroups()) < fewGroups {
			each = max(largePart, int(n)/max(1, runtime.GOMAXPROCS(0))/parquetBatch*parquetBatch+parquetBatch)
		}
		for start := 0; start < int(n); start += each {
			rows := min(each, int(n)-start)
			p.parts = append(p.parts, part{i, start, rows, batches, at})
			batches += (rows + parquetBatch - 1) / parquetBatch
			at += rows
		}
	}
	return p, nil
}

// addLeaves adds the columns below c, in the order of the file.
func (p *parquetFormat) addLeaves(c *parquet.Column) {
	for _, c := range c.Columns() {
		name := strings.Join(c.Path(), ".")
		switch {
		case c.Repeated():
			p.left = append(p.left, name)
		case !c.Leaf():
			p.addLeaves(c)
		default:
			l, ok := newLeaf(c)
			if !ok {
				p.left = append(p.left, name)
				continue
			}
			p.leaves = append(p.leaves, l)
			p.names = append(p.names, Column{Name: name, Type: l.typ})
		}
	}
}

func (p *parquetFormat) columns() ([]Column, int) { return p.names, 0 }

func (p *parquetFormat) describe() string {
	text := fmt.Sprintf("Parquet, %s in %s", plural(int(p.file.NumRows()), "row"), plural(len(p.file.RowGroups()), "row group"))
	if p.left != nil {
		text += ", without " + strings.Join(p.left, ", ") + " (lists, maps, or of no type that CQL has)"
	}
	return text
}

func (p *parquetFormat) scan(columns []string) (feed, error) {
	p.s.read.Store(0)
	f := &parquetFeed{format: p}
	if columns == nil {
		f.leaves = p.leaves
		return f, nil
	}
	for _, name := range columns {
		for i, c := range p.names {
			if c.Name == name {
				f.leaves = append(f.leaves, p.leaves[i])
				break
			}
		}
	}
	return f, nil
}

// parquetFeed is one pass over Parquet.
type parquetFeed struct {
	format *parquetFormat
	leaves []*leaf
	part   int // the next part
}

func (f *parquetFeed) close() {}

func (f *parquetFeed) next(w *work) error {
	if f.part == len(f.format.parts) {
		return io.EOF
	}
	w.part = f.part
	f.part++
	return nil
}

func (f *parquetFeed) parse(w *work, each func(*Batch) error) error {
	p := &f.format.parts[w.part]
	cursors, err := f.open(p)
	defer func() {
		for _, c := range cursors {
			c.close()
		}
	}()
	if err != nil {
		return err
	}
	b := &w.batch
	w.seq, w.line = p.batch, p.at
	for left := p.rows; left > 0; w.seq++ {
		n := min(left, parquetBatch)
		b.begin(f.format.s.name, w, len(f.leaves))
		b.N, b.lines = n, nil
		if err := f.fill(b, cursors); err != nil {
			return err
		}
		if err := each(b); err != nil {
			return err
		}
		left -= n
		w.line += n
	}
	return nil
}

// open begins to read a part.
func (f *parquetFeed) open(p *part) (cursors []*cursor, err error) {
	defer f.format.s.recovered(&err)
	chunks := f.format.file.RowGroups()[p.group].ColumnChunks()
	for _, l := range f.leaves {
		c := &cursor{leaf: l}
		skip := p.start
		if skip == 0 {
			c.pages = chunks[l.index].Pages()
		} else {
			skip, err = c.seek(chunks[l.index], skip)
		}
		cursors = append(cursors, c)
		if err == nil {
			err = c.skip(skip)
		}
		if err != nil {
			return cursors, f.format.unreadable(l, err)
		}
	}
	return cursors, nil
}

// fill gives a batch its next rows.
func (f *parquetFeed) fill(b *Batch, cursors []*cursor) (err error) {
	defer f.format.s.recovered(&err)
	for i, c := range cursors {
		if err := c.fill(&b.Columns[i], b.N); err != nil {
			return f.format.unreadable(c.leaf, err)
		}
	}
	for i, c := range cursors {
		c.dropBad(b, i)
	}
	return nil
}

// unreadable says what is wrong with a column's pages.
func (p *parquetFormat) unreadable(l *leaf, err error) error {
	err = fmt.Errorf("column %q: %w", strings.Join(l.path, "."), err)
	for _, g := range p.file.Metadata().RowGroups {
		if l.index < len(g.Columns) && strings.HasPrefix(g.Columns[l.index].MetaData.Codec.String(), "LZ4") {
			return &Unreadable{Name: p.s.name, Err: fmt.Errorf("pages packed by LZ4 as this writer does cannot be read (%w)", err), hint: "write it again, packed by zstd or snappy"}
		}
	}
	return p.s.damaged(err)
}

// counterAt counts the bytes read.
type counterAt struct {
	r io.ReaderAt
	n *atomic.Int64
}

func (c *counterAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.r.ReadAt(p, at)
	c.n.Add(int64(n))
	return n, err
}
