// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strconv"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/capacity"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// With Options.Capacity the tables have the limits of Amazon Keyspaces. It takes
// 1 write unit for each KB of a row that is written, and 1 read unit for each 4 KB
// that are read at LOCAL_QUORUM, half that at LOCAL_ONE. What exceeds a limit is
// answered as Keyspaces does, who has only Cassandra's errors to say it with: a
// timeout with no response received.

// limiter has the models of the tables.
type limiter struct {
	limits capacity.Limits
	clock  func() time.Time
	models sync.Map // *capacity.Model by table id
}

func newLimiter(l *capacity.Limits, clock func() time.Time) *limiter {
	if l == nil {
		return nil
	}
	return &limiter{limits: *l, clock: clock}
}

func (l *limiter) model(t *table) *capacity.Model {
	if m, ok := l.models.Load(t.ID); ok {
		return m.(*capacity.Model)
	}
	m, _ := l.models.LoadOrStore(t.ID, capacity.New(l.limits, settings(t.Table), l.clock()))
	return m.(*capacity.Model)
}

// settings are what a table is declared to take; on demand by default.
func settings(t *schema.Table) capacity.Settings {
	custom, _ := t.Options[ddl.CustomProperties].(ddl.Custom)
	mode, warm := custom[ddl.CapacityMode], custom[ddl.WarmThroughput]
	units := func(of map[string]string, option string) float64 {
		n, _ := strconv.ParseFloat(of[option], 64) // 0 for none
		return n
	}
	return capacity.Settings{
		OnDemand:    mode[ddl.ThroughputMode] != ddl.Provisioned,
		Provisioned: capacity.Throughput{Read: units(mode, ddl.ReadCapacity), Write: units(mode, ddl.WriteCapacity)},
		Warm:        capacity.Throughput{Read: units(warm, ddl.WarmRead), Write: units(warm, ddl.WarmWrite)},
	}
}

// declared has a table take what it is declared to, from now on: one that is
// provisioned saves what is not used before it is used first.
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

// forget drops the model of a table that is gone.
func (l *limiter) forget(id [16]byte) {
	if l != nil {
		l.models.Delete(id)
	}
}

// place is where a row is, or with less of a clustering what begins with that.
func place(t *table, token int64, key []byte, clustering [][]byte) (capacity.Key, error) {
	position, n, err := t.store.AppendPosition(nil, token, key, clustering)
	return capacity.Key{Position: position, Collection: n}, err
}

// Sizes of what Keyspaces counts of a row beside its values ("Estimate row size in
// Amazon Keyspaces"): at most so much for each column of the key, for each other
// column, and for the row, or the static columns of a partition.
const (
	partitionColumn  = 3
	clusteringColumn = 4
	otherColumn      = 1
	rowMetadata      = 100
	staticMetadata   = 104
)

// sizeOfKey is what Keyspaces counts of a row's key.
func sizeOfKey(key, clustering [][]byte) int {
	return size(key) + len(key)*partitionColumn + size(clustering) + len(clustering)*clusteringColumn
}

// sizeOfCells is what it counts of a row's cells.
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

// writeUnits and readUnits are the units of so many bytes.
func writeUnits(bytes int) float64 { return float64(max(1, (bytes+1023)/1024)) }

func readUnits(bytes int, level wire.Consistency) float64 {
	return float64(max(1, (bytes+4095)/4096)) * readFactor(level)
}

// readFactor is what a read unit counts at a consistency level.
func readFactor(level wire.Consistency) float64 {
	if level == wire.One || level == wire.LocalOne {
		return 0.5
	}
	return 1
}

// timedOut is the error of a request that met a limit.
func (c *call) timedOut(code wire.Code, writeType string) error {
	required := int32(2)
	switch c.params.Consistency {
	case wire.One, wire.LocalOne, wire.Any:
		required = 1
	case wire.All:
		required = 3
	}
	return &wire.Error{
		Code: code, Message: "Operation timed out - received only 0 responses.",
		Consistency: c.params.Consistency, Required: required, WriteType: writeType,
	}
}

// levy is units of one model.
type levy struct {
	model *capacity.Model
	at    capacity.Key
	units float64
	bytes int
}

// take takes all levies, or none.
func (c *call) take(levies []levy, writeType string) error {
	now := c.engine.limits.clock()
	for i := range levies {
		if levies[i].model.Admit(capacity.Write, levies[i].at, now) != 0 {
			return c.timedOut(wire.CodeWriteTimeout, writeType)
		}
	}
	for i := range levies {
		v := &levies[i]
		v.model.Spend(capacity.Write, v.at, v.units, now)
		if v.bytes > 0 {
			v.model.Place(v.at, int64(v.bytes), now)
		}
	}
	return nil
}

// affordRow is whether the limits let the row of a rowPlan be written.
func (c *call) affordRow(p *rowPlan) error {
	r := &c.read
	n := rowMetadata + sizeOfKey(r.key, r.clustering)
	for _, m := range p.cells {
		n += otherColumn + len(c.env.Values[m.index].Bytes)
	}
	at, err := place(p.plan.table, partitioner.Murmur3(r.raw), r.raw, r.clustering)
	if err != nil {
		return storageError(err)
	}
	return c.take([]levy{{c.engine.limits.model(p.plan.table), at, writeUnits(n), n}}, wire.WriteSimple)
}

// afford is whether the limits let the writes happen.
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
	return w.c.take(levies, writeType)
}

// notApplied has a conditional write that was not applied cost what the row takes
// that is there, in place of what was to be written.
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
	v.model.Spend(capacity.Write, v.at, more, w.c.engine.limits.clock())
}

// demand tells of each row of a partition that is written how many units that takes.
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
	// Both at once are two writes, each with what keeps them together.
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

// sizeOfMutation is what Keyspaces counts of a column that is written.
func sizeOfMutation(m *analysis.Mutation) int {
	n := otherColumn + len(m.Value)
	for i := range m.Cells {
		n += len(m.Cells[i].Path) + len(m.Cells[i].Value)
	}
	if m.Kind == analysis.AddCounter {
		n += 8
	}
	return n
}

// admitRead is whether the limits let a partition, or a row of it, be read.
func (c *call) admitRead(t *table, token int64, key []byte, clustering [][]byte) (capacity.Key, error) {
	at, err := place(t, token, key, clustering)
	if err != nil {
		return at, storageError(err)
	}
	if c.engine.limits.model(t).Admit(capacity.Read, at, c.engine.limits.clock()) != 0 {
		return at, c.timedOut(wire.CodeReadTimeout, "")
	}
	return at, nil
}

// spendRead takes the units of what was read.
func (c *call) spendRead(t *table, at capacity.Key, units float64) {
	c.engine.limits.model(t).Spend(capacity.Read, at, units, c.engine.limits.clock())
}
