// SPDX-License-Identifier: Apache-2.0

package livetable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestHint(t *testing.T) {
	err := fmt.Errorf("inspect: %w", Dropped("table Tab"))
	if !errors.Is(err, ErrDropped) || Hint(err) == "" || err.Error() != "inspect: table Tab: the table was dropped meanwhile" {
		t.Errorf("%v (hint %q)", err, Hint(err))
	}
	if hint := Hint(errors.New("another")); hint != "" {
		t.Errorf("got %q", hint)
	}
}

// TestLimiter checks that the rate limits all readers together. Time in which nothing was read is
// not credited.
func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Limiter{Rate: 100}
		begun := time.Now()
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for range 10 {
					if err := l.Wait(t.Context(), 50); err != nil {
						t.Error(err)
					}
				}
			})
		}
		readers.Wait()
		if took := time.Since(begun); took != 20*time.Second {
			t.Errorf("2000 at 100 a second took %v", took)
		}
		time.Sleep(time.Hour)
		begun = time.Now()
		if err := l.Wait(t.Context(), 100); err != nil || time.Since(begun) != time.Second {
			t.Errorf("after a pause: %v, %v", time.Since(begun), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Wait(ctx, 1e6); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := new(Limiter).Wait(t.Context(), 1e9); err != nil {
			t.Error(err)
		}
	})
}
