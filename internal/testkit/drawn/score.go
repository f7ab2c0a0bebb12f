// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Answer is the content of some advice, in terms that any advice has.
type Answer struct {
	Partition  []string // columns of the data
	Clustering []string // a column that the advice adds is AddedID
	Bucket     string
	Shards     int
	Further    []string // the first column of the partition key of each further table or index

	Names []Named
	Hot   []string // values

	Rows       int
	Columns    map[string]Column
	EventTime  string
	Peak       Interval // writes a second of the hottest key, without shards
	RowsAtRate Interval // of the largest partition
	LostPerDay Interval // by entity and time alone
	P99        Interval // rows of an entity
	Cache      bool
	FasterFrom time.Time
}

// Named is an antipattern that the advice names.
type Named struct {
	Name    string
	Columns []string
}

// Column is what the advice says about a column.
type Column struct {
	Text     bool
	Distinct Interval
	TopShare Interval
	First    time.Time // of a column of times
	Last     time.Time
}

// Interval is a figure with the bounds that the advice gives.
type Interval struct{ Value, Low, High float64 }

// Points are the points of an answer, out of a hundred:
//
//	40 key: 20 for the columns of the partition key; 10 if the clustering columns begin
//	   with those that the queries need, in their order; 10 if the columns after them identify
//	   rows, without unnecessary ones.
//	20 shards and bucket: 8 for the bucket (4 if it is finer than necessary), 8 for the
//	   number of shards, 4 for the further tables: those that are needed, and none that
//	   is written two thousand times as often as it is read.
//	15 names: 10 by the share of the antipatterns that it names, 5 less 2.5 for each wrong
//	   one that it names.
//	15 figures: by the share of the required ones that are right: the truth within the
//	   tolerance, or within the answer's interval, which may be a fifth wide.
//	10 facts: by the share of the required ones that are right: which column is the time, its
//	   first and last value, which column is a code and not a number, the hottest value, when
//	   the rate changed, whether a cache is useful.
type Points struct {
	Key, Shards, Names, Figures, Facts float64
	Faults                             []string
}

// Total returns the sum of all points.
func (p *Points) Total() float64 { return p.Key + p.Shards + p.Names + p.Figures + p.Facts }

// Score computes the points of an answer.
func Score(t *Truth, a *Answer) *Points {
	p := &Points{}
	p.key(t, a)
	p.shards(t, a)
	p.names(t, a)
	p.figures(t, a)
	p.facts(t, a)
	return p
}

func (p *Points) fault(format string, args ...any) {
	p.Faults = append(p.Faults, fmt.Sprintf(format, args...))
}

func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func (p *Points) key(t *Truth, a *Answer) {
	best := -1.0
	for _, k := range t.Keys {
		points := 0.0
		if same(a.Partition, k.Partition) {
			points = 20
			if len(a.Clustering) >= len(k.Order) && slices.Equal(a.Clustering[:len(k.Order)], k.Order) {
				points += 10
				rest := a.Clustering[len(k.Order):]
				if slices.ContainsFunc(k.Identity, func(id []string) bool { return same(rest, id) }) {
					points += 10
				}
			}
		}
		best = math.Max(best, points)
	}
	if p.Key = best; best < 40 {
		p.fault("key (%s) %v", strings.Join(a.Partition, ", "), a.Clustering)
	}
}

func (p *Points) shards(t *Truth, a *Answer) {
	switch a.Bucket {
	case t.Bucket:
		p.Shards += 8
	case t.BucketIdeal:
		p.Shards += 4
		fallthrough
	default:
		p.fault("bucket %q, not %q", a.Bucket, t.Bucket)
	}
	if n := max(1, a.Shards); n >= t.ShardsLow && n <= t.ShardsHigh {
		p.Shards += 8
	} else {
		p.fault("%d shards, not %d to %d", n, t.ShardsLow, t.ShardsHigh)
	}
	missing := slices.ContainsFunc(t.Further, func(c string) bool { return !slices.Contains(a.Further, c) })
	dear := slices.ContainsFunc(a.Further, func(c string) bool { return !slices.Contains(t.Further, c) && !slices.Contains(t.MayFurther, c) })
	if !missing && !dear {
		p.Shards += 4
	} else {
		p.fault("further tables %v, not %v", a.Further, t.Further)
	}
}

