// SPDX-License-Identifier: Apache-2.0

package throughput

import (
	"bytes"
	"time"
)

const (
	// ListedKeys is the largest number of keys that a partition names because they are requested most, and the
	// largest number that it names because they are in the table. If more are in the table, it names
	// only the requested ones.
	ListedKeys = 32
	// CountedKeys is the largest number of partition keys that are counted in one partition.
	CountedKeys = 1000
)

// Partition is the state of one partition at a moment.
type Partition struct {
	// From is the partition's first position; nil in the first partition. To is the first position
	// after it; nil in the last.
	From, To []byte
	// Share is the partition's part of all hashes. If keys are spread evenly, it has this part of
	// them. 0: the partition is a part of one partition key.
	Share float64
	Bytes int64 // as far as Place told the model
	Born  time.Time

	Read, Write Usage

	// Keys are the partition keys with the most requests in the last ten to twenty seconds, hottest
	// first.
	Keys []KeyUsage
}

// Usage is the load of a partition.
type Usage struct {
	Units   float64 // in the last whole second
	Refused float64 // refused requests in the last whole second

	UnitsTotal      float64 // since the model, or the partition, was created
	RefusedTotal    int64
	RefusedOwnTotal int64 // the part of RefusedTotal that met the partition's own limit
}

// KeyUsage is the load of one partition key.
type KeyUsage struct {
	Key     []byte  // the common beginning of its positions
	Units   float64 // the units that it took, approximately
	Refused int64   // refused requests
}

// Map returns the partitions, in their order.
func (m *Model) Map(now time.Time) []Partition {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := now.UnixNano()
	all := make([]Partition, len(m.partitions))
	for i, p := range m.partitions {
		from, to := m.hashes(i)
		all[i] = Partition{
			From: bytes.Clone(p.from), Share: float64(to-from) / (1 << 32), Bytes: p.bytes, Born: time.Unix(0, p.born),
			Read: p.use[Read].usage(at), Write: p.use[Write].usage(at), Keys: p.keys.usage(at),
		}
		if i+1 < len(m.partitions) {
			all[i].To = bytes.Clone(m.partitions[i+1].from)
		}
	}
	return all
}

// Partitions returns the number of partitions.
func (m *Model) Partitions() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.partitions)
}

// PartitionOf returns the number of the partition, from 0, that contains a position.
func (m *Model) PartitionOf(position []byte) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(position)
}

func (u *use) usage(now nano) Usage {
	u.units.roll(now)
	u.refused.roll(now)
	return Usage{Units: u.units.last, Refused: u.refused.last, UnitsTotal: u.unitsTotal, RefusedTotal: u.refusedTotal, RefusedOwnTotal: u.ownTotal}
}
