// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// committer makes writes durable in groups. A sender adds its write to the open batch and goes
// on. One goroutine commits the writes that have come together while it was committing the group
// before, and answers them all.
type committer struct {
	db      *storage.DB
	mu      sync.Mutex
	full    []group // to be committed before the open one, the oldest first
	open    group
	spare   group // memory of the last group, for the next one
	waiting *sync.Cond
	stop    bool
	stopped chan struct{}
}

// group holds writes that are committed together.
type group struct {
	batch   *storage.Batch
	senders []sender
	done    []chan<- error // for callers of drain
}

type sender struct {
	to     store.Receiver
	tag    uint32
	memory budget.Account // of what it has written, until that is durable
}

// fullGroup is the size in bytes at which no more writes are added to a group. A longer batch is
// copied often while it grows, and Pebble keeps it in memory until it is flushed.
const fullGroup = 4 << 20

func newCommitter(db *storage.DB) *committer {
	c := &committer{db: db, stopped: make(chan struct{})}
	c.waiting = sync.NewCond(&c.mu)
	c.open.batch, c.spare.batch = db.NewBatch(), db.NewBatch()
	go c.run()
	return c
}

// filler puts the mutations of a write into a batch. It takes a short time.
type filler interface{ fill(*storage.Batch) }

// add adds a call's write to the open group. The sender is answered, and the call's memory returned,
// when the group is durable.
func (c *committer) add(of *call, f filler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open.batch.Size() >= fullGroup {
		c.full = append(c.full, c.open)
		c.open = group{batch: c.db.NewBatch()}
	}
	f.fill(c.open.batch)
	c.open.senders = append(c.open.senders, sender{of.to, of.tag, of.memory})
	of.memory = budget.Account{}
	if len(c.open.senders) == 1 {
		c.waiting.Signal()
	}
}

// drain waits until everything that was added is durable.
func (c *committer) drain() error {
	done := make(chan error, 1)
	c.mu.Lock()
	c.open.done = append(c.open.done, done)
	c.waiting.Signal()
	c.mu.Unlock()
	return <-done
}

// close commits the rest and ends.
func (c *committer) close() {
	c.mu.Lock()
	c.stop = true
	c.waiting.Signal()
	c.mu.Unlock()
	<-c.stopped
}

func (g *group) empty() bool { return len(g.senders) == 0 && len(g.done) == 0 }

func (c *committer) run() {
	defer close(c.stopped)
	c.mu.Lock()
	for {
		for c.open.empty() && !c.stop {
			c.waiting.Wait()
		}
		if c.open.empty() {
			break
		}
		g, last := c.open, len(c.full) == 0
		if last {
			c.open = c.spare
		} else {
			g = c.full[0]
			c.full = slices.Delete(c.full, 0, 1)
		}
		c.mu.Unlock()
		g.commit()
		c.mu.Lock()
		if last {
			c.spare = g
		} else {
			g.batch.Release()
		}
	}
	c.mu.Unlock()
	c.open.batch.Release()
	c.spare.batch.Release()
}

// commit commits the group, answers its senders, and empties it.
func (g *group) commit() {
	var err error
	if !g.batch.Empty() {
		err = g.batch.Commit()
	}
	for i := range g.senders {
		g.senders[i].memory.Close()
	}
	for _, done := range g.done {
		done <- err
	}
	resp := wire.Message{Op: wire.OpResult, Body: voidBody}
	if err != nil {
		resp = errorMessage(storageError(err), wire.V4) // the same in every version
	}
	for _, s := range g.senders {
		s.to.Receive(s.tag, resp)
	}
	var flushed []store.Receiver
	for _, s := range g.senders {
		if len(flushed) == 0 || flushed[len(flushed)-1] != s.to && !slices.Contains(flushed, s.to) {
			s.to.Flush()
			flushed = append(flushed, s.to)
		}
	}
	clear(g.senders)
	g.senders, g.done = g.senders[:0], g.done[:0]
}

var voidBody = wire.AppendVoid(nil)
