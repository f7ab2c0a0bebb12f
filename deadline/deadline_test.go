// SPDX-License-Identifier: Apache-2.0

package deadline_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/deadline"
)

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		ctx, stop := deadline.With(t.Context(), 5*time.Second, func() { told.Add(1) })
		for range 3 {
			time.Sleep(4 * time.Second)
			deadline.Progress(ctx)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if ctx.Err() != nil || told.Load() != 0 {
			t.Fatalf("it has passed in spite of progress: %v, %d", ctx.Err(), told.Load())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !deadline.Passed(ctx) || told.Load() != 1 {
			t.Fatalf("it has not passed: %v, %d", ctx.Err(), told.Load())
		}
		deadline.Progress(ctx)
		time.Sleep(time.Minute)
		synctest.Wait()
		if told.Load() != 1 {
			t.Errorf("it has passed %d times", told.Load())
		}
		stop()
	})
}

func TestDeadlineThatDoesNotPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, leave := context.WithCancel(t.Context())
		var told atomic.Int32
		a, stopA := deadline.With(parent, time.Second, func() { told.Add(1) })
		b, stopB := deadline.With(parent, time.Second, func() { told.Add(1) })
		none, stopNone := deadline.With(parent, 0, func() { told.Add(1) })
		stopA()
		leave()
		time.Sleep(time.Minute)
		synctest.Wait()
		for name, ctx := range map[string]context.Context{"stopped": a, "none": none} {
			if deadline.Passed(ctx) {
				t.Errorf("%s: it has passed", name)
			}
		}
		if deadline.Passed(b) {
			t.Error("a client that has gone is taken for a deadline that has passed")
		}
		stopB()
		stopNone()
	})
}
