// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// score holds the criteria by which a design is ranked, in this order.
type score struct {
	lost     float64 // rows of the data that are overwritten or refused
	collide  float64 // rows that would be overwritten in a day at the stated rate
	null     float64 // rows without a value in a column of the key, if these are few
	refused  float64 // share of the queries, by rate, that the store refuses; no further table can serve them
	unserved float64 // share that reads the whole table
	filtered float64 // share that filters
	rare     float64 // share of tiny queries that neither the design nor a further table serves
	severity int     // of the worst limit
	exceeded []Exceeded
	cost     float64
	anchor   float64 // the least cost of the designs that no other criterion before cost tells apart; 0: unknown
	few      bool    // few keys share all of the load
	headroom float64 // the least quotient of limit and use; at most maxHeadroom
	slack    float64 // the same of loads alone: a size is kept or not
	reads    float64 // partitions read per second
}

// Exceeded is a limit that a design exceeds.
type Exceeded struct {
	Severity int    `json:"severity"`
	Text     string `json:"text"`
	times    float64
}

// These are severities of an exceeded limit.
const (
	someDay    = 1 // one partition takes more than its part of the load; or there may be too many reads, about which the data say nothing
	inHorizon  = 2 // a partition that grows for ever passes a limit within HorizonYears
	atThisRate = 3 // in the data, or at the present rate
)

// nullPart is the greatest share of rows without a value in a key's column that a key may have. If
// it is smaller, the report names these rows, and the application must give them a value.
const nullPart = 0.1

// The report shows headroom up to maxHeadroom. More than enoughHeadroom counts as no better.
const (
	maxHeadroom    = 10
	enoughHeadroom = 2
)

// mostPartitions is how many partitions a tiny query may read to count as served.
const mostPartitions = 1000

// ranker compares designs.
type ranker struct {
	proposer
	alone bool               // only some of the queries count: no further tables
	best  map[string]*Design // the best designs for some of the queries
}

// heat returns the heat of a design with the indexes that it needs.
func (s *ranker) heat(d *Design) Heat { return s.heatOf(d, s.indexed(d)) }

// indexed returns how many bytes the keys of the indexes that a design needs add to an item, on
// average.
func (s *ranker) indexed(d *Design) float64 {
	if s.o.Target != DynamoDB {
		return 0
	}
	return s.indexBytes(d, s.extras(d))
}

func (s *ranker) scoreOf(d *Design) score {
	c := newScore()
	if m := s.of(d); m != nil {
		if !d.AddID && m == s.exactly(d) { // a design that was not measured itself was made to lose no rows
			c.lost = lost(m)
		}
		if l := s.lossAtRate(d); l != nil {
			c.collide = l.PerDay
		}
		if missing := float64(m.Unkeyed); missing > nullPart*float64(s.p.Rows) && !s.alone { // a further table does without them
			c.lost += missing
		} else {
			c.null = missing
		}
	}
	total, extras := 0.0, s.extras(d)
	for i := range s.qs {
		q := &s.qs[i]
		if !s.judged(q) {
			continue
		}
		rate := rateOf(q)
		total += rate
		if s.refused(d, q) != "" { // however rare it is
			c.refused += rate
			continue
		}
		if s.tiny(q) {
			if v := s.served(d, extras, q); v.Partitions > mostPartitions || v.Kind >= Filtered && !s.filterCheaper(d, []int{i}) {
				c.rare += rate
			}
			continue
		}
		switch s.serve(d, q).Kind {
		case FullScan:
			c.unserved += rate
		case Filtered:
			c.filtered += rate
		}
	}
	if total > 0 {
		c.refused /= total
		c.unserved /= total
		c.filtered /= total
		c.rare /= total
	}
	s.limits(d, &c)
	if t := s.moreNodes(len(extras)); t != "" && len(extras) > 0 {
		c.severity = max(c.severity, atThisRate)
		c.exceeded = append(c.exceeded, Exceeded{atThisRate, t, 1})
	}
	cost := s.costOf(d, extras)
	c.cost, c.reads, c.few = cost.figure(), cost.Partitions, s.low(d)
	return c
}

