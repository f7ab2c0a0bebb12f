// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"math"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/cassandra/system"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// writePlan is an INSERT, UPDATE or DELETE ready to be executed.
type writePlan struct {
	*analysis.Write
	table *table
	ttl   int32 // the table's default, in seconds; 0: none
	fetch fetchPlan
	row   *rowPlan
}

func newWritePlan(s *state, a *analysis.Write) (*writePlan, error) {
	p := &writePlan{Write: a, table: s.tables[a.Table]}
	if p.table.store == nil {
		if system.Virtual(a.Table.Keyspace) {
			return nil, wire.Invalidf("Modification is not supported by table %s.%s", a.Table.Keyspace, a.Table.Name)
		}
		return nil, wire.Errorf(wire.CodeUnauthorized, "%s keyspace is not user-modifiable.", a.Table.Keyspace)
	}
	ttl, _ := a.Table.Options["default_time_to_live"].(int)
	p.ttl = int32(ttl)
	if a.Conditional() {
		p.fetch = newFetchPlan(p.table, a.Fetch)
	}
	p.row = newRowPlan(p)
	return p, nil
}

// writeRows executes a write.
func (c *call) writeRows(p *writePlan) (outcome, error) {
	if err := p.checkLevel(&c.params); err != nil {
		return answered, err
	}
	if p.row != nil {
		if done, err := c.writeRow(p.row); done || err != nil {
			return queued, err
		}
	}
	if (p.Conditional() || p.Counter) && !c.detached {
		return c.refuse(writes)
	}
	b, err := p.Bind(&c.env)
	if err == errAtLength {
		return c.refuse(writes)
	} else if err != nil {
		return answered, err
	}
	w := writing{c: c, writes: []boundWrite{{b, p}}}
	if err := w.prepare(nil); err == errAtLength {
		return c.refuse(writes)
	} else if err != nil {
		return answered, err
	}
	slow := p.Counter || w.reads
	if slow && !p.Conditional() && !c.detached {
		return c.refuse(writes)
	}
	if err := w.afford(writeType(p)); err != nil {
		return answered, err
	}
	switch {
	case p.Conditional():
		return answered, w.casRow()
	case slow:
		return answered, w.commit()
	}
	c.engine.commits.add(c, &w)
	return queued, nil
}

// writeType returns the name of a single write for errors.
func writeType(p *writePlan) string {
	switch {
	case p.Conditional():
		return wire.WriteCAS
	case p.Counter:
		return wire.WriteCounter
	}
	return wire.WriteSimple
}

// checkLevel refuses the consistency levels of a request that the write cannot have.
func (p *writePlan) checkLevel(params *wire.Params) error {
	level := params.Consistency
	switch {
	case p.Conditional():
		return checkConditionalLevel(params)
	case p.Counter && level == wire.Any:
		return wire.Invalidf("Consistency level ANY is not yet supported for counter table %s", p.Table.Name)
	case p.Counter && level.IsSerial():
		return wire.Invalidf("Counter operations are inherently non-serializable")
	case level.IsSerial():
		return errSerialWrite
	}
	return nil
}

var errSerialWrite = wire.Invalidf("You must use conditional updates for serializable writes")

func checkConditionalLevel(params *wire.Params) error {
	if params.Has(wire.QuerySerialConsistency) && !params.SerialConsistency.IsSerial() {
		return wire.Invalidf("Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL")
	}
	if level := params.Consistency; level.IsSerial() {
		return wire.Invalidf("%s is not supported as conditional update commit consistency. Use ANY if you mean "+
			"\"make sure it is accepted but I don't care how many replicas commit it for non-SERIAL reads\"", level)
	}
	return nil
}

// boundWrite is a write with its values and its plan.
type boundWrite struct {
	*analysis.BoundWrite
	plan *writePlan
}

