// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"time"

	"github.com/evenkeel/evenkeel/workbench/profile"
)

// pace describes how fast the rows of the data came over their time.
type pace struct {
	known bool
	base  float64 // rows per second, since the last change

	from  time.Time // the time of the last change; zero: none
	at    int       // the part of the course that begins then
	rows  float64   // of the course since then
	times float64   // the rate since then, divided by the rate before

	// burst is the rate in the busy ones of many short units of time, divided by the mean rate: 60
	// if all rows of a minute come in one second.
	burst float64
	unit  profile.Granularity
	busy  float64 // share of the units that are busy
	most  float64 // rows of the fullest unit, at most
	sure  float64 // of these, what no chance explains
}

// These bounds distinguish a change from chance. A rate has changed if the two rates differ at
// least by the factor changedTimes, and if a change is likelier than a constant rate by
// changedLikely (a logarithm). It changed only for a while if that is even likelier by forAWhile.
const (
	changedTimes  = 1.5
	changedLikely = 30
	forAWhile     = 20
	burstRows     = 20 // the least mean rows of a busy unit
)

// findPace computes the pace from the measurements over time.
func (s *traffic) findPace() {
	s.pace = pace{burst: 1}
	if s.time == nil {
		return
	}
	var course []int64
	for _, d := range s.natural {
		if m := s.measured[d.id()]; m != nil && len(m.Course) > 0 && m.Unkeyed == 0 {
			course = m.Course
			break
		} else if m != nil && course == nil {
			course = m.Course
		}
	}
	total := 0.0
	for _, n := range course {
		total += float64(n)
	}
	span := s.span()
	if g := s.time.Moments().Granularity; g > profile.Second {
		span += seconds(g) // the last value stands for its whole unit
	}
	part := span / math.Max(1, float64(len(course)))
	if total == 0 || part <= 0 {
		return
	}
	s.pace.known, s.pace.base = true, total/(part*float64(len(course)))
	if at, before, after := change(course); at > 0 {
		s.pace.from = s.time.Moments().First.Add(time.Duration(float64(at) * part * float64(time.Second)))
		s.pace.base, s.pace.times = after/part, after/before
		s.pace.at, s.pace.rows = at, after*float64(len(course)-at)
	}
	s.crowd = profile.BusiestOf(course, s.time.Moments().First, time.Duration(part*float64(time.Second)))
	for _, h := range s.time.Moments().Hot {
		unit := seconds(h.Granularity)
		all := s.span()/unit + 1
		mean, each := total/all, total/math.Max(1, float64(h.Busy))
		if each < burstRows || unit > part/4 || each < 3*mean/(-math.Expm1(-mean)) {
			continue
		}
		// In a Poisson process, only the units that have a row are seen.
		rate := each
		for range 50 {
			rate = each * -math.Expm1(-rate)
		}
		if x := rate / mean; x > s.pace.burst {
			s.pace.burst, s.pace.unit, s.pace.busy = x, h.Granularity, float64(h.Busy)/all
			s.pace.most = h.Rows.High
			s.pace.sure = h.Rows.Low - profile.WindowDeviates*math.Sqrt(h.Rows.Low)
		}
	}
}

// change finds the part at which the rate of a course changed for good, and the mean rows of a part
// before and since. at is 0 if the rate did not change.
func change(course []int64) (at int, before, after float64) {
	n := len(course)
	sums := make([]float64, n+1)
	for i, c := range course {
		sums[i+1] = sums[i] + float64(c)
	}
	likely := func(rows, parts float64) float64 {
		if rows <= 0 || parts <= 0 {
			return 0
		}
		return rows * math.Log(rows/parts)
	}
	one := likely(sums[n], float64(n))
	best := 0.0
	for k := n / 16; k <= n-n/10; k++ {
		if x := likely(sums[k], float64(k)) + likely(sums[n]-sums[k], float64(n-k)) - one; x > best {
			best, at = x, k
		}
	}
	if at == 0 {
		return 0, 0, 0
	}
	before, after = sums[at]/float64(at), (sums[n]-sums[at])/float64(n-at)
	if before == 0 || best < changedLikely || math.Max(after/before, before/after) < changedTimes {
		return 0, 0, 0
	}
	for a := range n { // or did it change only for a while?
		for b := a + 1; b < n; b++ {
			in := sums[b] - sums[a]
			if likely(in, float64(b-a))+likely(sums[n]-in, float64(n-b+a))-one > best+forAWhile {
				return 0, 0, 0
			}
		}
	}
	return at, before, after
}

