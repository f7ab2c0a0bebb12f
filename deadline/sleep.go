// SPDX-License-Identifier: Apache-2.0

package deadline

import (
	"context"
	"time"
)

// Sleep waits for a time. It returns the error of ctx if ctx is done before.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