// writing holds writes that are applied together.
type writing struct {
	c         *call
	writes    []boundWrite
	timestamp *int64 // of the batch; nil if not given
	now       int64  // for writes without a timestamp
	seconds   int64
	bytes     int  // estimate of what is written
	reads     bool // some write reads the present state
	counters  bool
	guard     *storage.Guard
	err       error
	levies    []levy // units taken, if there are limits
	looks     *looks // see look
	before    readings
}

// prepare finds out what the writes need, and holds memory for them.
func (w *writing) prepare(timestamp *int64) error {
	if err := w.checkBounds(); err != nil {
		return err
	}
	w.timestamp, w.now, w.seconds = timestamp, w.c.env.Now, w.c.seconds
	if w.c.params.Has(wire.QueryDefaultTimestamp) {
		w.now = w.c.params.DefaultTimestamp
	}
	for _, b := range w.writes {
		w.counters = w.counters || b.Counter
		for i := range b.Mutations {
			w.reads = w.reads || readsFirst(&b.Mutations[i])
		}
		if b.NoRows() {
			continue
		}
		if err := b.plan.checkExpiry(w.seconds, b.TTL); err != nil {
			return err
		}
	}
	return w.hold()
}

// lastExpiry is the last second at which Cassandra 5.0 lets anything expire by default:
// 2038-01-19T03:14:06.
const lastExpiry = math.MaxInt32 - 1

// checkExpiry refuses a time to live that ends after lastExpiry.
func (p *writePlan) checkExpiry(seconds int64, ttl *int32) error {
	n, which := p.ttl, "default "
	if ttl != nil {
		n, which = *ttl, ""
	}
	if n <= 0 || seconds+int64(n) <= lastExpiry {
		return nil
	}
	return wire.Invalidf("Request on table %s.%s with %sttl of %d seconds exceeds maximum supported expiration date of 2038-01-19T03:14:06+00:00. "+
		"In order to avoid this use a lower TTL, change the expiration date overflow policy or upgrade to a version where this limitation is fixed. "+
		"See CASSANDRA-14092 and CASSANDRA-14227 for more details.", p.Table.Keyspace, p.Table.Name, which, n)
}

func readsFirst(m *analysis.Mutation) bool {
	switch m.Kind {
	case analysis.SetIndex, analysis.DeleteIndex, analysis.DiscardValues, analysis.AddToCell:
		return true
	}
	return false
}

// fill implements filler: it puts all mutations into a batch.
func (w *writing) fill(b *storage.Batch) {
	w.countReadings()
	for i := range w.writes {
		if w.write(b, &w.writes[i]); w.err != nil {
			return
		}
	}
}

// commit applies the writes and answers. It waits for the disk.
func (w *writing) commit() error {
	b := w.c.engine.db.NewBatch()
	defer b.Release()
	if w.reads {
		w.guard = w.c.engine.db.Guard(w.partitions()...)
		defer w.guard.Unlock()
	}
	w.fill(b)
	if w.err != nil {
		return w.err
	}
	var err error
	switch {
	case b.Empty():
	case w.guard != nil:
		err = b.CommitGuarded(w.guard)
	default:
		err = b.Commit()
	}
	if err != nil {
		return storageError(err)
	}
	w.c.answer(wire.OpResult, voidBody)
	return nil
}

// partitions returns the partitions that the writes change.
func (w *writing) partitions() []storage.PartitionRef {
	var refs []storage.PartitionRef
	for _, b := range w.writes {
		for _, key := range b.Keys.All() {
			raw := partitioner.AppendComposite(nil, key...)
			refs = append(refs, storage.PartitionRef{Table: b.plan.table.store, Token: partitioner.Murmur3(raw), Key: raw})
		}
	}
	return refs
}

// stamp is a write's timestamp and expiry.
type stamp struct {
	timestamp int64
	ttl       int32
	expires   int64
	seconds   int64
}

func (s *stamp) deletion() storage.Deletion {
	return storage.Deletion{Timestamp: s.timestamp, Time: s.seconds}
}

