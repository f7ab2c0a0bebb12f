// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// format is a way to write times.
type format struct {
	name     string
	write    func(time.Time) string
	fine     time.Duration // finer parts are cut off
	unsorted bool          // the texts are not in the order of time
}

func layout(name, l string, fine time.Duration, unsorted bool) format {
	return format{name, func(t time.Time) string { return t.Format(l) }, fine, unsorted}
}

func epoch(name string, unit time.Duration) format {
	return format{name, func(t time.Time) string { return strconv.FormatInt(t.UnixNano()/int64(unit), 10) }, max(unit, time.Millisecond), false}
}

// formats lists the formats of times. The finest is a millisecond, as in a CQL timestamp.
var formats = []format{
	layout("RFC 3339", "2006-01-02T15:04:05.000Z", time.Millisecond, false),
	layout("RFC 3339, seconds", time.RFC3339, time.Second, false),
	layout("ISO", "2006-01-02 15:04:05.000", time.Millisecond, false),
	layout("ISO, seconds", "2006-01-02 15:04:05", time.Second, false),
	layout("dd.mm.yyyy", "02.01.2006 15:04:05", time.Second, true),
	layout("dd.mm.yyyy, minutes", "02.01.2006 15:04", time.Minute, true),
	layout("dd/mm/yyyy", "02/01/2006 15:04:05", time.Second, true),
	layout("with a zone", "2006-01-02T15:04:05.000-07:00", time.Millisecond, false),
	epoch("epoch s", time.Second),
	epoch("epoch ms", time.Millisecond),
	epoch("epoch µs", time.Microsecond),
	epoch("epoch ns", time.Nanosecond),
}

// dayFormats lists the formats of days.
var dayFormats = []format{
	layout("ISO day", time.DateOnly, 24*time.Hour, false),
	layout("dd.mm.yyyy day", "02.01.2006", 24*time.Hour, true),
	epoch("epoch days", 24*time.Hour),
}

// begins is the time at which the data begin.
var begins = time.Date(2025, 3, 3, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return begins.Add(time.Duration(seconds * float64(time.Second)))
}

// namer returns a writer of entities: names, numbers, or codes with leading zeros.
func namer(r *rand.Rand) (name func(int) string, zeros bool) {
	switch r.IntN(4) {
	case 0:
		prefix := pick(r, "dev-", "K", "t_", "acct:")
		return func(i int) string { return fmt.Sprintf("%s%04d", prefix, (i*7919+13)%9973) }, false
	case 1:
		return func(i int) string { return fmt.Sprintf("%05d", (i*7919+13)%9973) }, true
	case 2:
		return func(i int) string { return strconv.Itoa(10_000 + (i*7919+13)%9973) }, false
	}
	return func(i int) string { return fmt.Sprintf("u%d@example.org", (i*7919+13)%9973) }, false
}

// ider writes ids.
type ider struct {
	name     string
	write    func(r *rand.Rand, i int) string
	bytes    float64 // size in CQL's serialization
	sequence bool
	zeros    bool

	timed func(r *rand.Rand, t time.Time, i int) string // of ids that begin with their time
	fine  time.Duration
}

// timedIDs write ids that begin with their time. Snowflake numbers count from Discord's epoch.
var timedIDs = []ider{
	{name: "ULID", bytes: 26, fine: time.Millisecond, timed: func(r *rand.Rand, t time.Time, i int) string {
		text := make([]byte, 26)
		for k := range text {
			if text[k] = crockford[r.IntN(32)]; k < 10 {
				text[k] = crockford[t.UnixMilli()>>(5*(9-k))&31]
			}
		}
		return string(text)
	}},
	{name: "UUID of version 7", bytes: 16, fine: time.Millisecond, timed: func(r *rand.Rand, t time.Time, i int) string {
		ms := t.UnixMilli()
		return fmt.Sprintf("%08x-%04x-7%03x-b%03x-%012x", ms>>16, ms&0xffff, r.IntN(4096), r.IntN(4096), r.Uint64()>>16)
	}},
	{name: "ObjectId", bytes: 24, fine: time.Second, timed: func(r *rand.Rand, t time.Time, i int) string {
		return fmt.Sprintf("%08x8c17f2a94b%06x", t.Unix(), 0x3a01f0+i)
	}},
	{name: "Snowflake", bytes: 8, fine: time.Millisecond, timed: func(r *rand.Rand, t time.Time, i int) string {
		return strconv.FormatInt((t.UnixMilli()-1_420_070_400_000)<<22|int64(r.IntN(5))<<12|int64(i&0xfff), 10)
	}},
}

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var iders = []ider{
	{"uuid", func(r *rand.Rand, i int) string {
		a, b := r.Uint64(), r.Uint64()
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
	}, 16, false, false, nil, 0},
	{"hex", func(r *rand.Rand, i int) string { return fmt.Sprintf("x%07x%06x", r.Uint32()>>4, i) }, 14, false, false, nil, 0},
	{"sequence", func(r *rand.Rand, i int) string { return strconv.Itoa(100_001 + i) }, 4, true, false, nil, 0},
	{"code with zeros", func(r *rand.Rand, i int) string { return fmt.Sprintf("%010d", (i*104_729+11)%15_485_863) }, 10, false, true, nil, 0},
}
