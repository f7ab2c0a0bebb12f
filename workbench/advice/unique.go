// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// notLuck bounds chance: that no two rows of the data agree in some columns may be luck. It is no
// luck if at least notLuck pairs of rows would agree, were the columns independent of each other.
const notLuck = 10

// sound reports whether columns in which no two rows of the data agree are unique by their nature
// and not by luck.
func (s *measures) sound(set []string) bool {
	if len(set) == 1 {
		c := s.p.Column(set[0])
		return !s.byLuck(c) && (c.Time == nil || c.Type.Kind == value.Timeuuid)
	}
	return s.expectedPairs(set) >= notLuck
}

// expectedPairs returns how many pairs of rows would agree in some columns if the columns were independent
// of each other. If one column is a time, it counts only the pairs of rows that have the same time in the
// data. If no two rows have, the time alone makes the rows of the data unique, and nothing is known about
// the other columns at a higher rate.
func (s *measures) expectedPairs(set []string) float64 {
	n := float64(s.p.Rows)
	pairs, time := n*(n-1)/2, s.finestTime(set)
	if time != "" {
		pairs = s.p.Column(time).Pairs.Value
	}
	for _, name := range set {
		if name != time {
			pairs *= alike(s.p.Column(name))
		}
	}
	return pairs
}

// alike returns the chance that two rows have the same value of a column.
func alike(c *profile.Column) float64 {
	n := float64(c.Values)
	return c.Pairs.Value / math.Max(1, n*(n-1)/2)
}

// resolution returns the step of a column of time, in seconds.
func resolution(c *profile.Column) float64 {
	if c.Time.Granularity > profile.Second {
		return seconds(c.Time.Granularity)
	}
	if c.Type.Kind == value.Timestamp {
		return math.Max(0.001, c.Time.Resolution.Seconds()) // it has no finer parts
	}
	return c.Time.Resolution.Seconds()
}

// atFixedTimes reports whether the rows of partitions come more evenly than by chance. Then their
// writer works by the clock. It counts the pairs of rows of a partition that come in the same window.
// Rows that come by chance have as many such pairs as independent rows. Rows that come by the clock have
// hardly more than the smallest possible number.
func atFixedTimes(m *profile.Measured) bool {
	if m == nil {
		return false
	}
	more, chance := 0.0, 0.0 // pairs beyond the smallest possible number, and how many would be there by chance
	for i := range m.Largest {
		p := &m.Largest[i]
		if i == 20 || len(p.Over) != windows {
			break
		}
		rows, pairs := 0.0, 0.0
		for _, n := range p.Over {
			rows += float64(n)
			pairs += float64(n) * float64(n-1) / 2
		}
		each := math.Floor(rows / windows)
		fewest := windows*each*(each-1)/2 + math.Mod(rows, windows)*each
		more += pairs - fewest
		chance += rows*(rows-1)/(2*windows) - fewest
	}
	return chance >= enoughPairs && more < 0.35*chance
}

// enoughPairs is the least number of pairs that chance must make. Below it, a small number of pairs proves
// nothing.
const enoughPairs = 30

// byItself reports whether the columns of a design are unique to each row: by their nature, or because at
// the stated rate less than one pair of rows a year would agree.
func (s *traffic) byItself(d *Design) bool {
	m := s.exactly(d)
	if m != nil && lost(m) > 0 {
		return false
	}
	set := append(d.columns(), d.Clustering...)
	// One more column does not change that the others tell rows apart.
	within := func(known []string) bool {
		return !slices.ContainsFunc(known, func(c string) bool { return !slices.Contains(set, c) })
	}
	if slices.ContainsFunc(s.tells, func(known []string) bool { return within(known) && s.sound(known) }) {
		return true
	}
	return m != nil && (s.sound(set) || s.timeIn(d) != "" && s.byTheClock(d) || s.hardlyMeet(d, m))
}

// hardlyMeet reports whether fewer than leastLoss rows a day would have the same primary key if rows come by
// chance, and no two rows of the data have.
func (s *traffic) hardlyMeet(d *Design, m *profile.Measured) bool {
	l := s.lossOf(d)
	return l != nil && l.High < leastLoss && m.Lost.Value < 0.5
}

