// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"strconv"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/partitioner"
)

// With Options.Capacity, tables have the limits of Amazon Keyspaces. A write takes 1 write unit for
// each KB of a row. A read takes 1 read unit for each 4 KB at LOCAL_QUORUM, and half of that at
// LOCAL_ONE. The answer to a request that exceeds a limit is Keyspaces' answer. Keyspaces has only
// Cassandra's errors for it: a timeout with no response received.

// limiter holds the capacity models of the tables.
type limiter struct {
	limits throughput.Limits
	clock  func() time.Time
	models sync.Map // *throughput.Model by table id
}

func newLimiter(l *throughput.Limits, clock func() time.Time) *limiter {
	if l == nil {
		return nil
	}
	return &limiter{limits: *l, clock: clock}
}

func (l *limiter) model(t *table) *throughput.Model {
	if m, ok := l.models.Load(t.ID); ok {
		return m.(*throughput.Model)
	}
	m, _ := l.models.LoadOrStore(t.ID, throughput.New(l.limits, settings(t.Table), l.clock()))
	return m.(*throughput.Model)
}

// settings returns the declared capacity of a table. The default is on demand.
func settings(t *schema.Table) throughput.Settings {
	custom, _ := t.Options[ddl.CustomProperties].(ddl.Custom)
	mode, warm := custom[ddl.CapacityMode], custom[ddl.WarmThroughput]
	units := func(of map[string]string, option string) float64 {
		n, _ := strconv.ParseFloat(of[option], 64) // 0: none
		return n
	}
	return throughput.Settings{
		OnDemand:    mode[ddl.ThroughputMode] != ddl.Provisioned,
		Provisioned: throughput.Rate{Read: units(mode, ddl.ReadCapacity), Write: units(mode, ddl.WriteCapacity)},
		Warm:        throughput.Rate{Read: units(warm, ddl.WarmRead), Write: units(warm, ddl.WarmWrite)},
	}
}

// declared applies the declared capacity of a table from now on. So a provisioned table saves
// unused units before its first use.
func (l *limiter) declared(t *table) {
	if l == nil || t == nil || t.store == nil {
		return
	}
	s := settings(t.Table)
	if _, used := l.models.Load(t.ID); s.OnDemand && !used {
		return
	}
	if m := l.model(t); m.Settings() != s {
		m.Configure(s, l.clock())
	}
}

// forget removes the model of a dropped table.
func (l *limiter) forget(id [16]byte) {
	if l != nil {
		l.models.Delete(id)
	}
}

// place returns the position of a row or, with a prefix of a clustering, of all rows with the
// prefix.
func place(t *table, token int64, key []byte, clustering [][]byte) (throughput.Key, error) {
	position, n, err := t.store.AppendPosition(nil, token, key, clustering)
	return throughput.Key{Position: position, Collection: n}, err
}

// The sizes that Keyspaces counts for a row in addition to its values ("Estimate row size in Amazon
// Keyspaces"). They are upper bounds: for each column of the key, for each other column, and for
// the row, or for the static columns of a partition.
const (
	partitionColumn  = 3
	clusteringColumn = 4
	otherColumn      = 1
	rowMetadata      = 100
	staticMetadata   = 104
)

// sizeOfKey returns the size that Keyspaces counts for a row's key.
func sizeOfKey(key, clustering [][]byte) int {
	return size(key) + len(key)*partitionColumn + size(clustering) + len(clustering)*clusteringColumn
}

// sizeOfCells returns the size that Keyspaces counts for a row's cells.
func sizeOfCells(cells []storage.Cell) int {
	n := 0
	for i := range cells {
		if i == 0 || cells[i].Column != cells[i-1].Column {
			n += otherColumn
		}
		n += len(cells[i].Path) + len(cells[i].Value)
	}
	return n
}

// writeUnits returns the units of a write of some bytes, and readUnits those of a read.
func writeUnits(bytes int) float64 { return float64(max(1, (bytes+1023)/1024)) }

func readUnits(bytes int, level wire.Consistency) float64 {
	return float64(max(1, (bytes+4095)/4096)) * readFactor(level)
}

// scanUnits returns the units that a scan takes for one partition. scanUnits does not round them. Otherwise a scan of many
// small partitions would cost many times its size.
func scanUnits(bytes int, level wire.Consistency) float64 {
	return float64(bytes) / 4096 * readFactor(level)
}

// readFactor returns the part of a read unit that counts at a consistency level.
func readFactor(level wire.Consistency) float64 {
	if level == wire.One || level == wire.LocalOne {
		return 0.5
	}
	return 1
}

// timedOut returns the error of a request at a consistency level that met a limit.
func timedOut(level wire.Consistency, code wire.Code, writeType string) error {
	required := int32(2)
	switch level {
	case wire.One, wire.LocalOne, wire.Any:
		required = 1
	case wire.All:
		required = 3
	}
	return &wire.Error{
		Code: code, Message: "Operation timed out - received only 0 responses.",
		Consistency: level, Required: required, WriteType: writeType,
	}
}

// levy is a number of units to take from one model.
type levy struct {
	model *throughput.Model
	at    throughput.Key
	units float64
	bytes int
}