// Moment is the time at which a design's hottest key is at its busiest.
type Moment struct {
	Writes float64 `json:"writes_per_second"` // to that key, over all its shards
	Low    float64 `json:"writes_per_second_low"`
	High   float64 `json:"writes_per_second_high"`
	All    float64 `json:"all_writes_per_second"` // to all keys in that time
	Share  float64 `json:"share"`                 // of All
	From   string  `json:"from,omitempty"`        // if one time is busier than the others
	To     string  `json:"to,omitempty"`
	Why    string  `json:"why"`

	key    []string
	span   float64 // seconds of the window; 0: unknown
	larger bool    // its items are larger than those of a key that gets more writes
}

// moment finds the busiest time, at the stated rate.
func (s *traffic) moment(d *Design) Moment {
	parts := s.timeless(d)
	var m *profile.Measured
	if len(parts) > 0 {
		m = s.ofPartition(parts)
	}
	out := s.busiest(d, m)
	if m != nil && m.Rows > 1 && m.RowSizes.Max.High <= 1 && s.load.writes > 0 {
		out.once(s.load.insert / s.load.writes)
	}
	return out
}

// busiest finds the busiest time of measured keys; m is nil for all rows together.
func (s *traffic) busiest(d *Design, m *profile.Measured) Moment {
	rate := s.load.writes
	out := Moment{Writes: rate * s.share(d), Low: rate * s.share(d), High: rate * s.share(d), All: rate, Share: s.share(d)}
	if s.load.from == Unknown {
		return out
	}
	if m != nil && len(m.Largest) > 0 && !m.RowSizes.Max.Exact {
		p := &m.Largest[0]
		out.Low, out.High = rate*p.Rows.Low/float64(m.Rows), rate*p.Rows.High/float64(m.Rows)
	}
	if !s.pace.known || s.pace.base <= 0 {
		return out
	}
	if m != nil && !s.pace.from.IsZero() && len(m.Since) > s.pace.at {
		// The stated rate is that since the change. So the hottest key is the one that has most rows since
		// then. Earlier rows may have gone to others.
		since, all := &m.Since[s.pace.at], s.pace.rows
		out.Writes, out.Low, out.High = rate*since.Rows.Value/all, rate*since.Rows.Low/all, rate*math.Min(1, since.Rows.High/all)
		out.Share, out.key = since.Rows.Value/all, since.Values
	}
	scale := rate / s.pace.base // writes per second for each row per second in the data
	switch b := s.busiestOf(m, len(s.timeless(d)) == 0); {
	case b == nil:
	case b.Parts < timeParts && b.Surely()/b.Length.Seconds()*scale > out.Writes:
		length := b.Length.Seconds()
		out.Writes, out.Low, out.High = b.Rows.Value/length*scale, b.Rows.Low/length*scale, b.Rows.High/length*scale
		out.All, out.key, out.span = float64(b.All)/length*scale, b.Values, length
		out.Share = math.Min(1, out.Writes/math.Max(1e-9, out.All))
		name := namerOf(b.Length)
		out.From, out.To = name(b.Start), name(b.Start.Add(b.Length))
	}
	if s.pace.burst > 1 {
		for _, x := range []*float64{&out.Writes, &out.Low, &out.High, &out.All} {
			*x *= s.pace.burst
		}
		// The busiest window may be a burst itself: no more comes in it than in the fullest unit. If chance
		// explains the fullest unit, all bursts have one rate, and the window has more of them.
		full := s.pace.most
		if each := s.pace.base * s.pace.burst * seconds(s.pace.unit); s.pace.sure <= each {
			full = each
		}
		if most := full / seconds(s.pace.unit) * scale; out.All > most {
			for _, x := range []*float64{&out.Writes, &out.Low, &out.High} {
				*x *= most / out.All
			}
			out.All = most
		}
		out.Why = fmt.Sprintf("rows come in bursts: %s of the %ss have any", percent(s.pace.busy), s.pace.unit)
	}
	if m != nil && m.Peak != nil { // the rows of one partition in one unit of time
		c := m.Peak.Rows.Low
		unit := seconds(m.Peak.Granularity)
		if low := (c - 5*math.Sqrt(c)) / unit * scale; low > out.Writes {
			out.Writes, out.Low, out.High = c/unit*scale, low, (m.Peak.Rows.High+2.6*math.Sqrt(c))/unit*scale
			// If chance explains that the unit is so full, its key has all rows of a usual unit, and no more.
			if each := s.pace.base * s.pace.burst * scale; low <= each && each < out.Writes {
				out.Writes = each
			}
			out.All = math.Max(out.Writes, m.Peak.Total.Value/unit*scale)
			out.Share, out.key, out.span = out.Writes/out.All, m.Peak.Values, unit
			out.From, out.To = precise(m.Peak.Start), precise(m.Peak.Start.Add(time.Duration(unit*float64(time.Second))))
			out.Why = ""
		}
	}
	return out
}

