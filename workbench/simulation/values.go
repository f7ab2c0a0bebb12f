// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/keys"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// Figure is a number with bounds: a 99% confidence interval if it was estimated. If it was counted,
// Low and High equal Value.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Exact reports whether the number was counted.
func (f Figure) Exact() bool { return f.Low == f.High }

func exactly(v float64) Figure { return Figure{v, v, v} }

// capped returns the figure of a number that cannot exceed most.
func (f Figure) capped(most float64) Figure {
	return Figure{min(f.Value, most), min(f.Low, most), min(f.High, most)}
}

// Sizes describes how much the values of a key hold.
type Sizes struct {
	P50 Figure `json:"p50"`
	P99 Figure `json:"p99"`
	Max Figure `json:"max"`
}

// ValuesReport describes a key's values. Each value is a partition to Cassandra and DynamoDB.
type ValuesReport struct {
	Count Figure      `json:"count"` // different values
	Rows  Sizes       `json:"rows"`  // of a value
	Bytes Sizes       `json:"bytes"` // of a value: rows as text, and what Cassandra adds to each
	Over  *OverReport `json:"over,omitempty"`
}

// OverReport counts what exceeds Options.Limit.
type OverReport struct {
	Limit
	Values Figure `json:"values"`   // with more than the limit
	Held   Figure `json:"row_held"` // rows of these values
}

// Detail is what plots show of a key: its values by size.
type Detail struct {
	Values        Figure
	Sizes         []sketch.Bulk // the smallest first
	P50, P90, P99 Figure        // bytes of a value
	Most          Figure        // bytes of the largest
	Fullest       Figure        // rows of the fullest
}

// SaltDetail is the same key with a number of salts.
type SaltDetail struct {
	Detail
	N   int
	Own bool // the key's own number
}

// Values of keys are counted one by one, valuesInAll of all keys together. If a key has more than
// its part, a sample of its values is counted. For other numbers of salts, which only plots show,
// detailSample values are enough. If there are more, detailTop of the largest are kept.
const (
	valuesInAll  = 1 << 21
	mostValues   = 1 << 20
	leastValues  = 1 << 10
	detailSample = 1 << 14
	detailTop    = 256
	detailBulks  = 400
)

// seen holds the counts of a value.
type seen struct{ rows, bytes int64 }

// values counts a key's values.
type values struct {
	n      int // salts; 0: the key's own number
	hash   uint64
	widest int64 // bytes of the largest row
	sample *sketch.Sample[seen]
	top    *sketch.Top[seen]
}

func newValues(n, size int) *values {
	return &values{n: n, sample: sketch.NewSample[seen](size), top: sketch.NewTop[seen](detailTop)}
}

// part returns how many values each of that many keys may count.
func part(keys int) int { return min(mostValues, max(leastValues, valuesInAll/max(1, keys))) }

