// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// These are the sizes of what each goroutine keeps of a candidate. They are smaller if there are so
// many candidates and goroutines that memory would be short.
const (
	keyTop    = 512
	keySample = 4096
	peakTop   = 128
	overParts = 16  // of Partition.Over
	timeParts = 128 // parts of the time, from which Over is computed

	tallyBytes   = 800 << 10 // of one tally with these sizes
	billedBytes  = 200 << 10 // in addition, with Options.Billing
	talliesBytes = 64 << 20  // of all tallies
	sampleBytes  = 24 << 20  // of all samples together, in addition to what tallies and primary keys leave: samples of few keys keep all keys

	// lostBytes is what all samples of whole primary keys together may take.
	lostBytes    = 48 << 20
	lostKeyBytes = 32
)

// measurer holds what one goroutine counts.
type measurer struct {
	*layout
	lanes  []*lane
	checks []*state // of columns whose type was given
	bill   *biller  // nil: no items are counted
	other  int      // stored length of the columns that are not read, in each row

	bucket  [][]uint64 // hashes, by bucket
	key     [][]uint64
	pk      [][]uint64
	pkNull  []bool
	shardOf [][]uint64 // the hash from which the shard is computed, by entry of by
	cells   []int32    // stored length of all cells of a row
	absent  []uint16   // the place of the last null column of each row; 0: none is null
	places  []int      // of lanes
	hashes  []uint64   // of a sharded candidate

	whole   []*sketch.Sample[uint32]
	room    *sketch.Room
	tallies []*tally
	rows    int64
	batches int
	seen    []int  // batches
	serial  []byte // this and the next few are scratch
	ends    []int
	values  [][]byte
	joined  []byte
}

// tally counts the rows of a candidate.
type tally struct {
	rows, unkeyed int64
	sample        *sketch.Sample[partitionSeen]
	top           *sketch.Top[partitionTop]
	peak          *sketch.Top[partitionPeak]
	heat          *heat // nil if no detail is wanted
	course        [timeParts]int64
}

// partitionSeen is a partition of the sample.
type partitionSeen struct {
	rows, bytes int64
	token       int64
	first       uint32 // batch
	before      uint32 // length of the last row
	head        uint32 // bytes of the partition itself
}

// partitionTop is one of the frequent partitions. It counts since the partition became one.
type partitionTop struct {
	rows, bytes int64  // first, next to the hash that finds it: memory comes in cache lines
	before      uint32 // length of the last row
	head        uint32 // bytes of the partition itself
	id          identity
	over        [timeParts]uint32
	sizes       *ItemSizes
}

// partitionPeak is a partition and a unit of time.
type partitionPeak struct {
	id    identity
	start int64
}

func newMeasurer(l *layout, o Options) *measurer {
	m := &measurer{layout: l, places: places(l.profile, l.columns), bill: l.newBiller(o.Billing)}
	for i, name := range l.columns {
		c := l.profile.Column(name)
		lane := newLane(c, l.types[i].Type)
		lane.needs = l.needs[i]
		m.lanes = append(m.lanes, lane)
		m.checks = append(m.checks, &state{name: name, given: o.Types[name], moments: newMoments(nil)})
	}
	for _, c := range l.profile.Columns {
		if !slices.Contains(l.columns, c.Name) {
			m.other += cellFlags + stored(c.Type, fixedLen(c.Type))
		}
	}
	m.bucket = make([][]uint64, len(l.buckets))
	m.key = make([][]uint64, len(l.keys))
	m.pk, m.pkNull = make([][]uint64, len(l.primary)), make([]bool, len(l.primary))
	m.shardOf = make([][]uint64, len(l.by))
	counted := 0
	for _, unique := range l.unique {
		if !unique {
			counted++
		}
	}
	lanes := o.lanes()
	size := lostBytes / lostKeyBytes / max(1, lanes*counted)
	for range l.primary {
		m.whole = append(m.whole, sketch.NewSample[uint32](size))
	}
	tallied := len(slices.DeleteFunc(slices.Clone(l.candidates), func(d *design) bool { return d.LossAlone }))
	each := tallyBytes
	if o.Billing != nil {
		each += billedBytes
	}
	part := func(size int) int { return share(size, talliesBytes, each, lanes*max(1, tallied)) }
	left := max(0, talliesBytes-lanes*tallied*each) + lostBytes - lanes*counted*size*lostKeyBytes
	m.room = sketch.NewRoom((sampleBytes + left) / lanes)
	m.room.Free = o.OneLane
	for _, d := range l.candidates {
		if d.LossAlone {
			m.tallies = append(m.tallies, &tally{})
			continue
		}
		t := &tally{sample: sketch.NewSampleIn[partitionSeen](m.room, part(keySample)), top: sketch.NewTop[partitionTop](part(keyTop))}
		if d.time >= 0 && !d.NoPeak {
			t.peak = sketch.NewTop[partitionPeak](part(peakTop))
		}
		if d.time >= 0 && d.Detail {
			t.heat = newHeat()
		}
		m.tallies = append(m.tallies, t)
	}
	return m
}