// byTheClock reports whether the rows of a design's partitions, without its time, come at fixed
// times. They do if those of one of its columns do.
func (s *measures) byTheClock(d *Design) bool {
	parts := s.timeless(d)
	return atFixedTimes(s.ofPartition(parts)) || len(parts) > 1 && slices.ContainsFunc(parts, func(p profile.Part) bool {
		return atFixedTimes(s.ofPartition([]profile.Part{p}))
	})
}

// mostInStep is how many rows may come for each combination of values in a step of time, on average,
// before some surely agree. It leaves room for a stated rate that is rounded up.
const mostInStep = 1.5

// crowded reports whether rows surely agree in a design's primary key at the stated rate, although
// none do in the data. This is so if, in a step of its time, more rows come than its other columns
// have combinations of values. needed is the number of rows in a step, known the number of
// combinations.
//
// A column whose values do not repeat has no fixed number of values. crowded returns false for it.
func (s *measures) crowded(d *Design) (needed, known float64, is bool) {
	column := s.timeIn(d)
	if column == "" || d.AddID {
		return 0, 0, false
	}
	known = 1
	for _, name := range s.notTime(d) {
		c := s.p.Column(name)
		if c.Distinct.Value > float64(s.p.Rows)/2 {
			return 0, 0, false
		}
		known *= c.Distinct.High
	}
	rate := 0.0
	for i := range s.qs {
		if s.qs[i].Verb == queries.Insert {
			rate += s.qs[i].Rate
		}
	}
	needed = math.Ceil(rate * resolution(s.p.Column(column)))
	return needed, known, needed > mostInStep*known
}

// identify makes the primary key tell rows apart, with as few added columns as possible. A key that
// does so in the data, but not at the stated rate, gets columns that do without its time. If there
// are none, it stays as it is, and the verdict says what it needs.
func (s *traffic) identify(d *Design) {
	unique := s.byItself(d) || s.knownApart(d)
	if _, _, crowded := s.crowded(d); unique && !crowded {
		return
	}
	var add []string
	found := false
	for _, set := range s.tells {
		if unique && slices.Contains(set, s.timeIn(d)) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(set), d.has)
		if s.sound(set) && (!found || len(missing) < len(add)) {
			add, found = missing, true
		}
	}
	d.AddID = !found && !unique
	for _, c := range add {
		d.Clustering = append(slices.Clip(d.Clustering), c)
		d.Desc = append(slices.Clip(d.Desc), false)
	}
}

// has reports whether a column is in a design's primary key, as it is.
func (d *Design) has(c string) bool {
	return slices.Contains(d.Clustering, c) || slices.ContainsFunc(d.Partition, func(p profile.Part) bool { return p.Column == c && p.Bucket == profile.Whole })
}

// knownApart reports whether the key of a query, of the same columns without a bucket, is unique by its
// nature.
func (s *traffic) knownApart(d *Design) bool {
	return slices.ContainsFunc(s.natural, func(n *Design) bool {
		return partitionID(n.Partition) == partitionID(wholes(d.columns())) && len(n.Clustering) == len(d.Clustering) &&
			!slices.ContainsFunc(n.Clustering, func(c string) bool { return !d.has(c) }) && s.byItself(n)
	})
}

// Loss is the number of rows that a primary key of the queries' columns would lose.
type Loss struct {
	PerDay float64 `json:"per_day"`
	Low    float64 `json:"per_day_low"`
	High   float64 `json:"per_day_high"`
}

// lossAtRate returns how many rows a design would lose at the stated rate; nil: none, or that cannot be
// said. In the data it may lose none, by luck.
func (s *traffic) lossAtRate(d *Design) *Loss {
	if d.AddID || s.load.insert == 0 || s.byItself(d) || s.knownApart(d) {
		return nil
	}
	if l := s.lossOf(d); l != nil && l.PerDay >= leastLoss {
		return l
	}
	return nil
}