func newScore() score { return score{headroom: maxHeadroom, slack: maxHeadroom} }

// limits checks sizes and heat against the limits.
func (s *ranker) limits(d *Design, c *score) {
	exceed := func(severity int, times float64, format string, args ...any) {
		c.severity = max(c.severity, severity)
		c.exceeded = append(c.exceeded, Exceeded{severity, fmt.Sprintf(format, args...), times})
	}
	filled := func(x float64) {
		if x > 0 {
			c.headroom = math.Min(c.headroom, 1/x)
		}
	}
	used := func(x float64) {
		if filled(x); x > 0 {
			c.slack = math.Min(c.slack, 1/x)
		}
	}
	if s.o.Target.nodes() {
		size := s.projected(d)
		why := ""
		if size.why != "" {
			why = " (" + size.why + ")"
		}
		cells := size.rows * math.Max(1, float64(len(s.p.Columns)-len(d.Partition)-len(d.Clustering)))
		// Among sizes within the limits, the smaller one is no better: the bucket that makes it so is finer
		// than it need be.
		filled(size.bytes / MaxBytes)
		filled(cells / MaxCells)
		if size.bytes > MaxBytes {
			exceed(atThisRate, size.bytes/MaxBytes, "the largest partition has %s%s, more than 100 MB", size.text(), why)
		} else if size.bytes > keptPart*MaxBytes {
			exceed(someDay, 1, "the largest partition has %s%s, of 100 MB that it may have", size.text(), why)
		}
		if cells > MaxCells {
			exceed(atThisRate, cells/MaxCells, "the largest partition has %s cells%s, more than 2 billion", ranged(cells, cells*size.low, cells*size.high, number), why)
		}
	}
	if g := s.growthOf(d); g.Unbounded && s.o.sizeLimits() {
		if g.soon() && g.low == 0 {
			exceed(inHorizon, 1, "the largest partition never ends; at its mean rate it passes 100 MB after about %s", capacity.Duration(MaxBytes/g.bytesPerSecond))
			used(maxHeadroom)
		}
		for i, h := range g.Hits {
			if h.Exceeded || !h.Predictable || h.After > horizon || i == 0 && s.o.Target.nodes() { // the first is an ideal, and no limit
				continue
			}
			exceed(inHorizon, 1, "the largest partition never ends; %s", h.Text())
			used(1 / math.Max(0.1, h.After/horizon*maxHeadroom))
			break
		}
	}
	h := s.heat(d)
	switch {
	case h.WriteLimit > 0 && h.Writes > 0:
		used(h.WriteUnits / h.WriteLimit)
		if h.WriteUnits > h.WriteLimit {
			exceed(atThisRate, h.WriteUnits/h.WriteLimit, "the hottest partition gets %s write units/s, its limit is %s", h.units(), number(h.WriteLimit))
		} else if h.Throttled > capacity.ThrottledSeconds {
			exceed(atThisRate, 1, "the hottest partition gets %s of %s write units/s on average: %s of the seconds are throttled", h.units(), number(h.WriteLimit), percent(h.Throttled))
		}
	case h.NodeLimit > 0:
		all := h.Moment.All
		used(h.Node * all / h.NodeLimit)
		uneven := 1.1
		if h.even*all > h.NodeLimit { // the nodes are too few for that time, whatever the key is
			uneven = 1.25
		}
		if h.Node*all > h.NodeLimit && h.Node > h.even*uneven {
			exceed(atThisRate, h.Node*all/h.NodeLimit, "the hottest of %s nodes gets %s writes/s (%s of all), it bears %s", number(s.nodes()), h.ofNode(), percent(h.Node), number(h.NodeLimit))
		}
		if s.hotPartition(&h, d) {
			exceed(someDay, 1, "one partition takes %s of all writes, %s a second: its replicas work, the others wait", percent(h.Share*s.shardPart(d)), h.writes())
		}
	}
	if h.ReadLimit > 0 && h.ReadUnits > 0 {
		used(h.ReadUnits / h.ReadLimit)
		if h.ReadUnits > h.ReadLimit {
			exceed(someDay, 1, "the hottest partition is asked for %s read units/s, its limit is %s, if keys are read as often as they have rows", number(h.ReadUnits), number(h.ReadLimit))
		}
	}
}

