// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"fmt"
	"math"
	"strings"
)

// Request is the load of one hot partition key.
type Request struct {
	Store           Store
	WritesPerSecond float64 // at the peak
	ReadsPerSecond  float64 // reads of one item each, at the peak; 0: there are no reads
	StrongReads     bool    // DynamoDB's ConsistentRead, Keyspaces' LOCAL_QUORUM
	ItemBytes       int     // the size that the store bills: names, values and metadata
	KeyBytes        int     // of the partition key's value; 0: unknown
}

// Invalid is the error for a Request that cannot be answered, with the field, and the way out if
// there is one.
type Invalid struct {
	Field  string // of Request
	Reason string
	Hint   string
}

func (e *Invalid) Error() string { return strings.ToLower(e.Field[:1]) + e.Field[1:] + ": " + e.Reason }

// Rates beyond these are typing errors.
const (
	minRate = 1e-6
	maxRate = 1e9
)

func (r *Request) validate() error {
	l, known := stores[r.Store]
	if !known {
		return &Invalid{"Store", fmt.Sprintf("%q is not known", r.Store), "dynamodb or keyspaces"}
	}
	rate := func(field string, v float64, zero bool) error {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return &Invalid{field, fmt.Sprintf("%v is no rate", v), ""}
		case v < 0:
			return &Invalid{field, fmt.Sprintf("%v is negative", v), ""}
		case v == 0 && !zero:
			return &Invalid{field, "0 writes need no shards", "give the rate at the busiest second; a key that is only read wants a cache, not shards"}
		case v > 0 && v < minRate:
			return &Invalid{field, fmt.Sprintf("%v is less than one in a million seconds", v), ""}
		case v > maxRate:
			return &Invalid{field, fmt.Sprintf("%v a second is more than a thousand million", v), "is it the rate of one partition key?"}
		}
		return nil
	}
	if err := rate("WritesPerSecond", r.WritesPerSecond, false); err != nil {
		return err
	}
	if err := rate("ReadsPerSecond", r.ReadsPerSecond, true); err != nil {
		return err
	}
	switch {
	case r.ItemBytes < 1:
		return &Invalid{"ItemBytes", fmt.Sprintf("%d bytes are no %s", r.ItemBytes, l.item), "give what the store bills: names, values and metadata of one " + l.item}
	case r.ItemBytes > l.maxItem:
		return &Invalid{"ItemBytes", fmt.Sprintf("%d bytes are too many for %s: %s", r.ItemBytes, l.name, l.maxWhy), "large values belong in object storage, with a pointer in the " + l.item}
	case units(r.ItemBytes, writeUnitBytes) > PartitionWriteUnits:
		return &Invalid{"ItemBytes", fmt.Sprintf("one write of %d bytes takes %d write units, more than a partition has in a second (%d)", r.ItemBytes, units(r.ItemBytes, writeUnitBytes), PartitionWriteUnits), "part the " + l.item + " in several"}
	case r.KeyBytes < 0 || r.KeyBytes > l.maxKey:
		return &Invalid{"KeyBytes", fmt.Sprintf("%d bytes are no partition key: it has 1 to %d", r.KeyBytes, l.maxKey), ""}
	case r.KeyBytes > r.ItemBytes:
		return &Invalid{"KeyBytes", fmt.Sprintf("the key has %d bytes, the whole %s only %d", r.KeyBytes, l.item, r.ItemBytes), ""}
	}
	return nil
}

// units returns ceil(bytes / unit).
func units(bytes, unit int) int { return (bytes + unit - 1) / unit }
