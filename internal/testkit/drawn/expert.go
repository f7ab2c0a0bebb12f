// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Truth is an expert's opinion of a set. In a list, any of the answers is right.
type Truth struct {
	Keys []Key // of the table

	Bucket      string // 1h, 1d, 1mo, 1y, "" for none: the coarsest that keeps a partition within 100 MB
	BucketIdeal string // the coarsest that keeps it within 10 MB: not wrong, but finer than necessary
	ShardsLow   int    // 1: none
	ShardsHigh  int
	Further     []string // column of the partition key of each further table or index that is needed
	MayFurther  []string // the same for those whose benefit some experts consider worth the cost

	Names    []Name // antipatterns that the answer must name
	NotNames []Name // antipatterns that are not there

	Rows         int
	Distinct     Figure // number of values in the entities' column
	TopShare     Figure // share of rows of the most frequent value
	Peak         Figure // writes a second of the hottest key at its busiest, at the stated rate; without shards
	RowsAtRate   Figure // of the largest partition of the recommended key, if that has a bucket
	LostPerDay   Figure // at the stated rate, if entity and time were the key
	P99          Figure // rows of an entity
	EventTime    string
	First, Last  time.Time
	Texts        []string // columns that are codes, not numbers
	Hot          string   // value of the hottest entity; "": none
	Cache        bool     // reads are hot
	FasterFrom   time.Time
	EntityColumn string
}

// Key is a primary key without its buckets and shards.
type Key struct {
	Partition []string   // in any order
	Order     []string   // clustering columns that must come first, in this order
	Identity  [][]string // the columns after them: none, or one of these; AddedID: a column that the data do not have
}

// AddedID stands for a column that the advice adds to identify rows.
const AddedID = "+id"

// Name is an antipattern: one of some names, for a column or, if Column is "", for any.
type Name struct {
	Any    []string
	Column string
}

// Figure is a number with the tolerance for an answer, as a part of the number. No answer is
// required for 0.
type Figure struct{ Value, Within float64 }

const (
	mb   = 1 << 20
	year = 365.25 * 86400
)

// units are the buckets, from coarse to fine.
var units = []struct {
	name    string
	seconds float64
}{{"1y", year}, {"1mo", year / 12}, {"1d", 86400}, {"1h", 3600}}

func (s *Set) billed() bool { return s.Target == "dynamodb" || s.Target == "keyspaces" }

// bytesIn returns the bytes that the largest partition receives in some time: at its mean rate, and
// at the rate of its busiest time.
func (s *Set) bytesIn(seconds float64) (mean, busiest float64) {
	if s.ttl > 0 {
		seconds = math.Min(seconds, s.ttl)
	}
	row := s.rate * s.rowBytes() * seconds
	pair := s.app == composite
	if s.app == dated {
		peak := 1.0
		if s.p.pattern == episode {
			peak = s.p.times
		}
		return row, row * peak
	}
	mean = row * s.p.largest(pair)
	busiest = mean
	if s.p.pattern == episode {
		_, peak := s.p.hottest(pair)
		length := (s.p.to - s.p.from) * s.p.span
		busiest = math.Max(mean, s.rate*s.rowBytes()*peak*math.Min(seconds, length))
	}
	return mean, busiest
}

// keeps reports whether the bytes of a partition in some time are within a limit, and whether that
// is beyond doubt.
func (s *Set) keeps(seconds, limit float64) (keeps, clear bool) {
	mean, busiest := s.bytesIn(seconds)
	return busiest <= limit, busiest < 0.55*limit || mean > 1.7*limit
}

// hottest returns the rate of the hottest key, and its share of all writes at that time.
func (s *Set) hottest() (perSecond, share float64) {
	if s.app == dated {
		return s.rate * s.p.peakRate(-1, false), 1
	}
	if s.app == byID {
		return 0, 0
	}
	pair := s.app == composite
	_, peak := s.p.hottest(pair)
	all := 1.0
	switch s.p.pattern {
	case bursts:
		all = 60
	case episode:
		all = s.p.times / s.p.mean()
	}
	return s.rate * peak, math.Min(1, peak/all)
}