// hotPartition reports whether one partition takes so large a share of the writes that the user's
// own nodes are loaded unevenly, and so many writes that it matters.
func (s *heats) hotPartition(h *Heat, d *Design) bool {
	return h.Share*s.shardPart(d) >= hotShare && h.Writes >= s.o.NodeWrites*partitionPart
}

// step returns a logarithmic step: figures within a twentieth of each other are in the same step,
// except near a border.
func step(x float64) int {
	if x <= 0 {
		return math.MinInt32
	}
	return int(math.Floor(math.Log(x) / math.Log(1.05)))
}

// sameCost is how many times the least cost a design's cost may be and still count as the same: the
// costs are predicted, and no more exact.
const sameCost = 1.1

// costStep returns the step of a cost. Steps begin at the anchor, so that designs whose costs are
// within a tenth of the least are equal.
func (c *score) costStep() int {
	cost := c.cost
	if c.anchor > 0 {
		cost = cost / c.anchor * (1 + 1e-9)
	}
	if cost <= 0 {
		return math.MinInt32
	}
	return int(math.Floor(math.Log(cost) / math.Log(sameCost)))
}

// tight returns the step of the headroom of loads, in steps of a quarter: a prediction is no finer.
func tight(c *score) int {
	return int(math.Floor(math.Log(math.Max(1e-9, math.Min(c.slack, enoughHeadroom))) / math.Log(1.25)))
}

// judge compares two scores. It returns a negative number if x is better.
func judge(x, y *score) int {
	return cmp.Or(
		judgeBeforeCost(x, y),
		cmp.Compare(x.costStep(), y.costStep()),
		-cmp.Compare(tight(x), tight(y)),
		cmp.Compare(shareOf(x.unserved), shareOf(y.unserved)),
	)
}

// shareOf rounds a share, so that sums of the same rates are equal.
func shareOf(v float64) int { return int(math.Round(v * 1e6)) }

// judgeBeforeCost compares two scores by the criteria that count more than cost.
func judgeBeforeCost(x, y *score) int {
	return cmp.Or(
		cmp.Compare(x.lost, y.lost),
		cmp.Compare(x.collide, y.collide),
		cmp.Compare(shareOf(x.refused), shareOf(y.refused)),
		cmp.Compare(shareOf(x.unserved+x.filtered), shareOf(y.unserved+y.filtered)),
		slices.Compare(x.excess(), y.excess()),
		cmp.Compare(shareOf(x.rare), shareOf(y.rare)),
		cmp.Compare(x.null, y.null),
		cmp.Compare(boolTo(x.few), boolTo(y.few)),
	)
}

// better compares two designs. It returns a negative number if a is better. Of two equal ones, the
// simpler is better.
func (s *ranker) better(a, b *Design, x, y *score) int {
	return cmp.Or(
		judge(x, y),
		cmp.Compare(boolTo(s.oneAtATime(a)), boolTo(s.oneAtATime(b))),
		-cmp.Compare(step(s.meant(a)), step(s.meant(b))),
		cmp.Compare(step(x.reads), step(y.reads)),
		cmp.Compare(boolTo(a.Shards > 1), boolTo(b.Shards > 1)),
		cmp.Compare(boolTo(a.bucket() != nil), boolTo(b.bucket() != nil)),
		cmp.Compare(len(a.Partition), len(b.Partition)),
		cmp.Compare(len(a.Clustering), len(b.Clustering)),
		cmp.Compare(a.Shards, b.Shards),
		slices.Compare(s.order(a), s.order(b)),
		cmp.Compare(a.id(), b.id()),
	)
}

