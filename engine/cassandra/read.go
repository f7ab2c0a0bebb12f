// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/result"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/partitioner"
)

// read is one SELECT under way. Reads are reused.
type read struct {
	c    *call
	plan *selectPlan
	b    *analysis.BoundSelect

	query  storage.Query
	source rows
	made   map[string]virtualPartition // partitions of a system table by key, if several are read
	view   rowView
	key    [][]byte // components of the current partition key
	raw    []byte   // the serialized partition key
	token  int64
	last   bool // the partition is the last of the named ones

	row        storage.Row // for a read of one row
	clustering [][]byte

	result.Limits
	page   int  // rows or groups that the page may have; 0: no bound
	paged  bool // the client reads in pages
	sets   int  // rows in the page
	looked int  // rows and partitions visited since the last call of wanted

	at    throughput.Key // place of the partition, if there are limits
	bytes int            // bytes read of it, as Keyspaces counts them

	group  grouping
	out    [][]byte // values of a row
	sorted result.Sorted
}

func (r *read) reset() {
	const keep = 64 << 10 // bytes
	r.row.Trim(keep)
	if cap(r.view.arena)+cap(r.view.shared) > keep {
		r.view.arena, r.view.shared = nil, nil
	}
	clear(r.out[:cap(r.out)])
	clear(r.key[:cap(r.key)])
	clear(r.clustering[:cap(r.clustering)])
	clear(r.view.cells)
	*r = read{view: rowView{cells: r.view.cells[:0], times: r.view.times[:0], arena: r.view.arena[:0], shared: r.view.shared[:0]},
		key: r.key[:0], raw: r.raw[:0], out: r.out[:0], row: r.row, clustering: r.clustering[:0]}
}

func (r *read) begin(c *call, p *selectPlan, b *analysis.BoundSelect) error {
	r.c, r.plan, r.b = c, p, b
	r.Limits = result.LimitsOf(b)
	if c.params.Has(wire.QueryPageSize) && c.params.PageSize > 0 {
		r.page, r.paged = int(c.params.PageSize), true
	}
	if w := b.AggregateWarning(); w != "" {
		c.warnings = append(c.warnings, w)
	}
	if err := b.CheckPaging(r.page); err != nil {
		return err
	}
	if p.Selection.Aggregated && !p.Grouped {
		r.page, r.Left = 0, result.Unbound
	}
	if r.page > 0 && r.Left != result.Unbound && r.Left <= r.page && !c.params.Has(wire.QueryPagingState) {
		r.page = 0
	}
	r.query = storage.Query{Now: c.seconds, Columns: p.fetch.columns, Reverse: p.Reversed, Static: p.fetch.static || p.StaticRows || p.StaticsOnly}
	r.query.Room = c.rowRoom
	r.query.Packed = !r.limited()
	r.query.All = r.limited() // whole rows count, whichever columns are selected
	if c.detached {
		r.query.Check = r.wanted
	}
	if !b.Empty() && !wholePartition(&b.Slices) {
		r.query.Slices = (*boundSlices)(&b.Slices)
	}
	r.view.begin(&p.fetch, c.seconds)
	r.group.Begin(p.Select)
	r.sorted.Begin(p.Select)
	return nil
}

// limited reports whether the read counts against limits.
func (r *read) limited() bool { return r.c.engine.limits != nil && r.plan.table.store != nil }

// wanted returns an error if nobody waits for the answer any more.
func (r *read) wanted() error { return gone(r.c.ctx) }

// look counts a visited row or partition, and calls wanted from time to time.
func (r *read) look() error {
	const every = 64
	if r.looked++; r.looked%every != 0 || !r.c.detached {
		return nil
	}
	const page = 10_000 / every * every // Cassandra reads an aggregate in pages of this size
	if r.looked%page == 0 && r.plan.Selection.Aggregated {
		deadline.Progress(r.c.ctx)
	}
	return r.wanted()
}

// wholePartition reports whether slices cover a whole partition.
func wholePartition(s *analysis.Slices) bool {
	if s.Len() != 1 {
		return false
	}
	one := s.At(0)
	return len(one.Start.Prefix) == 0 && len(one.End.Prefix) == 0
}