// settled reports whether all experts would agree. It computes the truth about buckets and shards.
func (s *Set) settled() bool {
	t := &s.Truth
	t.ShardsLow, t.ShardsHigh = 1, 1
	writes, share := s.hottest()
	if s.p.pattern == regular && s.time.fine.Seconds() > s.p.period {
		return false // rows of one entity would have the same time
	}
	if s.p.pattern == bursts && (s.time.fine > time.Second || s.roles[when] == "") {
		return false // the bursts are not visible
	}
	if s.app == feed && s.p.rows < 200 {
		return false // too few numbers to be recognized
	}
	if s.app == dated {
		t.Bucket = "1d" // the column itself is the day
	}
	if s.app == dated && (s.p.pattern == bursts || s.p.pattern == regular || s.p.span < 3*86400) {
		return false
	}
	if s.billed() {
		each := math.Ceil(s.itemBytes() / 1024)
		if over := math.Mod(s.itemBytes(), 1024); over > 800 || each > 1 && over < 30 {
			return false
		}
		u := writes * each
		switch {
		case u > 40_000 || u > 650 && u < 1350:
			return false
		case u >= 1350:
			t.ShardsLow, t.ShardsHigh = int(math.Ceil(u*0.85/930)), int(max(math.Ceil(u*1.2/1000)*1.5, math.Ceil(u/1000)+2))
		}
		return s.readsSettled(each, t)
	}
	if s.rate > 16_000 {
		return false
	}
	switch {
	case share >= 0.08 && writes > 450 && writes < 5500, share < 0.12 && writes > 5000:
		return false
	case writes >= 5500:
		t.ShardsLow, t.ShardsHigh = int(math.Ceil(writes*0.85/5000)), int(math.Ceil(writes*1.15/250))+1
	}
	switch s.app {
	case byID:
		return true
	case items:
		ten, clear := s.keeps(10*year, 100*mb)
		return ten && clear && t.ShardsLow == 1
	case dated:
		_, busiest := s.bytesIn(86400)
		mean, _ := s.bytesIn(86400)
		switch {
		case busiest < 50*mb:
		case mean > 170*mb && mean < 2000*mb:
			t.ShardsLow = max(t.ShardsLow, int(math.Ceil(mean*0.95/(100*mb))))
			t.ShardsHigh = max(t.ShardsHigh, int(math.Ceil(busiest*1.3/(10*mb))))
		default:
			return false
		}
		return true
	}
	if t.ShardsLow > 1 {
		return false // with shards, the bucket is a matter of taste
	}
	long := 10 * year
	if s.ttl > 0 {
		long = s.ttl
	}
	ok, clear := s.keeps(long, 100*mb)
	if !clear {
		return false
	}
	if ok {
		return true
	}
	for _, u := range units {
		ok, clear := s.keeps(u.seconds, 100*mb)
		if !clear {
			return false
		}
		if ok {
			t.Bucket = u.name
			break
		}
	}
	for _, u := range units {
		if ok, _ := s.keeps(u.seconds, 10*mb); ok {
			t.BucketIdeal = u.name
			break
		}
	}
	return t.Bucket != ""
}

// readsSettled checks reads on stores that limit them.
func (s *Set) readsSettled(each float64, t *Truth) bool {
	hot := 0.0
	for _, q := range s.reads {
		switch {
		case q.rare:
		case s.app == items && len(q.equal) == 2:
			hot += q.rate * s.p.largest(false) * math.Ceil(s.itemBytes()/4096) / 2
		case s.app == byID:
		default:
			hot += q.rate * s.p.largest(s.app == composite) * math.Max(0.5, math.Ceil(50*s.itemBytes()/4096)/2)
		}
	}
	switch {
	case hot < 1200:
		return true
	case s.app == items && s.cached():
		t.Cache = true
		t.ShardsHigh = max(t.ShardsHigh, int(math.Ceil(hot/3000*2)))
		return hot > 4500
	}
	return false
}