// leastLoss is the least number of rows lost in a day that counts: one in a year.
const leastLoss = 1.0 / 365

// text formats the rows lost in a day.
func (l *Loss) text() string {
	return ranged(l.PerDay, l.Low, l.High, about) + " rows a day"
}

// lossOf returns how many rows a key of a time and repeated values would lose at the stated rate,
// if rows come by chance; nil: that cannot be said.
func (s *traffic) lossOf(d *Design) *Loss {
	column := s.timeIn(d)
	m := s.ofPartition(s.timeless(d))
	if column == "" || m == nil || s.load.insert == 0 || m.Rows < 2 || len(s.timeless(d)) == 0 || s.byTheClock(d) {
		return nil
	}
	n, step, rate := float64(m.Rows), resolution(s.p.Column(column)), s.load.insert*s.pace.burst
	same, unsure := s.alikeBehind(d, column)
	step *= same // rows of a step that differ in another column do not meet
	// of returns the chance that two rows have the same key. The n rows show too high a chance,
	// because each row also agrees with itself; of subtracts that.
	of := func(squares float64) float64 { return math.Max(0, (squares-n)/(n*(n-1))) }
	// part returns how many rows of a key are lost, as a part of all rows. The key has the share w of all rows.
	part := func(w float64) float64 {
		if mu := rate * w * step; mu > 1e-9 {
			return w * (1 + math.Expm1(-mu)/mu)
		}
		return 0
	}
	known, lost, others, keys := 0.0, 0.0, 1.0, m.Partitions.Value
	for i := range m.Largest {
		w := m.Largest[i].Share
		if m.Largest[i].Rows.Value < 2 {
			break
		}
		lost += part(w)
		known += w * (w - 1/n)
		others -= w
		keys--
	}
	day := func(squares float64) float64 {
		rest := 0.0
		if squared := math.Max(0, of(squares)-known); squared > 0 && others > 1e-9 {
			rest = others - steps(others, squared, math.Max(keys, others*others/squared), rate*step)
		}
		return math.Min(1, lost+rest) * s.load.insert * 86400
	}
	pairs := math.Max(1, (m.Squares.Value-n)/2)
	doubt := math.Hypot(2.6/math.Sqrt(pairs), unsure)
	all := s.load.insert * 86400
	return &Loss{PerDay: day(m.Squares.Value), Low: day(m.Squares.Low) * math.Max(0, 1-doubt), High: math.Min(all, day(m.Squares.High)*(1+doubt))}
}

// steps returns the number of pairs of a key and a step of time in which the key has rows, divided by the number
// of all rows. The keys have shares of the rows: shares is their sum, and squares the sum of their squares. rows
// is how many rows of all keys come in a step. steps assumes that the shares follow a gamma distribution.
func steps(shares, squares, keys, rows float64) float64 {
	mean := shares / keys
	theta := (squares/keys - mean*mean) / mean
	if theta*rows < 1e-9 {
		return keys * -math.Expm1(-rows*mean) / rows
	}
	return keys * -math.Expm1(-mean/theta*math.Log1p(rows*theta)) / rows
}

// alikeBehind returns the chance that two rows of one key and step of its time agree in the other
// clustering columns, as if these were independent, and how unsure that is, as a part of it.
func (s *traffic) alikeBehind(d *Design, time string) (chance, unsure float64) {
	chance = 1
	for _, name := range d.Clustering {
		if c := s.p.Column(name); name != time && c.Time == nil {
			chance *= alike(c)
			unsure = math.Hypot(unsure, 2.6/math.Sqrt(math.Max(1, c.Pairs.Value)))
		}
	}
	return chance, unsure
}

// untilTime returns a design without the clustering columns behind its first column of time: the
// key that tempts users who read by time. It returns d if there are no such columns.
func (s critic) untilTime(d *Design) *Design {
	for i, c := range d.Clustering[:max(0, len(d.Clustering)-1)] {
		if s.isTime(c) {
			return &Design{Partition: d.Partition, Clustering: d.Clustering[:i+1], Shards: 1}
		}
	}
	return d
}
