package profile

import "time"

var granularities = [...]string{Whole: "", Second: "second", Minute: "minute", Hour: "hour", Day: "day", Month: "month", Year: "year"}

// String is the unit's name, "" for Whole.
func (g Granularity) String() string { return granularities[g] }

const (
	second = int64(1000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// Start is the beginning of the period that a time, in ms since 1970, is in; UTC.
func (g Granularity) Start(ms int64) int64 {
	switch g {
	case Second:
		return ms - floorMod(ms, second)
	case Minute:
		return ms - floorMod(ms, minute)
	case Hour:
		return ms - floorMod(ms, hour)
	case Day:
		return ms - floorMod(ms, day)
	case Month:
		t := time.UnixMilli(ms).UTC()
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	case Year:
		return time.Date(time.UnixMilli(ms).UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	}
	return ms
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}