// take takes all levies of a write, or none if a limit is met.
func (l *limiter) take(levies []levy, level wire.Consistency, writeType string) error {
	now := l.clock()
	for i := range levies {
		if levies[i].model.Admit(throughput.Write, levies[i].at, now) != 0 {
			return timedOut(level, wire.CodeWriteTimeout, writeType)
		}
	}
	for i := range levies {
		v := &levies[i]
		v.model.Spend(throughput.Write, v.at, v.units, now)
		if v.bytes > 0 {
			v.model.Place(v.at, int64(v.bytes), now)
		}
	}
	return nil
}

// affordRow returns an error if the limits do not let the row of a rowPlan be written.
func (c *call) affordRow(p *rowPlan) error {
	r, limits := &c.read, c.engine.limits
	n := rowMetadata + sizeOfKey(r.key, r.clustering)
	for _, m := range p.cells {
		n += otherColumn + len(c.env.Values[m.index].Bytes)
	}
	at, err := place(p.plan.table, partitioner.Murmur3(r.raw), r.raw, r.clustering)
	if err != nil {
		return storageError(err)
	}
	return limits.take([]levy{{limits.model(p.plan.table), at, writeUnits(n), n}}, c.params.Consistency, wire.WriteSimple)
}

// afford returns an error if the limits do not let the writes happen.
func (w *writing) afford(writeType string) error {
	limits := w.c.engine.limits
	if limits == nil {
		return nil
	}
	var levies []levy
	for i := range w.writes {
		b := &w.writes[i]
		model := limits.model(b.plan.table)
		for _, key := range b.Keys.All() {
			raw := partitioner.AppendComposite(nil, key...)
			token := partitioner.Murmur3(raw)
			add := func(clustering [][]byte, units float64, bytes int) error {
				at, err := place(b.plan.table, token, raw, clustering)
				levies = append(levies, levy{model, at, units, bytes})
				return storageError(err)
			}
			if err := b.demand(key, add); err != nil {
				return err
			}
		}
	}
	w.levies = levies
	return limits.take(levies, w.c.params.Consistency, writeType)
}

// notApplied charges a conditional write that was not applied. It charges the existing row in place
// of the row that was to be written.
func (w *writing) notApplied(key [][]byte, cur *current) {
	if len(w.levies) == 0 {
		return
	}
	n := 0
	if cur.live {
		n = rowMetadata + sizeOfKey(key, cur.row.Clustering) + sizeOfCells(cur.row.Cells)
	}
	more := writeUnits(n)
	for i := range w.levies {
		more -= w.levies[i].units
	}
	v := &w.levies[0]
	v.model.Spend(throughput.Write, v.at, more, w.c.engine.limits.clock())
}

// demand calls add for each row of a partition that is written, with the units that the write
// takes.
func (b *boundWrite) demand(key [][]byte, add func(clustering [][]byte, units float64, bytes int) error) error {
	switch b.Scope {
	case analysis.ScopeDeletePartition:
		return add(nil, 1, 0)
	case analysis.ScopeDeleteSlices:
		for range b.Slices.Len() {
			if err := add(nil, 1, 0); err != nil {
				return err
			}
		}
		return nil
	case analysis.ScopeDeleteRows:
		for _, row := range b.Rows.All() {
			if err := add(row, 1, 0); err != nil {
				return err
			}
		}
		return nil
	}
	static, regular := 0, 0
	for i := range b.Mutations {
		m := &b.Mutations[i]
		if m.Column.Kind == schema.Static {
			static += sizeOfMutation(m)
		} else {
			regular += sizeOfMutation(m)
		}
	}
	// Static columns and rows together are two writes, each with its own metadata.
	factor := 1.0
	if static > 0 && b.Scope == analysis.ScopeRows && b.Rows.Len() > 0 {
		factor = 2
	}
	if static > 0 {
		n := staticMetadata + sizeOfKey(key, nil) + static
		if err := add(nil, factor*writeUnits(n), n); err != nil {
			return err
		}
	}
	if b.Scope != analysis.ScopeRows {
		return nil
	}
	for _, row := range b.Rows.All() {
		n := rowMetadata + sizeOfKey(key, row) + regular
		if err := add(row, factor*writeUnits(n), n); err != nil {
			return err
		}
	}
	return nil
}

// sizeOfMutation returns the size that Keyspaces counts for a written column.
func sizeOfMutation(m *analysis.Mutation) int {
	n := otherColumn + len(m.Value)
	for c := range m.Cells.All() {
		n += len(c.Path) + len(c.Value)
	}
	if m.Kind == analysis.AddCounter {
		n += 8
	}
	return n
}

// admitRead returns an error if the limits do not let a partition, or a row of it, be read.
func (l *limiter) admitRead(t *table, token int64, key []byte, clustering [][]byte, level wire.Consistency) (throughput.Key, error) {
	at, err := place(t, token, key, clustering)
	if err != nil {
		return at, storageError(err)
	}
	if l.model(t).Admit(throughput.Read, at, l.clock()) != 0 {
		return at, timedOut(level, wire.CodeReadTimeout, "")
	}
	return at, nil
}

// spendRead takes the units of a read.
func (l *limiter) spendRead(t *table, at throughput.Key, units float64) {
	l.model(t).Spend(throughput.Read, at, units, l.clock())
}
