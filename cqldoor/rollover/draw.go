// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// Draw returns the shard for a write that only adds, and the tally with which the door counts the write. stamp is
// the timestamp of the write, and now is the present time, both in microseconds. If the write goes to an earlier
// shard than the current one, Draw returns no tally.
func (o *Rollovers) Draw(t *plan.Table, key []byte, b *analysis.BoundWrite, stamp, now int64) (int, *Tally) {
	if !rule.On(rule.OpenedBeforeWritten) {
		return t.Layout.Rolled.Shards(key), nil
	}
	n := t.Layout.Rolled.Current(key, min(stamp, now))
	if n != t.Layout.Rolled.Current(key, now) {
		return n, nil // stamp is before the opening of the current shard
	}
	return n, &Tally{t, key, n, writtenBytes(key, b), now}
}
