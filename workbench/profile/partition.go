// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
)

// identity identifies a partition.
type identity struct {
	text  []byte // the values, one after the other, each with its length before it in two bytes
	shard int
	token int64
}

// rowLen returns the stored length of row i of a batch. before is the length of the row before it
// in its partition, or of the partition's beginning.
func (m *measurer) rowLen(d *design, seq, i, before int) int {
	row := rowShape{
		clustered: len(d.clustering) > 0 || d.Added > 0, clustering: d.Added, timestamp: m.stamp(seq, i),
		cells: int(m.cells[i]), absent: int(m.absent[i]), before: before,
	}
	for _, c := range d.whole {
		row.cells -= m.lanes[c].stored(i)
	}
	for _, c := range d.clustering {
		n := m.lanes[c].stored(i)
		row.cells -= n
		row.clustering += max(0, n-cellFlags)
	}
	return row.length()
}

// partitionLen returns the stored length of a partition without its rows.
func (m *measurer) partitionLen(d *design, i int) int {
	n := partitionBytes
	parts := len(d.Partition)
	for _, c := range d.whole {
		n += m.lanes[c].length(i)
	}
	switch {
	case d.InShard: // replaces the bucket
		n += shardBytes
	default:
		for _, b := range d.buckets {
			n += fixedLen(bucketType(m.buckets[b].unit))
		}
		if d.shards() > 1 {
			n += shardBytes
			parts++
		}
	}
	if parts > 1 {
		n += parts * componentBytes
	}
	return n
}

// bucketType returns the CQL type of a bucket: date for days and longer periods, else timestamp.
func bucketType(g Granularity) *value.Type {
	if g >= Day {
		return value.Native(value.Date)
	}
	return value.Native(value.Timestamp)
}

func (m *measurer) bucketValue(dst []byte, b, i int) []byte {
	bu := m.buckets[b]
	start := bu.unit.Start(m.lanes[bu.column].time[i])
	if bucketType(bu.unit).Kind == value.Date {
		return binary.BigEndian.AppendUint32(dst, uint32((start-floorMod(start, day))/day+1<<31))
	}
	return binary.BigEndian.AppendUint64(dst, uint64(start))
}

func bucketText(dst []byte, g Granularity, start int64) []byte {
	at := time.UnixMilli(start).UTC()
	if g >= Day {
		return at.AppendFormat(dst, time.DateOnly)
	}
	return at.AppendFormat(dst, "2006-01-02T15:04:05Z")
}

// named says in words which partition row i is in. It reuses the memory of id's text.
func (m *measurer) named(id identity, d *design, i int) identity {
	id.text, id.shard, id.token = id.text[:0], 0, 0
	for _, part := range m.keys[d.key] {
		at := len(id.text)
		id.text = append(id.text, 0, 0)
		if part >= 0 {
			id.text = m.lanes[part].text(id.text, i)
		} else {
			bu := m.buckets[^part]
			id.text = bucketText(id.text, bu.unit, bu.unit.Start(m.lanes[bu.column].time[i]))
		}
		binary.BigEndian.PutUint16(id.text[at:], uint16(len(id.text)-at-2))
	}
	if d.shards() > 1 {
		id.shard = m.shard(d, i)
	}
	return id
}

// token returns the token of row i's partition.
func (m *measurer) token(d *design, i int) int64 {
	m.serial, m.ends = m.serial[:0], m.ends[:0]
	for _, part := range m.keys[d.key] {
		if part >= 0 {
			m.serial = m.lanes[part].serialized(m.serial, i)
		} else {
			m.serial = m.bucketValue(m.serial, ^part, i)
		}
		m.ends = append(m.ends, len(m.serial))
	}
	if d.shards() > 1 {
		m.serial = binary.BigEndian.AppendUint32(m.serial, uint32(m.shard(d, i)))
		m.ends = append(m.ends, len(m.serial))
	}
	return partitioner.Murmur3(m.composite())
}

// composite returns the partition key of the values that end at m.ends in m.serial.
func (m *measurer) composite() []byte {
	m.values = m.values[:0]
	from := 0
	for _, end := range m.ends {
		m.values = append(m.values, m.serial[from:end])
		from = end
	}
	m.joined = partitioner.AppendComposite(m.joined[:0], m.values...)
	return m.joined
}

// values returns the texts of an identity.
func (id *identity) values() (list []string) {
	for b := id.text; len(b) >= 2; {
		n := int(binary.BigEndian.Uint16(b))
		list = append(list, strings.Clone(string(b[2:2+n])))
		b = b[2+n:]
	}
	return list
}
