// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// StoreClock gives the time with which this door stamps writes and deletions. The store stamps the writes
// before and after a change of layout, and the doors stamp the writes during it. Suppose that a door used its
// own clock. If that clock were minutes behind, a write during the change would get an older timestamp than
// the row that it replaces. If the clock were minutes ahead, the same would happen to a write after the change.
// So StoreClock follows the store's clock. The store gives its time only to the millisecond, and some time
// after the door asked. So StoreClock corrects the door's clock only as far as the store's answers
// contradict it.
type StoreClock struct {
	now   func() time.Time
	Ahead atomic.Int64 // how far the store's clock is ahead of the door's, in nanoseconds
}

// Now returns the store's time.
func (c *StoreClock) Now() time.Time { return c.now().Add(time.Duration(c.Ahead.Load())) }

// soon is how long the store may take to tell its time. If it takes longer, the door asks again.
const soon = 100 * time.Millisecond

// measure compares the door's clock with the store's, and corrects Ahead. It leaves Ahead unchanged if the
// store does not support the question.
func (c *StoreClock) measure(ctx context.Context, session catalog.Session) error {
	const tries = 3
	for range tries {
		asked := c.now()
		there, err := StoreTime(ctx, session)
		if refused := (*wire.Error)(nil); errors.As(err, &refused) && (refused.Code == wire.CodeInvalid || refused.Code == wire.CodeSyntax) {
			return nil // the store does not tell its time
		}
		if err != nil {
			return err
		}
		answered := c.now()
		c.set(there.Sub(answered), there.Add(time.Millisecond).Sub(asked))
		if answered.Sub(asked) < soon {
			break
		}
	}
	return nil
}

// set brings Ahead into the range from least to most. By the store's last answer, its clock is so far ahead
// of the door's.
func (c *StoreClock) set(least, most time.Duration) {
	c.Ahead.Store(int64(min(max(time.Duration(c.Ahead.Load()), least), most)))
}

// StoreTime asks the store for its time.
func StoreTime(ctx context.Context, session catalog.Session) (time.Time, error) {
	rows, err := session.Query(ctx, wire.One, "SELECT toUnixTimestamp(now()) AS now FROM system.local")
	if err != nil || len(rows) != 1 || len(rows[0]["now"]) != 8 {
		return time.Time{}, errors.Join(errors.New("ask the store for its time"), err)
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(rows[0]["now"]))), nil
}
