// SPDX-License-Identifier: Apache-2.0

package throughput

import (
	"strings"
	"sync"
	"time"
)

// Op is the kind of operation that takes units.
type Op uint8

const (
	Read Op = iota
	Write
	ops
)

// String returns the operation's part of a throttling reason: Read or Write.
func (o Op) String() string {
	if o == Write {
		return "Write"
	}
	return "Read"
}

func (t Rate) of(o Op) float64 {
	if o == Write {
		return t.Write
	}
	return t.Read
}

// Key is the place in a table that a request goes to.
type Key struct {
	// Position is hash(partition key), partition key, sort key, in the order of the store. The
	// model does not keep it.
	Position []byte
	// Collection is the number of bytes of the position that belong to the partition key, including
	// its hash. The positions of all items with this partition key begin with these bytes.
	Collection int
}

func (k Key) collection() []byte { return k.Position[:min(k.Collection, len(k.Position))] }

// Refusal is the set of limits that a request met. It is empty if the request is admitted.
type Refusal uint8

const (
	KeyRange              Refusal = 1 << iota // the partition's
	ProvisionedThroughput                     // the table's provisioned throughput
	MaxOnDemand                               // the declared maximum of the on-demand table
	AccountLimit                              // the account's quota of an on-demand table
)

// refusals are the names of the limits in throttling reasons.
var refusals = [...]struct {
	is   Refusal
	name string
}{
	{KeyRange, "KeyRangeThroughputExceeded"},
	{ProvisionedThroughput, "ProvisionedThroughputExceeded"},
	{MaxOnDemand, "MaxOnDemandThroughputExceeded"},
	{AccountLimit, "AccountLimitExceeded"},
}

// Reasons returns DynamoDB's throttling reasons, such as TableWriteKeyRangeThroughputExceeded.
// resource is Table or Index.
func (r Refusal) Reasons(resource string, op Op) []string {
	var all []string
	for _, x := range refusals {
		if r&x.is != 0 {
			all = append(all, resource+op.String()+x.name)
		}
	}
	return all
}

// String lists the limits by their names.
func (r Refusal) String() string { return strings.Join(r.Reasons("", ops), ", ") }

// Model is the model of the capacity of a table or a global secondary index.
type Model struct {
	mu         sync.Mutex
	limits     Limits
	settings   Settings
	partitions []*partition // sorted by their first positions
	table      [ops]ceilings
	counts     [ops]counts
	growth     growth
	random     uint64
}

// ceilings are the limits of a whole table for one operation.
type ceilings struct {
	provisioned, maximum, account bucket
	limited                       Refusal // the limits that exist
}

// New returns the model of a new table.
func New(l Limits, s Settings, now time.Time) *Model {
	m := &Model{limits: l.WithDefaults(), random: 0x9e3779b97f4a7c15}
	at := now.UnixNano()
	n := m.limits.Partitions(s)
	for i := range n {
		p := m.newPartition(at)
		if i > 0 {
			p.from = boundary(uint64(i) << 32 / uint64(n))
		}
		m.partitions = append(m.partitions, p)
	}
	m.configure(s, at)
	return m
}

// Configure gives the table other settings. It adds partitions if the table needs more. It never
// removes any.
func (m *Model) Configure(s Settings, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := now.UnixNano()
	m.configure(s, at)
	m.grow(m.limits.Partitions(s), at)
}

// Settings returns the current settings.
func (m *Model) Settings() Settings {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settings
}

func (m *Model) configure(s Settings, now nano) {
	m.settings = s
	seconds := max(1, m.limits.Burst.Seconds())
	for op := range ops {
		c := &m.table[op]
		was := c.limited
		c.limited = 0
		set := func(b *bucket, is Refusal, rate, size float64) {
			c.limited |= is
			if was&is == 0 {
				*b = newBucket(rate, size, now)
			} else {
				b.set(rate, size, now)
			}
		}
		if !s.OnDemand {
			rate := s.Provisioned.of(op)
			set(&c.provisioned, ProvisionedThroughput, rate, rate*seconds)
			continue
		}
		if rate := s.Maximum.of(op); rate > 0 {
			set(&c.maximum, MaxOnDemand, rate, rate)
		}
		if rate := m.limits.Account.of(op); rate > 0 {
			set(&c.account, AccountLimit, rate, rate)
		}
	}
}

// Admit returns the limits that refuse a request. A refused request costs nothing.
func (m *Model) Admit(op Op, k Key, now time.Time) Refusal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.admit(op, k, now.UnixNano())
}

// Spend takes the units of a request that was admitted.
func (m *Model) Spend(op Op, k Key, units float64, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spend(op, k, units, now.UnixNano())
}

// Take calls Admit and, if the request is admitted, Spend.
func (m *Model) Take(op Op, k Key, units float64, now time.Time) Refusal {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := now.UnixNano()
	r := m.admit(op, k, at)
	if r == 0 {
		m.spend(op, k, units, at)
	}
	return r
}

func (m *Model) admit(op Op, k Key, now nano) Refusal {
	i := m.find(k.Position)
	p := m.partitions[i]
	m.sample(p, k, now)
	c := &m.table[op]
	var r Refusal
	if c.limited&ProvisionedThroughput != 0 && c.provisioned.empty(now) {
		r |= ProvisionedThroughput
	}
	if c.limited&MaxOnDemand != 0 && c.maximum.empty(now) {
		r |= MaxOnDemand
	}
	if c.limited&AccountLimit != 0 && c.account.empty(now) {
		r |= AccountLimit
	}
	u := &p.use[op]
	if u.bucket.empty(now) {
		r |= KeyRange
		u.ownTotal++
		m.heat(i, now)
	}
	if r != 0 {
		u.refuse(now)
		m.counts[op].refuse(r)
		p.keys.add(k.collection(), 0, 1, now)
	}
	return r
}

func (m *Model) spend(op Op, k Key, units float64, now nano) {
	c := &m.table[op]
	for _, b := range [...]*bucket{&c.provisioned, &c.maximum, &c.account} {
		b.take(units, now)
	}
	p := m.partitions[m.find(k.Position)]
	u := &p.use[op]
	u.bucket.take(units, now)
	u.take(units, now)
	m.counts[op].units += units
	p.keys.add(k.collection(), units, 0, now)
	m.peak(op, units, now)
}

// SpendRange takes the units of a request that read from one position to another, as a Scan does.
// It takes them in equal parts from all partitions between the two positions.
func (m *Model) SpendRange(op Op, from, to Key, units float64, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := now.UnixNano()
	i, j := m.find(from.Position), m.find(to.Position)
	if i > j {
		i, j, from, to = j, i, to, from
	}
	each := units / float64(j-i+1)
	for n := i; n <= j; n++ {
		k := from
		switch {
		case n == j:
			k = to
		case n > i:
			k = Key{Position: m.partitions[n].from, Collection: len(m.partitions[n].from)}
		}
		m.spend(op, k, each, at)
	}
}

// Place adds a number of bytes, which may be negative, to the partition with a position.
func (m *Model) Place(k Key, bytes int64, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(k.Position)
	p := m.partitions[i]
	p.place(k, bytes, m.draw())
	if p.bytes >= m.limits.PartitionBytes {
		m.splitForSize(i, now.UnixNano())
	}
}

// draw returns the next number of a sequence that has no pattern which requests could have. Samples
// are drawn with it.
func (m *Model) draw() uint64 {
	m.random ^= m.random << 13
	m.random ^= m.random >> 7
	m.random ^= m.random << 17
	return m.random
}
