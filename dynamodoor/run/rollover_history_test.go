// SPDX-License-Identifier: Apache-2.0

package run

import "testing"

// TestRolloverAcrossChanges is TestBucketsAcrossChanges for tables that also get and leave strategy rollover.
// Keys get shards before a change, after it, and after one that was taken back.
func TestRolloverAcrossChanges(t *testing.T) {
	acrossChanges(t, true, "from rollover, looking", "from rollover, moving", "from rollover, settled", "to rollover, preparing", "to rollover, looking",
		"to rollover, stubbing", "to rollover, moving", "to rollover, closing", "to rollover, settled", "to rollover, cleaning", "to rollover, dropping", "reads")
}
