// SPDX-License-Identifier: Apache-2.0

package items

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/registry"
)

// rolls is what the door knows of partition keys of tables of strategy rollover. Its size is
// bounded: the door forgets the keys that were not used for longest.
type rolls struct {
	parts [16]rollsPart // by a hash of the name, so that requests seldom wait for each other
	locks [256]rollLock // by a hash of the name
}

type rollsPart struct {
	mu         sync.Mutex
	young, old map[string]*rolledKey
}

// rollLock is the lock of partition keys. Requests that may create items hold it as readers, if
// there are no other doors; see fill.
type rollLock struct {
	sync.RWMutex
	version atomic.Uint64 // counts the new shards
}

// rolledKey is a partition key.
type rolledKey struct {
	name     string                      // in the directory
	state    atomic.Pointer[rolledState] // nil: not read yet
	frozen   atomic.Pointer[rolledState] // with the mark of a change; nil: not read yet
	thawing  atomic.Pointer[thawing]     // nil: the door has found no mark of a change that is over
	reading  sync.Mutex                  // held while the directory is read
	stepping sync.Mutex                  // held while the last shard's beginning takes a step
}

// rolledState is what the directory has of a partition key. It is immutable.
type rolledState struct {
	plan.Rolled
	last   catalog.Beginning // of the last shard; zero: the key has one shard
	frozen catalog.Beginning // the mark of a change; zero: there is none
	began  time.Time         // when the door began to read it
	since  time.Time         // when the door had read last for the first time
}

// stateOf returns the state of a partition key whose shards begin like this, read between began and now.
func stateOf(all []catalog.Beginning, began, now time.Time) *rolledState {
	s := &rolledState{began: began, since: now}
	for _, b := range all {
		if b.Step == catalog.Frozen {
			s.frozen = b
			continue
		}
		if s.last = b; b.Step >= catalog.Readable {
			s.Bounds = append(s.Bounds, b.From)
		}
		if b.Step < catalog.Open {
			s.Held = b.From
		}
	}
	return s
}

// shards returns how many shards the key has, with one that is announced.
func (s *rolledState) shards() int { return max(1, s.last.Shard) }

// rollsEach is the largest number of keys in each half of a part.
const rollsEach = 2000

var rollsSeed = maphash.MakeSeed()

func (a *rolls) at(name string) int {
	return int(maphash.String(rollsSeed, name) % uint64(len(a.locks)))
}

func (a *rolls) lock(name string) *rollLock { return &a.locks[a.at(name)] }

// key returns a partition key by its name in the directory.
func (a *rolls) key(name string) *rolledKey {
	p := &a.parts[a.at(name)%len(a.parts)]
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.young[name]; k != nil {
		return k
	}
	k := p.old[name]
	if k == nil {
		k = &rolledKey{name: name}
	}
	if len(p.young) >= rollsEach {
		p.old, p.young = p.young, nil
	}
	if p.young == nil {
		p.young = map[string]*rolledKey{}
	}
	p.young[name] = k
	return k
}

// hold locks the partition keys that a request uses, as a reader. It reports whether they have the
// shards with which the request was planned.
func (a *rolls) hold(by *uses) (unlock func(), same bool) {
	names := slices.SortedFunc(maps.Keys(by.rolled), func(x, y string) int { return a.at(x) - a.at(y) })
	var held []*rollLock
	same = true
	for _, name := range names {
		lock := a.lock(name)
		if !slices.Contains(held, lock) { // the order of the locks is the same in all requests
			lock.RLock()
			held = append(held, lock)
		}
		same = same && lock.version.Load() == by.rolled[name].version
	}
	return func() {
		for _, lock := range held {
			lock.RUnlock()
		}
	}, same
}

// rolledFor is how long the door may use what it has read of a partition key; the whole life of the
// door if there are no other doors.
func (r *Runner) rolledFor() time.Duration {
	if !r.Tables.Shared() {
		return 1<<63 - 1
	}
	return r.Tables.Grace() / 3
}

func (r *Runner) age(s *rolledState) time.Duration { return registry.Age(r.Now(), s.began) }