// add takes a batch.
func (m *measurer) add(b *rows.Batch) {
	for i := range b.Columns {
		m.checks[i].check(b, &b.Columns[i], m.columns[i])
	}
	skip, n := b.Dropped(), b.N
	for i, l := range m.lanes {
		if i < len(b.Columns) {
			l.read(&b.Columns[i], n, skip)
		} else {
			l.read(nil, n, skip)
		}
	}
	m.batches = max(m.batches, b.Seq+1)
	m.seen = append(m.seen, b.Seq)
	m.sizes(n)
	if m.bill != nil {
		m.bill.count(m.lanes, n, skip)
	}
	for i, bu := range m.buckets {
		m.bucket[i] = sized(m.bucket[i], n)
		m.bucketHashes(m.bucket[i], m.lanes[bu.column].time, bu.unit)
	}
	for i, key := range m.keys {
		m.key[i] = sized(m.key[i], n)
		m.combine(m.key[i], key)
	}
	for i, by := range m.by {
		m.shardOf[i] = sized(m.shardOf[i], n)
		m.shardHashes(m.shardOf[i], by)
	}
	for i, pk := range m.primary {
		m.pk[i] = sized(m.pk[i], n)
		m.combine(m.pk[i], pk)
		if m.unique[i] {
			m.pkNull[i] = slices.Contains(m.pk[i], nullHash)
			continue
		}
		m.pkNull[i] = countWhole(m.whole[i], m.pk[i], skip)
	}
	for r := range n {
		if skip == nil || !skip[r] {
			m.rows++
		}
	}
	for i, d := range m.candidates {
		if d.LossAlone {
			m.keyed(d, m.tallies[i], skip)
			continue
		}
		m.count(b, d, m.tallies[i], skip)
		if h := m.tallies[i].heat; h != nil {
			m.heated(b, d, h, skip)
		}
	}
}

// countWhole counts whole primary keys, and reports whether some are null.
func countWhole(s *sketch.Sample[uint32], hashes []uint64, skip []bool) (nulls bool) {
	for i, h := range hashes {
		if h == nullHash {
			nulls = true
			continue
		}
		if skip != nil && skip[i] {
			continue
		}
		if n := s.Add(h); n != nil {
			*n++
		}
	}
	return nulls
}

// sizes adds up the cells of each row.
func (m *measurer) sizes(n int) {
	m.cells, m.absent = sized(m.cells, n), sized(m.absent, n)
	fixed := int32(m.other)
	for _, l := range m.lanes {
		fixed += int32(l.fixed)
	}
	for r := range m.cells {
		m.cells[r], m.absent[r] = fixed, 0
	}
	for i, l := range m.lanes {
		if l.fixed > 0 {
			continue
		}
		place := uint16(m.places[i])
		for r, s := range l.size {
			m.cells[r] += int32(s)
			if s == 0 {
				m.absent[r] = max(m.absent[r], place)
			}
		}
	}
}

func (m *measurer) bucketHashes(dst []uint64, times []int64, unit Granularity) {
	last, hash := int64(noTime), uint64(nullHash)
	for i, ms := range times {
		if ms == noTime {
			dst[i] = nullHash
			continue
		}
		start := unit.Start(ms)
		if start != last {
			last, hash = start, fold(mixed(uint64(start)), uint64(unit)+1)
		}
		dst[i] = hash
	}
}

