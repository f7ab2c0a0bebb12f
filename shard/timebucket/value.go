// SPDX-License-Identifier: Apache-2.0

package timebucket

import (
	"encoding/binary"
	"math"
	"strconv"
)

// Kind says how a value that contains a time is serialized.
type Kind uint8

// These are the kinds. The texts and numbers are those of DynamoDB: a text's UTF-8, and a number's
// decimal digits.
const (
	Date         Kind = iota + 1 // days, 1970-01-01 being 2^31
	Timestamp                    // milliseconds since 1970
	Timeuuid                     // a version 1 UUID
	DateTime                     // a text that begins like 2020-07-10T13:37:01Z or 2020-07-10T13:37:01.5+00:00
	DateText                     // a DateTime, or a text that begins with a date alone; for buckets of whole days
	Seconds                      // the number of seconds since 1970
	Milliseconds                 // the number of milliseconds since 1970
)

// Instant returns the time in a value, in milliseconds since 1970. If the value is not a time, it
// returns false, and a time that keeps the order of the type.
func (k Kind) Instant(v []byte) (int64, bool) {
	switch {
	case k == Date && len(v) == 4:
		return (int64(binary.BigEndian.Uint32(v)) - 1<<31) * int64(Day), true
	case k == Timestamp && len(v) == 8:
		return int64(binary.BigEndian.Uint64(v)), true
	case k == Timeuuid && len(v) == 16:
		// The time has 60 bits, in units of 100 ns since 1582-10-15.
		ticks := int64(binary.BigEndian.Uint16(v[6:])&0x0fff)<<48 | int64(binary.BigEndian.Uint16(v[4:]))<<32 | int64(binary.BigEndian.Uint32(v))
		ticks -= gregorian
		ms := ticks / 10_000
		if ticks%10_000 < 0 {
			ms--
		}
		return ms, true
	case k == DateTime || k == DateText:
		return textTime(v, k == DateText)
	case k == Seconds:
		return numberTime(v, int64(Second))
	case k == Milliseconds:
		return numberTime(v, 1)
	}
	return math.MinInt64, false // malformed values come first in the order of their type
}

// OfValue returns the bucket of a value. A value without a time is in the bucket in which it would
// be by the order of its type.
func (g Grid) OfValue(k Kind, v []byte) int64 {
	ms, _ := k.Instant(v)
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

// Least returns the least value that is in a bucket or in a later one, in the order of the type: a text's
// UTF-8, or a number's digits. All lesser values are in earlier buckets, also those that tell no time. k is
// one of DynamoDB's kinds, and the bucket is one of the years 0000 to 9999. The result is empty if there
// are no lesser values.
func (g Grid) Least(k Kind, bucket int64) []byte {
	switch k {
	case Seconds:
		return strconv.AppendInt(nil, g.Start(bucket)/int64(Second), 10)
	case Milliseconds:
		return strconv.AppendInt(nil, g.Start(bucket), 10)
	}
	return g.leastText(k, bucket)
}

// First returns the least serialized value, in the order of the type, whose time is an instant in
// milliseconds since 1970. If no value of the type has this instant, First uses the nearest instant
// of a value. For a Date, the instant must be the beginning of a day.
func (k Kind) First(ms int64) []byte {
	switch k {
	case Date:
		days := min(max(ms/int64(Day), -1<<31), 1<<31-1)
		return binary.BigEndian.AppendUint32(nil, uint32(days+1<<31))
	case Timestamp:
		return binary.BigEndian.AppendUint64(nil, uint64(ms))
	}
	const most = 1<<60 - 1
	ticks := min(max(ms, -gregorian/10_000), (most-gregorian)/10_000)*10_000 + gregorian
	v := binary.BigEndian.AppendUint32(nil, uint32(ticks))
	v = binary.BigEndian.AppendUint16(v, uint16(ticks>>32))
	v = binary.BigEndian.AppendUint16(v, uint16(ticks>>48)|0x1000) // version 1
	// Cassandra compares the other bytes as signed ones.
	return append(v, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80)
}

// gregorian is the number of units of 100 ns from 1582-10-15, where the time of a UUID begins, to 1970.
const gregorian = 0x01b21dd213814000
