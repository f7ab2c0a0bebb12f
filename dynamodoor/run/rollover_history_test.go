// SPDX-License-Identifier: Apache-2.0

package run

import "testing"

// TestRolloverAcrossChanges is TestBucketsAcrossChanges for tables of strategy rollover, which get buckets of
// time or shards by a hash, or become plain ones. Keys get shards before the change, and after one that was
// taken back.
func TestRolloverAcrossChanges(t *testing.T) {
	acrossChanges(t, "strategy=rollover rows=10", "looking", "stubbing", "moving", "closing", "settled", "cleaning", "reads")
}
