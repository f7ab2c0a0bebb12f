// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"time"

	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// hot counts the rows of seconds, minutes, hours and days.
type hot struct {
	units [4]hotUnit // Second … Day
	rows  int64
}

type hotUnit struct {
	start int64 // of the period that is being counted
	n     int
	top   *sketch.Top[int64] // the beginning of each period
	all   *sketch.Sample[struct{}]
}

func newHot() *hot {
	h := new(hot)
	for i := range h.units {
		h.units[i].top = sketch.NewTop[int64](periodTop)
		h.units[i].all = sketch.NewSample[struct{}](periodSample)
	}
	return h
}

func (h *hot) add(ms int64) {
	h.rows++
	for i, length := range [...]int64{second, minute, hour, day} {
		u := &h.units[i]
		if d := ms - u.start; d >= 0 && d < length && u.n > 0 {
			u.n++
			continue
		}
		u.flush()
		u.start, u.n = ms-floorMod(ms, length), 1
	}
}

func (u *hotUnit) flush() {
	if u.n == 0 {
		return
	}
	hash := mixed(uint64(u.start))
	if of, fresh := u.top.Add(hash, u.n); fresh {
		*of = u.start
	}
	u.all.Add(hash)
	u.n = 0
}

func (h *hot) clone() *hot {
	out := *h
	for i := range h.units {
		out.units[i].top, out.units[i].all = h.units[i].top.Clone(), h.units[i].all.Clone()
	}
	return &out
}

func (h *hot) merge(o *hot) {
	h.rows += o.rows
	for i := range h.units {
		u, v := &h.units[i], &o.units[i]
		u.flush()
		v.flush()
		u.top.Merge(v.top, func(into, from *int64) {})
		u.all.Merge(v.all, func(into, from *struct{}) {})
	}
}

// periods returns the fullest period of each unit, from the data's finest unit on.
func (h *hot) periods(finest Granularity) (list []Period) {
	for i := range h.units {
		u := &h.units[i]
		u.flush()
		g := Second + Granularity(i)
		top := u.top.List(1)
		if g < finest || len(top) == 0 {
			continue
		}
		list = append(list, Period{
			Granularity: g,
			Start:       time.UnixMilli(*top[0].Of).UTC(),
			Rows:        between(top[0].Low, top[0].High),
			Share:       ratio(sketch.Likely(top[0].Low, top[0].High), float64(h.rows)),
			Busy:        int64(u.all.Distinct().Value),
		})
	}
	return list
}
