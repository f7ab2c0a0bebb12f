// SPDX-License-Identifier: Apache-2.0

package schema

import "github.com/evenkeel/evenkeel/dynamo/exception"

// Warm throughput is what a table or index can take at once. It is never less than the
// provisioned throughput, or than the initial throughput on demand, and it never falls.

// fresh is the warm throughput of a new on-demand table.
var fresh = Throughput{Read: 12_000, Write: 4_000}

const freshURL = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"

// leastWarm returns the least warm throughput of a table or index.
func leastWarm(b BillingMode, provisioned Throughput) Throughput {
	if b == PayPerRequest {
		return fresh
	}
	return provisioned
}

// newWarm returns the warm throughput of a new table or index, or AWS's error for the requested
// one. of is its name in messages.
func newWarm(b BillingMode, provisioned Throughput, asked *Throughput, of string) (Throughput, error) {
	least := leastWarm(b, provisioned)
	if err := checkWarm(asked, of); err != nil {
		return least, err
	}
	if member := below(asked, least); member != "" {
		if b == PayPerRequest {
			return least, exception.InvalidParameters("Requested %s for WarmThroughput for %s is lower than initial throughput for OnDemand. See: %s", member, of, freshURL)
		}
		units := "ReadCapacityUnits"
		if member == warmMembers[1] {
			units = "WriteCapacityUnits"
		}
		return least, exception.InvalidParameters("Requested %s for WarmThroughput for %s is lower than %s of ProvisionedThroughput", member, of, units)
	}
	return higher(least, value(asked)), nil
}

// raiseWarm returns the warm throughput after a request to raise it, or AWS's error.
func raiseWarm(warm Throughput, asked *Throughput, of string) (Throughput, error) {
	if err := checkWarm(asked, of); err != nil {
		return warm, err
	}
	if member := below(asked, warm); member != "" {
		return warm, exception.InvalidParameters("Requested %s for WarmThroughput for %s is lower than current WarmThroughput, decreasing WarmThroughput is not supported", member, of)
	}
	return higher(warm, value(asked)), nil
}

// checkWarm returns an error if a requested warm throughput is invalid.
func checkWarm(asked *Throughput, of string) error {
	for i, units := range [2]int64{value(asked).Read, value(asked).Write} {
		if units > MaxUnits {
			return exception.InvalidParameters("Requested %s for WarmThroughput for %s is outside of valid range", warmMembers[i], of)
		}
	}
	return nil
}

var warmMembers = [2]string{"ReadUnitsPerSecond", "WriteUnitsPerSecond"}

// below returns the first member of asked that is less than in least, or "" if there is none.
func below(asked *Throughput, least Throughput) string {
	a := value(asked)
	switch {
	case a.Read != 0 && a.Read < least.Read:
		return warmMembers[0]
	case a.Write != 0 && a.Write < least.Write:
		return warmMembers[1]
	}
	return ""
}

func higher(a, b Throughput) Throughput {
	return Throughput{Read: max(a.Read, b.Read), Write: max(a.Write, b.Write)}
}

// keepWarm adapts the warm throughputs to the provisioned throughput and the billing mode.
func (t *Table) keepWarm() {
	t.Warm = higher(t.Warm, leastWarm(t.Billing, t.Provisioned))
	for i := range t.Global {
		ix := &t.Global[i]
		ix.Warm = higher(ix.Warm, leastWarm(t.Billing, ix.Provisioned))
	}
}