// order returns the positions of a design's columns in the data. Of designs that are equal in
// everything else, the first is taken, whatever the columns are called.
func (s *ranker) order(d *Design) []int {
	var out []int
	for _, name := range append(d.columns(), d.Clustering...) {
		out = append(out, slices.IndexFunc(s.p.Columns, func(c profile.Column) bool { return c.Name == name }))
	}
	return out
}

// oneAtATime reports whether at any moment all writes go to one partition.
func (s *ranker) oneAtATime(d *Design) bool { return d.Shards <= 1 && len(s.timeless(d)) == 0 }

// meant returns the rate of the queries that bind exactly the partition key's columns.
func (s *ranker) meant(d *Design) float64 {
	want := partitionID(wholes(d.columns()))
	rate := 0.0
	for i := range s.qs {
		var equal []string
		for _, e := range s.qs[i].Equal {
			equal = append(equal, e.Column)
		}
		if s.qs[i].Verb != queries.Insert && partitionID(wholes(equal)) == want {
			rate += rateOf(&s.qs[i])
		}
	}
	return rate
}

// ranked is a design with its score.
type ranked struct {
	d *Design
	c score
}

// ranking sorts the designs, the best first.
func (s *ranker) ranking() []ranked {
	var out []ranked
	for _, list := range [][]*Design{s.designs, s.bare} {
		for _, d := range list {
			if s.of(d) != nil && !slices.ContainsFunc(out, func(r ranked) bool { return r.d.id() == d.id() }) {
				out = append(out, ranked{d, s.scoreOf(d)})
			}
		}
	}
	sort := func() {
		slices.SortStableFunc(out, func(x, y ranked) int { return s.better(x.d, y.d, &x.c, &y.c) })
	}
	sort()
	anchor := math.Inf(1)
	for i := range out {
		if judgeBeforeCost(&out[i].c, &out[0].c) == 0 {
			anchor = math.Min(anchor, out[i].c.cost)
		}
	}
	for i := range out {
		out[i].c.anchor = anchor
	}
	sort()
	return out
}

// pareto returns for each design whether no other one is at least as good in everything and better
// in something.
func pareto(list []ranked) []bool {
	out := make([]bool, len(list))
	vector := func(c *score) []float64 {
		return []float64{c.lost, c.collide, c.refused, c.unserved + c.filtered, float64(c.severity), c.rare, float64(step(c.cost)), -float64(step(c.headroom))}
	}
	for i := range list {
		out[i] = true
		v := vector(&list[i].c)
		for j := range list {
			w := vector(&list[j].c)
			noWorse, better := true, false
			for k := range v {
				noWorse = noWorse && w[k] <= v[k]
				better = better || w[k] < v[k]
			}
			if noWorse && (better || j < i && slices.Equal(v, w)) {
				out[i] = false
			}
		}
	}
	return out
}

