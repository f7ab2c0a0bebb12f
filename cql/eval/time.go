// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
)

const (
	millisPerDay  = 24 * 60 * 60 * 1000
	nanosPerMilli = 1000000
	nanosPerDay   = millisPerDay * nanosPerMilli

	// uuidEpoch is the start of the Gregorian calendar in milliseconds since 1970. Time-based UUIDs
	// count from it.
	uuidEpoch = -12219292800000
)

// toMillis converts a value to milliseconds since 1970.
func toMillis(k value.Kind, v []byte) (int64, bool) {
	switch {
	case k == value.Timestamp && len(v) == 8:
		return int64(binary.BigEndian.Uint64(v)), true
	case k == value.Date && len(v) == 4:
		return (int64(binary.BigEndian.Uint32(v)) - 1<<31) * millisPerDay, true
	case k == value.Timeuuid && len(v) == 16:
		return uuidTicks(v)/10000 + uuidEpoch, true
	case k == value.Time && len(v) == 8:
		return int64(binary.BigEndian.Uint64(v)), true
	}
	return 0, false
}

// fromMillis converts milliseconds since 1970 to a timestamp or date.
func fromMillis(k value.Kind, ms int64) ([]byte, error) {
	if k == value.Date {
		day := ms / millisPerDay // rounds towards 1970, as Cassandra does
		return binary.BigEndian.AppendUint32(nil, uint32(int32(day))+1<<31), nil
	}
	return encodeBigint(ms), nil
}

// uuidTicks returns the time of a time-based UUID in 100-nanosecond intervals since uuidEpoch.
func uuidTicks(v []byte) int64 {
	return int64(binary.BigEndian.Uint32(v)) | int64(binary.BigEndian.Uint16(v[4:]))<<32 |
		int64(binary.BigEndian.Uint16(v[6:])&0x0fff)<<48
}

// AppendTimeuuid appends a time-based UUID. ticks are 100-nanosecond intervals since the start of
// the Gregorian calendar; node holds the clock sequence and the node.
func AppendTimeuuid(dst []byte, ticks int64, node uint64) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(ticks))
	dst = binary.BigEndian.AppendUint16(dst, uint16(ticks>>32))
	dst = binary.BigEndian.AppendUint16(dst, uint16(ticks>>48)&0x0fff|0x1000)
	return binary.BigEndian.AppendUint64(dst, node)
}

// TimeuuidTicks returns the time of a time-based UUID in 100-nanosecond intervals since the start
// of the Gregorian calendar.
func TimeuuidTicks(uuid [16]byte) int64 { return uuidTicks(uuid[:]) }