// cached reports whether single items are read so often that a cache helps most.
func (s *Set) cached() bool {
	return s.app == items && s.reads[0].rate > 3*s.rate
}

// rates draws the rates of the queries.
func (s *Set) rates(r *rand.Rand) {
	switch {
	case s.p.pattern == regular:
		s.rate = float64(len(s.p.weights)) / s.p.period
	case s.billed():
		s.rate = logUniform(r, 50, 12_000)
	default:
		s.rate = logUniform(r, 2, 10_000)
	}
	if s.app == timeline && !s.billed() && chance(r, 25) {
		s.ttl = pick(r, 1.0, 7, 30, 90) * 86400
	}
	of := func(low, high float64) float64 { return math.Max(0.5, logUniform(r, s.rate*low, s.rate*high)) }
	e, k, w, d, i := role(entity), role(kind), role(when), role(day), role(id)
	switch s.app {
	case timeline:
		s.reads = append(s.reads, read{equal: []role{e}, ranged: w, rate: of(0.05, 0.5), hasRange: true, limit: 50})
		if chance(r, 60) {
			s.reads = append(s.reads, read{equal: []role{e}, newest: true, limit: 20, rate: of(0.05, 0.5)})
		}
	case feed:
		s.reads = append(s.reads, read{equal: []role{e}, newest: true, limit: 20, rate: of(0.05, 0.5)})
		if chance(r, 60) {
			s.reads = append(s.reads, read{equal: []role{e}, ranged: i, rate: of(0.05, 0.5), hasRange: true, limit: 50})
		}
	case composite:
		s.reads = append(s.reads, read{equal: []role{e, k}, ranged: w, rate: of(0.05, 0.5), hasRange: true, limit: 50})
	case items:
		a := read{equal: []role{e, i}, rate: of(0.3, 1)}
		if s.billed() && chance(r, 35) {
			a.rate = of(5, 20)
		}
		s.reads = append(s.reads, a, read{equal: []role{e}, limit: 25, rate: math.Max(1, 0.06*(s.rate+a.rate))})
	case byID:
		a := read{equal: []role{i}, rate: of(0.3, 1)}
		b := read{equal: []role{e}, newest: true, limit: 20, rate: math.Max(1, logUniform(r, 0.06, 0.15)*(s.rate+a.rate))}
		if s.rate > 1500 && chance(r, 50) { // expensive: a further table would double the writes for it
			b.rate, b.rare = pick(r, 0.2, 0.5), true
		}
		a.rate = math.Max(a.rate, 3*b.rate)
		s.reads = append(s.reads, a, b)
	case dated:
		a := read{equal: []role{d, i}, rate: of(0.1, 0.5)}
		s.reads = append(s.reads, a, read{equal: []role{d}, limit: 100, rate: math.Max(0.5, 0.05*(s.rate+a.rate))})
	}
	if total := s.load(); total > 5 && chance(r, 50) {
		s.reads = append(s.reads, read{equal: []role{status}, limit: 100, rate: logUniform(r, 0.0002, 0.002) * total, rare: true})
	}
}

// load returns the number of requests in a second.
func (s *Set) load() float64 {
	sum := s.rate
	for _, q := range s.reads {
		sum += q.rate
	}
	return sum
}

