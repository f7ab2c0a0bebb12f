// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// With Options.IndexLag, a read of a global index returns its state of some time ago, as DynamoDB
// may do. So code that relies on reading its own writes from an index fails here, and not first in
// production. The store takes a view of all data every half of that time, and a read uses the
// newest view that is old enough. Views only delay the removal of overwritten data.

// view is the state of the store at one moment. It is closed when the store no longer keeps it and
// no request reads it.
type view struct {
	at       time.Time
	snapshot *pebble.Snapshot
	users    int // number of readers, plus one while it is kept
}

// lag holds the views of a store.
type lag struct {
	by    time.Duration
	clock func() time.Time

	mu    sync.Mutex
	views []*view // oldest first; the first one is old enough, unless none is
	errs  []error // of closing
}

// take takes a view and drops those that no read will use.
func (l *lag) take(db *pebble.DB) {
	// The snapshot is taken first. If the view's time were earlier than its data, it would seem
	// old enough too soon.
	snapshot := db.NewSnapshot()
	v := &view{at: l.clock(), snapshot: snapshot, users: 1}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.views = append(l.views, v)
	for len(l.views) > 1 && v.at.Sub(l.views[1].at) >= l.by {
		l.drop(l.views[0])
		l.views = l.views[1:]
	}
}

// use returns the newest view that is old enough, or the oldest one. The caller must release it.
func (l *lag) use() *view {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	v := l.views[0]
	for _, next := range l.views[1:] {
		if now.Sub(next.at) < l.by {
			break
		}
		v = next
	}
	v.users++
	return v
}

func (l *lag) release(v *view) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(v)
}

// drop removes one user. The caller holds the lock.
func (l *lag) drop(v *view) {
	if v.users--; v.users == 0 {
		if err := v.snapshot.Close(); err != nil {
			l.errs = append(l.errs, err)
		}
	}
}

func (l *lag) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.views {
		l.drop(v)
	}
	l.views = nil
	return errors.Join(l.errs...)
}

// run takes views until ctx ends.
func (l *lag) run(ctx context.Context, db *pebble.DB) {
	tick := time.NewTicker(l.by / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.take(db)
		}
	}
}