func (w *writing) stamp(b *boundWrite) stamp {
	s := stamp{timestamp: w.now, ttl: b.plan.ttl, seconds: w.seconds}
	switch {
	case b.Timestamp != nil:
		s.timestamp = *b.Timestamp
	case w.timestamp != nil:
		s.timestamp = *w.timestamp
	}
	if b.TTL != nil {
		s.ttl = *b.TTL
	}
	if s.ttl > 0 {
		s.expires = s.seconds + int64(s.ttl)
	}
	return s
}

// write puts one write into a batch.
func (w *writing) write(batch *storage.Batch, b *boundWrite) {
	s := w.stamp(b)
	var raw []byte
	for _, key := range b.Keys.All() {
		raw = partitioner.AppendComposite(raw[:0], key...)
		batch.Partition(b.plan.table.store, partitioner.Murmur3(raw), raw)
		switch b.Scope {
		case analysis.ScopeDeletePartition:
			batch.DeletePartition(s.deletion())
		case analysis.ScopeDeleteSlices:
			for slice := range b.Slices.All() {
				batch.DeleteSlice(storage.Slice{Start: storage.Bound(slice.Start), End: storage.Bound(slice.End)}, s.deletion())
			}
		case analysis.ScopeDeleteRows:
			for _, row := range b.Rows.All() {
				batch.Row(row)
				batch.DeleteRow(s.deletion())
			}
		case analysis.ScopeStatic:
			w.cells(batch, b, &s, raw, nil, schema.Static)
		case analysis.ScopeRows:
			w.cells(batch, b, &s, raw, nil, schema.Static)
			for _, row := range b.Rows.All() {
				w.cells(batch, b, &s, raw, row, schema.Regular)
			}
		}
	}
}

// cells puts the mutations of static or regular columns of one row into a batch.
func (w *writing) cells(batch *storage.Batch, b *boundWrite, s *stamp, key []byte, row [][]byte, kind schema.ColumnKind) {
	selected := false
	sel := func() {
		if selected {
			return
		}
		selected = true
		if kind == schema.Static {
			batch.Static()
		} else {
			batch.Row(row)
		}
	}
	if kind == schema.Regular && b.Kind == analysis.Insert {
		sel()
		batch.Marker(storage.Liveness{Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
	}
	known := w.newPending(b, s, key, row)
	for i := range b.Mutations {
		m := &b.Mutations[i]
		if m.Column.Kind != kind {
			continue
		}
		sel()
		if readsFirst(m) {
			if err := known.readFirst(batch, m); err != nil && w.err == nil {
				w.err = err
			}
			if w.err != nil || w.tooLong(batch) {
				return
			}
			continue
		}
		if err := known.note(m); err != nil {
			w.err = err
			return
		}
		putMutation(batch, b.plan.table.ids.of[m.Column.Name], m, s)
	}
}

// putMutation puts a mutation that does not read into a batch.
func putMutation(batch *storage.Batch, id uint32, m *analysis.Mutation, s *stamp) {
	switch m.Kind {
	case analysis.PutCell:
		if m.Value == nil {
			batch.Unset(id, nil, s.deletion())
			return
		}
		batch.Set(storage.Cell{Column: id, Value: m.Value, Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
	case analysis.PutCells:
		if m.Clear {
			d := s.deletion()
			d.Timestamp-- // the new elements, written with this timestamp, stay
			batch.DeleteComplex(id, d)
		}
		for cell := range m.Cells.All() {
			if cell.Value == nil {
				batch.Unset(id, cell.Path, s.deletion())
				continue
			}
			batch.Set(storage.Cell{Column: id, Path: cell.Path, Value: cell.Value, Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
		}
	case analysis.ClearCells:
		batch.DeleteComplex(id, s.deletion())
	case analysis.AddCounter:
		batch.Add(id, m.Delta, s.timestamp)
	}
}