// truth computes the rest of the truth.
func (s *Set) truth() {
	t := &s.Truth
	col := func(ro role) string { return s.roles[ro] }
	identity := [][]string{{}}
	poisson := s.p.pattern != regular
	if s.app == timeline || s.app == composite {
		switch {
		case !poisson && s.p.rows >= 32*len(s.p.weights) && s.changesBy(id): // which needs no id, but changes name it
			identity = [][]string{{}, {col(id)}}
		case !poisson && s.p.rows >= 32*len(s.p.weights): // at fixed times, which is visible
		case !poisson && s.unique:
			identity = [][]string{{}, {col(id)}}
		case !poisson:
			identity = [][]string{{}, {AddedID}}
		case s.unique:
			identity = [][]string{{col(id)}}
		default:
			identity = [][]string{{AddedID}}
		}
		if poisson && s.lostPerDay() < mayNeed {
			identity = append(identity, []string{}) // rows come by chance, and hardly ever two of a key in a step of time
		}
	}
	switch s.app {
	case timeline:
		t.Keys = []Key{{[]string{col(entity)}, []string{col(when)}, identity}}
	case composite:
		t.Keys = []Key{{[]string{col(entity), col(kind)}, []string{col(when)}, identity}}
	case items, feed:
		t.Keys = []Key{{[]string{col(entity)}, []string{col(id)}, [][]string{{}}}}
	case dated:
		t.Keys = []Key{{[]string{col(day)}, []string{col(id)}, [][]string{{}}}}
	case byID:
		t.Keys = []Key{{[]string{col(id)}, nil, [][]string{{}}}}
		if !s.reads[1].rare {
			t.Further = []string{col(entity)}
		}
	}
	for _, q := range s.reads {
		if q.rare && s.rate < 2000*q.rate {
			t.MayFurther = append(t.MayFurther, col(q.equal[0]))
		}
	}
	t.EntityColumn, t.EventTime = col(entity), col(when)
	if t.EventTime == "" {
		t.EventTime = col(id)
	}
	s.names()
	s.together()
	s.figures()
}

// mayNeed is one row in a month, as rows in a day. If more rows are lost, every expert adds a column that makes
// rows unique. If fewer are lost, only some experts do.
const mayNeed = 1.0 / 30

// lostPerDay returns how many rows of a day overwrite another, if entity and time are the key and the rate is steady.
func (s *Set) lostPerDay() float64 {
	lost := 0.0
	for _, w := range s.p.weights {
		if mu := s.rate * w * s.time.fine.Seconds(); mu > 0 {
			lost += w * (1 + math.Expm1(-mu)/mu)
		}
	}
	return lost * s.rate * 86400
}

// names computes the antipatterns.
func (s *Set) names() {
	t := &s.Truth
	add := func(column string, any ...string) { t.Names = append(t.Names, Name{any, column}) }
	not := func(column string, any ...string) { t.NotNames = append(t.NotNames, Name{any, column}) }
	e, n := s.roles[entity], float64(len(s.p.weights))
	share := s.p.largest(false)
	switch {
	case share >= 0.2 && share*n >= 6:
		add(e, "hot")
		i, _ := s.p.hottest(false)
		if s.p.pattern != episode || i == 0 {
			t.Hot = s.entityOf(i)
		}
	case s.p.pattern == episode:
		add(e, "hot", "load varies", "burst")
	case share*n < 2 && s.p.pair == 0:
		not(e, "hot")
	}
	if slices.ContainsFunc(s.reads, func(q read) bool { return q.equal[0] == status }) {
		add(s.roles[status], "low cardinality")
	}
	if s.roles[id] != "" && s.ids.sequence && s.unique && (s.app == timeline || s.app == composite) {
		add(s.roles[id], "sequence ids")
	} else if !s.ids.sequence {
		not("", "sequence ids")
	}
	if !s.billed() && (s.app == timeline || s.app == composite || s.app == feed) && s.ttl == 0 && t.Bucket != "" {
		add(e, "unbounded")
	}
	if s.billed() {
		not("", "unbounded")
	}
	if s.app == dated {
		add(s.roles[day], "unpredictable")
	}
	if s.p.pattern == bursts {
		add(s.roles[when], "burst", "too granular")
	}
	if s.nulls > 0 {
		add(e, "null")
	} else {
		not("", "null")
	}
	switch {
	case (s.app == timeline || s.app == composite) && s.p.pattern != regular:
		add("", "collision")
	case s.app == items || s.app == dated || s.app == feed:
		not("", "collision")
	}
}