func addTimes(add func(*Function)) {
	now := func(returns value.Kind, call func(env *Env) []byte, names ...string) {
		for _, n := range names {
			f := function(n, returns)
			f.Pure = false
			f.call = func(env *Env, _ [][]byte) ([]byte, error) { return call(env), nil }
			add(f)
		}
	}
	uuid := func(env *Env) []byte {
		if env.Timeuuid == nil {
			return AppendTimeuuid(nil, env.Now*10-uuidEpoch*10000, 0x8080808080808080)
		}
		u := env.Timeuuid()
		return u[:]
	}
	now(value.Timeuuid, uuid, "now", "current_timeuuid", "currenttimeuuid")
	now(value.Timestamp, func(env *Env) []byte { return encodeBigint(floorDiv(env.Now, 1000)) },
		"current_timestamp", "currenttimestamp")
	now(value.Date, func(env *Env) []byte {
		v, _ := fromMillis(value.Date, floorDiv(env.Now, 1000))
		return v
	}, "current_date", "currentdate")
	now(value.Time, func(env *Env) []byte {
		return encodeBigint((env.Now - floorDiv(env.Now, millisPerDay*1000)*millisPerDay*1000) * 1000)
	}, "current_time", "currenttime")
	now(value.UUID, func(env *Env) []byte {
		if env.UUID == nil {
			return make([]byte, 16)
		}
		u := env.UUID()
		return u[:]
	}, "uuid")

	convert := func(returns, arg value.Kind, call func(ms int64) ([]byte, error), names ...string) {
		for _, n := range names {
			f := function(n, returns, arg)
			f.call = func(_ *Env, args [][]byte) ([]byte, error) {
				ms, ok := toMillis(arg, args[0])
				if !ok {
					return nil, nil
				}
				return call(ms)
			}
			add(f)
		}
	}
	ends := func(name, legacy string, ticks int64, node uint64) {
		convert(value.Timeuuid, value.Timestamp, func(ms int64) ([]byte, error) {
			return AppendTimeuuid(nil, (ms-uuidEpoch)*10000+ticks, node), nil
		}, name, legacy)
	}
	ends("min_timeuuid", "mintimeuuid", 0, 0x8080808080808080)
	ends("max_timeuuid", "maxtimeuuid", 9999, 0x7f7f7f7f7f7f7f7f)
	to := func(k value.Kind) func(ms int64) ([]byte, error) {
		return func(ms int64) ([]byte, error) { return fromMillis(k, ms) }
	}
	convert(value.Date, value.Timeuuid, to(value.Date), "to_date", "todate")
	convert(value.Date, value.Timestamp, to(value.Date), "to_date", "todate")
	convert(value.Timestamp, value.Timeuuid, to(value.Timestamp), "to_timestamp", "totimestamp")
	convert(value.Timestamp, value.Date, to(value.Timestamp), "to_timestamp", "totimestamp")
	for _, k := range []value.Kind{value.Timeuuid, value.Timestamp, value.Date} {
		convert(value.Bigint, k, to(value.Bigint), "to_unix_timestamp", "tounixtimestamp")
	}
	addFloors(add)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// temporal makes the function that adds a duration to a timestamp or date, or subtracts it.
func temporal(o operator, k value.Kind, sign int64) *Function {
	f := function(o.name, k, k, value.Duration)
	f.call = func(_ *Env, args [][]byte) ([]byte, error) {
		ms, ok := toMillis(k, args[0])
		if !ok || args[1] == nil {
			return nil, nil
		}
		d, ok := value.SpanOf(args[1])
		if !ok {
			return nil, nil
		}
		switch {
		case k == value.Timestamp && d.Nanos%nanosPerMilli != 0:
			return nil, operationFailed(f, o.symbol, "The duration must have a millisecond precision. Was: "+d.String())
		case k == value.Date && d.Nanos != 0:
			return nil, operationFailed(f, o.symbol, "The duration must have a day precision. Was: "+d.String())
		}
		return fromMillis(k, addMonths(ms, sign*int64(d.Months))+
			sign*(int64(d.Days)*millisPerDay+d.Nanos/nanosPerMilli))
	}
	return f
}

// addMonths adds months to a time. If the resulting month has no such day, it takes the month's
// last day.
func addMonths(ms, months int64) int64 {
	if months == 0 || ms > math.MaxInt64/2 || ms < math.MinInt64/2 {
		return ms
	}
	t := time.UnixMilli(ms).UTC()
	y, m, d := t.Date()
	first := time.Date(y, m+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	day := first.AddDate(0, 0, min(d, last)-1)
	return day.UnixMilli() + (ms - time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMilli())
}

// addFloors adds the overloads of floor(time, duration[, start]).
func addFloors(add func(*Function)) {
	floor := func(returns, arg, start value.Kind) {
		for _, withStart := range []bool{false, true} {
			f := function("floor", returns, arg, value.Duration)
			if withStart {
				f.Args = append(f.Args, value.Native(start))
			}
			f.call = func(_ *Env, args [][]byte) ([]byte, error) {
				ms, ok := toMillis(arg, args[0])
				d, ok2 := value.SpanOf(args[1])
				if !ok || !ok2 || args[1] == nil {
					return nil, nil
				}
				var from int64
				if withStart {
					if from, ok = toMillis(start, args[2]); !ok {
						return nil, nil
					}
				}
				switch {
				case arg == value.Date && d.Nanos != 0:
					return nil, invalid("The floor on date values cannot be computed for the %s duration as precision is below 1 day", d)
				case d.Nanos%nanosPerMilli != 0:
					return nil, invalid("The floor cannot be computed for the %s duration as precision is below 1 millisecond", d)
				case from > ms:
					return nil, invalid("The floor function starting time is greater than the provided time")
				case d.Months < 0 || d.Days < 0 || d.Nanos < 0:
					return nil, invalid("Negative durations are not supported by the floor function")
				}
				return fromMillis(returns, floorTime(ms, from, d))
			}
			add(f)
		}
	}
	floor(value.Timestamp, value.Timestamp, value.Timestamp)
	floor(value.Timestamp, value.Timeuuid, value.Timestamp)
	floor(value.Date, value.Date, value.Date)
	f := function("floor", value.Time, value.Time, value.Duration)
	f.call = func(_ *Env, args [][]byte) ([]byte, error) {
		ns, ok := toMillis(value.Time, args[0])
		d, ok2 := value.SpanOf(args[1])
		if !ok || !ok2 || args[1] == nil {
			return nil, nil
		}
		switch {
		case d.Months < 0 || d.Days < 0 || d.Nanos < 0:
			return nil, invalid("Negative durations are not supported by the floor function")
		case d.Months != 0 || d.Days != 0 || d.Nanos > nanosPerDay:
			return nil, invalid("For time values, the floor can only be computed for durations smaller that a day")
		case d.Nanos == 0:
			return args[0], nil
		}
		return encodeBigint(ns - ns%d.Nanos), nil
	}
	add(f)
}

// floorTime returns the last of from, from + d, from + 2d … that is not after ms.
func floorTime(ms, from int64, d value.Span) int64 {
	step := int64(d.Days)*millisPerDay + d.Nanos/nanosPerMilli
	if d.Months == 0 {
		if step == 0 {
			return ms
		}
		return ms - (ms-from)%step
	}
	y, m, _ := time.UnixMilli(ms).UTC().Date()
	y0, m0, _ := time.UnixMilli(from).UTC().Date()
	n := (int64(y-y0)*12 + int64(m-m0)) / int64(d.Months)
	at := addMonths(from, n*int64(d.Months))
	if step == 0 {
		return at
	}
	floor := at + n*step
	for floor > ms {
		n--
		at = addMonths(at, -int64(d.Months))
		floor = at + n*step
	}
	return max(from, floor)
}
