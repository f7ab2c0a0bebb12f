// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/observe"
)

// These are the waits between attempts. The first is at most firstWait, and each later one at most
// twice the one before.
const (
	firstWait   = 20 * time.Millisecond
	longestWait = 500 * time.Millisecond
)

// Retried calls fetch, and calls it again while the store throttles it, until a time. The client
// could only repeat the whole request, and the other shards would be read again. A throttled fetch
// has read nothing.
func Retried(ctx context.Context, until time.Time, fetch func() error) error {
	for most := firstWait; ; most = min(2*most, longestWait) {
		err := fetch()
		if err == nil || !Throttled(err) {
			return err
		}
		wait := most/2 + rand.N(most/2) // spreads requests that were refused together
		if time.Now().Add(wait).After(until) {
			return err
		}
		if gone := deadline.Sleep(ctx, wait); gone != nil {
			return errors.Join(err, gone)
		}
		if u := observe.Of(ctx); u != nil {
			u.Fan.Retries.Add(1)
		}
	}
}

// Throttled reports whether an error is that of a limit which may be over soon.
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