// boundSlices are the slices of a statement in the form that storage needs.
type boundSlices analysis.Slices

// Len implements storage.Slices.
func (b *boundSlices) Len() int { return (*analysis.Slices)(b).Len() }

// At implements storage.Slices.
func (b *boundSlices) At(i int) storage.Slice {
	s := (*analysis.Slices)(b).At(i)
	return storage.Slice{Start: storage.Bound(s.Start), End: storage.Bound(s.End)}
}

// run writes the result's rows and its paging state.
func (r *read) run() (err error) {
	defer func() { err = r.close(err) }()
	at, err := r.resume()
	if err != nil {
		return err
	}
	full := false
	switch {
	case r.b.Empty():
	case r.b.Scan:
		full, err = r.scan(at)
	default:
		full, err = r.partitions(at)
	}
	if err != nil {
		return err
	}
	if full {
		return nil
	}
	if err := r.group.end(r); err != nil {
		return err
	}
	return r.emitSorted()
}

// partitions reads the named partitions. It reports whether the page is full. If it is, partitions
// has set the paging state.
func (r *read) partitions(at *position) (bool, error) {
	from := 0
	var first *position
	if at != nil {
		columns := r.plan.table.PartitionKey
		key, err := partitioner.SplitComposite(nil, at.key, len(columns))
		if from = r.b.Keys.Index(columns, key); err != nil || from < 0 {
			return false, errPagingState
		}
		if at.inside {
			first = at
		} else {
			from++
		}
	}
	for i, key := range r.b.Keys.From(from) {
		if err := r.look(); err != nil {
			return false, err
		}
		r.last = i == r.b.Keys.Len()-1
		r.raw = partitioner.AppendComposite(r.raw[:0], key...)
		r.token = partitioner.Murmur3(r.raw)
		r.query.After = nil
		if first != nil {
			r.query.After = first.after
		}
		if r.limited() {
			var err error
			if r.at, err = r.c.engine.limits.admitRead(r.plan.table, r.token, r.raw, nil, r.c.params.Consistency); err != nil {
				return false, err
			}
			r.bytes = 0
		}
		r.open()
		full, err := r.each(first)
		if r.limited() {
			r.c.engine.limits.spendRead(r.plan.table, r.at, readUnits(r.bytes, r.c.params.Consistency))
		}
		if full || err != nil {
			return full, err
		}
		first = nil
		if r.Left == 0 {
			return false, nil
		}
	}
	return false, nil
}

// open begins the read of one partition. Storage reads all partitions of a statement with one
// iterator, because to make one takes longer than to read a few rows.
func (r *read) open() {
	if it, ok := r.source.(*storage.Iterator); ok {
		it.ReadNext(r.token, r.raw)
	} else if t := r.plan.table; t.store != nil {
		r.source = t.store.Read(r.token, r.raw, &r.query)
	} else {
		r.source = r.openVirtual()
	}
}

// close closes source. It returns err, or the error of closing if err is nil.
func (r *read) close(err error) error {
	if r.source == nil {
		return err
	}
	if e := r.source.Close(); err == nil {
		err = storageError(e)
	}
	r.source = nil
	return err
}

// openVirtual returns a partition of a system table.
func (r *read) openVirtual() rows {
	if r.b.Keys.Len() == 1 {
		v := r.virtual(r.raw)
		v.keep(func(p *virtualPartition) bool { return bytes.Equal(p.key, r.raw) })
		return v
	}
	if r.made == nil { // once, for all partitions that are read
		all := r.virtual(nil)
		if all.err != nil {
			return all
		}
		r.made = make(map[string]virtualPartition, len(all.partitions))
		for _, p := range all.partitions {
			r.made[string(p.key)] = p
		}
	}
	v := r.virtualRows(nil, nil)
	if p, ok := r.made[string(r.raw)]; ok {
		v.partitions = []virtualPartition{p}
	}
	return v
}

// virtual returns the content of a system table.
func (r *read) virtual(only []byte) *virtualRows {
	return r.virtualRows(r.c.engine.virtualPartitions(r.plan.state, r.plan.table, only))
}

