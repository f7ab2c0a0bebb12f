// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/observe"
)

// The waits between attempts: up to the first, then up to twice as long each time.
const (
	firstWait   = 20 * time.Millisecond
	longestWait = 500 * time.Millisecond
)

// Retried fetches, and again while the store throttles that, until a time. The
// client could only repeat the whole request, and would have what the other shards
// gave read again. A throttled fetch has read nothing.
func Retried(ctx context.Context, until time.Time, fetch func() error) error {
	for most := firstWait; ; most = min(2*most, longestWait) {
		err := fetch()
		if err == nil || !Throttled(err) {
			return err
		}
		wait := most/2 + rand.N(most/2) // apart from others that were refused with it
		if time.Now().Add(wait).After(until) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		}
		if u := observe.Of(ctx); u != nil {
			u.Fan.Retries.Add(1)
		}
	}
}

// Throttled tells whether an error is that of a limit which may be over soon.
func Throttled(err error) bool {
	var e *exception.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case exception.ProvisionedThroughputExceeded, exception.Throttling, exception.RequestLimitExceeded:
		return true
	}
	return false
}