// once limits the inserts of a key with a single row to one in a second, at any rate of all keys
// together, because its row is inserted once. inserts is the share of inserts among the writes. The
// row can be updated and deleted any number of times.
func (m *Moment) once(inserts float64) {
	limited := func(writes float64) float64 { return writes*(1-inserts) + math.Min(writes*inserts, 1) }
	if most := limited(m.Writes); most < m.Writes {
		m.Writes, m.Share = most, most/m.All
	}
	m.Low, m.High = limited(m.Low), limited(m.High)
}

// shareText formats the hottest key's share of all writes, with its interval.
func (m *Moment) shareText() string {
	w := math.Max(1e-12, m.Writes)
	return ranged(m.Share, m.Share*m.Low/w, math.Min(1, m.Share*m.High/w), percent)
}

// text says when the busiest time is. It follows the text that names the rate's source.
func (m *Moment) text() string {
	switch {
	case m.larger:
		return fmt.Sprintf("; the hottest key has %s of them, and larger items than others", m.shareText())
	case m.From != "" && m.Why != "":
		return fmt.Sprintf("; at its busiest, from %s to %s, the hottest key has %s of them, and %s", m.From, m.To, m.shareText(), m.Why)
	case m.From != "":
		return fmt.Sprintf("; at its busiest, from %s to %s, the hottest key has %s of %s a second", m.From, m.To, m.shareText(), number(m.All))
	case m.Why != "":
		return fmt.Sprintf("; %s, %s a second then", m.Why, number(m.All))
	}
	return ""
}

// timeParts is the number of parts into which package profile divides the time.
const timeParts = 128

// busiestOf returns the busiest time of a key, or of all rows together.
func (s *traffic) busiestOf(m *profile.Measured, all bool) *profile.Busiest {
	if !all {
		if m == nil {
			return nil
		}
		return m.Busiest
	}
	return s.crowd
}

// shortWindow is the length of windows from which on minutes are fine enough to name them.
const shortWindow = 2 * time.Hour

// namerOf returns how to write the times at which a window of that length begins and ends.
func namerOf(window time.Duration) func(time.Time) string {
	if window < shortWindow {
		return precise
	}
	return minutes
}

func minutes(t time.Time) string { return t.Format("2006-01-02 15:04") }
func precise(t time.Time) string { return t.Format("2006-01-02 15:04:05") }
