// SPDX-License-Identifier: Apache-2.0

package throughput

import (
	"testing"
	"time"
)

// The defaults are the figures of AWS's documentation.
func TestDefaultsAreAWSs(t *testing.T) {
	want := Limits{
		Partition: Rate{Read: 3000, Write: 1000}, Fresh: Rate{Read: 12_000, Write: 4_000}, Account: Rate{Read: 40_000, Write: 40_000},
		Burst: 300 * time.Second, SplitAfter: 10 * time.Minute, PartitionBytes: 10 << 30, CollectionBytes: 10 << 30,
	}
	if got := (Limits{}).WithDefaults(); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
}
