// SPDX-License-Identifier: Apache-2.0

package timebucket

import "encoding/binary"

// Kind says how a value that contains a time is serialized.
type Kind uint8

// These are the kinds.
const (
	Date      Kind = iota + 1 // days, 1970-01-01 being 2^31
	Timestamp                 // milliseconds since 1970
	Timeuuid                  // a version 1 UUID
)

// Instant returns the time in a serialized value, in milliseconds since 1970. It returns false
// for a value that is malformed or has no bytes.
func (k Kind) Instant(v []byte) (int64, bool) {
	switch {
	case k == Date && len(v) == 4:
		return (int64(binary.BigEndian.Uint32(v)) - 1<<31) * int64(Day), true
	case k == Timestamp && len(v) == 8:
		return int64(binary.BigEndian.Uint64(v)), true
	case k == Timeuuid && len(v) == 16:
		// The time has 60 bits, in units of 100 ns since 1582-10-15.
		ticks := int64(binary.BigEndian.Uint16(v[6:])&0x0fff)<<48 | int64(binary.BigEndian.Uint16(v[4:]))<<32 | int64(binary.BigEndian.Uint32(v))
		const gregorian = 0x01b21dd213814000
		ticks -= gregorian
		ms := ticks / 10_000
		if ticks%10_000 < 0 {
			ms--
		}
		return ms, true
	}
	return 0, false
}

// OfValue returns the bucket of a serialized value. A value without a time is in the first
// bucket, as it comes first in the order of its type.
func (g Grid) OfValue(k Kind, v []byte) int64 {
	ms, ok := k.Instant(v)
	if !ok {
		return g.First()
	}
	return g.Of(ms)
}

// Between returns the first and the last bucket that can have values from low to high, both
// included, in the order of the type. nil is no bound.
func (g Grid) Between(k Kind, low, high []byte) (first, last int64) {
	first, last = g.First(), g.Last()
	if low != nil {
		first = g.OfValue(k, low)
	}
	if high != nil {
		last = g.OfValue(k, high)
	}
	return first, last
}