// figures counts figures in the rows, or computes them from the process.
func (s *Set) figures() {
	t := &s.Truth
	counts := make(map[string]int)
	values := 0
	for _, row := range s.Rows {
		if v := row[s.at(s.roles[entity])]; v != "" {
			counts[v]++
			values++
		}
	}
	var sizes []int
	for _, n := range counts {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	t.Rows = len(s.Rows)
	t.Distinct = Figure{float64(len(counts)), 0.01}
	t.TopShare = Figure{float64(sizes[len(sizes)-1]) / float64(values), 0.01}
	if s.app != dated { // no query then asks for an entity
		t.P99 = Figure{float64(sizes[(len(sizes)*99+99)/100-1]), 0.01}
	}
	pair := s.app == composite
	peak, _ := s.hottest()
	if peak > 0 {
		e, _ := s.p.hottest(pair)
		rows := float64(t.Rows) * s.p.shareOf(e, pair)
		if s.p.pattern == episode {
			rows *= 0.3
		}
		if rows >= 60 { // with fewer rows, the hottest is a matter of chance
			t.Peak = Figure{peak, math.Max(0.1, 4/math.Sqrt(rows))}
		}
	}
	if t.Bucket != "" && s.app != dated && s.p.pattern != episode {
		for _, u := range units {
			if u.name == t.Bucket {
				length := u.seconds
				if s.ttl > 0 {
					length = math.Min(length, s.ttl)
				}
				share := s.p.largest(pair)
				t.RowsAtRate = Figure{s.rate * share * length, math.Max(0.05, 4/math.Sqrt(share*float64(t.Rows)))}
			}
		}
	}
	if s.app == timeline && s.p.pattern == steady && s.nulls == 0 {
		t.LostPerDay = Figure{s.lostPerDay(), 0.25}
	}
	fine := s.time.fine
	if s.roles[when] == "" {
		fine = s.ids.fine
	}
	t.First, t.Last = at(s.arrivals[0].at).Truncate(fine), at(s.arrivals[len(s.arrivals)-1].at).Truncate(fine)
	if s.roles[when] != "" { // some rows may have coarser times, in another form
		t.First, t.Last = t.Last, t.First
		for _, row := range s.Rows {
			if at, ok := s.Instant(t.EventTime, row[s.at(t.EventTime)]); ok {
				if at.Before(t.First) {
					t.First = at
				}
				if at.After(t.Last) {
					t.Last = at
				}
			}
		}
	}
	if s.zeros {
		t.Texts = append(t.Texts, s.roles[entity])
	}
	if s.roles[id] != "" && s.ids.zeros {
		t.Texts = append(t.Texts, s.roles[id])
	}
	if s.p.pattern == faster {
		t.FasterFrom = at(s.p.from * s.p.span)
	}
}

// String describes the truth in a few lines.
func (t *Truth) String() string {
	var b strings.Builder
	for _, k := range t.Keys {
		fmt.Fprintf(&b, "  key %v order %v then %v\n", k.Partition, k.Order, k.Identity)
	}
	fmt.Fprintf(&b, "  bucket %q (%q) shards %d to %d further %v\n", t.Bucket, t.BucketIdeal, t.ShardsLow, t.ShardsHigh, t.Further)
	fmt.Fprintf(&b, "  names %v, not %v\n  rows %d distinct %v top %v peak %v rows at rate %v lost a day %v p99 %v\n", t.Names, t.NotNames, t.Rows, t.Distinct, t.TopShare, t.Peak, t.RowsAtRate, t.LostPerDay, t.P99)
	fmt.Fprintf(&b, "  event time %s from %s to %s, texts %v, hot %q, cache %t, faster %v\n", t.EventTime, t.First, t.Last, t.Texts, t.Hot, t.Cache, t.FasterFrom)
	return b.String()
}
