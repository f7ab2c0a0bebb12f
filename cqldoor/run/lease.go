package run

import (
	"context"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// Where other doors are on the same store, what this one knows of tables is good for a
// lease (package fleet). The poller renews it; where the poller is late, the store is slow
// or the machine was suspended, requests wait until it is renewed.

// renewals are the requests that wait for the lease to be renewed.
type renewals struct {
	wake    chan struct{}
	mu      sync.Mutex
	waiting []chan<- error
}

// lapsed says whether the lease is over: another door may have given a name to another
// table since.
func (x *schemaSide) lapsed() bool { return !x.lease.Holds() }

// renew waits until the door has asked the store whether the schema has changed, after
// this call began, and has read what changed. All that wait are served by one question.
func (x *schemaSide) renew(ctx context.Context) error {
	done := make(chan error, 1)
	x.renewals.mu.Lock()
	x.renewals.waiting = append(x.renewals.waiting, done)
	x.renewals.mu.Unlock()
	select {
	case x.renewals.wake <- struct{}{}:
	default:
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renewForAll serves those that wait. It is the poller's.
func (x *schemaSide) renewForAll(ctx context.Context) {
	x.renewals.mu.Lock()
	waiting := x.renewals.waiting
	x.renewals.waiting = nil
	x.renewals.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	err := x.fresh(within)
	if err != nil {
		x.r.opts.Log.Warn("the store cannot be asked whether tables have changed; statements on sharded tables are refused until it can", "error", err)
		err = errLapsed
	}
	for _, done := range waiting {
		done <- err
	}
}

// errLapsed refuses statements on sharded tables of a door that cannot renew its lease.
var errLapsed = wire.Errorf(wire.CodeOverloaded, "evenkeel: this door cannot ask the store whether another door has changed the table; the request was not executed")

// waitForDoors waits until no other door goes by what was before.
func (x *schemaSide) waitForDoors(ctx context.Context) {
	if x.lease.Length() == 0 {
		return
	}
	t := time.NewTimer(x.lease.Length())
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
