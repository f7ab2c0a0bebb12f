// SPDX-License-Identifier: Apache-2.0

package deadline_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/deadline"
)

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		ctx, stop := deadline.With(t.Context(), 5*time.Second, func() { told++ })
		for range 3 {
			time.Sleep(4 * time.Second)
			deadline.Progress(ctx)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if ctx.Err() != nil || told != 0 {
			t.Fatalf("it has passed in spite of progress: %v, %d", ctx.Err(), told)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !deadline.Passed(ctx) || told != 1 {
			t.Fatalf("it has not passed: %v, %d", ctx.Err(), told)
		}
		deadline.Progress(ctx)
		time.Sleep(time.Minute)
		synctest.Wait()
		if told != 1 {
			t.Errorf("it has passed %d times", told)
		}
		stop()
	})
}

func TestDeadlineThatDoesNotPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, leave := context.WithCancel(t.Context())
		told := 0
		a, stopA := deadline.With(parent, time.Second, func() { told++ })
		b, stopB := deadline.With(parent, time.Second, func() { told++ })
		none, stopNone := deadline.With(parent, 0, func() { told++ })
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