// combine makes hashes of several components: columns, or ^bucket.
func (m *measurer) combine(dst []uint64, parts []int) {
	for k, part := range parts {
		var from []uint64
		if part >= 0 {
			from = m.lanes[part].hash
		} else {
			from = m.bucket[^part]
		}
		if k == 0 {
			for i, h := range from {
				if h != nullHash {
					h = fold(h, 0x9ddfea08eb382d69)
				}
				dst[i] = h
			}
			continue
		}
		for i, h := range from {
			if h == nullHash || dst[i] == nullHash {
				dst[i] = nullHash
			} else {
				dst[i] = fold(dst[i]+uint64(k)*0x9e3779b97f4a7c15, h)
			}
		}
	}
}

// shardHashes computes the hashes from which write_sharding computes shards: the token of the
// canonical values.
func (m *measurer) shardHashes(dst []uint64, by []int) {
	for r := range dst {
		m.serial, m.ends = m.serial[:0], m.ends[:0]
		for _, c := range by {
			l := m.lanes[c]
			from := len(m.serial)
			m.serial = l.serialized(m.serial, r)
			if !l.typ.CanonicalIsSame() {
				m.serial = append(m.serial[:from], l.typ.Canonical(nil, m.serial[from:])...)
			}
			m.ends = append(m.ends, len(m.serial))
		}
		dst[r] = uint64(partitioner.Murmur3(m.composite()))
	}
}

// keyed counts the rows of a batch that have a candidate's whole primary key, and those that do
// not.
func (m *measurer) keyed(d *design, t *tally, skip []bool) {
	pk, pkNull := m.pk[d.primary], m.pkNull[d.primary]
	if skip == nil && !pkNull {
		t.rows += int64(len(pk))
		return
	}
	for i, h := range pk {
		switch {
		case skip != nil && skip[i]:
		case h == nullHash:
			t.unkeyed++
		default:
			t.rows++
		}
	}
}

// count counts a batch for a candidate.
func (m *measurer) count(b *rows.Batch, d *design, t *tally, skip []bool) {
	hashes, pk, pkNull := m.key[d.key], m.pk[d.primary], m.pkNull[d.primary]
	if d.shards() > 1 {
		hashes = m.sharded(d, hashes)
	}
	for i := 0; i < len(hashes); {
		h, from := hashes[i], i
		if skip != nil && skip[i] {
			i++
			continue
		}
		if h == nullHash || pkNull && pk[i] == nullHash {
			t.unkeyed++
			i++
			continue
		}
		for i++; i < len(hashes) && hashes[i] == h && skip == nil && !pkNull; i++ {
		}
		t.rows += int64(i - from)
		for r := from; r < i && d.time >= 0 && d.shards() == 1; r++ {
			t.course[m.part(b, d, r)]++
		}
		if s := t.sample.Add(h); s != nil {
			if s.rows == 0 {
				s.token, s.first, s.bytes = m.token(d, from), uint32(b.Seq+1), int64(m.partitionLen(d, from))
				s.head = uint32(s.bytes)
				s.before = s.head - partitionEnd
			}
			s.rows += int64(i - from)
			for r := from; r < i; r++ {
				n := m.rowLen(d, b.Seq, r, int(s.before))
				s.bytes, s.before = s.bytes+int64(n), uint32(n)
			}
		}
		if top, fresh := t.top.Add(h, i-from); top != nil {
			if fresh {
				*top = partitionTop{id: m.named(top.id, d, from), sizes: m.emptySizes(d, top.sizes)}
				top.id.token = m.token(d, from)
				top.head = uint32(m.partitionLen(d, from))
				top.bytes, top.before = int64(top.head), top.head-partitionEnd
			}
			top.rows += int64(i - from)
			for r := from; r < i; r++ {
				n := m.rowLen(d, b.Seq, r, int(top.before))
				top.bytes, top.before = top.bytes+int64(n), uint32(n)
				top.over[m.part(b, d, r)]++
			}
			if top.sizes != nil {
				for _, size := range m.bill.sizes[from:i] {
					top.sizes.add(size)
				}
			}
		}
	}
	if t.peak != nil {
		m.peaks(d, t, hashes, skip)
	}
}