func (r *read) virtualRows(partitions []virtualPartition, err error) *virtualRows {
	return &virtualRows{
		table: r.plan.table, partitions: partitions, slices: &r.b.Slices,
		reverse: r.plan.Reversed, after: r.query.After, err: err,
	}
}

// scan reads all partitions of the token ranges.
func (r *read) scan(at *position) (bool, error) {
	for _, t := range r.b.Tokens {
		tr := storage.TokenRange{First: t.Start, Last: t.End}
		var from *storage.Position
		r.query.After = nil
		if at != nil {
			if at.token > t.End {
				continue
			}
			if at.token >= t.Start {
				from = &storage.Position{Token: at.token, Key: at.key, Inside: at.inside}
				r.query.After = at.after
			}
		}
		r.source = r.openScan(tr, from)
		first := at
		if from == nil {
			first = nil
		}
		full, err := r.each(first)
		if err = r.close(err); full || err != nil {
			return full, err
		}
		at = nil
		if r.Left == 0 {
			return false, nil
		}
	}
	return false, nil
}

func (r *read) openScan(tr storage.TokenRange, from *storage.Position) rows {
	t := r.plan.table
	if t.store != nil {
		return t.store.Scan(tr, from, &r.query)
	}
	v := r.virtual(nil)
	v.keep(func(p *virtualPartition) bool {
		if p.token < tr.First || p.token > tr.Last {
			return false
		}
		if from == nil || p.token > from.Token {
			return true
		}
		c := bytes.Compare(p.key, from.Key)
		return p.token == from.Token && (c > 0 || c == 0 && from.Inside)
	})
	return v
}

// each reads the partitions of source. at is the position at which the first one continues.
func (r *read) each(at *position) (full bool, err error) {
	for r.Left != 0 && r.source.NextPartition() {
		token, key := r.source.Partition()
		goesOn := at != nil && at.inside && bytes.Equal(key, at.key)
		r.token = token
		r.raw = append(r.raw[:0], key...)
		if r.Limits.Partition(); goesOn && r.Inside != result.Unbound {
			r.Inside = result.Lesser(r.Inside, at.inPartition)
		}
		if r.limited() && r.b.Scan {
			if r.at, err = r.c.engine.limits.admitRead(r.plan.table, token, r.raw, nil, r.c.params.Consistency); err != nil {
				return false, err
			}
			r.bytes = 0
		}
		full, err := r.partition(goesOn)
		if r.limited() && r.b.Scan {
			r.c.engine.limits.spendRead(r.plan.table, r.at, scanUnits(r.bytes, r.c.params.Consistency))
		}
		if full || err != nil {
			return full, err
		}
		at = nil
	}
	return false, storageError(r.source.Err())
}

// partition reads the current partition's rows.
func (r *read) partition(goesOn bool) (bool, error) {
	if err := r.look(); err != nil {
		return false, err
	}
	r.key = r.key[:0]
	var err error
	if r.key, err = partitioner.SplitComposite(r.key, r.raw, len(r.plan.table.PartitionKey)); err != nil {
		return false, wire.Errorf(wire.CodeServer, "storage: %v", err)
	}
	static := r.source.Static()
	if r.view.partition(r.key, static); r.view.err != nil {
		return false, r.view.err
	}
	if r.limited() && static != nil {
		r.bytes += staticMetadata + sizeOfKey(r.key, nil) + sizeOfCells(static.Cells)
	}
	if r.plan.StaticsOnly {
		return r.partitionOnly()
	}
	if full, err := r.group.partition(r); full || err != nil {
		return full, err
	}
	if r.Left == 0 {
		return false, nil
	}
	found := false
	for r.Inside != 0 && r.source.Next() {
		if err := r.look(); err != nil {
			return false, err
		}
		found = true
		row := r.source.Row()
		if r.view.row(row); r.view.err != nil {
			return false, r.view.err
		}
		if r.limited() {
			r.bytes += rowMetadata + sizeOfKey(r.key, row.Clustering) + sizeOfCells(row.Cells)
		}
		if !r.b.Matches(&r.view) {
			continue
		}
		if full, err := r.take(); full || err != nil {
			return full, err
		}
		if r.Left == 0 {
			return false, nil
		}
		if r.pageFull() {
			return r.suspend(row.Clustering), nil
		}
	}
	if err := r.source.Err(); err != nil {
		return false, storageError(err)
	}
	if found || goesOn || !r.plan.StaticRows || static == nil || r.Inside == 0 {
		return false, nil
	}
	r.view.row(nil)
	if !r.b.Matches(&r.view) {
		return false, nil
	}
	if full, err := r.take(); full || err != nil {
		return full, err
	}
	return r.pageFull() && r.pageEnd(), nil
}

