// SPDX-License-Identifier: Apache-2.0

package profile

import "time"

// clock summarizes the times of a column, under one reading of them.
type clock struct {
	n        int64
	min, max int64 // ms since 1970
	finest   Granularity
	fine     fineness
	hot      *hot // nil before the first time
}

// fineness is the precision of times below a second.
type fineness uint8

const (
	wholeSeconds fineness = iota
	millis
	micros
	nanos
)

func newClock() *clock { return &clock{finest: Year} }

// add takes a time in ms, and its remainder in ns.
func (c *clock) add(ms int64, beyond int32) {
	if c.n == 0 {
		c.min, c.max, c.hot = ms, ms, newHot()
	} else {
		c.min, c.max = min(c.min, ms), max(c.max, ms)
	}
	c.n++
	for c.finest > Second && c.finest.Start(ms) != ms {
		c.finest--
	}
	if c.finest == Second && c.fine < nanos {
		c.fine = max(c.fine, finenessOf(ms, beyond))
	}
	c.hot.add(ms)
}

func finenessOf(ms int64, beyond int32) fineness {
	switch {
	case beyond%1000 != 0:
		return nanos
	case beyond != 0:
		return micros
	case ms%1000 != 0:
		return millis
	}
	return wholeSeconds
}

// resolution returns the finest step of the times.
func (c *clock) resolution() time.Duration {
	switch c.finest {
	case Minute:
		return time.Minute
	case Hour:
		return time.Hour
	case Second:
		return [...]time.Duration{wholeSeconds: time.Second, millis: time.Millisecond, micros: time.Microsecond, nanos: time.Nanosecond}[c.fine]
	}
	return 24 * time.Hour
}

func (c *clock) clone() *clock {
	out := *c
	if c.hot != nil {
		out.hot = c.hot.clone()
	}
	return &out
}

func (c *clock) merge(o *clock) {
	if o.n == 0 {
		return
	}
	if c.n == 0 {
		c.min, c.max, c.hot = o.min, o.max, newHot()
	}
	c.min, c.max = min(c.min, o.min), max(c.max, o.max)
	c.n += o.n
	c.finest, c.fine = min(c.finest, o.finest), max(c.fine, o.fine)
	c.hot.merge(o.hot)
}