// variants returns the numbers of salts with which plots show a key, besides its own.
func variants(e *keys.Expr) (list []int) {
	for _, p := range e.Parts {
		if !p.Function.Computed() {
			continue
		}
		for _, n := range []int{1, p.N / 4, p.N / 2, 2 * p.N, 4 * p.N} {
			if n >= 1 && n <= shard.MaxShards && n != p.N && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
		return list
	}
	return nil
}

// add counts a row of the value with the current hash.
func (v *values) add(bytes int64) {
	v.widest = max(v.widest, bytes)
	if s := v.sample.Add(v.hash); s != nil {
		s.rows++
		s.bytes += bytes
	}
	s, fresh := v.top.Add(v.hash, 1)
	switch {
	case fresh:
		*s = seen{1, bytes}
	case s != nil:
		s.rows++
		s.bytes += bytes
	}
}

// hashValues computes the hash of the current row's value of a key, for each number of salts.
func (s *Simulation) hashValues(k *key) {
	for _, v := range k.values {
		s.buf = s.buf[:0]
		first := true
		for i := range k.parts {
			p := &k.parts[i]
			n := p.number()
			if v.n > 0 && p.computed != nil && first {
				n, first = p.computed.of(s.o.Partitioner, s.values(p.computed), v.n), false
			}
			s.buf = s.appendIdentity(s.buf, p, n)
		}
		v.hash = partitioner.Hash(s.buf)
	}
}

// hashOf computes the hash of the current row's values of some components.
func (s *Simulation) hashOf(parts []slot) uint64 {
	s.buf = s.buf[:0]
	for i := range parts {
		s.buf = s.appendIdentity(s.buf, &parts[i], parts[i].number())
	}
	return partitioner.Hash(s.buf)
}

// appendIdentity appends bytes that distinguish a component's value from others.
func (s *Simulation) appendIdentity(dst []byte, p *slot, n int) []byte {
	dst = appendInt(dst, n)
	switch {
	case p.column < 0:
	case p.function.Period():
		dst = appendPeriod(dst, p.period, p.start)
	default:
		v := s.columns[p.column].value
		dst = append(appendInt(dst, len(v)), v...)
	}
	return dst
}

func (v *values) report(rows int64, limit Limit) ValuesReport {
	all := float64(rows)
	r := ValuesReport{Count: Figure(v.sample.Distinct()).capped(all)}
	r.Rows.quantiles(v.sample, func(s *seen) float64 { return float64(s.rows) })
	r.Bytes.quantiles(v.sample, func(s *seen) float64 { return float64(s.bytes) })
	r.Rows.Max, r.Bytes.Max = v.most()
	r.Rows.cap()
	r.Bytes.cap()
	if limit != (Limit{}) {
		r.Over = v.over(limit, rows, r.Count.High)
	}
	return r
}

// amount is what a value has, or a bound of it.
type amount struct{ rows, bytes float64 }

// large is one of the most frequent values, with bounds of its rows and bytes.
type large struct {
	low, high amount
	frequent  amount // the lower bound without what the sample counted
	kept      *seen  // in the sample; nil: not in it
}

// larges returns the most frequent values, and the bound of all others that are not in the sample.
func (v *values) larges() (list []large, others amount) {
	wide, absent := float64(v.widest), float64(v.top.Absent())
	for _, f := range v.top.List(1 << 30) {
		missed := float64(f.High - f.Of.rows)
		one := large{
			low:  amount{float64(f.Low), float64(f.Of.bytes)},
			high: amount{float64(f.High), float64(f.Of.bytes) + missed*wide},
			kept: v.sample.Find(f.Hash),
		}
		one.frequent = one.low
		if one.kept != nil { // counted from its first row on
			one.low = amount{float64(one.kept.rows), float64(one.kept.bytes)}
			one.high = one.low
		}
		list = append(list, one)
	}
	return list, amount{absent, absent * wide}
}

// over counts the values with more than a limit. Those of the most frequent ones that certainly have
// more are counted one by one. The others are estimated from the sample.
func (v *values) over(limit Limit, rows int64, count float64) *OverReport {
	over := func(a amount) bool {
		return limit.Rows > 0 && a.rows > float64(limit.Rows) || limit.Bytes > 0 && a.bytes > float64(limit.Bytes)
	}
	r := &OverReport{Limit: limit}
	add := func(f *Figure, low, value, high float64) {
		f.Low, f.Value, f.High = f.Low+low, f.Value+value, f.High+high
	}
	apart := make(map[*seen]bool) // counted one by one
	most := amount{}              // that a value can have which is neither apart nor in the sample
	if !v.sample.Exact() {
		var list []large
		list, most = v.larges()
		for _, l := range list {
			switch {
			case over(l.frequent):
				apart[l.kept] = true
				add(&r.Values, 1, 1, 1)
				add(&r.Held, l.low.rows, sketch.Likely(int64(l.low.rows), int64(l.high.rows)), l.high.rows)
			case l.kept == nil:
				most = amount{max(most.rows, l.high.rows), max(most.bytes, l.high.bytes)}
			}
		}
	}
	counts := func(s *seen) bool { return !apart[s] && over(amount{float64(s.rows), float64(s.bytes)}) }
	n := v.sample.Sum(func(s *seen) float64 { return one(counts(s)) })
	held := v.sample.Sum(func(s *seen) float64 { return one(counts(s)) * float64(s.rows) })
	if p := v.sample.Share(); p < 1 && !over(most) { // all that exceed the limit are known
		n, held = sketch.Interval(exactly(math.Round(n.Value*p))), sketch.Interval(exactly(math.Round(held.Value*p)))
	} else if p < 1 && n.Value*p < fewSeen {
		held.High = max(held.High, held.Low+(n.High-n.Low)*most.rows)
	}
	add(&r.Values, n.Low, n.Value, n.High)
	add(&r.Held, held.Low, held.Value, held.High)
	r.Values, r.Held = r.Values.capped(count), r.Held.capped(float64(rows))
	return r
}

// fewSeen values say too little about how much those have that are not in the sample.
const fewSeen = 30

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (s *Sizes) quantiles(sample *sketch.Sample[seen], of func(*seen) float64) {
	q := sample.Quantiles(of, 0.5, 0.99)
	s.P50, s.P99 = Figure(q[0]), Figure(q[1])
}

// cap keeps the quantiles at or below the largest value.
func (s *Sizes) cap() { s.P50, s.P99 = s.P50.capped(s.Max.High), s.P99.capped(s.Max.High) }

// most returns the rows and bytes of the largest value. The sample has counted its values from
// their first row on. The frequent values have bounds.
func (v *values) most() (rows, bytes Figure) {
	for _, s := range v.sample.All() {
		rows.Low, bytes.Low = max(rows.Low, float64(s.rows)), max(bytes.Low, float64(s.bytes))
	}
	rows, bytes = exactly(rows.Low), exactly(bytes.Low)
	if v.sample.Exact() {
		return rows, bytes
	}
	list, others := v.larges()
	rows.High, bytes.High = max(rows.High, others.rows), max(bytes.High, others.bytes)
	for _, l := range list {
		likely := sketch.Likely(int64(l.low.rows), int64(l.high.rows))
		rows.Low, rows.High, rows.Value = max(rows.Low, l.low.rows), max(rows.High, l.high.rows), max(rows.Value, likely)
		bytes.Low, bytes.High = max(bytes.Low, l.low.bytes), max(bytes.High, l.high.bytes)
		bytes.Value = max(bytes.Value, l.low.bytes*likely/max(1, l.low.rows))
	}
	bytes.Value = min(bytes.Value, bytes.High)
	return rows, bytes
}

func (v *values) detail() Detail {
	of := func(s *seen) (rows, bytes float64) { return float64(s.rows), float64(s.bytes) }
	d := Detail{Values: Figure(v.sample.Distinct()), Sizes: sketch.Bulks(v.sample, v.top, of, of, detailBulks)}
	q := v.sample.Quantiles(func(s *seen) float64 { return float64(s.bytes) }, 0.5, 0.9, 0.99)
	d.Fullest, d.Most = v.most()
	for i, f := range []*Figure{&d.P50, &d.P90, &d.P99} {
		*f = Figure(q[i]).capped(d.Most.High)
	}
	return d
}

// details returns what plots show of a key.
func (k *key) details() (own *Detail, salts []SaltDetail) {
	for _, v := range k.values {
		d := SaltDetail{Detail: v.detail(), N: v.n, Own: v.n == 0}
		if d.Own {
			own = &d.Detail
			if i := slices.IndexFunc(k.parts, func(p slot) bool { return p.computed != nil }); i >= 0 {
				d.N = k.parts[i].computed.part.N
			}
		}
		salts = append(salts, d)
	}
	if len(salts) < 2 {
		return own, nil
	}
	slices.SortFunc(salts, func(a, b SaltDetail) int { return cmp.Compare(a.N, b.N) })
	return own, salts
}