// partitionOnly returns the current partition as one row (SELECT DISTINCT).
func (r *read) partitionOnly() (bool, error) {
	r.view.row(nil)
	if !r.b.Matches(&r.view) {
		return false, nil
	}
	if full, err := r.group.partition(r); full || err != nil {
		return full, err
	}
	if r.Left == 0 {
		return false, nil
	}
	if full, err := r.take(); full || err != nil {
		return full, err
	}
	return r.pageFull() && r.pageEnd(), nil
}

// pageEnd ends the page after the current partition, which has no more rows. It reports whether
// another page may follow.
func (r *read) pageEnd() bool {
	if !r.b.Scan && r.last {
		return false // there is no other partition
	}
	r.setPagingState(&position{left: r.Left, inPartition: result.Unbound, key: r.raw})
	return true
}

// pageFull reports whether the page has all its rows and LIMIT allows more.
func (r *read) pageFull() bool {
	return !r.group.On() && r.Left != 0 && (r.page > 0 && r.sets == r.page || r.paged && r.c.writer.Size() >= r.c.engine.longest/8*7)
}

// take adds the loaded row to the result. It reports whether the page is full without the row.
func (r *read) take() (bool, error) {
	if r.group.On() {
		return r.group.add(r)
	}
	if err := r.emit(); err != nil {
		return false, err
	}
	r.count()
	return false, nil
}

// count counts a row or group of the result and of its partition.
func (r *read) count() {
	r.sets++
	r.Count()
}

// countTotal counts a group whose partition has ended.
func (r *read) countTotal() {
	r.sets++
	r.CountTotal()
}

// emit writes the loaded row, or keeps it to be sorted.
func (r *read) emit() error {
	if r.plan.direct != nil && !r.sorted.On() {
		for _, i := range r.plan.direct {
			if err := r.cell(r.view.cells[i]); err != nil {
				return err
			}
		}
		r.c.writer.EndRow()
		return nil
	}
	var err error
	if r.out, err = r.plan.Selection.Row(&r.c.env, &r.view, r.out[:0]); err != nil {
		return err
	}
	if r.sorted.On() {
		return r.keep(r.sorted.Keys(&r.view), r.out)
	}
	return r.write(r.out)
}

// keep keeps a row of the result until all are read.
func (r *read) keep(keys, cells [][]byte) error {
	r.sorted.Keep(keys, cells)
	if r.sorted.Size() > maxResult {
		return errLong
	}
	return r.c.room(r.sorted.Size())
}

// emitSorted writes the rows that were kept, in order.
func (r *read) emitSorted() error {
	for cells := range r.sorted.Rows(r.Left) {
		if err := r.write(cells); err != nil {
			return err
		}
	}
	return nil
}

func (r *read) write(cells [][]byte) error {
	for _, cell := range cells {
		if err := r.cell(cell); err != nil {
			return err
		}
	}
	r.c.writer.EndRow()
	return nil
}

// maxResult is the largest number of bytes of rows in an answer. Drivers refuse a message of more
// than 256 MiB. A page ends with the row that comes near this size. A statement may select the
// same long column many times.
const maxResult = 255 << 20

var errLong = wire.Errorf(wire.CodeServer, "the result is longer than the 256 MiB that fit into one message; read it in pages, or less of it")

func (r *read) cell(b []byte) error { return r.c.cell(b, r.sorted.Size()) }

// cell writes a cell of the answer's rows. The call holds more bytes besides the answer.
func (c *call) cell(b []byte, more int) error {
	n := c.writer.Size() + len(b)
	if n > c.engine.longest {
		return errLong
	}
	if err := c.room(n + more); err != nil {
		return err
	}
	c.writer.Cell(b)
	return nil
}