func (n *Name) in(a *Answer) bool {
	return slices.ContainsFunc(a.Names, func(x Named) bool {
		return slices.Contains(n.Any, x.Name) && (n.Column == "" || slices.Contains(x.Columns, n.Column))
	})
}

func (p *Points) names(t *Truth, a *Answer) {
	named := 0
	for _, n := range t.Names {
		if n.in(a) {
			named++
		} else {
			p.fault("does not name %s %s", strings.Join(n.Any, " or "), n.Column)
		}
	}
	p.Names = 10
	if len(t.Names) > 0 {
		p.Names = 10 * float64(named) / float64(len(t.Names))
	}
	less := 0.0
	for _, n := range t.NotNames {
		if n.in(a) {
			less += 2.5
			p.fault("names %s %s, which it is not", strings.Join(n.Any, " or "), n.Column)
		}
	}
	p.Names += math.Max(0, 5-less)
}

// right reports whether a figure is correct.
func (f *Figure) right(x Interval) bool {
	if math.Abs(x.Value-f.Value) <= f.Within*f.Value+1e-9 {
		return true
	}
	return x.Low <= f.Value && f.Value <= x.High && x.High-x.Low <= 0.2*math.Max(f.Value, x.Value)
}

func (p *Points) figures(t *Truth, a *Answer) {
	asked, right := 1, 0
	if a.Rows == t.Rows {
		right++
	} else {
		p.fault("%d rows, not %d", a.Rows, t.Rows)
	}
	e := a.Columns[t.EntityColumn]
	for _, f := range []struct {
		name string
		want Figure
		got  Interval
	}{
		{"distinct " + t.EntityColumn, t.Distinct, e.Distinct}, {"share of the hottest", t.TopShare, e.TopShare}, {"writes/s of the hottest key", t.Peak, a.Peak},
		{"rows of the largest partition", t.RowsAtRate, a.RowsAtRate}, {"rows lost a day", t.LostPerDay, a.LostPerDay}, {"p99 of the rows of a key", t.P99, a.P99},
	} {
		if f.want.Value == 0 {
			continue
		}
		asked++
		if f.want.right(f.got) {
			right++
		} else {
			p.fault("%s %.4g (%.4g to %.4g), not %.4g", f.name, f.got.Value, f.got.Low, f.got.High, f.want.Value)
		}
	}
	p.Figures = 15 * float64(right) / float64(asked)
}

func (p *Points) facts(t *Truth, a *Answer) {
	asked, right := 0, 0
	fact := func(ok bool, format string, args ...any) {
		asked++
		if ok {
			right++
		} else {
			p.fault(format, args...)
		}
	}
	fact(a.EventTime == t.EventTime, "time of writing %q, not %q", a.EventTime, t.EventTime)
	when := a.Columns[t.EventTime]
	fact(when.First.Equal(t.First) && when.Last.Equal(t.Last), "%s from %s to %s, not %s to %s", t.EventTime, when.First, when.Last, t.First, t.Last)
	for _, c := range t.Texts {
		fact(a.Columns[c].Text, "%s is a code, not a number", c)
	}
	if t.Hot != "" {
		fact(slices.Contains(a.Hot, t.Hot), "the hottest is %q", t.Hot)
	}
	if t.Cache {
		fact(a.Cache, "a cache is wanted")
	}
	if !t.FasterFrom.IsZero() {
		span := t.Last.Sub(t.First)
		fact(a.FasterFrom.Sub(t.FasterFrom).Abs() <= span/10, "faster from %s, not %s", a.FasterFrom, t.FasterFrom)
	}
	p.Facts = 10 * float64(right) / float64(asked)
}
