// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/shard"
)

// fill counts the rows and bytes that this door has written to the current shard of one key.
type fill struct {
	table [16]byte // the id of the physical table
	key   string   // serialized partition key

	mu          sync.Mutex
	fill        shard.Fill // of the layout by which the last write was planned
	shard       int
	rows, bytes int64
	next        float64 // the fullness by this door's writes at which the door looks at the shard again
	shared      float64 // the fullness by this door's writes that this door has shared in the directory
	ready       int64   // microseconds: since then, the door has had reason to announce the next shard; 0: it has none
	since       int64   // microseconds: the door measures the rate of writes from then on
	before      float64 // the fullness by this door's writes at that time
	said        sum     // from the last read of the directory
}

// sum holds how much other doors have written to a shard of a key, and how many doors they are.
type sum struct {
	shard, doors int
	rows, bytes  int64
}

// Fills holds the fills of the keys that the door has written lately. Their number is bounded: the door
// forgets the keys that it has not written for the longest time.
type Fills struct {
	parts [16]fillsPart // by hash of table and key, so that connections seldom wait for each other
}

type fillsPart struct {
	mu         sync.Mutex
	young, old map[string]*fill
}

// fillsEach is the largest number of keys in each half of a part.
const fillsEach = 2000

var fillSeed = maphash.MakeSeed()

// count counts a write to a shard of a key. If the shard is now so full that the door must look at it, count
// returns the key's fill. Otherwise it returns nil.
func (a *Fills) count(w *Tally) *fill {
	var room [128]byte
	id := w.table.PhysicalID()
	name := append(append(room[:0], id[:]...), w.key...)
	f := a.parts[maphash.Bytes(fillSeed, name)%uint64(len(a.parts))].of(id, name, w.now)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fill = w.table.Layout.Fill
	if w.shard < f.shard {
		return nil // the store has answered late: the write is to an earlier shard
	}
	if w.shard > f.shard {
		f.shard, f.rows, f.bytes, f.shared, f.before, f.ready, f.since, f.next = w.shard, 0, 0, 0, 0, 0, w.now, firstLook
	}
	f.rows++
	f.bytes += w.size
	if f.fill.Part(f.rows, f.bytes) < f.next {
		return nil
	}
	f.next = 1e18 // until the door has looked
	return f
}

// writtenBytes returns the number of bytes of the keys and values of a write. shard.Fill.Part computes from it
// how full a shard is.
func writtenBytes(key []byte, b *analysis.BoundWrite) int64 {
	n := len(key)
	for _, row := range b.Rows.All() {
		for _, v := range row {
			n += len(v)
		}
	}
	for i := range b.Mutations {
		n += len(b.Mutations[i].Value)
	}
	return int64(n)
}

// firstLook is the fullness at which a door first looks at a shard.
const firstLook = 0.125

// of returns the fill of a key. If there is none, it makes one. name is the table's id and then the key.
func (p *fillsPart) of(table [16]byte, name []byte, now int64) *fill {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.young[string(name)]; f != nil {
		return f
	}
	f := p.old[string(name)]
	if f == nil {
		f = &fill{table: table, key: string(name[len(table):]), since: now}
	}
	if len(p.young) >= fillsEach {
		p.old, p.young = p.young, nil
	}
	if p.young == nil {
		p.young = map[string]*fill{}
	}
	p.young[string(name)] = f
	return f
}

// All returns the fills. The caller must make sure that no write is in flight.
func (a *Fills) All() (out []*fill) {
	for i := range a.parts {
		p := &a.parts[i]
		p.mu.Lock()
		seen := map[*fill]bool{}
		for _, half := range []map[string]*fill{p.young, p.old} {
			for _, f := range half {
				if !seen[f] {
					seen[f] = true
					out = append(out, f)
				}
			}
		}
		p.mu.Unlock()
	}
	return out
}

// Tally is a write to the current shard of a key. The door counts the write when the store has carried it out.
// Before that, the door does not know whether the client has the right to write.
type Tally struct {
	table *plan.Table
	key   []byte
	shard int
	size  int64 // bytes
	now   int64 // microseconds
}

// Count counts a write that the store has carried out. If the door must now look at the key's shard, Count wakes
// Run.
func (o *Rollovers) Count(t *Tally) {
	f := o.Fills.count(t)
	if f == nil {
		return
	}
	o.mu.Lock()
	o.due = append(o.due, f)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Counting is the premise of a write to one shard. It counts the write when the store has carried the write out.
type Counting struct {
	*request.Statement
	Tally     *Tally
	Rollovers *Rollovers
}

// Holds implements cqldoor.Premise. The door calls it only if the store has answered with a result.
func (c *Counting) Holds(at *wire.Arrival) bool {
	c.Rollovers.Count(c.Tally)
	return c.Statement.Holds(at)
}

// tableOf returns the table of strategy rollover in the present State whose physical table has the given id. It
// returns nil if there is none. changing reports whether the table's layout is being changed.
func (o *Rollovers) tableOf(id [16]byte) (t *plan.Table, changing bool) {
	for _, all := range o.x.State.Load().Tables {
		for _, t := range all {
			for of := range tables.RollingOf(t) {
				if of.PhysicalID() == id {
					return of, t.Change != nil
				}
			}
		}
	}
	return nil, false
}

// Leave shares this door's counts before the door stops. It writes them to the directory, where the remaining
// doors read them. It leaves out a count if the part that is not shared yet is less than worthSharing.
func (o *Rollovers) Leave() {
	ctx, cancel := context.WithTimeout(context.Background(), tables.LeaveLimit)
	defer cancel()
	for _, f := range o.Fills.All() {
		own := f.fill.Part(f.rows, f.bytes)
		if own-f.shared < worthSharing {
			continue
		}
		if err := o.Catalogue.Share(ctx, f.table, []byte(f.key), f.shard, f.rows, f.bytes); err != nil {
			o.x.Opts.Log.Warn("this door cannot share its counts with other doors; shards can become fuller than they should", "error", err)
			return
		}
	}
}

// worthSharing is the least part of a shard that a stopping door shares.
const worthSharing = 0.1
