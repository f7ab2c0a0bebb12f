package dynamodoor

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Long bodies and answers are counted: who sends slowly, or does not take what was
// asked for, keeps them in memory, and costs nobody anything but that. Short ones
// are bounded by the connections.

// shortBytes is how long a body or an answer is at most that is not counted.
const shortBytes = 64 << 10

// decoded is how many times a body's bytes count: what it is decoded to takes several
// times as much, of a list of numbers six times.
const decoded = 4

// patience is how long a long body waits for room. SDKs try again after that.
const patience = 10 * time.Second

// memory is what all long bodies and answers may take.
type memory struct {
	free     *semaphore.Weighted
	patience time.Duration
}

// held is what one request has of it.
type held struct {
	of    *semaphore.Weighted
	bytes int64
}

func newMemory(size int64) memory { return memory{semaphore.NewWeighted(size), patience} }

// wait takes room for so many bytes, once there is that much.
func (m memory) wait(ctx context.Context, h *held, bytes int64) error {
	if m.take(h, bytes) == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	if m.free.Acquire(ctx, bytes) != nil {
		return errNoRoom
	}
	h.of, h.bytes = m.free, h.bytes+bytes
	return nil
}

// take takes room for so many bytes if there is that much now: they are in memory
// already.
func (m memory) take(h *held, bytes int64) error {
	if !m.free.TryAcquire(bytes) {
		return errNoRoom
	}
	h.of, h.bytes = m.free, h.bytes+bytes
	return nil
}

// release gives all of it back.
func (h *held) release() {
	if h.bytes > 0 {
		h.of.Release(h.bytes)
		h.bytes = 0
	}
}

var errNoRoom = exception.New(exception.ServiceUnavailable, "too many long requests and answers are under way; try again in a moment")

// readsOnly are the operations that have changed nothing when their answer turns out
// to be too long for now: they can be asked again. Other operations' answers are not
// long, or say what was left undone.
var readsOnly = map[string]bool{"GetItem": true, "BatchGetItem": true, "TransactGetItems": true, "Query": true, "Scan": true, "GetRecords": true}