// whyLost says by which criterion a design lost against the best.
func (s *ranker) whyLost(best, r ranked) string {
	a, b := &best.c, &r.c
	switch {
	case b.lost > a.lost:
		m := s.of(r.d)
		if m != nil && m.Unkeyed > 0 && lost(m) == 0 {
			return fmt.Sprintf("%s without a value in a column of the key would be refused", countOf(float64(m.Unkeyed), "row"))
		}
		if m != nil {
			return fmt.Sprintf("loses %s: its primary key repeats", estimatedCount(m.Lost, "row"))
		}
		return fmt.Sprintf("loses %s: its primary key repeats", countOf(b.lost, "row"))
	case b.collide > a.collide:
		return fmt.Sprintf("would lose %s at the stated rate, although it loses none of the data", s.lossAtRate(r.d).text())
	case b.refused > a.refused, b.unserved+b.filtered > a.unserved+a.filtered:
		return s.unservedText(r.d, best.d)
	case slices.Compare(b.excess(), a.excess()) > 0:
		return b.worse(a)
	case b.rare <= a.rare && b.null > a.null:
		return fmt.Sprintf("%s without a value in a column of the key", countOf(b.null, "row"))
	case b.rare > a.rare:
		return s.unservedText(r.d, best.d)
	case b.few && !a.few:
		return "has few keys, which share all of the load"
	case b.costStep() > a.costStep():
		if c := s.costOf(r.d, s.extras(r.d)); c.Month > 0 {
			d := s.costOf(best.d, s.extras(best.d))
			return fmt.Sprintf("costs more: %s a month in place of %s", money(c.Month, c.Currency), money(d.Month, d.Currency))
		}
		return fmt.Sprintf("costs %s times as much", number(b.cost/a.cost))
	case tight(b) < tight(a):
		return fmt.Sprintf("has less headroom: %s times its tightest limit's use, in place of %s", number(b.slack), number(a.slack))
	case s.oneAtATime(r.d) && !s.oneAtATime(best.d):
		return "at any moment all writes go to one partition"
	case step(s.meant(r.d)) < step(s.meant(best.d)):
		return "is no better, and is not the key that the queries name"
	case step(b.reads) > step(a.reads):
		return "reads more partitions, at about the same cost"
	case b.unserved > a.unserved:
		return s.unservedText(r.d, best.d)
	case r.d.Shards > 1 && best.d.Shards <= 1:
		return "is no better, and has shards"
	case r.d.bucket() != nil && best.d.bucket() == nil:
		return "is no better, and has a time bucket"
	}
	return "is no better, and has more to it"
}

// excess says how badly limits are exceeded, the most severe ones first. Of a limit that is exceeded now it
// says how often it must double to be kept: a design that exceeds it 25 times is worse than one that exceeds
// another by a tenth.
func (c *score) excess() []int {
	out := make([]int, atThisRate)
	for _, e := range c.exceeded {
		steps := 1
		if e.Severity == atThisRate && e.times > 2 {
			steps = int(math.Ceil(math.Log2(e.times)))
		}
		out[atThisRate-e.Severity] = max(out[atThisRate-e.Severity], steps)
	}
	return out
}

// worst returns the text of the worst limit that the score exceeds.
func (c *score) worst() string { return c.worse(&score{}) }

// worse returns the text of the limit by which the score exceeds limits more than another.
func (c *score) worse(than *score) string {
	mine, other := c.excess(), than.excess()
	for i := range mine {
		text, most := "", -1.0
		for _, e := range c.exceeded {
			if mine[i] > other[i] && e.Severity == atThisRate-i && e.times > most {
				text, most = e.Text, e.times
			}
		}
		if text != "" {
			return text
		}
	}
	return ""
}

// unservedText names the queries that a design does not serve and the best does.
func (s *ranker) unservedText(d, best *Design) string {
	var full, filter []int
	for i := range s.qs {
		q := &s.qs[i]
		if why := s.refused(d, q); why != "" && s.refused(best, q) == "" {
			return why
		}
		if q.Verb == queries.Insert {
			continue
		}
		v, w := s.serve(d, q), s.serve(best, q)
		switch {
		case v.Kind <= w.Kind:
		case v.Kind == FullScan:
			full = append(full, q.Line)
		case v.Kind == Filtered:
			filter = append(filter, q.Line)
		}
	}
	switch {
	case len(full) > 0:
		return fmt.Sprintf("reads the whole table for %s", lines(full))
	case len(filter) > 0:
		return fmt.Sprintf("has to filter or sort for %s", lines(filter))
	}
	return "serves fewer of the queries"
}

// plain reports whether a design has neither shards nor a bucket.
func (d *Design) plain() bool {
	return d.Shards <= 1 && !slices.ContainsFunc(d.Partition, func(p profile.Part) bool { return p.Bucket != profile.Whole })
}

func money(x float64, currency string) string {
	if currency == "USD" {
		return "$" + number(x)
	}
	return number(x) + " " + currency
}
