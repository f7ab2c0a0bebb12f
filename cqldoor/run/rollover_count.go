// SPDX-License-Identifier: Apache-2.0

package run

import (
	"hash/maphash"
	"sync"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// fill counts the rows and bytes that this door has written to the current shard of one key.
type fill struct {
	table [16]byte
	key   string // serialized partition key
	fill  shard.Fill

	mu          sync.Mutex
	shard       int
	rows, bytes int64
	next        float64 // the fullness at which the door looks at the shard again
	shared      float64 // the fullness that the directory has
	ready       int64   // microseconds: since when the door would announce the next shard; 0: it would not
	since       int64   // microseconds: the door measures the rate of writes from then on
	before      float64 // the fullness at that time
	said        sum     // from the last read of the directory
}

// sum is how much other doors have written to a shard of a key.
type sum struct {
	shard, doors int
	rows, bytes  int64
}

// fullness returns which part of a shard is written; 1: the shard is full.
func fullness(full shard.Fill, rows, bytes int64) float64 {
	var out float64
	if full.Rows > 0 {
		out = float64(rows) / float64(full.Rows)
	}
	if full.Bytes > 0 {
		out = max(out, float64(bytes)/float64(full.Bytes))
	}
	return out
}

// fills are the fills of the keys that were written lately. Their number is bounded: a door
// forgets the keys that were not written for longest.
type fills struct {
	parts [16]fillsPart // by hash of the key, so that connections seldom wait for each other
}

type fillsPart struct {
	mu         sync.Mutex
	young, old map[string]*fill
}

// fillsEach is the largest number of keys in each half of a part.
const fillsEach = 2000

var fillSeed = maphash.MakeSeed()

// count counts a write to a shard of a key. It returns the key's fill if it has reached its mark.
func (a *fills) count(w *tally) *fill {
	var room [128]byte
	name := append(append(room[:0], w.table.ID[:]...), w.key...)
	f := a.parts[maphash.Bytes(fillSeed, name)%uint64(len(a.parts))].of(w.table, name, w.now)
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.shard < f.shard {
		return nil // the store has answered late
	}
	if w.shard > f.shard {
		f.shard, f.rows, f.bytes, f.shared, f.before, f.ready, f.since, f.next = w.shard, 0, 0, 0, 0, 0, w.now, firstLook
	}
	f.rows++
	f.bytes += w.size
	if fullness(f.fill, f.rows, f.bytes) < f.next {
		return nil
	}
	f.next = 1e18 // until the door has looked
	return f
}

// firstLook is the fullness at which a door first looks at a shard.
const firstLook = 0.125

// of returns the fill of a key.
func (p *fillsPart) of(t *plan.Table, name []byte, now int64) *fill {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.young[string(name)]; f != nil {
		return f
	}
	f := p.old[string(name)]
	if f == nil {
		f = &fill{table: t.ID, key: string(name[len(t.ID):]), fill: t.Layout.Fill, since: now}
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

// all returns the fills. No write may be under way.
func (a *fills) all() (out []*fill) {
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