// part returns in which of the timeParts parts of the time a row is.
func (m *measurer) part(b *rows.Batch, d *design, r int) int {
	if d.time < 0 {
		return min(b.Seq*timeParts/max(m.profile.batches, 1), timeParts-1)
	}
	ms := m.lanes[d.time].time[r]
	if ms == noTime {
		return 0
	}
	span := m.spans[d.times]
	if d.unit > Second && d.unit.Millis() > span[1]/8 {
		// A value stands for its whole unit: spread its rows over the unit.
		ms += int64(mixed(uint64(b.Seq)<<32+uint64(r)) % uint64(d.unit.Millis()))
	}
	return int(min(max((ms-span[0])/span[1], 0), timeParts-1))
}

// peaks counts partitions by units of time.
func (m *measurer) peaks(d *design, t *tally, hashes []uint64, skip []bool) {
	times := m.lanes[d.time].time
	lastMs, start := int64(noTime), int64(0)
	lastHash, n, at := uint64(nullHash), 0, 0
	flush := func() {
		if n == 0 {
			return
		}
		if p, fresh := t.peak.Add(lastHash, n); fresh {
			*p = partitionPeak{id: m.named(p.id, d, at), start: d.unit.Start(times[at])}
		}
		n = 0
	}
	for i, h := range hashes {
		ms := times[i]
		if h == nullHash || ms == noTime || skip != nil && skip[i] {
			continue
		}
		if ms != lastMs {
			lastMs, start = ms, d.unit.Start(ms)
		}
		if h = fold(h, mixed(uint64(start))); h == lastHash {
			n++
			continue
		}
		flush()
		lastHash, n, at = h, 1, i
	}
	flush()
}

// sharded makes hashes of a sharded candidate's physical keys.
func (m *measurer) sharded(d *design, keys []uint64) []uint64 {
	m.hashes = sized(m.hashes, len(keys))
	for i, h := range keys {
		if h != nullHash {
			h = fold(h, uint64(m.shard(d, i))*0x9e3779b97f4a7c15+1)
		}
		m.hashes[i] = h
	}
	return m.hashes
}

// shard returns row i's shard, from 1.
func (m *measurer) shard(d *design, i int) int {
	if d.by >= 0 {
		return shard.Jump(m.shardOf[d.by][i], d.shards()) + 1
	}
	// Spread the rows evenly: use a number of the row that does not depend on its values.
	return int(mixed(uint64(m.rows)<<20+uint64(i))%uint64(d.shards())) + 1
}

// merge adds what another goroutine counted.
func (m *measurer) merge(o *measurer) {
	m.room.Join(o.room)
	m.rows += o.rows
	m.batches = max(m.batches, o.batches)
	if m.bill != nil {
		m.bill.all.merge(o.bill.all)
	}
	for i := range m.whole {
		m.whole[i].Merge(o.whole[i], func(into, from *uint32) { *into += *from })
	}
	for i, t := range m.tallies {
		u := o.tallies[i]
		t.rows += u.rows
		t.unkeyed += u.unkeyed
		if t.sample == nil {
			continue
		}
		t.sample.Merge(u.sample, func(into, from *partitionSeen) {
			if into.rows == 0 {
				*into = *from
				return
			}
			into.rows += from.rows
			into.bytes += from.bytes - int64(from.head)
			into.first = min(into.first, from.first)
		})
		t.top.Merge(u.top, func(into, from *partitionTop) {
			if into.rows > 0 {
				into.bytes -= int64(from.head)
			}
			into.rows += from.rows
			into.bytes += from.bytes
			into.head = from.head
			for k := range into.over {
				into.over[k] += from.over[k]
			}
			if into.sizes != nil {
				into.sizes.merge(from.sizes)
			}
		})
		for k := range t.course {
			t.course[k] += u.course[k]
		}
		if t.peak != nil {
			t.peak.Merge(u.peak, func(into, from *partitionPeak) {})
		}
		if t.heat != nil {
			t.heat.merge(u.heat)
		}
	}
}
